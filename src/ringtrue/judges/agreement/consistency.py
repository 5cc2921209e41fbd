"""The same judge twice, beside different judges on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.stats.intervals import share_estimate
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.judges.votes import Votes

__all__ = ["consistency"]


def consistency(votes: Votes, *, again: bool, level: float) -> dict[str, Estimate]:
    """How often a judge who labels an item again says the same, and how often another judge does [Demeester14].

    `self_consistency` is the share of equal pairs among a judge's labels of an item, `cross_consistency` the share
    among pairs of labels of two judges, on the items that somebody labelled again: the difference is what taste adds
    to carelessness. `again` says whether there is any such label.
    """
    if not again:
        note = "no judge labelled an item twice"
        nothing = Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
        return {"self_consistency": nothing, "cross_consistency": nothing}
    cluster, _, _ = votes.clusters()
    item, _, group = votes.by_judge_and_item()
    own = votes.tally(group, len(item))
    n = own.sum(axis=1)
    twice = n > 1
    equal = (own * (own - 1)).sum(axis=1)
    same = share_estimate((equal / np.maximum(n * (n - 1), 1))[twice], cluster[item[twice]], level=level)
    # Pairs of labels of an item, less those of one judge.
    all_pairs, all_equal = (_per_item(pairs, item, votes.items.height) for pairs in (n * (n - 1), equal))
    counts = votes.counts()
    total = counts.sum(axis=1)
    pairs = total * (total - 1) - all_pairs
    agreeing = (counts * (counts - 1)).sum(axis=1) - all_equal
    used = np.zeros(votes.items.height, dtype=bool)
    used[item[twice]] = True
    used &= pairs > 0
    cross = share_estimate(
        (agreeing / np.maximum(pairs, 1))[used], cluster[used], level=level, what="such item that two judges labelled"
    )
    return {"self_consistency": same, "cross_consistency": cross}


def _per_item(values: NDArray[np.int64], item: NDArray[np.int64], items: int) -> NDArray[np.float64]:
    return np.bincount(item, weights=values, minlength=items).astype(np.float64)
