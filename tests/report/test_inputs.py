"""What several sections need is worked out once, also where it cannot be had."""

from __future__ import annotations

from dataclasses import replace

import pytest

from report.small_inputs import by_hand, simulated
from ringtrue.errors import InputError, MismatchError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.gold.correction import Correction
from ringtrue.report.inputs import ReportInputs
from ringtrue.tables import Judgments


def lost() -> ReportInputs:
    """Gold of which some rows were lost, which cannot correct anything."""
    material = simulated("documents")
    assert isinstance(material.gold, Judgments)
    return replace(material, gold=Judgments(material.gold.frame.head(3)))


def test_a_correction_is_worked_out_once() -> None:
    material = simulated("documents")
    assert isinstance(material.correction_or_error, Correction)
    assert material.correction is material.correction_or_error


def test_why_gold_cannot_correct_is_worked_out_once_and_told_to_each_who_asks() -> None:
    material = lost()
    assert isinstance(material.correction_or_error, InputError)
    raised = []
    for _ in range(2):
        with pytest.raises(InputError, match="were rows lost") as told:
            _ = material.correction
        raised.append(told.value)
    assert raised[0] is raised[1] is material.correction_or_error
    with pytest.raises(InputError):
        _ = material.comparisons
    assert isinstance(material.comparisons_or_error, InputError)


def test_without_gold_or_runs_there_is_nothing_to_correct() -> None:
    assert by_hand({"old": [2, 3], "new": [1, 1]}).correction is None
    empty = ReportInputs()
    assert (empty.scores, empty.correction, empty.comparisons) == (None, None, None)
    empty.require_measurable()


def test_gold_that_cannot_correct_is_refused() -> None:
    with pytest.raises(InputError, match="were rows lost"):
        lost().require_measurable()


def test_runs_and_judgments_without_a_common_query_are_refused() -> None:
    material = replace(by_hand({"old": [2, 3], "new": [1, 1]}), judgments=Judgments.of({"elsewhere": {"d": 1}}))
    with pytest.raises(MismatchError, match="no query in common"):
        material.require_measurable()


def test_runs_are_counted_as_somebody_asked() -> None:
    material = replace(by_hand({"old": [2, 3], "new": [1, 1]}), evaluation_options={"depth": 2})
    assert material.scores is not None
    cut = evaluate(material.runs, material.judgments, material.measures, depth=2)
    assert material.scores.means() == cut.means()
    assert material.scores.means() != evaluate(material.runs, material.judgments, material.measures).means()
