"""`ringtrue sample`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.files import refuse_to_lose, refuse_to_overwrite
from ringtrue.cli.options.gold import read_gold, refuse_other_ways
from ringtrue.cli.options.runs import Question, evaluation_options, level_option, runs_and_judgments
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import InputError, UsageError

if TYPE_CHECKING:
    from ringtrue.gold.sampling import GoldDraw
    from ringtrue.tables import Judgments

__all__ = ["command"]

USUAL = "P@10"
KINDS = {  # which earlier samples can be continued, and by which option
    "--budget": ("pool_stratified", "pool_random"),
    "--queries": ("whole_queries",),
}
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

    from ringtrue.files import write_table
    from ringtrue.gold.sampling import sample, sample_queries

    if (budget is None) == (queries is None):
        raise UsageError("how much can gold judge? --budget DOCS, or --queries N for whole queries: one of the two")
    if comparing and queries is not None:
        raise UsageError("--compare draws single documents: it goes with --budget")
    refuse_other_ways(question, "says nothing to sample, which draws for the measures as they are: leave it out")
    refuse_to_overwrite((question.judgments, *question.runs, *([already] if already else [])), output)
    refuse_to_lose("label", output, instead=f"continue it (--already {output} -o ANOTHER)")
    wanted = question.measures(measures or [USUAL])
    notes = question.notes
    known = None if already is None else _earlier(question, already, "--budget" if queries is None else "--queries")
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
    to_judge = found.frame.height if known is None else int(found.frame["label"].null_count())
    data = {
        "design": found.design,
        "documents": found.frame.height,
        "to_judge": to_judge,
        "queries": found.frame["query"].n_unique(),
        "expected_half_width": found.expected,
        "file": output,
        "seed": seed,
        "notes": notes,
    }
    next_step = f"ringtrue {'compare' if comparing else 'evaluate'} … --gold {output}"
    emit(form, data=data, grid=partial(_grids, found, to_judge, output, question.level, next_step),
         flat=partial(_flat, found, data))  # fmt: skip


def _earlier(question: Question, already: str, option: str) -> Judgments:
    """The gold labels of an earlier draw, of the kind that the option draws."""
    from ringtrue.files.source import Source

    if already == "-" and "-" in (question.judgments, *question.runs):
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")
    labels = read_gold(Source(already), "--already", question.notes.append, {}, {})
    for column in ("design", "prob"):
        if column not in labels.frame.columns:
            raise InputError(
                f"{already}: --already continues what `ringtrue sample` drew, and has no column {column}; draw a new "
                f"sample instead"
            )
    for design in labels.frame["design"].unique(maintain_order=True):
        if design not in KINDS[option]:
            fits = next((f"continue it with {other}" for other, kinds in KINDS.items() if design in kinds),
                        "draw a new sample")  # fmt: skip
            raise InputError(
                f"{already}: --already is a sample of the design '{design}', which {option} cannot continue; {fits}"
            )
    return labels


def _grids(found: GoldDraw, to_judge: int, output: str, level: float, next_step: str) -> list[Grid]:
    known = found.frame.height - to_judge
    counts = {"documents": f"{found.frame.height:,}"}
    if known:
        counts |= {"with a label": f"{known:,}", "to judge": f"{to_judge:,}"}
    counts |= {"queries": str(found.frame["query"].n_unique()), "design": found.design, "file": output}
    what = "the column label where it is empty" if known else "a column label"
    caption = [f"next: let gold fill in {what}, then `{next_step}`"]
    if found.design == "whole_queries":
        caption.append("of each query, gold judges what bronze judged and what the runs show")
    told = Grid(columns=list(counts), rows=[list(counts.values())], caption="\n".join(caption), left=0)
    if not found.expected:
        return [told]
    names = list(next(iter(found.expected.values())))
    shown = list(found.expected.items())
    more = [f"… and {len(shown) - MOST_RUNS} more (--json shows all)"] if len(shown) > MOST_RUNS else []
    errs = "as the labels so far show" if known else "as judges usually do"
    widths = Grid(
        columns=["", *names],
        rows=[[run, *(f"±{row[name]:.3f}" for name in names)] for run, row in shown[:MOST_RUNS]],
        caption="\n".join([*more, f"half of the {level * 100:g}% interval to expect, for these queries "
                                  "(--population these), if bronze errs " + errs]),
    )  # fmt: skip
    return [told, widths]


def _flat(found: GoldDraw, data: Mapping[str, object]) -> Grid:
    """The half-widths to expect, with every digit; what was drawn, where none can be told."""
    if not found.expected:
        columns = ("design", "documents", "to_judge", "queries", "file")
        return Grid(columns=columns, rows=[[str(data[name]) for name in columns]])
    rows = [[run, name, str(half)] for run, row in found.expected.items() for name, half in row.items()]
    return Grid(columns=["run", "measure", "expected_half_width"], rows=rows)
