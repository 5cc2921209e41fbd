"""A figure as a picture that stands alone, for papers and slides."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.report.charts.optional_packages import the_extra
from ringtrue.report.charts.palettes import DARK, LIGHT

if TYPE_CHECKING:
    from ringtrue.report.model import Figure

__all__ = ["FORMS", "PictureForm", "picture"]

PictureForm: TypeAlias = Literal["svg", "png", "pdf"]
FORMS: tuple[PictureForm, ...] = get_args(PictureForm)
NARROWEST, WIDEST = 2.5, 40.0  # inches
MARGIN = 0.06  # of an inch, on all sides


def picture(figure: Figure, form: PictureForm, *, width: float = 6.5, dark: bool = False, dpi: int = 200) -> bytes:
    """The charts of a figure, so many inches wide; words are 9 points high. The caption is yours to write.

    `dpi` is for PNG: how many pixels an inch has. Letters of SVG are drawn as paths and those of PDF are embedded as
    TrueType, so that a picture looks alike everywhere; what the font has not, such as an emoji, is a box. The same
    figure gives the same bytes.

    Examples:
        >>> from ringtrue.formatting.grid import Grid
        >>> from ringtrue.report.model import Bars, Figure
        >>> bars = Bars(names=("a", "b"), values=(0.2, 0.4), across="AP")
        >>> figure = Figure(name="demo", title="?", sentence="", charts=(bars,), table=Grid(columns=[], rows=[]))
        >>> picture(figure, "png")[1:4]
        b'PNG'
    """
    if form not in FORMS:
        near = did_you_mean(form, FORMS) or f"; expected {', '.join(FORMS)}"
        raise UsageError(f"a picture cannot be '{form}'{near}")
    if not NARROWEST <= width <= WIDEST:
        raise UsageError(f"a picture is {NARROWEST:g} to {WIDEST:g} inches wide, not {width:g}")
    with the_extra():
        from matplotlib.transforms import Bbox

        from ringtrue.report.charts.figure_layout import drawn
        from ringtrue.report.charts.matplotlib_settings import our_settings
        from ringtrue.report.charts.sheet import DPI

    none_of = {"svg": ("Date", "Creator"), "png": ("Software",), "pdf": ("CreationDate", "Creator", "Producer")}
    into = BytesIO()
    with our_settings():
        sheet = drawn(figure, (width - 2 * MARGIN) * DPI, DARK if dark else LIGHT, plain=True)
        paper = Bbox.from_extents(-MARGIN, -MARGIN, width - MARGIN, sheet.height / DPI + MARGIN)
        about = {"Title": sheet.words(figure.title), **dict.fromkeys(none_of[form])}
        sheet.drawing.savefig(into, format=form, dpi=dpi, metadata=about, bbox_inches=paper)
    return into.getvalue()
