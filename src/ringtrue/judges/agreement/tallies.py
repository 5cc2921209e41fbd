"""Votes → the sums that coefficients are made of, for each query or item, so that these can be drawn anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement.coefficients import Sums
from ringtrue.judges.votes import Votes

__all__ = ["meetings", "pair_confusions", "sums_of", "total_sums"]

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int32]


def total_sums(counts: NDArray[np.int64], relevant: NDArray[np.bool_], *, group: Codes, groups: int) -> Array:
    """The sums of each group of items as a row; `sums_of` takes rows, or sums of rows, apart.

    `counts` has the number of votes of each item for each label, `group` the row that an item belongs to.
    """
    votes = counts.sum(axis=1)
    pairable = votes > 1
    weight = np.divide(1, votes - 1, where=pairable, out=np.zeros(len(votes)))
    share = counts / np.maximum(votes, 1)[:, None]
    said = counts[:, relevant].sum(axis=1)

    def summed(values: NDArray[np.floating] | NDArray[np.bool_]) -> Array:
        return np.bincount(group, weights=values.astype(np.float64), minlength=groups).astype(np.float64)

    labels = range(counts.shape[1])
    coincidences = {
        (c, k): summed((counts[:, c] * (counts[:, k] - (c == k))) * weight) for c in labels for k in labels if c <= k
    }
    columns = [coincidences[min(c, k), max(c, k)] for c in labels for k in labels]
    agreeing = (counts * (counts - 1)).sum(axis=1) * weight / np.maximum(votes, 1)
    columns += [summed(pairable), summed(agreeing), summed(votes > 0)]
    columns += [summed(pairable & (said > 0)), summed(pairable & (said == votes))]
    columns += [summed(share[:, k]) for k in labels]
    return np.stack(columns, axis=1)


def sums_of(rows: Array, labels: int) -> Sums:
    """The sums that a row stands for; any leading axes stay."""
    square = labels * labels
    pairable, agreeing, rated, relevant, unanimous = np.moveaxis(rows[..., square : square + 5], -1, 0)
    return Sums(
        coincidences=rows[..., :square].reshape(*rows.shape[:-1], labels, labels),
        pairable=pairable,
        agreeing=agreeing,
        rated=rated,
        shares=rows[..., square + 5 :],
        relevant=relevant,
        unanimous=unanimous,
    )


def meetings(votes: Votes, most: int) -> list[tuple[int, int]]:
    """All pairs of judges, or the `most` that have the most items in common, where there are more."""
    judges = len(votes.judges)
    if judges * (judges - 1) // 2 <= most:
        return [(a, b) for a in range(judges) for b in range(a + 1, judges)]
    if most == 0:
        return []
    from scipy.sparse import csr_array, triu

    shape = (votes.items.height, judges)
    seen = csr_array((np.ones(votes.size, dtype=np.int64), (votes.item, votes.judge)), shape=shape)
    seen.data[:] = 1
    common = triu(seen.T @ seen, k=1).tocoo()
    order = np.lexsort((common.col, common.row, -common.data))[:most]
    return list(zip(common.row[order].tolist(), common.col[order].tolist(), strict=True))


def pair_confusions(votes: Votes, pairs: list[tuple[int, int]]) -> Iterator[tuple[Codes, Codes, Codes]]:
    """For each pair of judges, every meeting on an item: the item, the one's label and the other's."""
    order = np.lexsort((votes.item, votes.judge))
    start = np.searchsorted(votes.judge[order], np.arange(len(votes.judges) + 1))
    item, label = votes.item[order], votes.label[order]
    for one, other in pairs:
        mine, theirs = slice(start[one], start[one + 1]), slice(start[other], start[other + 1])
        first = np.searchsorted(item[theirs], item[mine], side="left")
        times = np.searchsorted(item[theirs], item[mine], side="right") - first
        at = np.repeat(first - np.cumsum(times) + times, times) + np.arange(times.sum())
        yield np.repeat(item[mine], times), np.repeat(label[mine], times), label[theirs][at]
