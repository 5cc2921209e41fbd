"""`ringtrue doctor`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from ringtrue.cli.options.common import ALL_OTHERS, Command, output_options, require_one_stdin
from ringtrue.cli.output import OutputFormat, emit, progress_bar


@click.command("doctor", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@output_options
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], form: OutputFormat) -> None:
    """What can I do with these files?

    Tells what each file is (a run, judgments, preferences, a gold sample, topics, …), counts, how the files overlap,
    and what looks odd. Then prints the commands that can be asked of these very files, ready to be copied, and what is
    missing for the others. Nothing is written. A file that cannot be read is listed with what is wrong; the exit code
    is 1 only if none can be used.
    """
    from ringtrue.cli.tables.doctor import as_grids, as_text
    from ringtrue.doctor import examine

    require_one_stdin(files, ALL_OTHERS)
    size = sum(Path(path).stat().st_size for path in set(files) if Path(path).is_file())
    with progress_bar(size, description="reading") as advance:
        diagnosis = examine(files, progress=advance)
    if form == "table":
        click.echo(as_text(diagnosis), color=False if "NO_COLOR" in os.environ else None)
    else:
        emit(form, payload=diagnosis.as_dict(), grid=partial(as_grids, diagnosis))
    if not diagnosis.recognised:
        ctx.exit(1)
