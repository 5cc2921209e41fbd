"""What would change if one judge were left out: worked out on the items that this judge labelled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.judge_findings import Effect
from ringtrue.judges.votes import Votes, majority
from ringtrue.stats.intervals import share_estimate
from ringtrue.stats.results import Estimate

__all__ = ["LeavingOut"]

Counts = NDArray[np.int64]


class LeavingOut:
    """All votes counted once, so that a judge can be taken out of them; `gold` is a label for each item, or −1."""

    def __init__(self, votes: Votes, gold: NDArray[np.integer] | None) -> None:
        self.votes = votes
        self.gold = np.full(votes.items.height, -1) if gold is None else gold
        self.counts = votes.counts()
        self.disagreement, self.pairable = _disagreement(self.counts)
        right, known = self._right(self.counts, self.gold)
        self.right, self.known = int(right), int(known)
        self.items = int(self.counts.any(axis=1).sum())

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha of all judges; None where it is undefined."""
        return _alpha(self.disagreement, self.pairable)

    def majority_accuracy(self, cluster: NDArray[np.integer], level: float) -> Estimate:
        """How often the majority label of a gold item is the gold one."""
        known = np.flatnonzero((self.gold >= 0) & self.counts.any(axis=1))
        right = majority(self.counts[known]) == self.gold[known]
        return share_estimate(right, cluster[known], level=level, what="gold item with a majority label")

    def without(self, rows: NDArray[np.integer]) -> Effect:
        """The effect of leaving out these votes, which are one judge's."""
        items, place = np.unique(self.votes.item[rows], return_inverse=True)
        before = self.counts[items]
        after = before.copy()
        np.subtract.at(after, (place, self.votes.label[rows]), 1)
        left = after.any(axis=1)
        old, new = _disagreement(before), _disagreement(after)
        right, known = self.right, self.known
        for counts, sign in ((before, -1), (after, 1)):
            change = self._right(counts, self.gold[items])
            right, known = right + sign * change[0], known + sign * change[1]
        return Effect(
            items=self.items,
            changed=int((majority(before) != majority(after))[left].sum()),
            lost=int((~left).sum()),
            alpha=self.alpha,
            alpha_without=_alpha(self.disagreement - old[0] + new[0], self.pairable - old[1] + new[1]),
            accuracy=self.right / self.known if self.known else None,
            accuracy_without=right / known if known else None,
            gold=self.known,
        )

    @staticmethod
    def _right(counts: Counts, gold: NDArray[np.integer]) -> tuple[int, int]:
        """On how many items the majority label is the gold one, and of how many."""
        known = (gold >= 0) & counts.any(axis=1)
        return int((majority(counts) == gold)[known].sum()), int(known.sum())


def _disagreement(counts: Counts) -> tuple[float, Counts]:
    """The pairs of labels that differ, each item's weighed by 1 / (labels − 1), and the labels that have a partner."""
    n = counts.sum(axis=1)
    several = counts[n > 1]
    n = n[n > 1]
    return float(((n**2 - (several**2).sum(axis=1)) / (n - 1)).sum()), several.sum(axis=0)


def _alpha(disagreement: float, labels: Counts) -> float | None:
    """Krippendorff's alpha, nominal.

    α = 1 − (n − 1) Σ_i (n_i² − Σ_c n_ic²) / (n_i − 1) / (n² − Σ_c n_c²)    [Krippendorff11]
    """
    n = int(labels.sum())
    expected = n**2 - int((labels**2).sum())
    return 1 - (n - 1) * disagreement / expected if expected else None
