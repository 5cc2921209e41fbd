"""A page from what was given; what cannot be made is told, and a page without anything is an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ringtrue as rt
from report.page_words import note_codes
from report.small_inputs import by_hand, simulated
from ringtrue.errors import DuplicateError, InputError, UsageError
from ringtrue.evaluation.measures import parse_all
from ringtrue.gold.sampling import sample
from ringtrue.report.build import IGNORING_EVALUATION_OPTIONS, build_report
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import run_comparisons, run_scores
from ringtrue.tables import Judgments

ONE_JUDGE = {"query": ["q", "q"], "doc": ["a", "b"], "judge": ["ann", "ann"], "label": [1, 0]}


def test_a_page_without_any_section_is_an_error() -> None:
    with pytest.raises(InputError) as refused:
        rt.report(labels=ONE_JUDGE)
    assert refused.value.code == "one-judge"


def test_one_section_that_cannot_be_made_does_not_cost_the_others() -> None:
    material = replace(by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]}), labels=Judgments.of(ONE_JUDGE))
    report = build_report(material)
    assert "The runs" in [one.title for one in report.sections]
    assert [reason.code for titles, reason in report.absent if "Agreement" in titles] == ["one-judge"]


def test_two_labels_of_a_document_stop_the_page() -> None:
    material = by_hand({"old": [2, 3], "new": [1, 1]})
    assert material.judgments is not None
    frame = material.judgments.frame
    with pytest.raises(DuplicateError):
        build_report(replace(material, judgments=Judgments(frame.vstack(frame.head(1)))))


@pytest.mark.slow
def test_gold_that_was_drawn_to_compare_is_enough_without_values_of_single_runs() -> None:
    material = simulated("documents")
    assert material.judgments is not None
    drawn = sample(
        material.runs, material.judgments, material.measures[0], budget=60, compare=True, rng=material.rng("x")
    )
    known = material.judgments.frame.select("query", "doc", "label")
    gold = Judgments.of(drawn.frame.drop("label", strict=False).join(known, on=["query", "doc"], how="left"))
    report = build_report(replace(material, gold=gold, correction_options={}))
    assert run_comparisons.OUTLINE.title in [one.title for one in report.sections]
    assert run_scores.OUTLINE.title in [title for titles, _ in report.absent for title in titles.split(", ")]


def test_nothing_to_report_is_wrong_usage() -> None:
    with pytest.raises(UsageError) as refused:
        build_report(ReportInputs(measures=tuple(parse_all(["P@1"]))))
    assert refused.value.code == "nothing-to-report"


def test_sections_that_count_as_usual_say_so_where_somebody_asked_otherwise() -> None:
    material = by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]})
    titles = {module.OUTLINE.title for module in IGNORING_EVALUATION_OPTIONS}
    for evaluating, expected in (({"depth": 2, "missing": "skip"}, True), ({"missing": "zero", "depth": None}, False)):
        report = build_report(replace(material, evaluation_options=evaluating))
        told = [one for one in report.sections if "counted-as-usual" in note_codes(one)]
        assert bool(told) is expected
        assert {one.title for one in told} <= titles


def test_which_vote_counts_can_be_said_in_python() -> None:
    votes = {"query": ["q"] * 3, "left": ["a", "a", "b"], "right": ["b", "b", "c"], "judge": ["ann", "ann", "bob"],
             "winner": ["left", "right", "left"]}  # fmt: skip
    with pytest.raises(DuplicateError) as refused:
        rt.report(preferences=votes)
    assert (refused.value.code, refused.value.judge) == ("repeated-labels", "ann")
    first, last = (rt.report(preferences=votes, repeats=choice) for choice in ("first", "last"))
    assert first.figure("ratings").table != last.figure("ratings").table


def test_plain_data_have_the_codes_of_notes_beside_them() -> None:
    plain = rt.report({"new": {"q1": {"a": 1.0}}}, {"q1": {"a": 1}}, "RR").as_dict()
    section = plain["sections"][0]
    assert section["figures"][0]["note_codes"] == ["single-query"]
    assert len(plain["absent_codes"]) == len(plain["absent"])
