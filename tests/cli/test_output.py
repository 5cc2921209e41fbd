"""Answers on a screen, and as LaTeX."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringtrue import cli
from ringtrue.cli.output import Grid, emit, format_estimates
from ringtrue.formatting.renderers import LATEX_ESCAPES
from ringtrue.stats.results import Estimate

SIGNS = re.compile(r"[^\x00-\x7f]")
DRAWN = set("└┬┤⠉")  # the picture of a curve, which LaTeX does not get


def estimated(value: float, half: float | None = None) -> Estimate:
    ends = (None, None) if half is None else (value - half, value + half)
    se = None if half is None else half / 2
    return Estimate(value=value, se=se, low=ends[0], high=ends[1], level=0.95, n=9, method="t")


def test_negative_numbers_have_a_minus_and_no_hyphen() -> None:
    assert format_estimates([estimated(-0.25, 0.1), estimated(0.5, 0.1)]) == ["−0.250 ±0.100", "0.500 ±0.100"]
    assert format_estimates([estimated(-0.25)]) == ["−0.2500"]


def test_every_sign_of_our_tables_is_known_to_latex() -> None:
    folder = Path(cli.__file__).parent
    used = {sign for module in folder.rglob("*.py") for sign in SIGNS.findall(module.read_text())}
    assert used - LATEX_ESCAPES.keys() - DRAWN == set()


@pytest.mark.parametrize("sign", sorted({*SIGNS.findall("".join(LATEX_ESCAPES)), "&", "_", "<"}))
def test_latex_gets_plain_letters(sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    emit("latex", payload=None, grid=Grid(columns=["a"], rows=[[f"x {sign} 1"]]))
    row = capsys.readouterr().out.splitlines()[5]
    assert row.isascii()
    assert row.startswith("x ")
    assert LATEX_ESCAPES[sign] in row
