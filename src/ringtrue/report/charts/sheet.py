"""A sheet to draw on: a Matplotlib figure in our style, and panels on it whose sizes and margins are in pixels.

Margins are computed from the widths of words, once; a layout engine would draw everything twice to find them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ringtrue.report.charts.axis_scales import Limits, set_ticks
from ringtrue.report.charts.labels import (
    FONT_FAMILY,
    FONT_SIZE,
    replace_missing_glyphs,
    shorten,
    text_width,
    to_single_line,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

    from ringtrue.report.charts.palettes import Palette

HALO = "halo"  # the group of words that have one
POINTS_PER_INCH = 72
DESCENT = 0.24  # of letters below the line, in units of their size
Dash: TypeAlias = Literal["solid"] | tuple[int, tuple[float, ...]]
# Lines and markers that differ also for who sees no colour.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Dash, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)))
ROW_PAD = 5.0  # above the first row of names and below the last
TALL_HEIGHT = 480.0  # of rows whose scale is out of sight when the first is seen
TICK_LABEL_HEIGHT = 22.0  # of the numbers below or above a frame, and what keeps them off it
LEGEND_ROW, LEGEND_SAMPLE, LEGEND_GAP = 20.0, 28.0, 18.0  # height, width of a sample of line, between entries
_UNFINISHED_HEIGHT = 1000.0  # of a sheet on which charts are drawn but not yet placed
# Matplotlib's settings belong to the whole process: one picture at a time.
_DRAWING_LOCK = RLock()


@contextmanager
def open_sheet(
    width: float, palette: Palette, *, pixel: float = 1.0, single_font: bool = False, **svg: str
) -> Iterator[Sheet]:
    """A sheet so many pixels wide, a `pixel` being so many points; draw and save in here.

    Matplotlib has its defaults and our style, whatever somebody has set in a notebook, which comes back at the end.
    """
    with _DRAWING_LOCK, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_style(palette, pixel) | {f"svg.{name}": value for name, value in svg.items()})
        yield Sheet(width, palette, pixel, single_font=single_font)


def _style(palette: Palette, pixel: float) -> dict[Any, Any]:
    return {
        "figure.dpi": POINTS_PER_INCH,
        "figure.facecolor": palette.ground,
        "font.family": [FONT_FAMILY],
        "font.size": FONT_SIZE * pixel,
        "text.color": palette.ink,
        "text.parse_math": False,  # a $ in the name of a run is a $
        "axes.facecolor": "none",
        "axes.edgecolor": palette.ink,
        "axes.linewidth": pixel,
        "axes.axisbelow": True,
        **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
        "grid.color": palette.quiet,
        "grid.linewidth": pixel,
        "lines.linewidth": 2 * pixel,
        "lines.markersize": 7 * pixel,
        "xtick.bottom": False,
        "ytick.left": False,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "xtick.major.pad": 7 * pixel,
        "ytick.major.pad": 8 * pixel,
        "xtick.labelcolor": palette.ink,
        "ytick.labelcolor": palette.ink,
        "svg.hashsalt": "ringtrue",  # the same picture has the same bytes
        "pdf.fonttype": 42,
    }


class PageRenderer(RendererSVG):
    """Matplotlib's SVG, but words are as large as we measure them, in fonts that the reader has and we have not."""

    def get_text_width_height_descent(
        self,
        s: str,
        prop: FontProperties,
        ismath: Any,  # noqa: ARG002 -- Matplotlib's signature
    ) -> tuple[float, float, float]:
        """How large a text will be, nearly."""
        size = float(prop.get_size_in_points())
        return text_width(s, size, bold=prop.get_weight() == "bold"), size, size * DESCENT


class Sheet:
    """Matplotlib's figure, and how large a pixel is. With `single_font`, letters the font has not are boxes."""

    def __init__(self, width: float, palette: Palette, pixel: float, *, single_font: bool) -> None:
        self.width, self.palette, self.pixel, self.single_font = width, palette, pixel, single_font
        self.mpl_figure = MplFigure()
        self.set_height(_UNFINISHED_HEIGHT)

    def set_height(self, height: float) -> None:
        """Make the sheet so high; panels must be placed after that."""
        self.height = height
        inches = self.pixel / POINTS_PER_INCH
        self.mpl_figure.set_size_inches(self.width * inches, height * inches)

    def series_colour(self, number: int) -> str:
        """The colour of a series, from 0; after the last comes the first again."""
        return self.palette.series[number % len(self.palette.series)]

    def displayable(self, text: str) -> str:
        """A text as it can be shown here."""
        return replace_missing_glyphs(to_single_line(text)) if self.single_font else to_single_line(text)

    def shorten(self, text: str, width: float) -> str:
        """A text that can be shown here and is no wider than this."""
        return shorten(self.displayable(text), width)

    def add_panel(self, width: float, height: float, *, left: float = 0.0, x: Limits, y: Limits) -> Panel:
        """A frame for data of this size, from these numbers to those, with a margin to its left."""
        axes: Axes = self.mpl_figure.add_axes((0.0, 0.0, 1.0, 1.0), label=f"panel {len(self.mpl_figure.axes)}")
        panel = Panel(sheet=self, axes=axes, width=width, height=height, left=left)
        axes.set(xlim=x, ylim=y)
        axes.set_autoscale_on(False)
        panel.place(0.0, 0.0)
        return panel

    def add_row_panel(self, width: float, count: int, row_height: float, *, left: float, x: Limits) -> Panel:
        """A frame of rows, the first above; numbers below it, and above it too where it is higher than a screen."""
        pad = ROW_PAD / row_height
        y = (count + pad, -pad) if count else (1.0, 0.0)
        panel = self.add_panel(max(40.0, width), row_height * max(1, count) + 2 * ROW_PAD, left=left, x=x, y=y)
        set_ticks(panel.axes.xaxis, max(4, int(panel.width // 56)))
        panel.axes.grid(axis="x", clip_on=False)
        panel.axes.yaxis.set_visible(False)
        if row_height * count > TALL_HEIGHT:
            panel.axes.tick_params(axis="x", labeltop=True)
            panel.top = TICK_LABEL_HEIGHT
        return panel

    def reference_style(self) -> dict[str, Any]:
        """How lines to compare with look."""
        width = 1.25 * self.pixel
        return {"color": self.palette.ink, "linewidth": width, "linestyle": (0, (4, 3)), "zorder": 1, "label": "at"}


@dataclass(slots=True, kw_only=True)
class Panel:
    """A frame for data, its size, and how much of the sheet is taken around it, all in pixels."""

    sheet: Sheet
    axes: Axes
    width: float
    height: float
    left: float
    top: float = 0.0
    bottom: float = 0.0

    def place(self, left: float, top: float) -> None:
        """Put the frame here; what is written around it goes along."""
        sheet = self.sheet
        self.axes.set_position(
            (
                left / sheet.width,
                1 - (top + self.height) / sheet.height,
                self.width / sheet.width,
                self.height / sheet.height,
            )
        )

    def set_left(self, left: float, *, right: float) -> None:
        """Make room for margins inside of the present width."""
        self.left, self.width = left, max(40.0, self.width - left - right)
        self.place(0.0, 0.0)

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the data lies, from the left and the top of the frame."""
        across, up = self.axes.transAxes.inverted().transform(self.axes.transData.transform((x, y)))
        return float(across) * self.width, (1 - float(up)) * self.height

    def write(
        self,
        x: float,
        y: float,
        text: str,
        *,
        align: Literal["left", "center", "right"] = "left",
        size: float = FONT_SIZE,
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        """Write one line around `y`, from the left and the top of the frame; a `halo` keeps lines off."""
        text = self.sheet.displayable(text)
        if not text.strip():
            return
        artist = self.sheet.mpl_figure.text(
            x / self.width,
            1 - y / self.height,
            text,
            transform=self.axes.transAxes,
            ha=align,
            va="center_baseline",
            fontsize=size * self.sheet.pixel,
            fontweight="bold" if bold else "normal",
        )
        if halo and self.sheet.single_font:
            artist.set_path_effects([withStroke(linewidth=3 * self.sheet.pixel, foreground=self.sheet.palette.ground)])
        elif halo:
            artist.set_gid(HALO)

    def name_rows(self, names: Sequence[str]) -> None:
        """Write a name to the left of each row; as ticks, many names would take twice the time."""
        self.axes.yaxis.set_visible(False)
        for row, name in enumerate(names):
            self.write(-10, self.to_pixels(0.0, row + 0.5)[1], name, align="right")

    def write_above(
        self, text: str, *, within: float, size: float = FONT_SIZE, bold: bool = False, max_lines: int = 3
    ) -> None:
        """Write a text above all that there is, from the left margin on, its lines within a width."""
        lines = wrap(text, within, size, bold=bold, max_lines=max_lines)
        self.top += len(lines) * line_height(size)
        for number, line in enumerate(lines):
            self.write(-self.left, (number + 0.5) * line_height(size) - self.top, line, size=size, bold=bold)

    def write_below(self, text: str) -> None:
        """Write what the numbers below the frame mean."""
        self.bottom = TICK_LABEL_HEIGHT
        for line in wrap(text, self.width):
            self.write(self.width / 2, self.height + self.bottom + line_height() / 2, line, align="center")
            self.bottom += line_height()

    def add_legend(self, series: Sequence[tuple[str, dict[str, Any]]], *, within: float) -> None:
        """Name each series above all that there is, beside a sample of its line, in rows within a width.

        Matplotlib's legend has columns, which take more rows on a phone, and an eighth of the time of a page.
        """
        places, x, row = [], 0.0, 0
        for name, style in series:
            label = self.sheet.shorten(name, within - LEGEND_SAMPLE - 6)
            entry_width = LEGEND_SAMPLE + 6 + text_width(label)
            if x > 0 and x + entry_width > within:
                x, row = 0.0, row + 1
            places.append((label, style, x - self.left, (row + 0.5) * LEGEND_ROW))
            x += entry_width + LEGEND_GAP
        self.top += (row + 1) * LEGEND_ROW + 8
        for label, style, left, y in places:
            across = [(left + part * LEGEND_SAMPLE) / self.width for part in (0, 0.5, 1)]
            up = [1 - (y - self.top) / self.height] * 3
            sample = Line2D(across, up, transform=self.axes.transAxes, markevery=(1, 2), **style)
            self.sheet.mpl_figure.add_artist(sample)
            self.write(left + LEGEND_SAMPLE + 6, y - self.top, label)


def line_height(size: float = FONT_SIZE) -> float:
    """How far one line lies below another."""
    return round(size * 1.4)
