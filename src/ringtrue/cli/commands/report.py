"""`ringtrue report`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, option, output_options
from ringtrue.cli.options.files import refuse_to_overwrite
from ringtrue.cli.options.report import ReportOptions, report_options
from ringtrue.cli.output import OutputFormat, emit, print_notes, step_bar
from ringtrue.errors import UsageError
from ringtrue.formatting.grid import Grid

if TYPE_CHECKING:
    from ringtrue.report import Report

WIDTH = 100


@click.command("report", cls=Command)
@report_options
@option("-o, --output FILE", "Where to write it.", default="report.html")
@option("--open", "Open it in a browser.", to="opens", is_flag=True)
@output_options
def command(report_opts: ReportOptions, output: str, opens: bool, form: OutputFormat) -> None:
    """Show me everything on one page.

    Writes one HTML file with a section for whatever is given: how good each run is, raw and corrected, which are
    really better, where they differ, how far the judges can be trusted, and what to judge next. It needs no network,
    and can be sent and printed.
    """
    from ringtrue.report.build import SECTIONS, build_report

    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"-o {output}: the report is a page; choose a name that ends in .html")
    refuse_to_overwrite(report_opts.paths, output)
    with step_bar(len(SECTIONS) + 2, description="reading") as step:
        inputs = report_opts.read_inputs()
        report = report_opts.explain_errors(lambda: build_report(inputs, progress=step))
        step("drawing")
        report.save(output)
    notes = [*report_opts.run_inputs.notes, *report.notes]
    print_notes(notes)
    payload = {
        "report": output,
        "answers": list(report.answers),
        "figures": [figure.name for figure in report.figures()],
        "absent": dict(report.absent),
        "notes": notes,
    }
    if form == "table":
        click.echo(_summarise_report(report, output))
    else:
        emit(form, payload=payload, grid=partial(_answers_grid, report))
    if opens and not _open_in_browser(output):
        click.echo(f"note: no browser was found to open {output} in", err=True)


def _summarise_report(report: Report, output: str) -> str:
    """The answers in short, what is not on the page, and where the page is."""
    paragraphs = [
        f"{section.title}{'' if section.title.endswith('?') else ':'} {section.answer}" for section in report.sections
    ]
    paragraphs += [f"Not there: {title} ({why})" for title, why in report.absent]
    lines = [fill(paragraph, WIDTH, subsequent_indent="  ") for paragraph in paragraphs]
    return "\n".join([*lines, "", f"{output} has it all on one page; open it in a browser."])


def _answers_grid(report: Report) -> Grid:
    return Grid(
        columns=["section", "answer"], left=2, rows=[[section.title, section.answer] for section in report.sections]
    )


def _open_in_browser(path: str) -> bool:
    import webbrowser

    sys.stdout.flush()
    return webbrowser.open(Path(path).resolve().as_uri())
