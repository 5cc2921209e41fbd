"""Estimates with intervals, a row for each name."""

from __future__ import annotations

import math

from ringtrue.report.charts.axis_scales import AxisScale, keep_drawable, make_linear_scale
from ringtrue.report.charts.canvas import MARKERS, PIXEL, Box, Sheet, line_height
from ringtrue.report.charts.legends import Sample, draw_legend, legend_height
from ringtrue.report.charts.text_metrics import shorten, text_width, wrap
from ringtrue.report.model import Forest, Series
from ringtrue.stats.results import Estimate

PAD = 6.0  # above the first row and below the last
TALL_HEIGHT = 480.0  # a chart whose scale is out of sight when its first row is seen
MAX_NAME_SHARE = 0.4  # of the width is for names at most


def _forest_row_height(chart: Forest) -> float:
    """How high a row is; less where there are many."""
    first_series, each_further = (19.0, 8.0) if len(chart.names) > 20 else (24.0, 10.0)
    return first_series + each_further * (max(1, len(chart.series)) - 1)


def _legend_names(chart: Forest) -> list[str]:
    return [series.name for series in chart.series] if len(chart.series) > 1 else []


def _is_forest_tall(chart: Forest) -> bool:
    return _forest_row_height(chart) * len(chart.names) > TALL_HEIGHT


def _forest_head_height(chart: Forest, width: float) -> float:
    lines = int(_is_forest_tall(chart)) + int(any(chart.marks) and bool(chart.marks_title))
    return legend_height(_legend_names(chart), width) + lines * line_height()


def forest_height(chart: Forest, width: float) -> float:
    """How high the chart is when it is so wide."""
    title_height = len(wrap(chart.across, width * 0.6)) * line_height()
    return (
        _forest_head_height(chart, width)
        + _forest_row_height(chart) * max(1, len(chart.names))
        + 2 * PAD
        + 26
        + title_height
    )


def names_width(chart: Forest, width: float) -> float:
    """How much of the width the names take."""
    return max((text_width(shorten(name, width * MAX_NAME_SHARE)) for name in chart.names), default=0.0) + 12


def draw_forest(sheet: Sheet, chart: Forest, box: Box, *, names: bool = True) -> None:
    """Draw it; without `names` where its neighbour to the left has the same."""
    head_height, row_height = _forest_head_height(chart, box.width), _forest_row_height(chart)
    gutter = names_width(chart, box.width) if names else 0.0
    labels = [shorten(name, box.width * MAX_NAME_SHARE) for name in chart.names]
    # more where names are short
    max_mark_width = max(0.25 * box.width, min(0.4 * box.width, 0.55 * box.width - gutter))
    marks = [shorten(mark, max_mark_width) for mark in chart.marks]
    title = shorten(chart.marks_title, box.width * 0.4) if any(marks) else ""
    margin = max(10.0, max(map(text_width, marks), default=0.0) + 14 if any(marks) else 0.0)
    inner = Box(
        left=box.left + gutter,
        top=box.top + head_height,
        width=max(40.0, box.width - gutter - margin),
        height=row_height * max(1, len(chart.names)) + 2 * PAD,
    )
    x_scale = _forest_scale(chart, inner.width)
    draw_legend(
        sheet, _legend_samples(sheet, chart) if _legend_names(chart) and names else [], box.left, box.top, box.width
    )
    sheet.draw_bands(Box(left=box.left, top=inner.top + PAD, width=box.width, height=0), row_height, len(chart.names))
    sheet.draw_bottom_scale(inner, x_scale, above=_is_forest_tall(chart))
    if chart.at is not None and x_scale.contains(chart.at):
        x = inner.left + inner.width * x_scale.fraction(chart.at)
        sheet.draw_line((x, x), (inner.top, inner.bottom), width=1.25, dash=(0, (4, 3)), behind=True)
    for number in range(len(chart.names)):
        y = inner.top + PAD + (number + 0.5) * row_height
        if names:
            sheet.draw_text(inner.left - 10, y, labels[number], align="right")
        if number < len(marks):
            is_right_aligned = all(_is_number(mark) for mark in marks)
            sheet.draw_text(
                box.right - 2 if is_right_aligned else inner.right + 12,
                y,
                marks[number],
                align="right" if is_right_aligned else "left",
            )
    sheet.draw_text(
        box.right - 2, inner.top - (8 + line_height() if _is_forest_tall(chart) else 8), title, align="right"
    )
    sheet.draw_text_lines(
        inner.left + inner.width / 2, inner.bottom + 22, wrap(chart.across, inner.width), align="center"
    )
    y_limits = (len(chart.names) + PAD / row_height, -PAD / row_height) if chart.names else (1.0, 0.0)
    axes = sheet.add_axes(inner, f"forest {chart.across}", (x_scale.low, x_scale.high), y_limits)
    for series_number, series in enumerate(chart.series):
        centre = 0.5 + (series_number - (len(chart.series) - 1) / 2) * (10.0 if row_height > 30 else 9.0) / row_height
        colour, marker, hollow = _series_style(sheet, chart, series_number)
        intervals = [_clamped_interval(estimate, x_scale) for estimate in series.values]
        ys = [number + centre for number, interval in enumerate(intervals) if interval]
        axes.hlines(
            ys,
            [interval[0] for interval in intervals if interval],
            [interval[1] for interval in intervals if interval],
            color=colour,
            linewidth=2 * PIXEL,
            label=f"intervals of {series.name}",
            clip_on=False,
        )
        dots = [
            (x_scale.clamp(estimate.value), number + centre)
            for number, estimate in enumerate(series.values)
            if estimate is not None and estimate.value is not None and math.isfinite(estimate.value)
        ]
        axes.plot(
            [x for x, _ in dots],
            [y for _, y in dots],
            linestyle="none",
            marker=marker,
            color=colour,
            markersize=7 * PIXEL,
            markerfacecolor=sheet.palette.ground if hollow else colour,
            markeredgewidth=1.75 * PIXEL,
            label=series.name,
            clip_on=False,
        )


def _is_number(mark: str) -> bool:
    return not mark or mark[0].isdigit()


def _forest_scale(chart: Forest, width: float) -> AxisScale:
    """Far ends of a few intervals must not press all the others together."""
    values = [number for series in chart.series for number in _drawable_numbers(series, "value")]
    ends = [number for series in chart.series for side in ("low", "high") for number in _drawable_numbers(series, side)]
    if values:
        middle, span = (min(values) + max(values)) / 2, max(values) - min(values)
        lengths = sorted(abs(end - middle) for end in ends)
        median_length = lengths[len(lengths) // 2] if lengths else 0.0
        reach = max(span, 6 * median_length)
        ends = [min(middle + reach, max(middle - reach, end)) for end in ends]
    return make_linear_scale([*values, *ends, chart.at], ticks=max(3, int(width // 72)))


def _drawable_numbers(series: Series, field: str) -> list[float]:
    return keep_drawable(
        getattr(estimate, field) for estimate in series.values if estimate is not None and estimate.value is not None
    )


def _clamped_interval(estimate: Estimate | None, x_scale: AxisScale) -> tuple[float, float] | None:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return None
    return x_scale.clamp(estimate.low), x_scale.clamp(estimate.high)


def _series_style(sheet: Sheet, chart: Forest, series_number: int) -> tuple[str, str, bool]:
    """What is raw is hollow and what was corrected filled, so that they differ without colour too."""
    if len(chart.series) == 1:
        return sheet.series_colour(1), MARKERS[0], False
    return sheet.series_colour(series_number), MARKERS[series_number % len(MARKERS)], series_number == 0


def _legend_samples(sheet: Sheet, chart: Forest) -> list[Sample]:
    styles = [_series_style(sheet, chart, series_number) for series_number in range(len(chart.series))]
    return [
        Sample(name=series.name, colour=colour, marker=marker, hollow=hollow)
        for series, (colour, marker, hollow) in zip(chart.series, styles, strict=True)
    ]
