"""`ringtrue ceiling`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.options.ceiling_inputs import (
    CeilingFiles,
    check_testing_judge,
    read_all_runs,
    read_testing_labels,
    read_votes_and_confusion,
    restrict_to_labelled,
)
from ringtrue.cli.options.common import Command, input_options, is_given, output_options
from ringtrue.cli.output import OutputFormat, emit, print_notes
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation.inputs import Missing
    from ringtrue.judges.ceiling import Ceiling, CeilingScatter
    from ringtrue.judges.ceiling.ndcg_ceiling import CeilingMethod

METHODS = ("exact", "simulation", "closed-form")


@click.command("ceiling", cls=Command)
@click.argument("more", nargs=-1, metavar="[RUN…]")
@click.option("--judgments", "--qrels", required=True, metavar="FILE", help="The testing judge's labels.")
@click.option(
    "--confusion",
    metavar="FILE",
    help="What the training judge says given the testing judge's label: a matrix in JSON.",
)
@click.option("--labels", metavar="FILE", help="Or labels of several judges, to estimate that matrix from.")
@click.option("--gold", metavar="FILE", help="With --labels: gold labels, which then are the testing judge's.")
@click.option(
    "--testing", metavar="NAME", help="With --labels: the testing judge; usually every pair counts both ways."
)
@click.option("--training", metavar="NAME", help="With --labels: the training judge.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="exact",
    show_default=True,
    help="Exact, or as the paper has it: by draws, or by taking ranks for normal.",
)
@click.option(
    "--gain", type=click.Choice(["exp", "linear"]), help="What a label is worth: 2^label − 1 (usual), or the label."
)
@click.option("--gains", metavar="FILE", help="What each label is worth, as `ringtrue disagreement` writes it.")
@click.option("-k", type=click.IntRange(1, 2**31 - 1), help="Of nDCG@k; usually of the whole list.")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Where does this run stand? May be repeated.")
@click.option("--per-query", is_flag=True, help="Every query as well.")
@click.option(
    "--scatter",
    is_flag=True,
    help="With --labels: what each judge's ranking reaches by another, beside the prediction.",
)
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="For --scatter: so many pairs of judges, those with the most documents in common.",
)
@click.option(
    "--only-labelled",
    is_flag=True,
    help="With --labels: of the judged documents, only those that the matrix comes from.",
)
@click.option("--confusion-out", metavar="FILE", help="With --labels: write the estimated matrix here.")
@click.option("--renormalise", is_flag=True, help="Make rows of --confusion that do not add up to 1 do so.")
@click.option(
    "--draws",
    type=click.IntRange(2, 10_000_000),
    default=1_000,
    show_default=True,
    help="For --method simulation: draws for each query.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="How often such intervals hold, for queries like these.",
)
@click.option(
    "--missing",
    type=click.Choice(["zero", "skip"]),
    default="zero",
    show_default=True,
    help="A judged query that a run does not have counts as 0, or is left out.",
)
@click.option("--judge", metavar="NAME", help="Use this judge's labels of --judgments only.")
@click.option(
    "--repeats",
    type=click.Choice(["first", "last", "all"]),
    help="Where a judge labelled a document again: which label counts; all only for --labels.",
)
@click.option(
    "--label-columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="What the file of --labels calls a column: judge=worker.",
)
@click.option("--label-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of --labels.")
@click.option("--gold-columns", multiple=True, metavar="NAME=COLUMN", help="What the file of --gold calls a column.")
@click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of --gold.")
@click.option("--run-columns", multiple=True, metavar="NAME=COLUMN", help="The same as --columns, for runs.")
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@input_options
@output_options
def command(
    more: tuple[str, ...],
    method: CeilingMethod,
    gain: Literal["exp", "linear"] | None,
    gains: str | None,
    k: int | None,
    per_query: bool,
    scatter: bool,
    pairs: int,
    confusion_out: str | None,
    draws: int,
    seed: int,
    level: float,
    missing: Missing,
    form: OutputFormat,
    **file_options: Any,
) -> None:
    """What is the best nDCG that disagreement allows?

    A ranker that has learned one judge's labels perfectly is not perfect by another judge. From the testing judge's
    labels (--judgments) and how the training judge differs (--confusion, or --labels of several judges) follows how
    high its nDCG can be expected to go, and where given runs stand below that. --columns and --where are about
    --judgments.
    """
    import numpy as np

    from ringtrue.cli.tables.ceiling import ceiling_csv, ceiling_grids
    from ringtrue.files import read_gains, write_confusion
    from ringtrue.judges.ceiling import ceiling, ceiling_scatter

    if gain is not None and gains is not None:
        raise UsageError("--gain and --gains both say what a label is worth: choose one of the two")
    files = CeilingFiles(**file_options | {"runs": (*file_options["runs"], *more)})
    _require_consistent_options(files, scatter=scatter, per_query=per_query, confusion_out=confusion_out, form=form)
    _refuse_unused_options(method, scatter=scatter)
    notes: list[str] = []
    votes, confusion, source_documents = read_votes_and_confusion(files, notes, level)
    labels, explain_errors = read_testing_labels(files, notes)
    notes += check_testing_judge(files, votes, confusion, labels)
    labels, covered = restrict_to_labelled(files, source_documents, labels)
    label_gains = read_gains(gains) if gains is not None else gain or "exp"
    settings: dict[str, Any] = {"gain": label_gains, "k": k, "method": method, "draws": draws, "level": level}
    ndcg_ceiling: Ceiling = explain_errors(
        lambda: ceiling(
            labels,
            confusion,
            runs=read_all_runs(files, notes),
            missing=missing,
            covered=covered,
            rng=np.random.default_rng(seed),
            **settings,
        )
    )
    points: CeilingScatter | None = None
    if scatter:
        given_confusion = confusion if files.confusion else None
        points = ceiling_scatter(
            votes,
            confusion=given_confusion,
            repeats=files.repeats,
            pairs=pairs,
            rng=np.random.default_rng(seed),
            **settings,
        )
    if confusion_out is not None:
        write_confusion(confusion_out, confusion)
    notes += [note for note in (*ndcg_ceiling.notes, *(points.notes if points else ())) if note not in notes]
    print_notes(notes)
    payload = ndcg_ceiling.as_dict(per_query=per_query) | {"seed": seed, "notes": notes}
    if points is not None:
        payload["scatter"] = points.as_dict()
    emit(
        form,
        payload=payload,
        grid=partial(
            ceiling_grids, ndcg_ceiling, points, per_query=per_query, output=confusion_out, all_pairs=is_given("pairs")
        ),
        csv_grid=partial(ceiling_csv, ndcg_ceiling, points, per_query=per_query),
    )


def _refuse_unused_options(method: CeilingMethod, *, scatter: bool) -> None:
    """Refuse options that would change nothing."""
    if method != "simulation" and is_given("draws"):
        raise UsageError(f"--draws is about --method simulation, and --method {method} draws nothing: leave it out")
    if not scatter and is_given("pairs"):
        raise UsageError("--pairs is about --scatter, which was not asked for: leave it out")


def _require_consistent_options(
    files: CeilingFiles, *, scatter: bool, per_query: bool, confusion_out: str | None, form: OutputFormat
) -> None:
    """Refuse what cannot be asked together."""
    if files.confusion is None and files.labels is None:
        raise UsageError(
            "how do the judges differ? Give --confusion FILE, a matrix, or --labels FILE of several judges"
        )
    if files.confusion and files.labels and not scatter:
        raise UsageError("--confusion has the matrix, and --labels would estimate another: choose one of the two")
    if files.labels is None:
        label_settings = {
            "--gold": files.gold,
            "--testing": files.testing,
            "--training": files.training,
            "--scatter": scatter,
            "--confusion-out": confusion_out,
            "--only-labelled": files.only_labelled,
            "--label-columns": files.label_columns,
            "--label-where": files.label_where,
        }
        for option, setting in label_settings.items():
            if setting:
                raise UsageError(f"{option} is about labels of several judges, and there is no --labels FILE")
    if files.confusion:
        for option, setting in (
            ("--gold", files.gold),
            ("--testing", files.testing),
            ("--training", files.training),
            ("--confusion-out", confusion_out),
            ("--only-labelled", files.only_labelled),
        ):
            if setting:
                raise UsageError(f"{option} is about estimating a matrix from --labels, and --confusion gives one")
    elif files.renormalise:
        raise UsageError("--renormalise is about the matrix of --confusion; one that is estimated adds up by itself")
    if scatter and per_query and form == "csv":
        raise UsageError("--format csv prints one table: --per-query or --scatter; --json has both")
    if [files.judgments, files.confusion, files.labels, files.gold, *files.runs].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")
