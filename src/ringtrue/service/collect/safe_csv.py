"""Tables for spreadsheets: what people wrote is never taken for a formula, and what readers need stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import polars as pl

from ringtrue.files.write import replace_file
from ringtrue.formatting.phrases import format_count

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
TEXT_COLUMNS = ("reason", "name", "title", "text")  # what people write; ids and numbers are read back as they are
ID_COLUMNS = ("query", "doc", "left", "right", "judge")


def write_safe_csv(path: Path, frames: Iterable[pl.DataFrame], note: Callable[[str], None]) -> int:
    """Write frames as one CSV as they come, free text guarded; answers how many rows they have."""
    count = 0
    formula_ids: set[str] = set()

    def write(stream: IO[bytes]) -> None:
        nonlocal count
        for place, frame in enumerate(frames):
            text = [_escape_formula(name) for name in TEXT_COLUMNS if name in frame.columns]
            frame.with_columns(text).write_csv(stream, include_header=not place)
            formula_ids.update(_formula_like_ids(frame))
            count += frame.height

    replace_file(path, write)
    _note_formula_ids(formula_ids, note)
    return count


def note_formula_like_ids(frame: pl.DataFrame, note: Callable[[str], None]) -> None:
    """A word on ids that a spreadsheet may take for formulas: they are left as they are, to be read back the same."""
    _note_formula_ids(_formula_like_ids(frame), note)


def _formula_like_ids(frame: pl.DataFrame) -> set[str]:
    """The ids that begin like a formula."""
    id_columns = [frame[name].unique() for name in ID_COLUMNS if name in frame.columns]
    return {
        identifier
        for column in id_columns
        for identifier in column.drop_nulls()
        if identifier.startswith(FORMULA_STARTS)
    }


def _escape_formula(name: str) -> pl.Expr:
    text = pl.col(name)
    is_formula = pl.any_horizontal(text.str.starts_with(sign) for sign in FORMULA_STARTS)
    return pl.when(is_formula).then(pl.lit("'") + text).otherwise(text).alias(name)


def _note_formula_ids(formula_ids: set[str], note: Callable[[str], None]) -> None:
    if formula_ids:
        note(
            f"{format_count(len(formula_ids), 'id')} begin like a formula, such as {min(formula_ids)!r}, and stay as "
            f"they are so that ringtrue reads them back: import the file into a spreadsheet as text"
        )
