"""Which series is which: a sample and a name for each, in rows above a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.report.charts.sheet import Dash, Sheet
from ringtrue.report.charts.text_metrics import cut, width_of

__all__ = ["Sample", "draw_legend", "legend_height"]

ROW, SAMPLE, GAP = 20.0, 28.0, 18.0  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One entry: a piece of line with its marker, and a name."""

    name: str
    colour: str
    marker: str
    dash: Dash = "solid"
    hollow: bool = False


def _rows(names: Sequence[str], width: float) -> list[list[tuple[int, float, str]]]:
    """Rows of numbers of entries, where each begins, and its name as it is shown."""
    rows: list[list[tuple[int, float, str]]] = []
    x = width
    for number, name in enumerate(names):
        shown = cut(name, width - SAMPLE - 6)
        needed = SAMPLE + 6 + width_of(shown)
        if x + needed > width or not rows:
            rows.append([])
            x = 0.0
        rows[-1].append((number, x, shown))
        x += needed + GAP
    return rows


def legend_height(names: Sequence[str], width: float) -> float:
    """How high the legend of these names is."""
    return ROW * len(_rows(names, width)) + 8 if names else 0.0


def draw_legend(sheet: Sheet, samples: Sequence[Sample], left: float, top: float, width: float) -> None:
    """Draw it from here."""
    for place, row in enumerate(_rows([one.name for one in samples], width)):
        y = top + (place + 0.5) * ROW
        for number, x, shown in row:
            one, begin = samples[number], left + x
            sheet.line((begin, begin + SAMPLE), (y, y), colour=one.colour, width=2.0, dash=one.dash)
            sheet.line((begin + SAMPLE / 2,), (y,), colour=one.colour, marker=one.marker, size=7.0, hollow=one.hollow)
            sheet.text(begin + SAMPLE + 6, y, shown)
