"""What most say of an item, and what most of the others say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ringtrue.judges.votes.vote_table import Votes

__all__ = ["ALONE", "TIED", "Others", "leave_one_out", "majority", "without_company"]

TIED, ALONE = -1, -2  # no consensus: the others tie, or there are none
PIECE = 4_000_000  # cells of the largest array that is held at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Others:
    """For each vote, what the other judges said of its item.

    `label` is the label that most of them gave, as a position, or TIED or ALONE; `mean` the mean of their grades,
    NaN where there are none. `credit` is 1 for a vote that says what most of them say, a part of it where they tie
    (each of m labels that tie is worth 1/m), and NaN where there are none. `wanted` sums up, for each judge, how often
    each label was what the others wanted: judges × labels. `most` is the largest number of others' votes on an item.
    """

    label: NDArray[np.int32]
    mean: NDArray[np.float64]
    credit: NDArray[np.float64]
    wanted: NDArray[np.float64]
    most: int


def leave_one_out(votes: Votes) -> Others:
    """The majority of the others' votes on the item of each vote; a judge's repeats are all left out together.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> votes = votes_of({"item": ["a", "a", "a", "b"], "worker": ["x", "y", "z", "x"], "label": [0, 1, 1, 2]})
        >>> others = leave_one_out(votes)
        >>> others.label.tolist(), others.mean.tolist(), others.credit.tolist()
        ([1, -1, -1, -2], [1.0, 0.5, 0.5, nan], [0.0, 0.5, 0.5, nan])
    """
    items, width = votes.items.height, len(votes.labels)
    item, judge, pair = votes.by_judge_and_item()
    counts, times = votes.counts(), np.bincount(pair, minlength=len(item))
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(len(item) + 1))
    label, credit = np.empty(len(item), dtype=np.int32), np.empty(votes.size)
    wanted = np.zeros((len(votes.judges), width))
    step = max(PIECE // width, 1)
    for first in range(0, len(item), step):
        last = min(first + step, len(item))
        own = order[starts[first] : starts[last]]
        rest = counts[item[first:last]]
        np.subtract.at(rest, (pair[own] - first, votes.label[own]), 1)
        most = rest.max(axis=1)
        top = (rest == most[:, None]) & (most > 0)[:, None]
        several = top.sum(axis=1)
        label[first:last] = np.where(most == 0, ALONE, np.where(several > 1, TIED, rest.argmax(axis=1)))
        worth = top / np.maximum(several, 1)[:, None]
        credit[own] = np.where(most[pair[own] - first] > 0, worth[pair[own] - first, votes.label[own]], np.nan)
        for place in range(width):
            weights = worth[:, place] * times[first:last]
            wanted[:, place] += np.bincount(judge[first:last], weights=weights, minlength=len(votes.judges))
    grade = np.array(votes.labels, dtype=np.float64)[votes.label]
    total, n = np.bincount(votes.item, weights=grade, minlength=items), np.bincount(votes.item, minlength=items)
    others = (n[item] - times).astype(np.float64)
    left = total[item] - np.bincount(pair, weights=grade, minlength=len(item))
    mean = np.full(len(item), np.nan)
    np.divide(left, others, out=mean, where=others > 0)
    return Others(label=label[pair], mean=mean[pair], credit=credit, wanted=wanted, most=int(others.max(initial=0)))


def without_company(votes: Votes) -> NDArray[np.bool_]:
    """Which judges labelled only items that nobody else did; a judge with no label is not among them.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> votes = votes_of({"item": ["a", "a", "b"], "worker": ["x", "y", "z"], "label": [0, 1, 1]})
        >>> without_company(votes).tolist()
        [False, False, True]
    """
    somebody = np.empty(votes.items.height, dtype=np.int32)
    somebody[votes.item] = votes.judge
    shared = np.zeros(votes.items.height, dtype=bool)
    shared[votes.item[somebody[votes.item] != votes.judge]] = True
    active, met = (
        np.bincount(judge, minlength=len(votes.judges)) > 0 for judge in (votes.judge, votes.judge[shared[votes.item]])
    )
    return active & ~met


def majority(counts: NDArray[np.int64], *, ties: Literal["low", "high"] = "low") -> NDArray[np.int64]:
    """The label with the most votes, as a position; of several, the lowest or the highest; −1 where there is no vote.

    Examples:
        >>> majority(np.array([[2, 1, 2], [0, 0, 0]])).tolist()
        [0, -1]
    """
    most = counts.argmax(axis=1) if ties == "low" else counts.shape[1] - 1 - counts[:, ::-1].argmax(axis=1)
    return np.where(counts.any(axis=1), most, -1)
