"""Estimates with intervals, a row for each name."""

from __future__ import annotations

import math
from typing import Any

from ringtrue.report.charts.axis_scales import Limits, clamp, keep_drawable, padded_limits
from ringtrue.report.charts.labels import widest
from ringtrue.report.charts.sheet import MARKERS, Panel, Sheet, line_height
from ringtrue.report.model import Forest, Series

MAX_NAME_SHARE = 0.4  # of the width is for names at most


def names_width(sheet: Sheet, chart: Forest, width: float) -> float:
    """How much of the width the names take."""
    return widest(sheet.shorten(name, width * MAX_NAME_SHARE) for name in chart.names) + 12


def draw_forest(sheet: Sheet, chart: Forest, width: float, *, names: bool = True) -> Panel:
    """Draw it; without `names` where its neighbour to the left has the same."""
    count = len(chart.names)
    first_series, each_further = (19.0, 8.0) if count > 20 else (24.0, 10.0)
    row_height = first_series + each_further * (max(1, len(chart.series)) - 1)
    left = names_width(sheet, chart, width) if names else 0.0
    # more where names are short
    max_mark_width = max(0.25 * width, min(0.4 * width, 0.55 * width - left))
    marks = [sheet.shorten(mark, max_mark_width) for mark in chart.marks]
    right = widest(marks) + 14 if any(marks) else 14.0
    panel = sheet.add_row_panel(width - left - right, count, row_height, left=left, x=_forest_limits(chart))
    panel.name_rows([sheet.shorten(name, width * MAX_NAME_SHARE) for name in chart.names if names])
    _draw_bands(panel, count, row_height, right)
    if chart.at is not None:
        panel.axes.axvline(chart.at, **sheet.reference_style())
    styles = [_series_style(sheet, chart, number) for number in range(len(chart.series))]
    for number, (series, style) in enumerate(zip(chart.series, styles, strict=True)):
        offset = (number - (len(chart.series) - 1) / 2) * (10.0 if row_height > 30 else 9.0) / row_height
        _draw_series(panel, series, 0.5 + offset, style)

    panel.write_below(chart.across)
    if any(marks):
        _write_marks(panel, marks, right)
        panel.top += line_height() if chart.marks_title else 0.0
        title = sheet.shorten(chart.marks_title, width * 0.4)
        panel.write(panel.width + right - 2, line_height() / 2 - panel.top, title, align="right")
    if len(chart.series) > 1 and names:
        panel.add_legend(
            [(series.name, style) for series, style in zip(chart.series, styles, strict=True)], within=width
        )
    return panel


def _draw_bands(panel: Panel, count: int, row_height: float, right: float) -> None:
    """Every second row a little apart from the others, from margin to margin, so that the eye stays in its row."""
    panel.axes.hlines(
        [row + 0.5 for row in range(1, count, 2)],
        -panel.left / panel.width,
        1 + right / panel.width,
        transform=panel.axes.get_yaxis_transform(),
        color=panel.sheet.palette.raised,
        linewidth=row_height * panel.sheet.pixel,
        zorder=0,
        clip_on=False,
    )


def _write_marks(panel: Panel, marks: list[str], right: float) -> None:
    """Words at the ends of rows: numbers end below each other, words begin so."""
    are_numbers = all(not mark or mark[0].isdigit() for mark in marks)
    x = panel.width + (right - 2 if are_numbers else 12)
    for row, mark in enumerate(marks):
        panel.write(x, panel.to_pixels(0.0, row + 0.5)[1], mark, align="right" if are_numbers else "left")


def _draw_series(panel: Panel, series: Series, offset: float, style: dict[str, Any]) -> None:
    limits = panel.axes.get_xlim()
    known = [
        (row + offset, estimate, estimate.value)
        for row, estimate in enumerate(series.values)
        if estimate is not None and estimate.value is not None
    ]
    intervals = [
        (y, clamp(estimate.low, limits), clamp(estimate.high, limits))
        for y, estimate, _ in known
        if estimate.low is not None and estimate.high is not None and not math.isnan(estimate.low + estimate.high)
    ]
    panel.axes.hlines(
        [y for y, _, _ in intervals],
        [low for _, low, _ in intervals],
        [high for _, _, high in intervals],
        color=style["color"],
        linewidth=2 * panel.sheet.pixel,
        clip_on=False,
    )
    dots = [(clamp(value, limits), y) for y, _, value in known if math.isfinite(value)]
    panel.axes.plot(
        [x for x, _ in dots], [y for _, y in dots], **style | {"linestyle": "none"}, label=series.name, clip_on=False
    )


def _forest_limits(chart: Forest) -> Limits:
    """Far ends of a few intervals must not press all the others together."""
    estimates = [
        estimate for series in chart.series for estimate in series.values if estimate and estimate.value is not None
    ]
    values = keep_drawable(estimate.value for estimate in estimates)
    ends = keep_drawable(end for estimate in estimates for end in (estimate.low, estimate.high))
    if values and ends:
        middle, span = (min(values) + max(values)) / 2, max(values) - min(values)
        lengths = sorted(abs(end - middle) for end in ends)
        reach = max(span, 6 * lengths[len(lengths) // 2])
        ends = [clamp(end, (middle - reach, middle + reach)) for end in ends]
    return padded_limits([*values, *ends, chart.at])


def _series_style(sheet: Sheet, chart: Forest, number: int) -> dict[str, Any]:
    """What is raw is hollow and what was corrected filled, so that they differ without colour too."""
    is_alone = len(chart.series) == 1
    colour = sheet.series_colour(1 if is_alone else number)
    return {
        "color": colour,
        "marker": MARKERS[number % len(MARKERS)],
        "markerfacecolor": sheet.palette.ground if number == 0 and not is_alone else colour,
        "markeredgewidth": 1.75 * sheet.pixel,
    }
