"""`ringtrue aggregate`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringtrue.cli.labelling import Labelling, labelling_options
from ringtrue.cli.options import Command, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, progress_bar, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.aggregation import Aggregation, JudgeModel, Method, Prior
    from ringtrue.aggregation.voting import Ties
    from ringtrue.results import Estimate

__all__ = ["command"]

METHODS = ("majority", "mean", "median", "dawid-skene", "one-coin", "mace")
MODELS = METHODS[3:]
SHOWN = 10  # judges in the table
QRELS = (".qrels", ".qrel")


@click.command("aggregate", cls=Command)
@labelling_options
@click.option("--method", type=click.Choice(METHODS), default="dawid-skene", show_default=True,
              help="A vote, or a model of how each judge errs.")  # fmt: skip
@click.option("--prior", "said", metavar="PRIOR", default="default", show_default=True,
              help="What a model believes of a judge before the first label: 'none', or DIAGONAL,CELL, the labels that "
              "count beside the real ones. The default is 2,1.")  # fmt: skip
@click.option("--ties", type=click.Choice(["low", "high", "random"]), default="low", show_default=True,
              help="Which of several labels that are equally good.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For --ties random.")
@click.option("--max-iterations", type=click.IntRange(min=1), default=500, show_default=True,
              help="When a model gives up.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE",
              help="Where to write it: .qrels, or with probabilities .csv, .tsv, .jsonl, .parquet.")  # fmt: skip
@output_options
def command(
    labelling: Labelling,
    method: Method,
    said: str,
    ties: Ties,
    seed: int,
    max_iterations: int,
    output: str | None,
    form: OutputFormat,
) -> None:
    """What is the one label?

    LABELS are many judges' labels of documents, or their preferences between two. By a vote (majority, mean,
    median), each judge counts alike. By a model (dawid-skene, one-coin, mace), labels and judges are estimated from
    each other, and those who are right more often count more. Items with a gold label keep it.
    """
    import numpy as np

    from ringtrue.aggregation import aggregate
    from ringtrue.files import write_table

    prior = _prior(said)
    if method not in MODELS and said != "default":
        raise UsageError(f"--prior is for {', '.join(MODELS)}, and {method} is a vote")
    _refuse_inputs(output, labelling)
    votes, gold = labelling.votes(), labelling.gold_votes()
    work = votes.size * len(votes.labels) * max_iterations if method in MODELS else 0
    with progress_bar(work, what="aggregating, at most") as advance:
        found: Aggregation = labelling.explained(
            lambda: aggregate(
                votes, method=method, gold=gold, repeats=labelling.repeats, prior=prior, ties=ties,
                max_iterations=max_iterations, level=labelling.level, rng=np.random.default_rng(seed), progress=advance,
            )
        )  # fmt: skip
    notes = [*labelling.notes, *(note for note in found.notes if note not in votes.notes)]
    if output is not None:
        write_table(found.judgments() if _is_qrels(output) else found.frame, output, note=notes.append)
    tell(notes)
    data = found.as_dict() | {"file": output, "notes": notes}
    emit(form, data=data, grid=partial(_grids, found, ties), flat=partial(_flat, found))


def _prior(said: str) -> Prior | None:
    """`default`, `none` or `DIAGONAL,CELL`."""
    from ringtrue.aggregation import Prior

    if said in ("default", "none"):
        return Prior() if said == "default" else None
    try:
        diagonal, cell = (float(word) for word in said.split(","))
    except ValueError:
        raise UsageError(f"--prior expects 'default', 'none' or DIAGONAL,CELL such as 2,1; found '{said}'") from None
    return Prior(diagonal=diagonal, cell=cell)


def _refuse_inputs(output: str | None, labelling: Labelling) -> None:
    if output is None or not Path(output).exists():
        return
    for path in (labelling.labels, labelling.gold):
        if path is not None and Path(path).exists() and Path(path).samefile(output):
            raise UsageError(f"{output}: the answer cannot be written onto what it is made from; write to another file")


def _is_qrels(output: str) -> bool:
    return any(suffix.lower() in QRELS for suffix in Path(output).suffixes)


def _grids(found: Aggregation, ties: Ties) -> list[Grid]:
    return [_labels(found, ties), _judges(found)]


def _labels(found: Aggregation, ties: Ties) -> Grid:
    import polars as pl

    by_label = dict(found.items.group_by("label").agg(pl.struct(pl.len(), pl.col("probability").mean())).iter_rows())
    rows = []
    for label in found.labels:
        one = by_label.get(label, {"len": 0, "probability": None})
        mean = "–" if one["probability"] is None else f"{one['probability']:.3f}"
        rows.append([str(label), f"{one['len']:,}", f"{one['len'] / found.items.height:.1%}", mean])
    probability = "mean probability" if found.iterations else "mean share of votes"
    return Grid(columns=["label", "items", "share", probability], rows=rows, caption=_done(found, ties))


def _done(found: Aggregation, ties: Ties) -> str:
    """What was done, in a few words."""
    votes = sum(one.labels for one in found.judges)
    lines = [f"{found.method} of {votes:,} labels by {len(found.judges):,} judges on {found.items.height:,} items"]
    if found.iterations and found.log_likelihood is not None:
        prior = "none" if found.prior is None else f"{found.prior.diagonal:g},{found.prior.cell:g}"
        number = f"{found.log_likelihood:,.2f}".replace("-", "−")
        lines.append(f"{found.iterations:,} iterations, log likelihood {number}, prior {prior}")
    if found.gold:
        lines.append(
            "1 item keeps its gold label" if found.gold == 1 else f"{found.gold:,} items keep their gold label"
        )
    if found.ties:
        chose = {"low": "the lowest label", "high": "the highest label", "random": "a label at random"}[ties]
        lines.append(f"1 tie, decided for {chose}" if found.ties == 1 else f"{found.ties:,} ties, decided for {chose}")
    return "\n".join(lines)


def _judges(found: Aggregation) -> Grid:
    """Those who are surely bad first, not those with a single label that was wrong; where all fit, all."""

    def place(one: JudgeModel) -> tuple[float, float]:
        return (2, 0) if one.accuracy.value is None else (one.accuracy.high or 0, one.accuracy.value)

    worst = sorted(found.judges, key=place)[:SHOWN]
    against = "the probable truth" if found.iterations else "the majority of the others"
    rest = len(found.judges) - len(worst)
    order = "; the lowest upper end first" if len(worst) > 1 else ""
    more = f"\n{rest:,} more judges, with a higher upper end; --json has them all" if rest else ""
    return Grid(
        columns=["judge", "labels", "accuracy", f"{worst[0].accuracy.level * 100:g}% interval"],
        rows=[[one.judge, f"{one.labels:,}", *_shown(one.accuracy)] for one in worst],
        caption=f"accuracy: against {against}{order}{more}",
    )


def _shown(accuracy: Estimate) -> tuple[str, str]:
    if accuracy.value is None:
        return "–", "–"
    return f"{accuracy.value:.3f}", f"{accuracy.low:.3f} to {accuracy.high:.3f}"


def _flat(found: Aggregation) -> Grid:
    rows = [
        [one.judge, str(one.labels), *("" if number is None else repr(number)
                                       for number in (one.accuracy.value, one.accuracy.low, one.accuracy.high))]
        for one in found.judges
    ]  # fmt: skip
    return Grid(columns=["judge", "labels", "accuracy", "low", "high"], rows=rows)
