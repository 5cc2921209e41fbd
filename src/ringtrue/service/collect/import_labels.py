"""Labels that exist already, with their judges and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, NotFoundError, TableError
from ringtrue.files import read_judgments, read_preferences
from ringtrue.files.tabular import NoteHandler
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.votes.columns import parse_times
from ringtrue.messages import Note
from ringtrue.service.collect.inputs import find_line_number, require_kind, trap_mask
from ringtrue.service.collect.uploads import (
    UploadedFile,
    as_csv_file,
    open_source,
    read_own_csv,
    require_unpacked_size,
    store_file,
)
from ringtrue.service.store.import_dedup import ImportedLabel
from ringtrue.service.store.imports import RevertedImport, preview_revert, record_imported_labels, revert_imported_tasks
from ringtrue.service.store.projects import delete_upload, get_upload
from ringtrue.tables.preferences import OUTCOMES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store import Scale, Store
    from ringtrue.service.store.records import Project

LABELS_KIND = "labels"  # kind of the files that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelImportSummary:
    """What a file of labels brought: `new` ones, and those that were `known`, by so many judges."""

    new: int
    known: int
    judges: int
    notes: tuple[Note, ...]


def import_labels(
    store: Store, project: Project, file: UploadedFile, *, now: float, rng: np.random.Generator
) -> LabelImportSummary:
    """Take labels or preferences from a file as finished work of its judges, who get accounts of their own.

    They count like any others: what has enough labels is not asked about again. The same file twice changes nothing. A
    label that is not on the project's scale is refused. What was new is kept as a table, with numbers for the judges,
    so that it holds no name and can be taken back.
    """
    notes: list[Note] = []
    require_unpacked_size([file])
    require_kind(file, project.scale)
    labels = _read_labels(file, project.scale, notes.append)
    with store.transaction() as connection:
        recorded = record_imported_labels(connection, project, labels, now=now, rng=rng)
        if recorded.new:
            store_file(
                connection,
                project.id,
                as_csv_file(file.name, _new_labels_frame(recorded.labels)),
                kind=LABELS_KIND,
                now=now,
            )
    if recorded.items:
        notes.append(
            Note(
                "items-not-asked",
                f"{format_count(recorded.items, 'item')} had been asked of nobody here: kept with the labels, and no "
                f"more are wanted",
                subject=file.name,
            )
        )
    if recorded.erased:
        notes.append(
            Note(
                "erased-judges",
                f"{format_count(recorded.erased, 'judge')} said the same as people here whose personal data was "
                f"erased: no name was taken from the file for them",
                subject=file.name,
            )
        )
    return LabelImportSummary(new=recorded.new, known=recorded.duplicates, judges=recorded.judges, notes=tuple(notes))


def revert_import(store: Store, project: Project, upload_id: int, *, preview: bool = False) -> RevertedImport:
    """Take back the labels that came with a file, or say what that would do; the file goes with them.

    Where a later file brought another label of the same judge and item, both go: they are versions of one.
    """
    if preview:
        with store.read() as connection:
            return preview_revert(connection, project, _imported_task_ids(connection, project, upload_id))
    with store.transaction() as connection:
        reverted = revert_imported_tasks(connection, project, _imported_task_ids(connection, project, upload_id))
        delete_upload(connection, project.id, upload_id)
    return reverted


def _imported_task_ids(connection: Connection, project: Project, upload_id: int) -> list[int]:
    """The tasks that were made for the labels of a file."""
    kind, name, content = get_upload(connection, project.id, upload_id)
    if kind != LABELS_KIND:
        raise NotFoundError(
            "no-labels-imported", "no labels were imported from this file, so none can be taken back", file=name
        )
    table = read_own_csv(UploadedFile(name=name, content=content))
    return table["task"].drop_nulls().cast(pl.Int64).unique().to_list()


def _new_labels_frame(recorded: Sequence[tuple[ImportedLabel, int, int | None]]) -> pl.DataFrame:
    """New labels with the numbers of their judges and tasks."""
    is_pairs = recorded[0][0].other is not None
    names = ("query", "left", "right", "winner") if is_pairs else ("query", "doc", "label")
    records = [
        (
            label.query,
            label.doc,
            *((label.other,) if is_pairs else ()),
            label.answer,
            account,
            task,
            label.time,
            label.seconds,
        )
        for label, account, task in recorded
    ]
    dtypes = {
        **dict.fromkeys(names, pl.String),
        "account": pl.Int64,
        "task": pl.Int64,
        "time": pl.Float64,
        "seconds": pl.Float64,
    }
    return pl.DataFrame(records, schema=dtypes, orient="row")


def _read_labels(file: UploadedFile, scale: Scale, note: NoteHandler) -> list[ImportedLabel]:
    if scale.kind == "graded":
        frame = read_judgments(open_source(file), note=note).frame
        _require_on_scale(frame["label"], scale, file)
        answer_columns = {"doc": pl.col("doc"), "answer": pl.col("label").cast(pl.String)}
    else:
        frame = read_preferences(open_source(file), note=note).frame
        assert frame["winner"].is_in(OUTCOMES).all()  # its reader refuses all others
        answer_columns = {"doc": pl.col("left"), "other": pl.col("right"), "answer": pl.col("winner")}
    is_trap = trap_mask(frame)
    if is_trap.any():
        answers = format_count(int(is_trap.sum()), "answer")
        note(Note("traps-left-out", f"{answers} to traps left out", subject=file.name))
        frame = frame.filter(~is_trap)
    if not frame.height:
        raise InputError("only-traps-answered", "there is no label in it but answers to traps", file=file.name)
    labels = frame.select(
        "query", "judge", _parse_times(frame, file.name), _parse_seconds(frame), _parse_batch(frame), **answer_columns
    )
    return [ImportedLabel(**row) for row in labels.iter_rows(named=True)]


def _require_on_scale(labels: pl.Series, scale: Scale, file: UploadedFile) -> None:
    scale_labels = [label.value for label in scale.labels]
    is_off_scale = ~labels.cast(pl.String).is_in(scale_labels)
    if is_off_scale.any():
        row = int(is_off_scale.arg_true()[0])
        raise InputError(
            "unknown-answer",
            f"label {labels[row]} is not on the scale of this project, which has {', '.join(scale_labels)}; leave such "
            f"rows out, or give them another label",
            file=file.name,
            line=find_line_number(file, row),
        )


def _parse_times(frame: pl.DataFrame, file_name: str) -> pl.Series:
    """When each label was given, in seconds since 1970; nothing where the file does not say."""
    times = np.full(frame.height, np.nan)
    if "time" in frame.columns:
        column = frame["time"]
        has_time = column.is_not_null()
        if column.dtype == pl.String:
            has_time &= column.str.strip_chars() != ""
        try:
            times[has_time.to_numpy()] = parse_times(column.filter(has_time))
        except TableError as error:
            raise error.found_in(file_name) from error
    return pl.Series("time", times).fill_nan(None)


def _parse_seconds(frame: pl.DataFrame) -> pl.Series:
    if "seconds" not in frame.columns or frame["seconds"].dtype.is_nested():
        return pl.Series("seconds", [None], dtype=pl.Float64).new_from_index(0, frame.height)
    seconds = frame["seconds"].cast(pl.Float64, strict=False)
    return seconds.set(~(seconds.is_finite() & (seconds >= 0)).fill_null(value=False), None)


def _parse_batch(frame: pl.DataFrame) -> pl.Series:
    if "batch" not in frame.columns or frame["batch"].dtype.is_nested():
        return pl.Series("batch", [None], dtype=pl.String).new_from_index(0, frame.height)
    return frame["batch"].cast(pl.String)
