"""The bronze judge by the gold labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gold.refusals import codes
from ringtrue.gold.correction.results import count_confusion, summarise_judge, weighted_rate
from ringtrue.stats.intervals import estimate_share, wilson


def test_the_matrix_counts_gold_in_rows_and_leaves_out_what_bronze_did_not_label() -> None:
    found = count_confusion(np.array([0, 0, 2, 2, 2]), np.array([0, 1, 2, 1, -1]))
    assert (found.rows, found.columns, found.labels) == ("gold", "bronze", (0, 1, 2))
    assert found.counts.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 1]]
    assert found.counts.dtype == np.int64


def test_weights_make_the_matrix_stand_for_the_pool() -> None:
    found = count_confusion(np.array([0, 1]), np.array([1, 1]), np.array([2.5, 4.0]))
    assert found.counts.tolist() == [[0, 2.5], [0, 4]]


def test_a_rate_by_hand() -> None:
    found = weighted_rate(np.array([True, False, True, True]), np.ones(4), 0.95)
    assert (found.value, found.n, found.method) == (0.75, 4, "wilson")
    assert (found.low, found.high) == pytest.approx(tuple(float(end) for end in wilson(0.75, 4)))
    assert found.se == pytest.approx(np.sqrt(0.75 * 0.25 / 4))


def test_unequal_weights_are_worth_fewer_labels() -> None:
    found = weighted_rate(np.array([True, False]), np.array([3.0, 1.0]), 0.95)
    assert found.value == 0.75
    assert found.se == pytest.approx(np.sqrt(0.75 * 0.25 / 1.6))  # (3 + 1)² / (9 + 1)


def test_without_a_label_there_is_no_rate() -> None:
    found = weighted_rate(np.array([], dtype=bool), np.array([]), 0.95)
    assert (found.value, found.n, codes(found.notes)) == (None, 0, ["no-gold-of-a-kind"])


def test_labels_of_one_query_are_alike() -> None:
    # Nine queries in which bronze is always right, and one in which it never is.
    hits, query = np.repeat([True] * 9 + [False], 10), np.repeat(np.arange(10), 10)
    found, apart = weighted_rate(hits, np.ones(100), 0.95, query), weighted_rate(hits, np.ones(100), 0.95)
    assert found == estimate_share(hits, query)
    assert found.value == apart.value == 0.9
    # As sure as ten labels would be, or less, for one query holds all that is wrong.
    assert found.high - found.low > 0.38 > 0.13 > apart.high - apart.low


def test_one_query_tells_nothing_about_others() -> None:
    found = weighted_rate(np.array([True, False]), np.ones(2), 0.95, np.array([4, 4]))
    assert (found.value, found.low, found.high, found.se) == (0.5, None, None, None)
    assert codes(found.notes) == ["single-query"]


def test_the_judge_of_whole_queries_is_told_by_query() -> None:
    gold, query = np.tile([1, 1, 0, 0], 10), np.repeat(np.arange(10), 4)
    bronze = np.where(query == 0, 1 - gold, gold)
    found = summarise_judge(gold, bronze, gold >= 1, bronze >= 1, np.ones(40), 0.95, query)
    for name, kind in (("relevant", gold == 1), ("nonrelevant", gold == 0)):
        assert found[name] == estimate_share((gold == bronze)[kind], query[kind]).as_dict()


@pytest.mark.simulation
@pytest.mark.parametrize(("right", "wrong"), [(4, 1), (2, 2), (20, 2)])
def test_rates_of_20_whole_queries_hold_for_queries_like_these(right: int, wrong: int) -> None:
    """The judge is better in some queries than in others, and some queries have more documents."""
    rng = np.random.default_rng(7)
    covered, of_labels = 0, 0
    for _ in range(400):
        sizes = 1 + rng.poisson(30 * rng.gamma(2, 0.5, 20))
        hits = rng.random(sizes.sum()) < np.repeat(rng.beta(right, wrong, 20), sizes)
        found = weighted_rate(hits, np.ones(len(hits)), 0.95, np.repeat(np.arange(20), sizes))
        apart = weighted_rate(hits, np.ones(len(hits)), 0.95)
        covered += found.low <= right / (right + wrong) <= found.high
        of_labels += apart.low <= right / (right + wrong) <= apart.high
    assert 0.91 < covered / 400 < 0.98
    assert of_labels / 400 < 0.85


def test_the_judge_by_hand() -> None:
    gold, bronze = np.array([2, 2, 0, 0, 1]), np.array([1, 0, 0, 0, -1])
    found = summarise_judge(gold, bronze, gold >= 1, bronze >= 1, np.array([1.0, 1.0, 2.0, 2.0, 1.0]), 0.9)
    assert found["relevant"]["value"] == pytest.approx(1 / 3)
    assert found["nonrelevant"]["value"] == 1
    assert found["youden"] == pytest.approx(1 / 3)
    assert found["relevant"]["level"] == 0.9
    assert found["confusion"]["labels"] == [0, 1, 2]
    assert found["confusion"]["counts"] == [[2, 0, 0], [0, 0, 0], [1, 1, 0]]


def test_a_judge_of_whom_only_half_is_known_has_no_index_and_the_json_no_nan() -> None:
    gold = np.array([0, 0])
    found = summarise_judge(gold, gold, gold >= 1, gold >= 1, np.ones(2), 0.95)
    assert (found["relevant"]["value"], found["youden"]) == (None, None)
    plain = json.loads(json.dumps(found, allow_nan=False))
    assert plain["relevant"]["note_codes"] == ["no-gold-of-a-kind"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.floats(0.1, 9)), min_size=1, max_size=30))
def test_the_order_of_the_labels_says_nothing_and_all_are_counted(rows: list[tuple[int, int, float]]) -> None:
    gold, bronze, weight = (np.array(column) for column in zip(*rows, strict=True))
    order = np.random.default_rng(0).permutation(len(rows))
    one = summarise_judge(gold, bronze, gold >= 1, bronze >= 1, weight, 0.95)
    other = summarise_judge(gold[order], bronze[order], (gold >= 1)[order], (bronze >= 1)[order], weight[order], 0.95)
    assert one["confusion"] == other["confusion"]
    assert np.sum(one["confusion"]["counts"]) == (bronze >= 0).sum()
    for name in ("relevant", "nonrelevant"):
        assert one[name]["value"] == pytest.approx(other[name]["value"])
    assert one["relevant"]["n"] + one["nonrelevant"]["n"] == len(rows)
