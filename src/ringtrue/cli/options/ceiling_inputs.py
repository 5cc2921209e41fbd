"""The files of `ringtrue ceiling`: whose labels test, and how the training judge differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options.common import parse_columns, parse_conditions
from ringtrue.errors import DuplicateError, FormatError, InputError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.cli.options.labels import LabelInputs
    from ringtrue.judges.votes import Repeats, Votes
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments

NO_QUERY_COLUMN = "no column names the query"
LABELS_OPTION = re.compile(r"--(columns|where)\b")
AVERAGE_ADVICE = re.compile(r",? or average over the judges \(--judges average\)")
AXIS_ROLES = {"rows": "testing judge", "columns": "training judge"}
DEFAULT_AXES = {"rows": "gold", "columns": "bronze"}  # what a matrix without names is read as, for correction
NO_QUERY_ID = "0"  # the query of documents that have none
TESTING_JUDGE_NAMES = ("gold", "testing judge")  # names of rows that say enough


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingFiles:
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
    label_columns: tuple[str, ...]
    label_where: tuple[str, ...]
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    run_columns: tuple[str, ...]
    forced: tuple[str, ...]
    columns: tuple[str, ...]
    where: tuple[str, ...]


def read_votes_and_confusion(
    files: CeilingFiles, notes: list[str], level: float
) -> tuple[Votes | None, Confusion, pl.DataFrame | None]:
    """The labels of several judges, where there are any, the matrix, and the documents that it is estimated from."""
    from ringtrue.cli.options.labels import LabelInputs
    from ringtrue.judges.ceiling import estimate_confusion
    from ringtrue.judges.ceiling.estimate_confusion import confusion_documents

    confusion = _read_confusion_file(files.confusion, renormalise=files.renormalise) if files.confusion else None
    if files.labels is None:
        assert confusion is not None
        return None, confusion, None
    label_inputs = LabelInputs(
        labels=(files.labels,),
        gold=files.gold,
        scale=None,
        outside="refuse",
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
            confusion = label_inputs.explain_errors(lambda: estimate_confusion(votes, repeats=files.repeats, **roles))
            source_documents = confusion_documents(votes, repeats=files.repeats, **roles)
    except (InputError, UsageError) as error:
        raise type(error)(_rephrase_label_error(str(error), label_inputs)) from error
    notes += [LABELS_OPTION.sub(r"--label-\1", note) for note in label_inputs.notes]
    assert confusion is not None
    return votes, confusion, source_documents


def _read_confusion_file(path: str, *, renormalise: bool) -> Confusion:
    """A matrix, and what is wrong with it, in the words of this command: testing judge and training judge."""
    from ringtrue.files import read_confusion
    from ringtrue.files.byte_source import Source

    source = Source(path)
    try:
        confusion = read_confusion(source, renormalise=renormalise)
    except FormatError as error:
        message = str(error)
        for side, default in DEFAULT_AXES.items():
            message = message.replace(f'"{side}": "{default}"', f'"{side}": "{AXIS_ROLES[side]}"')
        message = message.replace("such as gold and bronze", "such as testing judge and training judge")
        raise FormatError(message) from error
    text = source.read_all()
    rows, columns = (
        AXIS_ROLES[side] if f'"{side}"'.encode() not in text else name
        for side, name in (("rows", confusion.rows), ("columns", confusion.columns))
    )
    return replace(confusion, rows=rows, columns=columns)


def restrict_to_labelled(
    files: CeilingFiles, source_documents: pl.DataFrame | None, labels: Judgments
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
            f"no document of {files.judgments} is one that the matrix of {files.labels} comes from: --only-labelled "
            f"leaves nothing; are the ids of queries and documents of the same kind?"
        )
    return replace(labels, frame=shared_rows), shared_rows.height


def check_testing_judge(files: CeilingFiles, votes: Votes | None, confusion: Confusion, labels: Judgments) -> list[str]:
    """A word where the matrix is about judges who test each other, and somebody else's labels test."""
    if files.confusion and not confusion.rows.startswith(TESTING_JUDGE_NAMES) and confusion.rows not in labels.judges:
        note = (
            f"{files.confusion}: the matrix is of '{confusion.columns}' given '{confusion.rows}': it must be about the "
            "judges of these judgments"
        )
        return [note]
    if votes is None or files.confusion or files.gold or files.testing or set(labels.judges) & set(votes.judges):
        return []
    note = (
        f"no judge of {files.labels} is that of {files.judgments} ('{labels.judges[0]}'): the ceiling holds if it "
        f"differs from these as they do from each other; --gold {files.judgments} makes it the testing judge"
    )
    return [note]


def _rephrase_label_error(message: str, label_inputs: LabelInputs) -> str:
    """What is wrong with the labels, with the file and the names of the options here."""
    message = LABELS_OPTION.sub(r"--label-\1", message)
    return (
        message
        if any(str(path) in message for path in (*label_inputs.labels, label_inputs.gold))
        else f"{label_inputs.labels[0]}: {message}"
    )


def read_testing_labels(files: CeilingFiles, notes: list[str]) -> tuple[Judgments, Callable[[Callable[[], Any]], Any]]:
    """The testing judge's labels, and what tells the lines of a document with two."""
    from ringtrue.cli.options.files import formats_by_kind
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    read_settings: dict[str, Any] = {
        "form": formats_by_kind(("run", "judgments"), files.forced)["judgments"],
        "columns": parse_columns(files.columns),
        "where": parse_conditions(files.where),
    }

    def note(text: str) -> None:
        notes.append(
            f"{text.split(': each document')[0]}: all are taken for one list" if NO_QUERY_COLUMN in text else text
        )

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
            message = str(explain_duplicate(error, files.judgments, **read_settings))
            # One label for each document: there is nothing to average here.
            message = AVERAGE_ADVICE.sub("", message).replace(", choose one judge", " or choose one judge")
            raise InputError(message) from error

    return labels, explain_errors


def read_all_runs(files: CeilingFiles, notes: list[str]) -> Any:
    """The runs, one after the other; None where there is none."""
    from ringtrue.cli.options.files import formats_by_kind, read_runs

    if not files.runs:
        return None
    form = formats_by_kind(("run", "judgments"), files.forced)["run"]
    return read_runs(files.runs, form=form, columns=parse_columns(files.run_columns), note=notes.append)
