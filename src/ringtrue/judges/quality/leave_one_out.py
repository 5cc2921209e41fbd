"""What would change if one judge were left out: worked out on the items that this judge labelled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.judge_findings import Effect
from ringtrue.judges.votes import Votes, majority
from ringtrue.stats.intervals import estimate_share
from ringtrue.stats.results import Estimate

Counts = NDArray[np.int64]


class LeaveOneOut:
    """All votes counted once, so that a judge can be taken out of them; `gold` is a label for each item, or −1."""

    def __init__(self, votes: Votes, gold: NDArray[np.integer] | None) -> None:
        self.votes = votes
        self.gold = np.full(votes.items.height, -1) if gold is None else gold
        self.counts = votes.counts()
        self.disagreement, self.pairable = _alpha_terms(self.counts)
        n_right, n_gold = self._count_right(self.counts, self.gold)
        self.n_right, self.n_gold = int(n_right), int(n_gold)
        self.items = int(self.counts.any(axis=1).sum())

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha of all judges; None where it is undefined."""
        return _nominal_alpha(self.disagreement, self.pairable)

    def majority_accuracy(self, cluster: NDArray[np.integer], level: float) -> Estimate:
        """How often the majority label of a gold item is the gold one."""
        gold_items = np.flatnonzero((self.gold >= 0) & self.counts.any(axis=1))
        is_right = majority(self.counts[gold_items]) == self.gold[gold_items]
        return estimate_share(is_right, cluster[gold_items], level=level, case_name="gold item with a majority label")

    def effect_without(self, rows: NDArray[np.integer]) -> Effect:
        """The effect of leaving out these votes, which are one judge's."""
        items, item_code = np.unique(self.votes.item[rows], return_inverse=True)
        before = self.counts[items]
        after = before.copy()
        np.subtract.at(after, (item_code, self.votes.label[rows]), 1)
        has_label = after.any(axis=1)
        terms_before, terms_after = _alpha_terms(before), _alpha_terms(after)
        n_right, n_gold = self.n_right, self.n_gold
        for counts, sign in ((before, -1), (after, 1)):
            change = self._count_right(counts, self.gold[items])
            n_right, n_gold = n_right + sign * change[0], n_gold + sign * change[1]
        return Effect(
            items=self.items,
            changed=int((majority(before) != majority(after))[has_label].sum()),
            lost=int((~has_label).sum()),
            alpha=self.alpha,
            alpha_without=_nominal_alpha(
                self.disagreement - terms_before[0] + terms_after[0], self.pairable - terms_before[1] + terms_after[1]
            ),
            accuracy=self.n_right / self.n_gold if self.n_gold else None,
            accuracy_without=n_right / n_gold if n_gold else None,
            gold=self.n_gold,
        )

    @staticmethod
    def _count_right(counts: Counts, gold: NDArray[np.integer]) -> tuple[int, int]:
        """On how many items the majority label is the gold one, and of how many."""
        has_both = (gold >= 0) & counts.any(axis=1)
        return int((majority(counts) == gold)[has_both].sum()), int(has_both.sum())


def _alpha_terms(counts: Counts) -> tuple[float, Counts]:
    """The pairs of labels that differ, each item's weighed by 1 / (labels − 1), and the labels that have a partner."""
    n = counts.sum(axis=1)
    pairable = counts[n > 1]
    n = n[n > 1]
    return float(((n**2 - (pairable**2).sum(axis=1)) / (n - 1)).sum()), pairable.sum(axis=0)


def _nominal_alpha(disagreement: float, labels: Counts) -> float | None:
    """Krippendorff's alpha, nominal.

    α = 1 − (n − 1) Σ_i (n_i² − Σ_c n_ic²) / (n_i − 1) / (n² − Σ_c n_c²)    [Krippendorff11]
    """
    n = int(labels.sum())
    expected = n**2 - int((labels**2).sum())
    return 1 - (n - 1) * disagreement / expected if expected else None
