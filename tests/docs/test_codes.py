"""Every code that the source makes is explained in `docs/codes`, and every one explained there is made."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "generate.py"
spec = importlib.util.spec_from_file_location("generate", SCRIPT)
assert spec is not None
assert spec.loader is not None
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

MADE = {code: {module for _, module in makers} for code, makers in generate.message_tools().list_makers().items()}
DOCUMENTED = generate.documented_codes()


def is_in(room: str, module: str) -> bool:
    return module == f"{room}.py" or module.startswith(f"{room}/")


@pytest.mark.parametrize("room", DOCUMENTED)
def test_every_code_that_a_room_makes_is_explained(room: str) -> None:
    made = {code for code, modules in MADE.items() if any(is_in(room, module) for module in modules)}
    assert sorted(made - {code for codes in DOCUMENTED.values() for code in codes}) == []


@pytest.mark.parametrize("room", DOCUMENTED)
def test_every_code_that_is_explained_is_made_in_its_room(room: str) -> None:
    made = {code for code, modules in MADE.items() if any(is_in(room, module) for module in modules)}
    assert sorted(set(DOCUMENTED[room]) - made) == []


@pytest.mark.parametrize("room", DOCUMENTED)
def test_an_explanation_says_what_the_code_means_and_what_to_do(room: str) -> None:
    for code, words in DOCUMENTED[room].items():
        assert {"meaning", "remedy"} <= set(words) <= {"meaning", "cause", "remedy"}, code
        assert all(text.strip().endswith((".", "?")) for text in words.values()), code


def test_a_code_is_explained_once() -> None:
    codes = [code for codes in DOCUMENTED.values() for code in codes]
    assert sorted({code for code in codes if codes.count(code) > 1}) == []
