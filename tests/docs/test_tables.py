"""The tables that come from real data, and what the pages say about them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from ringtrue.cli.studies import StudyParameters
from ringtrue.cli.studies.real_judges import REAL_JUDGE_SETTINGS, study_real_judges
from ringtrue.judges.aggregation import aggregate, em

DOCS = Path(__file__).parents[2] / "docs"
PAGE = " ".join((DOCS / "ideas/one-label.md").read_text().split())
CORRECTION = (DOCS / "ideas/correction.md").read_text()


def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = tables()
pytestmark = [pytest.mark.real, pytest.mark.slow]


def pages_with_tables() -> list[Any]:
    """All but those of papers (`test_papers.py`); ten times over, votes are foretold in a study."""
    pages = [page for page in sorted(DOCS.rglob("*.md")) if TABLES.PLACE.search(page.read_text())]
    return [
        pytest.param(page, id=page.name, marks=[pytest.mark.study] if page.name == "preferences.md" else [])
        for page in pages
        if page.parent.name != "papers"
    ]


@pytest.mark.parametrize("page", pages_with_tables())
def test_a_page_has_the_tables_that_the_data_give(page: Path, data: Path) -> None:
    assert TABLES.updated(page.read_text()) == page.read_text(), "run `.venv/bin/python docs/tables.py --write`"


def test_what_the_page_says_of_judges_of_one_label(data: Path) -> None:
    labels, _ = TABLES.data("rf10")
    lazy = TABLES.judges_of_one_label(labels)
    share = lazy["all"].sum() / labels.height
    most = lazy.row(-1)
    assert f"A judge called {most[0]} gave {most[2]:,} labels, and {most[1]:,} of them are 1." in PAGE
    assert (
        f"{lazy.height} judges with 20 labels or more said one label in 80% of them or more, and they gave {share:.0%}"
        in PAGE
    )
    assert f"1 is said most of all, in {(labels['label'] == 1).mean():.0%} of them" in PAGE


def test_what_the_page_says_of_how_common_a_label_is(data: Path) -> None:
    _, truth = TABLES.data("web5")
    vote, model, plain = (
        TABLES.found("web5", way).class_shares[1] for way in ("majority", "dawid-skene", "dawid-skene, no prior")
    )
    share = (truth["gold"] == 1).mean()
    assert f"In truth {share:.0%} of the items are 1; a vote finds {vote:.0%}, the model ends with {model:.0%}." in PAGE
    assert f"Without a prior the label ends at {plain:.0%}" in PAGE
    before, after = (TABLES.scored("web5", way) for way in ("majority", "dawid-skene"))
    both = before.join(after.select("doc", now="label"), on="doc")
    moved = both.filter((pl.col("gold") == 1) & (pl.col("label") == 1) & (pl.col("now") == 2)).height
    assert f"{moved} items of which the vote rightly said 1 became 2" in PAGE


def test_what_the_page_says_of_equally_common_labels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def even(truth: Any) -> Any:
        return np.full(truth.shape[1], 1 / truth.shape[1])

    monkeypatch.setattr(em, "_column_means", even)
    right = {}
    for name in ("web5", "rf10"):
        labels, truth = TABLES.data(name)
        items = aggregate(labels, repeats="all").items.join(truth, on=["query", "doc"])
        right[name] = f"{(items['label'] == items['gold']).mean():.0%}"
    assert f"with all labels taken for equally common {right['web5']} of the items come out right" in PAGE
    assert f"taking them for equally common makes things worse: {right['rf10']}." in PAGE


def test_what_the_page_says_of_sure_labels(data: Path) -> None:
    sure = [TABLES.scored(name, "dawid-skene").filter(pl.col("probability") >= 0.9) for name in ("web5", "rf10")]
    right = [f"{items['right'].mean():.0%}" for items in sure]
    assert f"a probability of 0.9 or more, {right[0]} are right in web5, and {right[1]} in rf10" in PAGE


def on_page(name: str) -> tuple[list[str], dict[str, list[float]]]:
    """A table of the page on correction: its columns, and the numbers of each row by how it is called."""
    place = next(place for place in TABLES.PLACE.finditer(CORRECTION) if place["name"] == name)
    return read_table(place[0])


def read_table(text: str) -> tuple[list[str], dict[str, list[float]]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return lines[0], {first: [float(cell.replace("−", "-")) for cell in cells] for first, *cells in lines[2:]}


def studied(data: Path, name: str, draws: int) -> dict[str, Any]:
    asked = StudyParameters(
        seed=0, replications=draws, level=0.95, folders=(str(data / name),), settings=REAL_JUDGE_SETTINGS
    )
    return {"study": "real", **study_real_judges(asked).payload}


@pytest.mark.parametrize(("name", "draws"), [pytest.param("dl19", 4, marks=pytest.mark.study), ("dl21", 12)])
def test_the_page_on_correction_has_what_a_short_run_of_the_study_gives_within_chance(
    name: str, draws: int, data: Path
) -> None:
    study = studied(data, name, draws)
    for title, (_, make) in TABLES.OF_STUDIES.items():
        if TABLES.OF_STUDIES[title][0] != "real":
            continue
        (columns, shown), (ours, found) = on_page(title), read_table(make(study))
        assert columns == ours
        assert {judge for judge in shown if judge.startswith(name)} == set(found)
        for judge, numbers in found.items():
            for column, new, old in zip(columns[1:], numbers, shown[judge], strict=True):
                if column.endswith("held"):
                    # Runs share their gold labels: their mean coverage varies at most as that of one run does.
                    chance = 100 * np.sqrt(max(old / 100 * (1 - old / 100), 0.02) / draws)
                    assert abs(new - old) <= 4 * chance, f"{title}: {judge}, {column}"
                elif title.endswith("forecasts"):  # a tenth of the draws
                    assert new == pytest.approx(old, rel=0.35), f"{title}: {judge}, {column}"
                elif column in ("width", "of the two"):
                    # Gold alone on few labels of two runs: the width in four draws says little about that in 2,000.
                    room = 0.08 if title == "differences" else 0.03
                    assert new == pytest.approx(old, rel=0.1, abs=room), f"{title}: {judge}, {column}"


def test_what_is_said_of_the_study_is_in_its_tables() -> None:
    page, readme = (" ".join(text.split()) for text in (CORRECTION, (DOCS.parent / "README.md").read_text()))

    def ends(table: str, column: str, of: str = "") -> tuple[float, float]:
        columns, rows = on_page(table)
        places = [place for place, name in enumerate(columns[1:]) if name.endswith(column)]
        found = [numbers[place] for name, numbers in rows.items() if name.startswith(of) for place in places]
        return min(found), max(found)

    low, high = ends("means", "held")
    lowest, _ = ends("means", "lowest run")
    shares = f"{low:.1f} to {high:.1f}%"
    assert f"in {shares} of the draws on average over the runs, and for no run in less than {lowest:.1f}%" in page
    widths = [f"{low:.2f} to {high:.2f}" for low, high in (ends("means", "width", of) for of in ("dl19", "dl21", ""))]
    assert f"{widths[0]} of the width in dl19, {widths[1]} in dl21" in page
    assert f"| {shares} with the labels of four models" in readme
    assert f"at {widths[2]} of the width of gold alone" in readme
    low, high = ends("forecasts", "")
    assert f"| {low:.2f} to {high:.2f} times as wide, from 100, 200 and 300 labels" in readme
    assert f"what came was {low:.2f} to {high:.2f} times as wide as forecast" in " ".join(
        (DOCS / "how-to/draw-gold-labels.md").read_text().split()
    )
    low, high = ends("published", "published: held", "dl19")
    assert f"the published correction by accuracy rates: {low:.1f} to {high:.1f}% on one of the two" in readme


def test_what_the_page_on_correction_says_of_one_run(data: Path) -> None:
    assert TABLES.misled() in CORRECTION
