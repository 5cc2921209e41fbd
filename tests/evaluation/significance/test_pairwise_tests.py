"""One test, all pairs of one measure: the numbers of a comparison, and what happens at the edges."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings, Test, compare_pairs, smallest_p
from ringtrue.stats.results import Comparison
from strategies import examples

TESTS = get_args(Test)
PAIRED = [test for test in TESTS if test != "welch"]
FLIPPED = ("sign", "wilcoxon", "permutation")
two_runs = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 20).map(lambda i: i / 20), min_size=n, max_size=n)] * 2)
)


def setting(test: Test = "t", *, level: float = 0.95, resamples: int = 500, mid_p: bool = False) -> ComparisonSettings:
    return ComparisonSettings(test=test, level=level, resamples=resamples, seed=7, mid_p=mid_p)


def compared(a: list[float], b: list[float], how: ComparisonSettings) -> Comparison:
    return answers(np.array([a, b], dtype=float), how)[0]


def answers(
    values: np.ndarray, how: ComparisonSettings, pairs: list[tuple[int, int]] | None = None
) -> list[Comparison]:
    runs = [f"run{i}" for i in range(len(values))]
    pairs = pairs or [(i, j) for i in range(len(values)) for j in range(i + 1, len(values))]
    return compare_pairs("AP", runs, values, np.array(pairs), how)


def numbers(one: Comparison) -> list[float | None]:
    d = one.difference
    return [d.value, d.se, d.low, d.high, d.n, one.p_value, one.effect_size, one.wins, one.ties, one.losses,
            one.detectable]  # fmt: skip


def near(found: Iterable[float | None], expected: Iterable[float | None], rel: float = 1e-9) -> bool:
    """Whether the numbers are the same but for rounding; None is only like None."""
    found, expected = ([math.nan if value is None else value for value in values] for values in (found, expected))
    return found == pytest.approx(expected, rel=rel, abs=1e-12, nan_ok=True)


def test_a_comparison_on_paper() -> None:
    one = compared([0.5, 0.9, 0.4], [0.4, 0.7, 0.1], setting())
    assert (one.a, one.b, one.measure, one.test, one.difference.method) == ("run0", "run1", "AP", "t", "t")
    assert (one.wins, one.ties, one.losses, one.difference.n) == (3, 0, 0, 3)
    assert one.difference.value == pytest.approx(0.2)
    assert one.difference.se == pytest.approx(0.1 / 3**0.5)
    assert one.effect_size == pytest.approx(2)
    assert one.p_value == pytest.approx(1 - (12 / 14) ** 0.5)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 5, 43])
def test_the_interval_of_the_t_test_agrees_with_scipy(n: int, level: float) -> None:
    a, b = np.random.default_rng(n).beta(2, 3, (2, n))
    one, theirs = compared(a, b, setting(level=level)), stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(level)
    assert [one.difference.low, one.difference.high] == pytest.approx([interval.low, interval.high], rel=1e-9)
    assert one.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert one.effect_size == pytest.approx((a - b).mean() / (a - b).std(ddof=1), rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 40), (30, 20)])
def test_welchs_interval_agrees_with_scipy(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.beta(2, 3, n), rng.beta(5, 3, m)
    values = np.full((2, n + m), np.nan)
    values[0, :n], values[1, n:] = a, b
    (one,), theirs = answers(values, setting("welch", level=0.9)), stats.ttest_ind(a, b, equal_var=False)
    interval = theirs.confidence_interval(0.9)
    assert one.difference.value == pytest.approx(a.mean() - b.mean(), rel=1e-12)
    assert [one.difference.low, one.difference.high] == pytest.approx([interval.low, interval.high], rel=1e-9)
    assert one.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert one.effect_size == pytest.approx((a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    assert (one.wins, one.ties, one.losses) == (0, 0, 0)
    assert one.notes[0].code == "unpaired-queries"
    assert f"{n} of 'run0', {m} of 'run1'" in one.notes[0]


@pytest.mark.parametrize(("n", "within"), [(3, 0.06), (5, 0.02), (10, 0.002), (20, 0.001), (50, 0.001), (200, 0.001)])
def test_the_detectable_difference_is_that_of_a_power_of_four_in_five(n: int, within: float) -> None:
    # the sum of two t quantiles, where the noncentral t distribution would be exact
    a, b = np.random.default_rng(n).beta(2, 3, (2, n))
    one = compared(a, b, setting())
    exactly = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8) * (a - b).std(ddof=1)
    assert one.detectable == pytest.approx(exactly, rel=within)


@pytest.mark.parametrize("test", PAIRED)
@given(both=two_runs)
@examples(30)
def test_swapping_the_runs_turns_the_signs_and_leaves_p(test: Test, both: tuple[list[float], list[float]]) -> None:
    one, other = compared(*both, setting(test)), compared(*both[::-1], setting(test))
    if one.p_value is not None:
        assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
    assert near([other.difference.value], [-one.difference.value])
    if one.difference.low is not None:
        assert near([other.difference.low, other.difference.high], [-one.difference.high, -one.difference.low])
    else:
        assert (test, other.difference.low) == ("bootstrap", None)
    assert (one.ahead, other.ahead) in {("run0", "run1"), ("run1", "run0"), (None, None)}
    assert near([other.difference.se, other.detectable], [one.difference.se, one.detectable])


@pytest.mark.parametrize("test", PAIRED)
@given(both=two_runs, constant=st.integers(1, 40).map(lambda i: i / 20))
@examples(30)
def test_what_both_runs_gain_alike_changes_nothing(
    test: Test, both: tuple[list[float], list[float]], constant: float
) -> None:
    more = [[value + constant for value in column] for column in both]
    assert near(numbers(compared(*more, setting(test))), numbers(compared(*both, setting(test))))


@pytest.mark.parametrize("test", TESTS)
@given(both=two_runs, unit=st.sampled_from([1e-9, 1e-3, 100, 12_345, 1e9]))
@examples(30)
def test_the_unit_of_a_measure_changes_no_p(test: Test, both: tuple[list[float], list[float]], unit: float) -> None:
    scaled = [[value * unit for value in column] for column in both]
    one, other = compared(*both, setting(test)), compared(*scaled, setting(test))
    assert near([other.p_value, other.effect_size], [one.p_value, one.effect_size])
    assert (other.wins, other.ties, other.losses) == (one.wins, one.ties, one.losses)
    assert other.difference.value == pytest.approx(one.difference.value * unit, rel=1e-9, abs=1e-9 * unit)


@given(both=two_runs, level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_of_the_t_test_leaves_0_out_exactly_where_p_is_small(
    both: tuple[list[float], list[float]], level: float
) -> None:
    one = compared(*both, setting(level=level))
    if one.detectable is not None and one.p_value != pytest.approx(1 - level, rel=1e-9):
        assert (one.difference.low > 0 or one.difference.high < 0) == (one.p_value < 1 - level)


@pytest.mark.parametrize("test", TESTS)
@given(both=two_runs)
@examples(30)
def test_p_lies_above_0_and_never_above_1(test: Test, both: tuple[list[float], list[float]]) -> None:
    p = compared(*both, setting(test)).p_value
    if p is None and test == "bootstrap":
        assert len(both[0]) < 6
    elif p is None:  # two runs that never vary, unpaired
        assert test == "welch"
        assert max(map(len, map(set, both))) == 1
    else:
        assert 0 < p <= 1


@pytest.mark.parametrize("test", PAIRED)
def test_a_pair_has_the_same_answer_whichever_others_are_tested(test: Test) -> None:
    values = np.random.default_rng(1).beta(2, 3, (7, 30)).round(1)
    values[6] = values[0]
    values[2, :10] = np.nan
    values[3, 25:] = np.nan
    everything = {(one.a, one.b): one for one in answers(values, setting(test))}
    for i, j in [(0, 1), (0, 2), (2, 3), (0, 6)]:
        (alone,) = answers(values, setting(test), [(i, j)])
        assert near(numbers(everything[f"run{i}", f"run{j}"]), numbers(alone))
        kept = ~np.isnan(values[[i, j]]).any(axis=0)
        (by_themselves,) = answers(values[[i, j]][:, kept], setting(test))
        assert near(numbers(alone), numbers(by_themselves))
        assert alone.difference.n == kept.sum()


SHAPES: dict[str, tuple[list[float], list[float]]] = {
    "identical": ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9]),
    "the same but for rounding": ([0.3] * 10, [0.1 + 0.2] * 10),
    "one query": ([0.7], [0.2]),
    "one query, the same": ([0.7], [0.7]),
    "two queries": ([0.7, 0.3], [0.2, 0.4]),
    "constant difference": ([0.3, 0.4, 0.9], [0.2, 0.3, 0.8]),
    "constant and negative": ([0.0] * 60, [1.0] * 60),
    "all ties but one": ([0.5] * 20 + [0.6], [0.5] * 21),
    "thousands": ([1234.5, 2345.25, 17.0], [1200.0, 2350.5, 16.0]),
    "billionths": ([1e-9, 3e-9, 2e-9], [2e-9, 1e-9, 1e-9]),
    "both scales": ([1e-9, 5000.0, 0.2], [2e-9, 4000.0, 0.1]),
    "one run constant": ([0.0] * 4, [0.1, 0.2, 0.3, 0.3]),
    "far apart": ([1.0, 0.99, 1.0, 0.98] * 20, [0.0, 0.01, 0.0, 0.0] * 20),
}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_at_the_edges_every_test_gives_numbers_or_none_with_a_reason(shape: str, test: Test) -> None:
    one = compared(*SHAPES[shape], setting(test))
    plain = json.loads(json.dumps(one.as_dict(), allow_nan=False))
    assert plain["difference"]["value"] is not None
    assert plain["p_value"] is None or 0 < plain["p_value"] <= 1
    if plain["p_value"] is None or plain["effect_size"] is None:
        assert plain["notes"]
    if one.difference.low is not None:
        assert one.difference.low <= one.difference.value <= one.difference.high


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("values", [[0.1, 0.5, 0.9], [0.2, 0.2], [1.0] * 60, [2000.0, 1e-9, 3.0]])
def test_identical_runs_have_p_1_and_no_effect(values: list[float], test: Test) -> None:
    one = compared(values, values, setting(test))
    assert (one.p_value, one.difference.value) == (pytest.approx(1, rel=1e-12), 0)
    assert (one.wins, one.ties, one.losses) == (0, len(values), 0)
    if test != "welch":
        assert one.effect_size == 0
        assert [note.code for note in one.notes] == ["single-query" if len(values) == 1 else "equal-runs"]


@pytest.mark.parametrize("test", PAIRED)
def test_a_single_query_tells_nothing_and_says_so(test: Test) -> None:
    one = compared([0.7], [0.2], setting(test))
    assert (one.p_value, one.difference.value, one.difference.n) == (1, 0.5, 1)
    assert (one.difference.se, one.difference.low, one.difference.high) == (None, None, None)
    assert (one.effect_size, one.detectable, one.wins) == (None, None, 1)
    assert [note.code for note in one.notes] == ["single-query"]


@pytest.mark.parametrize("test", PAIRED)
@pytest.mark.parametrize(
    ("a", "b"),
    [([0.3, 0.4, 0.9], [0.2, 0.3, 0.8]), ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]), ([3001.1, 7.1, 8.1], [3001.0, 7.0, 8.0])],
)
def test_differences_that_only_rounding_keeps_apart_are_constant(test: Test, a: list[float], b: list[float]) -> None:
    one = compared(a, b, setting(test))
    assert one.p_value == 0.25
    assert (one.wins, one.ties, one.losses) == (3, 0, 0)
    assert one.difference.se == 0
    assert one.detectable is None
    assert one.notes[0].code == "equal-values"


@pytest.mark.parametrize("test", FLIPPED)
def test_the_p_of_a_constant_difference_is_that_of_the_exact_tests(test: Test) -> None:
    nearly = [0.1, 0.1000001, 0.1000002, 0.1000003, 0.1000004]
    assert compared([0.1] * 5, [0.0] * 5, setting(test)).p_value == 2**-4
    assert compared(nearly, [0.0] * 5, setting(test)).p_value == 2**-4


def test_what_ties_but_for_rounding_is_a_tie() -> None:
    one = compared([0.3, 0.8, 0.5], [0.1 + 0.2, 0.5 + 0.3, 0.1], setting("sign"))
    assert (one.wins, one.ties, one.losses) == (1, 2, 0)


@pytest.mark.parametrize(
    ("how", "least"),
    [
        (setting("t"), 0),
        (setting("sign"), 2**-4),
        (setting("sign", mid_p=True), 2**-5),
        (setting("wilcoxon"), 2**-4),
        (setting("permutation"), 2**-4),
        (setting("permutation", resamples=20), 1 / 21),
    ],
)
def test_the_smallest_p_that_a_test_can_give(how: ComparisonSettings, least: float) -> None:
    one = compared([0.1, 0.2, 0.3, 0.4, 0.5, 0.0], [0.0] * 6, how)
    assert smallest_p(one, how) == pytest.approx(least)
    assert one.p_value >= least


@pytest.mark.parametrize("n", [6, 20, 43, 200])
@pytest.mark.parametrize("resamples", [2_000, 20_000])
def test_the_smallest_p_of_the_bootstrap_depends_on_how_many_queries_there_are(n: int, resamples: int) -> None:
    how = setting("bootstrap", resamples=resamples)
    one = compared(np.linspace(0.95, 1.05, n).tolist(), [0.0] * n, how)  # without skew, which moves it
    assert one.p_value == pytest.approx(smallest_p(one, how), rel=0.35)


def test_an_unpaired_run_of_one_query_has_no_test() -> None:
    (one,) = answers(np.array([[0.1, np.nan, np.nan], [np.nan, 0.3, 0.5]]), setting("welch"))
    assert (one.p_value, one.difference.low, one.effect_size) == (None, None, None)
    assert one.difference.value == pytest.approx(-0.3)
    assert "single-query" in [note.code for note in one.notes]


def test_unpaired_runs_that_never_vary_have_no_test_unless_they_are_equal() -> None:
    (apart,) = answers(np.array([[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]]), setting("welch"))
    assert apart.p_value is None
    assert "equal-values" in [note.code for note in apart.notes]
