"""`ringtrue convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options import Command, columns_of, conditions_of, input_options, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from ringtrue.files import Format, Kind
    from ringtrue.tables import Judgments, Preferences, Run

__all__ = ["command"]

KINDS = ("run", "judgments", "preferences", "topics", "documents")


@click.command("convert", cls=Command)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--kind", type=click.Choice(KINDS), help="What IN holds, where that cannot be told.")
@click.option("--as", "given", metavar="FORMAT", help="The format of IN; see docs/reference/formats.md.")
@click.option("--to", "wanted", metavar="FORMAT", help="The format of OUT.")
@input_options
@output_options
def command(
    source: str,
    target: str,
    kind: Kind | None,
    given: str | None,
    wanted: str | None,
    columns: tuple[str, ...],
    where: tuple[str, ...],
    form: OutputFormat,
) -> None:
    """The same data in another format.

    What IN holds (run, judgments, preferences, topics, documents) and its format are recognised from its
    content; the format of OUT from its extension. Both may end in .gz or .zst.
    """
    import polars as pl

    from ringtrue import files
    from ringtrue.cli.inputs import known_format
    from ringtrue.files.source import Source

    read_as, write_as = known_format(given), known_format(wanted)
    notes: list[str] = []
    names = columns_of(columns)
    file = Source(source)
    _refuse_same(source, target)
    kind = kind or _kind_of(read_as) or files.recognise_kind(file, columns=names)
    rows_where = conditions_of(where)
    readers: dict[Kind, Callable[..., Run | Judgments | Preferences | pl.DataFrame]] = {
        "run": files.read_run,
        "judgments": files.read_judgments,
        "preferences": files.read_preferences,
        "topics": files.read_topics,
        "documents": files.read_documents,
    }
    table = readers[kind](file, form=read_as, columns=names, where=rows_where, note=notes.append)
    written = files.write_table(table, target, form=write_as, note=notes.append)
    tell(notes)
    rows = (table if isinstance(table, pl.DataFrame) else table.frame).height
    emit(
        form,
        data={"kind": kind, "rows": rows, "format": written, "file": target},
        grid=Grid(columns=["kind", "rows", "format", "file"], rows=[[kind, str(rows), written, target]], left=4),
    )


def _refuse_same(source: str, target: str) -> None:
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise UsageError(f"{target}: a file cannot be converted onto itself; write to another and keep both")


def _kind_of(given: Format | None) -> Kind | None:
    """The only kind of file that comes in this format, if there is only one."""
    from ringtrue.files import FORMATS

    kinds = [kind for kind, forms in FORMATS.items() if given in forms]
    return kinds[0] if len(kinds) == 1 else None
