"""Notes and errors as pages and the API write them."""

from __future__ import annotations

from ringtrue.cli.commands.sample import command
from ringtrue.cli.spelling import CommandLine
from ringtrue.errors import FormatError, UsageError
from ringtrue.messages import PYTHON, Note, Suggestion, spell
from ringtrue.service.web.field_spelling import API_SPELLING, NO_FIELDS, FieldSpelling, as_sentence

FORM = FieldSpelling({"budget": "How many", "compare": "Only to compare the runs"})
FEW = Note("few-gold", "only 12 gold labels", suggestions=[Suggestion("draws more", budget=100)])


def test_one_note_has_three_hints() -> None:
    hints = [spell(FEW, spelling).removeprefix(FEW.text) for spelling in (PYTHON, CommandLine(command), FORM)]
    assert hints == [
        "; budget=100 draws more",
        "; --budget 100 draws more",
        "; “How many” 100 draws more",
    ]


def test_what_has_no_field_is_not_suggested() -> None:
    assert spell(FEW, NO_FIELDS) == spell(FEW, API_SPELLING) == FEW.text
    elsewhere = FEW.changed(suggestions=[Suggestion("draws more", function="sample", budget=100)])
    assert spell(elsewhere, FORM) == FEW.text


def test_a_box_is_ticked_and_a_field_emptied() -> None:
    assert FORM.suggestion(Suggestion(compare=True)) == FORM.parameter("compare")
    assert FORM.suggestion(Suggestion(compare=False)).endswith(FORM.parameter("compare"))
    assert FORM.suggestion(Suggestion(budget=...)) == FORM.parameter("budget")


def test_a_sentence_begins_with_a_capital_unless_it_begins_with_a_name() -> None:
    assert as_sentence(FEW).startswith("Only")
    assert as_sentence(FEW.about("bm25")).startswith("bm25: only")
    assert as_sentence(FormatError("too-few-fields", "expected 6 fields", file="a.run", line=8)).startswith("a.run:8: ")


def test_a_sentence_ends_once() -> None:
    assert as_sentence(Note("a", "done")) == as_sentence("done.") == "Done."
    assert as_sentence(Note("a", "sure?")) == "Sure?"


def test_programs_read_the_name_that_they_sent() -> None:
    error = UsageError("several-files", "expected one file, found 2", parameter="topics")
    assert error.spelled(API_SPELLING).endswith("(topics)")
    assert as_sentence(error) == "Expected one file, found 2."
