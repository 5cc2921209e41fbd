"""What one judge's labels say: right by gold or by most others, leniency, side, change, consistency and speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError
from ringtrue.judges.quality.results import Against, Drift, SideBias, Speed
from ringtrue.judges.quality.tail_bounds import ChanceSums, binomial_tail, sums_within_strata
from ringtrue.judges.votes import OthersConsensus, Votes
from ringtrue.messages import Note
from ringtrue.stats.encoding import cross_tabulate, divide_or_nan, mean_by_group, rows_by_group
from ringtrue.stats.intervals import estimate_share, t_quantile, t_tail
from ringtrue.stats.results import Estimate

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer]
MIN_DRIFT_LABELS = 20  # labels: fewer cannot be tested for a change
UNTESTED_DRIFT = Note("untested-drift", f"fewer than {MIN_DRIFT_LABELS} labels: not tested")


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


def estimate_leniency(difference: FloatArray, cluster: Codes, *, level: float) -> Estimate:
    """The mean of own label − mean of the others' labels on the item, with Student's t over queries.

        mean ± t_{G−1} · √(G/(G−1) · Σ_g (Σ_{i in g} (d_i − mean))²) / n

    Where all items are of one query, each item is a cluster of its own.

    Examples:
        >>> print(estimate_leniency(np.array([1.0, 0.5, 0.0, 0.5]), np.array([0, 1, 2, 3]), level=0.95))
        0.5 (95% CI -0.1 to 1.1)
    """
    n = len(difference)
    if n == 0:
        note = Note("isolated-judges", "nobody else labelled this judge's items")
        return Estimate(value=None, level=level, n=0, method="t", notes=(note,))
    mean = float(difference.mean())
    cluster_ids, group = np.unique(cluster, return_inverse=True)
    notes: tuple[Note, ...] = ()
    if len(cluster_ids) == 1 and n > 1:
        cluster_ids = group = np.arange(n)
        notes = (Note("single-query", "all labels are of one query: the interval says nothing about others"),)
    n_clusters = len(cluster_ids)
    if n_clusters == 1:
        note = Note("too-few-clusters", "a single item: no interval can be given")
        return Estimate(value=mean, level=level, n=n, method="t", notes=(note,))
    residuals = np.bincount(group, weights=difference - mean)
    se = math.sqrt(n_clusters / (n_clusters - 1) * float(residuals @ residuals)) / n
    half = t_quantile((1 + level) / 2, n_clusters - 1) * se
    return Estimate(value=mean, se=se, low=mean - half, high=mean + half, level=level, n=n, method="t", notes=notes)


def estimate_side_bias(left: NDArray[np.bool_], cluster: Codes, *, level: float) -> SideBias:
    """How often left wins among verdicts for a side, and the exact binomial test against one half.

    Examples:
        >>> estimate_side_bias(np.ones(10, dtype=bool), np.arange(10), level=0.95).p_value
        0.001953125
    """
    share = estimate_share(left, cluster, level=level, case_name="verdict for a side")
    n, wins = len(left), int(left.sum())
    p = min(1.0, 2 * binomial_tail(min(wins, n - wins), n, 0.5)) if n else None
    return SideBias(left=share, p_value=None if p is None else round(p, 15))


def estimate_judge_drift(
    hit: FloatArray, share: FloatArray, others: FloatArray, cluster: Codes, *, level: float
) -> Drift | None:
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
        estimate_share(hit[part], cluster[part], level=level) for part in (slice(None, half), slice(half, None))
    )
    has_others = ~np.isnan(others)
    early, late = others[:half][has_others[:half]], others[half:][has_others[half:]]
    return Drift(
        first=first,
        second=second,
        change=_estimate_change(first, second),
        p_value=_change_p_value(hit - share, half, cluster) if n >= MIN_DRIFT_LABELS else None,
        others_change=float(late.mean() - early.mean()) if len(early) and len(late) else None,
    )


def _change_p_value(differences: FloatArray, half: int, cluster: Codes) -> float:
    """p of a change of the mean from the first half to the second, by Student's t over clusters."""
    n = len(differences)
    cluster_ids, group = np.unique(cluster, return_inverse=True)
    if len(cluster_ids) == 1:
        cluster_ids = group = np.arange(n)
    contributions = (differences - differences.mean()) * np.where(np.arange(n) < half, -1 / half, 1 / (n - half))
    sums = np.bincount(group, weights=contributions)
    spread = math.sqrt(len(cluster_ids) / (len(cluster_ids) - 1) * float(sums @ sums))
    t = abs(float(contributions.sum())) / spread if spread > 1e-12 else 0.0
    return min(2 * float(t_tail(t, len(cluster_ids) - 1)), 1.0)


def _estimate_change(first: Estimate, second: Estimate) -> Estimate:
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
        notes=() if first.n + second.n >= MIN_DRIFT_LABELS else (UNTESTED_DRIFT,),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedLabels:
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
        return estimate_share(hits, np.repeat(cluster[self.item[rows]], pairs), level=level)


def find_repeated_labels(votes: Votes) -> RepeatedLabels:
    """What each judge said when asked about an item again.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> votes = make_votes({"item": ["a", "a", "b"], "judge": ["x", "x", "x"], "label": [0, 1, 1]})
        >>> repeats = find_repeated_labels(votes)
        >>> repeats.pairs.tolist(), repeats.equal.tolist()
        ([1], [0])
    """
    item, judge, key = votes.by_judge_and_item()
    times = np.bincount(key, minlength=len(item))
    is_repeated = times[key] > 1
    cells, n = np.unique(key[is_repeated] * np.int64(len(votes.labels)) + votes.label[is_repeated], return_counts=True)
    equal = np.bincount(cells // len(votes.labels), weights=n * (n - 1) // 2, minlength=len(item)).astype(np.int64)
    is_repeated_pair = times > 1
    return RepeatedLabels(
        judge=judge[is_repeated_pair],
        item=item[is_repeated_pair],
        pairs=(times * (times - 1) // 2)[is_repeated_pair],
        equal=equal[is_repeated_pair],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durations:
    """Seconds that labels took: `seconds[i]` is one of `judge[i]`."""

    judge: NDArray[np.int32]
    seconds: NDArray[np.float64]
    source: Literal["seconds", "time"]

    def speeds(self, judges: int) -> list[Speed | None]:
        """The median for each judge; None for a judge of whom no duration is known."""
        return [
            Speed(median=float(np.median(self.seconds[rows])), n=len(rows), source=self.source) if len(rows) else None
            for rows in rows_by_group(self.judge, judges)
        ]


def measure_durations(votes: Votes) -> Durations | None:
    """How long each label took: the column `seconds`, else the gaps between a judge's stamps in `time`.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> table = {"item": ["a", "b", "c"], "judge": ["x", "x", "x"], "label": [0, 1, 1], "time": [100, 107, 110]}
        >>> measure_durations(make_votes(table)).speeds(1)
        [Speed(median=5.0, n=2, source='time')]
    """
    if "seconds" in votes.others.columns:
        seconds = _parse_seconds(votes.others["seconds"])
        is_known = ~np.isnan(seconds)
        return Durations(judge=votes.judge[is_known], seconds=seconds[is_known], source="seconds")
    timestamps = votes.times()
    if timestamps is None:
        return None
    order = np.lexsort((timestamps, votes.judge))
    judge = votes.judge[order]
    same_judge = judge[1:] == judge[:-1]
    return Durations(judge=judge[1:][same_judge], seconds=np.diff(timestamps[order])[same_judge], source="time")


def _parse_seconds(column: pl.Series) -> NDArray[np.float64]:
    """Durations; NaN where the cell is empty."""
    seconds = column.cast(pl.Float64, strict=False)
    bad = (seconds.is_null() & column.is_not_null()) | ~seconds.is_finite() | (seconds < 0)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TableError(
            "bad-seconds",
            f"expected seconds, 0 or more, in column 'seconds', found {column[row]!r}; "
            f"leave the cell empty where it is not known",
            subject=f"row {row + 1}",
            columns=["seconds"],
        )
    return seconds.fill_null(float("nan")).to_numpy()
