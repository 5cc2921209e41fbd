"""What one judge's labels say: leniency, change over time, side, and the same question asked again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.judge_findings import Drift, SideBias
from ringtrue.judges.quality.tail_bounds import binomial_tail
from ringtrue.judges.votes import Votes
from ringtrue.stats.intervals import share_estimate
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import t_quantile, t_tail

__all__ = ["Again", "drift_of", "labels_again", "leniency_of", "side_bias_of"]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer]
FEW_IN_TIME = 20  # labels: fewer cannot be tested for a change


def leniency_of(difference: FloatArray, cluster: Codes, *, level: float) -> Estimate:
    """The mean of own label − mean of the others' labels on the item, with Student's t over queries.

        mean ± t_{G−1} · √(G/(G−1) · Σ_g (Σ_{i in g} (d_i − mean))²) / n

    Where all items are of one query, each item is a cluster of its own.

    Examples:
        >>> print(leniency_of(np.array([1.0, 0.5, 0.0, 0.5]), np.array([0, 1, 2, 3]), level=0.95))
        0.5 (95% CI -0.1 to 1.1)
    """
    n = len(difference)
    if n == 0:
        note = "nobody else labelled this judge's items"
        return Estimate(value=None, level=level, n=0, method="t", notes=(note,))
    mean = float(difference.mean())
    found, group = np.unique(cluster, return_inverse=True)
    notes: tuple[str, ...] = ()
    if len(found) == 1 and n > 1:
        found = group = np.arange(n)
        notes = ("all labels are of one query: the interval says nothing about others",)
    clusters = len(found)
    if clusters == 1:
        return Estimate(value=mean, level=level, n=n, method="t", notes=("a single item: no interval can be given",))
    rest = np.bincount(group, weights=difference - mean)
    se = math.sqrt(clusters / (clusters - 1) * float(rest @ rest)) / n
    half = t_quantile((1 + level) / 2, clusters - 1) * se
    return Estimate(value=mean, se=se, low=mean - half, high=mean + half, level=level, n=n, method="t", notes=notes)


def side_bias_of(left: NDArray[np.bool_], cluster: Codes, *, level: float) -> SideBias:
    """How often left wins among verdicts for a side, and the exact binomial test against one half.

    Examples:
        >>> side_bias_of(np.ones(10, dtype=bool), np.arange(10), level=0.95).p_value
        0.001953125
    """
    share = share_estimate(left, cluster, level=level, what="verdict for a side")
    n, wins = len(left), int(left.sum())
    p = min(1.0, 2 * binomial_tail(min(wins, n - wins), n, 0.5)) if n else None
    return SideBias(left=share, p_value=None if p is None else round(p, 15))


def drift_of(hit: FloatArray, share: FloatArray, others: FloatArray, cluster: Codes, *, level: float) -> Drift | None:
    """The accuracy of the first half and of the second, of labels in order of time; None for fewer than two.

    The interval of the change is Newcombe's, from the two halves' own [Newcombe98]. The test compares the mean of
    d = hit − share, the item's share of right labels, between the halves, and takes the labels of a query for alike:
    who works query by query, and knows some better than others, does not drift.

        t_{G−1} = (mean₂ − mean₁) / √(G/(G−1) · Σ_g (Σ_{i in g} c_i (d_i − mean))²),    c_i = 1/n₂ or −1/n₁

    The mean is that of both halves, as it is when nothing changed: cautious where few queries were judged. It needs 20
    labels. Where all are of one query, each label is by itself. `others` are the shares of the others
    alone, NaN where there are none.
    """
    n = len(hit)
    if n < 2:
        return None
    half = n // 2
    first, second = (
        share_estimate(hit[part], cluster[part], level=level) for part in (slice(None, half), slice(half, None))
    )
    p = None
    if n >= FEW_IN_TIME:
        p = _changed(hit - share, half, cluster)
    known = ~np.isnan(others)
    early, late = others[:half][known[:half]], others[half:][known[half:]]
    return Drift(
        first=first, second=second, change=_change(first, second), p_value=p,
        others_change=float(late.mean() - early.mean()) if len(early) and len(late) else None,
    )  # fmt: skip


def _changed(value: FloatArray, half: int, cluster: Codes) -> float:
    """p of a change of the mean from the first half to the second, by Student's t over clusters."""
    n = len(value)
    found, group = np.unique(cluster, return_inverse=True)
    if len(found) == 1:
        found = group = np.arange(n)
    rest = (value - value.mean()) * np.where(np.arange(n) < half, -1 / half, 1 / (n - half))
    sums = np.bincount(group, weights=rest)
    spread = math.sqrt(len(found) / (len(found) - 1) * float(sums @ sums))
    t = abs(float(rest.sum())) / spread if spread > 1e-12 else 0.0
    return min(2 * float(t_tail(t, len(found) - 1)), 1.0)


def _change(first: Estimate, second: Estimate) -> Estimate:
    """The second share less the first, by squares of the distances to either interval's ends."""
    ends = (first.value, first.low, first.high, first.se, second.value, second.low, second.high, second.se)
    a, a_low, a_high, a_se, b, b_low, b_high, b_se = (0.0 if end is None else end for end in ends)
    return Estimate(
        value=b - a,
        se=math.hypot(a_se, b_se),
        low=b - a - math.hypot(b - b_low, a_high - a),
        high=b - a + math.hypot(b_high - b, a - a_low),
        level=first.level,
        n=first.n + second.n,
        method="newcombe",
        notes=() if first.n + second.n >= FEW_IN_TIME else (f"fewer than {FEW_IN_TIME} labels: not tested",),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Again:
    """For each item that a judge labelled several times: who, which, how many pairs of labels, how many equal."""

    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    pairs: NDArray[np.int64]
    equal: NDArray[np.int64]

    def consistency(self, rows: NDArray[np.intp], cluster: Codes, *, level: float) -> Estimate | None:
        """The share of equal pairs among one judge's repeated labels; None where nothing was labelled again."""
        if not len(rows):
            return None
        equal, pairs = self.equal[rows], self.pairs[rows]
        hits = np.repeat(np.tile([True, False], len(rows)), np.stack([equal, pairs - equal], axis=1).ravel())
        return share_estimate(hits, np.repeat(cluster[self.item[rows]], pairs), level=level)


def labels_again(votes: Votes) -> Again:
    """What each judge said when asked about an item again.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> again = labels_again(votes_of({"item": ["a", "a", "b"], "judge": ["x", "x", "x"], "label": [0, 1, 1]}))
        >>> again.pairs.tolist(), again.equal.tolist()
        ([1], [0])
    """
    item, judge, key = votes.by_judge_and_item()
    times = np.bincount(key, minlength=len(item))
    several = times[key] > 1
    cells, n = np.unique(key[several] * np.int64(len(votes.labels)) + votes.label[several], return_counts=True)
    equal = np.bincount(cells // len(votes.labels), weights=n * (n - 1) // 2, minlength=len(item)).astype(np.int64)
    often = times > 1
    return Again(
        judge=judge[often], item=item[often],
        pairs=(times * (times - 1) // 2)[often], equal=equal[often],
    )  # fmt: skip
