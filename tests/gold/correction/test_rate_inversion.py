"""The formulas that turn a bronze score into a gold one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import brentq
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from gold.refusals import refuses
from ringtrue.errors import UsageError
from ringtrue.gold.correction import BronzeScore, Rates
from ringtrue.gold.correction.rate_inversion import (
    adjusted_interval,
    inversion_variance,
    invert_rates,
    quadratic_interval,
    rate_variance,
)

Z = 1.959963984540054
SHARES = st.floats(0, 1)
RATES = st.floats(0.55, 1)


@given(SHARES, RATES, RATES)
def test_a_mixture_is_taken_apart_again(truth: float, relevant: float, nonrelevant: float) -> None:
    bronze = truth * relevant + (1 - truth) * (1 - nonrelevant)
    assert float(invert_rates(bronze, relevant, nonrelevant)) == pytest.approx(truth, abs=1e-9)


@given(SHARES)
def test_a_judge_who_never_errs_changes_nothing(score: float) -> None:
    assert float(invert_rates(score, 1, 1)) == pytest.approx(score)
    assert float(inversion_variance(score, 0.01, (1, 50), (1, 50))) == pytest.approx(0.01)


def test_the_published_example_to_its_digits() -> None:
    values = invert_rates([0.626, 0.6385], 43 / 59, 67 / 84)
    assert values == pytest.approx([0.8046976, 0.8284423], abs=5e-8)
    variances = [0.414**2 / 10278, 0.402**2 / 20604]
    errors = np.sqrt(inversion_variance([0.626, 0.6385], variances, (43 / 59, 59), (67 / 84, 84)))
    assert errors == pytest.approx([0.0902883, 0.0923496], abs=5e-8)


@given(st.floats(0.05, 0.95), RATES, RATES, st.integers(5, 1000), st.integers(5, 1000), st.floats(1e-6, 1e-2))
def test_the_standard_error_is_what_the_slopes_give(j: float, r: float, n: float, a: int, b: int, v: float) -> None:
    # The delta method with slopes measured, not derived.
    step = 1e-6
    slopes = [
        (invert_rates(*(np.array([j, r, n]) + move)) - invert_rates(*(np.array([j, r, n]) - move))) / (2 * step)
        for move in np.eye(3) * step
    ]
    parts = [v, float(rate_variance(r, a)), float(rate_variance(n, b))]
    expected = sum(float(slope) ** 2 * part for slope, part in zip(slopes, parts, strict=True))
    assert float(inversion_variance(j, v, (r, a), (n, b))) == pytest.approx(expected, rel=1e-5)


def test_the_published_example_has_the_interval_that_was_worked_out() -> None:
    ends = []
    for score, sd, queries in ((0.626, 0.414, 10278), (0.6385, 0.402, 20604)):
        worth = score * (1 - score) / (sd**2 / queries)
        low, high, hopeless = adjusted_interval(score, worth, (43 / 59, 59), (67 / 84, 84), z=Z)
        assert not hopeless
        ends.append((float(low), float(high)))
    assert ends[0] == pytest.approx((0.65749, 1.04381), abs=5e-6)
    assert ends[1] == pytest.approx((0.67919, 1.07504), abs=5e-6)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_with_a_perfect_judge_it_is_the_interval_of_agresti_and_coull(counts: tuple[int, int]) -> None:
    hits, n = counts
    low, high, _ = adjusted_interval(hits / n, n, (1, np.inf), (1, np.inf), z=Z)
    expected = proportion_confint(hits, n, method="agresti_coull")
    assert (min(max(float(low), 0), 1), min(max(float(high), 0), 1)) == pytest.approx(expected, abs=1e-7)


def nudged(rate: float, n: float) -> tuple[float, float]:
    """One more hit and one more miss, and the variance of that, written out."""
    moved = (rate * n + 1) / (n + 2)
    return moved, moved * (1 - moved) / (n + 2)


@given(
    st.floats(0.02, 0.98),
    st.floats(5, 1e5),
    st.tuples(RATES, st.integers(5, 500)),
    st.tuples(RATES, st.integers(5, 500)),
)
def test_it_ends_where_a_test_of_the_share_begins_to_reject(score: float, worth: float, relevant, nonrelevant) -> None:
    low, high, hopeless = adjusted_interval(score, worth, relevant, nonrelevant, z=Z)
    assume(not hopeless and high - low < 1e3)
    (right, of_right), (wrong, of_wrong) = nudged(*relevant), nudged(*nonrelevant)
    moved = (worth * score + Z**2 / 2) / (worth + Z**2)

    def rejected(share: float) -> float:
        apart = moved - (share * right + (1 - share) * (1 - wrong))
        variance = moved * (1 - moved) / (worth + Z**2) + share**2 * of_right + (1 - share) ** 2 * of_wrong
        return abs(apart) / math.sqrt(variance) - Z

    middle = (moved - 1 + wrong) / (right + wrong - 1)
    width = float(high - low)
    assert brentq(rejected, middle - 2 * width, middle) == pytest.approx(float(low), abs=1e-6 * max(1, width))
    assert brentq(rejected, middle, middle + 2 * width) == pytest.approx(float(high), abs=1e-6 * max(1, width))


@given(st.floats(0.02, 0.98), st.floats(5, 1e4), RATES, RATES)
def test_a_rate_that_is_known_is_one_from_very_many_labels(score: float, worth: float, r: float, n: float) -> None:
    known = adjusted_interval(score, worth, (r, np.inf), (n, np.inf), z=Z)
    measured = adjusted_interval(score, worth, (r, 1e12), (n, 1e12), z=Z)
    assert [float(one) for one in known] == pytest.approx([float(one) for one in measured], abs=1e-4)


@pytest.mark.parametrize(
    ("relevant", "nonrelevant", "hopeless"),
    [
        ((0.5, 100), (0.5, 100), True),  # guesses
        ((0.2, 100), (0.3, 100), True),  # worse
        ((0.6, 100), (0.45, 100), True),  # perhaps not better
        ((0.6, 10_000), (0.45, 10_000), False),
        ((1.0, 1), (1.0, 1), True),  # one label of each
        ((0.9, 50), (0.9, 50), False),
        ((0.5, np.inf), (0.5, np.inf), True),
    ],
)
def test_where_the_judge_may_guess_every_share_fits(relevant, nonrelevant, hopeless: bool) -> None:
    low, high, told = adjusted_interval(0.4, 100, relevant, nonrelevant, z=Z)
    assert bool(told) is hopeless
    assert ((float(low), float(high)) == (0, 1)) is hopeless


@given(st.floats(0.01, 100), st.floats(-100, 100), st.floats(-100, 100))
def test_a_quadratic_is_solved(a: float, first: float, second: float) -> None:
    low, high = quadratic_interval(a, -a * (first + second), a * first * second)
    assert sorted((float(low), float(high))) == pytest.approx(sorted((first, second)), abs=1e-4)


def test_a_small_root_beside_a_large_one_keeps_its_digits() -> None:
    low, high = quadratic_interval(1.0, -1e8, 1.0)
    assert float(low) == pytest.approx(1e-8, rel=1e-12)
    assert float(high) == pytest.approx(1e8, rel=1e-12)


COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_rates_by_hand() -> None:
    rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
    assert rates.on_relevant == (43 / 59, 59)
    assert rates.on_nonrelevant == (67 / 84, 84)
    assert rates.youden == pytest.approx(0.5264326)
    assert rates.bronze_relevant == (60, 143)  # 43 rightly, 17 wrongly
    assert not rates.known


def test_a_share_without_counts_is_taken_for_known() -> None:
    rates = Rates(relevant=0.9, nonrelevant=0.8)
    assert rates.known
    assert rates.bronze_relevant is None
    told = rates.estimates()
    assert [(one.value, one.se, one.low, one.high, one.method) for one in told.values()] == [
        (0.9, 0.0, 0.9, 0.9, "known"),
        (0.8, 0.0, 0.8, 0.8, "known"),
        (pytest.approx(0.7), 0.0, pytest.approx(0.7), pytest.approx(0.7), "known"),
    ]
    assert not Rates(relevant=0.9, nonrelevant=(8, 10)).known


@given(COUNTS, COUNTS)
def test_the_intervals_of_the_rates_are_those_of_statsmodels(relevant, nonrelevant) -> None:
    told = Rates(relevant=relevant, nonrelevant=nonrelevant).estimates()
    for name, (hits, n) in (("relevant", relevant), ("nonrelevant", nonrelevant)):
        expected = proportion_confint(hits, n, method="wilson")
        assert (told[name].low, told[name].high) == pytest.approx(expected, abs=1e-12)
    # J is the share of hits less the share of false alarms.
    false_alarms = nonrelevant[1] - nonrelevant[0]
    expected = confint_proportions_2indep(*relevant, false_alarms, nonrelevant[1], method="newcomb")
    assert (told["youden"].low, told["youden"].high) == pytest.approx(expected, abs=1e-9)


def test_the_variance_of_a_score_is_that_of_its_queries_or_of_coins() -> None:
    assert BronzeScore(mean=0.626, sd=0.414, queries=10278).variance == pytest.approx(0.414**2 / 10278)
    assert BronzeScore(mean=0.25, queries=48, k=1).variance == pytest.approx(0.25 * 0.75 / 48)


@given(st.lists(st.booleans(), min_size=2, max_size=200))
def test_a_query_of_one_document_is_worth_one_document(labels) -> None:
    score = BronzeScore(mean=float(np.mean(labels)), queries=len(labels), k=1)
    assert score.worth == pytest.approx(len(labels))


def test_queries_that_do_not_differ_are_worth_all_their_documents() -> None:
    assert BronzeScore(mean=1.0, sd=0.0, queries=50, k=10).worth == 500
    assert BronzeScore(mean=1.0, sd=0.0, queries=50).worth == 50
    # Rounding leaves a trace of a spread where all queries are 0.3.
    values = np.full(7, 0.1) + 0.2
    assert BronzeScore(mean=float(values.mean()), sd=float(values.std(ddof=1)), queries=7, k=10).worth == 70


@given(st.lists(st.integers(0, 10), min_size=2, max_size=60))
def test_every_list_of_scores_can_be_told_as_a_mean_and_a_spread(tenths) -> None:
    values = np.array(tenths) / 10
    score = BronzeScore(mean=float(values.mean()), sd=float(values.std(ddof=1)), queries=len(values), k=10)
    assert math.isfinite(score.worth)
    assert score.worth >= (len(values) - 1) * (1 - 1e-9)  # at the worst, all good or all bad


@pytest.mark.parametrize(
    ("said", "code", "parameter", "hint"),
    [
        ({"mean": 62.6, "sd": 0.4}, "not-a-share", "mean", {"mean": 0.626}),
        ({"mean": -0.1, "sd": 0.4}, "not-a-share", "mean", {}),
        ({"mean": math.nan, "sd": 0.4}, "not-a-share", "mean", {}),
        ({"mean": 0.6, "sd": -0.4}, "bad-sd", "sd", {}),
        ({"mean": 0.6, "sd": math.inf}, "bad-sd", "sd", {}),
        ({"mean": 0.6, "sd": 0.7}, "sd-too-large", "sd", {}),
        ({"mean": 0.6, "sd": 41.4}, "sd-too-large", "sd", {"sd": 0.414}),
        ({"mean": 1.0, "sd": 0.1}, "sd-too-large", "sd", {}),
        ({"mean": 0.6, "sd": 0.4, "queries": 0}, "too-few-queries", "queries", {}),
        ({"mean": 0.6, "sd": 0.4, "queries": 1}, "single-query", "sd", {"k": 1}),
        ({"mean": 0.6, "sd": 0.4, "k": 0}, "bad-k", "k", {}),
        ({"mean": 0.6}, "sd-missing", "sd", {"sd": ..., "k": 1}),
        ({"mean": 0.6, "k": 10}, "sd-missing", "sd", {"sd": ..., "k": 1}),
    ],
)
def test_what_no_score_can_be_is_refused(said, code: str, parameter: str, hint) -> None:
    with pytest.raises(UsageError) as refused:
        BronzeScore(**({"queries": 100} | said))
    assert (refused.value.code, refused.value.parameter) == (code, parameter)
    offered = [suggestion.arguments for suggestion in refused.value.note.suggestions]
    assert {name: value for arguments in offered for name, value in arguments.items()} == hint


@pytest.mark.parametrize(
    ("relevant", "code", "named"),
    [
        ((0, 0), "no-gold-of-a-kind", "0/0"),
        ((60, 59), "bad-rate", "60 of 59"),
        ((-1, 59), "bad-rate", "-1 of 59"),
        (72.9, "not-a-share", "72.9"),
    ],
)
def test_what_no_rate_can_be_is_refused(relevant, code: str, named: str) -> None:
    with refuses(UsageError, code, named):
        Rates(relevant=relevant, nonrelevant=(67, 84))
