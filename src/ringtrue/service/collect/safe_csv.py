"""Tables for spreadsheets: what people wrote is never taken for a formula, and what readers need stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import polars as pl

from ringtrue.files.write import replace_file
from ringtrue.formatting.phrases import counted

__all__ = ["guarded_csv", "told_of_ids"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FREE_TEXT = ("reason", "name", "title", "text")  # what people write; ids and numbers are read back as they are
IDS = ("query", "doc", "left", "right", "judge")


def guarded_csv(path: Path, frames: Iterable[pl.DataFrame], note: Callable[[str], None]) -> int:
    """Write frames as one CSV as they come, free text guarded; answers how many rows they have."""
    count = 0
    doubtful: set[str] = set()

    def write(stream: IO[bytes]) -> None:
        nonlocal count
        for place, frame in enumerate(frames):
            text = [_guarded(name) for name in FREE_TEXT if name in frame.columns]
            frame.with_columns(text).write_csv(stream, include_header=not place)
            doubtful.update(_formulas(frame))
            count += frame.height

    replace_file(path, write)
    _tell(doubtful, note)
    return count


def told_of_ids(frame: pl.DataFrame, note: Callable[[str], None]) -> None:
    """A word on ids that a spreadsheet may take for formulas: they are left as they are, to be read back the same."""
    _tell(_formulas(frame), note)


def _formulas(frame: pl.DataFrame) -> set[str]:
    """The ids that begin like a formula."""
    ids = [frame[name].unique() for name in IDS if name in frame.columns]
    return {one for column in ids for one in column.drop_nulls() if one.startswith(FORMULA)}


def _guarded(name: str) -> pl.Expr:
    text = pl.col(name)
    begins = pl.any_horizontal(text.str.starts_with(sign) for sign in FORMULA)
    return pl.when(begins).then(pl.lit("'") + text).otherwise(text).alias(name)


def _tell(found: set[str], note: Callable[[str], None]) -> None:
    if found:
        note(
            f"{counted(len(found), 'id')} begin like a formula, such as {min(found)!r}, and stay as they are so that "
            f"ringtrue reads them back: import the file into a spreadsheet as text"
        )
