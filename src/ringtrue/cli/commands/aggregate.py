"""`ringtrue aggregate`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.confusion_out import confusion_out_option, require_documents, write_together
from ringtrue.cli.options.labels import Labelling, labelling_options
from ringtrue.cli.output import Grid, OutputFormat, emit, progress_bar, tell
from ringtrue.errors import UsageError
from ringtrue.formatting.phrases import counted

if TYPE_CHECKING:
    from ringtrue.judges.aggregation import Aggregation, JudgeModel, Method, Prior
    from ringtrue.judges.aggregation.voting import Ties
    from ringtrue.stats.results import Estimate

__all__ = ["command"]

METHODS = ("majority", "mean", "median", "dawid-skene", "one-coin", "mace")
MODELS = METHODS[3:]
SHOWN = 10  # judges in the table
QRELS = (".qrels", ".qrel")
ENDINGS = (*QRELS, ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


@click.command("aggregate", cls=Command)
@labelling_options
@click.option("--method", type=click.Choice(METHODS), default="dawid-skene", show_default=True,
              help="A vote, or a model of how each judge errs.")  # fmt: skip
@click.option("--prior", "said", metavar="PRIOR",
              help="What a model believes of a judge before the first label: 'none', or DIAGONAL,CELL, the labels that "
              "count beside the real ones; 2,1 if not said.")  # fmt: skip
@click.option("--ties", type=click.Choice(["low", "high", "random"]), default="low", show_default=True,
              help="Which of several labels that are equally good; of pairs, always neither document.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For --ties random.")
@click.option("--max-iterations", type=click.IntRange(min=1), default=500, show_default=True,
              help="When a model gives up.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE",
              help="Where to write it: .qrels, or with probabilities .csv, .tsv, .jsonl, .parquet.")  # fmt: skip
@confusion_out_option
@output_options
def command(
    labelling: Labelling,
    method: Method,
    said: str | None,
    ties: Ties,
    seed: int,
    max_iterations: int,
    output: str | None,
    confusion_out: str | None,
    form: OutputFormat,
) -> None:
    """What is the one label?

    LABELS are many judges' labels of documents, or their preferences between two; several files count together. By a
    vote (majority, mean, median), each judge counts alike. By a model (dawid-skene, one-coin, mace), labels and judges
    are estimated from each other, and those who are right more often count more. Items with a gold label keep it.

    -o writes the labels, and --format csv prints them; a table shows how common each is, and how good the judges are.
    """
    import numpy as np

    from ringtrue.files import write_table
    from ringtrue.judges.aggregation import aggregate

    prior = _prior(said)
    if method not in MODELS and said is not None:
        raise UsageError(f"--prior is for {', '.join(MODELS)}, and {method} is a vote")
    _require_output(output, labelling)
    votes, gold = labelling.votes(), labelling.gold_votes()
    if output is not None and _ending(output) in QRELS and "doc" not in votes.items.columns:
        raise UsageError(f"{output}: these are pairs of documents, not judgments, and qrels have no place for them; "
                         f"write {', '.join(ENDINGS[len(QRELS):])}")  # fmt: skip
    require_documents(confusion_out, votes)
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
        write_table(found.judgments() if _ending(output) in QRELS else found.frame, output, note=notes.append)
    write_together(confusion_out, [one.confusion for one in found.judges], notes)
    tell(notes)
    if form == "csv":  # as -o FILE.csv has it
        click.echo(found.frame.write_csv(), nl=False)
        return
    data = found.as_dict() | {"file": output, "notes": notes}
    emit(form, data=data, grid=partial(_grids, found, ties, output))


def _prior(said: str | None) -> Prior | None:
    """`none` or `DIAGONAL,CELL`; the usual one where nothing was said."""
    from ringtrue.judges.aggregation import Prior

    if said is None or said == "none":
        return Prior() if said is None else None
    try:
        diagonal, cell = (float(word) for word in said.split(","))
    except ValueError:
        raise UsageError(f"--prior expects 'none' or DIAGONAL,CELL such as 2,1; found '{said}'") from None
    return Prior(diagonal=diagonal, cell=cell)


def _require_output(output: str | None, labelling: Labelling) -> None:
    """Refuse a file that cannot be written, before all the work is done."""
    if output is None:
        return
    if output == "-":
        raise UsageError("-o - is no file; --format csv prints the labels")
    if (ending := _ending(output)) not in ENDINGS:
        what = "a run has scores, and these are labels" if ending == ".run" else "no format goes by this name"
        raise UsageError(f"{output}: {what}; end it with {', '.join(ENDINGS)}, and .gz or .zst to pack it")
    if not Path(output).exists():
        return
    for path in (*labelling.labels, labelling.gold):
        if path is not None and Path(path).exists() and Path(path).samefile(output):
            raise UsageError(f"{output}: the answer cannot be written onto what it is made from; write to another file")


def _ending(output: str) -> str:
    """What the name of a file ends with, apart from how it is packed."""
    path = Path(output)
    return (path.with_suffix("") if path.suffix in (".gz", ".zst") else path).suffix.lower()


def _grids(found: Aggregation, ties: Ties, output: str | None) -> list[Grid]:
    return [_labels(found, ties, output), *([] if _alone(found) else [_judges(found)])]


def _alone(found: Aggregation) -> bool:
    """Whether there is one judge, and nothing to tell how good: no model was made, whatever was asked."""
    return len(found.judges) == 1 and not found.iterations and found.judges[0].accuracy.value is None


def _labels(found: Aggregation, ties: Ties, output: str | None) -> Grid:
    import polars as pl

    by_label = dict(found.items.group_by("label").agg(pl.struct(pl.len(), pl.col("probability").mean())).iter_rows())
    rows = []
    for label in found.labels:
        one = by_label.get(label, {"len": 0, "probability": None})
        mean = "–" if one["probability"] is None else f"{one['probability']:.3f}"
        cells = [str(label).replace("-", "−"), f"{one['len']:,}", f"{one['len'] / found.items.height:.1%}", mean]
        rows.append(cells[:3] if _alone(found) else cells)
    columns = ["label", "items", "share", "mean probability" if found.iterations else "mean share of votes"]
    caption = "\n".join([*_done(found, ties), *_written(found, output)])
    return Grid(columns=columns[:3] if _alone(found) else columns, rows=rows, caption=caption)


def _done(found: Aggregation, ties: Ties) -> list[str]:
    """What was done, in a few words."""
    votes = counted(sum(one.labels for one in found.judges), "label")
    what = f"{votes} by {counted(len(found.judges), 'judge')} on {counted(found.items.height, 'item')}"
    lines = [f"{found.method} of {what}"]
    if _alone(found):
        lines = [f"{what}: with nobody to compare, each item keeps what this judge said, whatever the method"]
    if "doc" not in found.items.columns:
        lines.append(
            "of each pair, 'first' is the document whose id sorts first; label 1: it was preferred, −1: 'second' was, "
            "0: a tie"
        )
    if found.iterations and found.log_likelihood is not None:
        prior = "none" if found.prior is None else f"{found.prior.diagonal:g},{found.prior.cell:g}"
        number = f"{found.log_likelihood:,.2f}".replace("-", "−")
        lines.append(f"{counted(found.iterations, 'iteration')}, log likelihood {number}, prior {prior}")
    if found.gold:
        lines.append(
            "1 item keeps its gold label" if found.gold == 1 else f"{found.gold:,} items keep their gold label"
        )
    if found.ties:
        chose = {"low": "the lowest label", "high": "the highest label", "random": "a label at random"}[ties]
        chose = chose if "doc" in found.items.columns else "neither document"
        lines.append(f"1 tie, decided for {chose}" if found.ties == 1 else f"{found.ties:,} ties, decided for {chose}")
    return lines


def _written(found: Aggregation, output: str | None) -> list[str]:
    """Which file has the labels, and what can be done with it."""
    from ringtrue.tables.judgments import NO_QUERY

    if output is None:
        return ["-o FILE writes the labels, --format csv prints them"]
    what = f"{counted(found.items.height, 'label')} written to {output}"
    if (found.items["query"] == NO_QUERY).all():
        return [f"{what}; since nothing tells the queries, all items belong to one called {NO_QUERY} there"]
    if "doc" not in found.items.columns:
        return [what]
    return [f"{what}; next: ringtrue evaluate RUN… --judgments {output}"]


def _judges(found: Aggregation) -> Grid:
    """Those who are surely bad first, not those with a single label that was wrong; where all fit, all."""

    def place(one: JudgeModel) -> tuple[float, float]:
        return (2, 0) if one.accuracy.value is None else (one.accuracy.high or 0, one.accuracy.value)

    worst = sorted(found.judges, key=place)[:SHOWN]
    against = "the probable truth" if found.iterations else "the majority of the others"
    rest = len(found.judges) - len(worst)
    order = "; the lowest upper end first" if len(worst) > 1 else ""
    more = f"\n{counted(rest, 'more judge')}, with a higher upper end; --json has them all" if rest else ""
    return Grid(
        columns=["judge", "labels", "accuracy", f"{worst[0].accuracy.level * 100:g}% interval"],
        rows=[[one.judge, f"{one.labels:,}", *_shown(one.accuracy)] for one in worst],
        caption=f"accuracy: against {against}{order}{more}",
    )


def _shown(accuracy: Estimate) -> tuple[str, str]:
    if accuracy.value is None:
        return "–", "–"
    return f"{accuracy.value:.3f}", f"{accuracy.low:.3f} to {accuracy.high:.3f}"
