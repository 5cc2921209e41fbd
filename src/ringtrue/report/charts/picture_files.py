"""A figure as a picture that stands alone, for papers and slides."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.report.charts.optional_packages import require_plots_extra
from ringtrue.report.charts.palettes import DARK, LIGHT

if TYPE_CHECKING:
    from ringtrue.report.model import Figure

PictureFormat: TypeAlias = Literal["svg", "png", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)
MIN_INCHES, MAX_INCHES = 2.5, 40.0  # inches
MARGIN = 0.06  # of an inch, on all sides


def render_picture(
    figure: Figure, file_format: PictureFormat, *, width: float = 6.5, dark: bool = False, dpi: int = 200
) -> bytes:
    """The charts of a figure, so many inches wide; words are 9 points high. The caption is yours to write.

    `dpi` is for PNG: how many pixels an inch has. Letters of SVG are drawn as paths and those of PDF are embedded as
    TrueType, so that a picture looks alike everywhere; what the font has not, such as an emoji, is a box. The same
    figure gives the same bytes.

    Examples:
        >>> from ringtrue.formatting.grid import Grid
        >>> from ringtrue.report.model import Bars, Figure
        >>> bars = Bars(names=("a", "b"), values=(0.2, 0.4), across="AP")
        >>> figure = Figure(name="demo", title="?", sentence="", charts=(bars,), table=Grid(columns=[], rows=[]))
        >>> render_picture(figure, "png")[1:4]
        b'PNG'
    """
    if file_format not in PICTURE_FORMATS:
        near = did_you_mean(file_format, PICTURE_FORMATS) or f"; expected {', '.join(PICTURE_FORMATS)}"
        raise UsageError(f"a picture cannot be '{file_format}'{near}")
    if not MIN_INCHES <= width <= MAX_INCHES:
        raise UsageError(f"a picture is {MIN_INCHES:g} to {MAX_INCHES:g} inches wide, not {width:g}")
    with require_plots_extra():
        from matplotlib.transforms import Bbox

        from ringtrue.report.charts.canvas import DPI
        from ringtrue.report.charts.figure_layout import draw_figure
        from ringtrue.report.charts.matplotlib_settings import use_our_settings

    omitted_metadata = {
        "svg": ("Date", "Creator"),
        "png": ("Software",),
        "pdf": ("CreationDate", "Creator", "Producer"),
    }
    stream = BytesIO()
    with use_our_settings():
        sheet = draw_figure(figure, (width - 2 * MARGIN) * DPI, DARK if dark else LIGHT, single_font=True)
        page_bounds = Bbox.from_extents(-MARGIN, -MARGIN, width - MARGIN, sheet.height / DPI + MARGIN)
        metadata = {"Title": sheet.displayable(figure.title), **dict.fromkeys(omitted_metadata[file_format])}
        sheet.mpl_figure.savefig(stream, format=file_format, dpi=dpi, metadata=metadata, bbox_inches=page_bounds)
    return stream.getvalue()
