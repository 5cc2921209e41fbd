"""Points in one frame; those that are noted stand out and have names."""

from __future__ import annotations

import math

from ringtrue.report.charts.axes_frame import Frame, draw_frame, frame_height
from ringtrue.report.charts.canvas import PIXEL, Box, Sheet
from ringtrue.report.charts.label_placement import OccupiedArea, find_free_place
from ringtrue.report.charts.text_metrics import FONT_SIZE, shorten, text_width
from ringtrue.report.model import Point, Points

MAX_ALL_NAMED = 15  # points that are all named, where there is room
MAX_POINTS_KEPT_CLEAR = 400  # points that a name must keep clear of


def points_height(chart: Points, width: float) -> float:
    """How high the chart is when it is so wide."""
    return frame_height(chart.across, chart.up, width)


def draw_points(sheet: Sheet, chart: Points, box: Box) -> None:
    """Draw them, names where there is room for them, and lines to compare with."""
    finite_points = [point for point in chart.points if math.isfinite(point.x) and math.isfinite(point.y)]
    frame = draw_frame(
        sheet,
        box,
        name="points",
        across=chart.across,
        up=chart.up,
        xs=[point.x for point in finite_points],
        ys=[*(y for point in finite_points for y in (point.y, point.low, point.high)), chart.at],
        x_range=chart.x_range,
        y_range=chart.y_range,
        diagonal=chart.diagonal,
    )
    occupied = [] if chart.at is None else _draw_reference_line(sheet, frame, chart.at, chart.at_name)
    inside = [point for point in finite_points if frame.x.contains(point.x) and frame.y.contains(point.y)]
    for noted in (False, True):
        _draw_markers(sheet, frame, [point for point in inside if point.noted is noted], noted)
    _draw_point_names(sheet, frame, inside, occupied)


def _draw_reference_line(sheet: Sheet, frame: Frame, at: float, at_name: str) -> list[OccupiedArea]:
    """A line across, its name above its right end."""
    if not frame.y.contains(at):
        return []
    _, y = frame.to_sheet(frame.x.low, at)
    sheet.draw_line((frame.box.left, frame.box.right), (y, y), width=1.25, dash=(0, (4, 3)), behind=True)
    name = shorten(at_name, frame.box.width * 0.7)
    label_y = y - 9 if y - 16 > frame.box.top else y + 10
    sheet.draw_text(frame.box.right, label_y, name, align="right", halo=True)
    name_width = text_width(name)
    return [
        OccupiedArea(
            x=frame.box.right - name_width / 2, y=label_y, half_width=name_width / 2, half_height=FONT_SIZE / 2
        )
    ]


def _draw_markers(sheet: Sheet, frame: Frame, points: list[Point], noted: bool) -> None:
    if not points:
        return
    colour = sheet.series_colour(0 if noted else 1)
    intervals = [
        (point.x, point.low, point.high) for point in points if point.low is not None and point.high is not None
    ]
    intervals = [(x, low, high) for x, low, high in intervals if not (math.isnan(low) or math.isnan(high))]
    frame.axes.vlines(
        [x for x, _, _ in intervals],
        [frame.y.clamp(low) for _, low, _ in intervals],
        [frame.y.clamp(high) for _, _, high in intervals],
        color=colour,
        linewidth=1.25 * PIXEL,
        alpha=0.7,
        label="intervals",
    )
    frame.axes.plot(
        [point.x for point in points],
        [point.y for point in points],
        linestyle="none",
        marker="D" if noted else "o",
        markersize=(8 if noted else 7) * PIXEL,
        color=colour,
        markeredgecolor=sheet.palette.ground,
        markeredgewidth=1 * PIXEL,
        label="noted" if noted else "points",
        clip_on=False,
    )


def _draw_point_names(sheet: Sheet, frame: Frame, points: list[Point], occupied: list[OccupiedArea]) -> None:
    """Names of the noted points, and of all where there are few; none over another or over a point."""
    places = [frame.to_sheet(point.x, point.y) for point in points]
    occupied = [
        *occupied,
        *(OccupiedArea(x=x, y=y, half_width=4, half_height=4) for x, y in places[:MAX_POINTS_KEPT_CLEAR]),
    ]
    box = frame.box
    bounds = (box.left + 2, box.right + 12, box.top - 4, box.bottom)
    order = sorted(range(len(points)), key=lambda number: not points[number].noted)
    for number in order:
        if not points[number].noted and len(points) > MAX_ALL_NAMED:
            break
        name = shorten(points[number].name, box.width * 0.45)
        label_area = find_free_place(*places[number], text_width(name), FONT_SIZE + 1, occupied, bounds)
        if label_area is not None and name.strip():
            occupied.append(label_area)
            sheet.draw_text(label_area.x, label_area.y, name, align="center", halo=True)
