"""The reference leaves nothing out, and its generated parts are as the code is now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from ringtrue import errors
from ringtrue.cli import COMMANDS
from ringtrue.evaluation.measures import CATALOGUE
from ringtrue.files import Format

DOCS = Path(__file__).parents[2] / "docs"


def sections(page: str) -> set[str]:
    return set(re.findall(r"^#{2,4} `?([\w-]+)`?$", (DOCS / "reference" / page).read_text(), re.M))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = generator()


@pytest.mark.slow  # every command is started for its help
@pytest.mark.parametrize("page", GENERATE.pages(), ids=lambda page: page.name)
def test_the_generated_parts_are_up_to_date(page: Path) -> None:
    text = page.read_text()
    if GENERATE.updated(text) != text:
        pytest.fail(f"{page.name} is out of date; run `.venv/bin/python docs/generate.py`")


def test_every_command_has_a_section_with_its_help() -> None:
    assert set(COMMANDS) <= sections("command-line.md")
    text = (DOCS / "reference/command-line.md").read_text()
    assert [name for name in COMMANDS if f"<!-- generated: help {name} -->" not in text] == []


def test_every_measure_has_a_section() -> None:
    assert set(CATALOGUE) <= sections("measures.md")


def test_every_format_has_a_section() -> None:
    assert set(get_args(Format)) <= sections("formats.md")


def test_every_error_has_a_section_and_a_place_in_the_tree() -> None:
    classes = {
        name
        for name, member in vars(errors).items()
        if getattr(member, "__module__", "") == errors.__name__ and isinstance(member, type)
    }
    assert classes <= sections("errors.md")
    tree = GENERATE.error_tree("")
    assert [name for name in sorted(classes) if name not in tree] == []
