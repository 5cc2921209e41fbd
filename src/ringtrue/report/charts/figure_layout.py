"""Charts of a figure on one sheet: beside each other where they fit, else below."""

from __future__ import annotations

from ringtrue.report.charts.bars import draw_bars
from ringtrue.report.charts.forests import draw_forest, names_width
from ringtrue.report.charts.heatmaps import draw_heatmap, heatmap_width
from ringtrue.report.charts.sheet import Panel, Sheet
from ringtrue.report.charts.xy_charts import draw_lines, draw_points
from ringtrue.report.model import Bars, Chart, Figure, Forest, Heatmap, Lines, Points

COLUMN_GAP, ROW_GAP = 28.0, 26.0  # between charts, beside and below each other
MIN_FRAME_WIDTH = 285.0  # the width at which a chart with a frame can be read
MIN_HEIGHT = 40.0
TITLE_SIZE, TITLE_GAP = 13.0, 8.0


def draw_figure(sheet: Sheet, figure: Figure) -> None:
    """Draw all charts of the figure, and make the sheet as high as they need."""
    rows = _draw_rows(sheet, figure.charts)
    heads = [max(panel.top for _, panel in row) for row in rows]
    heights = [
        head + max(panel.height + panel.bottom for _, panel in row) for head, row in zip(heads, rows, strict=True)
    ]
    sheet.set_height(max(MIN_HEIGHT, sum(heights) + ROW_GAP * (len(rows) - 1) + 4))
    top = 2.0
    for row, head, height in zip(rows, heads, heights, strict=True):
        for left, panel in row:
            panel.place(left + panel.left, top + head)
        top += height + ROW_GAP


def _draw_rows(sheet: Sheet, charts: tuple[Chart, ...]) -> list[list[tuple[float, Panel]]]:
    """Rows of charts, where each begins, and what was drawn."""
    if not charts:
        return []
    min_width = max(
        min(sheet.width, heatmap_width(chart) if isinstance(chart, Heatmap) else MIN_FRAME_WIDTH) for chart in charts
    )
    max_columns = max(1, min(len(charts), int((sheet.width + COLUMN_GAP) // (min_width + COLUMN_GAP))))
    columns = -(-len(charts) // -(-len(charts) // max_columns))  # four are two and two, not three and one
    width = (sheet.width - COLUMN_GAP * (columns - 1)) / columns
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    return [_draw_forests(sheet, row, width) or _draw_row(sheet, row, width) for row in rows]


def _draw_row(sheet: Sheet, charts: tuple[Chart, ...], width: float) -> list[tuple[float, Panel]]:
    panels = [_draw_chart(sheet, chart, width) for chart in charts]
    return [(number * (width + COLUMN_GAP), panel) for number, panel in enumerate(panels)]


def _draw_forests(sheet: Sheet, charts: tuple[Chart, ...], width: float) -> list[tuple[float, Panel]]:
    """Forests beside each other that have the same names write them once and share what is left; else nothing."""
    forests = [chart for chart in charts if isinstance(chart, Forest)]
    if len(charts) < 2 or len(forests) < len(charts) or len({forest.names for forest in forests}) > 1:
        return []
    names = names_width(sheet, forests[0], width)
    plot_width = (sheet.width - names - COLUMN_GAP * (len(forests) - 1)) / len(forests)
    first, *others = forests
    return [(0.0, _draw_chart(sheet, first, names + plot_width))] + [
        (names + number * (plot_width + COLUMN_GAP), _draw_chart(sheet, forest, plot_width, names=False))
        for number, forest in enumerate(others, start=1)
    ]


def _draw_chart(sheet: Sheet, chart: Chart, width: float, *, names: bool = True) -> Panel:
    match chart:
        case Forest():
            panel = draw_forest(sheet, chart, width, names=names)
        case Bars():
            panel = draw_bars(sheet, chart, width)
        case Lines():
            panel = draw_lines(sheet, chart, width)
        case Heatmap():
            panel = draw_heatmap(sheet, chart, width)
        case Points():
            panel = draw_points(sheet, chart, width)
    if chart.title.strip():
        panel.top += TITLE_GAP
        panel.write_above(chart.title, within=width, size=TITLE_SIZE, bold=True, max_lines=2)
    return panel
