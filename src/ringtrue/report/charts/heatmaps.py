"""A coloured cell for each row and column, and what stands in it."""

from __future__ import annotations

import math

from matplotlib.patches import Rectangle

from ringtrue.report.charts.axis_scales import make_linear_scale
from ringtrue.report.charts.canvas import Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import FONT_SIZE, shorten, text_width, wrap
from ringtrue.report.model import Heatmap

MAX_NAME_SHARE = 0.34  # of the width is for the names of rows at most
SMALL_SIZE, MAX_CELL_WIDTH, MAX_CELL_HEIGHT = 11.0, 84.0, 46.0  # letters in cells, and the most that a cell takes
KEY_COLOURS = 10  # colours in the key
MAX_TURNED_HEIGHT = 84.0  # how high names of columns may stand when they are turned


class _HeatmapLayout:
    """Where the parts of a heatmap go when it is so wide."""

    def __init__(self, chart: Heatmap, width: float) -> None:
        column_count = max(1, len(chart.columns))
        self.row_names = [shorten(name, width * MAX_NAME_SHARE) for name in chart.rows]
        self.gutter = max([0.0, *map(text_width, self.row_names)]) + 10
        self.cell_width = max(8.0, min(MAX_CELL_WIDTH, (width - self.gutter - 2) / column_count))
        self.is_turned = any(text_width(name) > self.cell_width - 6 for name in chart.columns)
        max_name_width = MAX_TURNED_HEIGHT if self.is_turned else self.cell_width - 4
        self.column_names = [shorten(name, max_name_width) for name in chart.columns]
        self.names_height = max([0.0, *map(text_width, self.column_names)]) + 8 if self.is_turned else line_height()
        self.title_lines = wrap(" · ".join(_axis_titles(chart)), width)
        self.cell_lines = _lines_that_fit(chart, self.cell_width)
        self.row_height = max(18.0, min(MAX_CELL_HEIGHT, max(self.cell_width * 0.7, self.cell_lines * 15.0 + 10)))
        self.top = len(self.title_lines) * line_height() + self.names_height + 4
        self.key_height = 40.0 if not self.cell_lines and chart.rows and any(map(any, chart.texts)) else 0.0
        self.height = self.top + self.row_height * max(1, len(chart.rows)) + self.key_height + 4


def _axis_titles(chart: Heatmap) -> list[str]:
    """What the rows are and what the columns are."""
    return [f"{title} {arrow}" for title, arrow in ((chart.up, "↓"), (chart.across, "→")) if title.strip()]


def _lines_that_fit(chart: Heatmap, cell_width: float) -> int:
    """How many lines of the texts have room in a cell: all, only the first, or none."""
    texts = [text.split("\n") for row in chart.texts for text in row]
    max_lines = max((len(lines) for lines in texts), default=0)
    for count in (max_lines, 1):
        if all(text_width(line, SMALL_SIZE) <= cell_width - 3 for lines in texts for line in lines[:count]):
            return count
    return 0


def heatmap_width(chart: Heatmap) -> float:
    """The least width at which everything can be read."""
    widest_text = max(
        (text_width(line, SMALL_SIZE) for row in chart.texts for text in row for line in text.split("\n")), default=20.0
    )
    name_width = min(90.0, max(map(text_width, chart.rows), default=0.0))
    return max(170.0, name_width + 12 + max(1, len(chart.columns)) * max(34.0, widest_text + 10))


def heatmap_height(chart: Heatmap, width: float) -> float:
    """How high the chart is when it is so wide."""
    return _HeatmapLayout(chart, width).height


def draw_heatmap(sheet: Sheet, chart: Heatmap, box: Box) -> None:
    """Draw the cells: the further from the low end, or from the middle of two ends, the more colour."""
    layout = _HeatmapLayout(chart, box.width)
    inner = Box(
        left=box.left + layout.gutter,
        top=box.top + layout.top,
        width=layout.cell_width * max(1, len(chart.columns)),
        height=layout.row_height * max(1, len(chart.rows)),
    )
    sheet.draw_text_lines(box.left, box.top, layout.title_lines)
    # where columns are closer than lines, some go without a name
    label_step = math.ceil(line_height() * 0.8 / layout.cell_width)
    for number, name in enumerate(layout.column_names):
        x = inner.left + (number + 0.5) * layout.cell_width
        if number % label_step:
            continue
        if layout.is_turned:
            sheet.draw_text(x, inner.top - 6, name, turned=True)
        else:
            sheet.draw_text(x, inner.top - 10, name, align="center")
    for number, name in enumerate(layout.row_names):
        sheet.draw_text(inner.left - 8, inner.top + (number + 0.5) * layout.row_height, name, align="right")
    axes = sheet.add_axes(
        inner, f"heatmap {chart.title}", (0, max(1, len(chart.columns))), (max(1, len(chart.rows)), 0)
    )
    for row, values in enumerate(chart.values):
        for column, value in enumerate(values):
            colour, opacity = _cell_colour(sheet, chart, value)
            axes.add_patch(
                Rectangle(
                    (column + 0.02, row + 0.02),
                    0.96,
                    0.96,
                    facecolor=(colour, opacity),
                    edgecolor=sheet.palette.quiet,
                    linewidth=0.75,
                    clip_on=False,
                )
            )
            lines = chart.texts[row][column].split("\n")[: layout.cell_lines]
            _draw_cell_text(
                sheet,
                lines,
                inner.left + (column + 0.5) * layout.cell_width,
                inner.top + (row + 0.5) * layout.row_height,
            )

    if layout.key_height:
        _draw_colour_key(sheet, chart, inner.left, inner.bottom + 10)


def _draw_colour_key(sheet: Sheet, chart: Heatmap, left: float, top: float) -> None:
    """What the colours mean, where there is no room for the numbers."""
    low, high = chart.value_range
    key_scale = make_linear_scale((), ticks=2, limits=chart.value_range)
    box = Box(left=left, top=top, width=150.0, height=12.0)
    axes = sheet.add_axes(box, "key", (0, KEY_COLOURS), (0, 1))
    for number in range(KEY_COLOURS):
        facecolor = _cell_colour(sheet, chart, low + (high - low) * (number + 0.5) / KEY_COLOURS)
        axes.add_patch(Rectangle((number, 0), 1, 1, facecolor=facecolor, linewidth=0))
    for tick, label in zip(key_scale.ticks, key_scale.labels, strict=True):
        sheet.draw_text(box.left + box.width * key_scale.fraction(tick), box.bottom + 11, label, align="center")


def _draw_cell_text(sheet: Sheet, lines: list[str], x: float, y: float) -> None:
    for number, line in enumerate(lines):
        sheet.draw_text(
            x,
            y + (number - (len(lines) - 1) / 2) * 14,
            line,
            align="center",
            size=SMALL_SIZE if number else FONT_SIZE - 1,
        )


def _cell_colour(sheet: Sheet, chart: Heatmap, value: float | None) -> tuple[str, float]:
    """The colour of a cell and how much of it; nothing for what is not known."""
    low, high = chart.value_range
    if value is None or math.isnan(value) or not low < high:
        return sheet.palette.ground, 0.0
    position = min(1.0, max(0.0, (value - low) / (high - low)))
    if chart.kind == "sequential":
        return sheet.palette.high, round(position, 3)
    return (sheet.palette.high if position >= 0.5 else sheet.palette.below), round(abs(position - 0.5) * 2, 3)
