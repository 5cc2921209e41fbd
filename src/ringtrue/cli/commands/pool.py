"""`ringtrue pool`."""

from __future__ import annotations

import click

from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note


@click.command("pool", cls=common.Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@option("--depth K", "Cut every list at this rank.", type=common.POSITIVE, required=True)
@common.table_output_option
@common.as_option
@common.columns_option
@common.output_options
def command(
    runs: tuple[str, ...],
    depth: int,
    output: str,
    forced: tuple[str, ...],
    columns: tuple[str, ...],
    form: OutputFormat,
) -> None:
    """Which documents should be judged at all?

    Writes the union of the runs' first documents: query, doc, how many runs found it, and its best rank.
    """
    from ringtrue.cli.options.files import formats_by_kind, read_runs
    from ringtrue.evaluation.inputs import pool
    from ringtrue.files import write_table

    notes: list[Note] = []
    pooled = pool(
        read_runs(
            runs, form=formats_by_kind(["run"], forced)["run"], columns=common.parse_columns(columns), note=notes.append
        ),
        depth=depth,
    )
    write_table(pooled, output)
    queries = pooled["query"].n_unique()
    grid = Grid(
        columns=["pairs", "queries", "runs", "file"],
        rows=[[str(pooled.height), str(queries), str(len(runs)), output]],
        left=0,
    )
    emit(form, notes=notes, payload={"pairs": pooled.height, "queries": queries}, grid=grid)
