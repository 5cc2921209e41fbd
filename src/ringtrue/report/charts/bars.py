"""A bar for each name: lying, so that names can be read; standing where there are no names."""

from __future__ import annotations

import math

from ringtrue.report.charts.axis_scales import MAX_DRAWABLE, clamp, keep_drawable, padded_limits, set_ticks
from ringtrue.report.charts.labels import spread_labels, widest
from ringtrue.report.charts.sheet import Panel, Sheet
from ringtrue.report.model import Bars

MAX_NAME_SHARE = 0.4  # of the width is for names at most
STANDING_HEIGHT = 220.0  # pixels
MIN_NAMED_ROW = 15.0  # the height at which every row has room for a name


def draw_bars(sheet: Sheet, chart: Bars, width: float) -> Panel:
    """Draw them; the side of zero on which a bar lies has a colour of its own."""
    is_named = any(name.strip() for name in chart.names) or len(chart.names) <= 3
    return (_draw_lying_bars if is_named else _draw_standing_bars)(sheet, chart, width)


def _draw_lying_bars(sheet: Sheet, chart: Bars, width: float) -> Panel:
    count = len(chart.names)
    row_height = 24.0 if count <= 12 else 17.0 if count <= 60 else max(4.0, 1020 / count)
    names = [sheet.shorten(name, width * MAX_NAME_SHARE) for name in chart.names]
    left = widest(names) + 12
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


def _value_limits(chart: Bars) -> tuple[float, float]:
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


def _drawable_intervals(chart: Bars, limits: tuple[float, float]) -> list[tuple[float, float, float]]:
    """Where each interval stands, and its ends as far as they are on the scale."""
    return [
        (row + 0.5, clamp(low, limits), clamp(high, limits))
        for row, (low, high) in enumerate(zip(chart.low, chart.high, strict=True))
        if low is not None and high is not None and keep_drawable([low, high])
    ]
