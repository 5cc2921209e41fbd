"""Labels that can be checked: against gold, or against what most of the others say."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.judge_findings import Against
from ringtrue.judges.quality.tail_bounds import Sums, drawn_from
from ringtrue.judges.votes import Others, Votes

__all__ = ["Cases", "group_mean", "percent", "rows_of_each"]

FloatArray = NDArray[np.float64]


class Cases:
    """The votes that can be checked, and for each judge what that says.

    `reference` has the label for each vote, as a position, below 0 where there is none; `hit` says which are right.
    Where others tie, a label can be right in part. Numbers for each judge are NaN where the judge has no case.
    """

    def __init__(
        self, votes: Votes, reference: NDArray[np.integer], against: Against, others: Others | None = None
    ) -> None:
        self.rows = np.flatnonzero(reference >= 0 if others is None else ~np.isnan(others.credit))
        self.against: Against = against
        self.judges, self.width = len(votes.judges), len(votes.labels)
        self.judge, self.item, self.label = (one[self.rows] for one in (votes.judge, votes.item, votes.label))
        self.reference = reference[self.rows]
        self.wanted = None if others is None else others.wanted
        right = self.label == self.reference if others is None else others.credit[self.rows]
        self.hit: FloatArray = right.astype(np.float64)

    @cached_property
    def n(self) -> NDArray[np.int64]:
        """How many cases each judge has."""
        return np.bincount(self.judge, minlength=self.judges)

    @cached_property
    def rows_of_each(self) -> list[NDArray[np.intp]]:
        """The positions of each judge's cases."""
        return rows_of_each(self.judge, self.judges)

    @cached_property
    def accuracy(self) -> FloatArray:
        """The share of each judge's cases that are right."""
        return group_mean(self.judge, self.hit, self.judges)

    @cached_property
    def item_share(self) -> FloatArray:
        """For each case, the share of all labels of its item that are right."""
        n = np.maximum(np.bincount(self.item), 1)
        share: FloatArray = (np.bincount(self.item, weights=self.hit) / n)[self.item]
        return share

    @cached_property
    def others_hit(self) -> FloatArray:
        """For each case, the share of the other judges' labels of its item that are right; NaN where there is none."""
        items = int(self.item.max(initial=-1)) + 1
        own = np.unique(self.item.astype(np.int64) * self.judges + self.judge, return_inverse=True)[1]
        n = np.bincount(self.item, minlength=items)[self.item] - np.bincount(own)[own].astype(np.float64)
        hits = np.bincount(self.item, weights=self.hit, minlength=items)[self.item]
        hits -= np.bincount(own, weights=self.hit)[own]
        share = np.full(len(n), np.nan)
        np.divide(hits, n, out=share, where=n > 0)
        return share

    @cached_property
    def others_accuracy(self) -> FloatArray:
        """How often the others are right on each judge's items, each item weighing the same."""
        known = ~np.isnan(self.others_hit)
        return group_mean(self.judge[known], self.others_hit[known], self.judges)

    @cached_property
    def shared(self) -> NDArray[np.int64]:
        """How many of each judge's cases are of items where others have one too."""
        return np.bincount(self.judge[~np.isnan(self.others_hit)], minlength=self.judges)

    @cached_property
    def shared_accuracy(self) -> FloatArray:
        """The share of each judge's cases that are right, on items that others labelled too."""
        known = ~np.isnan(self.others_hit)
        return group_mean(self.judge[known], self.hit[known], self.judges)

    @cached_property
    def chance(self) -> FloatArray:
        """How often each judge would be right if the same labels were shuffled among the cases."""
        said = self._tally(self.label)
        meant = self._tally(self.reference) if self.wanted is None else self.wanted
        found = np.full(self.judges, np.nan)
        np.divide((said * meant).sum(axis=1), self.n.astype(np.float64) ** 2, out=found, where=self.n > 0)
        return found

    def sums(self) -> Sums:
        """Each judge's number of right labels, had the labels of an item been dealt out among its judges."""
        whole = bool(np.isin(self.hit, (0, 1)).all())
        return drawn_from(self.judge, self.judges, self.hit, self.item, share=whole)

    def _tally(self, label: NDArray[np.integer]) -> NDArray[np.int64]:
        cells = np.bincount(self.judge * np.int64(self.width) + label, minlength=self.judges * self.width)
        return cells.reshape(self.judges, self.width)


def group_mean(group: NDArray[np.integer], value: NDArray[np.generic], groups: int) -> FloatArray:
    """The mean of the values of each group, such as a judge; NaN where there is none."""
    n = np.bincount(group, minlength=groups)
    mean = np.full(groups, np.nan)
    np.divide(np.bincount(group, weights=value, minlength=groups), n, out=mean, where=n > 0)
    return mean


def rows_of_each(judge: NDArray[np.integer], judges: int) -> list[NDArray[np.intp]]:
    """The positions of each judge's values, in their order.

    Examples:
        >>> [rows.tolist() for rows in rows_of_each(np.array([1, 0, 1]), 3)]
        [[1], [0, 2], []]
    """
    order = np.argsort(judge, kind="stable")
    return np.split(order, np.searchsorted(judge[order], np.arange(1, judges)))


def percent(share: float) -> str:
    """A share in words.

    Examples:
        >>> percent(0.8125)
        '81%'
    """
    return f"{100 * share:.0f}%"
