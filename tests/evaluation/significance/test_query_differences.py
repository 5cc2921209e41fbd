"""Where a difference comes from: query by query."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.evaluation.significance import compare, differences, largest_differences
from strategies import scores_of

SCORES = scores_of(
    {
        "AP": {"new": [0.1, 0.5, 0.3, None, 0.4], "old": [0.2, 0.1, 0.3, 0.9, 0.3]},
        "RR": {"new": [1.0, 0.5], "old": [0.5, 0.5]},
    }
)


def test_the_queries_that_both_runs_have_are_shown_the_largest_difference_first() -> None:
    table = differences(SCORES, "new", "old", "AP")
    assert table.columns == ["query", "a", "b", "difference"]
    assert table["query"].to_list() == ["q1", "q4", "q2", "q0"]
    assert table["difference"].to_list() == pytest.approx([0.4, 0.1, 0, -0.1])
    assert table.row(0)[1:3] == (0.5, 0.1)


def test_queries_that_differ_alike_keep_their_order() -> None:
    table = differences(scores_of({"AP": {"a": [0.5, 0.7, 0.6], "b": [0.5, 0.7, 0.6]}}), "a", "b")
    assert table["query"].to_list() == ["q0", "q1", "q2"]


def test_the_other_way_round_is_the_same_upside_down() -> None:
    there, back = differences(SCORES, "new", "old", "AP"), differences(SCORES, "old", "new", "AP")
    assert back["query"].to_list() == there["query"].to_list()[::-1]
    assert back["difference"].to_list() == [-value for value in there["difference"].to_list()[::-1]]


def test_the_differences_are_those_of_the_comparison() -> None:
    one = next(one for one in compare(SCORES, adjust="none") if one.measure == "AP")
    table = differences(SCORES, one.a, one.b, "AP")
    assert table.height == one.difference.n
    assert table["difference"].mean() == pytest.approx(one.difference.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("new", "old"), "the scores have several measures, AP, RR: say which"),
        (("nwe", "old", "AP"), "no run 'nwe' in the scores; did you mean 'new'?"),
        (("new", "xyzzy", "AP"), "no run 'xyzzy' in the scores; there is new, old"),
        (("new", "old", "MAP"), "no measure 'MAP' in the scores; did you mean 'AP'?"),
    ],
)
def test_what_is_not_in_the_scores_is_refused_with_the_near_miss(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError) as error:
        differences(SCORES, *words)
    assert str(error.value) == says


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(1, 4))
def test_those_that_moved_most_are_the_ends_of_the_table_and_never_ties(moves: list[int], most: int) -> None:
    ordered = sorted(moves, reverse=True)
    table = pl.DataFrame(
        {"query": [f"q{i}" for i in range(len(ordered))], "difference": ordered},
        schema={"query": pl.String, "difference": pl.Float64},
    )
    ahead, behind = largest_differences(table, most)
    assert ahead["difference"].to_list() == [value for value in ordered if value > 0][:most]
    assert behind["difference"].to_list() == sorted(value for value in ordered if value < 0)[:most]


def test_rounding_is_no_movement() -> None:
    table = differences(scores_of({"AP": {"a": [0.3, 0.5], "b": [0.1 + 0.2, 0.1]}}), "a", "b")
    assert table["difference"].to_list() == [0.4, 0]
    assert largest_differences(table)[1].height == 0
