"""What a ranking with ties is worth on average, over every order of what is tied.

Lists are counted, not written out: `joint[q, i, j]` documents of list q have label i by the judge who scores and label
j by the one who ranks, both in rising order. Those with one label by the ranking judge are tied.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Discount: TypeAlias = Literal["log2", "zipf"]


def divisor(rank: NDArray[np.integer], discount: Discount = "log2") -> Floats:
    """What a gain is divided by at each rank: log₂(rank + 1), or by Zipf's law the rank.

    Examples:
        >>> divisor(np.array([1, 3])).tolist(), divisor(np.array([1, 4]), "zipf").tolist()
        ([1.0, 2.0], [1.0, 4.0])
    """
    return np.log2(rank + 1) if discount == "log2" else rank.astype(np.float64)


def discounts_to(n: int, k: int | None = None, discount: Discount = "log2") -> Floats:
    """What a gain is worth at each of n ranks, and nothing below rank k.

    Examples:
        >>> discounts_to(4, 3).round(2).tolist()
        [1.0, 0.63, 0.5, 0.0]
    """
    discounts = 1 / divisor(np.arange(1, n + 1), discount)
    discounts[n if k is None else k :] = 0.0
    return discounts


def tied_dcg(joint: Counts, gain: Floats, *, k: int | None = None, discount: Discount = "log2") -> Floats:
    """The expected DCG of lists sorted by one judge and scored by another, what is tied in random order.

    Each document gets the mean of the discounts of the ranks that those tied with it take up. `gain` is that of each
    label, or lists × labels.

    Examples:
        >>> tied_dcg(np.array([[[0, 1], [0, 1]]]), np.array([0.0, 1.0])).round(4)  # one good, one bad, tied
        array([0.8155])
    """
    _, _, mean_discount = _tie_blocks(joint, discounts_to(_longest_list(joint), k, discount))
    dcg: Floats = np.einsum("qij,qi,qj->q", joint, _broadcast_to_lists(joint, gain), mean_discount)
    return dcg


def tied_gap(joint: Counts, share: Floats) -> Floats:
    """The expected sum of graded average precision, Σ_k (1/k) Σ_{m≤k} min(q_m, q_k), what is tied in random order.

    For documents that reach a step of q, G of s tied ones after A above them and a documents in all:

        G · [(1 + A) h + (G − 1) (1 − (a + 1) h) / (s − 1)],    h the mean of 1/k over ranks a + 1 … a + s

    and the steps add up, as in GAP itself. `share` is q of each label, or lists × labels; divided by the sum of q it is
    GAP, with q of 0 and 1 average precision.

    Examples:
        >>> tied_gap(np.array([[[0, 1], [0, 1]]]), np.array([0.0, 1.0]))  # one good, one bad, tied: (1 + 1/2) / 2
        array([0.75])
    """
    above, size, mean_inverse_rank = _tie_blocks(joint, 1 / np.arange(1, _longest_list(joint) + 1))
    within = np.divide(
        1 - (above + 1) * mean_inverse_rank, size - 1, out=np.zeros_like(mean_inverse_rank), where=size > 1
    )
    share = _broadcast_to_lists(joint, share)
    gap, lower = np.zeros(len(joint)), np.zeros(len(joint))
    for step in np.sort(share, axis=1).T:  # one for each label; of labels that are worth the same, all but one add 0
        good = np.einsum("qij,qi->qj", joint, (share >= step[:, None]) & (share > 0)).astype(np.float64)
        ahead = good[:, ::-1].cumsum(axis=1)[:, ::-1] - good
        gap += (step - lower) * (good * ((1 + ahead) * mean_inverse_rank + (good - 1) * within)).sum(axis=1)
        lower = step
    return gap


def _longest_list(joint: Counts) -> int:
    return int(joint.sum(axis=(1, 2)).max(initial=0))


def _broadcast_to_lists(joint: Counts, label_values: Floats) -> Floats:
    return np.broadcast_to(label_values, joint.shape[:2])


def _tie_blocks(joint: Counts, rank_weights: Floats) -> tuple[Counts, Counts, Floats]:
    """For each ranking label: how many documents stand above it, how many have it, and their mean of `rank_weights`."""
    size = joint.sum(axis=1)
    above = size[:, ::-1].cumsum(axis=1)[:, ::-1] - size
    cumulative = np.concatenate([[0.0], np.cumsum(rank_weights)])
    return above, size, (cumulative[above + size] - cumulative[above]) / np.maximum(size, 1)
