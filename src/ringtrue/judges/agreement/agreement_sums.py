"""Votes → the sums that coefficients are made of, for each query or item, so that these can be drawn anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.agreement.coefficients import AgreementSums
from ringtrue.judges.votes import Votes

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int32]


def sum_by_group(counts: NDArray[np.int64], relevant: NDArray[np.bool_], *, group: Codes, n_groups: int) -> Array:
    """The sums of each group of items as a row; `unpack_sums` takes rows, or sums of rows, apart.

    `counts` has the number of votes of each item for each label, `group` the row that an item belongs to.
    """
    n_votes = counts.sum(axis=1)
    pairable = n_votes > 1
    weight = np.divide(1, n_votes - 1, where=pairable, out=np.zeros(len(n_votes)))
    share = counts / np.maximum(n_votes, 1)[:, None]
    n_relevant = counts[:, relevant].sum(axis=1)

    def group_total(values: NDArray[np.floating] | NDArray[np.bool_]) -> Array:
        return np.bincount(group, weights=values.astype(np.float64), minlength=n_groups).astype(np.float64)

    labels = range(counts.shape[1])
    coincidences = {
        (c, k): group_total((counts[:, c] * (counts[:, k] - (c == k))) * weight)
        for c in labels
        for k in labels
        if c <= k
    }
    columns = [coincidences[min(c, k), max(c, k)] for c in labels for k in labels]
    agreeing = (counts * (counts - 1)).sum(axis=1) * weight / np.maximum(n_votes, 1)
    columns += [group_total(pairable), group_total(agreeing), group_total(n_votes > 0)]
    columns += [group_total(pairable & (n_relevant > 0)), group_total(pairable & (n_relevant == n_votes))]
    columns += [group_total(share[:, k]) for k in labels]
    return np.stack(columns, axis=1)


def unpack_sums(rows: Array, n_labels: int) -> AgreementSums:
    """The sums that a row stands for; any leading axes stay."""
    square = n_labels * n_labels
    pairable, agreeing, rated, relevant, unanimous = np.moveaxis(rows[..., square : square + 5], -1, 0)
    return AgreementSums(
        coincidences=rows[..., :square].reshape(*rows.shape[:-1], n_labels, n_labels),
        pairable=pairable,
        agreeing=agreeing,
        rated=rated,
        shares=rows[..., square + 5 :],
        relevant=relevant,
        unanimous=unanimous,
    )


def choose_judge_pairs(votes: Votes, max_pairs: int) -> list[tuple[int, int]]:
    """All pairs of judges, or the `max_pairs` that have the most items in common, where there are more."""
    n_judges = len(votes.judges)
    if n_judges * (n_judges - 1) // 2 <= max_pairs:
        return [(a, b) for a in range(n_judges) for b in range(a + 1, n_judges)]
    if max_pairs == 0:
        return []
    from scipy.sparse import csr_array, triu

    shape = (votes.items.height, n_judges)
    seen = csr_array((np.ones(votes.size, dtype=np.int64), (votes.item, votes.judge)), shape=shape)
    seen.data[:] = 1
    common = triu(seen.T @ seen, k=1).tocoo()
    order = np.lexsort((common.col, common.row, -common.data))[:max_pairs]
    return list(zip(common.row[order].tolist(), common.col[order].tolist(), strict=True))


def match_pair_labels(votes: Votes, pairs: list[tuple[int, int]]) -> Iterator[tuple[Codes, Codes, Codes]]:
    """For each pair of judges, every meeting on an item: the item, the one's label and the other's."""
    order = np.lexsort((votes.item, votes.judge))
    start = np.searchsorted(votes.judge[order], np.arange(len(votes.judges) + 1))
    item, label = votes.item[order], votes.label[order]
    for judge_a, judge_b in pairs:
        votes_a, votes_b = slice(start[judge_a], start[judge_a + 1]), slice(start[judge_b], start[judge_b + 1])
        first = np.searchsorted(item[votes_b], item[votes_a], side="left")
        n_matches = np.searchsorted(item[votes_b], item[votes_a], side="right") - first
        matches_b = np.repeat(first - np.cumsum(n_matches) + n_matches, n_matches) + np.arange(n_matches.sum())
        yield np.repeat(item[votes_a], n_matches), np.repeat(label[votes_a], n_matches), label[votes_b][matches_b]
