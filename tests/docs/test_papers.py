"""The pages on the papers: nothing is left out, and what they say in words is in the tables they point to."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {page.stem: page for page in sorted((DOCS / "papers").glob("*.md"))}
PLACE = re.compile(r"<!-- table: (?P<name>[\w-]+) -->\n(?P<table>.*?)<!-- /table -->", re.S)


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


MAKERS = module("paper_tables").PAPER_TABLES
TABLES = module("tables").TABLES  # the same as Markdown, beside those of other pages


def words(name: str) -> str:
    return " ".join(PAGES[name].read_text().split())


def rows(page: Path, name: str) -> list[list[str]]:
    """The cells of a table that has a place, without its columns."""
    table = next(place["table"] for place in PLACE.finditer(page.read_text()) if place["name"] == name)
    return [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:] if line.startswith("|")]


def numbers(page: str, name: str) -> dict[str, list[float]]:
    return {
        first: [float(cell.replace("−", "-")) for cell in cells] for first, *cells in rows(DOCS / "ideas" / page, name)
    }


def test_every_source_has_a_page_that_the_first_page_leads_to() -> None:
    index = PAGES["README"].read_text()
    sources = set(re.findall(r"\[\[(\w+)\]\]", index))
    assert sources == {"Cambridge18", "Goldberg17", "Demeester14", "Metrikov12", "Bashir13"}
    for name, page in PAGES.items():
        if name != "README":
            assert f"({page.name})" in index
            assert re.search(r"^Source: \[\[(\w+)\]\]", page.read_text(), re.M)[1] in sources  # type: ignore[index]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "README"])
def test_every_page_says_what_comes_out_in_one_table_and_what_cannot(name: str) -> None:
    text = PAGES[name].read_text()
    assert "| published | ringtrue | why they differ |" in text
    assert "## What cannot be reproduced" in text


def test_every_table_has_one_place_and_every_place_a_table() -> None:
    places = [place["name"] for page in PAGES.values() for place in PLACE.finditer(page.read_text())]
    assert sorted(places) == sorted(MAKERS)


def test_what_is_said_of_intervals_on_real_judges_is_in_the_table_of_the_study() -> None:
    held = {judge: cells[0] for judge, cells in numbers("correction.md", "published").items()}
    first, second = ([share for judge, share in held.items() if judge.startswith(year)] for year in ("dl19", "dl21"))
    assert (
        f"holds the truth in {min(first)} to {max(first)}% of draws in 2019 and in {min(second)} to {max(second)}%"
        in words("noisy-judgments")
    )
    mean, *_ = numbers("correction.md", "rates")["usual: Wald, as published"]
    assert f"hold in {mean:.0f}% of cases on average" in words("noisy-judgments")


def test_what_is_said_of_simulated_votes_is_in_the_tables_of_the_study() -> None:
    designs = {design: cells for design, *cells in rows(DOCS / "ideas/preferences.md", "simulated-designs")}
    for before in (0, 3):  # a good initial order, a poor one
        full, half = (
            float(designs[name][before + place].split()[0]) for name, place in (("`seed`", 2), ("`active`", 1))
        )
        assert half >= full
    assert "does as well with half of the votes" in words("document-ratings")
    held = {name: cells[0] for name, *cells in rows(DOCS / "ideas/preferences.md", "simulated-intervals")}
    assert {f"{float(held[name].split()[0]):.0f}" for name in held if name.endswith("glicko, 10")} == {"4"}
    assert "its intervals hold the truth in 4% of cases" in words("document-ratings")


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_table_of_a_paper_is_what_the_data_give(name: str, data: Path) -> None:
    (shown,) = (place["table"] for page in PAGES.values() for place in PLACE.finditer(page.read_text())
                if place["name"] == name)  # fmt: skip
    assert shown == f"\n{TABLES[name]()}\n\n", "run `.venv/bin/python docs/tables.py --write`"


def test_what_was_published_comes_out_on_the_papers_own_crowd() -> None:
    for cells in rows(PAGES["user-disagreement"], "paper-users-of-many"):
        _, seen, ours, _, predicted, told, _ = (cells[0], *map(float, cells[1:]))
        assert f"{ours:.2f}" == f"{seen:.2f}"
        assert told == pytest.approx(predicted, abs=0.0061)
    counts = rows(PAGES["user-disagreement"], "paper-crowd-counts")
    assert all(published in ("–", ours) for _, published, ours in counts)


def test_what_the_pages_say_in_words_is_in_their_tables() -> None:
    by_matrix = {name: cells for name, *cells in rows(PAGES["assessor-disagreement"], "paper-two-matrices")}
    own, other = by_matrix["correlation with the real"][1:]
    real, _, elsewhere = (float(cell) for cell in by_matrix["mean over 60 points"])
    text = words("assessor-disagreement")
    assert f"correlation {own} on nyt17" in text
    assert f"{other}, and too low by {real - elsewhere:.2f}" in text
    judges = rows(PAGES["evaluation-lecture"], "paper-other-judges")
    assert sum(not winner.endswith(", 1") for *_, winner in judges) == 3
    assert "three of these judges answer it otherwise" in words("evaluation-lecture")
    one_run, one_query = rows(PAGES["evaluation-lecture"], "paper-variances")
    assert round(float(one_query[1]) / float(one_run[1]), 1) == 0.5
    assert float(one_query[3]) > float(one_run[3])
    assert "the median of the second is half of that of the first" in words("evaluation-lecture")
