"""Rows grouped by query, and the exact search for a (query, doc) that stands twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IntArray: TypeAlias = NDArray[np.int64]
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio: neighbouring numbers land far apart
BATCH_ROWS = 1 << 17  # what belongs to one batch fits the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Consecutive rows that belong to one query: rows `offsets[i]` to `offsets[i + 1]` are `queries[i]`'s."""

    queries: tuple[str, ...]
    offsets: IntArray

    @property
    def sizes(self) -> IntArray:
        """How many rows each query has."""
        return np.diff(self.offsets)

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[tuple[int, int]]:
        """Spans of consecutive queries with about this many rows, a query never cut."""
        first, last = 0, len(self.queries)
        while first < last:
            stop = int(np.searchsorted(self.offsets, self.offsets[first] + rows, side="right")) - 1
            stop = min(max(stop, first + 1), last)
            yield first, stop
            first = stop


def group_rows(frame: pl.DataFrame) -> tuple[pl.DataFrame, Groups]:
    """Bring the rows of each query together, queries in order of appearance; free when they are already."""
    blocks = frame["query"].rle().struct.unnest()
    queries = blocks["value"].unique(maintain_order=True)
    lengths = blocks["len"].to_numpy()
    if len(queries) < blocks.height:
        codes = frame["query"].cast(pl.Enum(queries)).to_physical().to_numpy()
        lengths = np.bincount(codes)
        # In the smallest type that holds them: NumPy sorts 16-bit numbers by counting.
        frame = frame[np.argsort(codes.astype(np.min_scalar_type(len(queries))), kind="stable")]
    return frame, Groups(queries=tuple(queries), offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def doc_hash(docs: pl.Series, *, seed: int = 0) -> NDArray[np.uint64]:
    """A 64-bit hash of every doc id; equal ids have equal hashes within one process."""
    return docs.hash(seed).to_numpy()


def first_duplicate(
    groups: Groups, docs: pl.Series, *, hash_docs: Callable[[pl.Series], NDArray[np.uint64]] = doc_hash
) -> tuple[str, str] | None:
    """A (query, doc) that stands twice, or None.

    Exact: equal ids have equal hashes, and only where two hashes agree are the ids themselves compared.
    """
    for first, stop in groups.batches():
        low, high = groups.offsets[first], groups.offsets[stop]
        codes = np.repeat(np.arange(first, stop), groups.sizes[first:stop])
        keys = (hash_docs(docs[int(low) : int(high)]) ^ codes.astype(np.uint64)) * HASH_MULTIPLIER
        for row, other_row in _find_equal_keys(keys):
            if codes[row] == codes[other_row] and docs[int(low + row)] == docs[int(low + other_row)]:
                return groups.queries[codes[row]], docs[int(low + row)]
    return None


def _find_equal_keys(keys: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Places of keys that are equal, without sorting.

    Everybody writes its number into its slot of a table; the last one to write stays. Whoever finds another's
    number there is compared with it, and if they differ takes part in the next round. Two equal keys share a
    slot in every round, so one of them meets the other in the end.
    """
    bits = max(4, len(keys).bit_length() + 2)
    slots = (keys >> np.uint64(64 - bits)).astype(np.int64)
    table = np.empty(1 << bits, dtype=np.int32)
    rows = np.arange(len(keys), dtype=np.int32)
    while len(rows):
        table[slots] = rows
        occupants = table[slots]
        displaced = np.flatnonzero(occupants != rows)
        rows, slots, occupants = rows[displaced], slots[displaced], occupants[displaced]
        same = keys[rows] == keys[occupants]
        yield from zip(rows[same].tolist(), occupants[same].tolist(), strict=True)
