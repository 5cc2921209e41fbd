"""One corrected score, its interval, and when there is none."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from gold.refusals import codes, names, refuses, with_code
from ringtrue.errors import UsageError
from ringtrue.gold.correction import BronzeScore, Rates, correct_share
from ringtrue.gold.correction.proportion import (
    ASSUMPTION,
    Interval,
    bootstrap_fraction,
    correct_share_by_label,
    draw_posterior_fraction,
    why_uncorrectable,
)
from ringtrue.gold.correction.rate_inversion import inversion_variance

MANY_LABELS = Rates(relevant=(450, 500), nonrelevant=(400, 500))
EBAY = BronzeScore(mean=0.626, sd=0.414, queries=10278, k=3)
RATES = Rates(relevant=(43, 59), nonrelevant=(67, 84))
EVERY_INTERVAL = pytest.mark.parametrize("interval", get_args(Interval))
COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@EVERY_INTERVAL
def test_the_published_example_has_its_value_with_every_interval(interval: Interval) -> None:
    found = correct_share(EBAY, RATES, interval=interval, rng=rng())
    assert found.value == pytest.approx(0.8046976, abs=5e-8)
    assert (found.method, found.n) == (f"confusion, {interval}", 10278)
    assert ASSUMPTION in found.notes


def test_the_published_example_has_the_intervals_that_were_worked_out() -> None:
    fieller, wald = (correct_share(EBAY, RATES, interval=name) for name in ("fieller", "wald"))
    assert (fieller.low, fieller.high) == (pytest.approx(0.6575, abs=5e-5), 1.0)
    half = 1.959964 * 0.0902883
    assert (wald.low, wald.high) == pytest.approx((0.8046976 - half, 0.8046976 + half), abs=1e-6)


def test_the_drawn_intervals_are_those_of_other_draws() -> None:
    draw, n = np.random.default_rng(99), 200_000
    kinds = {
        "bootstrap": (draw.normal(0.626, 0.414 / math.sqrt(10278), n), draw.binomial(59, 43 / 59, n) / 59,
                      draw.binomial(84, 67 / 84, n) / 84),
        "bayes": (draw.beta(EBAY.worth * 0.626, EBAY.worth * 0.374, n), draw.beta(43.5, 16.5, n),
                  draw.beta(67.5, 17.5, n)),
    }  # fmt: skip
    for interval, (j, right, wrong) in kinds.items():
        low, high = np.quantile((j - 1 + wrong) / (right + wrong - 1), [0.025, 0.975])
        found = correct_share(EBAY, RATES, interval=interval, resamples=n, rng=rng())  # type: ignore[arg-type]
        assert found.low == pytest.approx(low, abs=0.004)
        assert found.high == pytest.approx(high if interval == "bootstrap" else 1.0, abs=0.01)


@pytest.mark.parametrize("interval", ["fieller", "wald", "bayes"])
def test_the_standard_error_is_the_published_one(interval: Interval) -> None:
    assert correct_share(EBAY, RATES, interval=interval).se == pytest.approx(0.0902883, abs=5e-8)


def test_the_bootstrap_gives_its_own_standard_error() -> None:
    found = correct_share(EBAY, RATES, interval="bootstrap", rng=rng())
    assert found.se == pytest.approx(0.0902883, rel=0.1)
    assert found.se != pytest.approx(0.0902883, abs=5e-8)


@EVERY_INTERVAL
@pytest.mark.parametrize(
    ("rates", "code", "named"),
    [
        (Rates(relevant=(30, 60), nonrelevant=(30, 60)), "judge-at-chance", "50%"),
        (Rates(relevant=0.7, nonrelevant=0.3), "judge-at-chance", "70%"),  # 0.7 + 0.3, rounded
        (Rates(relevant=(60, 100), nonrelevant=(45, 100)), "judge-maybe-at-chance", "60 of 100"),
        (Rates(relevant=(1, 1), nonrelevant=(1, 1)), "judge-maybe-at-chance", "1 of 1"),
    ],
)
def test_a_judge_who_may_guess_is_refused(rates: Rates, code: str, named: str, interval: Interval) -> None:
    found = correct_share(EBAY, rates, interval=interval)
    assert (found.value, found.se, found.low, found.high) == (None, None, 0.0, 1.0)
    assert found.notes[0].code == code
    assert names(found.notes[0], named)
    assert why_uncorrectable(rates) == found.notes[0]


def test_what_is_refused_at_one_level_may_do_at_another() -> None:
    rates = Rates(relevant=(30, 45), nonrelevant=(25, 40))
    assert why_uncorrectable(rates, level=0.999) is not None
    assert why_uncorrectable(rates, level=0.8) is None


@given(st.floats(0, 1), st.integers(1, 300), COUNTS, COUNTS)
def test_there_is_always_an_answer_and_it_is_a_number(mean: float, queries: int, relevant, nonrelevant) -> None:
    score, rates = BronzeScore(mean=mean, queries=queries, k=1), Rates(relevant=relevant, nonrelevant=nonrelevant)
    found = correct_share(score, rates)
    assert found.low is not None
    assert found.high is not None
    assert math.isfinite(found.low)
    assert found.low <= found.high
    if found.value is None:
        assert (found.low, found.high) == (0, 1)
    elif found.high < 0 or found.low > 1:
        assert "interval-outside-possible" in codes(found.notes)
    else:
        assert 0 <= found.low <= found.high <= 1


@given(st.floats(0.05, 0.95), st.integers(20, 2000), COUNTS)
def test_more_queries_and_more_labels_never_widen_the_interval(mean: float, queries: int, counts) -> None:
    hits, n = counts
    rates = [Rates(relevant=(hits * times, n * times), nonrelevant=(190 * times, 200 * times)) for times in (1, 4)]
    wide, narrow = (
        correct_share(BronzeScore(mean=mean, queries=queries * times, k=1), one, interval="wald")
        for times, one in zip((1, 4), rates, strict=True)
    )
    if wide.value is not None and narrow.se is not None and wide.se is not None:
        assert narrow.se <= wide.se * (1 + 1e-9)


def test_a_value_outside_the_scale_is_flagged_and_not_cut() -> None:
    found = correct_share(BronzeScore(mean=0.16, sd=0.3, queries=200), Rates(relevant=(90, 100), nonrelevant=(80, 100)))
    assert found.value == pytest.approx(-0.04 / 0.7)
    assert found.low == 0
    assert 0 < (found.high or 0) < 0.1
    assert any(names(note, "-0.057", "0") for note in with_code(found.notes, "value-outside-possible"))


@pytest.mark.parametrize(("mean", "side"), [(0.02, "below 0"), (0.99, "above 1")])
@pytest.mark.parametrize("interval", get_args(Interval))
def test_an_interval_that_misses_the_scale_altogether_is_told_as_it_is(
    mean: float, side: str, interval: Interval
) -> None:
    rates = Rates(relevant=(800, 1000), nonrelevant=(700, 1000))
    found = correct_share(BronzeScore(mean=mean, sd=0.05, queries=5000), rates, interval=interval)
    assert found.low is not None
    assert found.high is not None
    assert found.high < 0 or found.low > 1
    assert any(names(note, side) for note in with_code(found.notes, "interval-outside-possible"))


def test_queries_that_are_all_equal_count_as_their_documents() -> None:
    rates = Rates(relevant=0.9, nonrelevant=0.8)
    few, many = (correct_share(BronzeScore(mean=0.6, sd=0.0, queries=50, k=k), rates) for k in (1, 10))
    same = correct_share(BronzeScore(mean=0.6, queries=500, k=1), rates)
    assert (many.low, many.high) == pytest.approx((same.low, same.high))
    assert few.high - few.low > many.high - many.low  # type: ignore[operator]
    assert any(names(note, "50", "500") for note in with_code(many.notes, "all-queries-alike"))
    wald = correct_share(BronzeScore(mean=0.6, sd=0.0, queries=50, k=10), rates, interval="wald")
    assert (wald.low, wald.high) == (wald.value, wald.value)
    assert "all-queries-alike" in codes(wald.notes)


def test_a_judge_who_was_never_seen_to_err_is_not_taken_for_perfect() -> None:
    score, rates = BronzeScore(mean=0.3, sd=0.2, queries=5000), Rates(relevant=(20, 20), nonrelevant=(20, 20))
    fieller, wald = (correct_share(score, rates, interval=name) for name in ("fieller", "wald"))
    assert fieller.high - fieller.low > 10 * (wald.high - wald.low)  # type: ignore[operator]


def test_few_labels_few_queries_and_known_rates_are_noted() -> None:
    found = correct_share(BronzeScore(mean=0.6, sd=0.3, queries=8), Rates(relevant=(19, 20), nonrelevant=0.95))
    assert codes(found.notes) == ["same-error-rates", "few-gold", "few-queries", "rates-taken-as-known"]
    assert names(found.notes[1], "20 relevant")
    assert names(found.notes[2], "8")
    assert names(found.notes[3], "non-relevant")


def test_draws_with_a_judge_no_better_than_chance_are_counted() -> None:
    rates = Rates(relevant=(15, 20), nonrelevant=(14, 20))
    found = correct_share(BronzeScore(mean=0.5, sd=0.3, queries=100), rates, interval="bayes", rng=rng())
    assert "draws-at-chance" in codes(found.notes)


@EVERY_INTERVAL
def test_the_same_seed_gives_the_same_interval(interval: Interval) -> None:
    one, two = (correct_share(EBAY, RATES, interval=interval, rng=rng()) for _ in range(2))
    assert one == two


def test_an_interval_that_nobody_knows_is_refused_with_the_near_miss() -> None:
    with refuses(UsageError, "unknown-interval", "'feiller'", "'fieller'"):
        correct_share(EBAY, RATES, interval="feiller")  # type: ignore[arg-type]
    with refuses(UsageError, "unknown-interval"):
        correct_share(EBAY, RATES, interval="xyzzy")  # type: ignore[arg-type]
    with refuses(UsageError, "bad-level"):
        correct_share(EBAY, RATES, level=1.5)
    with refuses(UsageError, "bad-resamples", "1", "0"):
        correct_share(EBAY, RATES, resamples=0)


def test_by_bronze_label_by_hand() -> None:
    # Of 60 documents that bronze calls relevant 43 are, of 83 others 16.
    found = correct_share_by_label(BronzeScore(mean=0.6, sd=0.4, queries=400), RATES)
    p, q = 43.5 / 61, 16.5 / 84
    assert found.value == pytest.approx(0.6 * p + 0.4 * q)
    variance = (p - q) ** 2 * 0.16 / 400 + 0.36 * p * (1 - p) / 61 + 0.16 * q * (1 - q) / 84
    assert found.se == pytest.approx(math.sqrt(variance))
    assert correct_share_by_label(EBAY, Rates(relevant=0.9, nonrelevant=0.8)).value is None


@pytest.mark.simulation
@pytest.mark.parametrize(("truth", "labels"), [(0.1, 20), (0.4, 60), (0.9, 30)])
def test_the_middle_of_the_posterior_holds_the_truth_as_often_as_it_says(truth: float, labels: int) -> None:
    draw, held, experiments = rng(), 0, 1_000
    for _ in range(experiments):
        hits, rejected = draw.binomial(labels, 0.9), draw.binomial(labels, 0.85)
        score = BronzeScore(mean=draw.binomial(200, truth * 0.9 + (1 - truth) * 0.15) / 200, queries=200, k=1)
        rates = Rates(relevant=(int(hits), labels), nonrelevant=(int(rejected), labels))
        found = correct_share(score, rates, interval="bayes", resamples=1_000, rng=draw)
        held += found.low <= truth <= found.high  # type: ignore[operator]
    assert 0.92 <= held / experiments <= 0.99


def algorithm_1(j: float, n: int, resamples: int, draw: np.random.Generator) -> float:
    """The published algorithm, line by line."""
    samples = []
    for _ in range(resamples):
        j_star = draw.binomial(n, j) / n
        j_r = draw.binomial(500, 450 / 500) / 500
        j_n = draw.binomial(500, 400 / 500) / 500
        samples.append((j_star - 1 + j_n) / (j_r + j_n - 1))
    return math.sqrt(np.var(samples))


def test_the_spread_of_the_draws_is_that_of_the_published_algorithm() -> None:
    top, bottom = bootstrap_fraction(BronzeScore(mean=0.6, queries=400, k=1), MANY_LABELS, resamples=40_000, rng=rng())
    assert (top / bottom).std() == pytest.approx(algorithm_1(0.6, 400, 20_000, rng()), rel=0.02)


def test_with_many_labels_the_spread_is_that_of_the_equation() -> None:
    score = BronzeScore(mean=0.6, sd=0.3, queries=400, k=10)
    top, bottom = bootstrap_fraction(score, MANY_LABELS, resamples=100_000, rng=rng())
    expected = math.sqrt(inversion_variance(0.6, score.variance, (0.9, 500), (0.8, 500)))
    assert (top / bottom).std() == pytest.approx(expected, rel=0.02)


def test_one_document_a_query_is_drawn_as_a_coin_and_more_as_a_mean() -> None:
    perfect = Rates(relevant=1.0, nonrelevant=1.0)
    coins, _ = bootstrap_fraction(BronzeScore(mean=0.6, queries=10, k=1), perfect, resamples=2_000, rng=rng())
    assert np.allclose(coins * 10, np.round(coins * 10))
    means, _ = bootstrap_fraction(BronzeScore(mean=0.6, sd=0.3, queries=10), perfect, resamples=2_000, rng=rng())
    assert len(np.unique(means)) == 2_000


def test_known_rates_are_not_drawn() -> None:
    known = Rates(relevant=0.9, nonrelevant=0.8)
    for draw in (bootstrap_fraction, draw_posterior_fraction):
        _, bottom = draw(BronzeScore(mean=0.6, queries=100, k=1), known, resamples=100, rng=rng())
        assert bottom == pytest.approx(0.7)


def test_the_posterior_of_a_rate_is_the_one_that_jeffreys_prior_gives() -> None:
    rates = Rates(relevant=(9, 10), nonrelevant=1.0)
    _, bottom = draw_posterior_fraction(BronzeScore(mean=0.6, queries=100, k=1), rates, resamples=50_000, rng=rng())
    assert np.quantile(bottom, [0.025, 0.5, 0.975]) == pytest.approx(
        stats.beta(9.5, 1.5).ppf([0.025, 0.5, 0.975]), abs=0.01
    )


def test_the_same_seed_gives_the_same_draws() -> None:
    score = BronzeScore(mean=0.6, sd=0.3, queries=10)
    for draw in (bootstrap_fraction, draw_posterior_fraction):
        one, two = (draw(score, MANY_LABELS, resamples=10, rng=rng()) for _ in range(2))
        np.testing.assert_array_equal(one, two)
