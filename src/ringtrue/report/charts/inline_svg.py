"""A figure as SVG inside of a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ringtrue.report.charts.optional_packages import require_plots_extra
from ringtrue.report.charts.palettes import LIGHT, Palette

if TYPE_CHECKING:
    from ringtrue.report.model import Figure

# Colours that stand for a CSS variable: what is drawn in the third of them will have the third variable's colour.
_PLACEHOLDER_COLOURS = {role: f"#0000{number:02x}" for number, role in enumerate(LIGHT.roles(), start=1)}
_CSS_VARIABLES = {code: f"var(--{role})" for role, code in _PLACEHOLDER_COLOURS.items()}
_PLACEHOLDER_PALETTE = Palette(
    **{role: code for role, code in _PLACEHOLDER_COLOURS.items() if not role.startswith("series-")},
    series=tuple(code for role, code in _PLACEHOLDER_COLOURS.items() if role.startswith("series-")),
)


def inline_svg(figure: Figure, *, width_px: int) -> str:
    """The figure, so many pixels wide: words in the font of the page, colours by the names of `Palette.roles`.

    The page has the title and the sentence of the figure in elements with the ids `NAME-title` and `NAME-sentence`,
    which tell who cannot see the picture what it shows. The same figure gives the same text.
    """
    with require_plots_extra():
        from ringtrue.report.charts.figure_layout import draw_figure
        from ringtrue.report.charts.matplotlib_settings import use_our_settings
        from ringtrue.report.charts.svg_renderer import InlineSvgRenderer

    with use_our_settings():
        sheet = draw_figure(figure, width_px, _PLACEHOLDER_PALETTE, single_font=False)
        sheet.mpl_figure.patch.set_visible(False)  # the page lies behind
        renderer = InlineSvgRenderer(sheet.width, sheet.height, _CSS_VARIABLES, f"{figure.name}-{width_px}")
        sheet.mpl_figure.draw(renderer)
    name = escape(figure.name)
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-sentence" viewBox="0 0 {width_px} {sheet.height:g}" '
        f'width="{width_px}" height="{sheet.height:g}">{"".join(renderer.elements)}</svg>'
    )
