"""`ringtrue measures`."""

from __future__ import annotations

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.formatting.grid import Grid


@click.command("measures", cls=Command)
@output_options
def command(form: OutputFormat) -> None:
    """Which measures are there, and how are they written?

    k is a rank, r a recall level from 0 to 1; what stands in brackets may be left out. Every parameter may be
    left out too, and then has the value shown. `judged_only=True` in any measure leaves out the documents
    that nobody judged. The names of trec_eval (ndcg_cut_10, map, P_5) are understood as well.
    """
    from ringtrue.evaluation.measures import CATALOGUE

    definitions = list(CATALOGUE.values())
    entries = [
        {
            "name": definition.name,
            "usage": definition.usage,
            "cutoff": definition.cutoff,
            "parameters": dict(definition.defaults),
            "summary": definition.summary,
        }
        for definition in definitions
    ]
    rows = [[definition.usage, definition.summary] for definition in definitions]
    emit(form, payload={"measures": entries}, grid=Grid(columns=["measure", "what it is"], rows=rows, left=2))
