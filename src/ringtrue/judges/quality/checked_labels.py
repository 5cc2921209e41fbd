"""Labels that can be checked: against gold, or against what most of the others say."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.results import Against
from ringtrue.judges.quality.tail_bounds import ChanceSums, sums_within_strata
from ringtrue.judges.votes import OthersConsensus, Votes
from ringtrue.stats.encoding import cross_tabulate, divide_or_nan, mean_by_group, rows_by_group

FloatArray = NDArray[np.float64]


class CheckedLabels:
    """The votes that can be checked, and for each judge what that says.

    `reference` has the label for each vote, as a position, below 0 where there is none; `hit` says which are right.
    Where others tie, a label can be right in part. Numbers for each judge are NaN where the judge has no case.
    """

    def __init__(
        self, votes: Votes, reference: NDArray[np.integer], against: Against, others: OthersConsensus | None = None
    ) -> None:
        self.rows = np.flatnonzero(reference >= 0 if others is None else ~np.isnan(others.credit))
        self.against: Against = against
        self.n_judges, self.n_labels = len(votes.judges), len(votes.labels)
        self.judge, self.item, self.label = (codes[self.rows] for codes in (votes.judge, votes.item, votes.label))
        self.reference = reference[self.rows]
        self.consensus_counts = None if others is None else others.consensus_counts
        is_right = self.label == self.reference if others is None else others.credit[self.rows]
        self.hit: FloatArray = is_right.astype(np.float64)

    @cached_property
    def n(self) -> NDArray[np.int64]:
        """How many cases each judge has."""
        return np.bincount(self.judge, minlength=self.n_judges)

    @cached_property
    def rows_by_judge(self) -> list[NDArray[np.intp]]:
        """The positions of each judge's cases."""
        return rows_by_group(self.judge, self.n_judges)

    @cached_property
    def accuracy(self) -> FloatArray:
        """The share of each judge's cases that are right."""
        return mean_by_group(self.judge, self.hit, self.n_judges)

    @cached_property
    def item_share(self) -> FloatArray:
        """For each case, the share of all labels of its item that are right."""
        n = np.maximum(np.bincount(self.item), 1)
        share: FloatArray = (np.bincount(self.item, weights=self.hit) / n)[self.item]
        return share

    @cached_property
    def others_hit(self) -> FloatArray:
        """For each case, the share of the other judges' labels of its item that are right; NaN where there is none."""
        n_items = int(self.item.max(initial=-1)) + 1
        judge_item = np.unique(self.item.astype(np.int64) * self.n_judges + self.judge, return_inverse=True)[1]
        n = np.bincount(self.item, minlength=n_items)[self.item] - np.bincount(judge_item)[judge_item]
        hits = np.bincount(self.item, weights=self.hit, minlength=n_items)[self.item]
        hits -= np.bincount(judge_item, weights=self.hit)[judge_item]
        return divide_or_nan(hits, n)

    @cached_property
    def others_accuracy(self) -> FloatArray:
        """How often the others are right on each judge's items, each item weighing the same."""
        has_others = ~np.isnan(self.others_hit)
        return mean_by_group(self.judge[has_others], self.others_hit[has_others], self.n_judges)

    @cached_property
    def shared(self) -> NDArray[np.int64]:
        """How many of each judge's cases are of items where others have one too."""
        return np.bincount(self.judge[~np.isnan(self.others_hit)], minlength=self.n_judges)

    @cached_property
    def shared_accuracy(self) -> FloatArray:
        """The share of each judge's cases that are right, on items that others labelled too."""
        has_others = ~np.isnan(self.others_hit)
        return mean_by_group(self.judge[has_others], self.hit[has_others], self.n_judges)

    @cached_property
    def chance(self) -> FloatArray:
        """How often each judge would be right if the same labels were shuffled among the cases."""
        label_counts = self._tally(self.label)
        reference_counts = self._tally(self.reference) if self.consensus_counts is None else self.consensus_counts
        return divide_or_nan((label_counts * reference_counts).sum(axis=1), self.n.astype(np.float64) ** 2)

    def chance_sums(self) -> ChanceSums:
        """Each judge's number of right labels, had the labels of an item been dealt out among its judges."""
        is_binary = bool(np.isin(self.hit, (0, 1)).all())
        return sums_within_strata(self.judge, self.n_judges, self.hit, self.item, share=is_binary)

    def _tally(self, label: NDArray[np.integer]) -> NDArray[np.int64]:
        return cross_tabulate(self.judge, label, self.n_judges, self.n_labels)
