"""What every formula reads: the judged documents of many ranked lists, flat, with offsets.

A document that nobody judged counts in no formula except by the rank it takes up, so a run of ten million
lines is reduced to the few documents that were judged before any measure looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Compat: TypeAlias = Literal["trec_eval-9", "trec_eval-10"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedLists:
    """One ranked list for each query, reduced to its documents with a label.

    List i holds entries `offsets[i]` to `offsets[i + 1]` of `rank` and `label`, best first; `retrieved[i]`
    is its whole length. Its pool, every label given for the query whether retrieved or not, is
    `pool[pool_offsets[i]:pool_offsets[i + 1]]`, largest first. A negative label is a document that was
    pooled but not judged.
    """

    offsets: IntArray
    rank: IntArray
    label: IntArray
    retrieved: IntArray
    pool_offsets: IntArray
    pool: IntArray
    max_label: int
    collection_size: int | None = None
    compat: Compat | None = None

    def __len__(self) -> int:
        return len(self.retrieved)

    @cached_property
    def owner(self) -> IntArray:
        """The list that each entry belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def pool_owner(self) -> IntArray:
        """The list that each label of the pool belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.pool_offsets))

    @cached_property
    def pool_rank(self) -> IntArray:
        """The rank that each label of the pool has in the ideal list."""
        return np.arange(1, len(self.pool) + 1) - self.pool_offsets[self.pool_owner]

    def total(self, values: FloatArray | BoolArray) -> FloatArray:
        """The sum over the entries of each list."""
        return np.bincount(self.owner, weights=values, minlength=len(self)).astype(np.float64)

    def pool_total(self, values: FloatArray | BoolArray) -> FloatArray:
        """The sum over the pool of each list."""
        return np.bincount(self.pool_owner, weights=values, minlength=len(self)).astype(np.float64)

    def relevant(self, rel: int) -> FloatArray:
        """How many documents of each pool have at least this label: the R of recall."""
        return self.pool_total(self.pool >= rel)

    def hits(self, rel: int, k: int | None = None) -> FloatArray:
        """How many of the first k documents of each list are relevant."""
        return self.total((self.label >= rel) & self.within(k))

    def depth(self, k: int | None) -> FloatArray:
        """How many documents each list has down to rank k."""
        return (self.retrieved if k is None else np.minimum(self.retrieved, k)).astype(np.float64)

    def within(self, k: int | None) -> BoolArray:
        """Which entries stand among the first k."""
        return np.ones(len(self.rank), dtype=bool) if k is None else self.rank <= k

    def running_count(self, flags: BoolArray) -> IntArray:
        """For each entry, how many entries of its list down to itself are flagged."""
        counts: IntArray = np.concatenate([[0], np.cumsum(flags)]).astype(np.int64)
        return counts[1:] - counts[self.offsets[self.owner]]

    @cached_property
    def condensed(self) -> RankedLists:
        """The lists without the documents that nobody judged, the rest moved up."""
        judged = self.label >= 0
        counts = self.total(judged).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rank = self.running_count(judged)[judged]
        return replace(self, offsets=offsets, rank=rank, label=self.label[judged], retrieved=counts)


def ranked(labels: Sequence[int | None], *, missed: Sequence[int] = ()) -> RankedLists:
    """One list by hand: the label at each rank (None where nobody judged), and what it failed to find.

    Examples:
        >>> ranked([3, None, 1], missed=[2]).pool.tolist()
        [3, 2, 1]
    """
    entries = [(rank, label) for rank, label in enumerate(labels, start=1) if label is not None]
    pool = sorted([label for _, label in entries] + list(missed), reverse=True)
    return RankedLists(
        offsets=np.array([0, len(entries)], dtype=np.int64),
        rank=np.array([rank for rank, _ in entries], dtype=np.int64),
        label=np.array([label for _, label in entries], dtype=np.int64),
        retrieved=np.array([len(labels)], dtype=np.int64),
        pool_offsets=np.array([0, len(pool)], dtype=np.int64),
        pool=np.array(pool, dtype=np.int64),
        max_label=max(pool, default=0),
    )


def divide_or_zero(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """numerator / denominator, and 0 where the denominator is 0, as trec_eval has it."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
