"""Labels that exist already, with their judges and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.collecting.telling import require_kind
from ringtrue.collecting.uploads import GivenFile, keep, source_of
from ringtrue.errors import InputError, TableError
from ringtrue.files import read_judgments, read_preferences
from ringtrue.store.imported import Given, record_imported
from ringtrue.tables.preferences import OUTCOMES
from ringtrue.votes.times import moments
from ringtrue.wording import counted

if TYPE_CHECKING:
    from ringtrue.store import Scale, Store
    from ringtrue.store.values import Project

__all__ = ["Imported", "import_labels"]

TRUE = ("true", "1", "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file of labels brought: `new` ones, and those that were `known`, by so many judges."""

    new: int
    known: int
    judges: int
    notes: tuple[str, ...]


def import_labels(store: Store, project: Project, file: GivenFile, *, now: float, rng: np.random.Generator) -> Imported:
    """Take labels or preferences from a file as finished work of its judges, who get accounts of their own.

    They count like any others: what has enough labels is not asked about again. The same file twice changes nothing. A
    label that is not on the project's scale is refused.
    """
    notes: list[str] = []
    require_kind(file, project.scale)
    rows = _read(file, project.scale, notes.append)
    with store.transaction() as connection:
        taken = record_imported(connection, project, rows, now=now, rng=rng)
        if taken.new:
            keep(connection, project.id, file, kind="labels", now=now)
    if taken.items:
        notes.append(
            f"{counted(taken.items, 'item')} in {file.name} had been asked of nobody here: kept with the labels, and "
            f"no more are wanted"
        )
    return Imported(new=taken.new, known=taken.known, judges=taken.judges, notes=tuple(notes))


def _read(file: GivenFile, scale: Scale, note: Callable[[str], None]) -> list[Given]:
    if scale.kind == "graded":
        frame = read_judgments(source_of(file), note=note).frame
        _require_on_scale(frame["label"], scale, file.name)
        names = {"doc": pl.col("doc"), "answer": pl.col("label").cast(pl.String)}
    else:
        frame = read_preferences(source_of(file), note=note).frame
        assert frame["winner"].is_in(OUTCOMES).all()  # its reader refuses all others
        names = {"doc": pl.col("left"), "other": pl.col("right"), "answer": pl.col("winner")}
    if "trap" in frame.columns:
        trap = frame["trap"].cast(pl.String).str.to_lowercase().is_in(TRUE).fill_null(value=False)
        if trap.any():
            note(f"{file.name}: {counted(int(trap.sum()), 'answer')} to traps left out")
        frame = frame.filter(~trap)
    if not frame.height:
        raise InputError(f"{file.name}: there is no label in it but answers to traps")
    chosen = frame.select("query", "judge", _times(frame, file.name), _seconds(frame), _batch(frame), **names)
    return [Given(**row) for row in chosen.iter_rows(named=True)]


def _require_on_scale(labels: pl.Series, scale: Scale, name: str) -> None:
    known = [label.value for label in scale.labels]
    bad = ~labels.cast(pl.String).is_in(known)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise InputError(
            f"{name}: row {row + 1}: label {labels[row]} is not on the scale of this project, which has "
            f"{', '.join(known)}; leave such rows out, or give them another label"
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
