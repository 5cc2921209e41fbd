"""A coloured cell for each row and column, and what stands in it."""

from __future__ import annotations

import math

from matplotlib.patches import Rectangle

from ringtrue.report.charts.axis_scales import scale
from ringtrue.report.charts.sheet import Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import SIZE, cut, width_of, wrapped
from ringtrue.report.model import Heatmap

__all__ = ["draw_heatmap", "heatmap_height", "heatmap_width"]

NAMES = 0.34  # of the width is for the names of rows at most
SMALL, WIDE, HIGH = 11.0, 84.0, 46.0  # letters in cells, and the most that a cell takes
KEY = 10  # colours in the key
TURNED = 84.0  # how high names of columns may stand when they are turned


class _Plan:
    """Where the parts of a heatmap go when it is so wide."""

    def __init__(self, chart: Heatmap, width: float) -> None:
        many = max(1, len(chart.columns))
        self.rows = [cut(name, width * NAMES) for name in chart.rows]
        self.gutter = max([0.0, *map(width_of, self.rows)]) + 10
        self.cell = max(8.0, min(WIDE, (width - self.gutter - 2) / many))
        self.turned = any(width_of(name) > self.cell - 6 for name in chart.columns)
        room = TURNED if self.turned else self.cell - 4
        self.columns = [cut(name, room) for name in chart.columns]
        self.names = max([0.0, *map(width_of, self.columns)]) + 8 if self.turned else line_height()
        self.head = wrapped(" · ".join(_heading(chart)), width)
        self.lines = _lines(chart, self.cell)
        self.row = max(18.0, min(HIGH, max(self.cell * 0.7, self.lines * 15.0 + 10)))
        self.top = len(self.head) * line_height() + self.names + 4
        self.key = 40.0 if not self.lines and chart.rows and any(map(any, chart.texts)) else 0.0
        self.height = self.top + self.row * max(1, len(chart.rows)) + self.key + 4


def _heading(chart: Heatmap) -> list[str]:
    """What the rows are and what the columns are."""
    return [f"{words} {arrow}" for words, arrow in ((chart.up, "↓"), (chart.across, "→")) if words.strip()]


def _lines(chart: Heatmap, cell: float) -> int:
    """How many lines of the texts have room in a cell: all, only the first, or none."""
    texts = [text.split("\n") for row in chart.texts for text in row]
    most = max((len(lines) for lines in texts), default=0)
    for count in (most, 1):
        if all(width_of(line, SMALL) <= cell - 3 for lines in texts for line in lines[:count]):
            return count
    return 0


def heatmap_width(chart: Heatmap) -> float:
    """The least width at which everything can be read."""
    texts = max(
        (width_of(line, SMALL) for row in chart.texts for text in row for line in text.split("\n")), default=20.0
    )
    names = min(90.0, max(map(width_of, chart.rows), default=0.0))
    return max(170.0, names + 12 + max(1, len(chart.columns)) * max(34.0, texts + 10))


def heatmap_height(chart: Heatmap, width: float) -> float:
    """How high the chart is when it is so wide."""
    return _Plan(chart, width).height


def draw_heatmap(sheet: Sheet, chart: Heatmap, box: Box) -> None:
    """Draw the cells: the further from the low end, or from the middle of two ends, the more colour."""
    plan = _Plan(chart, box.width)
    inner = Box(left=box.left + plan.gutter, top=box.top + plan.top, width=plan.cell * max(1, len(chart.columns)),
                height=plan.row * max(1, len(chart.rows)))  # fmt: skip
    sheet.lines(box.left, box.top, plan.head)
    every = math.ceil(line_height() * 0.8 / plan.cell)  # where columns are closer than lines, some go without a name
    for number, name in enumerate(plan.columns):
        x = inner.left + (number + 0.5) * plan.cell
        if number % every:
            continue
        if plan.turned:
            sheet.text(x, inner.top - 6, name, turned=True)
        else:
            sheet.text(x, inner.top - 10, name, align="center")
    for number, name in enumerate(plan.rows):
        sheet.text(inner.left - 8, inner.top + (number + 0.5) * plan.row, name, align="right")
    frame = sheet.frame(inner, f"heatmap {chart.title}", (0, max(1, len(chart.columns))), (max(1, len(chart.rows)), 0))
    for row, values in enumerate(chart.values):
        for column, value in enumerate(values):
            colour, share = _paint(sheet, chart, value)
            frame.add_patch(
                Rectangle((column + 0.02, row + 0.02), 0.96, 0.96, facecolor=(colour, share),
                          edgecolor=sheet.palette.quiet, linewidth=0.75, clip_on=False)
            )  # fmt: skip
            lines = chart.texts[row][column].split("\n")[: plan.lines]
            _write(sheet, lines, inner.left + (column + 0.5) * plan.cell, inner.top + (row + 0.5) * plan.row)

    if plan.key:
        _draw_key(sheet, chart, inner.left, inner.bottom + 10)


def _draw_key(sheet: Sheet, chart: Heatmap, left: float, top: float) -> None:
    """What the colours mean, where there is no room for the numbers."""
    low, high = chart.value_range
    wide = scale((), ticks=2, wanted=chart.value_range)
    box = Box(left=left, top=top, width=150.0, height=12.0)
    frame = sheet.frame(box, "key", (0, KEY), (0, 1))
    for number in range(KEY):
        paint = _paint(sheet, chart, low + (high - low) * (number + 0.5) / KEY)
        frame.add_patch(Rectangle((number, 0), 1, 1, facecolor=paint, linewidth=0))
    for tick, label in zip(wide.ticks, wide.labels, strict=True):
        sheet.text(box.left + box.width * wide.share(tick), box.bottom + 11, label, align="center")


def _write(sheet: Sheet, lines: list[str], x: float, y: float) -> None:
    for number, line in enumerate(lines):
        sheet.text(
            x, y + (number - (len(lines) - 1) / 2) * 14, line, align="center", size=SMALL if number else SIZE - 1
        )


def _paint(sheet: Sheet, chart: Heatmap, value: float | None) -> tuple[str, float]:
    """The colour of a cell and how much of it; nothing for what is not known."""
    low, high = chart.value_range
    if value is None or math.isnan(value) or not low < high:
        return sheet.palette.ground, 0.0
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    if chart.kind == "sequential":
        return sheet.palette.high, round(share, 3)
    return (sheet.palette.high if share >= 0.5 else sheet.palette.below), round(abs(share - 0.5) * 2, 3)
