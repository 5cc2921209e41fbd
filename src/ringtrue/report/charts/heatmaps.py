"""A coloured cell for each row and column, and what stands in it."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize

from ringtrue.report.charts.labels import text_width, widest
from ringtrue.report.charts.sheet import Panel, Sheet, line_height
from ringtrue.report.model import Heatmap

MAX_NAME_SHARE = 0.34  # of the width is for the names of rows at most
SMALL_SIZE, MAX_CELL_WIDTH, MAX_CELL_HEIGHT = 11.0, 84.0, 46.0  # letters in cells, and the most that a cell takes
CELL_LINE_HEIGHT = 14.0  # pixels
KEY_COLOURS, KEY_WIDTH, KEY_HEIGHT = 10, 150.0, 12.0
MAX_TURNED_HEIGHT = 84.0  # how high names of columns may stand when they are turned


def heatmap_width(chart: Heatmap) -> float:
    """The least width at which everything can be read."""
    widest_text = widest((line for row in chart.texts for text in row for line in text.split("\n")), SMALL_SIZE) or 20.0
    return max(170.0, min(90.0, widest(chart.rows)) + 12 + max(1, len(chart.columns)) * max(34.0, widest_text + 10))


def draw_heatmap(sheet: Sheet, chart: Heatmap, width: float) -> Panel:
    """Draw the cells: the further from the low end, or from the middle of two ends, the more colour."""
    row_count, column_count = max(1, len(chart.rows)), max(1, len(chart.columns))
    row_names = [sheet.shorten(name, width * MAX_NAME_SHARE) for name in chart.rows]
    left = widest(row_names) + 10
    cell_width = max(8.0, min(MAX_CELL_WIDTH, (width - left - 2) / column_count))
    lines_shown = _lines_that_fit(chart, cell_width)
    cell_height = max(18.0, min(MAX_CELL_HEIGHT, max(cell_width * 0.7, lines_shown * 15.0 + 10)))
    panel = sheet.add_panel(
        cell_width * column_count, cell_height * row_count, left=left, x=(0.0, column_count), y=(row_count, 0.0)
    )
    panel.name_rows(row_names)
    panel.top = _name_columns(panel, chart, cell_width)
    panel.bottom = 4.0
    if chart.rows and chart.columns:
        low, high = chart.value_range
        values = np.array(chart.values, dtype=np.float64)
        mesh = panel.axes.pcolormesh(
            values if low < high else np.full_like(values, np.nan),
            cmap=_colours(sheet, chart),
            norm=Normalize(low, high),
            edgecolors=sheet.palette.quiet,
            linewidth=sheet.pixel,
            clip_on=False,
        )
        for row, texts in enumerate(chart.texts):
            for column, text in enumerate(texts):
                _write_cell(
                    panel, text.split("\n")[:lines_shown], (column + 0.5) * cell_width, (row + 0.5) * cell_height
                )
        if not lines_shown and any(map(any, chart.texts)) and low < high:
            _draw_colour_key(panel, mesh)
    titles = [f"{title} {arrow}" for title, arrow in ((chart.up, "↓"), (chart.across, "→")) if title.strip()]
    panel.write_above(" · ".join(titles), within=width)
    return panel


def _lines_that_fit(chart: Heatmap, cell_width: float) -> int:
    """How many lines of the texts have room in a cell: all, only the first, or none."""
    texts = [text.split("\n") for row in chart.texts for text in row]
    max_lines = max((len(lines) for lines in texts), default=0)
    for count in (max_lines, 1):
        if widest((line for lines in texts for line in lines[:count]), SMALL_SIZE) <= cell_width - 3:
            return count
    return 0


def _name_columns(panel: Panel, chart: Heatmap, cell_width: float) -> float:
    """Write the names of the columns above them, turned where they are wider; returns how high they are."""
    is_turned = any(text_width(name) > cell_width - 6 for name in chart.columns)
    max_width = MAX_TURNED_HEIGHT if is_turned else cell_width - 4
    names = [panel.sheet.shorten(name, max_width) for name in chart.columns]
    # where columns are closer than lines, some go without a name
    step = math.ceil(line_height() * 0.8 / cell_width)
    panel.axes.set_xticks([column + 0.5 for column in range(len(names))][::step], labels=names[::step])
    panel.axes.tick_params(
        axis="x", labeltop=True, labelbottom=False, labelrotation=90 if is_turned else 0, pad=4 * panel.sheet.pixel
    )
    return widest(names) + 12 if is_turned else line_height() + 4


def _write_cell(panel: Panel, lines: list[str], x: float, y: float) -> None:
    for number, line in enumerate(lines):
        line_y = y + (number - (len(lines) - 1) / 2) * CELL_LINE_HEIGHT
        panel.write(x, line_y, line, align="center", size=SMALL_SIZE)


def _colours(sheet: Sheet, chart: Heatmap) -> Colormap:
    """From nothing to much of a colour, or from much of one over nothing to much of the other."""
    high, below = sheet.palette.high, sheet.palette.below
    ends = [(0.0, (high, 0.0)), (1.0, (high, 1.0))]
    if chart.kind == "diverging":
        ends = [(0.0, (below, 1.0)), (0.5, (below, 0.0)), (0.5, (high, 0.0)), (1.0, (high, 1.0))]
    return LinearSegmentedColormap.from_list(chart.kind, ends, N=201)


def _draw_colour_key(panel: Panel, mesh: QuadMesh) -> None:
    """What the colours mean, where there is no room for the numbers."""
    key_top = panel.height + panel.bottom + 6 + KEY_HEIGHT
    box = (0.0, 1 - key_top / panel.height, KEY_WIDTH / panel.width, KEY_HEIGHT / panel.height)
    low, high = mesh.get_clim()
    key = panel.sheet.mpl_figure.colorbar(
        mesh,
        cax=panel.axes.inset_axes(box),
        orientation="horizontal",
        boundaries=np.linspace(low, high, KEY_COLOURS + 1),
        drawedges=False,
    )
    key.outline.set_visible(False)
    key.set_ticks([low, (low + high) / 2, high])
    panel.bottom += 40.0
