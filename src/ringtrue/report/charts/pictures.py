"""Figures as pictures: SVG inside of a page, and SVG, PNG or PDF that stand alone, for papers and slides.

Charts of a figure are laid out on one sheet: beside each other where they fit, else below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from xml.etree import ElementTree as ET

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.report.charts.palettes import DARK, LIGHT, Palette
from ringtrue.report.model import Bars, Chart, Figure, Forest, Heatmap, Lines, Points

if TYPE_CHECKING:
    from ringtrue.report.charts.sheet import Panel, Sheet

PictureFormat: TypeAlias = Literal["svg", "png", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)
MIN_INCHES, MAX_INCHES = 2.5, 40.0  # inches
MARGIN = 0.06  # of an inch, on all sides
PIXELS_PER_INCH = 96  # as CSS has it
COLUMN_GAP, ROW_GAP = 28.0, 26.0  # between charts, beside and below each other
MIN_FRAME_WIDTH = 285.0  # the width at which a chart with a frame can be read
MIN_HEIGHT = 40.0
TITLE_SIZE, TITLE_GAP = 13.0, 8.0
# Colours that stand for a CSS variable: what is drawn in the third of them will have the third variable's colour.
# Ink comes first and is black, which Matplotlib's SVG does not spell out: words have the colour that the page gives.
_ROLES = sorted(LIGHT.roles(), key=lambda role: role != "ink")
_PLACEHOLDER_COLOURS = {role: f"#0000{number:02x}" for number, role in enumerate(_ROLES)}
_CSS_VARIABLES = {code: f"var(--{role})" for role, code in _PLACEHOLDER_COLOURS.items()}
_PLACEHOLDER_PALETTE = Palette(
    **{role: code for role, code in _PLACEHOLDER_COLOURS.items() if not role.startswith("series-")},
    series=tuple(code for role, code in _PLACEHOLDER_COLOURS.items() if role.startswith("series-")),
)
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
# What the page says already, in a style; digits that nobody sees, and space between the commands of a path.
_FONT_OF_THE_PAGE = re.compile(r"font-family: [^;]*|font-size: 12px; ")
_FURTHER_DIGITS = re.compile(r"(?<=\.\d\d)\d+")
_SPACE_IN_PATH = re.compile(r"\s*([A-Za-z])\s*")


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
            "missing-package",
            f"reports and plots need more packages ({package} is missing): pip install 'ringtrue[plots]', or in a "
            f"copy of the sources pip install '.[plots]'",
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
        raise UsageError("unknown-format", f"a picture cannot be '{file_format}'{near}", parameter="file_format")
    if not MIN_INCHES <= width <= MAX_INCHES:
        text = f"a picture is {MIN_INCHES:g} to {MAX_INCHES:g} inches wide, found {width:g}"
        raise UsageError("bad-width", text, parameter="width")
    with require_plots_extra():
        from matplotlib.transforms import Bbox

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
        from ringtrue.report.charts.sheet import PageRenderer, open_sheet

    stream = StringIO()
    salt = f"{figure.name}-{width_px}"  # ids differ from those of other pictures on the page
    with open_sheet(width_px, _PLACEHOLDER_PALETTE, fonttype="none", hashsalt=salt) as sheet:
        draw_figure(sheet, figure)
        sheet.mpl_figure.patch.set_visible(False)  # the page lies behind
        # not `savefig`, whose renderer measures words in fonts that the reader may not have
        renderer: Any = PageRenderer(sheet.width, sheet.height, stream, metadata=_NO_METADATA)  # type: ignore[no-untyped-call]
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
    picture.extend(list(_visible_elements(ET.fromstring(stream.getvalue()))))
    return ET.tostring(picture, encoding="unicode")


# What draws charts imports Matplotlib, and so is imported by whoever draws: `require_plots_extra` was there before.


def draw_figure(sheet: Sheet, figure: Figure) -> None:
    """Draw all charts of the figure, and make the sheet as high as they need."""
    rows = _draw_rows(sheet, figure.charts)
    heads = [max(panel.top for _, panel in row) for row in rows]
    heights = [
        head + max(panel.height + panel.bottom for _, panel in row) for head, row in zip(heads, rows, strict=True)
    ]
    sheet.set_height(max(MIN_HEIGHT, sum(heights) + ROW_GAP * (len(rows) - 1) + 4))
    top = 2.0
    for row, head, height in zip(rows, heads, heights, strict=True):
        for left, panel in row:
            panel.place(left + panel.left, top + head)
        top += height + ROW_GAP


def _draw_rows(sheet: Sheet, charts: tuple[Chart, ...]) -> list[list[tuple[float, Panel]]]:
    """Rows of charts, where each begins, and what was drawn."""
    from ringtrue.report.charts.heatmaps import heatmap_width

    if not charts:
        return []
    min_width = max(
        min(sheet.width, heatmap_width(chart) if isinstance(chart, Heatmap) else MIN_FRAME_WIDTH) for chart in charts
    )
    max_columns = max(1, min(len(charts), int((sheet.width + COLUMN_GAP) // (min_width + COLUMN_GAP))))
    columns = -(-len(charts) // -(-len(charts) // max_columns))  # four are two and two, not three and one
    width = (sheet.width - COLUMN_GAP * (columns - 1)) / columns
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    return [_draw_forests(sheet, row, width) or _draw_row(sheet, row, width) for row in rows]


def _draw_row(sheet: Sheet, charts: tuple[Chart, ...], width: float) -> list[tuple[float, Panel]]:
    panels = [_draw_chart(sheet, chart, width) for chart in charts]
    return [(number * (width + COLUMN_GAP), panel) for number, panel in enumerate(panels)]


def _draw_forests(sheet: Sheet, charts: tuple[Chart, ...], width: float) -> list[tuple[float, Panel]]:
    """Forests beside each other that have the same names write them once and share what is left; else nothing."""
    from ringtrue.report.charts.row_charts import names_width

    forests = [chart for chart in charts if isinstance(chart, Forest)]
    if len(charts) < 2 or len(forests) < len(charts) or len({forest.names for forest in forests}) > 1:
        return []
    names = names_width(sheet, forests[0].names, width)
    plot_width = (sheet.width - names - COLUMN_GAP * (len(forests) - 1)) / len(forests)
    first, *others = forests
    return [(0.0, _draw_chart(sheet, first, names + plot_width))] + [
        (names + number * (plot_width + COLUMN_GAP), _draw_chart(sheet, forest, plot_width, names=False))
        for number, forest in enumerate(others, start=1)
    ]


def _draw_chart(sheet: Sheet, chart: Chart, width: float, *, names: bool = True) -> Panel:
    from ringtrue.report.charts.heatmaps import draw_heatmap
    from ringtrue.report.charts.row_charts import draw_bars, draw_forest
    from ringtrue.report.charts.xy_charts import draw_lines, draw_points

    match chart:
        case Forest():
            panel = draw_forest(sheet, chart, width, names=names)
        case Bars():
            panel = draw_bars(sheet, chart, width)
        case Lines():
            panel = draw_lines(sheet, chart, width)
        case Heatmap():
            panel = draw_heatmap(sheet, chart, width)
        case Points():
            panel = draw_points(sheet, chart, width)
    if chart.title.strip():
        panel.top += TITLE_GAP
        panel.write_above(chart.title, within=width, size=TITLE_SIZE, bold=True, max_lines=2)
    return panel


def _visible_elements(parent: ET.Element) -> Iterator[ET.Element]:
    """What Matplotlib drew, for a page: without groups that only have a name, and without the style of a file."""
    for element in parent:
        tag = element.tag.rpartition("}")[2]  # without its namespace
        if element.get("id") == "halo":
            element[0].set("class", "halo")
        if tag == "g" and "clip-path" not in element.attrib:
            yield from _visible_elements(element)
            continue
        children = list(_visible_elements(element))
        if children or tag not in ("g", "defs", "style"):
            visible = ET.Element(tag, _page_attributes(element))
            visible.text = element.text if tag == "text" else None
            visible.extend(children)
            yield visible


def _page_attributes(element: ET.Element) -> dict[str, str]:
    """Attributes of an element in few words, with colours by their names on the page."""
    attributes = {}
    for name, value in element.attrib.items():
        match name.rpartition("}")[2]:
            case "style":
                style = _FONT_OF_THE_PAGE.sub("", value).strip("; ").replace("; ", ";").replace(": ", ":")
                attributes["style"] = re.sub("#[0-9a-f]{6}", lambda code: _CSS_VARIABLES[code[0]], style)
            case "d":
                attributes["d"] = _SPACE_IN_PATH.sub(r"\1", _FURTHER_DIGITS.sub("", value)).strip()
            case "x" | "y" | "width" | "height" | "transform" as measure:
                attributes[measure] = "" if value.startswith("rotate(-0 ") else _FURTHER_DIGITS.sub("", value)
            case other:
                attributes[other] = value
    return {name: value for name, value in attributes.items() if value}
