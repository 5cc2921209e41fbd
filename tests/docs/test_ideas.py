"""What the short pages of ideas quote of the long ones is what those say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

IDEAS = Path(__file__).parents[2] / "docs/ideas"


def words(page: str) -> str:
    return " ".join((IDEAS / f"{page}.md").read_text().split())


def table(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """A table of the page on correction: its columns, and the cells of each row."""
    place = re.search(rf"<!-- table: {name} -->(.*?)<!-- /table -->", (IDEAS / "correction.md").read_text(), re.S)
    assert place is not None
    lines = [line.strip("| ").split(" | ") for line in place[1].splitlines() if line.startswith("|")]
    return lines[0], {first: cells for first, *cells in lines[2:]}


def test_what_gold_from_the_runs_quotes_of_one_run() -> None:
    _, rows = table("misled")
    bronze, gold, published, pool, top = rows["umbrela_gpt4"]
    page = words("gold-from-the-runs")
    assert f"P@10 is {bronze} by the model and {gold} by people." in page
    assert f"it becomes {published}: further off than without correction" in page
    right, here = (both.split(", ")[1] for both in (pool, top))
    assert (
        f"In the pool the model is right on {right} of what is not relevant; in this run's top ten, on {here}." in page
    )


def test_what_gold_from_the_runs_quotes_of_all_runs() -> None:
    _, rows = table("published")
    published, _, _, difference, _ = rows["dl19, umbrela_gpt4"]
    page = words("gold-from-the-runs")
    assert f"intervals made so held the truth in {published}% of cases" in page
    assert f"from labels drawn from the runs, in {difference}%" in page


def test_what_when_not_to_correct_quotes() -> None:
    _, published = table("published")
    held = [float(cells[0]) for judge, cells in published.items() if judge.startswith("dl19")]
    _, queries = table("queries")
    width = {judge: cells[5] for judge, cells in queries.items()}
    page = words("when-not-to-correct")
    assert f"held the truth in {min(held)} to {max(held)}% of draws" in page
    assert f"made the interval {width['dl19, binary_llama3.2']} times as wide as gold alone did" in page
    assert f"the best one {width['dl19, umbrela_gpt4']} (" in page


@pytest.mark.parametrize("share", ["72%", "32%"])
def test_what_errors_or_disagreement_quotes(share: str) -> None:
    assert share in words("errors-or-disagreement")
    told = words("disagreement")
    assert "a worker who said T says it again in 72% of cases, another worker in 32%" in told


def test_what_reading_an_interval_says_of_the_demo_is_what_its_examples_print() -> None:
    shown = re.findall(r"^(\w+) +(0\.\d+) ±(0\.\d+)", (IDEAS / "reading-an-interval.md").read_text(), re.M)
    ends = {(name, value): (float(value) - float(half), float(value) + float(half)) for name, value, half in shown}
    (low, high), (neural, top), (bottom, hybrid) = (
        ends["keyword", "0.523"],
        ends["neural", "0.259"],
        ends["hybrid", "0.219"],
    )
    page = words("reading-an-interval")
    assert f"a P@10 of 0.523 with an interval of {low:.3f} to {high:.3f}" in page
    assert f"`neural` lies between {neural:.3f} and {top:.3f}, `hybrid` between {bottom:.3f} and {hybrid:.3f}" in page
    assert ("keyword", "0.391") in ends
