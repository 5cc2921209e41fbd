"""Is the difference between two bronze scores real?"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from gold.refusals import codes, names, refuses
from ringtrue.errors import UsageError
from ringtrue.gold.correction import BronzeScore, Rates, naive_test, separate_judges_test, shared_judge_test
from ringtrue.gold.correction.rate_inversion import Rate
from ringtrue.gold.correction.score_tests import SAME_ERRORS_NOTE, SHARED_GOLD_NOTE, TippingPoint, tipping_points

ON_BRONZE = "t on bronze scores"

Q = 1.959964
FIRST = BronzeScore(mean=0.6260, sd=0.414, queries=10278)
SECOND = BronzeScore(mean=0.6385, sd=0.402, queries=20604)
RATES = Rates(relevant=(43, 59), nonrelevant=(67, 84))
SCORES = st.builds(
    lambda mean, part, queries: BronzeScore(mean=mean, sd=part * math.sqrt(mean * (1 - mean)), queries=queries),
    st.floats(0.05, 0.95), st.floats(0.1, 0.99), st.integers(10, 5000),
)  # fmt: skip
GOOD: st.SearchStrategy[Rate] = st.integers(40, 400).flatmap(
    lambda n: st.tuples(st.integers(int(0.75 * n) + 1, n), st.just(n))
)
GOOD_RATES = st.builds(lambda relevant, others: Rates(relevant=relevant, nonrelevant=others), GOOD, GOOD)


def test_the_published_example_to_its_digits() -> None:
    assert naive_test(FIRST, SECOND).p_value == pytest.approx(0.011598, abs=5e-7)
    shared = shared_judge_test(FIRST, SECOND, RATES)
    assert shared.p_value == naive_test(FIRST, SECOND).p_value
    assert shared.p_wald == pytest.approx(0.01712, abs=5e-6)
    difference = shared.difference
    assert (difference.value, difference.low, difference.high) == pytest.approx((-0.0237, -0.0460, -0.0053), abs=5e-5)
    independent = separate_judges_test(FIRST, SECOND, RATES)
    assert independent.p_value == pytest.approx(0.854131, abs=5e-7)
    assert SHARED_GOLD_NOTE in independent.difference.notes
    assert SAME_ERRORS_NOTE in difference.notes


@given(SCORES, SCORES)
def test_the_naive_test_is_welchs_of_scipy(first: BronzeScore, second: BronzeScore) -> None:
    found = naive_test(first, second)
    expected = stats.ttest_ind_from_stats(
        first.mean, first.sd, first.queries, second.mean, second.sd, second.queries, equal_var=False
    )
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-300)
    assert found.test == "welch"


def test_over_the_same_queries_the_naive_test_is_the_paired_t_of_scipy() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 11, 40) / 10
    second = np.clip(first + rng.integers(-2, 4, 40) / 10, 0, 1)
    scores = [BronzeScore(mean=float(x.mean()), sd=float(x.std(ddof=1)), queries=40, k=10) for x in (first, second)]
    sd = float((first - second).std(ddof=1))
    found = naive_test(*scores, difference_sd=sd)
    test = stats.ttest_rel(first, second)
    interval = test.confidence_interval(0.95)
    assert found.p_value == pytest.approx(test.pvalue)
    assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high))
    shared = shared_judge_test(*scores, RATES, difference_sd=sd)
    assert (shared.p_value, shared.test) == (found.p_value, ON_BRONZE)


@given(SCORES, SCORES, GOOD_RATES)
def test_swapping_the_systems_turns_the_sign(first: BronzeScore, second: BronzeScore, rates: Rates) -> None:
    for test in (shared_judge_test, separate_judges_test):
        one, two = test(first, second, rates), test(second, first, rates)
        assert one.p_value == two.p_value
        assert one.difference.value == pytest.approx(-(two.difference.value or 0), abs=1e-12)
        assert one.difference.low == pytest.approx(-(two.difference.high or 0), abs=1e-9)


@given(SCORES, SCORES, GOOD_RATES)
def test_the_interval_holds_0_where_the_test_does_not_reject(first, second, rates: Rates) -> None:
    found = shared_judge_test(first, second, rates)
    assert found.p_value is not None
    assume(abs(found.p_value - 0.05) > 1e-6)
    assert (found.difference.low <= 0 <= found.difference.high) == (found.p_value > 0.05)  # type: ignore[operator]


@given(SCORES, SCORES, GOOD_RATES)
def test_the_interval_ends_where_the_inequality_does(first, second, rates: Rates) -> None:
    found, plain = shared_judge_test(first, second, rates), naive_test(first, second)
    q = (plain.difference.high - plain.difference.value) / plain.difference.se  # type: ignore[operator]
    spread = sum(rate * (1 - rate) / n for rate, n in (rates.on_relevant, rates.on_nonrelevant))
    for end in (found.difference.low, found.difference.high):
        left = (plain.difference.value - end * rates.youden) ** 2  # type: ignore[operator]
        assert left == pytest.approx(q**2 * (plain.difference.se**2 + end**2 * spread), rel=1e-6)  # type: ignore[operator]


@given(SCORES, SCORES)
def test_a_perfect_judge_leaves_the_naive_answer(first: BronzeScore, second: BronzeScore) -> None:
    perfect, plain = shared_judge_test(first, second, Rates(relevant=1.0, nonrelevant=1.0)), naive_test(first, second)
    assert perfect.difference.value == pytest.approx(plain.difference.value)
    assert (perfect.difference.low, perfect.difference.high) == pytest.approx(
        (plain.difference.low, plain.difference.high), abs=1e-9
    )


def test_where_rates_allow_no_end_the_answer_says_what_is_left() -> None:
    weak = Rates(relevant=(13, 20), nonrelevant=(11, 20))
    unclear = shared_judge_test(
        BronzeScore(mean=0.5, sd=0.4, queries=50), BronzeScore(mean=0.52, sd=0.4, queries=50), weak
    )
    assert (unclear.difference.value, unclear.difference.low, unclear.difference.high) == (None, -1, 1)
    assert "nothing-ruled-out" in codes(unclear.difference.notes)
    clear = shared_judge_test(
        BronzeScore(mean=0.3, sd=0.4, queries=5000), BronzeScore(mean=0.6, sd=0.4, queries=5000), weak
    )
    assert clear.difference.value is None
    assert clear.p_value is not None
    assert clear.p_value < 1e-10
    (told,) = (note for note in clear.difference.notes if note.code == "little-ruled-out")
    low, high = map(float, re.findall(r"-?\d+\.\d+", told))
    assert low < 0 < high
    own = separate_judges_test(FIRST, SECOND, weak, RATES)
    assert (own.difference.value, own.p_value) == (None, None)


def test_judges_of_their_own_add_their_errors_and_carry_no_warning() -> None:
    other = Rates(relevant=(50, 60), nonrelevant=(60, 80))
    found = separate_judges_test(FIRST, SECOND, RATES, other)
    assert found.difference.value == pytest.approx(0.8046976 - (0.6385 - 0.25) / (50 / 60 - 0.25), abs=1e-6)
    assert found.difference.notes == ()


def test_the_same_queries_make_separate_judges_surer() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.3, queries=50) for mean in (0.5, 0.6))
    rates = [Rates(relevant=(900, 1000), nonrelevant=(900, 1000)), Rates(relevant=(880, 1000), nonrelevant=(910, 1000))]
    apart, paired = (separate_judges_test(first, second, *rates, difference_sd=sd) for sd in (None, 0.1))
    assert paired.p_value < apart.p_value  # type: ignore[operator]
    # By hand: the variance of the difference of bronze scores is 0.1²/50 where it was 2 · 0.3²/50.
    less = 2 * (0.3**2 / 50) - 0.1**2 / 50
    expected = apart.difference.se**2 - less / (0.8 * 0.79)  # type: ignore[operator]
    assert paired.difference.se == pytest.approx(math.sqrt(expected))


def test_scores_without_any_spread_cannot_be_tested() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.0, queries=50) for mean in (0.5, 0.6))
    found = naive_test(first, second)
    assert (found.p_value, found.difference.se) == (None, 0)
    assert "no-spread" in codes(found.difference.notes)
    assert naive_test(first, first).p_value == 1
    assert shared_judge_test(first, second, RATES).p_value is None
    assert naive_test(first, second, difference_sd=0.0).p_value is None


@pytest.mark.parametrize(
    ("queries", "sd", "code", "named"),
    [
        ((50, 60), 0.3, "queries-differ", ["50", "60"]),
        ((50, 50), 0.9, "impossible-difference-sd", ["0.6", "0.9"]),
    ],
)
def test_a_spread_of_differences_that_cannot_be_is_refused(queries, sd: float, code: str, named: list[str]) -> None:
    first, second = (BronzeScore(mean=0.5, sd=0.3, queries=n) for n in queries)
    with refuses(UsageError, code, *named):
        naive_test(first, second, difference_sd=sd)


def experiment(rng: np.random.Generator, truths: tuple[float, float], *, queries: int = 60, k: int = 10):
    """Two systems over the same queries, judged by one judge with rates 0.85 and 0.9; 100 gold labels of each kind."""
    hard = rng.beta(2, 2, queries)
    values = []
    for truth in truths:
        share = np.clip(truth * 2 * hard, 0, 1)
        gold = rng.binomial(k, share)
        values.append((rng.binomial(gold, 0.85) + rng.binomial(k - gold, 0.1)) / k)
    scores = [BronzeScore(mean=float(x.mean()), sd=float(x.std(ddof=1)), queries=queries, k=k) for x in values]
    rates = Rates(relevant=(int(rng.binomial(100, 0.85)), 100), nonrelevant=(int(rng.binomial(100, 0.9)), 100))
    return scores, rates, float((values[0] - values[1]).std(ddof=1))


@pytest.mark.simulation
def test_with_one_judge_and_no_difference_the_test_errs_as_often_as_it_says() -> None:
    rng, wrong, experiments = np.random.default_rng(5), 0, 3_000
    for _ in range(experiments):
        (first, second), rates, sd = experiment(rng, (0.4, 0.4))
        wrong += shared_judge_test(first, second, rates, difference_sd=sd).p_value < 0.05  # type: ignore[operator]
    assert 0.035 <= wrong / experiments <= 0.065


@pytest.mark.simulation
def test_where_there_is_a_difference_the_published_test_on_a_shared_judge_has_no_power() -> None:
    rng, found, experiments = np.random.default_rng(5), {"shared": 0, "independent": 0}, 600
    for _ in range(experiments):
        (first, second), rates, sd = experiment(rng, (0.4, 0.42), queries=1_000)
        shared = shared_judge_test(first, second, rates, difference_sd=sd)
        found["shared"] += shared.p_value < 0.05  # type: ignore[operator]
        found["independent"] += separate_judges_test(first, second, rates).p_value < 0.05  # type: ignore[operator]
    assert found["shared"] / experiments > 0.5
    assert found["independent"] / experiments < 0.02


@pytest.mark.simulation
def test_with_judges_of_their_own_the_published_test_errs_as_often_as_it_says() -> None:
    rng, wrong, experiments = np.random.default_rng(6), 0, 3_000
    for _ in range(experiments):
        scores, rates = [], []
        for right, rejected in ((0.85, 0.9), (0.95, 0.8)):
            bronze = rng.binomial(10, 0.4 * right + 0.6 * (1 - rejected), 80) / 10
            scores.append(BronzeScore(mean=float(bronze.mean()), sd=float(bronze.std(ddof=1)), queries=80, k=10))
            rates.append(Rates(relevant=(int(rng.binomial(150, right)), 150),
                               nonrelevant=(int(rng.binomial(150, rejected)), 150)))  # fmt: skip
        wrong += separate_judges_test(*scores, *rates).p_value < 0.05  # type: ignore[operator]
    assert 0.035 <= wrong / experiments <= 0.065


def t(lower: BronzeScore, higher: BronzeScore, rates: Rates, *, relevant: float = 0, nonrelevant: float = 0) -> float:
    """The corrected difference over its standard error, with rates that lie so far apart between the systems."""
    (right, _), (wrong, _) = rates.on_relevant, rates.on_nonrelevant
    parts = []
    for score, side in ((lower, -1), (higher, 1)):
        m_r, m_n = right + side * relevant / 2, wrong - side * nonrelevant / 2
        youden = m_r + m_n - 1
        parts.append(((score.mean - 1 + m_n) / youden, score.variance / youden**2))
    return (parts[1][0] - parts[0][0]) / math.sqrt(parts[0][1] + parts[1][1])


def test_the_published_example() -> None:
    found = tipping_points(FIRST, SECOND, RATES, critical=Q)
    assert found["relevant"].significance == pytest.approx(0.0035, abs=1.5e-4)
    assert found["relevant"].difference == pytest.approx(0.015, abs=5e-4)
    assert found == tipping_points(SECOND, FIRST, RATES, critical=Q)
    assert names(found["relevant"].description, "0.34 points", "1.5 points")


def test_rates_that_far_apart_make_the_difference_just_not_significant_or_nothing() -> None:
    found = tipping_points(FIRST, SECOND, RATES, critical=Q)
    for name, point in found.items():
        assert t(FIRST, SECOND, RATES, **{name: point.significance}) == pytest.approx(Q, abs=1e-9)  # type: ignore[arg-type]
        assert t(FIRST, SECOND, RATES, **{name: point.difference}) == pytest.approx(0, abs=1e-9)  # type: ignore[arg-type]


@given(st.floats(0.3, 0.45), st.floats(0.02, 0.2), st.integers(200, 5000), st.floats(0.8, 0.95), st.floats(0.8, 0.95))
def test_the_same_in_other_worlds(mean: float, apart: float, queries: int, right: float, wrong: float) -> None:
    lower, higher = (BronzeScore(mean=one, sd=0.3, queries=queries) for one in (mean, mean + apart))
    rates = Rates(relevant=right, nonrelevant=wrong)
    for name, point in tipping_points(lower, higher, rates, critical=Q).items():
        if point.significance:
            assert t(lower, higher, rates, **{name: point.significance}) == pytest.approx(Q, abs=1e-6)
            assert point.difference is None or point.difference >= point.significance
        elif point.significance == 0:
            assert t(lower, higher, rates) <= Q + 1e-9
        if point.difference:
            assert t(lower, higher, rates, **{name: point.difference}) == pytest.approx(0, abs=1e-6)


def test_what_is_not_significant_has_nothing_to_lose() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.4, queries=30) for mean in (0.5, 0.52))
    found = tipping_points(first, second, RATES, critical=Q)
    assert found["relevant"].significance == 0
    assert names(found["relevant"].description, f"{100 * found['relevant'].difference:.2g} points")
    same = tipping_points(first, first, RATES, critical=Q)
    assert same["relevant"] == TippingPoint(significance=0.0, difference=0.0)


def test_what_no_rate_can_do_is_none() -> None:
    # The lower score is below what even a system without a relevant document would get.
    first, second = (BronzeScore(mean=mean, sd=0.1, queries=5000) for mean in (0.05, 0.6))
    found = tipping_points(first, second, Rates(relevant=0.9, nonrelevant=0.9), critical=Q)
    assert found["relevant"].difference is None
    assert not names(TippingPoint(significance=None, difference=None).description, "points")


def test_systems_that_share_queries_have_more_to_lose() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.3, queries=100) for mean in (0.4, 0.5))
    alone, paired = (tipping_points(first, second, RATES, covariance=c, critical=Q) for c in (0.0, 0.0008))
    assert paired["relevant"].significance > alone["relevant"].significance  # type: ignore[operator]
    assert paired["relevant"].difference == alone["relevant"].difference
