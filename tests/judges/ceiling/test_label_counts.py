"""Counts of labels, gains, and the matrix as it is needed."""

from __future__ import annotations

import numpy as np
import pytest

import ringtrue as rt
from ringtrue.errors import DuplicateError, MeasureError, MismatchError, UsageError
from ringtrue.judges.ceiling.expected_dcg import ideal_dcg
from ringtrue.judges.ceiling.inputs import (
    count_labels_per_query,
    label_gains,
    measure_name,
    ordered_confusion_matrix,
)


def table(counts: object, **given: object) -> rt.Confusion:
    named = {"rows": "gold", "columns": "ann", "labels": (0, 1)} | given
    return rt.Confusion(counts=np.array(counts), **named)  # type: ignore[arg-type]


def test_labels_are_counted_by_query() -> None:
    found = count_labels_per_query(rt.Judgments.of({"b": {"x": 2, "y": 0}, "a": {"x": 1, "y": 1, "z": 0}}), (2, 1, 0))
    assert (found.queries, found.labels, found.notes) == (("b", "a"), (0, 1, 2), ())
    assert found.counts.tolist() == [[1, 0, 1], [1, 2, 0]]


def test_a_query_without_any_judged_document_stays_as_an_empty_list() -> None:
    found = count_labels_per_query(rt.Judgments.of({"a": {"x": -1}, "b": {"x": 1, "y": 0}}), (0, 1))
    assert found.counts.tolist() == [[0, 0], [1, 1]]
    assert [note.code for note in found.notes] == ["unjudged-labels"]
    assert found.notes[0].startswith("1 document ")


def test_a_label_that_the_matrix_does_not_know_is_refused_with_both_sets() -> None:
    with pytest.raises(MismatchError) as refused:
        count_labels_per_query(rt.Judgments.of({"a": {"x": 1, "y": 3, "z": 0}}), (0, 1, 2))
    assert refused.value.code == "labels-outside-matrix"
    assert "about 3;" in refused.value.text


def test_a_label_that_only_the_matrix_has_is_told() -> None:
    (note,) = count_labels_per_query(rt.Judgments.of({"a": {"x": 1, "y": 0}}), (0, 1, 2)).notes
    assert note.code == "unused-matrix-labels"
    assert "if 2 should" in note


def test_documents_with_two_labels_are_refused() -> None:
    several = rt.Judgments.of({"query": ["q"] * 2, "doc": ["d"] * 2, "judge": ["a", "b"], "label": [0, 1]})
    with pytest.raises(DuplicateError) as refused:
        count_labels_per_query(several, (0, 1))
    assert refused.value.code == "several-judges"


def test_a_row_that_was_never_counted_is_refused_only_where_a_document_needs_it() -> None:
    unknown = table([[3, 1, 0], [0, 0, 0], [1, 0, 3]], labels=(0, 1, 2))
    assert np.isfinite(ordered_confusion_matrix(unknown, np.array([2, 0, 1]))).all()
    with pytest.raises(MismatchError) as refused:
        ordered_confusion_matrix(unknown, np.array([2, 1, 1]))
    assert refused.value.code == "unknown-matrix-row"
    assert "label 1," in refused.value.text


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([[0.5, 0.5]], "no-confusion"),
        (table([[1, 0, 0], [0, 1, 0]]), "bad-confusion-shape"),
        (table([[1, -1], [0, 1]]), "bad-confusion-cell"),
        (table([[1, np.nan], [0, 1]]), "bad-confusion-cell"),
        (table([[1, 0], [0, 1]], rows="bronze", columns="gold"), "turned-confusion"),
        (table([[1, 0], [0, 1]], rows="training judge", columns="x"), "turned-confusion"),
        (table([[1, 0], [0, 1]], rows="ann", columns="testing judge"), "turned-confusion"),
    ],
)
def test_what_is_no_matrix_is_refused(given: rt.Confusion, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        ordered_confusion_matrix(given, np.array([1, 1]))
    assert refused.value.code == code


def test_gains_by_name_and_by_table() -> None:
    assert label_gains((-1, 0, 2), "linear").tolist() == [0, 0, 2]
    assert label_gains((0, 1, 2), "exp").tolist() == [0, 1, 3]
    with pytest.raises(UsageError) as refused:
        label_gains((0, 1), "log")  # type: ignore[arg-type]
    assert refused.value.code == "unknown-choice"
    with pytest.raises(MeasureError) as refused:
        label_gains((0, 2), {1: 1.0})
    assert refused.value.code == "level-without-gain"
    with pytest.raises(MeasureError) as refused:
        label_gains((0, 1), {1: -1.0})
    assert refused.value.code == "negative-gain"


def test_the_name_of_the_measure_can_be_asked_of_evaluate() -> None:
    for gain in ("exp", "linear"):
        for k in (None, 10):
            name = measure_name(gain, k)  # type: ignore[arg-type]
            assert str(rt.parse(name)) == str(rt.parse(name.replace("'", "")))


def test_the_ideal_is_sorted_by_gain_not_by_label() -> None:
    counts = np.array([[1, 2, 1]])
    assert ideal_dcg(counts, np.array([0.0, 5.0, 1.0]), k=2) == pytest.approx([5 + 5 / np.log2(3)])
