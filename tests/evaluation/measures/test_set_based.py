"""Curves of single lists: by hand, against slow second implementations, and by the properties they must have."""

from __future__ import annotations

import dataclasses
import importlib.util
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import mannwhitneyu

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures import RankedLists, parse, ranked
from ringtrue.evaluation.measures.binary import (
    ELEVEN_POINTS,
    RECALL_LEVELS,
    average_precision,
    eleven_points,
    precision_at_recall,
    precision_recall,
)
from ringtrue.evaluation.measures.set_based import FALLOUT_LEVELS, area_under_roc, roc

spec = importlib.util.spec_from_file_location("oracle", Path(__file__).with_name("oracle.py"))
assert spec is not None
assert spec.loader is not None
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

Labels = list[int | None]
rankings = st.lists(st.none() | st.integers(-1, 3), max_size=25)
missed_labels = st.lists(st.integers(-1, 3), max_size=10)
rels = st.integers(1, 3)
extra = st.none() | st.integers(0, 50)  # documents of the collection that nobody judged or retrieved


def at(ranks: list[int], length: int) -> Labels:
    return [1 if rank in ranks else 0 for rank in range(1, length + 1)]


def sized(ranking: Labels, missed: list[int], more: int | None) -> tuple[RankedLists, int | None]:
    """The list in a collection of so many documents more than are known, and the size of that collection."""
    lists = ranked(ranking, missed=missed)
    size = None if more is None else len(ranking) + len(missed) + more
    return dataclasses.replace(lists, collection_size=size), size


# ── by hand ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([1, 3, 6, 9, 10], [1, 2 / 3, 1 / 2, 4 / 9, 1 / 2]), ([2, 5, 6, 7, 8], [1 / 2, 2 / 5, 1 / 2, 4 / 7, 5 / 8])],
)
def test_the_lectures_two_systems_have_its_precision_at_each_recall(ranks: list[int], expected: list[float]) -> None:
    curve = precision_recall(ranked(at(ranks, 10)))[0]
    assert curve[[20, 40, 60, 80, 100]] == pytest.approx(expected)
    assert curve[[0, 1, 19]] == pytest.approx([expected[0]] * 3)
    assert curve[[21, 39]] == pytest.approx([expected[1]] * 2)


def test_the_lectures_first_query_has_its_eleven_points() -> None:
    curve = eleven_points(ranked(at([1, 3, 6, 10, 20], 20)))[0]
    assert curve == pytest.approx([1, 1, 1, 2 / 3, 2 / 3, 0.5, 0.5, 0.4, 0.4, 0.25, 0.25])
    assert curve.mean() == pytest.approx(0.603030, abs=1e-6)


def test_a_roc_curve_steps_up_for_a_relevant_document_and_right_for_another() -> None:
    curve = dict(zip(FALLOUT_LEVELS, roc(ranked([1, 0, 1, 0, 0, 1, 0]))[0], strict=True))
    expected = {0.0: 1 / 3, 0.2: 1 / 3, 0.25: 2 / 3, 0.5: 2 / 3, 0.7: 2 / 3, 0.75: 1, 1.0: 1}
    assert {level: curve[level] for level in expected} == pytest.approx(expected)


def test_behind_the_last_retrieved_document_a_roc_curve_is_a_straight_line() -> None:
    # 1 of 2 relevant and 1 of 5 other documents retrieved: from (0.2, 0.5) to (1, 1).
    curve = dict(zip(FALLOUT_LEVELS, roc(ranked([1, 0], missed=[1, 0, 0, 0, 0]))[0], strict=True))
    assert [curve[x] for x in (0.0, 0.15, 0.2, 0.6, 1.0)] == pytest.approx([0.5, 0.5, 0.5, 0.75, 1.0])


def test_the_area_under_roc_counts_pairs_with_ties_half() -> None:
    assert area_under_roc(ranked([1, 0, 1, 0]))[0] == 3 / 4
    assert area_under_roc(ranked([1, 0], missed=[1, 0]))[0] == (2 + 0.5) / 4
    assert area_under_roc(ranked([None, 1]))[0] == 0.0


def test_the_best_order_has_an_area_of_1_and_its_reverse_0() -> None:
    assert area_under_roc(ranked([1, 1, 1, 0, None, 0]))[0] == 1.0
    assert area_under_roc(ranked([0, None, 0, 1, 1, 1]))[0] == 0.0


def test_a_list_that_finds_nothing_is_the_diagonal() -> None:
    nothing = ranked([], missed=[1, 0, 0])
    assert area_under_roc(nothing)[0] == 0.5
    assert roc(nothing)[0] == pytest.approx(FALLOUT_LEVELS)


@pytest.mark.parametrize("labels", [[0, None], [1, 1], []])
def test_without_relevant_documents_or_without_others_roc_is_0(labels: Labels) -> None:
    assert area_under_roc(ranked(labels))[0] == 0.0
    assert not roc(ranked(labels)).any()


def test_a_collection_smaller_than_what_is_known_is_refused_as_for_fallout() -> None:
    small, _ = sized([1, 0, None], [0], -1)
    for compute in (roc, area_under_roc, parse("Fallout")):
        with pytest.raises(MeasureError, match=r"\b3 documents.*\b4 of") as refused:
            compute(small)
        assert (refused.value.code, refused.value.parameter) == ("small-collection", "collection_size")


def test_the_levels_begin_and_end_where_they_should_and_fallout_is_dense_near_0() -> None:
    for levels in (RECALL_LEVELS, ELEVEN_POINTS, FALLOUT_LEVELS):
        assert (levels[0], levels[-1]) == (0.0, 1.0)
        assert list(levels) == sorted(set(levels))
    assert (len(RECALL_LEVELS), len(FALLOUT_LEVELS)) == (101, 110)
    assert sum(level < 0.01 for level in FALLOUT_LEVELS) > 60


def test_levels_are_exact_where_floats_are_not() -> None:
    # 29 of 100: 0.29 * 100 is 28.999999999999996 in floating point.
    assert precision_recall(ranked([1] * 29, missed=[1] * 71))[0, [29, 30]].tolist() == [1.0, 0.0]
    curve = roc(ranked([0] * 35 + [1] + [0] * 65))[0]
    assert [curve[FALLOUT_LEVELS.index(x)] for x in (0.3, 0.35)] == [0.0, 1.0]


def test_the_largest_collection_does_not_overflow() -> None:
    lists = dataclasses.replace(ranked([1, 0, 1]), collection_size=2**53)
    assert area_under_roc(lists)[0] == pytest.approx(1.0)
    assert roc(lists)[0].tolist() == [0.5] + [1.0] * 109


# ── second opinion ─────────────────────────────────────────────────────────────────────────────────────────


@given(rankings, missed_labels, extra, rels)
def test_the_area_under_roc_agrees_with_counting_every_pair(
    ranking: Labels, missed: list[int], more: int | None, rel: int
) -> None:
    lists, size = sized(ranking, missed, more)
    pool = [label for label in ranking if label is not None] + missed
    assert area_under_roc(lists, rel=rel)[0] == pytest.approx(oracle.auc(ranking, pool, rel, size), abs=1e-12)


@given(rankings, missed_labels, extra)
def test_the_area_under_roc_is_scipys_mann_whitney_u(ranking: Labels, missed: list[int], more: int | None) -> None:
    lists, _ = sized(ranking, missed, more)
    depths = [*range(len(ranking)), *[len(ranking)] * (len(missed) + (more or 0))]
    labels = [label or 0 for label in [*ranking, *missed]] + [0] * (more or 0)
    good = [-depth for depth, label in zip(depths, labels, strict=True) if label >= 1]
    others = [-depth for depth, label in zip(depths, labels, strict=True) if label < 1]
    if good and others:
        pairs = len(good) * len(others)
        assert area_under_roc(lists)[0] == pytest.approx(mannwhitneyu(good, others).statistic / pairs, abs=1e-12)


@given(rankings, missed_labels)
def test_precision_against_recall_agrees_with_a_slow_plain_implementation(ranking: Labels, missed: list[int]) -> None:
    pool = [label for label in ranking if label is not None] + missed
    expected = [oracle.precision_at_recall(ranking, pool, f"{i}/100") for i in range(101)]
    assert precision_recall(ranked(ranking, missed=missed))[0] == pytest.approx(expected, abs=1e-12)


@given(rankings, missed_labels, extra, rels)
def test_roc_agrees_with_walking_down_the_list(ranking: Labels, missed: list[int], more: int | None, rel: int) -> None:
    lists, size = sized(ranking, missed, more)
    pool = [label for label in ranking if label is not None] + missed
    relevant, others = oracle.total_relevant(pool, rel), oracle.nonrelevant(ranking, pool, rel, size)
    curve = roc(lists, rel=rel)[0]
    if not relevant or not others:
        assert not curve.any()
        return
    points = [(0, 0)]  # others and relevant documents down to each rank
    for label in ranking:
        good = oracle.is_relevant(label, rel)
        points.append((points[-1][0] + (not good), points[-1][1] + good))
    passed, hits = points[-1]
    for level, got in zip(FALLOUT_LEVELS[:-1], curve, strict=False):
        reach = Fraction(str(level)) * others
        recall = Fraction(max(y for x, y in points if x <= floor(reach)))
        if reach > passed:
            recall += (relevant - hits) * (reach - passed) / (others - passed)
        assert got == pytest.approx(float(recall / relevant), abs=1e-12), level
    assert curve[-1] == 1.0


@given(rankings, missed_labels)
def test_average_precision_is_the_integral_of_precision_over_recall(ranking: Labels, missed: list[int]) -> None:
    lists = ranked(ranking, missed=missed)
    relevant = int(lists.relevant(1)[0])
    pieces = 8 * max(relevant, 1)  # so many to each step that none has an edge inside
    middles = [precision_at_recall(lists, recall=(i + 0.5) / pieces)[0] for i in range(pieces)]
    assert np.mean(middles) == pytest.approx(average_precision(lists)[0], abs=1e-12)


@given(rankings, missed_labels)
def test_the_mean_of_the_eleven_points_is_iap(ranking: Labels, missed: list[int]) -> None:
    lists = ranked(ranking, missed=missed)
    assert eleven_points(lists)[0].mean() == pytest.approx(parse("IAP")(lists)[0], abs=1e-12)


# ── properties ─────────────────────────────────────────────────────────────────────────────────────────────


@given(rankings, missed_labels, extra)
def test_every_value_of_every_curve_lies_between_0_and_1(ranking: Labels, missed: list[int], more: int | None) -> None:
    lists, _ = sized(ranking, missed, more)
    for curve in (precision_recall, eleven_points, roc, area_under_roc):
        values = curve(lists)
        assert ((values >= 0) & (values <= 1 + 1e-12)).all(), curve.__name__


@given(rankings, missed_labels)
def test_interpolated_precision_never_rises_and_is_never_below_the_measured_one(
    ranking: Labels, missed: list[int]
) -> None:
    lists = ranked(ranking, missed=missed)
    curve = eleven_points(lists)[0]
    assert (np.diff(curve) <= 0).all()
    assert (curve >= precision_recall(lists)[0, ::10]).all()


@given(rankings, missed_labels, extra)
def test_a_roc_curve_never_falls(ranking: Labels, missed: list[int], more: int | None) -> None:
    lists, _ = sized(ranking, missed, more)
    assert (np.diff(roc(lists)[0]) >= -1e-12).all()


@given(rankings.filter(lambda labels: len(labels) >= 2), missed_labels, extra, st.data())
def test_moving_a_relevant_document_up_never_lowers_the_area(
    ranking: Labels, missed: list[int], more: int | None, data: st.DataObject
) -> None:
    low = data.draw(st.integers(0, len(ranking) - 2))
    better = list(ranking)
    if (better[low + 1] or 0) < 1 or (better[low] or 0) >= 1:
        return
    better[low], better[low + 1] = better[low + 1], better[low]
    for compute in (area_under_roc, average_precision):
        before, after = (compute(sized(labels, missed, more)[0])[0] for labels in (ranking, better))
        assert after > before


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_turning_a_whole_list_upside_down_turns_the_area_round(labels: list[int]) -> None:
    if 0 < sum(labels) < len(labels):
        up, down = (area_under_roc(ranked(order))[0] for order in (labels, labels[::-1]))
        assert up + down == pytest.approx(1.0)


@given(rankings, missed_labels)
def test_in_an_endless_collection_the_area_is_recall_and_half_of_the_rest(ranking: Labels, missed: list[int]) -> None:
    # What was retrieved stands above nearly all others, what was not is tied with them.
    lists = dataclasses.replace(ranked(ranking, missed=missed), collection_size=10**12)
    if lists.relevant(1)[0]:
        recall = lists.hits(1)[0] / lists.relevant(1)[0]
        assert area_under_roc(lists)[0] == pytest.approx(recall + (1 - recall) / 2, abs=1e-9)
