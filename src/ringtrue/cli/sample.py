"""`ringtrue sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ringtrue.cli.options import Command, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.cli.question import Question, evaluation_options, level_option, runs_and_judgments
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.sampling import GoldDraw

__all__ = ["command"]

USUAL = "P@10"
MOST_RUNS = 12


@click.command("sample", cls=Command)
@runs_and_judgments
@click.option("--budget", type=click.IntRange(1), metavar="DOCS", help="How many documents gold can judge.")
@click.option("--queries", type=click.IntRange(1), metavar="N",
              help="How many whole queries gold can judge: for nDCG, AP, RR, ERR.")  # fmt: skip
@click.option("--for", "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help=f"What will be corrected; may be repeated, or a list. {USUAL} if not said.")  # fmt: skip
@click.option("--compare", "comparing", is_flag=True,
              help="Only to compare the runs: what they share at the same rank is not drawn.")  # fmt: skip
@click.option("--already", metavar="FILE", help="Gold labels of an earlier sample, to be continued.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same sample.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write it: .csv, .tsv, .jsonl, .parquet.")
@level_option
@evaluation_options
@output_options
def command(
    question: Question,
    budget: int | None,
    queries: int | None,
    measures: tuple[str, ...],
    comparing: bool,
    already: str | None,
    seed: int,
    output: str,
    form: OutputFormat,
) -> None:
    """Which documents should the gold judge see?

    Draws documents from what the runs show, each with a known probability: those that decide most, evenly over the
    queries. Fill in a column label, and give the file to evaluate or compare as --gold.
    """
    import numpy as np

    from ringtrue.files import read_judgments, write_table
    from ringtrue.sampling import sample, sample_queries

    if (budget is None) == (queries is None):
        raise UsageError("how much can gold judge? --budget DOCS, or --queries N for whole queries: one of the two")
    if comparing and queries is not None:
        raise UsageError("--compare draws single documents: it goes with --budget")
    wanted = question.measures(measures or [USUAL])
    notes = question.notes
    known = None if already is None else read_judgments(already, note=notes.append)
    labels, runs, rng = question.labels(), list(question.each_run()), np.random.default_rng(seed)

    def drawn() -> GoldDraw:
        if queries is not None:
            return sample_queries(runs, labels, wanted, queries=queries, already=known, rng=rng)
        return sample(runs, labels, wanted, budget=budget or 0, compare=comparing, already=known,
                      level=question.level, rng=rng)  # fmt: skip

    found: GoldDraw = question.explained(drawn)
    write_table(found.frame, output)
    notes += found.notes
    tell(notes)
    data = {
        "design": found.design,
        "documents": found.frame.height,
        "queries": found.frame["query"].n_unique(),
        "expected_half_width": found.expected,
        "file": output,
        "seed": seed,
        "notes": notes,
    }
    emit(form, data=data, grid=lambda: _grids(found, output, question.level))


def _grids(found: GoldDraw, output: str, level: float) -> list[Grid]:
    told = Grid(
        columns=["documents", "queries", "design", "file"],
        rows=[[f"{found.frame.height:,}", str(found.frame["query"].n_unique()), found.design, output]],
        caption=f"next: let gold fill in a column label, then `ringtrue evaluate … --gold {output}`",
        left=0,
    )
    if not found.expected:
        return [told]
    names = list(next(iter(found.expected.values())))
    shown = list(found.expected.items())
    more = f"\n… and {len(shown) - MOST_RUNS} more (--json shows all)" if len(shown) > MOST_RUNS else ""
    widths = Grid(
        columns=["", *names],
        rows=[[run, *(f"±{row[name]:.3f}" for name in names)] for run, row in shown[:MOST_RUNS]],
        caption=f"half of the {level * 100:g}% interval to expect, for these queries, if bronze errs as judges "
        f"usually do{more}",
    )
    return [told, widths]
