"""Which series is which: a sample and a name for each, in rows above a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.report.charts.canvas import Dash, Sheet
from ringtrue.report.charts.text_metrics import shorten, text_width

ROW_HEIGHT, SAMPLE_WIDTH, GAP = 20.0, 28.0, 18.0  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One entry: a piece of line with its marker, and a name."""

    name: str
    colour: str
    marker: str
    dash: Dash = "solid"
    hollow: bool = False


def _legend_rows(names: Sequence[str], width: float) -> list[list[tuple[int, float, str]]]:
    """Rows of numbers of entries, where each begins, and its name as it is shown."""
    rows: list[list[tuple[int, float, str]]] = []
    x = width
    for number, name in enumerate(names):
        label = shorten(name, width - SAMPLE_WIDTH - 6)
        needed = SAMPLE_WIDTH + 6 + text_width(label)
        if x + needed > width or not rows:
            rows.append([])
            x = 0.0
        rows[-1].append((number, x, label))
        x += needed + GAP
    return rows


def legend_height(names: Sequence[str], width: float) -> float:
    """How high the legend of these names is."""
    return ROW_HEIGHT * len(_legend_rows(names, width)) + 8 if names else 0.0


def draw_legend(sheet: Sheet, samples: Sequence[Sample], left: float, top: float, width: float) -> None:
    """Draw it from here."""
    for row_number, row in enumerate(_legend_rows([sample.name for sample in samples], width)):
        y = top + (row_number + 0.5) * ROW_HEIGHT
        for number, x, label in row:
            sample, start = samples[number], left + x
            sheet.draw_line((start, start + SAMPLE_WIDTH), (y, y), colour=sample.colour, width=2.0, dash=sample.dash)
            sheet.draw_line(
                (start + SAMPLE_WIDTH / 2,),
                (y,),
                colour=sample.colour,
                marker=sample.marker,
                size=7.0,
                hollow=sample.hollow,
            )
            sheet.draw_text(start + SAMPLE_WIDTH + 6, y, label)
