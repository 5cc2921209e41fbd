"""Lines and points in a frame with a scale on two sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ringtrue.report.charts.axis_scales import (
    MAX_DRAWABLE,
    Limits,
    clamp,
    padded_limits,
    positive_limits,
    set_log_ticks,
    set_ticks,
)
from ringtrue.report.charts.labels import FONT_SIZE, OccupiedArea, find_free_place, text_width, widest
from ringtrue.report.charts.sheet import DASHES, MARKERS, Panel, Sheet
from ringtrue.report.model import Line, Lines, Point, Points

TITLE_GAP = 10.0  # pixels between what the scale means and its highest number
MARKERS_PER_LINE = 7  # markers on a line of many points
MAX_ALL_NAMED = 15  # points that are all named, where there is room
MAX_POINTS_KEPT_CLEAR = 400  # points that a name must keep clear of


def draw_lines(sheet: Sheet, chart: Lines, width: float) -> Panel:
    """Draw lines, each with a colour, a dash and a marker of its own, a legend above, and the point to look at."""
    marks = () if chart.mark is None else (chart.mark,)
    xs = [*(x for line in chart.lines for x in line.x), *(mark.x for mark in marks)]
    ys = [*(y for line in chart.lines for y in (*line.y, *line.low, *line.high)), *(mark.y for mark in marks)]
    panel = _draw_frame(sheet, chart, width, xs, ys, logarithmic=chart.logarithmic)
    styles = [_line_style(sheet, chart, number) for number in range(len(chart.lines))]
    for number, (line, style) in enumerate(zip(chart.lines, styles, strict=True)):
        if line.x:
            _draw_line(panel, line, style, number)
    if any(line.name.strip() for line in chart.lines):
        panel.add_legend([(line.name, style) for line, style in zip(chart.lines, styles, strict=True)], within=width)
    if chart.mark is not None and _is_inside(panel, chart.mark):
        _draw_mark(panel, chart, chart.mark)
    return panel


def draw_points(sheet: Sheet, chart: Points, width: float) -> Panel:
    """Draw points, names where there is room for them, and lines to compare with; noted ones stand out."""
    points = [point for point in chart.points if math.isfinite(point.x) and math.isfinite(point.y)]
    ys = [*(y for point in points for y in (point.y, point.low, point.high)), chart.at]
    panel = _draw_frame(sheet, chart, width, [point.x for point in points], ys)
    occupied = [] if chart.at is None else _draw_reference_line(panel, chart.at, chart.at_name)
    inside = [point for point in points if _is_inside(panel, point)]
    for noted in (False, True):
        _draw_markers(panel, [point for point in inside if point.noted is noted], noted=noted)
    _write_point_names(panel, inside, occupied)
    return panel


def _draw_frame(
    sheet: Sheet,
    chart: Lines | Points,
    width: float,
    xs: Sequence[float],
    ys: Sequence[float | None],
    *,
    logarithmic: bool = False,
) -> Panel:
    """Draw scales for these values, what they mean, and the diagonal; `logarithmic` is the one across."""
    x_limits = positive_limits(chart.x_range or xs) if logarithmic else _linear_limits(chart.x_range, xs)
    height = clamp(width * 0.62, (200.0, 300.0))
    panel = sheet.add_panel(width, height, x=x_limits, y=_linear_limits(chart.y_range, ys))
    axes = panel.axes
    if logarithmic:
        axes.set_xscale("log", nonpositive="mask")
        axes.set_xlim(x_limits)
    numbers_across = (set_log_ticks if logarithmic else set_ticks)(axes.xaxis, int(width // 64))
    numbers_up = set_ticks(axes.yaxis, int(height // 38))
    panel.set_left(widest(numbers_up) + 10, right=max(14.0, widest(numbers_across) / 2))
    axes.grid(clip_on=False)
    axes.spines["bottom"].set_visible(True)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    low, high = max(left, bottom), min(right, top)
    if chart.diagonal and low < high:
        axes.plot((low, high), (low, high), **sheet.reference_style())
    panel.write_below(chart.across)
    panel.top = TITLE_GAP
    panel.write_above(chart.up, within=width)
    return panel


def _linear_limits(wanted: Limits | None, values: Sequence[float | None]) -> Limits:
    return wanted if wanted and wanted[0] < wanted[1] else padded_limits(wanted[:1] if wanted else values)


def _is_inside(panel: Panel, point: Point) -> bool:
    (left, right), (low, high) = panel.axes.get_xlim(), panel.axes.get_ylim()
    return left <= point.x <= right and low <= point.y <= high


def _line_style(sheet: Sheet, chart: Lines, number: int) -> dict[str, Any]:
    return {
        "color": sheet.series_colour(1 if len(chart.lines) == 1 else number),
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 6 * sheet.pixel,
        "markeredgewidth": 0,
    }


def _draw_line(panel: Panel, line: Line, style: dict[str, Any], number: int) -> None:
    x, y = _drawable_array(line.x), _drawable_array(line.y)
    if line.low and line.high:
        low, high = _drawable_array(line.low), _drawable_array(line.high)
        panel.axes.fill_between(x, low, high, color=style["color"], alpha=0.16, linewidth=0)
    step = -(-len(x) // MARKERS_PER_LINE)
    # Where lines lie upon each other, their markers lie beside each other.
    panel.axes.plot(x, y, **style, markevery=(number % step, step), label=line.name)


def _drawable_array(values: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    numbers = np.array(values, dtype=np.float64)
    return np.where(np.isfinite(numbers), np.clip(numbers, -MAX_DRAWABLE, MAX_DRAWABLE), np.nan)


def _draw_mark(panel: Panel, chart: Lines, mark: Point) -> None:
    """A ring with a dot in it, and its name where it keeps clear of the lines if it can."""
    pixel, palette = panel.sheet.pixel, panel.sheet.palette
    for size, face in ((11, palette.ground), (3, palette.ink)):
        panel.axes.plot(
            [mark.x],
            [mark.y],
            marker="o",
            markersize=size * pixel,
            color=palette.ink,
            markerfacecolor=face,
            markeredgewidth=1.5 * pixel,
            clip_on=False,
            zorder=4,
            label="mark",
        )
    name = panel.sheet.shorten(mark.name, panel.width * 0.6)
    x, y = panel.to_pixels(mark.x, mark.y)
    for occupied in (_areas_along_lines(panel, chart), []):
        bounds = (0.0, panel.width, 0.0, panel.height)
        place = find_free_place(x, y, text_width(name, bold=True), FONT_SIZE + 2, occupied, bounds)
        if place is not None:
            panel.write(place.x, place.y, name, align="center", bold=True, halo=True)
            return


def _areas_along_lines(panel: Panel, chart: Lines) -> list[OccupiedArea]:
    """What lines take of the frame."""
    areas = []
    for line in chart.lines:
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if np.isfinite([x, y]).all()]
        if len(points) > 1:
            places = np.array([panel.to_pixels(x, y) for x, y in points])
            positions = np.linspace(0, len(places) - 1, 60)
            xs, ys = (np.interp(positions, np.arange(len(places)), places[:, axis]) for axis in (0, 1))
            areas += [OccupiedArea(x=x, y=y, half_width=3, half_height=3) for x, y in zip(xs, ys, strict=True)]
    return areas


def _draw_reference_line(panel: Panel, at: float, at_name: str) -> list[OccupiedArea]:
    """A line across, its name above its right end; returns what the name takes."""
    low, high = panel.axes.get_ylim()
    if not low <= at <= high:
        return []
    panel.axes.axhline(at, **panel.sheet.reference_style())
    name = panel.sheet.shorten(at_name, panel.width * 0.7)
    _, y = panel.to_pixels(0.0, at)
    label_y = y - 9 if y > 16 else y + 10
    panel.write(panel.width, label_y, name, align="right", halo=True)
    half = text_width(name) / 2
    return [OccupiedArea(x=panel.width - half, y=label_y, half_width=half, half_height=FONT_SIZE / 2)]


def _draw_markers(panel: Panel, points: list[Point], *, noted: bool) -> None:
    sheet, limits = panel.sheet, panel.axes.get_ylim()
    colour = sheet.series_colour(0 if noted else 1)
    intervals = [
        (point.x, clamp(point.low, limits), clamp(point.high, limits))
        for point in points
        if point.low is not None and point.high is not None and not (math.isnan(point.low) or math.isnan(point.high))
    ]
    xs, lows, highs = ([interval[part] for interval in intervals] for part in range(3))
    panel.axes.vlines(xs, lows, highs, color=colour, linewidth=1.25 * sheet.pixel, alpha=0.7)
    panel.axes.plot(
        [point.x for point in points],
        [point.y for point in points],
        linestyle="none",
        marker="D" if noted else "o",
        markersize=(8 if noted else 7) * sheet.pixel,
        color=colour,
        markeredgecolor=sheet.palette.ground,
        markeredgewidth=sheet.pixel,
        label="noted" if noted else "points",
        clip_on=False,
    )


def _write_point_names(panel: Panel, points: list[Point], occupied: list[OccupiedArea]) -> None:
    """Names of the noted points, and of all where there are few; none over another or over a point."""
    places = [panel.to_pixels(point.x, point.y) for point in points]
    occupied = [
        *occupied,
        *(OccupiedArea(x=x, y=y, half_width=4, half_height=4) for x, y in places[:MAX_POINTS_KEPT_CLEAR]),
    ]
    bounds = (2.0, panel.width + 12, -4.0, panel.height)
    for point, place in sorted(zip(points, places, strict=True), key=lambda pair: not pair[0].noted):
        if not point.noted and len(points) > MAX_ALL_NAMED:
            break
        name = panel.sheet.shorten(point.name, panel.width * 0.45)
        area = find_free_place(*place, text_width(name), FONT_SIZE + 1, occupied, bounds)
        if area is not None and name.strip():
            occupied.append(area)
            panel.write(area.x, area.y, name, align="center", halo=True)
