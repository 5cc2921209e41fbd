"""Figures as pictures: SVG inside of a page, and SVG, PNG or PDF that stand alone, for papers and slides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from xml.etree import ElementTree as ET

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.report.charts.palettes import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from ringtrue.report.model import Figure

PictureFormat: TypeAlias = Literal["svg", "png", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)
MIN_INCHES, MAX_INCHES = 2.5, 40.0  # inches
MARGIN = 0.06  # of an inch, on all sides
PIXELS_PER_INCH = 96  # as CSS has it
# Colours that stand for a CSS variable: what is drawn in the third of them will have the third variable's colour.
# Ink comes first and is black, which Matplotlib's SVG does not spell out: words have the colour that the page gives.
_ROLES = sorted(LIGHT.roles(), key=lambda role: role != "ink")
_PLACEHOLDER_COLOURS = {role: f"#0000{number:02x}" for number, role in enumerate(_ROLES)}
_CSS_VARIABLES = {code: f"var(--{role})" for role, code in _PLACEHOLDER_COLOURS.items()}
_PLACEHOLDER_PALETTE = Palette(
    **{role: code for role, code in _PLACEHOLDER_COLOURS.items() if not role.startswith("series-")},
    series=tuple(code for role, code in _PLACEHOLDER_COLOURS.items() if role.startswith("series-")),
)
_STYLE_CHANGES = [
    (re.compile(r"font-family: [^;]*;? ?|font-size: 12px; |; *$"), ""),
    (re.compile(r"([:;]) "), r"\1"),
]
_METADATA = ("Date", "Creator", "Format", "Type")
_MANY_DECIMALS = re.compile(r"(\.\d\d)\d+")
_PATH_SPACE = re.compile(r"\s*([A-Za-z])\s*")


@contextmanager
def require_plots_extra() -> Iterator[None]:
    """Around imports of what `ringtrue[plots]` brings: whoever has it not is told how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ringtrue"):
            raise
        package = (error.name or "").partition(".")[0]
        raise UsageError(
            f"reports and plots need more packages ({package} is missing): pip install 'ringtrue[plots]', or in a "
            f"copy of the sources pip install '.[plots]'"
        ) from None


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

        from ringtrue.report.charts.figure_layout import draw_figure
        from ringtrue.report.charts.sheet import POINTS_PER_INCH, open_sheet

    omitted_metadata = {
        "svg": ("Date", "Creator"),
        "png": ("Software",),
        "pdf": ("CreationDate", "Creator", "Producer"),
    }
    stream = BytesIO()
    palette, pixel = DARK if dark else LIGHT, POINTS_PER_INCH / PIXELS_PER_INCH
    with open_sheet((width - 2 * MARGIN) * PIXELS_PER_INCH, palette, pixel=pixel, single_font=True) as sheet:
        draw_figure(sheet, figure)
        page_bounds = Bbox.from_extents(-MARGIN, -MARGIN, width - MARGIN, sheet.height / PIXELS_PER_INCH + MARGIN)
        metadata = {"Title": sheet.displayable(figure.title), **dict.fromkeys(omitted_metadata[file_format])}
        sheet.mpl_figure.savefig(stream, format=file_format, dpi=dpi, metadata=metadata, bbox_inches=page_bounds)
    return stream.getvalue()


def inline_svg(figure: Figure, *, width_px: int) -> str:
    """The figure, so many pixels wide: words in the font of the page, colours by the names of `Palette.roles`.

    The page has the title and the sentence of the figure in elements with the ids `NAME-title` and `NAME-sentence`,
    which tell who cannot see the picture what it shows. The same figure gives the same text.
    """
    with require_plots_extra():
        from ringtrue.report.charts.figure_layout import draw_figure
        from ringtrue.report.charts.sheet import PageRenderer, open_sheet

    stream = StringIO()
    salt = f"{figure.name}-{width_px}"  # ids differ from those of other pictures on the page
    with open_sheet(width_px, _PLACEHOLDER_PALETTE, fonttype="none", hashsalt=salt) as sheet:
        draw_figure(sheet, figure)
        sheet.mpl_figure.patch.set_visible(False)  # the page lies behind
        renderer: Any = PageRenderer(sheet.width, sheet.height, stream, metadata=dict.fromkeys(_METADATA))  # type: ignore[no-untyped-call]
        sheet.mpl_figure.draw(renderer)
        renderer.finalize()
    picture = ET.Element(
        "svg",
        {
            "role": "img",
            "aria-labelledby": f"{figure.name}-title {figure.name}-sentence",
            "viewBox": f"0 0 {width_px} {sheet.height:g}",
            "width": f"{width_px}",
            "height": f"{sheet.height:g}",
        },
    )
    picture.extend(_elements_to_keep(ET.fromstring(_without_namespaces(stream.getvalue()))))
    return ET.tostring(picture, encoding="unicode")


def _without_namespaces(svg: str) -> str:
    return re.sub(r' xmlns[:\w]*="[^"]*"', "", svg, count=9).replace("xlink:href=", "href=")


def _elements_to_keep(parent: ET.Element) -> Iterator[ET.Element]:
    """What is seen, without groups that only have a name; the page has the style."""
    for element in parent:
        element.tail = None
        if element.tag == "g" and element.get("id") == "halo":
            element[0].set("class", "halo")
        if element.tag == "g" and "clip-path" not in element.attrib:
            yield from _elements_to_keep(element)
        elif element.tag not in ("style",):
            element.attrib = _shorter(element.attrib)
            children = list(_elements_to_keep(element))
            element[:] = children
            if element.tag != "text":
                element.text = None
            if children or element.tag not in ("g", "defs"):
                yield element


def _shorter(attributes: dict[str, str]) -> dict[str, str]:
    """Attributes of an element for the page: its colours by name, its font, and no digits that nobody sees."""
    shorter = {name: _shorter_value(name, value) for name, value in attributes.items()}
    return {name: value for name, value in shorter.items() if value}


def _shorter_value(name: str, value: str) -> str:
    if name == "style":
        for pattern, replacement in _STYLE_CHANGES:
            value = pattern.sub(replacement, value)
        return re.sub("#[0-9a-f]{6}", lambda code: _CSS_VARIABLES[code[0]], value)
    if name == "transform" and value.startswith("rotate(-0 "):
        return ""
    if name in ("id", "href", "clip-path"):
        return value
    value = _MANY_DECIMALS.sub(r"\1", value)
    return _PATH_SPACE.sub(r"\1", value) if name == "d" else value
