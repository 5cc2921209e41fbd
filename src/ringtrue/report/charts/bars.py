"""A bar for each name: lying, so that names can be read; standing where there are no names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ringtrue.report.charts.axis_scales import MAX_DRAWABLE, AxisScale, keep_drawable, make_linear_scale
from ringtrue.report.charts.canvas import PIXEL, Box, Sheet, line_height
from ringtrue.report.charts.label_placement import spread_labels
from ringtrue.report.charts.text_metrics import shorten, text_width, wrap
from ringtrue.report.model import Bars

MAX_NAME_SHARE = 0.4  # of the width is for names at most
PAD = 4.0
STANDING_HEIGHT = 220.0  # pixels
TALL_HEIGHT = 480.0  # bars whose scale is out of sight when the first is seen


def _bar_row_height(chart: Bars) -> float:
    """How high a lying bar and its room are; names keep apart by themselves where it is less than a line."""
    bar_count = len(chart.names)
    return 24.0 if bar_count <= 12 else 17.0 if bar_count <= 60 else max(4.0, 1020 / bar_count)


def _is_named(chart: Bars) -> bool:
    return any(name.strip() for name in chart.names) or len(chart.names) <= 3


def _are_bars_tall(chart: Bars) -> bool:
    return _bar_row_height(chart) * len(chart.names) > TALL_HEIGHT


def bars_height(chart: Bars, width: float) -> float:
    """How high the chart is when it is so wide."""
    title_height = len(wrap(chart.across, width * 0.6)) * line_height()
    if _is_named(chart):
        top_scale_height = line_height() if _are_bars_tall(chart) else 0
        return top_scale_height + _bar_row_height(chart) * max(1, len(chart.names)) + 2 * PAD + 26 + title_height
    return title_height + 8 + STANDING_HEIGHT + 8


def draw_bars(sheet: Sheet, chart: Bars, box: Box) -> None:
    """Draw them; the side of zero on which a bar lies has a colour of its own."""
    (_draw_lying_bars if _is_named(chart) else _draw_standing_bars)(sheet, chart, box)


def _draw_lying_bars(sheet: Sheet, chart: Bars, box: Box) -> None:
    row_height = _bar_row_height(chart)
    labels = [shorten(name, box.width * MAX_NAME_SHARE) for name in chart.names]
    gutter = max(map(text_width, labels), default=0.0) + 12
    top = box.top + (line_height() if _are_bars_tall(chart) else 0)
    inner = Box(
        left=box.left + gutter,
        top=top,
        width=max(40.0, box.width - gutter - 14),
        height=row_height * max(1, len(chart.names)) + 2 * PAD,
    )
    x_scale = _bar_scale(chart, max(3, int(inner.width // 76)))
    sheet.draw_bottom_scale(inner, x_scale, above=_are_bars_tall(chart))
    sheet.draw_text_lines(
        inner.left + inner.width / 2, inner.bottom + 22, wrap(chart.across, inner.width), align="center"
    )
    labelled_rows = [number for number, name in enumerate(labels) if name.strip()]
    label_positions = [inner.top + PAD + (number + 0.5) * row_height for number in labelled_rows]
    for number, y in zip(
        labelled_rows,
        spread_labels(label_positions, 15.0, inner.top + 6, inner.bottom - 6) if row_height < 15 else label_positions,
        strict=True,
    ):
        sheet.draw_text(inner.left - 10, y, labels[number], align="right")
        if row_height < 15:
            sheet.draw_line(
                (inner.left - 8, inner.left), (y, inner.top + PAD + (number + 0.5) * row_height), width=0.75
            )
    y_limits = (len(chart.names) + PAD / row_height, -PAD / row_height) if chart.names else (1.0, 0.0)
    axes = sheet.add_axes(inner, f"bars {chart.across}", (x_scale.low, x_scale.high), y_limits)
    positions = [number + 0.5 for number in range(len(chart.names))]
    for colour_index, bars in _split_by_sign(chart.values, positions):
        axes.barh(
            [y for y, _ in bars],
            [value for _, value in bars],
            height=0.72 if row_height > 6 else 0.85,
            color=sheet.series_colour(colour_index),
            linewidth=0,
            label="bars",
        )
    intervals = _clamped_intervals(chart, positions, x_scale)
    for colour, line_width in _outline_strokes(sheet):
        axes.hlines(
            [y for y, _, _ in intervals],
            [low for _, low, _ in intervals],
            [high for _, _, high in intervals],
            color=colour,
            linewidth=line_width * PIXEL,
            label="intervals",
        )
    zero = inner.left + inner.width * x_scale.fraction(0.0)
    for number, value in enumerate(chart.values):
        if _is_missing(value) and row_height >= 15:
            sheet.draw_text(zero + 6, inner.top + PAD + (number + 0.5) * row_height, "–")
    sheet.draw_line((zero, zero), (inner.top, inner.bottom))


def _draw_standing_bars(sheet: Sheet, chart: Bars, box: Box) -> None:
    title = wrap(chart.across, box.width)
    y_scale = _bar_scale(chart, 5)
    gutter = max(map(text_width, y_scale.labels), default=0.0) + 10
    inner = Box(
        left=box.left + gutter,
        top=box.top + len(title) * line_height() + 8,
        width=box.width - gutter - 2,
        height=STANDING_HEIGHT,
    )
    sheet.draw_text_lines(box.left, box.top, title)
    sheet.draw_left_scale(inner, y_scale)
    axes = sheet.add_axes(inner, f"bars {chart.across}", (0.0, max(1, len(chart.names))), (y_scale.low, y_scale.high))
    positions = [number + 0.5 for number in range(len(chart.names))]
    for colour_index, bars in _split_by_sign(chart.values, positions):
        axes.bar(
            [x for x, _ in bars],
            [value for _, value in bars],
            width=0.85 if len(positions) > 60 else 0.72,
            color=sheet.series_colour(colour_index),
            linewidth=0,
            label="bars",
        )
    intervals = _clamped_intervals(chart, positions, y_scale)
    for colour, line_width in _outline_strokes(sheet):
        axes.vlines(
            [x for x, _, _ in intervals],
            [low for _, low, _ in intervals],
            [high for _, _, high in intervals],
            color=colour,
            linewidth=line_width * PIXEL,
            label="intervals",
        )
    zero = inner.bottom - inner.height * y_scale.fraction(0.0)
    sheet.draw_line((inner.left, inner.right), (zero, zero))


def _outline_strokes(sheet: Sheet) -> tuple[tuple[str, float], ...]:
    """A line that is seen on a bar and beside it: first what lies around it, then itself."""
    return (sheet.palette.ground, 4.5), (sheet.palette.ink, 1.5)


def _bar_scale(chart: Bars, ticks: int) -> AxisScale:
    """Bars begin at zero, so zero is on the scale."""
    return make_linear_scale([0.0, *chart.values, *chart.low, *chart.high], ticks=ticks)


def _is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _split_by_sign(
    values: Sequence[float | None], positions: Sequence[float]
) -> list[tuple[int, list[tuple[float, float]]]]:
    """The bars of either side of zero: the number of their colour, and where and how long each is."""
    bars = [
        (position, min(MAX_DRAWABLE, max(-MAX_DRAWABLE, value)))
        for position, value in zip(positions, values, strict=True)
        if value is not None and not math.isnan(value)
    ]
    return [(1, [bar for bar in bars if bar[1] >= 0]), (0, [bar for bar in bars if bar[1] < 0])]


def _clamped_intervals(
    chart: Bars, positions: Sequence[float], value_scale: AxisScale
) -> list[tuple[float, float, float]]:
    if not chart.low or not chart.high:
        return []
    return [
        (position, value_scale.clamp(low), value_scale.clamp(high))
        for position, low, high in zip(positions, chart.low, chart.high, strict=True)
        if low is not None and high is not None and keep_drawable([low, high])
    ]
