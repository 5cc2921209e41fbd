"""`ringtrue report`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.files import refuse_to_overwrite
from ringtrue.cli.options.report import Asked, material_options
from ringtrue.cli.output import Grid, OutputFormat, emit, steps, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.report import Report

__all__ = ["command"]

WIDTH = 100


@click.command("report", cls=Command)
@material_options
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE", help="Where to write it.")
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@output_options
def command(asked: Asked, output: str, opens: bool, form: OutputFormat) -> None:
    """Show me everything on one page.

    Writes one HTML file with a section for whatever is given: how good each run is, raw and corrected, which are
    really better, where they differ, how far the judges can be trusted, and what to judge next. It needs no network,
    and can be sent and printed.
    """
    from ringtrue.report.build import SECTIONS, made_from

    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"-o {output}: the report is a page; choose a name that ends in .html")
    refuse_to_overwrite(asked.paths, output)
    with steps(len(SECTIONS) + 2, what="reading") as step:
        material = asked.read()
        report = asked.explained(lambda: made_from(material, progress=step))
        step("drawing")
        report.save(output)
    notes = [*asked.question.notes, *report.notes]
    tell(notes)
    data = {
        "report": output, "answers": list(report.answers), "figures": [figure.name for figure in report.figures()],
        "absent": dict(report.absent), "notes": notes,
    }  # fmt: skip
    if form == "table":
        click.echo(_told(report, output))
    else:
        emit(form, data=data, grid=partial(_grid, report))
    if opens and not _opened(output):
        click.echo(f"note: no browser was found to open {output} in", err=True)


def _told(report: Report, output: str) -> str:
    """The answers in short, what is not on the page, and where the page is."""
    told = [f"{one.title}{'' if one.title.endswith('?') else ':'} {one.answer}" for one in report.sections]
    told += [f"Not there: {title} ({why})" for title, why in report.absent]
    lines = [fill(text, WIDTH, subsequent_indent="  ") for text in told]
    return "\n".join([*lines, "", f"{output} has it all on one page; open it in a browser."])


def _grid(report: Report) -> Grid:
    return Grid(columns=["section", "answer"], left=2, rows=[[one.title, one.answer] for one in report.sections])


def _opened(path: str) -> bool:
    import webbrowser

    sys.stdout.flush()
    return webbrowser.open(Path(path).resolve().as_uri())
