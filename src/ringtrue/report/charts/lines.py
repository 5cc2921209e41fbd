"""Lines in one frame, each with a colour, a dash and a marker of its own."""

from __future__ import annotations

import numpy as np

from ringtrue.report.charts.axes_frame import Frame, draw_frame, frame_height
from ringtrue.report.charts.axis_scales import MAX_DRAWABLE
from ringtrue.report.charts.canvas import DASHES, MARKERS, PIXEL, Box, Sheet
from ringtrue.report.charts.label_placement import OccupiedArea, find_free_place
from ringtrue.report.charts.legends import Sample, draw_legend, legend_height
from ringtrue.report.charts.text_metrics import FONT_SIZE, shorten, text_width
from ringtrue.report.model import Line, Lines, Point

MARKERS_PER_LINE = 7  # markers on a line of many points


def lines_height(chart: Lines, width: float) -> float:
    """How high the chart is when it is so wide."""
    return legend_height(_line_names(chart), width) + frame_height(chart.across, chart.up, width)


def _line_names(chart: Lines) -> list[str]:
    names = [line.name for line in chart.lines]
    return names if any(name.strip() for name in names) else []


def draw_lines(sheet: Sheet, chart: Lines, box: Box) -> None:
    """Draw them, a legend above, and the point to look at."""
    legend_space = legend_height(_line_names(chart), box.width)
    if legend_space:
        draw_legend(
            sheet,
            [_legend_sample(sheet, chart, number) for number in range(len(chart.lines))],
            box.left,
            box.top,
            box.width,
        )
    marks = () if chart.mark is None else (chart.mark,)
    frame = draw_frame(
        sheet,
        Box(left=box.left, top=box.top + legend_space, width=box.width, height=box.height - legend_space),
        name="lines",
        across=chart.across,
        up=chart.up,
        xs=[*(x for line in chart.lines for x in line.x), *(mark.x for mark in marks)],
        ys=[*(y for line in chart.lines for y in (*line.y, *line.low, *line.high)), *(mark.y for mark in marks)],
        x_range=chart.x_range,
        y_range=chart.y_range,
        logarithmic=chart.logarithmic,
        diagonal=chart.diagonal,
    )
    for number, line in enumerate(chart.lines):
        _draw_line(frame, line, _legend_sample(sheet, chart, number), number)
    if chart.mark is not None and frame.x.contains(chart.mark.x) and frame.y.contains(chart.mark.y):
        _draw_mark(sheet, frame, chart, chart.mark)


def _draw_line(frame: Frame, line: Line, sample: Sample, number: int) -> None:
    if not line.x:
        return
    x, y = _drawable_array(line.x), _drawable_array(line.y)
    if line.low and line.high:
        frame.axes.fill_between(
            x, _drawable_array(line.low), _drawable_array(line.high), color=sample.colour, alpha=0.16, linewidth=0
        )
    marker_step = max(1, -(-len(x) // MARKERS_PER_LINE))
    frame.axes.plot(
        x,
        y,
        color=sample.colour,
        linewidth=2 * PIXEL,
        linestyle=sample.dash,
        marker=sample.marker,
        # Where lines lie upon each other, their markers lie beside each other.
        markevery=(number % marker_step, marker_step),
        markersize=6 * PIXEL,
        markeredgewidth=0,
        label=line.name,
    )


def _drawable_array(values: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    numbers = np.array(values, dtype=np.float64)
    return np.where(np.isfinite(numbers), np.clip(numbers, -MAX_DRAWABLE, MAX_DRAWABLE), np.nan)


def _legend_sample(sheet: Sheet, chart: Lines, number: int) -> Sample:
    return Sample(
        name=chart.lines[number].name,
        colour=sheet.series_colour(_line_colour_index(chart, number)),
        marker=MARKERS[number % len(MARKERS)],
        dash=DASHES[number % len(DASHES)],
    )


def _line_colour_index(chart: Lines, number: int) -> int:
    return 1 if len(chart.lines) == 1 else number


def _draw_mark(sheet: Sheet, frame: Frame, chart: Lines, mark: Point) -> None:
    x, y = frame.to_sheet(mark.x, mark.y)
    sheet.draw_line((x,), (y,), marker="o", size=11, hollow=True)
    sheet.draw_line((x,), (y,), marker="o", size=3)
    name = shorten(mark.name, frame.box.width * 0.6)
    box = frame.box
    name_width, bounds = text_width(name, bold=True), (box.left, box.right, box.top, box.bottom)
    for occupied in (_areas_along_lines(frame, chart), []):
        place = find_free_place(x, y, name_width, FONT_SIZE + 2, occupied, bounds)
        if place is not None:
            sheet.draw_text(place.x, place.y, name, align="center", bold=True, halo=True)
            return


def _areas_along_lines(frame: Frame, chart: Lines) -> list[OccupiedArea]:
    """What lines take of the sheet."""
    fractions = np.linspace(0, 1, 60)
    areas = []
    for line in chart.lines:
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if np.isfinite([x, y]).all()]
        if len(points) > 1:
            places = np.array([frame.to_sheet(x, y) for x, y in points])
            positions = fractions * (len(places) - 1)
            xs, ys = (np.interp(positions, np.arange(len(places)), places[:, axis]) for axis in (0, 1))
            areas += [
                OccupiedArea(x=float(x), y=float(y), half_width=3, half_height=3) for x, y in zip(xs, ys, strict=True)
            ]
    return areas
