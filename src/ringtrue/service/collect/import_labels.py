"""Labels that exist already, with their judges and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, NotFoundError, TableError
from ringtrue.files import read_judgments, read_preferences
from ringtrue.formatting.phrases import counted
from ringtrue.judges.votes.timestamps import moments
from ringtrue.service.collect.inputs import line_of, require_kind, trap_rows
from ringtrue.service.collect.plainly import plainly, without_options
from ringtrue.service.collect.uploads import GivenFile, as_table, keep, source_of
from ringtrue.service.store.import_dedup import Given
from ringtrue.service.store.imports import record_imported
from ringtrue.service.store.revisions import TakenBack, take_back, would_take_back
from ringtrue.service.store.uploads import delete_upload, upload_at
from ringtrue.tables.preferences import OUTCOMES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store import Scale, Store
    from ringtrue.service.store.records import Project

__all__ = ["Imported", "import_labels", "take_back_import"]

LABELS = "labels"  # kind of the files that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file of labels brought: `new` ones, and those that were `known`, by so many judges."""

    new: int
    known: int
    judges: int
    notes: tuple[str, ...]


@plainly()
def import_labels(store: Store, project: Project, file: GivenFile, *, now: float, rng: np.random.Generator) -> Imported:
    """Take labels or preferences from a file as finished work of its judges, who get accounts of their own.

    They count like any others: what has enough labels is not asked about again. The same file twice changes nothing. A
    label that is not on the project's scale is refused. What was new is kept as a table, with numbers for the judges,
    so that it holds no name and can be taken back.
    """
    notes: list[str] = []
    require_kind(file, project.scale)
    rows = _read(file, project.scale, notes.append)
    with store.transaction() as connection:
        taken = record_imported(connection, project, rows, now=now, rng=rng)
        if taken.new:
            keep(connection, project.id, as_table(file.name, _kept(taken.kept)), kind=LABELS, now=now)
    if taken.items:
        notes.append(
            f"{counted(taken.items, 'item')} in {file.name} had been asked of nobody here: kept with the labels, and "
            f"no more are wanted"
        )
    if taken.erased:
        notes.append(
            f"{counted(taken.erased, 'judge')} in {file.name} said the same as people here whose personal data was "
            f"erased: no name was taken from the file for them"
        )
    told = tuple(filter(None, map(without_options, notes)))
    return Imported(new=taken.new, known=taken.known, judges=taken.judges, notes=told)


def take_back_import(store: Store, project: Project, upload: int, *, only_look: bool = False) -> TakenBack:
    """Take back the labels that came with a file, or say what that would do; the file goes with them.

    Where a later file brought another label of the same judge and item, both go: they are versions of one.
    """
    if only_look:
        with store.read() as connection:
            return would_take_back(connection, project, _tasks(connection, project, upload))
    with store.transaction() as connection:
        done = take_back(connection, project, _tasks(connection, project, upload))
        delete_upload(connection, project.id, upload)
    return done


def _tasks(connection: Connection, project: Project, upload: int) -> list[int]:
    """The tasks that were made for the labels of a file."""
    kind, name, content = upload_at(connection, project.id, upload)
    if kind != LABELS:
        raise NotFoundError(f"{name}: no labels were imported from this file, so none can be taken back")
    table = pl.read_csv(source_of(GivenFile(name=name, content=content)).whole(), infer_schema=False)
    return table["task"].drop_nulls().cast(pl.Int64).unique().to_list()


def _kept(rows: Sequence[tuple[Given, int, int | None]]) -> pl.DataFrame:
    """New labels with the numbers of their judges and tasks."""
    pairs = rows[0][0].other is not None
    names = ("query", "left", "right", "winner") if pairs else ("query", "doc", "label")
    plain = [
        (one.query, one.doc, *((one.other,) if pairs else ()), one.answer, account, task, one.time, one.seconds)
        for one, account, task in rows
    ]
    kinds = {
        **dict.fromkeys(names, pl.String), "account": pl.Int64, "task": pl.Int64, "time": pl.Float64,
        "seconds": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(plain, schema=kinds, orient="row")


def _read(file: GivenFile, scale: Scale, note: Callable[[str], None]) -> list[Given]:
    if scale.kind == "graded":
        frame = read_judgments(source_of(file), note=note).frame
        _require_on_scale(frame["label"], scale, file)
        names = {"doc": pl.col("doc"), "answer": pl.col("label").cast(pl.String)}
    else:
        frame = read_preferences(source_of(file), note=note).frame
        assert frame["winner"].is_in(OUTCOMES).all()  # its reader refuses all others
        names = {"doc": pl.col("left"), "other": pl.col("right"), "answer": pl.col("winner")}
    trap = trap_rows(frame)
    if trap.any():
        note(f"{file.name}: {counted(int(trap.sum()), 'answer')} to traps left out")
        frame = frame.filter(~trap)
    if not frame.height:
        raise InputError(f"{file.name}: there is no label in it but answers to traps")
    chosen = frame.select("query", "judge", _times(frame, file.name), _seconds(frame), _batch(frame), **names)
    return [Given(**row) for row in chosen.iter_rows(named=True)]


def _require_on_scale(labels: pl.Series, scale: Scale, file: GivenFile) -> None:
    known = [label.value for label in scale.labels]
    bad = ~labels.cast(pl.String).is_in(known)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise InputError(
            f"{file.name}: line {line_of(file, row)}: label {labels[row]} is not on the scale of this project, which "
            f"has {', '.join(known)}; leave such rows out, or give them another label"
        )


def _times(frame: pl.DataFrame, name: str) -> pl.Series:
    """When each label was given, in seconds since 1970; nothing where the file does not say."""
    found = np.full(frame.height, np.nan)
    if "time" in frame.columns:
        column = frame["time"]
        told = column.is_not_null()
        if column.dtype == pl.String:
            told &= column.str.strip_chars() != ""
        try:
            found[told.to_numpy()] = moments(column.filter(told))
        except TableError as error:
            raise TableError(f"{name}: {error}") from error
    return pl.Series("time", found).fill_nan(None)


def _seconds(frame: pl.DataFrame) -> pl.Series:
    if "seconds" not in frame.columns or frame["seconds"].dtype.is_nested():
        return pl.Series("seconds", [None], dtype=pl.Float64).new_from_index(0, frame.height)
    number = frame["seconds"].cast(pl.Float64, strict=False)
    return number.set(~(number.is_finite() & (number >= 0)).fill_null(value=False), None)


def _batch(frame: pl.DataFrame) -> pl.Series:
    if "batch" not in frame.columns or frame["batch"].dtype.is_nested():
        return pl.Series("batch", [None], dtype=pl.String).new_from_index(0, frame.height)
    return frame["batch"].cast(pl.String)
