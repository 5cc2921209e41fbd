"""When a label was given."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError

__all__ = ["moments"]


def moments(column: pl.Series) -> NDArray[np.float64]:
    """Times as numbers that rise: numbers as they are, dates and ISO texts as seconds.

    Examples:
        >>> moments(pl.Series("time", ["2024-05-01 10:00:00", "2024-05-01T10:00:05"])).tolist()[1] - 1714557600
        5.0
    """
    try:
        found = _seconds(column)
    except pl.exceptions.PolarsError:  # Polars knows no way to read any of it
        found = pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
    bad = ~found.is_finite().fill_null(value=False)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TableError(
            f"row {row + 1}: expected a time in column '{column.name}', as a number or like 2024-05-01 10:00:00, "
            f"found {column[row]!r}; a column of another name is not looked at"
        )
    return found.to_numpy()


def _seconds(column: pl.Series) -> pl.Series:
    found = column
    if column.dtype == pl.String:
        found = column.cast(pl.Float64, strict=False)
        if 2 * found.null_count() > len(column):  # most are no numbers
            text = column.str.replace("T", " ", literal=True).str.strip_suffix("Z")
            found = text.str.to_datetime(strict=False, exact=True)
    if found.dtype.is_temporal():
        found = found.cast(pl.Datetime("us"), strict=False).cast(pl.Int64) / 1e6
    return found.cast(pl.Float64, strict=False)
