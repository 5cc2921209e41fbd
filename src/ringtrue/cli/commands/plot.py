"""`ringtrue plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.files import refuse_to_overwrite
from ringtrue.cli.options.report import Asked, material_options
from ringtrue.cli.output import OutputFormat, emit, tell
from ringtrue.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ringtrue.report import Figure, Report

__all__ = ["command"]


class _Plot(Command):
    """Names every figure below the options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        from ringtrue.report.build import FIGURES

        with formatter.section("Figures"):
            formatter.write_dl(list(FIGURES.items()))


@click.command("plot", cls=_Plot)
@click.argument("figure")
@material_options
@click.option("-o", "--output", metavar="FILE", help="Where to write it: .svg, .png or .pdf. FIGURE.svg if not said.")
@click.option("--width", type=click.FloatRange(2, 40), default=6.5, show_default=True, help="In inches.")
@click.option("--dark", is_flag=True, help="Light on dark.")
@output_options
def command(figure: str, asked: Asked, output: str | None, width: float, dark: bool, form: OutputFormat) -> None:
    """One figure of the report, for a paper or a slide.

    Takes what `ringtrue report` takes, as far as FIGURE needs it, and prints the numbers of the picture.
    """
    from ringtrue.report.build import FIGURES, made_from

    if figure not in FIGURES:
        near = did_you_mean(figure, FIGURES) or f"; there are {', '.join(FIGURES)}"
        raise UsageError(f"no figure '{figure}'{near}")
    path = output or f"{figure}.svg"
    refuse_to_overwrite(asked.paths, path)
    material = asked.read()
    report = asked.explained(lambda: made_from(material, only=[figure]))
    if figure not in [one.name for one in report.figures()]:
        raise UsageError(f"'{figure}' cannot be drawn from this: {_why_not(figure, asked, report)}")
    drawn: Figure = report.figure(figure)
    drawn.save(path, width=width, dark=dark)
    notes = [*asked.question.notes, *drawn.notes]
    tell(notes)
    data = {
        "plot": path, "figure": figure, "title": drawn.title, "sentence": drawn.sentence,
        "table": {"columns": list(drawn.table.columns), "rows": [list(row) for row in drawn.table.rows]},
        "notes": notes,
    }  # fmt: skip
    emit(form, data=data, grid=drawn.table)
    if form == "table":
        click.echo(f"\n{drawn.sentence}\n\n{path} has the picture.")


def _why_not(figure: str, asked: Asked, report: Report) -> str:
    """What has to be given for a figure that its section lacks, or else what the section says in its place."""
    if report.absent:
        return "; ".join(f"{title}: {reason}" for title, reason in report.absent)
    needs = {"traps": (asked.traps, "items with a known answer: add --traps FILE"),
             "confusion-by-judge": (asked.labels, "labels of several judges: add --labels FILE")}  # fmt: skip
    given, words = needs.get(figure, ("nothing", ""))
    if given is None:
        return f"it needs {words}"
    return " ".join(text for one in report.sections for text in (one.answer, *one.notes))
