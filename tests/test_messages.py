"""Notes and errors as data: what they say in Python, what a front end makes of them, and that they survive copying."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest

from ringtrue.errors import FormatError, UsageError
from ringtrue.messages import Note, Suggestion, notes_as_dict, spell, spell_all

REPEATS = Note(
    "repeated-labels",
    "12 labels repeat, and the last one counts",
    parameter="repeats",
    suggestions=[Suggestion("counts each", repeats="all")],
)


@dataclass(frozen=True)
class Shouting:
    """A front end that has an option for everything but `seed`."""

    def suggestion(self, suggestion: Suggestion) -> str:
        names = suggestion.arguments
        return "" if "seed" in names else " ".join(f"{name.upper()} {value}" for name, value in names.items())

    def parameter(self, name: str) -> str:
        return name.upper()


def test_a_note_is_the_sentence_that_a_python_user_reads() -> None:
    assert REPEATS == "12 labels repeat, and the last one counts; repeats='all' counts each"
    assert (REPEATS.code, REPEATS.parameter) == ("repeated-labels", "repeats")


def test_a_front_end_writes_its_own_hint() -> None:
    assert spell(REPEATS, Shouting()) == "12 labels repeat, and the last one counts; REPEATS all counts each"


def test_what_a_front_end_does_not_have_is_not_suggested() -> None:
    note = REPEATS.changed(suggestions=[Suggestion("draws others", seed=2)])
    assert spell(note, Shouting()) == note.sentence == REPEATS.text


def test_what_is_to_be_left_out_is_named_without_a_value() -> None:
    hints = [Suggestion(budget=None), Suggestion(power=None)]
    assert spell(REPEATS.changed(suggestions=hints), Shouting()).endswith("; leave out BUDGET or POWER")
    hints = [Suggestion("says how many it takes", budget=None)]
    assert spell(REPEATS.changed(suggestions=hints), Shouting()).endswith("; leaving out BUDGET says how many it takes")


def test_a_note_says_what_it_is_about_before_what_is_the_matter() -> None:
    note = REPEATS.about("gold.csv").about("bm25")
    assert note.sentence == f"bm25: gold.csv: {REPEATS.text}"
    assert (note.code, note.text, note.subject) == (REPEATS.code, REPEATS.text, "bm25: gold.csv")


def test_a_parameter_that_a_caller_calls_otherwise_is_renamed_and_one_it_lacks_not_suggested() -> None:
    assert REPEATS.renamed({"repeats": "keep"}).suggestions == (Suggestion("counts each", keep="all"),)
    lacking = REPEATS.renamed({"repeats": None})
    assert (lacking.parameter, lacking.suggestions) == (None, ())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda note: pickle.loads(pickle.dumps(note))])
def test_a_note_is_copied_whole(copied) -> None:  # type: ignore[no-untyped-def]
    note = copied(REPEATS.about("a.run"))
    assert (note, note.code, note.subject, note.suggestions) == (
        REPEATS.about("a.run"),
        "repeated-labels",
        "a.run",
        REPEATS.suggestions,
    )


def test_a_note_does_not_change() -> None:
    with pytest.raises(AttributeError):
        REPEATS.code = "other"


def test_notes_have_as_many_codes_beside_them_and_plain_data_of_the_user_is_left_alone() -> None:
    plain = {"notes": ["mine"], "inner": notes_as_dict([REPEATS])}
    spelled = spell_all(plain, Shouting())
    assert spelled["notes"] == ["mine"]
    assert spelled["inner"]["note_codes"] == ["repeated-labels"]
    assert spelled["inner"]["notes"] == ["12 labels repeat, and the last one counts; REPEATS all counts each"]
    assert notes_as_dict([]) == {"notes": [], "note_codes": []}


def test_an_error_says_where_what_and_what_to_do_and_has_each_as_data() -> None:
    error = FormatError("too-few-fields", "expected 6 fields, found 5", file="a.run", line=8)
    assert str(error) == "a.run:8: expected 6 fields, found 5"
    assert error.as_dict() == {
        "code": "too-few-fields",
        "message": "a.run:8: expected 6 fields, found 5",
        "parameter": None,
        "file": "a.run",
        "line": 8,
    }


def test_a_question_put_wrongly_names_the_parameter_as_each_front_end_does_unless_a_hint_has_it() -> None:
    error = UsageError("bad-level", "a confidence level lies between 0 and 1, found 95", parameter="level")
    assert str(error).endswith("found 95 (level)")
    assert error.spelled(Shouting()).endswith("found 95 (LEVEL)")
    hinted = error.with_note(error.note.changed(suggestions=[Suggestion("is usual", level=0.95)]))
    assert str(hinted).endswith("found 95; level=0.95 is usual")


def test_an_error_keeps_its_code_when_its_place_becomes_known() -> None:
    error = FormatError("too-few-fields", "expected 6 fields, found 5")
    placed = error.found_in("a.run", 8).found_in("b.run")
    assert (placed.code, placed.place, type(placed)) == ("too-few-fields", "a.run:8", FormatError)
    assert str(error) == "expected 6 fields, found 5"


@pytest.mark.parametrize("error", [FormatError("too-few-fields", "expected 6", file="a.run", line=8)])
def test_an_error_survives_pickling(error: FormatError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.line) == (str(error), "too-few-fields", 8)


def test_an_error_of_a_note_says_the_same_and_where() -> None:
    error = FormatError.of(REPEATS.about("gold"), file="a.csv")
    assert (error.code, error.note) == (REPEATS.code, REPEATS.about("gold"))
    assert str(error).startswith("a.csv: gold: ")


def test_an_argument_may_be_a_mapping() -> None:
    columns = Suggestion("says which column it is", columns={"query": "NAME"})
    assert str(columns).startswith("columns={'query': 'NAME'} ")
    assert {columns} == {Suggestion("says which column it is", columns={"query": "NAME"})}
