"""Agreement over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.judges.agreement.results import Period
from ringtrue.stats.intervals import mean_estimate, share_estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.judges.votes import Votes
    from ringtrue.stats.results import Estimate

__all__ = ["drift"]

PERIODS = 4
LEAST = 10  # labels in a period


def drift(votes: Votes, *, level: float, periods: int = PERIODS) -> tuple[Period, ...]:
    """How labels agree with the others' on the same items, in stretches of time with equally many labels.

    A label's agreement is the share of the other labels of its item that are equal to it; its leniency is how much
    higher it is than their mean, averaged by query. All other labels count, whenever they were given.
    """
    moment = votes.moments()
    if moment is None or moment.min() == moment.max():
        return ()
    cluster, _, _ = votes.clusters()
    counts = votes.counts()
    total = counts.sum(axis=1)
    comparable = total[votes.item] > 1
    values = np.array(votes.labels, dtype=np.float64)
    others = np.maximum(total[votes.item] - 1, 1)
    equal = (counts[votes.item, votes.label] - 1) / others
    higher = values[votes.label] - ((counts @ values)[votes.item] - values[votes.label]) / others
    rows = np.flatnonzero(comparable)
    if len(rows) < periods * LEAST:
        return ()
    rows = rows[np.argsort(moment[rows], kind="stable")]
    time = votes.others["time"]
    found = []
    for some in np.array_split(rows, periods):
        of = cluster[votes.item[some]]
        found.append(
            Period(
                first=str(time[int(some[0])]),
                last=str(time[int(some[-1])]),
                labels=len(some),
                agreement=share_estimate(equal[some], of, level=level),
                leniency=_clustered_mean(higher[some], of, level=level),
            )
        )
    return tuple(found)


def _clustered_mean(values: NDArray[np.float64], clusters: NDArray[np.int32], *, level: float) -> Estimate:
    """The mean over clusters of their means."""
    _, group = np.unique(clusters, return_inverse=True)
    return mean_estimate(np.bincount(group, weights=values) / np.bincount(group), level=level)
