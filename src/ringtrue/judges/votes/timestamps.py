"""When a label was given."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError

ISO_PATTERN = r"^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d+)?))? ?(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$"
DAY_OR_MONTH = re.compile(r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}\b.*")


def parse_times(column: pl.Series) -> NDArray[np.float64]:
    """Times as numbers that rise: numbers as they are, dates and ISO texts as seconds.

    A text is a number, or a date as ISO 8601 has it: year, month, day; after a blank or T the time, with fractions of
    a second and Z or an offset where there are any. Other ways to write a date are refused, since in many of them
    nobody can tell the day from the month.

    Examples:
        >>> times = pl.Series("time", ["2024-05-01 10:00:00", "2024-05-01T12:00:05.5+02:00"])
        >>> parse_times(times).tolist()[1] - 1714557600
        5.5
    """
    try:
        seconds = _to_seconds(column)
    except pl.exceptions.PolarsError:  # of a type that has no number
        seconds = pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
    bad = ~seconds.is_finite().fill_null(value=False)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TableError(
            f"row {row + 1}: expected a time in column '{column.name}', as a number or like 2024-05-01 10:00:00, "
            f"found {_describe_bad_time(column[row])}; "
            f"rename the column if its times do not matter, and it will be ignored"
        )
    return seconds.to_numpy()


def _describe_bad_time(cell: object) -> str:
    """What stands in the place of a time."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return "an empty cell (`--where COLUMN!=` leaves out the rows where COLUMN is empty)"
    if isinstance(cell, str) and DAY_OR_MONTH.fullmatch(cell.strip()):
        return f"{cell!r}, which does not tell the day from the month: write the year first"
    return repr(cell)


def _to_seconds(column: pl.Series) -> pl.Series:
    seconds = column
    if column.dtype == pl.String:
        seconds = column.cast(pl.Float64, strict=False)
        if 2 * seconds.null_count() > len(column):  # most are no numbers
            seconds = _parse_iso(column)
    if seconds.dtype.is_temporal():
        seconds = seconds.cast(pl.Datetime("us"), strict=False).cast(pl.Int64) / 1e6
    return seconds.cast(pl.Float64, strict=False)


def _parse_iso(column: pl.Series) -> pl.Series:
    """Texts like 2024-05-01T10:00:05.5+02:00 as seconds since 1970; null where they are none."""
    part = [column.str.strip_chars().str.extract(ISO_PATTERN, group) for group in range(1, 7)]
    day = part[0].str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    hours, minutes = (part[group].cast(pl.Float64).fill_null(0) for group in (1, 2))
    seconds = part[3].str.replace(",", ".", literal=True).cast(pl.Float64).fill_null(0)
    is_negative_offset = part[4].str.starts_with("-").fill_null(value=False)
    hours_ahead, minutes_ahead = (part[group].str.strip_chars("+-").cast(pl.Float64).fill_null(0) for group in (4, 5))
    offset = (hours_ahead * 60 + minutes_ahead) * (1 - 2 * is_negative_offset.cast(pl.Int8))
    timestamps = day * 86_400.0 + (hours * 60 + minutes - offset) * 60 + seconds
    possible = (hours < 24) & (minutes < 60) & (seconds < 61)  # a minute may have a leap second
    return timestamps.set(~possible, None)
