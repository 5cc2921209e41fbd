"""Values as small numbers: the position of each among the different ones."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["Codes", "codes", "positions"]

Codes: TypeAlias = NDArray[np.int32]
SAMPLE = 4096  # rows to look at
CROWDED = 8  # possible keys for each that is there
PIECE = 1 << 18  # rows that are checked at once
MIX = 0x9E3779B97F4A7C15  # an odd number: multiplying by it loses nothing


def codes(column: pl.Series) -> tuple[Codes, pl.Series]:
    """Every value as a position among the different ones, which stand in order of appearance.

    Examples:
        >>> found, names = codes(pl.Series(["b", "a", "b"]))
        >>> found.tolist(), names.to_list()
        ([0, 1, 0], ['b', 'a'])
    """
    sample = column.gather_every(max(len(column) // SAMPLE, 1))
    different = sample.n_unique()
    if different == 1 and (column == column[0]).all():
        return np.zeros(len(column), dtype=np.int32), column.head(1)
    if different > len(sample) // 2:
        found = codes_by_hash(column, column.hash().to_numpy())
        if found is not None:
            return found
    names = column.unique(maintain_order=True)
    return column.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int32), names


def codes_by_hash(column: pl.Series, hashes: NDArray[np.uint64]) -> tuple[Codes, pl.Series] | None:
    """The same by the hashes of the values, faster where many differ; None where two values share a hash."""
    first = _first_with_the_same(hashes)
    new = first == np.arange(len(first), dtype=np.int32)
    names = column.filter(pl.Series(new))
    found = (np.cumsum(new, dtype=np.int32) - np.int32(1))[first]
    for start in range(0, len(found), PIECE):
        rows = slice(start, start + PIECE)
        if not (names.gather(found[rows]) == column[rows]).all():
            return None
    return found, names


def _first_with_the_same(hashes: NDArray[np.uint64]) -> Codes:
    """The first row that has the same hash, for every row.

    Each row goes to a slot that its hash names, and the first row there owns it. Rows with another hash than the
    owner's try again, with their hashes mixed anew.
    """
    bits = max(len(hashes).bit_length(), 1)
    owners, first = np.empty(1 << bits, dtype=np.int32), np.empty(len(hashes), dtype=np.int32)
    rows, own, mix = np.arange(len(hashes), dtype=np.int32), hashes, 1
    while len(rows):
        slot = own * np.uint64(mix)
        slot >>= np.uint64(64 - bits)
        owners[slot.view(np.int64)[::-1]] = rows[::-1]  # the last one written stays: of the reversed rows, the first
        owner = owners[slot.view(np.int64)]
        del slot
        done = hashes[owner] == own
        first[rows[done]] = owner[done]
        rows, own, mix = rows[~done], own[~done], mix * MIX % 2**64
    return first


def positions(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
    """The different keys in rising order, and the position of each key among them.

    Examples:
        >>> found, places = positions(np.array([7, 3, 7]))
        >>> found.tolist(), places.tolist()
        ([3, 7], [1, 0, 1])
    """
    if len(keys) and keys.min() >= 0 and keys.max() < CROWDED * len(keys):  # a table of all keys beats sorting them
        seen = np.zeros(int(keys.max()) + 1, dtype=bool)
        seen[keys] = True
        return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - np.int32(1))[keys]
    found, places = np.unique(keys, return_inverse=True)
    return found, places.astype(np.int32)
