"""Correction query by query."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from statsmodels.api import OLS, add_constant

from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.correction.whole_queries import QueryMeans, correct_by_query

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


def test_by_hand_below_ten_queries_the_slope_is_1() -> None:
    bronze, gold = np.array([[0.2, 0.4, 0.6, 0.8]]), np.array([[0.1, 0.5]])
    found = correct_by_query(bronze, gold, np.array([0, 2]), population="these")
    # 0.5 by bronze, and gold is 0.1 less on both.
    assert found.values.tolist() == pytest.approx([0.4])
    # Both fit, and two that fit are not certain: half of (0.4² / 4(2 + 1)), for one of two queries was missed.
    floor = 0.5 / 2 * 0.4**2 / 4 / 3
    assert found.variances.tolist() == pytest.approx([floor])
    assert (found.df, found.queries) == (1, 2)
    assert found.gold.tolist() == pytest.approx([0.3])
    assert found.gold_variances.tolist() == pytest.approx([0.08 * 0.5 / 2])
    wider = correct_by_query(bronze, gold, np.array([0, 2]), population="like-these")
    assert wider.variances.tolist() == pytest.approx([floor + 0.08 / 4])
    assert wider.gold_variances.tolist() == pytest.approx([0.08 / 2])


@settings(max_examples=40)
@given(SEEDS)
def test_statsmodels_predicts_the_same_mean_with_the_same_error(seed: int) -> None:
    gold, bronze, places = values(seed)
    found = corrected(gold, bronze, places)
    for row in range(len(gold)):
        fit = OLS(gold[row, places], add_constant(bronze[row, places])).fit()
        told = fit.get_prediction([1.0, bronze[row].mean()])
        assert found.values[row] == pytest.approx(told.predicted_mean[0])
        # Residuals from the line through the others make it HC3; gold has seen 15 of 40 queries.
        robust = fit.get_robustcov_results("HC3").get_prediction([1.0, bronze[row].mean()])
        said = robust.se_mean[0] ** 2 * (1 - 15 / 40)
        assert found.variances[row] == pytest.approx(max(said, least(gold[row, places], 40)))
    assert found.df == 13


@settings(max_examples=10)
@given(SEEDS)
def test_over_all_samples_the_mean_is_the_truth_where_the_slope_is_not_fitted(seed: int) -> None:
    gold, bronze, _ = values(seed, queries=8)
    found = [corrected(gold, bronze, np.array(places)).values for places in combinations(range(8), 3)]
    assert np.mean(found, axis=0).tolist() == pytest.approx(gold.mean(axis=1).tolist(), abs=1e-12)


@settings(max_examples=10)
@given(SEEDS)
def test_over_all_samples_the_mean_variance_is_a_little_more_than_that_of_the_values(seed: int) -> None:
    gold, bronze, _ = values(seed, queries=8)
    found = [corrected(gold, bronze, np.array(places)) for places in combinations(range(8), 3)]
    spread = np.var([one.values for one in found], axis=0)
    # Residuals from the mean of the others are larger by n/(n − 1), and so is a variance made of them.
    plain = [one.variances for one in found]
    assert (np.mean(plain, axis=0) >= 1.5 * spread * (1 - 1e-9)).all()
    # But for those that few values that fit were raised to.
    bare = []
    for places in combinations(range(8), 3):
        rest = (gold - bronze)[:, places]
        bare.append((1 - 3 / 8) / 3 * rest.var(axis=1, ddof=1) * 1.5)
    assert np.mean(bare, axis=0).tolist() == pytest.approx((1.5 * spread).tolist())
    floors = [[least(row[list(places)], 8) for row in gold] for places in combinations(range(8), 3)]
    assert np.array(plain).tolist() == [pytest.approx(row) for row in np.maximum(bare, floors).tolist()]


@settings(max_examples=20)
@given(SEEDS, st.integers(2, 15))
def test_where_gold_judged_all_queries_its_mean_is_the_answer(seed: int, queries: int) -> None:
    gold, bronze, _ = values(seed, queries=queries)
    found = corrected(gold, bronze, np.arange(queries))
    assert found.values.tolist() == pytest.approx(gold.mean(axis=1).tolist())
    assert found.variances.tolist() == pytest.approx([0, 0], abs=1e-12)


@settings(max_examples=20)
@given(SEEDS, POPULATIONS, st.floats(-3, 3), st.floats(0.2, 3), st.sampled_from([-1, 1]))
def test_the_scale_of_bronze_does_not_matter(
    seed: int, population: Population, shift: float, scale: float, sign: int
) -> None:
    gold, bronze, places = values(seed)
    one, other = (corrected(gold, told, places, population) for told in (bronze, shift + sign * scale * bronze))
    assert other.values.tolist() == pytest.approx(one.values.tolist())
    assert other.variances.tolist() == pytest.approx(one.variances.tolist())


@settings(max_examples=20)
@given(SEEDS, POPULATIONS, st.floats(-3, 3), st.integers(2, 15))
def test_a_shift_of_gold_shifts_the_answer(seed: int, population: Population, shift: float, chosen: int) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    one, other = (corrected(told, bronze, places, population) for told in (gold, gold + shift))
    assert other.values.tolist() == pytest.approx((one.values + shift).tolist())
    assert other.variances.tolist() == pytest.approx(one.variances.tolist())
    assert other.gold_variances.tolist() == pytest.approx(one.gold_variances.tolist())


@settings(max_examples=20)
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
    assert found.variances.tolist() == pytest.approx((found.gold_variances * 15 / 14).tolist())


def test_a_slope_that_rests_on_one_query_is_not_taken() -> None:
    gold, bronze, places = values(3)
    lonely = np.zeros_like(bronze)
    lonely[:, places[0]] = 1
    found = corrected(gold, lonely, places)
    assert found.values.tolist() == pytest.approx(found.gold.tolist())
    two = lonely.copy()
    two[:, places[1]] = 1
    assert corrected(gold, two, places).values.tolist() != pytest.approx(found.gold.tolist())


def test_a_perfect_judge_leaves_what_few_queries_cannot_rule_out_and_for_others_the_error_of_the_mean() -> None:
    gold, _, places = values(4)
    floor = np.array([least(row[places], 40) for row in gold])
    assert corrected(gold, gold, places).variances.tolist() == pytest.approx(floor.tolist())
    wider = corrected(gold, gold, places, "like-these")
    assert wider.values.tolist() == pytest.approx(gold.mean(axis=1).tolist())
    of_mean = gold[:, places].var(axis=1, ddof=1) / 40
    assert wider.variances.tolist() == pytest.approx((floor + of_mean).tolist())


def test_the_interval_is_students_and_few_queries_are_told() -> None:
    gold, bronze, places = values(5)
    found = corrected(gold, bronze, places)
    one = found.estimate(1, level=0.9)
    low, high = stats.t.interval(0.9, 13, found.values[1], np.sqrt(found.variances[1]))
    assert (one.low, one.high) == pytest.approx((low, high))
    assert (one.n, one.method, one.level) == (15, "difference, whole queries", 0.9)
    assert one.notes == ("only 15 queries with gold: trust it with care",)
    gold, bronze, places = values(5, chosen=20)
    assert corrected(gold, bronze, places).estimate(0, level=0.9).notes == ()


def test_gold_alone_is_a_t_test() -> None:
    gold, bronze, places = values(6)
    gold = gold - 0.4
    found = corrected(gold, bronze, places, "like-these")
    told = stats.ttest_1samp(gold[0, places], 0)
    one = found.estimate(0, level=0.95, gold_only=True)
    assert one.method == "gold only, whole queries"
    assert (one.low, one.high) == pytest.approx(tuple(told.confidence_interval(0.95)))
    assert found.p_value(0, gold_only=True) == pytest.approx(told.pvalue)


@settings(max_examples=30)
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


@settings(max_examples=30)
@given(SEEDS, POPULATIONS, st.integers(2, 40))
def test_the_variance_is_never_below_what_so_few_queries_can_rule_out(
    seed: int, population: Population, chosen: int
) -> None:
    gold, bronze, places = values(seed, chosen=chosen)
    found = corrected(gold, bronze, places, population)
    for row in range(2):
        more = gold[row, places].var(ddof=1) / 40 if population == "like-these" else 0.0
        assert found.variances[row] >= (least(gold[row, places], 40) + more) * (1 - 1e-9)


def test_queries_that_are_all_alike_by_gold_have_no_range_to_add() -> None:
    bronze = np.random.default_rng(1).random((1, 12))
    found = correct_by_query(bronze, np.full((1, 3), 0.5), np.arange(3), population="these")
    rest = 0.5 - bronze[0, :3]
    assert found.variances.tolist() == pytest.approx([(1 - 3 / 12) / 3 * rest.var(ddof=1) * 1.5])
