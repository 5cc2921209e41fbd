"""A frame with two scales: what lines and points have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.report.charts.axis_scales import AxisScale, make_linear_scale, make_log_scale
from ringtrue.report.charts.canvas import Box, Sheet, line_height
from ringtrue.report.charts.text_metrics import text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE_GAP = 10.0  # pixels between what the scale means and its highest number


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where the data are drawn, and by which scales."""

    axes: Axes
    box: Box
    x: AxisScale
    y: AxisScale

    def to_sheet(self, x: float, y: float) -> tuple[float, float]:
        """Where on the sheet a point lies."""
        box = self.box
        return box.left + box.width * self.x.fraction(x), box.bottom - box.height * self.y.fraction(y)


def _inner_height(width: float) -> float:
    return max(200.0, min(300.0, width * 0.62))


def frame_height(across: str, up: str, width: float) -> float:
    """How high a frame is when it is so wide, with all that stands around it."""
    lines = len(wrap(across, width * 0.8)) + len(wrap(up, width))
    return _inner_height(width) + lines * line_height() + TITLE_GAP + 28


def draw_frame(
    sheet: Sheet,
    box: Box,
    *,
    name: str,
    across: str,
    up: str,
    xs: Sequence[float | None],
    ys: Sequence[float | None],
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    logarithmic: bool = False,
    diagonal: bool = False,
) -> Frame:
    """Draw scales for these values, what they mean, and the diagonal; `logarithmic` is the one across."""
    y_title = wrap(up, box.width)
    height = _inner_height(box.width)
    y = make_linear_scale(ys, ticks=max(3, int(height // 50)), limits=y_range)
    gutter = max(map(text_width, y.labels), default=0.0) + 10
    inner = Box(
        left=box.left + gutter,
        top=box.top + len(y_title) * line_height() + TITLE_GAP,
        width=max(40.0, box.width - gutter - 14),
        height=height,
    )
    x_ticks = max(2, int(inner.width // 64))
    x = (make_log_scale if logarithmic else make_linear_scale)(xs, ticks=x_ticks, limits=x_range)
    sheet.draw_text_lines(box.left, box.top, y_title)
    sheet.draw_left_scale(inner, y)
    sheet.draw_bottom_scale(inner, x)
    sheet.draw_text_lines(
        inner.left + inner.width / 2, inner.bottom + 22, wrap(across, box.width * 0.8), align="center"
    )
    sheet.draw_line((inner.left, inner.right), (inner.bottom, inner.bottom))
    axes = sheet.add_axes(inner, f"{name} {up}", (x.low, x.high), (y.low, y.high))
    if logarithmic:
        axes.set_xscale("log", nonpositive="mask")
        axes.set_xlim(x.low, x.high)
    frame = Frame(axes=axes, box=inner, x=x, y=y)
    low, high = max(x.low, y.low), min(x.high, y.high)
    if diagonal and low < high:
        ends = [frame.to_sheet(end, end) for end in (low, high)]
        sheet.draw_line((ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]), width=1.25, dash=(0, (4, 3)), behind=True)
    return frame
