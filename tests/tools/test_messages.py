"""Messages are data: every note and error has a code, and nobody takes a sentence apart."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import messages
import shape

TESTS = Path(__file__).parents[1]
MOST_PROSE = 150  # assertions; 2,081 before notes had codes


def test_every_note_and_error_has_a_code_and_nobody_takes_a_sentence_apart() -> None:
    assert list(messages.find_faults()) == []


def test_tests_assert_codes_and_numbers_rather_than_words() -> None:
    trees = [ast.parse(path.read_text()) for path in sorted(TESTS.rglob("*.py"))]
    _, assertions, _ = shape.prose_assertions(trees)
    assert assertions < MOST_PROSE


@pytest.mark.parametrize(
    "line",
    [
        "if 'few labels' in note: pass",
        "if str(error) == 'no such file': pass",
        "name = error.text.split(':')[0]",
        "words = re.sub('--.*', '', message)",
        "kept = [note for note in notes if note.startswith('not safe')]",
        "if path in str(error): pass",
        "first = str(error)[:10]",
        "error.args[0].replace('a', 'b')",
    ],
)
def test_a_sentence_that_is_searched_cut_or_compared_is_found(line: str) -> None:
    assert list(messages.cut_sentences("room.py", ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "if note.code == 'few-gold': pass",
        "if error.parameter in fields: pass",
        "if note not in notes: notes.append(note)",
        "words = line.split(' ')",
    ],
)
def test_codes_fields_and_other_texts_may_be_compared(line: str) -> None:
    assert not list(messages.cut_sentences("room.py", ast.parse(line)))


@pytest.mark.parametrize("text", ["say --bronze-rel 1", "`ringtrue sample` draws them", "ringtrue rate NAME"])
def test_a_literal_that_names_an_option_or_a_command_is_found_and_a_docstring_is_not(text: str) -> None:
    assert list(messages.named_options("room.py", ast.parse(f"x = {text!r}")))
    assert not list(messages.named_options("room.py", ast.parse(f"def f():\n    {text!r}")))


def test_a_code_is_listed_with_where_it_is_made() -> None:
    homes = messages.list_codes()
    assert "evaluation/evaluate.py" in {home for made in homes.values() for home in made}
    assert all(messages.CODE.fullmatch(code) for code in homes)
