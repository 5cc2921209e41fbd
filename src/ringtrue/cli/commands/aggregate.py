"""`ringtrue aggregate`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import (
    Command,
    confusion_out_option,
    option,
    output_option,
    output_options,
    seed_option,
)
from ringtrue.cli.options.files import QRELS_SUFFIXES, TABLE_SUFFIXES, format_suffix, refuse_to_overwrite_source
from ringtrue.cli.options.labels import LabelInputs, label_options, require_documents, write_pooled_confusion
from ringtrue.cli.output import OutputFormat, emit, print_notes, progress_bar
from ringtrue.formatting.grid import Grid, format_interval, format_number
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import notes_as_dict

if TYPE_CHECKING:
    from ringtrue.judges.aggregation import Aggregation, JudgeModel, Method, Prior
    from ringtrue.judges.aggregation.aggregate import Ties

METHODS = ("majority", "mean", "median", "dawid-skene", "one-coin", "mace")
MODELS = METHODS[3:]
MAX_JUDGES_SHOWN = 10  # judges in the table


@click.command("aggregate", cls=Command)
@label_options
@option("--method", "A vote, or a model of how each judge errs.", choices=METHODS, default="dawid-skene")
@option(
    "--prior PRIOR",
    "What a model believes of a judge before the first label: 'none', or DIAGONAL,CELL, the labels that "
    "count beside the real ones; 2,1 if not said.",
    to="prior_text",
)
@option(
    "--ties",
    "Which of several labels that are equally good; of pairs, always neither document.",
    choices=["low", "high", "random"],
    default="low",
)
@seed_option
@option("--max-iterations", "When a model gives up.", type=click.IntRange(min=1), default=500)
@output_option(".qrels, or with probabilities .csv, .tsv, .jsonl or .parquet")
@confusion_out_option
@output_options
def command(
    label_inputs: LabelInputs,
    method: Method,
    prior_text: str | None,
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

    prior = _parse_prior(prior_text)
    if method not in MODELS and prior_text is not None:
        raise OptionError(
            "unused-parameter", f"--prior is for {', '.join(MODELS)}, and {method} is a vote", parameter="prior"
        )
    _require_output(output, label_inputs)
    votes, gold = label_inputs.read_votes(), label_inputs.read_gold_votes()
    if output is not None and format_suffix(output) in QRELS_SUFFIXES and "doc" not in votes.items.columns:
        raise OptionError(
            "wrong-format",
            f"these are pairs of documents, not judgments, and qrels have no place for them; "
            f"write {', '.join(TABLE_SUFFIXES)}",
            parameter="output",
            file=output,
        )
    require_documents(confusion_out, votes)
    work = votes.size * len(votes.labels) * max_iterations if method in MODELS else 0
    with progress_bar(work, description="aggregating, at most") as advance:
        aggregation: Aggregation = label_inputs.explain_errors(
            lambda: aggregate(
                votes,
                method=method,
                gold=gold,
                repeats=label_inputs.repeats,
                prior=prior,
                ties=ties,
                max_iterations=max_iterations,
                level=label_inputs.level,
                rng=np.random.default_rng(seed),
                progress=advance,
            )
        )
    notes = [*label_inputs.notes, *(note for note in aggregation.notes if note not in votes.notes)]
    if output is not None:
        write_table(
            aggregation.judgments() if format_suffix(output) in QRELS_SUFFIXES else aggregation.frame,
            output,
            note=notes.append,
        )
    write_pooled_confusion(confusion_out, [judge.confusion for judge in aggregation.judges], notes)
    print_notes(notes)
    if form == "csv":  # as -o FILE.csv has it
        click.echo(aggregation.frame.write_csv(), nl=False)
        return
    payload = aggregation.as_dict() | {"file": output, **notes_as_dict(notes)}
    emit(form, payload=payload, grid=partial(_aggregation_grids, aggregation, ties, output))


def _parse_prior(text: str | None) -> Prior | None:
    """`none` or `DIAGONAL,CELL`; the usual one where nothing was said."""
    from ringtrue.judges.aggregation import Prior

    if text is None or text == "none":
        return Prior() if text is None else None
    try:
        diagonal, cell = (float(word) for word in text.split(","))
    except ValueError:
        raise OptionError(
            "bad-value", f"--prior expects 'none' or DIAGONAL,CELL such as 2,1; found '{text}'", parameter="prior"
        ) from None
    return Prior(diagonal=diagonal, cell=cell)


def _require_output(output: str | None, label_inputs: LabelInputs) -> None:
    """Refuse a file that cannot be written, before all the work is done."""
    if output is None:
        return
    if output == "-":
        raise OptionError("not-a-file", "-o - is no file; --format csv prints the labels", parameter="output")
    suffix, endings = format_suffix(output), (*QRELS_SUFFIXES, *TABLE_SUFFIXES)
    if suffix not in endings:
        reason = "a run has scores, and these are labels" if suffix == ".run" else "no format goes by this name"
        raise OptionError(
            "unknown-extension",
            f"{reason}; end it with {', '.join(endings)}, and .gz or .zst to pack it",
            parameter="output",
            file=output,
        )
    refuse_to_overwrite_source((*label_inputs.labels, label_inputs.gold), output)


def _aggregation_grids(aggregation: Aggregation, ties: Ties, output: str | None) -> list[Grid]:
    return [
        _label_grid(aggregation, ties, output),
        *([] if _has_one_unrated_judge(aggregation) else [_judge_grid(aggregation)]),
    ]


def _has_one_unrated_judge(aggregation: Aggregation) -> bool:
    """Whether there is one judge, and nothing to tell how good: no model was made, whatever was asked."""
    return len(aggregation.judges) == 1 and not aggregation.iterations and aggregation.judges[0].accuracy.value is None


def _label_grid(aggregation: Aggregation, ties: Ties, output: str | None) -> Grid:
    import polars as pl

    by_label = dict(
        aggregation.items.group_by("label").agg(pl.struct(pl.len(), pl.col("probability").mean())).iter_rows()
    )
    rows = []
    for label in aggregation.labels:
        counts = by_label.get(label, {"len": 0, "probability": None})
        cells = [
            str(label).replace("-", "−"),
            f"{counts['len']:,}",
            f"{counts['len'] / aggregation.items.height:.1%}",
            format_number(counts["probability"], 3),
        ]
        rows.append(cells[:3] if _has_one_unrated_judge(aggregation) else cells)
    columns = ["label", "items", "share", "mean probability" if aggregation.iterations else "mean share of votes"]
    caption = "\n".join([*_describe_aggregation(aggregation, ties), *_describe_label_file(aggregation, output)])
    return Grid(columns=columns[:3] if _has_one_unrated_judge(aggregation) else columns, rows=rows, caption=caption)


def _describe_aggregation(aggregation: Aggregation, ties: Ties) -> list[str]:
    """What was done, in a few words."""
    labels_text = format_count(sum(judge.labels for judge in aggregation.judges), "label")
    extent = (
        f"{labels_text} by {format_count(len(aggregation.judges), 'judge')} on "
        f"{format_count(aggregation.items.height, 'item')}"
    )
    lines = [f"{aggregation.method} of {extent}"]
    if _has_one_unrated_judge(aggregation):
        lines = [f"{extent}: with nobody to compare, each item keeps what this judge said, whatever the method"]
    if "doc" not in aggregation.items.columns:
        lines.append(
            "of each pair, 'first' is the document whose id sorts first; label 1: it was preferred, −1: 'second' was, "
            "0: a tie"
        )
    if aggregation.iterations and aggregation.log_likelihood is not None:
        prior = "none" if aggregation.prior is None else f"{aggregation.prior.diagonal:g},{aggregation.prior.cell:g}"
        number = f"{aggregation.log_likelihood:,.2f}".replace("-", "−")
        lines.append(f"{format_count(aggregation.iterations, 'iteration')}, log likelihood {number}, prior {prior}")
    if aggregation.gold:
        lines.append(
            "1 item keeps its gold label"
            if aggregation.gold == 1
            else f"{aggregation.gold:,} items keep their gold label"
        )
    if aggregation.ties:
        choice = {"low": "the lowest label", "high": "the highest label", "random": "a label at random"}[ties]
        choice = choice if "doc" in aggregation.items.columns else "neither document"
        lines.append(
            f"1 tie, decided for {choice}"
            if aggregation.ties == 1
            else f"{aggregation.ties:,} ties, decided for {choice}"
        )
    return lines


def _describe_label_file(aggregation: Aggregation, output: str | None) -> list[str]:
    """Which file has the labels, and what can be done with it."""
    from ringtrue.tables.judgments import NO_QUERY

    if output is None:
        return ["-o FILE writes the labels, --format csv prints them"]
    written_text = f"{format_count(aggregation.items.height, 'label')} written to {output}"
    if (aggregation.items["query"] == NO_QUERY).all():
        return [f"{written_text}; since nothing tells the queries, all items belong to one called {NO_QUERY} there"]
    if "doc" not in aggregation.items.columns:
        return [written_text]
    return [f"{written_text}; next: ringtrue evaluate RUN… --judgments {output}"]


def _judge_grid(aggregation: Aggregation) -> Grid:
    """Those who are surely bad first, not those with a single label that was wrong; where all fit, all."""

    def sort_key(judge: JudgeModel) -> tuple[float, float]:
        return (2, 0) if judge.accuracy.value is None else (judge.accuracy.high or 0, judge.accuracy.value)

    worst = sorted(aggregation.judges, key=sort_key)[:MAX_JUDGES_SHOWN]
    against = "the probable truth" if aggregation.iterations else "the majority of the others"
    n_more = len(aggregation.judges) - len(worst)
    order_text = "; the lowest upper end first" if len(worst) > 1 else ""
    more_text = (
        f"\n{format_count(n_more, 'more judge')}, with a higher upper end; --json has them all" if n_more else ""
    )
    return Grid(
        columns=["judge", "labels", "accuracy", f"{worst[0].accuracy.level * 100:g}% interval"],
        rows=[
            [
                judge.judge,
                f"{judge.labels:,}",
                format_number(judge.accuracy.value, 3),
                format_interval(judge.accuracy.low, judge.accuracy.high, 3),
            ]
            for judge in worst
        ],
        caption=f"accuracy: against {against}{order_text}{more_text}",
    )
