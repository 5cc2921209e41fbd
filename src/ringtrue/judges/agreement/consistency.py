"""The same judge twice, beside different judges on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.stats.intervals import estimate_share
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.judges.votes import Votes


def estimate_consistency(votes: Votes, *, has_repeats: bool, level: float) -> dict[str, Estimate]:
    """How often a judge who labels an item again says the same, and how often another judge does [Demeester14].

    `self_consistency` is the share of equal pairs among a judge's labels of an item, `cross_consistency` the share
    among pairs of labels of two judges, on the items that somebody labelled again: the difference is what taste adds
    to carelessness. `has_repeats` says whether there is any such label.
    """
    if not has_repeats:
        note = "no judge labelled an item twice"
        undefined = Estimate(value=None, level=level, n=0, method="wilson", notes=(note,))
        return {"self_consistency": undefined, "cross_consistency": undefined}
    cluster, _, _ = votes.clusters()
    item, _, group = votes.by_judge_and_item()
    label_counts = votes.tally(group, len(item))
    n = label_counts.sum(axis=1)
    is_repeated = n > 1
    equal = (label_counts * (label_counts - 1)).sum(axis=1)
    self_consistency = estimate_share(
        (equal / np.maximum(n * (n - 1), 1))[is_repeated], cluster[item[is_repeated]], level=level
    )
    # Pairs of labels of an item, less those of one judge.
    all_pairs, all_equal = (_sum_by_item(pairs, item, votes.items.height) for pairs in (n * (n - 1), equal))
    counts = votes.counts()
    n_labels = counts.sum(axis=1)
    pairs = n_labels * (n_labels - 1) - all_pairs
    agreeing = (counts * (counts - 1)).sum(axis=1) - all_equal
    is_used = np.zeros(votes.items.height, dtype=bool)
    is_used[item[is_repeated]] = True
    is_used &= pairs > 0
    cross_consistency = estimate_share(
        (agreeing / np.maximum(pairs, 1))[is_used],
        cluster[is_used],
        level=level,
        case_name="such item that two judges labelled",
    )
    return {"self_consistency": self_consistency, "cross_consistency": cross_consistency}


def _sum_by_item(values: NDArray[np.int64], item: NDArray[np.int64], n_items: int) -> NDArray[np.float64]:
    return np.bincount(item, weights=values, minlength=n_items).astype(np.float64)
