"""Forms of the owner's pages: what is wrong stands beside the field that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from ringtrue.errors import FormatError, RingtrueError, UsageError
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.web.field_spelling import as_sentence
from ringtrue.service.web.owner.forms import FIELD_LABELS, WHOLE_FORM, FormState

FILES = {
    "ask": [UploadedFile(name="a.run", content=b"x"), UploadedFile(name="b.run", content=b"x")],
    "trap_file": [UploadedFile(name="b.run", content=b"x")],
}


def form() -> FormState:
    return FormState(values={"title": "T", "traps": "10", "number": "6"}, file_fields=("ask", "trap_file"))


@pytest.mark.parametrize(
    ("error", "field", "begins"),
    [
        (FormatError("binary-file", "no text", file="a.run"), "ask", "a.run: no text"),
        (FormatError("binary-file", "no text", file="b.run", line=3), "ask", "b.run:3: no text"),
        (FormatError("binary-file", "no text", file="b.run", parameter="trap_file"), "trap_file", "b.run: no text"),
        (FormatError("binary-file", "no text", file="other.run"), WHOLE_FORM, "other.run: no text"),
        (UsageError("bad-setting", "at most 9", parameter="traps"), "traps", "Traps in a task: at most 9"),
        (UsageError("bad-budget", "at most 9", parameter="budget"), "number", "How many: at most 9"),
        (UsageError("bad-level", "at most 1", parameter="level"), WHOLE_FORM, "At most 1"),
    ],
)
def test_an_error_stands_beside_the_field_of_its_file_or_parameter(
    error: RingtrueError, field: str, begins: str
) -> None:
    sent = form()
    sent.attach_error(error, FILES, fields={"budget": "number"})
    (problem,) = sent.problems.items()
    assert (problem[0], problem[1].code) == (field, error.code)
    assert as_sentence(problem[1], sent.spelling).startswith(begins)


def test_only_a_file_in_which_something_was_found_is_refused() -> None:
    sent = form()
    sent.attach_error(FormatError("binary-file", "no text", file="a.run"), FILES)
    sent.attach_error(UsageError("bad-setting", "at most 9", parameter="traps"), FILES)
    assert sent.refused == {("ask", "a.run")}


@pytest.mark.parametrize(("text", "number"), [("1,000", 1000), ("", None), ("x", None), ("²", None), ("1e3", None)])
def test_a_number_is_read_or_a_problem_with_its_label(text: str, number: int | None) -> None:
    sent = FormState(values={"judges": text})
    assert sent.parse_number("judges", 1, 1000) == number
    problems: dict[str, Any] = {name: (note.code, note.subject) for name, note in sent.problems.items()}
    assert problems == ({} if number else {"judges": ("not-a-whole-number", FIELD_LABELS["judges"])})
