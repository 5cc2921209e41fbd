"""Grids as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ringtrue import cli
from ringtrue.formatting.grid import (
    LATEX_ESCAPES,
    Grid,
    render_csv,
    render_latex,
    render_markdown,
    render_text,
    shorten_gains,
)

SIGNS = re.compile(r"[^\x00-\x7f]")
DRAWN = set("└┬┤⠉")  # the picture of a curve, which LaTeX does not get
cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=8)


def test_text_is_aligned_also_where_characters_are_wide() -> None:
    grid = Grid(columns=["run", "AP"], rows=[["漢字", "0.5"], ["b", "0.25"]], caption="mean")
    assert render_text(grid).splitlines() == ["run     AP", "────  ────", "漢字   0.5", "b     0.25", "mean"]


def test_markdown_has_the_caption_below_and_escapes_what_would_be_markup() -> None:
    grid = Grid(columns=["run", "AP"], rows=[["a|*b*<i>", "1"]], caption="one\n\ntwo")
    assert render_markdown(grid).splitlines() == [
        "| run | AP |", "| --- | ---: |", r"| a\|\*b\*&lt;i> | 1 |", "", "one", "", "two",
    ]  # fmt: skip


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=5))
def test_csv_is_read_back_by_another_reader(rows: list[list[str]]) -> None:
    text = render_csv(Grid(columns=["a", "b"], rows=rows))
    assert list(csv.reader(text.splitlines(keepends=True))) == [["a", "b"], *rows]


def test_one_table_of_gains_is_shortened_and_two_are_not() -> None:
    same = Grid(columns=["run", "DCG(gains={0: 0.0, 1: 2.0})@5"], rows=[], caption="DCG(gains={0: 0.0, 1: 2.0})@5")
    assert shorten_gains(same).columns[1] == shorten_gains(same).caption == "DCG(gains=…)@5"
    two = Grid(columns=["DCG(gains={1: 2.0})@5", "DCG(gains={1: 3.0})@5"], rows=[])
    assert shorten_gains(two) is two


def test_every_sign_of_our_tables_is_known_to_latex() -> None:
    modules = list(Path(cli.__file__).parent.rglob("*.py"))
    assert len(modules) > 30  # the tables are in folders below
    used = {sign for module in modules for sign in SIGNS.findall(module.read_text())}
    assert used - LATEX_ESCAPES.keys() - DRAWN == set()


@pytest.mark.parametrize("sign", sorted({*SIGNS.findall("".join(LATEX_ESCAPES)), "&", "_", "<"}))
def test_latex_gets_plain_letters(sign: str) -> None:
    row = render_latex(Grid(columns=["a"], rows=[[f"x {sign} 1"]])).splitlines()[5]
    assert row.isascii()
    assert row.startswith("x ")
    assert LATEX_ESCAPES[sign] in row
