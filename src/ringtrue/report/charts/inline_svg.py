"""A figure as SVG inside of a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ringtrue.report.charts.optional_packages import the_extra
from ringtrue.report.charts.palettes import LIGHT, Palette

if TYPE_CHECKING:
    from ringtrue.report.model import Figure

__all__ = ["inline_svg"]

# Colours that stand for a CSS variable: what is drawn in the third of them will have the third variable's colour.
_CODES = {role: f"#0000{number:02x}" for number, role in enumerate(LIGHT.roles(), start=1)}
_VARIABLES = {code: f"var(--{role})" for role, code in _CODES.items()}
_STANDING_FOR = Palette(
    **{role: code for role, code in _CODES.items() if not role.startswith("series-")},
    series=tuple(code for role, code in _CODES.items() if role.startswith("series-")),
)


def inline_svg(figure: Figure, *, width_px: int) -> str:
    """The figure, so many pixels wide: words in the font of the page, colours by the names of `Palette.roles`.

    The page has the title and the sentence of the figure in elements with the ids `NAME-title` and `NAME-sentence`,
    which tell who cannot see the picture what it shows. The same figure gives the same text.
    """
    with the_extra():
        from ringtrue.report.charts.figure_layout import drawn
        from ringtrue.report.charts.matplotlib_settings import our_settings
        from ringtrue.report.charts.svg_renderer import PageRenderer

    with our_settings():
        sheet = drawn(figure, width_px, _STANDING_FOR, plain=False)
        sheet.drawing.patch.set_visible(False)  # the page lies behind
        renderer = PageRenderer(sheet.width, sheet.height, _VARIABLES, f"{figure.name}-{width_px}")
        sheet.drawing.draw(renderer)
    name = escape(figure.name)
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-sentence" viewBox="0 0 {width_px} {sheet.height:g}" '
        f'width="{width_px}" height="{sheet.height:g}">{"".join(renderer.elements)}</svg>'
    )
