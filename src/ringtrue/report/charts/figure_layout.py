"""Charts of a figure on one sheet: beside each other where they fit, else below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.report.charts.bars import bars_height, draw_bars
from ringtrue.report.charts.canvas import Box, Sheet, line_height
from ringtrue.report.charts.forests import draw_forest, forest_height, names_width
from ringtrue.report.charts.heatmaps import draw_heatmap, heatmap_height, heatmap_width
from ringtrue.report.charts.lines import draw_lines, lines_height
from ringtrue.report.charts.points import draw_points, points_height
from ringtrue.report.charts.text_metrics import wrap
from ringtrue.report.model import Bars, Chart, Figure, Forest, Heatmap, Lines, Points

if TYPE_CHECKING:
    from ringtrue.report.charts.palettes import Palette

COLUMN_GAP, ROW_GAP = 28.0, 26.0  # between charts, beside and below each other
MIN_FRAME_WIDTH = 285.0  # the width at which a chart with a frame can be read
TITLE_SIZE = 13.0  # pixels


def draw_figure(figure: Figure, width: float, palette: Palette, *, single_font: bool) -> Sheet:
    """All charts of the figure on a sheet that is so wide and as high as they need."""
    rows = _arrange_in_rows(figure, width)
    title_heights = [max(placed_chart.title_height for placed_chart in row) for row in rows]
    heights = [
        title_height + max(placed_chart.height for placed_chart in row)
        for title_height, row in zip(title_heights, rows, strict=True)
    ]
    sheet = Sheet(width, max(40.0, sum(heights) + ROW_GAP * (len(rows) - 1) + 4), palette, single_font=single_font)
    top = 2.0
    for row, title_height, height in zip(rows, title_heights, heights, strict=True):
        for number, placed_chart in enumerate(row):
            _draw_placed_chart(
                sheet, placed_chart, top, title_height, left_neighbour=row[number - 1].chart if number else None
            )
        top += height + ROW_GAP
    return sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedChart:
    """A chart, where it begins, its title in lines, and how much room it takes."""

    chart: Chart
    left: float
    width: float
    title_lines: tuple[str, ...]
    height: float  # without its title

    @property
    def title_height(self) -> float:
        """How much room the title takes."""
        return len(self.title_lines) * line_height(TITLE_SIZE) + 8.0 if self.title_lines else 0.0


def _arrange_in_rows(figure: Figure, width: float) -> list[list[_PlacedChart]]:
    charts = figure.charts
    if not charts:
        return []
    min_width = max(
        min(width, heatmap_width(chart) if isinstance(chart, Heatmap) else MIN_FRAME_WIDTH) for chart in charts
    )
    max_columns = max(1, min(len(charts), int((width + COLUMN_GAP) // (min_width + COLUMN_GAP))))
    columns = -(-len(charts) // -(-len(charts) // max_columns))  # four are two and two, not three and one
    chart_width = (width - COLUMN_GAP * (columns - 1)) / columns
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    return [_place_row(row, chart_width, width) for row in rows]


def _place_row(row: tuple[Chart, ...], chart_width: float, width: float) -> list[_PlacedChart]:
    """Charts of one row, all as wide; forests with the same names write them once, and share what is left."""
    first = row[0]
    if isinstance(first, Forest) and len(row) > 1 and all(_have_same_names(first, chart) for chart in row[1:]):
        gutter = names_width(first, chart_width)
        plot_width = (width - gutter - COLUMN_GAP * (len(row) - 1)) / len(row)
        lefts = [0.0, *(gutter + number * (plot_width + COLUMN_GAP) for number in range(1, len(row)))]
        return [
            _place_chart(chart, left, plot_width if left else gutter + plot_width)
            for chart, left in zip(row, lefts, strict=True)
        ]
    return [_place_chart(chart, number * (chart_width + COLUMN_GAP), chart_width) for number, chart in enumerate(row)]


def _have_same_names(chart: Chart | None, other: Chart) -> bool:
    return isinstance(chart, Forest) and isinstance(other, Forest) and chart.names == other.names


def _place_chart(chart: Chart, left: float, width: float) -> _PlacedChart:
    title = tuple(wrap(chart.title, width, TITLE_SIZE, bold=True, max_lines=2))
    return _PlacedChart(chart=chart, left=left, width=width, title_lines=title, height=_chart_height(chart, width))


def _chart_height(chart: Chart, width: float) -> float:
    match chart:
        case Forest():
            return forest_height(chart, width)
        case Bars():
            return bars_height(chart, width)
        case Lines():
            return lines_height(chart, width)
        case Heatmap():
            return heatmap_height(chart, width)
        case Points():
            return points_height(chart, width)


def _draw_placed_chart(
    sheet: Sheet, placed_chart: _PlacedChart, top: float, title_height: float, left_neighbour: Chart | None
) -> None:
    sheet.draw_text_lines(placed_chart.left, top, list(placed_chart.title_lines), bold=True, size=TITLE_SIZE)
    box = Box(left=placed_chart.left, top=top + title_height, width=placed_chart.width, height=placed_chart.height)
    match placed_chart.chart:
        case Forest() as chart:
            draw_forest(sheet, chart, box, names=not _have_same_names(left_neighbour, chart))
        case Bars() as chart:
            draw_bars(sheet, chart, box)
        case Lines() as chart:
            draw_lines(sheet, chart, box)
        case Heatmap() as chart:
            draw_heatmap(sheet, chart, box)
        case Points() as chart:
            draw_points(sheet, chart, box)
