"""A bar for each name: lying, so that names can be read; standing where there are no names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ringtrue.report.charts.axis_scales import FAR, Scale, finite, scale
from ringtrue.report.charts.label_placement import spread
from ringtrue.report.charts.sheet import PIXEL, Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import cut, width_of, wrapped
from ringtrue.report.model import Bars

__all__ = ["bars_height", "draw_bars"]

NAMES = 0.4  # of the width is for names at most
PAD = 4.0
STANDING = 220.0  # pixels
TALL = 480.0  # bars whose scale is out of sight when the first is seen


def _row(chart: Bars) -> float:
    """How high a lying bar and its room are; names keep apart by themselves where it is less than a line."""
    many = len(chart.names)
    return 24.0 if many <= 12 else 17.0 if many <= 60 else max(4.0, 1020 / many)


def _is_named(chart: Bars) -> bool:
    return any(name.strip() for name in chart.names) or len(chart.names) <= 3


def _is_tall(chart: Bars) -> bool:
    return _row(chart) * len(chart.names) > TALL


def bars_height(chart: Bars, width: float) -> float:
    """How high the chart is when it is so wide."""
    words = len(wrapped(chart.across, width * 0.6)) * line_height()
    if _is_named(chart):
        above = line_height() if _is_tall(chart) else 0
        return above + _row(chart) * max(1, len(chart.names)) + 2 * PAD + 26 + words
    return words + 8 + STANDING + 8


def draw_bars(sheet: Sheet, chart: Bars, box: Box) -> None:
    """Draw them; the side of zero on which a bar lies has a colour of its own."""
    (_draw_lying if _is_named(chart) else _draw_standing)(sheet, chart, box)


def _draw_lying(sheet: Sheet, chart: Bars, box: Box) -> None:
    row = _row(chart)
    shown = [cut(name, box.width * NAMES) for name in chart.names]
    gutter = max(map(width_of, shown), default=0.0) + 12
    top = box.top + (line_height() if _is_tall(chart) else 0)
    inner = Box(left=box.left + gutter, top=top, width=max(40.0, box.width - gutter - 14),
                height=row * max(1, len(chart.names)) + 2 * PAD)  # fmt: skip
    wide = _scale(chart, max(3, int(inner.width // 76)))
    sheet.bottom_scale(inner, wide, above=_is_tall(chart))
    sheet.lines(inner.left + inner.width / 2, inner.bottom + 22, wrapped(chart.across, inner.width), align="center")
    named = [number for number, name in enumerate(shown) if name.strip()]
    at = [inner.top + PAD + (number + 0.5) * row for number in named]
    for number, y in zip(named, spread(at, 15.0, inner.top + 6, inner.bottom - 6) if row < 15 else at, strict=True):
        sheet.text(inner.left - 10, y, shown[number], align="right")
        if row < 15:
            sheet.line((inner.left - 8, inner.left), (y, inner.top + PAD + (number + 0.5) * row), width=0.75)
    rows = (len(chart.names) + PAD / row, -PAD / row) if chart.names else (1.0, 0.0)
    frame = sheet.frame(inner, f"bars {chart.across}", (wide.low, wide.high), rows)
    places = [number + 0.5 for number in range(len(chart.names))]
    for sign, side in _sides(chart.values, places):
        frame.barh([y for y, _ in side], [value for _, value in side], height=0.72 if row > 6 else 0.85,
                   color=sheet.series(sign), linewidth=0, label="bars")  # fmt: skip
    ends = _intervals(chart, places, wide)
    for colour, thick in _outlined(sheet):
        frame.hlines([y for y, _, _ in ends], [low for _, low, _ in ends], [high for _, _, high in ends],
                     color=colour, linewidth=thick * PIXEL, label="intervals")  # fmt: skip
    zero = inner.left + inner.width * wide.share(0.0)
    for number, value in enumerate(chart.values):
        if _missing(value) and row >= 15:
            sheet.text(zero + 6, inner.top + PAD + (number + 0.5) * row, "–")
    sheet.line((zero, zero), (inner.top, inner.bottom))


def _draw_standing(sheet: Sheet, chart: Bars, box: Box) -> None:
    title = wrapped(chart.across, box.width)
    tall = _scale(chart, 5)
    gutter = max(map(width_of, tall.labels), default=0.0) + 10
    inner = Box(left=box.left + gutter, top=box.top + len(title) * line_height() + 8, width=box.width - gutter - 2,
                height=STANDING)  # fmt: skip
    sheet.lines(box.left, box.top, title)
    sheet.left_scale(inner, tall)
    frame = sheet.frame(inner, f"bars {chart.across}", (0.0, max(1, len(chart.names))), (tall.low, tall.high))
    places = [number + 0.5 for number in range(len(chart.names))]
    for sign, side in _sides(chart.values, places):
        frame.bar([x for x, _ in side], [value for _, value in side], width=0.85 if len(places) > 60 else 0.72,
                  color=sheet.series(sign), linewidth=0, label="bars")  # fmt: skip
    ends = _intervals(chart, places, tall)
    for colour, thick in _outlined(sheet):
        frame.vlines([x for x, _, _ in ends], [low for _, low, _ in ends], [high for _, _, high in ends],
                     color=colour, linewidth=thick * PIXEL, label="intervals")  # fmt: skip
    zero = inner.bottom - inner.height * tall.share(0.0)
    sheet.line((inner.left, inner.right), (zero, zero))


def _outlined(sheet: Sheet) -> tuple[tuple[str, float], ...]:
    """A line that is seen on a bar and beside it: first what lies around it, then itself."""
    return (sheet.palette.ground, 4.5), (sheet.palette.ink, 1.5)


def _scale(chart: Bars, ticks: int) -> Scale:
    """Bars begin at zero, so zero is on the scale."""
    return scale([0.0, *chart.values, *chart.low, *chart.high], ticks=ticks)


def _missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _sides(values: Sequence[float | None], places: Sequence[float]) -> list[tuple[int, list[tuple[float, float]]]]:
    """The bars of either side of zero: the number of their colour, and where and how long each is."""
    kept = [(place, min(FAR, max(-FAR, value))) for place, value in zip(places, values, strict=True)
            if value is not None and not math.isnan(value)]  # fmt: skip
    return [(1, [one for one in kept if one[1] >= 0]), (0, [one for one in kept if one[1] < 0])]


def _intervals(chart: Bars, places: Sequence[float], wide: Scale) -> list[tuple[float, float, float]]:
    if not chart.low or not chart.high:
        return []
    return [(place, wide.within(low), wide.within(high))
            for place, low, high in zip(places, chart.low, chart.high, strict=True)
            if low is not None and high is not None and finite([low, high])]  # fmt: skip
