"""Citation keys: every key that is used is in the bibliography, and every key in it is used."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = ROOT / "docs/bibliography.md"
KEY = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")
KNOWN = set(re.findall(r"^## ([A-Z][A-Za-z]+\d\d)$", BIBLIOGRAPHY.read_text(), re.M))


def keys_in(*files: Path) -> dict[str, Path]:
    return {key: file for file in files for key in KEY.findall(file.read_text())}


def test_every_citation_in_the_code_is_in_the_bibliography() -> None:
    used = keys_in(*(ROOT / "src").rglob("*.py"))
    assert {key: str(file) for key, file in used.items() if key not in KNOWN} == {}


def test_every_citation_in_the_pages_is_in_the_bibliography() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != BIBLIOGRAPHY]
    assert {key: str(page) for key, page in keys_in(*pages).items() if key not in KNOWN} == {}


def test_every_entry_of_the_bibliography_is_cited_somewhere() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != BIBLIOGRAPHY]
    assert sorted(KNOWN - set(keys_in(*(ROOT / "src").rglob("*.py"), *pages))) == []


def test_the_bibliography_is_in_alphabetical_order() -> None:
    keys = re.findall(r"^## (\w+)$", BIBLIOGRAPHY.read_text(), re.M)
    assert keys == sorted(keys)
