"""Lines in one frame, each with a colour, a dash and a marker of its own."""

from __future__ import annotations

import numpy as np

from ringtrue.report.charts.axes_frame import Frame, draw_frame, frame_height
from ringtrue.report.charts.axis_scales import FAR
from ringtrue.report.charts.label_placement import Patch, free_place
from ringtrue.report.charts.legends import Sample, draw_legend, legend_height
from ringtrue.report.charts.sheet import DASHES, MARKERS, PIXEL, Box, Sheet
from ringtrue.report.charts.text_metrics import SIZE, cut, width_of
from ringtrue.report.model import Line, Lines, Point

__all__ = ["draw_lines", "lines_height"]

MARKED = 7  # markers on a line of many points


def lines_height(chart: Lines, width: float) -> float:
    """How high the chart is when it is so wide."""
    return legend_height(_names(chart), width) + frame_height(chart.across, chart.up, width)


def _names(chart: Lines) -> list[str]:
    names = [one.name for one in chart.lines]
    return names if any(name.strip() for name in names) else []


def draw_lines(sheet: Sheet, chart: Lines, box: Box) -> None:
    """Draw them, a legend above, and the point to look at."""
    head = legend_height(_names(chart), box.width)
    if head:
        draw_legend(sheet, [_sample(sheet, chart, number) for number in range(len(chart.lines))], box.left, box.top,
                    box.width)  # fmt: skip
    mark = () if chart.mark is None else (chart.mark,)
    frame = draw_frame(
        sheet, Box(left=box.left, top=box.top + head, width=box.width, height=box.height - head), name="lines",
        across=chart.across, up=chart.up, xs=[*(x for one in chart.lines for x in one.x), *(one.x for one in mark)],
        ys=[*(y for one in chart.lines for y in (*one.y, *one.low, *one.high)), *(one.y for one in mark)],
        x_range=chart.x_range, y_range=chart.y_range, logarithmic=chart.logarithmic, diagonal=chart.diagonal,
    )  # fmt: skip
    for number, one in enumerate(chart.lines):
        _draw_line(frame, one, _sample(sheet, chart, number), number)
    if chart.mark is not None and frame.x.has(chart.mark.x) and frame.y.has(chart.mark.y):
        _draw_mark(sheet, frame, chart, chart.mark)


def _draw_line(frame: Frame, line: Line, sample: Sample, number: int) -> None:
    if not line.x:
        return
    x, y = _numbers(line.x), _numbers(line.y)
    if line.low and line.high:
        frame.axes.fill_between(
            x, _numbers(line.low), _numbers(line.high), color=sample.colour, alpha=0.16, linewidth=0
        )
    between = max(1, -(-len(x) // MARKED))
    frame.axes.plot(
        x, y, color=sample.colour, linewidth=2 * PIXEL, linestyle=sample.dash, marker=sample.marker,
        # Where lines lie upon each other, their markers lie beside each other.
        markevery=(number % between, between), markersize=6 * PIXEL, markeredgewidth=0, label=line.name,
    )  # fmt: skip


def _numbers(values: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = np.array(values, dtype=np.float64)
    return np.where(np.isfinite(found), np.clip(found, -FAR, FAR), np.nan)


def _sample(sheet: Sheet, chart: Lines, number: int) -> Sample:
    return Sample(name=chart.lines[number].name, colour=sheet.series(_colour(chart, number)),
                  marker=MARKERS[number % len(MARKERS)], dash=DASHES[number % len(DASHES)])  # fmt: skip


def _colour(chart: Lines, number: int) -> int:
    return 1 if len(chart.lines) == 1 else number


def _draw_mark(sheet: Sheet, frame: Frame, chart: Lines, mark: Point) -> None:
    x, y = frame.place(mark.x, mark.y)
    sheet.line((x,), (y,), marker="o", size=11, hollow=True)
    sheet.line((x,), (y,), marker="o", size=3)
    name = cut(mark.name, frame.box.width * 0.6)
    box = frame.box
    wide, within = width_of(name, bold=True), (box.left, box.right, box.top, box.bottom)
    for taken in (_along(frame, chart), []):
        found = free_place(x, y, wide, SIZE + 2, taken, within)
        if found is not None:
            sheet.text(found.x, found.y, name, align="center", bold=True, halo=True)
            return


def _along(frame: Frame, chart: Lines) -> list[Patch]:
    """What lines take of the sheet."""
    shares = np.linspace(0, 1, 60)
    found = []
    for line in chart.lines:
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if np.isfinite([x, y]).all()]
        if len(points) > 1:
            places = np.array([frame.place(x, y) for x, y in points])
            at = shares * (len(places) - 1)
            xs, ys = (np.interp(at, np.arange(len(places)), places[:, side]) for side in (0, 1))
            found += [Patch(x=float(x), y=float(y), half_width=3, half_height=3) for x, y in zip(xs, ys, strict=True)]
    return found
