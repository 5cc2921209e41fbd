"""The mean over queries by gold, from bronze values of all and gold values of some."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.api import OLS, add_constant

from gold.refusals import codes, names
from ringtrue.gold.correction.query_means import QueryMeans, correct_by_query
from ringtrue.gold.designs import Population
from strategies import examples

WHOLE_QUERIES = "difference, whole queries"
GOLD_ONLY = "gold only, whole queries"

SEEDS = st.integers(0, 2**32 - 1)
POPULATIONS: st.SearchStrategy[Population] = st.sampled_from(["these", "like-these"])


def values(seed: int, *, rows: int = 2, queries: int = 40, chosen: int = 15) -> tuple[Any, Any, Any]:
    """Gold values of all queries, bronze values that follow them, and the queries that gold judged."""
    rng = np.random.default_rng(seed)
    gold = rng.random((rows, queries))
    bronze = 0.2 + 0.6 * gold + rng.normal(0, 0.15, gold.shape)
    return gold, bronze, np.sort(rng.permutation(queries)[:chosen])


def corrected(gold: Any, bronze: Any, places: Any, population: Population = "these") -> QueryMeans:
    return correct_by_query(bronze, gold[:, places], places, population=population)


def least(gold: Any, queries: int) -> float:
    """The variance that so many gold values, of all queries, cannot rule out: squares of (range)²/4(n + 1)."""
    n = len(gold)
    return float((1 - n / queries) * (gold.max() - gold.min()) ** 2 / 4 / (n + 1) / n)


def test_by_hand_two_queries_hold_the_slope_back_and_say_as_little_as_gold_alone() -> None:
    bronze, gold = np.array([[0.2, 0.4, 0.6, 0.8]]), np.array([[0.1, 0.5]])
    found = correct_by_query(bronze, gold, np.array([0, 2]), population="these")
    # Gold is 0.3 where bronze is 0.4, and 0.5 on all queries; of a slope of 1 two queries leave 2/(2 + 5).
    assert found.values.tolist() == pytest.approx([0.3 + 2 / 7 * 0.1])
    # Without one of the two there is no slope: 0.5 or 0.1, and half of the queries were missed.
    assert found.variances.tolist() == pytest.approx([0.5 / 2 * (0.2**2 + 0.2**2)])
    assert (found.df, found.queries) == (1, 2)
    assert found.gold.tolist() == pytest.approx([0.3])
    assert found.gold_variances.tolist() == pytest.approx([0.08 * 0.5 / 2])
    wider = correct_by_query(bronze, gold, np.array([0, 2]), population="like-these")
    assert wider.variances.tolist() == pytest.approx([0.02 + 0.08 / 4])
    assert wider.gold_variances.tolist() == pytest.approx([0.08 / 2])


def held_back(gold: Any, bronze: Any, mean: float) -> float:
    """The corrected mean of one row, its line fitted by statsmodels."""
    slope = OLS(gold, add_constant(bronze)).fit().params[1] if np.ptp(bronze) > 1e-6 else 0.0
    return float(gold.mean() + np.clip(slope, 0, 1) * len(gold) / (len(gold) + 5) * (mean - bronze.mean()))


@examples(20)
@given(SEEDS, st.integers(3, 30), st.sampled_from([-1.0, 0.3, 1.0, 4.0]))
def test_statsmodels_fits_the_same_line_also_without_each_query(seed: int, chosen: int, scale: float) -> None:
    gold, bronze, places = values(seed, rows=1, chosen=chosen)
    found = corrected(gold, scale * bronze, places)
    (g,), (b,), mean = gold[:, places], scale * bronze[:, places], scale * bronze.mean()
    assert found.values[0] == pytest.approx(held_back(g, b, mean))
    without = [held_back(np.delete(g, one), np.delete(b, one), mean) for one in range(chosen)]
    jackknife = (1 - chosen / 40) * (chosen - 1) * np.var(without)
    assert found.variances[0] == pytest.approx(max(jackknife, least(g, 40)))
    assert found.df == chosen - 1


@examples(10)
@given(SEEDS)
def test_over_all_samples_the_mean_is_near_the_truth_and_its_variance_is_not_too_small(seed: int) -> None:
    gold, bronze, _ = values(seed, queries=8)
    found = [corrected(gold, bronze, np.array(places)) for places in combinations(range(8), 4)]
    means, spread = np.mean([one.values for one in found], axis=0), np.var([one.values for one in found], axis=0)
    assert (np.abs(means - gold.mean(axis=1)) <= 0.25 * np.sqrt(spread)).all()
    assert (np.mean([one.variances for one in found], axis=0) >= 0.85 * spread).all()


@examples(20)
@given(SEEDS, st.integers(2, 15))
def test_where_gold_judged_all_queries_its_mean_is_the_answer(seed: int, queries: int) -> None:
    gold, bronze, _ = values(seed, queries=queries)
    found = corrected(gold, bronze, np.arange(queries))
    assert found.values.tolist() == pytest.approx(gold.mean(axis=1).tolist())
    assert found.variances.tolist() == pytest.approx([0, 0], abs=1e-12)


@examples(20)
@given(SEEDS, POPULATIONS, st.floats(-3, 3), st.integers(2, 15))
def test_a_constant_bias_of_the_judge_cancels(seed: int, population: Population, shift: float, chosen: int) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    one, other = (corrected(gold, told, places, population) for told in (bronze, bronze + shift))
    assert other.values.tolist() == pytest.approx(one.values.tolist())
    assert other.variances.tolist() == pytest.approx(one.variances.tolist())


@examples(20)
@given(SEEDS, POPULATIONS, st.floats(-3, 3), st.integers(2, 15))
def test_a_shift_of_gold_shifts_the_answer(seed: int, population: Population, shift: float, chosen: int) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    one, other = (corrected(told, bronze, places, population) for told in (gold, gold + shift))
    assert other.values.tolist() == pytest.approx((one.values + shift).tolist())
    assert other.variances.tolist() == pytest.approx(one.variances.tolist())
    assert other.gold_variances.tolist() == pytest.approx(one.gold_variances.tolist())


@examples(20)
@given(SEEDS, POPULATIONS)
def test_the_order_of_queries_and_rows_says_nothing_and_a_row_turned_turns_its_value(
    seed: int, population: Population
) -> None:
    gold, bronze, places = values(seed)
    order = np.random.default_rng(seed).permutation(gold.shape[1])
    one = corrected(gold, bronze, places, population)
    other = corrected(gold[::-1, order], bronze[::-1, order], np.argsort(order)[places], population)
    assert other.values[::-1].tolist() == pytest.approx(one.values.tolist())
    assert other.variances[::-1].tolist() == pytest.approx(one.variances.tolist())
    turned = corrected(-gold, -bronze, places, population)
    assert turned.values.tolist() == pytest.approx((-one.values).tolist())
    assert [turned.p_value(row) for row in range(2)] == pytest.approx([one.p_value(row) for row in range(2)])


def test_a_bronze_judge_who_says_the_same_everywhere_leaves_gold_alone() -> None:
    gold, _, places = values(3)
    found = corrected(gold, np.full(gold.shape, 0.7), places)
    assert found.values.tolist() == pytest.approx(found.gold.tolist())
    assert found.variances.tolist() == pytest.approx(found.gold_variances.tolist())


def test_a_judge_who_is_right_the_wrong_way_round_leaves_gold_alone() -> None:
    gold, _, places = values(3)
    found = corrected(gold, -gold, places)
    assert found.values.tolist() == pytest.approx(found.gold.tolist())
    assert found.variances.tolist() == pytest.approx(found.gold_variances.tolist())


def test_a_perfect_judge_leaves_a_fourth_of_the_error_to_fifteen_queries() -> None:
    gold, _, places = values(4)
    found, missed = corrected(gold, gold, places), gold.mean(axis=1) - gold[:, places].mean(axis=1)
    assert found.values.tolist() == pytest.approx((gold.mean(axis=1) - 5 / 20 * missed).tolist())
    floor = np.array([least(row[places], 40) for row in gold])
    left = np.maximum(found.gold_variances * (5 / 19) ** 2, floor)
    assert found.variances.tolist() == pytest.approx(left.tolist())
    wider = corrected(gold, gold, places, "like-these")
    of_mean = gold[:, places].var(axis=1, ddof=1) / 40
    assert wider.variances.tolist() == pytest.approx((left + of_mean).tolist())


def test_the_interval_is_students_and_few_queries_are_told() -> None:
    gold, bronze, places = values(5)
    found = corrected(gold, bronze, places)
    one = found.estimate(1, level=0.9)
    low, high = stats.t.interval(0.9, 14, found.values[1], np.sqrt(found.variances[1]))
    assert (one.low, one.high) == pytest.approx((low, high))
    assert (one.n, one.method, one.level) == (15, WHOLE_QUERIES, 0.9)
    assert codes(one.notes) == ["few-queries"]
    assert names(one.notes[0], "15")
    gold, bronze, places = values(5, chosen=20)
    assert corrected(gold, bronze, places).estimate(0, level=0.9).notes == ()


def test_gold_alone_is_a_t_test() -> None:
    gold, bronze, places = values(6)
    gold = gold - 0.4
    found = corrected(gold, bronze, places, "like-these")
    told = stats.ttest_1samp(gold[0, places], 0)
    one = found.estimate(0, level=0.95, gold_only=True)
    assert one.method == GOLD_ONLY
    assert (one.low, one.high) == pytest.approx(tuple(told.confidence_interval(0.95)))
    assert found.p_value(0, gold_only=True) == pytest.approx(told.pvalue)


@examples(30)
@given(SEEDS, POPULATIONS, st.booleans(), st.integers(3, 15))
def test_p_is_below_a_twentieth_where_the_interval_leaves_out_0(
    seed: int, population: Population, gold_only: bool, chosen: int
) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    found = corrected(gold - 0.5, bronze - 0.5, places, population)
    for row in range(2):
        one = found.estimate(row, level=0.95, gold_only=gold_only)
        assert (found.p_value(row, gold_only=gold_only) < 0.05) == (not one.low <= 0 <= one.high)


def test_values_without_error_have_no_p_unless_they_are_0() -> None:
    nothing = np.zeros((1, 4))
    assert correct_by_query(nothing, nothing, np.arange(4), population="these").p_value(0) == 1
    found = correct_by_query(nothing, nothing + 0.5, np.arange(4), population="these")
    assert found.p_value(0) is None


@pytest.mark.simulation
@pytest.mark.parametrize("population", ["these", "like-these"])
def test_intervals_hold_the_truth_as_often_as_they_say(population: Population) -> None:
    rng, hits, draws = np.random.default_rng(8), 0, 2000
    gold, bronze, _ = values(9, rows=1, queries=60)
    for _ in range(draws):
        if population == "like-these":
            gold, bronze, _ = values(int(rng.integers(2**32)), rows=1, queries=60)
        truth = gold.mean() if population == "these" else 0.5
        one = corrected(gold, bronze, np.sort(rng.permutation(60)[:20]), population).estimate(0, level=0.95)
        hits += one.low <= truth <= one.high
    assert hits / draws == pytest.approx(0.95, abs=0.015)


@examples(30)
@given(SEEDS, POPULATIONS, st.integers(2, 40))
def test_the_variance_is_never_below_what_so_few_queries_can_rule_out(
    seed: int, population: Population, chosen: int
) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    found = corrected(gold, bronze, places, population)
    for row in range(2):
        more = gold[row, places].var(ddof=1) / 40 if population == "like-these" else 0.0
        assert found.variances[row] >= (least(gold[row, places], 40) + more) * (1 - 1e-9)


def test_queries_that_are_all_alike_by_gold_say_so_instead_of_being_certain() -> None:
    bronze = np.random.default_rng(1).random((1, 12))
    found = correct_by_query(bronze, np.full((1, 3), 0.5), np.arange(3), population="these").estimate(0, level=0.95)
    assert (found.value, found.se) == (0.5, 0)
    assert found.notes[-1].code == "all-queries-alike"
    whole = correct_by_query(bronze, np.full((1, 12), 0.5), np.arange(12), population="these").estimate(0, level=0.95)
    assert len(whole.notes) == 1
