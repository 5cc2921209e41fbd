"""Points in one frame; those that are noted stand out and have names."""

from __future__ import annotations

import math

from ringtrue.report.charts.axes_frame import Frame, draw_frame, frame_height
from ringtrue.report.charts.label_placement import Patch, free_place
from ringtrue.report.charts.sheet import PIXEL, Box, Sheet
from ringtrue.report.charts.text_metrics import SIZE, cut, width_of
from ringtrue.report.model import Point, Points

__all__ = ["draw_points", "points_height"]

FEW = 15  # points that are all named, where there is room
MOST = 400  # points that a name must keep clear of


def points_height(chart: Points, width: float) -> float:
    """How high the chart is when it is so wide."""
    return frame_height(chart.across, chart.up, width)


def draw_points(sheet: Sheet, chart: Points, box: Box) -> None:
    """Draw them, names where there is room for them, and lines to compare with."""
    shown = [one for one in chart.points if math.isfinite(one.x) and math.isfinite(one.y)]
    frame = draw_frame(
        sheet, box, name="points", across=chart.across, up=chart.up, xs=[one.x for one in shown],
        ys=[*(y for one in shown for y in (one.y, one.low, one.high)), chart.at], x_range=chart.x_range,
        y_range=chart.y_range, diagonal=chart.diagonal,
    )  # fmt: skip
    taken = [] if chart.at is None else _draw_at(sheet, frame, chart.at, chart.at_name)
    inside = [one for one in shown if frame.x.has(one.x) and frame.y.has(one.y)]
    for noted in (False, True):
        _draw_some(sheet, frame, [one for one in inside if one.noted is noted], noted)
    _write_names(sheet, frame, inside, taken)


def _draw_at(sheet: Sheet, frame: Frame, at: float, at_name: str) -> list[Patch]:
    """A line across, its name above its right end."""
    if not frame.y.has(at):
        return []
    _, y = frame.place(frame.x.low, at)
    sheet.line((frame.box.left, frame.box.right), (y, y), width=1.25, dash=(0, (4, 3)), behind=True)
    name = cut(at_name, frame.box.width * 0.7)
    above = y - 9 if y - 16 > frame.box.top else y + 10
    sheet.text(frame.box.right, above, name, align="right", halo=True)
    wide = width_of(name)
    return [Patch(x=frame.box.right - wide / 2, y=above, half_width=wide / 2, half_height=SIZE / 2)]


def _draw_some(sheet: Sheet, frame: Frame, points: list[Point], noted: bool) -> None:
    if not points:
        return
    colour = sheet.series(0 if noted else 1)
    ends = [(one.x, one.low, one.high) for one in points if one.low is not None and one.high is not None]
    ends = [(x, low, high) for x, low, high in ends if not (math.isnan(low) or math.isnan(high))]
    frame.axes.vlines(
        [x for x, _, _ in ends], [frame.y.within(low) for _, low, _ in ends],
        [frame.y.within(high) for _, _, high in ends], color=colour, linewidth=1.25 * PIXEL, alpha=0.7,
        label="intervals",
    )  # fmt: skip
    frame.axes.plot(
        [one.x for one in points], [one.y for one in points], linestyle="none", marker="D" if noted else "o",
        markersize=(8 if noted else 7) * PIXEL, color=colour, markeredgecolor=sheet.palette.ground,
        markeredgewidth=1 * PIXEL, label="noted" if noted else "points", clip_on=False,
    )  # fmt: skip


def _write_names(sheet: Sheet, frame: Frame, inside: list[Point], taken: list[Patch]) -> None:
    """Names of the noted points, and of all where there are few; none over another or over a point."""
    places = [frame.place(one.x, one.y) for one in inside]
    taken = [*taken, *(Patch(x=x, y=y, half_width=4, half_height=4) for x, y in places[:MOST])]
    box = frame.box
    within = (box.left + 2, box.right + 12, box.top - 4, box.bottom)
    order = sorted(range(len(inside)), key=lambda one: not inside[one].noted)
    for number in order:
        if not inside[number].noted and len(inside) > FEW:
            break
        name = cut(inside[number].name, box.width * 0.45)
        found = free_place(*places[number], width_of(name), SIZE + 1, taken, within)
        if found is not None and name.strip():
            taken.append(found)
            sheet.text(found.x, found.y, name, align="center", halo=True)
