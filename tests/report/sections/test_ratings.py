"""What the report says of preferences."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from report.page_words import Words, find_notes, note_codes
from report.small_inputs import simulated
from ringtrue.errors import DuplicateError
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import ratings
from ringtrue.tables import Preferences
from strategies import examples

VOTES = {"left": [*"aab"] * 4, "right": [*"bcc"] * 4, "winner": [*"aab"] * 3 + [*"bcb"]}


def section(votes: dict[str, list[str]], **more: object) -> rt.Section:
    found = ratings.section(ReportInputs(preferences=Preferences.of(votes), **more))
    assert found is not None
    return found


def test_ratings_chance_and_certainty_are_those_of_rate(words: Words) -> None:
    found, expected = section(VOTES), rt.rate(VOTES)
    (chart,) = found.figures[0].charts
    assert chart.names == ("a", "b", "c")
    assert [one.value for one in chart.series[0].values] == expected.frame["rating"].to_list()
    assert [(one.low, one.high) for one in chart.series[0].values] == expected.frame.select("low", "high").rows()
    assert chart.marks == ("8", "8", "8")
    chance, sure = expected.chance("a", "b"), expected.frame["ahead"][0]
    assert re.findall(r"\d+%?", found.answer) == ["3", "12", f"{chance:.0%}", f"{sure:.0%}"]
    words(found)


def test_two_that_nobody_can_tell_apart_are_rated_the_same(words: Words) -> None:
    found = section({"left": ["a", "a"], "right": ["b", "b"], "winner": ["a", "b"]})
    words(found)


@pytest.mark.slow
@examples(40)
@given(votes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=25))
def test_swapping_left_and_right_changes_nothing(votes: list[tuple[int, int, bool]]) -> None:
    kept = [(f"d{one}", f"d{other}", first) for one, other, first in votes if one != other]
    if not kept:
        return
    there = {"left": [a for a, _, _ in kept], "right": [b for _, b, _ in kept],
             "winner": [a if first else b for a, b, first in kept]}  # fmt: skip
    back = {"left": there["right"], "right": there["left"], "winner": there["winner"]}
    one, other = (section(some).figures[0].charts[0] for some in (there, back))
    assert dict(zip(one.names, [round(v.value, 9) for v in one.series[0].values], strict=True)) == dict(
        zip(other.names, [round(v.value, 9) for v in other.series[0].values], strict=True)
    )


def test_the_four_queries_with_the_most_votes_are_drawn(words: Words) -> None:
    found = ratings.section(replace(simulated("none"), labels=None, traps=None))
    charts = found.figures[0].charts
    assert len(charts) == 4
    assert all(chart.title.startswith("query ") for chart in charts)
    counts = simulated("none").preferences.frame.filter(~pl.col("trap"))["query"].value_counts(sort=True)
    assert {chart.title.removeprefix("query ") for chart in charts} <= set(
        counts.filter(counts["count"] >= counts["count"][3])["query"]
    )
    assert "chart-shortened" in note_codes(found.figures[0])
    words(found)


def test_votes_on_traps_are_left_out_whichever_side_a_document_stood() -> None:
    traps = Preferences.of({"left": ["c"], "right": ["a"], "winner": ["a"]})
    found = section(VOTES, traps=traps)
    kept = [place for place in range(12) if VOTES["left"][place] + VOTES["right"][place] != "ac"]
    expected = rt.rate({name: [column[place] for place in kept] for name, column in VOTES.items()})
    assert [one.value for one in found.figures[0].charts[0].series[0].values] == expected.frame["rating"].to_list()
    assert found.notes[0].code == "trap-labels-left-out"
    assert found.notes[0].startswith("4 ")


def test_so_are_those_that_a_column_calls_traps(words: Words) -> None:
    found = section(VOTES | {"trap": ["false"] * 9 + ["true"] * 3})
    assert re.findall(r"\d+", found.answer)[:2] == ["3", "9"]
    assert found.notes[0].startswith("3 ")
    words(found)


def test_a_judge_who_voted_again_is_told() -> None:
    votes = VOTES | {"judge": ["ann"] * 12}
    for kept in ("first", "last"):
        found = section(votes, repeats=kept)
        (note,) = find_notes(found, "repeated-votes")
        assert {"9", kept} <= set(note.split())
        values = [one.value for one in found.figures[0].charts[0].series[0].values]
        assert values == rt.rate(votes, repeats=kept).frame["rating"].to_list()
    every = section(votes, repeats="all")
    assert every.figures[0].charts[0].marks == ("8", "8", "8")
    assert "repeated-votes" not in note_codes(every)


def test_which_vote_counts_is_asked() -> None:
    with pytest.raises(DuplicateError) as refused:
        section(VOTES | {"judge": ["ann"] * 12})
    assert (refused.value.code, refused.value.parameter) == ("repeated-labels", "repeats")


def test_documents_that_no_chain_of_votes_joins_are_not_drawn_together(words: Words) -> None:
    found = section({"left": [*"aabx"], "right": [*"bccy"], "winner": [*"aabx"]})
    assert found.figures[0].charts[0].names == ("a", "b", "c")
    assert "largest-group-drawn" in note_codes(found.figures[0])
    words(found)
    assert found.figures[0].table.columns[-1] == "group"


def test_needs_preferences() -> None:
    assert ratings.section(ReportInputs()) is None


@pytest.mark.real
def test_arena_the_best_of_59_models(data: Path) -> None:
    votes = rt.read_preferences(data / "arena/llmfao.csv", columns={"judge": "worker"})
    found = ratings.section(ReportInputs(preferences=votes, repeats="all"))
    (chart,) = found.figures[0].charts
    assert chart.names[0] == "GPT 4"
    assert len(chart.names) == 25
    assert len(found.figures[0].table.rows) == 59
    assert np.all(np.diff([one.value for one in chart.series[0].values]) <= 0)
