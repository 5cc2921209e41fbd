"""`ringtrue pool`."""

from __future__ import annotations

import click

from ringtrue.cli.options import Command, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, tell

__all__ = ["command"]


@click.command("pool", cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--depth", type=click.IntRange(min=1), required=True, help="How many documents of each run.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write it: .csv, .tsv, .jsonl, .parquet.")
@output_options
def command(runs: tuple[str, ...], depth: int, output: str, form: OutputFormat) -> None:
    """Which documents should be judged at all?

    Writes the union of the runs' first documents: query, doc, how many runs found it, and its best rank.
    """
    from ringtrue.cli.inputs import read_runs
    from ringtrue.files import write_table
    from ringtrue.pooling import pool

    notes: list[str] = []
    found = pool(read_runs(runs, note=notes.append), depth=depth)
    write_table(found, output)
    tell(notes)
    queries = found["query"].n_unique()
    grid = Grid(
        columns=["pairs", "queries", "runs", "file"],
        rows=[[str(found.height), str(queries), str(len(runs)), output]],
        left=0,
    )
    emit(form, data={"pairs": found.height, "queries": queries}, grid=grid)
