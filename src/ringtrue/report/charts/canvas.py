"""A sheet to draw on, measured in pixels from its top left corner; frames for data lie on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ringtrue.report.charts.text_metrics import FONT_SIZE, replace_missing_glyphs, text_width, to_single_line

if TYPE_CHECKING:
    from ringtrue.report.charts.axis_scales import AxisScale
    from ringtrue.report.charts.palettes import Palette

HALO = "halo"  # how the page knows which words have one
DPI = 96  # of CSS: a pixel of the page is a pixel of the sheet
PIXEL = 72 / DPI  # in points, the unit of Matplotlib's lines and letters
Dash: TypeAlias = Literal["solid"] | tuple[int, tuple[float, ...]]
# Lines and markers that differ also for who sees no colour.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Dash, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A part of the sheet: pixels from the left, from the top, and how wide and high."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Where it ends below."""
        return self.top + self.height


class Sheet:
    """Matplotlib's figure, and how to draw on it by pixels. With `single_font`, letters the font has not are boxes."""

    def __init__(self, width: float, height: float, palette: Palette, *, single_font: bool) -> None:
        self.width, self.height, self.palette, self._single_font = width, height, palette, single_font
        self.mpl_figure = MplFigure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=palette.ground)

    def series_colour(self, number: int) -> str:
        """The colour of a series, from 0; after the last comes the first again."""
        return self.palette.series[number % len(self.palette.series)]

    def displayable(self, text: str) -> str:
        """A text as it can be shown here."""
        return replace_missing_glyphs(to_single_line(text)) if self._single_font else to_single_line(text)

    def draw_text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        align: Literal["left", "center", "right"] = "left",
        size: float = FONT_SIZE,
        bold: bool = False,
        colour: str | None = None,
        turned: bool = False,
        halo: bool = False,
    ) -> None:
        """Write one line whose letters stand around `y`; `turned` ones run up, from `y`. A `halo` keeps lines off."""
        words = self.displayable(words)
        if not words.strip():
            return
        artist = self.mpl_figure.text(
            x / self.width,
            1 - y / self.height,
            words,
            ha="center" if turned else align,
            va="bottom" if turned else "center_baseline",
            fontsize=size * PIXEL,
            fontweight="bold" if bold else "normal",
            color=colour or self.palette.ink,
            rotation=90 if turned else 0,
        )
        if halo and self._single_font:
            artist.set_path_effects([withStroke(linewidth=3 * PIXEL, foreground=self.palette.ground)])
        elif halo:
            artist.set_gid(HALO)

    def draw_line(
        self,
        x: tuple[float, ...],
        y: tuple[float, ...],
        *,
        colour: str | None = None,
        width: float = 1.0,
        dash: Dash = "solid",
        marker: str = "",
        size: float = 0.0,
        hollow: bool = False,
        behind: bool = False,
    ) -> None:
        """Draw a line through places of the sheet, and a marker at each; before the data, or behind them."""
        line_colour = colour or self.palette.ink
        self.mpl_figure.add_artist(
            Line2D(
                [coordinate / self.width for coordinate in x],
                [1 - coordinate / self.height for coordinate in y],
                color=line_colour,
                linewidth=width * PIXEL,
                linestyle=dash,
                marker=marker,
                markersize=size * PIXEL,
                markerfacecolor=self.palette.ground if hollow else line_colour,
                markeredgecolor=line_colour,
                markeredgewidth=1.5 * PIXEL,
                solid_capstyle="butt",
                zorder=-1 if behind else 2,
            )
        )

    def add_axes(self, box: Box, name: str, x: tuple[float, float], y: tuple[float, float]) -> Axes:
        """A place for data, from these numbers to those; without ticks, which `draw_text` writes around it."""
        axes: Axes = self.mpl_figure.add_axes(
            (box.left / self.width, 1 - box.bottom / self.height, box.width / self.width, box.height / self.height),
            label=name,
        )
        axes.set_axis_off()
        axes.set(xlim=x, ylim=y)
        axes.set_autoscale_on(False)
        return axes

    def draw_bottom_scale(self, box: Box, scale: AxisScale, *, above: bool = False) -> None:
        """Lines up through a frame, and numbers below it; also above, where a frame is higher than a screen."""
        for tick, label in zip(scale.ticks, scale.labels, strict=True):
            x = box.left + box.width * scale.fraction(tick)
            self.draw_line((x, x), (box.top, box.bottom), colour=self.palette.quiet, behind=True)
            half_width = text_width(label) / 2
            label_x = min(self.width - half_width - 1, max(half_width + 1, x))
            self.draw_text(label_x, box.bottom + 12, label, align="center")
            if above:
                self.draw_text(label_x, box.top - 10, label, align="center")

    def draw_bands(self, box: Box, row_height: float, row_count: int) -> None:
        """Every second row a little apart from the others, so that the eye stays in its row."""
        for number in range(1, row_count, 2):
            middle = box.top + (number + 0.5) * row_height
            self.draw_line(
                (box.left, box.right), (middle, middle), colour=self.palette.raised, width=row_height, behind=True
            )

    def draw_left_scale(self, box: Box, scale: AxisScale) -> None:
        """Lines across a frame, and numbers to its left."""
        for tick, label in zip(scale.ticks, scale.labels, strict=True):
            y = box.bottom - box.height * scale.fraction(tick)
            self.draw_line((box.left, box.right), (y, y), colour=self.palette.quiet, behind=True)
            self.draw_text(box.left - 7, y, label, align="right")

    def draw_text_lines(
        self,
        x: float,
        top: float,
        lines: list[str],
        *,
        align: Literal["left", "center"] = "left",
        bold: bool = False,
        size: float = FONT_SIZE,
    ) -> None:
        """Write lines below each other, from `top`."""
        for number, line in enumerate(lines):
            self.draw_text(x, top + (number + 0.5) * line_height(size), line, align=align, bold=bold, size=size)


def line_height(size: float = FONT_SIZE) -> float:
    """How far one line lies below another."""
    return round(size * 1.4)
