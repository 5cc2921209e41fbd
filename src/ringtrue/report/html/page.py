"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.messages import PYTHON_CALLS, CallSpelling, spell
from ringtrue.report.charts.palettes import DARK, LIGHT, Palette
from ringtrue.report.charts.pictures import inline_svg, require_plots_extra

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from ringtrue.report.model import Figure, Report, Section

WIDE_PX, NARROW_PX = 720, 320  # pixels: a picture for screens, and one for phones


def render_page(report: Report, spelling: CallSpelling = PYTHON_CALLS) -> str:
    """The report as a page: no script, nothing from the network, light or dark as the reader has it, fit to print.

    The same report gives the same page, byte by byte. `spelling` writes what can be set, and what to do next.

    Examples:
        >>> import ringtrue as rt
        >>> runs = {"new": {"q1": {"a": 2.0, "b": 1.0}}, "old": {"q1": {"b": 2.0, "a": 1.0}}}
        >>> render_page(rt.report(runs, {"q1": {"a": 1}}, "RR"))[:15]
        '<!doctype html>'
    """
    with require_plots_extra():
        from markupsafe import Markup

    from ringtrue._version import __version__

    def render_pictures(figure: Figure) -> Markup:
        wide, narrow = (inline_svg(figure, width_px=width) for width in (WIDE_PX, NARROW_PX))
        # All words of a picture were escaped when it was drawn.
        return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')

    options = spelling.arguments_of("report")
    text = _load_template().render(
        report=report,
        spelled=lambda note: spell(note, options),
        calls=lambda section: _calls_grid(section, spelling),
        pictures=render_pictures,
        version=__version__,
        style=Markup(_read_asset("report.css")),
        light=Markup(_css_variables(LIGHT)),
        dark=Markup(_css_variables(DARK)),
        titles=_sections_by_answer(report),
    )
    # Names may hold halves of surrogates, which no file can.
    return text.encode("utf-8", "replace").decode()


def _calls_grid(section: Section, spelling: CallSpelling) -> Grid:
    """What to do next: what each call does, and how it is written."""
    rows = [[call.purpose, spelling.call(call)] for call in section.calls]
    return Grid(columns=["what it does", "how"], rows=rows, left=2)


def _sections_by_answer(report: Report) -> dict[str, tuple[str, str]]:
    """Each answer's section: its name and its title."""
    return {section.answer: (section.name, section.title) for section in report.sections if section.answer}


def _css_variables(palette: Palette) -> str:
    return "".join(f"--{role}:{colour};" for role, colour in palette.roles().items())


def _read_asset(name: str) -> str:
    return files("ringtrue.report.html").joinpath(name).read_text("utf-8")


@cache
def _load_template() -> Template:
    with require_plots_extra():
        from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["words"] = _mark_up_code
    return environment.from_string(_read_asset("report.html"))


def _mark_up_code(text: str) -> Markup:
    """A sentence in which what stands between `two marks` is to be typed."""
    from markupsafe import Markup

    parts = text.split("`")
    if len(parts) % 2 == 0:  # a mark without its other
        parts = [text]
    typed = Markup("<code>{}</code>")
    return Markup("").join(typed.format(part) if number % 2 else part for number, part in enumerate(parts))
