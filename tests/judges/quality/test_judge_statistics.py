"""Leniency, sides, change over time, and the same question asked again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import ringtrue as rt
from ringtrue.errors import TableError
from ringtrue.judges.quality.judge_statistics import (
    estimate_judge_drift,
    estimate_leniency,
    estimate_side_bias,
    find_repeated_labels,
)
from ringtrue.judges.votes import make_votes


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=20))
def test_leniency_over_queries_of_one_item_each_is_students_t(values: list[float]) -> None:
    found = estimate_leniency(np.array(values), np.arange(len(values)), level=0.9)
    assert found.value == pytest.approx(np.mean(values))
    half = stats.t.ppf(0.95, len(values) - 1) * stats.sem(values)
    assert found.high == pytest.approx(np.mean(values) + half, abs=1e-9)


def test_items_of_one_query_are_less_than_as_many_queries() -> None:
    values = np.array([1.0, 0.9, 0.1, 0.0])
    assert (estimate_leniency(values, np.array([0, 0, 1, 1]), level=0.95).se or 0) > (
        estimate_leniency(values, np.arange(4), level=0.95).se or 0
    )
    alone = estimate_leniency(values, np.zeros(4, dtype=int), level=0.95)
    assert [note.code for note in alone.notes] == ["single-query"]
    assert alone.se == pytest.approx(estimate_leniency(values, np.arange(4), level=0.95).se)


def test_leniency_that_cannot_be_told_is_told_in_words() -> None:
    none = estimate_leniency(np.array([]), np.array([], dtype=int), level=0.95)
    assert (none.value, [note.code for note in none.notes]) == (None, ["isolated-judges"])
    single = estimate_leniency(np.array([1.0]), np.array([0]), level=0.95)
    assert [note.code for note in single.notes] == ["too-few-clusters"]


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_the_test_of_sides_is_scipys_exact_one(left: list[bool]) -> None:
    found = estimate_side_bias(np.array(left), np.arange(len(left)), level=0.95)
    assert found.p_value == pytest.approx(stats.binomtest(sum(left), len(left)).pvalue)
    assert found.left.value == pytest.approx(np.mean(left))


def test_no_verdict_for_a_side_leaves_the_bias_undefined() -> None:
    found = estimate_side_bias(np.array([], dtype=bool), np.array([], dtype=int), level=0.95)
    assert (found.left.value, found.p_value) == (None, None)


def test_drift_by_hand() -> None:
    hit = np.array([True] * 10 + [False] * 10)
    found = estimate_judge_drift(hit, np.full(20, 0.5), np.full(20, np.nan), np.arange(20), level=0.95)
    assert found is not None
    assert (found.first.value, found.second.value, found.change.value, found.others_change) == (1, 0, -1, None)
    assert found.change.high is not None
    assert -1 < found.change.high < 0
    # Every label adds −1/20 to the change: t = 1 / √(20/19 · 20 · 0.05²).
    assert found.p_value == pytest.approx(2 * stats.t.sf(np.sqrt(19), 19))


@given(st.integers(0, 2**32 - 1))
def test_the_change_is_tested_by_the_spread_of_the_queries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hit, share, cluster = rng.random(60) < 0.6, rng.random(60), rng.integers(0, 9, 60)
    found = estimate_judge_drift(hit.astype(float), share, np.full(60, np.nan), cluster, level=0.95)
    assert found is not None
    rest = hit - share
    parts = []
    for query in set(cluster.tolist()):
        late = [rest[i] - rest.mean() for i in range(30, 60) if cluster[i] == query]
        early = [rest[i] - rest.mean() for i in range(30) if cluster[i] == query]
        parts.append(sum(late) / 30 - sum(early) / 30)
    error = np.sqrt(len(parts) / (len(parts) - 1) * sum(part**2 for part in parts))
    t = (rest[30:].mean() - rest[:30].mean()) / error
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), len(parts) - 1), rel=1e-6)


def test_one_who_knows_some_queries_better_does_not_drift() -> None:
    hit = np.array([True] * 20 + [False] * 20)
    by_itself = estimate_judge_drift(hit, np.full(40, 0.5), np.full(40, np.nan), np.arange(40), level=0.95)
    by_query = estimate_judge_drift(hit, np.full(40, 0.5), np.full(40, np.nan), np.repeat([0, 1], 20), level=0.95)
    assert by_itself is not None
    assert by_query is not None
    assert by_itself.p_value == pytest.approx(2 * stats.t.sf(np.sqrt(39), 39))
    assert by_query.p_value == pytest.approx(0.5)  # t = 1 with one degree of freedom


def test_a_change_that_the_items_explain_is_no_drift() -> None:
    hit = np.array([True] * 10 + [False] * 10)
    found = estimate_judge_drift(hit, hit.astype(float), hit.astype(float), np.arange(20), level=0.95)
    assert found is not None
    assert (found.p_value, found.others_change) == (pytest.approx(1), -1.0)


def test_few_labels_are_not_tested_for_drift() -> None:
    found = estimate_judge_drift(np.array([True, False]), np.zeros(2), np.zeros(2), np.arange(2), level=0.95)
    assert found is not None
    assert (found.p_value, [note.code for note in found.change.notes]) == (None, ["untested-drift"])
    assert estimate_judge_drift(np.array([True]), np.zeros(1), np.zeros(1), np.arange(1), level=0.95) is None


def test_repeated_labels_by_hand() -> None:
    table = {"item": list("aaabbc"), "judge": ["x"] * 6, "label": [1, 1, 0, 2, 2, 0]}
    again = find_repeated_labels(make_votes(table))
    assert (again.pairs.tolist(), again.equal.tolist()) == ([3, 1], [1, 1])
    quality = rt.judge_quality(
        {key: [*column, *other] for (key, column), other in zip(table.items(), (["a"], ["y"], [1]), strict=True)},
        repeats="first",
    )
    assert quality["x"].self_consistency is not None
    assert (quality["x"].self_consistency.value, quality["x"].self_consistency.n) == (0.5, 4)
    assert quality["y"].self_consistency is None


LABELS = {"item": list("abcabc"), "judge": list("xxxyyy"), "label": [0, 1, 1, 0, 1, 0]}
STAMPS = [f"2024-01-01T10:00:{second:02d}" for second in (0, 4, 10, 0, 20, 50)]


def speeds(**columns: list[object]) -> list[tuple[float, int, str] | None]:
    found = rt.judge_quality(LABELS | columns)
    return [one.speed and (one.speed.median, one.speed.n, one.speed.source) for one in found]


def test_seconds_are_taken_as_they_are_and_empty_cells_left_out() -> None:
    assert speeds(seconds=[3, None, 5, 10, 20, 60]) == [(4.0, 2, "seconds"), (20.0, 3, "seconds")]


def test_gaps_between_stamps_serve_where_there_are_no_seconds() -> None:
    assert speeds(time=STAMPS) == [(5.0, 2, "time"), (25.0, 2, "time")]
    assert speeds(time=[0, 4, 10, 0, 20, 50]) == speeds(time=STAMPS)
    assert speeds(time=[10, 4, 0, 50, 20, 0]) == speeds(time=STAMPS)  # in whatever order the rows stand


def test_without_either_nothing_is_said() -> None:
    assert speeds() == [None, None]


@pytest.mark.parametrize(("value", "says"), [("fast", "'fast'"), (-1, "-1"), ("inf", "'inf'")])
def test_what_is_no_duration_is_refused_with_row_and_value(value: object, says: str) -> None:
    with pytest.raises(TableError) as refused:
        speeds(seconds=["1", str(value), "3", "1", "1", "1"])
    assert (refused.value.code, refused.value.note.subject) == ("bad-seconds", "row 2")
    assert says in refused.value.text


def test_what_is_no_time_is_refused_with_row_and_value() -> None:
    with pytest.raises(TableError) as refused:
        speeds(time=[*STAMPS[:2], "noon", *STAMPS[3:]])
    assert refused.value.code == "bad-time"
    assert refused.value.note.subject == "row 3"
    assert "'noon'" in refused.value.text
