"""Nobody gets lost: links lead somewhere, and every page is on the map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.rglob("*.md")),
    *(page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if page.exists()),
]
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.M | re.S)


def links(page: Path) -> Iterator[tuple[Path, str | None]]:
    for target, anchor in LINK.findall(CODE.sub("", page.read_text())):
        yield (page.parent / target).resolve() if target else page, anchor or None


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.lower())) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{page.relative_to(ROOT)} links to {target}, which does not exist"
        if anchor is not None:
            assert anchor in anchors(target), f"{page.relative_to(ROOT)} links to #{anchor}, not in {target.name}"


def entries(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from entries(value)
            else:
                yield value


def navigation() -> list[str]:
    return list(entries(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))


def test_the_navigation_lists_every_page() -> None:
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(pages - set(navigation())) == []


def test_the_navigation_lists_nothing_that_is_not_there() -> None:
    assert [entry for entry in navigation() if not (DOCS / entry).exists()] == []


def test_no_page_stands_on_the_navigation_twice() -> None:
    assert len(navigation()) == len(set(navigation()))


def test_every_page_begins_with_its_title() -> None:
    assert [str(page) for page in PAGES if not page.read_text().startswith("# ")] == []


def test_no_page_speaks_of_a_folder_of_somebodys_machine() -> None:
    private = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/")
    assert [str(page) for page in PAGES if private.search(page.read_text())] == []
