"""Runs against judgments: what evaluate and curve have in common."""

from __future__ import annotations

import numpy as np
import pytest

import ringtrue as rt
from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import MatchedRun, MatchSettings, NoteCollector, match_runs_to_qrels
from ringtrue.evaluation.measures import parse

RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
FRAME = {
    "query": ["q1", "q1", "q1", "q2"],
    "doc": ["d1", "d1", "d2", "d1"],
    "judge": ["ann", "bob", "bob", "ann"],
    "label": [1, 0, 1, 1],
}


def only_entry(labels: object) -> MatchedRun:
    (entry,) = match_runs_to_qrels(RUN, labels, MatchSettings(judges="average"), notes=NoteCollector())
    return entry


def test_a_number_for_each_list_is_averaged_over_the_judges_of_its_query() -> None:
    assert only_entry(FRAME).average_over_judges(parse("RR")).tolist() == [0.75, 1.0]


def test_a_row_for_each_list_is_averaged_like_a_number() -> None:
    rows = only_entry(FRAME).average_over_judges(
        lambda lists: np.stack([parse("RR")(lists), parse("P@2")(lists)], axis=1)
    )
    assert rows.tolist() == [[0.75, 0.5], [1.0, 0.5]]


def test_a_judge_under_whom_it_is_undefined_has_no_say() -> None:
    def undefined_below_1(lists):
        values = parse("RR")(lists)
        return np.where(values < 1, np.nan, values)

    assert only_entry(FRAME).average_over_judges(undefined_below_1).tolist() == [1.0, 1.0]
    nobody = only_entry({**FRAME, "label": [0, 0, 1, 1]}).average_over_judges(undefined_below_1)
    assert np.isnan(nobody).tolist() == [True, False]


@pytest.mark.parametrize("size", [0, -1, "many", 2.5, 2**53 + 1])
def test_a_collection_size_that_is_none_is_refused_at_once(size: object) -> None:
    with pytest.raises(UsageError) as refused:
        MatchSettings(judges="average", collection_size=size)  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "collection_size")


def test_the_same_doubt_about_several_runs_is_told_once() -> None:
    runs = {name: {"q1": {"d1": 1.0}} for name in "abcde"}
    notes = rt.evaluate(runs, {"q1": {"d1": 1}, "q2": {"d1": 1}}, "RR").notes
    assert [(note.code, note.subject) for note in notes] == [("queries-not-in-run", "a, b, c and 2 more")]
