"""`ringtrue ceiling`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import DuplicateError, InputError, UsageError
from ringtrue.messages import Note, Suggestion

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.evaluation.inputs import Missing
    from ringtrue.judges.ceiling import Ceiling, CeilingScatter, QueryConfusions
    from ringtrue.judges.ceiling.ndcg_ceiling import CeilingMethod
    from ringtrue.judges.votes import Repeats, Votes
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments

METHODS = ("exact", "simulation", "closed-form")
AXIS_ROLES = {"rows": "testing judge", "columns": "training judge"}
NO_QUERY_ID = "0"  # the query of documents that have none
TESTING_JUDGE_NAMES = ("gold", "testing judge")  # names of rows that say enough


@click.command("ceiling", cls=common.Command)
@click.argument("more", nargs=-1, metavar="[RUN…]")
@option("--judgments, --qrels FILE", common.JUDGMENTS_HELP, required=True)
@option("--confusion FILE", "How judges disagree: a confusion matrix in JSON.")
@option("--labels FILE", "Labels of several judges.")
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
@common.per_query_option
@option(
    "--scatter", "With --labels: what each judge's ranking reaches by another, beside the prediction.", is_flag=True
)
@option(
    "--pairs",
    "At most so many pairs of judges, those with the most documents in common.",
    type=click.IntRange(min=1),
    default=100,
)
@option(
    "--only-labelled", "With --labels: of the judged documents, only those that the matrix comes from.", is_flag=True
)
@option("--pooled", "With --labels: one matrix for all queries, not one for each; runs can exceed this.", is_flag=True)
@common.confusion_out_option
@option("--renormalise", "Make rows of --confusion that do not add up to 1 do so.", is_flag=True)
@option("--draws", "For --method simulation: draws for each query.", type=click.IntRange(2, 10_000_000), default=1_000)
@common.seed_option
@common.level_option
@common.missing_option
@common.judge_option
@common.repeats_option()
@common.label_selection_options
@common.gold_selection_options
@common.run_columns_option
@common.input_options
@common.output_options
def command(
    more: tuple[str, ...],
    gain: Literal["exp", "linear"] | None,
    gains: str | None,
    per_query: bool,
    scatter: bool,
    pairs: int,
    confusion_out: str | None,
    seed: int,
    missing: Missing,
    form: OutputFormat,
    **options: Any,
) -> None:
    """What is the best nDCG that disagreement allows?

    A ranker that has learned one judge's labels perfectly is not perfect by another judge. From the testing judge's
    labels (--judgments) and how the training judge differs (--confusion, or --labels of several judges) follows how
    high its nDCG can be expected to go, and where given runs stand below that. With --labels, each query has a
    confusion matrix of its own, shrunk towards that of all. With one matrix for all queries (--confusion, --pooled) the
    ceiling is usually too low, and runs can exceed it: it is an expectation, no upper bound. --columns and --where are
    about --judgments; --repeats all is about --labels.
    """
    import numpy as np

    from ringtrue.cli.tables.ceiling import ceiling_csv, ceiling_grids
    from ringtrue.files import read_gains, write_confusion
    from ringtrue.judges.ceiling import ceiling, ceiling_scatter

    if gain is not None and gains is not None:
        raise OptionError(
            "conflicting-parameters",
            "--gain and --gains both say what a label is worth: choose one of the two",
            parameter="gain",
        )
    options["runs"] += more
    files, settings = common.take(_CeilingFiles, options), options
    _require_consistent_options(files, scatter=scatter, per_query=per_query, confusion_out=confusion_out, form=form)
    _refuse_unused_options(settings["method"], scatter=scatter)
    notes: list[Note] = []
    votes, confusion, source_documents = _read_votes_and_confusion(files, notes, settings["level"])
    labels, explain_errors = _read_testing_labels(files, notes)
    notes += _check_testing_judge(files, votes, confusion, labels)
    labels, covered = _restrict_to_labelled(files, source_documents, labels)
    settings["gain"] = read_gains(gains) if gains is not None else gain or "exp"
    ndcg_ceiling: Ceiling = explain_errors(
        lambda: ceiling(
            labels,
            confusion,
            runs=_read_all_runs(files, notes),
            missing=missing,
            covered=covered,
            rng=np.random.default_rng(seed),
            **settings,
        )
    )
    points: CeilingScatter | None = None
    if scatter:
        points = ceiling_scatter(
            votes,
            confusion=ndcg_ceiling.confusion if files.confusion else None,
            repeats=files.repeats,
            pairs=pairs,
            rng=np.random.default_rng(seed),
            **settings,
        )
    if confusion_out is not None:
        write_confusion(confusion_out, ndcg_ceiling.confusion)
    if files.labels is not None:
        ndcg_ceiling = replace(ndcg_ceiling, notes=tuple(_suggest_only_labelled(note) for note in ndcg_ceiling.notes))
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
        raise OptionError(
            "unused-parameter",
            f"--draws is about --method simulation, and --method {method} draws nothing: leave it out",
            parameter="draws",
        )
    if not scatter and common.is_given("pairs"):
        raise OptionError(
            "unused-parameter", "--pairs is about --scatter, which was not asked for: leave it out", parameter="pairs"
        )


def _require_consistent_options(
    files: _CeilingFiles, *, scatter: bool, per_query: bool, confusion_out: str | None, form: OutputFormat
) -> None:
    """Refuse what cannot be asked together."""
    if files.confusion is None and files.labels is None:
        raise OptionError(
            "needs-parameter",
            "how do the judges differ? Give --confusion FILE, a matrix, or --labels FILE of several judges",
            parameter="confusion",
        )
    if files.confusion and files.labels and not scatter:
        raise OptionError(
            "conflicting-parameters",
            "--confusion has the matrix, and --labels would estimate another: choose one of the two",
            parameter="labels",
        )
    matrix_options = {
        "gold": files.gold,
        "testing": files.testing,
        "training": files.training,
        "confusion_out": confusion_out,
        "only_labelled": files.only_labelled,
        "pooled": files.pooled,
    }
    label_options = {"scatter": scatter, "label_columns": files.label_columns, "label_where": files.label_where}
    if files.labels is None:
        why = "is about labels of several judges, and there is no --labels FILE"
        common.refuse_set(matrix_options | label_options, why)
    if files.confusion:
        common.refuse_set(matrix_options, "is about estimating a matrix from --labels, and --confusion gives one")
    elif files.renormalise:
        raise OptionError(
            "unused-parameter",
            "--renormalise is about the matrix of --confusion; one that is estimated adds up by itself",
            parameter="renormalise",
        )
    if scatter and per_query and form == "csv":
        raise OptionError(
            "conflicting-parameters",
            "--format csv prints one table: --per-query or --scatter; --json has both",
            parameter="per_query",
        )
    common.require_one_stdin([files.judgments, files.confusion, files.labels, files.gold, *files.runs])


def _suggest_only_labelled(note: Note) -> Note:
    """The note on a matrix of few documents with what can be done about it where labels were given."""
    if note.code != "stretched-matrix":
        return note
    return note.changed(suggestions=[Suggestion("keeps to the documents behind the matrix", only_labelled=True)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _CeilingFiles:
    """Which files, and how to read them."""

    judgments: str
    confusion: str | None
    labels: str | None
    gold: str | None
    testing: str | None
    training: str | None
    runs: tuple[str, ...]
    judge: str | None
    repeats: Repeats | None
    renormalise: bool
    only_labelled: bool
    pooled: bool
    label_columns: tuple[str, ...]
    label_where: tuple[str, ...]
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    run_columns: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]


def _read_votes_and_confusion(
    files: _CeilingFiles, notes: list[Note], level: float
) -> tuple[Votes | None, Confusion | QueryConfusions, pl.DataFrame | None]:
    """The labels of several judges, where there are any, the matrix, and the documents that it is estimated from."""
    from ringtrue.cli.options.labels import LabelInputs
    from ringtrue.judges.ceiling import estimate_confusion, estimate_query_confusions
    from ringtrue.judges.ceiling.inputs import confusion_documents

    confusion: Confusion | QueryConfusions | None = None
    if files.confusion:
        confusion = _read_confusion_file(files.confusion, renormalise=files.renormalise)
    if files.labels is None:
        assert confusion is not None
        return None, confusion, None
    label_inputs = LabelInputs(
        labels=(files.labels,),
        gold=files.gold,
        repeats=files.repeats,
        level=level,
        gold_columns=files.gold_columns,
        gold_where=files.gold_where,
        forced=files.forced,
        columns=files.label_columns,
        where=files.label_where,
    )
    try:
        votes, gold = label_inputs.read_votes(), label_inputs.read_gold_votes()
        roles: dict[str, Any] = {"testing": files.testing, "training": files.training, "gold": gold}
        source_documents = None
        if confusion is None:
            estimate = estimate_confusion if files.pooled else estimate_query_confusions
            confusion = label_inputs.explain_errors(lambda: estimate(votes, repeats=files.repeats, **roles))
            source_documents = confusion_documents(votes, repeats=files.repeats, **roles)
    except (InputError, UsageError) as error:
        raise common.use_own_options(error.found_in(label_inputs.labels[0]), "label") from error
    notes += [common.rename_selection(note, "label") for note in label_inputs.notes]
    assert confusion is not None
    return votes, confusion, source_documents


def _read_confusion_file(path: str, *, renormalise: bool) -> Confusion:
    """A matrix, and what is wrong with it, in the words of this command: testing judge and training judge."""
    from ringtrue.files import read_confusion

    return read_confusion(path, renormalise=renormalise, **AXIS_ROLES)


def _restrict_to_labelled(
    files: _CeilingFiles, source_documents: pl.DataFrame | None, labels: Judgments
) -> tuple[Judgments, int | None]:
    """The judgments, of documents behind the matrix only where so asked, and how many these are; None if unknown."""
    if source_documents is None:
        return labels, None
    keys = ["query", "doc"] if (source_documents["query"] != NO_QUERY_ID).any() else ["doc"]
    shared_rows = labels.frame.join(source_documents, on=keys, how="semi", maintain_order="left")
    if not files.only_labelled:
        return labels, shared_rows.height
    if not shared_rows.height:
        raise InputError(
            "no-common-document",
            f"no document of {files.judgments} is one that the matrix of {files.labels} comes from: --only-labelled "
            f"leaves nothing; are the ids of queries and documents of the same kind?",
        )
    return replace(labels, frame=shared_rows), shared_rows.height


def _check_testing_judge(
    files: _CeilingFiles, votes: Votes | None, confusion: Confusion | QueryConfusions, labels: Judgments
) -> list[Note]:
    """A word where the matrix is about judges who test each other, and somebody else's labels test."""
    from ringtrue.judges.ceiling import QueryConfusions

    if isinstance(confusion, QueryConfusions):
        confusion = confusion.pooled
    if files.confusion and not confusion.rows.startswith(TESTING_JUDGE_NAMES) and confusion.rows not in labels.judges:
        matrix_text = f"the matrix is of '{confusion.columns}' given '{confusion.rows}'"
        text = f"{matrix_text}: it must be about the judges of these judgments"
        return [Note("matrix-of-others", text, parameter="confusion", subject=files.confusion)]
    if votes is None or files.confusion or files.gold or files.testing or set(labels.judges) & set(votes.judges):
        return []
    text = (
        f"no judge of {files.labels} is that of {files.judgments} ('{labels.judges[0]}'): the ceiling holds if it "
        f"differs from these as they do from each other"
    )
    gold = Suggestion("makes it the testing judge", gold=files.judgments)
    return [Note("other-testing-judge", text, parameter="gold", suggestions=[gold])]


def _read_testing_labels(
    files: _CeilingFiles, notes: list[Note]
) -> tuple[Judgments, Callable[[Callable[[], Any]], Any]]:
    """The testing judge's labels, and what tells the lines of a document with two."""
    from ringtrue.cli.options.files import formats_by_kind
    from ringtrue.cli.options.runs import suggest_one_label
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    read_settings: dict[str, Any] = {
        "form": formats_by_kind(("run", "judgments"), files.forced)["judgments"],
        **common.parse_selection(files.columns, files.where),
    }

    def note(note: Note) -> None:
        if note.code == "no-query-column":
            note = note.changed(text="no column names the query: all are taken for one list", suggestions=())
        notes.append(note)

    labels = read_judgments(files.judgments, needs_query=bool(files.runs), note=note, **read_settings)
    if files.judge is not None:
        labels = labels.by(files.judge)
    if files.repeats == "first" or files.repeats == "last":
        labels = labels.without_repeats(files.repeats)

    def explain_errors(compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except DuplicateError as error:
            if error.table == "run":
                raise
            located = suggest_one_label(explain_duplicate(error, files.judgments, **read_settings))
            # One label for each document: there is nothing to average here.
            raise InputError.of(located.note.renamed({"judges": None}), file=located.file) from error

    return labels, explain_errors


def _read_all_runs(files: _CeilingFiles, notes: list[Note]) -> Any:
    """The runs, one after the other; None where there is none."""
    from ringtrue.cli.options.files import formats_by_kind, read_runs

    if not files.runs:
        return None
    form = formats_by_kind(("run", "judgments"), files.forced)["run"]
    return read_runs(
        files.runs, form=form, columns=common.parse_columns(files.run_columns, "run_columns"), note=notes.append
    )
