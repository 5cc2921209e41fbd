"""Answers on a screen, in the form that was asked for."""

from __future__ import annotations

import io
import json
import sys

import pytest

from ringtrue.cli.output import ERASE_LINE_ABOVE, LONG_WORK_BYTES, OutputFormat, emit, progress_bar, step_bar
from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note

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
    emit(form, payload={}, grid=GRID)
    assert line in capsys.readouterr().out.splitlines()


def test_json_is_the_payload_and_no_table_is_made_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    emit("json", payload={"a": [1, None, "é"]}, grid=never, csv_grid=never)
    assert json.loads(capsys.readouterr().out) == {"a": [1, None, "é"]}


def test_csv_has_every_digit_where_a_command_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    emit("csv", payload={}, grid=never, csv_grid=lambda: Grid(columns=["AP"], rows=[["0.123456789"]]))
    assert capsys.readouterr().out == "AP\n0.123456789\n"


def test_notes_go_to_standard_error_and_into_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    emit("json", payload={"a": 1}, grid=never, notes=[Note("few-queries", "8 queries")])
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"a": 1, "notes": ["8 queries"], "note_codes": ["few-queries"]}
    assert printed.err == "note: 8 queries\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_the_share_and_the_time_that_is_left_and_is_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    clock = iter(range(100))
    monkeypatch.setattr("time.time", lambda: float(next(clock)))
    with progress_bar(LONG_WORK_BYTES, description="reading") as advance:
        advance(LONG_WORK_BYTES // 2)
        assert "reading" in terminal.getvalue()
        assert "50%  00:00:0" in terminal.getvalue()
    assert terminal.getvalue().endswith(ERASE_LINE_ABOVE)


def test_a_bar_of_steps_names_each(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with step_bar(2, description="reading") as step:
        step("drawing")
        assert "drawing" in terminal.getvalue().splitlines()[-1]
        assert "50%" in terminal.getvalue()
    assert terminal.getvalue().endswith(ERASE_LINE_ABOVE)


def test_no_bar_is_drawn_for_short_work_or_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(2 * LONG_WORK_BYTES, description="reading") as advance, step_bar(2, description="a") as step:
        advance(LONG_WORK_BYTES)
        step("b")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress_bar(LONG_WORK_BYTES - 1, description="reading") as advance:
        advance(1)
    assert terminal.getvalue() == ""
