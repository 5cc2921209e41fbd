"""Labels that may be slips."""

from __future__ import annotations

import pytest

from ringtrue.judges.votes import make_votes
from ringtrue.messages import Note


def notes(labels: list[int]) -> tuple[Note, ...]:
    return make_votes({"doc": [*range(len(labels))], "label": labels}).notes


def test_a_rare_label_far_from_the_others_is_told() -> None:
    (note,) = notes([0, 1, 2, 3] * 50 + [7])
    assert note.code == "stray-labels"
    assert "0 to 3, and a few 7 (1 time)" in note
    assert note.suggestions[0].arguments == {"scale": range(4)}


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2, 3] * 50,
        [0, 1, 2, 3] * 50 + [4],  # the top grade may be rare
        [0, 1, 3, 7] * 50,  # a scale with gaps
        [0, 1, 2, 3] * 50 + [7] * 10,
        [0, 1] * 300 + [10, 20, 30, 40],  # too many to be slips
        [5],
    ],
)
def test_other_labels_are_not(labels: list[int]) -> None:
    assert notes(labels) == ()


def test_a_declared_scale_is_no_matter_for_guesses() -> None:
    table = {"doc": [*range(201)], "label": [0, 1] * 100 + [9]}
    assert make_votes(table, scale=[0, 1, 9]).notes == ()
