"""`ringtrue ceiling`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.options import common
from ringtrue.cli.options.ceiling_inputs import (
    CeilingFiles,
    check_testing_judge,
    read_all_runs,
    read_testing_labels,
    read_votes_and_confusion,
    restrict_to_labelled,
)
from ringtrue.cli.options.common import option
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation.inputs import Missing
    from ringtrue.judges.ceiling import Ceiling, CeilingScatter
    from ringtrue.judges.ceiling.ndcg_ceiling import CeilingMethod

METHODS = ("exact", "simulation", "closed-form")


@click.command("ceiling", cls=common.Command)
@click.argument("more", nargs=-1, metavar="[RUN…]")
@option("--judgments, --qrels FILE", "The testing judge's labels.", required=True)
@option("--confusion FILE", "What the training judge says given the testing judge's label: a matrix in JSON.")
@option("--labels FILE", "Or labels of several judges, to estimate that matrix from.")
@option("--gold FILE", "With --labels: gold labels, which then are the testing judge's.")
@option("--testing NAME", "With --labels: the testing judge; usually every pair counts both ways.")
@option("--training NAME", "With --labels: the training judge.")
@option(
    "--method",
    "Exact, or as the paper has it: by draws, or by taking ranks for normal.",
    choices=METHODS,
    default="exact",
)
@option("--gain", "What a label is worth: 2^label − 1 (usual), or the label.", choices=["exp", "linear"])
@common.gains_option
@option("-k", "Of nDCG@k; usually of the whole list.", type=common.POSITIVE)
@option("--run RUN", "Where does this run stand? May be repeated.", to="runs", multiple=True)
@option("--per-query", "Every query as well.", is_flag=True)
@option(
    "--scatter", "With --labels: what each judge's ranking reaches by another, beside the prediction.", is_flag=True
)
@option(
    "--pairs",
    "For --scatter: so many pairs of judges, those with the most documents in common.",
    type=click.IntRange(min=1),
    default=100,
)
@option(
    "--only-labelled", "With --labels: of the judged documents, only those that the matrix comes from.", is_flag=True
)
@option("--confusion-out FILE", "With --labels: write the estimated matrix here.")
@option("--renormalise", "Make rows of --confusion that do not add up to 1 do so.", is_flag=True)
@option("--draws", "For --method simulation: draws for each query.", type=click.IntRange(2, 10_000_000), default=1_000)
@common.seed_option
@common.level_option
@common.missing_option
@common.judge_option
@common.repeats_option("; all only for --labels")
@common.selection_options("label", "the file of --labels")
@common.selection_options("gold", "the gold file")
@common.run_columns_option
@common.input_options
@common.output_options
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
    payload = ndcg_ceiling.as_dict(per_query=per_query) | {"seed": seed}
    if points is not None:
        payload["scatter"] = points.as_dict()
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(
            ceiling_grids,
            ndcg_ceiling,
            points,
            per_query=per_query,
            output=confusion_out,
            all_pairs=common.is_given("pairs"),
        ),
        csv_grid=partial(ceiling_csv, ndcg_ceiling, points, per_query=per_query),
    )


def _refuse_unused_options(method: CeilingMethod, *, scatter: bool) -> None:
    """Refuse options that would change nothing."""
    if method != "simulation" and common.is_given("draws"):
        raise UsageError(f"--draws is about --method simulation, and --method {method} draws nothing: leave it out")
    if not scatter and common.is_given("pairs"):
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
    common.require_one_stdin([files.judgments, files.confusion, files.labels, files.gold, *files.runs])
