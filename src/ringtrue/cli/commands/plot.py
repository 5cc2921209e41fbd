"""`ringtrue plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ringtrue.cli.commands.report import ReportOptions, report_options
from ringtrue.cli.options.common import Command, option, output_option, output_options
from ringtrue.cli.options.files import refuse_to_overwrite
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import UsageError, did_you_mean
from ringtrue.messages import Note, Suggestion

if TYPE_CHECKING:
    from ringtrue.report import Figure, Report


class _Plot(Command):
    """Names every figure below the options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        from ringtrue.report.build import FIGURES

        with formatter.section("Figures"):
            formatter.write_dl(list(FIGURES.items()))


@click.command("plot", cls=_Plot)
@click.argument("figure")
@report_options
@output_option(".svg, .png or .pdf", show_default="FIGURE.svg")
@option("--width", "In inches.", type=click.FloatRange(2, 40), default=6.5)
@option("--dark", "Light on dark.", is_flag=True)
@output_options
def command(
    figure: str, report_opts: ReportOptions, output: str | None, width: float, dark: bool, form: OutputFormat
) -> None:
    """One figure of the report, for a paper or a slide.

    Takes what `ringtrue report` takes, as far as FIGURE needs it, and prints the numbers of the picture.
    """
    from ringtrue.report.build import FIGURES, build_report

    if figure not in FIGURES:
        suggestion = did_you_mean(figure, FIGURES) or f"; there are {', '.join(FIGURES)}"
        raise UsageError("no-such-figure", f"no figure '{figure}'{suggestion}")
    path = output or f"{figure}.svg"
    refuse_to_overwrite(report_opts.paths, path)
    inputs = report_opts.read_inputs()
    report = report_opts.explain_errors(lambda: build_report(inputs, figure_names=[figure]))
    if figure not in [available.name for available in report.figures()]:
        raise UsageError.of(_why_not_drawn(figure, report_opts, report).about(f"'{figure}' cannot be drawn from this"))
    drawn_figure: Figure = report.figure(figure)
    drawn_figure.save(path, width=width, dark=dark)
    notes = [*report_opts.run_inputs.notes, *drawn_figure.notes]
    payload = {
        "plot": path,
        "figure": figure,
        "title": drawn_figure.title,
        "sentence": drawn_figure.sentence,
        "table": {"columns": list(drawn_figure.table.columns), "rows": [list(row) for row in drawn_figure.table.rows]},
    }
    emit(form, notes=notes, payload=payload, grid=drawn_figure.table)
    if form == "table":
        click.echo(f"\n{drawn_figure.sentence}\n\n{path} has the picture.")


def _why_not_drawn(figure: str, report_opts: ReportOptions, report: Report) -> Note:
    """What has to be given for a figure that its section lacks, or else what the section says in its place."""
    if report.absent:
        reasons = [reason.about(titles) for titles, reason in report.absent]
        return reasons[0].changed(text="; ".join([reasons[0].text, *(reason.sentence for reason in reasons[1:])]))
    if figure == "traps" and report_opts.traps is None:
        give_traps = Suggestion("gives some", traps=...)
        return Note("not-given", "it needs items with a known answer", suggestions=[give_traps])
    if figure == "confusion-by-judge" and report_opts.labels is None:
        give_labels = Suggestion("gives some", labels=...)
        return Note("not-given", "it needs labels of several judges", suggestions=[give_labels])
    texts = [part for section in report.sections for part in (section.answer, *(note.text for note in section.notes))]
    return Note("figure-without-data", " ".join(texts))
