"""Do the tests keep their promises? Seeded simulations of their errors, their power and their intervals.

The worlds are those of `ringtrue.simulation.studies.significance_errors`; `docs/ideas/which-test.md` has the results.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import ringtrue as rt
from ringtrue.evaluation.significance.adjustment import benjamini_hochberg, holm
from ringtrue.evaluation.significance.paired_statistics import t_test, tukey_hsd
from ringtrue.simulation import error_rates, miss_rates, paired_scores, system_scores
from ringtrue.simulation.studies.significance_errors import SCORE_SHAPES, TESTS, MeasureKind

pytestmark = pytest.mark.simulation

FloatArray = NDArray[np.float64]
PAGE = Path(__file__).parents[3] / "docs/ideas/which-test.md"
QUERIES = (20, 50, 200)
SEED = 1
PAIRED = [test for test in TESTS if test != "welch"]

every_kind = pytest.mark.parametrize("kind", SCORE_SHAPES)
few_to_many = pytest.mark.parametrize("queries", QUERIES)
short_and_long = pytest.mark.parametrize(
    "long", [pytest.param(False, id="short"), pytest.param(True, id="long", marks=pytest.mark.study)]
)


def percent(
    kind: MeasureKind, queries: int, *tests: str, replications: int = 10_000, **world: float | bool
) -> list[float]:
    rng = np.random.default_rng(SEED)
    rates = error_rates(rng, queries=queries, replications=replications, kind=kind, tests=tests, **world)  # type: ignore[arg-type]
    return [100 * share for share in rates.values()]


# Type-I errors: 4,000 replications have a standard error of 0.35 points, so that 8% for 5% leave a band of ±1.5 points
# always, and 7% in nine of ten worlds; all worlds together tell 5.5% from 5%. The page has nDCG's 10,000. A short run
# has 2,000 of each kind, and bands that are wider by what four standard errors grow.

SHORT, LONG = 2_000, 4_000


@cache
def errors(kind: MeasureKind, queries: int, long: bool) -> dict[str, float]:
    """What each test finds where there is nothing; every test sees the same draws, whichever others are asked."""
    replications = (10_000 if kind == "nDCG" else LONG) if long else SHORT
    return dict(zip(TESTS, percent(kind, queries, *TESTS, replications=replications), strict=True))


def room(long: bool, worlds: int = 1) -> float:
    """By how much the band of a short run is wider, in points: four standard errors of 5%, less those of a long run."""
    return 0.0 if long else float(400 * np.sqrt(0.05 * 0.95 / worlds) * (SHORT**-0.5 - LONG**-0.5))


@short_and_long
@pytest.mark.parametrize("test", ["t", "welch"])
def test_over_all_worlds_together_five_of_a_hundred_are_found(test: str, long: bool) -> None:
    rates = [errors(kind, queries, long)[test] for kind in SCORE_SHAPES for queries in QUERIES]
    assert abs(np.mean(rates) - 5) <= 0.4 + room(long, len(rates))


@short_and_long
@every_kind
@few_to_many
def test_the_t_and_the_permutation_test_find_what_is_not_there_in_five_of_a_hundred(
    kind: MeasureKind, queries: int, long: bool
) -> None:
    rates = [errors(kind, queries, long)[test] for test in ("t", "permutation")]
    assert all(3.5 - room(long) <= rate <= 6.5 + room(long) for rate in rates), rates


@short_and_long
@every_kind
@few_to_many
def test_wilcoxons_test_keeps_its_level_where_runs_could_be_swapped(
    kind: MeasureKind, queries: int, long: bool
) -> None:
    assert 3 - room(long) <= errors(kind, queries, long)["wilcoxon"] <= 6.5 + room(long)


@short_and_long
@every_kind
@few_to_many
def test_the_sign_test_is_cautious_and_its_mid_p_value_less_so(kind: MeasureKind, queries: int, long: bool) -> None:
    plain, mid_p = (errors(kind, queries, long)[test] for test in ("sign", "sign, mid-p"))
    assert plain <= 6 + room(long)
    # 6.5 for 50 queries that do not tie: binomial counts leave no level between
    assert plain <= mid_p <= 7 + room(long)


@short_and_long
@every_kind
@few_to_many
def test_the_bootstrap_errs_a_little_more_often_for_few_queries_and_keeps_its_level_for_many(
    kind: MeasureKind, queries: int, long: bool
) -> None:
    most = 8 if queries == 20 else 6.5
    assert 3.5 - room(long) <= errors(kind, queries, long)["bootstrap"] <= most + room(long)


@short_and_long
@every_kind
@few_to_many
def test_welchs_test_keeps_its_level_for_runs_over_different_queries(
    kind: MeasureKind, queries: int, long: bool
) -> None:
    assert 3.5 - room(long) <= errors(kind, queries, long)["welch"] <= 6.5 + room(long)


@few_to_many
def test_a_run_that_helps_few_queries_much_misleads_the_tests_that_do_not_look_at_the_mean(queries: int) -> None:
    by_t, by_permutation, by_ranks, by_signs = percent(
        "AP", queries, "t", "permutation", "wilcoxon", "sign", replications=2_500, lopsided=True
    )
    assert 4 <= by_t <= 7.5
    assert 4 <= by_permutation <= 7.5
    assert min(by_ranks, by_signs) > by_t + 2


def test_at_small_levels_the_t_test_is_cautious_and_the_bootstrap_is_not() -> None:
    by_t, by_bootstrap = percent("nDCG", 20, "t", "bootstrap", replications=20_000, level=0.999)
    assert 0.02 <= by_t <= 0.15
    assert 0.2 <= by_bootstrap <= 0.5


# Power


def test_power_rises_with_the_effect_and_with_the_queries() -> None:
    power = np.array(
        [
            [percent("nDCG", queries, *PAIRED, replications=1_000, effect=effect) for queries in QUERIES]
            for effect in (0.02, 0.05, 0.1)
        ]
    )
    assert (np.diff(power, axis=0) >= 0).all()
    assert (np.diff(power, axis=1) >= 0).all()


@every_kind
@few_to_many
def test_the_t_and_the_permutation_test_find_the_same(kind: MeasureKind, queries: int) -> None:
    by_t, by_permutation = percent(kind, queries, "t", "permutation", replications=2_000, effect=0.06)
    assert abs(by_t - by_permutation) < (5 if queries == 20 else 4)  # ties make permutations of few values cautious


@pytest.mark.parametrize("kind", ["nDCG", "AP", "P@10"])
@few_to_many
def test_the_sign_test_finds_the_least_where_few_queries_gain_much(kind: MeasureKind, queries: int) -> None:
    tests = ("t", "wilcoxon", "sign")
    by_t, by_ranks, by_signs = percent(kind, queries, *tests, replications=2_000, effect=0.06, lopsided=True)
    assert by_signs < by_ranks < by_t + 1


@few_to_many
def test_pairing_finds_far_more_than_runs_over_different_queries(queries: int) -> None:
    by_t, by_welch = percent("nDCG", queries, "t", "welch", replications=2_000, effect=0.05)
    assert by_t > 1.5 * by_welch


@every_kind
@few_to_many
def test_the_detectable_difference_is_detected_in_four_of_five_samples(kind: MeasureKind, queries: int) -> None:
    samples = np.random.default_rng(SEED)
    pilot = np.stack(paired_scores(samples, queries=queries, replications=300, kind=kind))
    detectable = float(np.mean([one.detectable for one in rt.compare(as_scores(pilot))]))
    first, second = paired_scores(samples, queries=queries, replications=4_000, kind=kind)
    assert (t_test(first - second + detectable) < 0.05).mean() == pytest.approx(0.8, abs=0.03)  # 4 standard errors


def as_scores(values: FloatArray) -> rt.Scores:
    """Runs × replications × queries, each replication under the name of a measure."""
    columns = ("run", "measure", "query")
    places = (axis.ravel().astype(str) for axis in np.indices(values.shape))
    frame = pl.DataFrame(dict(zip(columns, places, strict=True)) | {"value": values.ravel()})
    return rt.Scores(frame.select("run", "query", "measure", "value"))


# Intervals of the mean difference, in a world where differences are skewed: 0.05 is the truth.


@pytest.mark.parametrize("replications", [3_000, pytest.param(10_000, marks=pytest.mark.study)])
@pytest.mark.parametrize("kind", ["nDCG", "AP"])
@few_to_many
def test_intervals_of_a_skewed_difference_cover_the_truth_and_bca_misses_evenly(
    kind: MeasureKind, queries: int, replications: int
) -> None:
    rng = np.random.default_rng(SEED)
    missed = miss_rates(rng, queries=queries, replications=replications, kind=kind, effect=0.05, lopsided=True)
    (t_below, t_above), (bca_below, bca_above) = missed.values()
    wider = 4 * np.sqrt(0.95 * 0.05) * (replications**-0.5 - 10_000**-0.5)  # what four standard errors grow
    assert 0.935 - wider <= 1 - t_below - t_above <= 0.96 + wider
    least = {20: 0.915, 50: 0.935, 200: 0.94}[queries]
    assert least - wider <= 1 - bca_below - bca_above <= 0.96 + wider
    assert abs(bca_below - bca_above) < abs(t_below - t_above)  # t misses a long tail more often than a short one


# Many comparisons: all 15 pairs of six runs, 50 queries


PAIRS = np.array(list(combinations(range(6), 2)))
families = pytest.mark.parametrize("replications", [1_000, pytest.param(2_000, marks=pytest.mark.study)])


def by_holm(p: FloatArray) -> FloatArray:
    return np.array([holm(row) for row in p])


def by_bh(p: FloatArray) -> FloatArray:
    return np.array([benjamini_hochberg(row) for row in p])


def by_tukey(values: FloatArray, pairs: NDArray[np.int64], *, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.array([tukey_hsd(one, pairs[:, 0], pairs[:, 1], resamples=500, rng=rng) for one in values])


def t_of_pairs(values: FloatArray, pairs: NDArray[np.int64]) -> FloatArray:
    apart = values[:, pairs[:, 0]] - values[:, pairs[:, 1]]
    return t_test(apart.reshape(-1, apart.shape[2])).reshape(apart.shape[:2])


def any_found(p: FloatArray) -> float:
    return float((p < 0.05).any(axis=1).mean())


def false_share(p: FloatArray, true_nulls: NDArray[np.bool_]) -> float:
    found = p < 0.05
    return float((found[:, true_nulls].sum(axis=1) / np.maximum(found.sum(axis=1), 1)).mean())


@families
def test_among_equal_runs_every_adjustment_errs_at_most_once_in_twenty_families(replications: int) -> None:
    values = system_scores(np.random.default_rng(1), queries=50, replications=replications, effects=(0,) * 6)
    p = t_of_pairs(values, PAIRS)
    wider = 3 * np.sqrt(0.05 * 0.95) * (replications**-0.5 - 2_000**-0.5)
    assert any_found(p) > 0.3  # not adjusted
    assert any_found(by_holm(p)) <= 0.06 + wider
    assert any_found(by_bh(p)) <= 0.06 + wider
    # three standard errors either way
    assert 0.036 - wider <= any_found(by_tukey(values, PAIRS, seed=1)) <= 0.064 + wider


PARTIAL = np.array([0, 0, 0, 0.1, 0.1, 0.2])


@families
def test_where_some_runs_differ_the_others_are_still_not_told_apart(replications: int) -> None:
    values = system_scores(np.random.default_rng(2), queries=50, replications=replications, effects=PARTIAL.tolist())
    equal = PARTIAL[PAIRS[:, 0]] == PARTIAL[PAIRS[:, 1]]
    p = t_of_pairs(values, PAIRS)
    stepwise, randomised = by_holm(p), by_tukey(values, PAIRS, seed=2)
    wider = 3 * np.sqrt(0.05 * 0.95) * (replications**-0.5 - 2_000**-0.5)
    assert any_found(stepwise[:, equal]) <= 0.06 + wider
    assert any_found(randomised[:, equal]) <= 0.06 + wider
    assert (stepwise < 0.05)[:, ~equal].mean() > (randomised < 0.05)[:, ~equal].mean() + 0.05  # Tukey pays for it


def test_of_what_benjamini_and_hochberg_find_at_most_one_in_twenty_is_false() -> None:
    for effects in (PARTIAL, np.array([0, 0, 0, 0, 0.05, 0.1])):
        values = system_scores(np.random.default_rng(3), queries=50, replications=4_000, effects=effects.tolist())
        equal = effects[PAIRS[:, 0]] == effects[PAIRS[:, 1]]
        p = t_of_pairs(values, PAIRS)
        assert false_share(by_bh(p), equal) <= 0.055
        assert (by_bh(p) < 0.05)[:, ~equal].mean() > (by_holm(p) < 0.05)[:, ~equal].mean()


def test_tukey_is_misled_by_a_crowd_of_variants_of_one_run_and_holm_is_not() -> None:
    rng = np.random.default_rng(4)
    values = system_scores(rng, queries=50, replications=1_000, effects=(0,) * 10)
    same = (rng.random((1_000, 8, 50)) < 0.9) & (np.arange(50) > 0)  # all differ on the first query
    values[:, 1:9] = np.where(same, values[:, :1], values[:, 1:9])  # nine variants; the tenth stands apart
    pairs = np.array(list(combinations(range(10), 2)))
    assert any_found(by_tukey(values, pairs, seed=4)) > 0.08
    assert any_found(by_holm(t_of_pairs(values, pairs))) <= 0.05


def test_tukey_finds_more_than_holm_where_one_of_many_runs_stands_out() -> None:
    values = system_scores(np.random.default_rng(5), queries=50, replications=300, effects=(0,) * 19 + (0.1,))
    pairs = np.array(list(combinations(range(20), 2)))
    better = pairs[:, 1] == 19
    randomised, stepwise = by_tukey(values, pairs, seed=1), by_holm(t_of_pairs(values, pairs))
    assert (randomised < 0.05)[:, better].mean() > (stepwise < 0.05)[:, better].mean() + 0.05


# The page


def told(test: str) -> list[float]:
    """The numbers in the row of a test."""
    row = re.search(rf"^\| {re.escape(test)} \|(.+)\|$", PAGE.read_text(), re.M)
    assert row is not None, f"{PAGE.name} has no row for {test}"
    return [float(cell) for cell in row[1].split("|")]


@short_and_long
@pytest.mark.parametrize("effect", [0.0, 0.05])
@few_to_many
def test_the_page_tells_what_is_measured(effect: float, queries: int, long: bool) -> None:
    if effect:
        measured = percent("nDCG", queries, *TESTS, replications=10_000 if long else SHORT, effect=effect)
    else:
        measured = list(errors("nDCG", queries, long).values())
    column = QUERIES.index(queries) + (3 if effect else 0)
    for test, rate in zip(TESTS, measured, strict=True):
        said = told(test)[column]
        # The page has the long run; a short one differs by chance, here by four standard errors of the difference.
        chance = 0.15 if long else 4 * np.sqrt(said * (100 - said) * (1 / SHORT + 1 / 10_000))
        assert said == pytest.approx(rate, abs=chance), test
