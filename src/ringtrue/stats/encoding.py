"""Values as small numbers, the position of each among the different ones, and what is counted by them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int32]
SAMPLE_ROWS = 4096  # rows to look at
MAX_KEYS_PER_ROW = 8  # possible keys for each that is there
CHUNK_ROWS = 1 << 18  # rows that are checked at once
HASH_MULTIPLIER = 0x9E3779B97F4A7C15  # an odd number: multiplying by it loses nothing


def encode_column(column: pl.Series) -> tuple[Codes, pl.Series]:
    """Every value as a position among the different ones, which stand in order of appearance.

    Examples:
        >>> codes, names = encode_column(pl.Series(["b", "a", "b"]))
        >>> codes.tolist(), names.to_list()
        ([0, 1, 0], ['b', 'a'])
    """
    sample = column.gather_every(max(len(column) // SAMPLE_ROWS, 1))
    n_different = sample.n_unique()
    if n_different == 1 and (column == column[0]).all():
        return np.zeros(len(column), dtype=np.int32), column.head(1)
    if n_different > len(sample) // 2:
        encoded = encode_by_hash(column, column.hash().to_numpy())
        if encoded is not None:
            return encoded
    uniques = column.unique(maintain_order=True)
    return column.cast(pl.Enum(uniques)).to_physical().to_numpy().astype(np.int32), uniques


def encode_by_hash(column: pl.Series, hashes: NDArray[np.uint64]) -> tuple[Codes, pl.Series] | None:
    """The same by the hashes of the values, faster where many differ; None where two values share a hash."""
    first_rows = _first_row_with_hash(hashes)
    is_first = first_rows == np.arange(len(first_rows), dtype=np.int32)
    uniques = column.filter(pl.Series(is_first))
    codes = (np.cumsum(is_first, dtype=np.int32) - np.int32(1))[first_rows]
    for start in range(0, len(codes), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        if not (uniques.gather(codes[rows]) == column[rows]).all():
            return None
    return codes, uniques


def _first_row_with_hash(hashes: NDArray[np.uint64]) -> Codes:
    """The first row that has the same hash, for every row.

    Each row goes to a slot that its hash names, and the first row there owns it. Rows with another hash than the
    owner's try again, with their hashes mixed anew.
    """
    bits = max(len(hashes).bit_length(), 1)
    owners, first_rows = np.empty(1 << bits, dtype=np.int32), np.empty(len(hashes), dtype=np.int32)
    rows, row_hashes, mix = np.arange(len(hashes), dtype=np.int32), hashes, 1
    while len(rows):
        slot = row_hashes * np.uint64(mix)
        slot >>= np.uint64(64 - bits)
        owners[slot.view(np.int64)[::-1]] = rows[::-1]  # the last one written stays: of the reversed rows, the first
        owner = owners[slot.view(np.int64)]
        del slot
        done = hashes[owner] == row_hashes
        first_rows[rows[done]] = owner[done]
        rows, row_hashes, mix = rows[~done], row_hashes[~done], mix * HASH_MULTIPLIER % 2**64
    return first_rows


def encode_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
    """The different keys in rising order, and the position of each key among them.

    Examples:
        >>> uniques, codes = encode_keys(np.array([7, 3, 7]))
        >>> uniques.tolist(), codes.tolist()
        ([3, 7], [1, 0, 1])
    """
    # A table of all keys beats sorting them.
    if len(keys) and keys.min() >= 0 and keys.max() < MAX_KEYS_PER_ROW * len(keys):
        seen = np.zeros(int(keys.max()) + 1, dtype=bool)
        seen[keys] = True
        return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - np.int32(1))[keys]
    uniques, codes = np.unique(keys, return_inverse=True)
    return uniques, codes.astype(np.int32)


def cross_tabulate(
    rows: NDArray[np.integer], columns: NDArray[np.integer], n_rows: int, n_columns: int
) -> NDArray[np.int64]:
    """How often each row position stands together with each column position: rows × columns.

    Examples:
        >>> cross_tabulate(np.array([0, 0, 1]), np.array([2, 2, 0]), 2, 3).tolist()
        [[0, 0, 2], [1, 0, 0]]
    """
    cells = np.bincount(rows * np.int64(n_columns) + columns, minlength=n_rows * n_columns)
    return cells.reshape(n_rows, n_columns)


def rows_by_group(group: NDArray[np.integer], n_groups: int) -> list[NDArray[np.intp]]:
    """The positions of each group's values, in their order.

    Examples:
        >>> [rows.tolist() for rows in rows_by_group(np.array([1, 0, 1]), 3)]
        [[1], [0, 2], []]
    """
    order = np.argsort(group, kind="stable")
    return np.split(order, np.searchsorted(group[order], np.arange(1, n_groups)))


def mean_by_group(group: NDArray[np.integer], values: NDArray[np.generic], n_groups: int) -> NDArray[np.float64]:
    """The mean of the values of each group, such as a judge; NaN where there is none."""
    return divide_or_nan(np.bincount(group, weights=values, minlength=n_groups), np.bincount(group, minlength=n_groups))


def divide_or_nan(
    numerator: NDArray[np.floating] | NDArray[np.integer], denominator: NDArray[np.floating] | NDArray[np.integer]
) -> NDArray[np.float64]:
    """The quotient, and NaN where the denominator is not above 0."""
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
