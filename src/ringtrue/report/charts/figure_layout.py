"""Charts of a figure on one sheet: beside each other where they fit, else below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.report.charts.bars import bars_height, draw_bars
from ringtrue.report.charts.forests import draw_forest, forest_height, names_width
from ringtrue.report.charts.heatmaps import draw_heatmap, heatmap_height, heatmap_width
from ringtrue.report.charts.lines import draw_lines, lines_height
from ringtrue.report.charts.points import draw_points, points_height
from ringtrue.report.charts.sheet import Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import wrapped
from ringtrue.report.model import Bars, Chart, Figure, Forest, Heatmap, Lines, Points

if TYPE_CHECKING:
    from ringtrue.report.charts.palettes import Palette

__all__ = ["drawn"]

GAP, BELOW = 28.0, 26.0  # between charts, beside and below each other
LEAST = 285.0  # the width at which a chart with a frame can be read
TITLE = 13.0  # pixels


def drawn(figure: Figure, width: float, palette: Palette, *, plain: bool) -> Sheet:
    """All charts of the figure on a sheet that is so wide and as high as they need."""
    rows = _rows(figure, width)
    heads = [max(one.head for one in row) for row in rows]
    heights = [head + max(one.height for one in row) for head, row in zip(heads, rows, strict=True)]
    sheet = Sheet(width, max(40.0, sum(heights) + BELOW * (len(rows) - 1) + 4), palette, plain=plain)
    top = 2.0
    for row, head, height in zip(rows, heads, heights, strict=True):
        for number, one in enumerate(row):
            _draw(sheet, one, top, head, before=row[number - 1].chart if number else None)
        top += height + BELOW
    return sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A chart, where it begins, its title in lines, and how much room it takes."""

    chart: Chart
    left: float
    width: float
    title: tuple[str, ...]
    height: float  # without its title

    @property
    def head(self) -> float:
        """How much room the title takes."""
        return len(self.title) * line_height(TITLE) + 8.0 if self.title else 0.0


def _rows(figure: Figure, width: float) -> list[list[_Placed]]:
    charts = figure.charts
    if not charts:
        return []
    least = max(min(width, heatmap_width(one) if isinstance(one, Heatmap) else LEAST) for one in charts)
    most = max(1, min(len(charts), int((width + GAP) // (least + GAP))))
    columns = -(-len(charts) // -(-len(charts) // most))  # four are two and two, not three and one
    each = (width - GAP * (columns - 1)) / columns
    rows = [charts[begin : begin + columns] for begin in range(0, len(charts), columns)]
    return [_side_by_side(row, each, width) for row in rows]


def _side_by_side(row: tuple[Chart, ...], each: float, width: float) -> list[_Placed]:
    """Charts of one row, all as wide; forests with the same names write them once, and share what is left."""
    first = row[0]
    if isinstance(first, Forest) and len(row) > 1 and all(_same_names(first, one) for one in row[1:]):
        gutter = names_width(first, each)
        share = (width - gutter - GAP * (len(row) - 1)) / len(row)
        lefts = [0.0, *(gutter + number * (share + GAP) for number in range(1, len(row)))]
        return [_placed(one, left, share if left else gutter + share) for one, left in zip(row, lefts, strict=True)]
    return [_placed(one, number * (each + GAP), each) for number, one in enumerate(row)]


def _same_names(chart: Chart | None, other: Chart) -> bool:
    return isinstance(chart, Forest) and isinstance(other, Forest) and chart.names == other.names


def _placed(chart: Chart, left: float, width: float) -> _Placed:
    title = tuple(wrapped(chart.title, width, TITLE, bold=True, most=2))
    return _Placed(chart=chart, left=left, width=width, title=title, height=_height(chart, width))


def _height(chart: Chart, width: float) -> float:
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


def _draw(sheet: Sheet, placed: _Placed, top: float, head: float, before: Chart | None) -> None:
    sheet.lines(placed.left, top, list(placed.title), bold=True, size=TITLE)
    box = Box(left=placed.left, top=top + head, width=placed.width, height=placed.height)
    match placed.chart:
        case Forest() as chart:
            draw_forest(sheet, chart, box, names=not _same_names(before, chart))
        case Bars() as chart:
            draw_bars(sheet, chart, box)
        case Lines() as chart:
            draw_lines(sheet, chart, box)
        case Heatmap() as chart:
            draw_heatmap(sheet, chart, box)
        case Points() as chart:
            draw_points(sheet, chart, box)
