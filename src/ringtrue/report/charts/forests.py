"""Estimates with intervals, a row for each name."""

from __future__ import annotations

import math

from ringtrue.report.charts.axis_scales import Scale, finite, scale
from ringtrue.report.charts.legends import Sample, draw_legend, legend_height
from ringtrue.report.charts.sheet import MARKERS, PIXEL, Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import cut, width_of, wrapped
from ringtrue.report.model import Forest, Series
from ringtrue.stats.results import Estimate

__all__ = ["draw_forest", "forest_height", "names_width"]

PAD = 6.0  # above the first row and below the last
TALL = 480.0  # a chart whose scale is out of sight when its first row is seen
NAMES = 0.4  # of the width is for names at most


def _row(chart: Forest) -> float:
    """How high a row is; less where there are many."""
    single, more = (19.0, 8.0) if len(chart.names) > 20 else (24.0, 10.0)
    return single + more * (max(1, len(chart.series)) - 1)


def _legend(chart: Forest) -> list[str]:
    return [one.name for one in chart.series] if len(chart.series) > 1 else []


def _is_tall(chart: Forest) -> bool:
    return _row(chart) * len(chart.names) > TALL


def _head(chart: Forest, width: float) -> float:
    lines = int(_is_tall(chart)) + int(any(chart.marks) and bool(chart.marks_title))
    return legend_height(_legend(chart), width) + lines * line_height()


def forest_height(chart: Forest, width: float) -> float:
    """How high the chart is when it is so wide."""
    across = len(wrapped(chart.across, width * 0.6)) * line_height()
    return _head(chart, width) + _row(chart) * max(1, len(chart.names)) + 2 * PAD + 26 + across


def names_width(chart: Forest, width: float) -> float:
    """How much of the width the names take."""
    return max((width_of(cut(name, width * NAMES)) for name in chart.names), default=0.0) + 12


def draw_forest(sheet: Sheet, chart: Forest, box: Box, *, names: bool = True) -> None:
    """Draw it; without `names` where its neighbour to the left has the same."""
    head, row = _head(chart, box.width), _row(chart)
    gutter = names_width(chart, box.width) if names else 0.0
    shown = [cut(name, box.width * NAMES) for name in chart.names]
    room = max(0.25 * box.width, min(0.4 * box.width, 0.55 * box.width - gutter))  # more where names are short
    marks = [cut(mark, room) for mark in chart.marks]
    title = cut(chart.marks_title, box.width * 0.4) if any(marks) else ""
    margin = max(10.0, max(map(width_of, marks), default=0.0) + 14 if any(marks) else 0.0)
    inner = Box(left=box.left + gutter, top=box.top + head, width=max(40.0, box.width - gutter - margin),
                height=row * max(1, len(chart.names)) + 2 * PAD)  # fmt: skip
    wide = _scale(chart, inner.width)
    draw_legend(sheet, _samples(sheet, chart) if _legend(chart) and names else [], box.left, box.top, box.width)
    sheet.bands(Box(left=box.left, top=inner.top + PAD, width=box.width, height=0), row, len(chart.names))
    sheet.bottom_scale(inner, wide, above=_is_tall(chart))
    if chart.at is not None and wide.has(chart.at):
        x = inner.left + inner.width * wide.share(chart.at)
        sheet.line((x, x), (inner.top, inner.bottom), width=1.25, dash=(0, (4, 3)), behind=True)
    for number in range(len(chart.names)):
        y = inner.top + PAD + (number + 0.5) * row
        if names:
            sheet.text(inner.left - 10, y, shown[number], align="right")
        if number < len(marks):
            right = all(_is_number(mark) for mark in marks)
            sheet.text(
                box.right - 2 if right else inner.right + 12, y, marks[number], align="right" if right else "left"
            )
    sheet.text(box.right - 2, inner.top - (8 + line_height() if _is_tall(chart) else 8), title, align="right")
    sheet.lines(inner.left + inner.width / 2, inner.bottom + 22, wrapped(chart.across, inner.width), align="center")
    rows = (len(chart.names) + PAD / row, -PAD / row) if chart.names else (1.0, 0.0)
    frame = sheet.frame(inner, f"forest {chart.across}", (wide.low, wide.high), rows)
    for place, one in enumerate(chart.series):
        centre = 0.5 + (place - (len(chart.series) - 1) / 2) * (10.0 if row > 30 else 9.0) / row
        colour, marker, hollow = _style(sheet, chart, place)
        ends = [_ends(estimate, wide) for estimate in one.values]
        rows_of = [number + centre for number, end in enumerate(ends) if end]
        frame.hlines(rows_of, [end[0] for end in ends if end], [end[1] for end in ends if end], color=colour,
                     linewidth=2 * PIXEL, label=f"intervals of {one.name}", clip_on=False)  # fmt: skip
        dots = [(wide.within(estimate.value), number + centre) for number, estimate in enumerate(one.values)
                if estimate is not None and estimate.value is not None and math.isfinite(estimate.value)]  # fmt: skip
        frame.plot([x for x, _ in dots], [y for _, y in dots], linestyle="none", marker=marker, color=colour,
                   markersize=7 * PIXEL, markerfacecolor=sheet.palette.ground if hollow else colour,
                   markeredgewidth=1.75 * PIXEL, label=one.name, clip_on=False)  # fmt: skip


def _is_number(mark: str) -> bool:
    return not mark or mark[0].isdigit()


def _scale(chart: Forest, width: float) -> Scale:
    """Far ends of a few intervals must not press all the others together."""
    values = [one for series in chart.series for one in _numbers(series, "value")]
    sides = [one for series in chart.series for side in ("low", "high") for one in _numbers(series, side)]
    if values:
        middle, span = (min(values) + max(values)) / 2, max(values) - min(values)
        lengths = sorted(abs(side - middle) for side in sides)
        usual = lengths[len(lengths) // 2] if lengths else 0.0
        reach = max(span, 6 * usual)
        sides = [min(middle + reach, max(middle - reach, side)) for side in sides]
    return scale([*values, *sides, chart.at], ticks=max(3, int(width // 72)))


def _numbers(series: Series, side: str) -> list[float]:
    return finite(getattr(one, side) for one in series.values if one is not None and one.value is not None)


def _ends(estimate: Estimate | None, wide: Scale) -> tuple[float, float] | None:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return None
    return wide.within(estimate.low), wide.within(estimate.high)


def _style(sheet: Sheet, chart: Forest, place: int) -> tuple[str, str, bool]:
    """What is raw is hollow and what was corrected filled, so that they differ without colour too."""
    if len(chart.series) == 1:
        return sheet.series(1), MARKERS[0], False
    return sheet.series(place), MARKERS[place % len(MARKERS)], place == 0


def _samples(sheet: Sheet, chart: Forest) -> list[Sample]:
    styles = [_style(sheet, chart, place) for place in range(len(chart.series))]
    return [Sample(name=one.name, colour=colour, marker=marker, hollow=hollow)
            for one, (colour, marker, hollow) in zip(chart.series, styles, strict=True)]  # fmt: skip
