"""Agreement over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.judges.agreement.results import Period
from ringtrue.stats.intervals import estimate_mean, estimate_share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.judges.votes import Votes
    from ringtrue.stats.results import Estimate

PERIODS = 4
MIN_LABELS = 10  # labels in a period


def estimate_drift(votes: Votes, *, level: float, periods: int = PERIODS) -> tuple[Period, ...]:
    """How labels agree with the others' on the same items, in stretches of time with equally many labels.

    A label's agreement is the share of the other labels of its item that are equal to it; its leniency is how much
    higher it is than their mean, averaged by query. All other labels count, whenever they were given.
    """
    timestamp = votes.times()
    if timestamp is None or timestamp.min() == timestamp.max():
        return ()
    cluster, _, _ = votes.clusters()
    counts = votes.counts()
    n_labels = counts.sum(axis=1)
    is_comparable = n_labels[votes.item] > 1
    grades = np.array(votes.labels, dtype=np.float64)
    n_others = np.maximum(n_labels[votes.item] - 1, 1)
    equal_share = (counts[votes.item, votes.label] - 1) / n_others
    leniency = grades[votes.label] - ((counts @ grades)[votes.item] - grades[votes.label]) / n_others
    rows = np.flatnonzero(is_comparable)
    if len(rows) < periods * MIN_LABELS:
        return ()
    rows = rows[np.argsort(timestamp[rows], kind="stable")]
    time = votes.others["time"]
    drift_periods = []
    for period_rows in np.array_split(rows, periods):
        period_clusters = cluster[votes.item[period_rows]]
        drift_periods.append(
            Period(
                first=str(time[int(period_rows[0])]),
                last=str(time[int(period_rows[-1])]),
                labels=len(period_rows),
                agreement=estimate_share(equal_share[period_rows], period_clusters, level=level),
                leniency=_estimate_clustered_mean(leniency[period_rows], period_clusters, level=level),
            )
        )
    return tuple(drift_periods)


def _estimate_clustered_mean(values: NDArray[np.float64], clusters: NDArray[np.int32], *, level: float) -> Estimate:
    """The mean over clusters of their means."""
    _, group = np.unique(clusters, return_inverse=True)
    return estimate_mean(np.bincount(group, weights=values) / np.bincount(group), level=level)
