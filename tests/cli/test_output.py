"""Answers on a screen, in the form that was asked for."""

from __future__ import annotations

import json

import pytest

from ringtrue.cli.output import OutputFormat, emit
from ringtrue.formatting.grid import Grid

GRID = Grid(columns=["run", "AP"], rows=[["bm25_v2", "0.5"]], caption="mean")


def never() -> Grid:
    raise AssertionError("only what is printed is made")


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("table", "bm25_v2  0.5"),
        ("markdown", "| bm25_v2 | 0.5 |"),
        ("latex", r"bm25\_v2 & 0.5 \\"),
        ("csv", "bm25_v2,0.5"),
    ],
)
def test_each_form_shows_the_same_row(form: OutputFormat, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    emit(form, payload=None, grid=GRID)
    assert line in capsys.readouterr().out.splitlines()


def test_json_is_the_payload_and_no_table_is_made_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    emit("json", payload={"a": [1, None, "é"]}, grid=never, csv_grid=never)
    assert json.loads(capsys.readouterr().out) == {"a": [1, None, "é"]}


def test_csv_has_every_digit_where_a_command_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    emit("csv", payload=None, grid=never, csv_grid=lambda: Grid(columns=["AP"], rows=[["0.123456789"]]))
    assert capsys.readouterr().out == "AP\n0.123456789\n"
