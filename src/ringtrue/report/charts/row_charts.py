"""Charts with a row for each name: bars, and forests of estimates with their intervals.

Bars lie, so that names can be read; they stand where there are no names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ringtrue.report.charts.axis_scales import MAX_DRAWABLE, Limits, clamp, keep_drawable, padded_limits, set_ticks
from ringtrue.report.charts.labels import spread_labels, widest
from ringtrue.report.charts.sheet import MARKERS, Panel, Sheet, line_height
from ringtrue.report.model import Bars, Forest, Series

MAX_NAME_SHARE = 0.4  # of the width is for names at most
STANDING_HEIGHT = 220.0  # pixels, of bars without names
MIN_NAMED_ROW = 15.0  # the height at which every row has room for a name


def draw_bars(sheet: Sheet, chart: Bars, width: float) -> Panel:
    """Draw them; the side of zero on which a bar lies has a colour of its own."""
    is_named = any(name.strip() for name in chart.names) or len(chart.names) <= 3
    return (_draw_lying_bars if is_named else _draw_standing_bars)(sheet, chart, width)


def draw_forest(sheet: Sheet, chart: Forest, width: float, *, names: bool = True) -> Panel:
    """Draw it; without `names` where its neighbour to the left has the same."""
    count = len(chart.names)
    first_series, each_further = (19.0, 8.0) if count > 20 else (24.0, 10.0)
    row_height = first_series + each_further * (max(1, len(chart.series)) - 1)
    left = names_width(sheet, chart.names, width) if names else 0.0
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


def names_width(sheet: Sheet, names: Iterable[str], width: float) -> float:
    """How much of the width the names of rows take."""
    return widest(sheet.shorten(name, width * MAX_NAME_SHARE) for name in names) + 12


def _draw_lying_bars(sheet: Sheet, chart: Bars, width: float) -> Panel:
    count = len(chart.names)
    row_height = 24.0 if count <= 12 else 17.0 if count <= 60 else max(4.0, 1020 / count)
    names = [sheet.shorten(name, width * MAX_NAME_SHARE) for name in chart.names]
    left = names_width(sheet, chart.names, width)
    panel = sheet.add_row_panel(width - left - 14, count, row_height, left=left, x=_value_limits(chart))
    axes = panel.axes
    rows = [row + 0.5 for row in range(count)]
    if row_height >= MIN_NAMED_ROW:
        panel.name_rows(names)
    else:
        _write_spread_names(panel, names)
    bars = _drawable_bars(chart)
    axes.barh(
        [rows[row] for row, _ in bars],
        [value for _, value in bars],
        height=0.72 if row_height > 6 else 0.85,
        color=_bar_colours(sheet, bars),
    )
    intervals = _drawable_intervals(chart, axes.get_xlim())
    for colour, line_width in _outline_strokes(sheet):
        ys, lows, highs = ([interval[part] for interval in intervals] for part in range(3))
        axes.hlines(ys, lows, highs, color=colour, linewidth=line_width)
    axes.axvline(0.0, color=sheet.palette.ink, linewidth=sheet.pixel)
    drawn_rows = {row for row, _ in bars}
    for row in range(count):
        if row not in drawn_rows and row_height >= MIN_NAMED_ROW:
            zero, y = panel.to_pixels(0.0, rows[row])
            panel.write(zero + 6, y, "–")
    panel.write_below(chart.across)
    return panel


def _write_spread_names(panel: Panel, names: list[str]) -> None:
    """Names that keep apart where rows are lower than lines, each with a line to its bar."""
    wanted = {row: panel.to_pixels(0.0, row + 0.5)[1] for row, name in enumerate(names) if name.strip()}
    places = spread_labels(list(wanted.values()), MIN_NAMED_ROW, 6, panel.height - 6)
    for (row, bar_y), y in zip(wanted.items(), places, strict=True):
        panel.write(-10, y, names[row], align="right")
        panel.axes.plot(
            [-8 / panel.width, 0],
            [1 - y / panel.height, 1 - bar_y / panel.height],
            transform=panel.axes.transAxes,
            color=panel.sheet.palette.ink,
            linewidth=0.75 * panel.sheet.pixel,
            clip_on=False,
        )


def _draw_standing_bars(sheet: Sheet, chart: Bars, width: float) -> Panel:
    count = len(chart.names)
    panel = sheet.add_panel(width, STANDING_HEIGHT, x=(0.0, float(count)), y=_value_limits(chart))
    axes = panel.axes
    panel.set_left(widest(set_ticks(axes.yaxis, 6)) + 10, right=2)
    axes.grid(axis="y", clip_on=False)
    axes.set_xticks([])
    bars = _drawable_bars(chart)
    axes.bar(
        [row + 0.5 for row, _ in bars],
        [value for _, value in bars],
        width=0.85 if count > 60 else 0.72,
        color=_bar_colours(sheet, bars),
    )
    intervals = _drawable_intervals(chart, axes.get_ylim())
    for colour, line_width in _outline_strokes(sheet):
        xs, lows, highs = ([interval[part] for interval in intervals] for part in range(3))
        axes.vlines(xs, lows, highs, color=colour, linewidth=line_width)
    axes.axhline(0.0, color=sheet.palette.ink, linewidth=sheet.pixel)
    panel.top, panel.bottom = 8.0, 8.0
    panel.write_above(chart.across, within=width)
    return panel


def _outline_strokes(sheet: Sheet) -> tuple[tuple[str, float], ...]:
    """A line that is seen on a bar and beside it: first what lies around it, then itself."""
    return (sheet.palette.ground, 4.5 * sheet.pixel), (sheet.palette.ink, 1.5 * sheet.pixel)


def _value_limits(chart: Bars) -> Limits:
    """Bars begin at zero, so zero is on the scale."""
    return padded_limits([0.0, *chart.values, *chart.low, *chart.high])


def _drawable_bars(chart: Bars) -> list[tuple[int, float]]:
    """Which bars there are, and how long."""
    limits = (-MAX_DRAWABLE, MAX_DRAWABLE)
    return [
        (row, clamp(value, limits))
        for row, value in enumerate(chart.values)
        if value is not None and not math.isnan(value)
    ]


def _bar_colours(sheet: Sheet, bars: list[tuple[int, float]]) -> list[str]:
    return [sheet.series_colour(1 if value >= 0 else 0) for _, value in bars]


def _drawable_intervals(chart: Bars, limits: Limits) -> list[tuple[float, float, float]]:
    """Where each interval stands, and its ends as far as they are on the scale."""
    return [
        (row + 0.5, clamp(low, limits), clamp(high, limits))
        for row, (low, high) in enumerate(zip(chart.low, chart.high, strict=True))
        if low is not None and high is not None and keep_drawable([low, high])
    ]


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
