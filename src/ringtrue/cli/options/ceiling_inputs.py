"""The files of `ringtrue ceiling`: whose labels test, and how the training judge differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options.common import columns_of, conditions_of
from ringtrue.errors import DuplicateError, FormatError, InputError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.cli.options.labels import Labelling
    from ringtrue.judges.votes import Repeats, Votes
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments

__all__ = ["Files", "doubts_about_judges", "labelled", "read_all_runs", "read_matrix", "read_testing"]

NO_QUERY = "no column names the query"
LABELS_OPTION = re.compile(r"--(columns|where)\b")
AVERAGE = re.compile(r",? or average over the judges \(--judges average\)")
ROLES = {"rows": "testing judge", "columns": "training judge"}
USUAL = {"rows": "gold", "columns": "bronze"}  # what a matrix without names is read as, for correction
WITHOUT = "0"  # the query of documents that have none
KNOWN = ("gold", "testing judge")  # names of rows that say enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
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


def read_matrix(files: Files, notes: list[str], level: float) -> tuple[Votes | None, Confusion, pl.DataFrame | None]:
    """The labels of several judges, where there are any, the matrix, and the documents that it is estimated from."""
    from ringtrue.cli.options.labels import Labelling
    from ringtrue.judges.ceiling import estimate_confusion
    from ringtrue.judges.ceiling.estimate_confusion import documents_behind

    table = _read_matrix(files.confusion, renormalise=files.renormalise) if files.confusion else None
    if files.labels is None:
        assert table is not None
        return None, table, None
    asked = Labelling(labels=(files.labels,), gold=files.gold, scale=None, outside="refuse", repeats=files.repeats,
                      level=level, gold_columns=files.gold_columns, gold_where=files.gold_where, forced=files.forced,
                      columns=files.label_columns, where=files.label_where)  # fmt: skip
    try:
        votes, gold = asked.votes(), asked.gold_votes()
        sides: dict[str, Any] = {"testing": files.testing, "training": files.training, "gold": gold}
        behind = None
        if table is None:
            table = asked.explained(lambda: estimate_confusion(votes, repeats=files.repeats, **sides))
            behind = documents_behind(votes, repeats=files.repeats, **sides)
    except (InputError, UsageError) as error:
        raise type(error)(_in_our_words(str(error), asked)) from error
    notes += [LABELS_OPTION.sub(r"--label-\1", note) for note in asked.notes]
    assert table is not None
    return votes, table, behind


def _read_matrix(path: str, *, renormalise: bool) -> Confusion:
    """A matrix, and what is wrong with it, in the words of this command: testing judge and training judge."""
    from ringtrue.files import read_confusion
    from ringtrue.files.source import Source

    source = Source(path)
    try:
        table = read_confusion(source, renormalise=renormalise)
    except FormatError as error:
        told = str(error)
        for side, usual in USUAL.items():
            told = told.replace(f'"{side}": "{usual}"', f'"{side}": "{ROLES[side]}"')
        told = told.replace("such as gold and bronze", "such as testing judge and training judge")
        raise FormatError(told) from error
    text = source.whole()
    rows, columns = (
        ROLES[side] if f'"{side}"'.encode() not in text else said
        for side, said in (("rows", table.rows), ("columns", table.columns))
    )
    return replace(table, rows=rows, columns=columns)


def labelled(files: Files, behind: pl.DataFrame | None, labels: Judgments) -> tuple[Judgments, int | None]:
    """The judgments, of documents behind the matrix only where so asked, and how many these are; None if unknown."""
    if behind is None:
        return labels, None
    keys = ["query", "doc"] if (behind["query"] != WITHOUT).any() else ["doc"]
    common = labels.frame.join(behind, on=keys, how="semi", maintain_order="left")
    if not files.only_labelled:
        return labels, common.height
    if not common.height:
        raise InputError(
            f"no document of {files.judgments} is one that the matrix of {files.labels} comes from: --only-labelled "
            f"leaves nothing; are the ids of queries and documents of the same kind?"
        )
    return replace(labels, frame=common), common.height


def doubts_about_judges(files: Files, votes: Votes | None, table: Confusion, labels: Judgments) -> list[str]:
    """A word where the matrix is about judges who test each other, and somebody else's labels test."""
    if files.confusion and not table.rows.startswith(KNOWN) and table.rows not in labels.judges:
        told = (
            f"{files.confusion}: the matrix is of '{table.columns}' given '{table.rows}': it must be about the judges "
            f"of these judgments"
        )
        return [told]
    if votes is None or files.confusion or files.gold or files.testing or set(labels.judges) & set(votes.judges):
        return []
    told = (
        f"no judge of {files.labels} is that of {files.judgments} ('{labels.judges[0]}'): the ceiling holds if it "
        f"differs from these as they do from each other; --gold {files.judgments} makes it the testing judge"
    )
    return [told]


def _in_our_words(told: str, asked: Labelling) -> str:
    """What is wrong with the labels, with the file and the names of the options here."""
    told = LABELS_OPTION.sub(r"--label-\1", told)
    return told if any(str(path) in told for path in (*asked.labels, asked.gold)) else f"{asked.labels[0]}: {told}"


def read_testing(files: Files, notes: list[str]) -> tuple[Judgments, Callable[[Callable[[], Any]], Any]]:
    """The testing judge's labels, and what tells the lines of a document with two."""
    from ringtrue.cli.options.files import forms_for
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    reading: dict[str, Any] = {
        "form": forms_for(("run", "judgments"), files.forced)["judgments"],
        "columns": columns_of(files.columns),
        "where": conditions_of(files.where),
    }

    def note(text: str) -> None:
        notes.append(f"{text.split(': each document')[0]}: all are taken for one list" if NO_QUERY in text else text)

    labels = read_judgments(files.judgments, needs_query=bool(files.runs), note=note, **reading)
    if files.judge is not None:
        labels = labels.by(files.judge)
    if files.repeats == "first" or files.repeats == "last":
        labels = labels.without_repeats(files.repeats)

    def explained(compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except DuplicateError as error:
            if error.table == "run":
                raise
            told = str(explain_duplicate(error, files.judgments, **reading))
            # One label for each document: there is nothing to average here.
            told = AVERAGE.sub("", told).replace(", choose one judge", " or choose one judge")
            raise InputError(told) from error

    return labels, explained


def read_all_runs(files: Files, notes: list[str]) -> Any:
    """The runs, one after the other; None where there is none."""
    from ringtrue.cli.options.files import forms_for, read_runs

    if not files.runs:
        return None
    form = forms_for(("run", "judgments"), files.forced)["run"]
    return read_runs(files.runs, form=form, columns=columns_of(files.run_columns), note=notes.append)
