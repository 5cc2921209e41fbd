"""A report on each judge, from everything that was counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.checked_labels import CheckedLabels, rows_by_judge
from ringtrue.judges.quality.judge_findings import Against, Drift, SideBias, Speed, Traps
from ringtrue.judges.quality.judge_statistics import (
    MIN_DRIFT_LABELS,
    RepeatedLabels,
    estimate_judge_drift,
    estimate_leniency,
    estimate_side_bias,
)
from ringtrue.judges.quality.results import JudgeReport
from ringtrue.judges.votes import Votes
from ringtrue.judges.votes.reference_labels import NO_OTHERS, OthersConsensus
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import estimate_share
from ringtrue.stats.results import Estimate

FEW_CHECKED = 10  # labels that can be checked: fewer say too little
Codes = NDArray[np.integer]


def make_judge_reports(
    votes: Votes,
    work: Votes,
    others: OthersConsensus,
    *,
    gold: CheckedLabels | None,
    consensus: CheckedLabels,
    repeats: RepeatedLabels,
    traps: list[Traps] | None,
    speeds: list[Speed | None] | None,
    level: float,
    progress: Callable[[int], None],
) -> list[JudgeReport]:
    """A report on each judge, without flags. `votes` are all votes, `work` those that are no traps."""
    cluster, no_values = votes.clusters()[0], [None] * len(votes.judges)
    columns = zip(
        rows_by_judge(votes.judge, len(votes.judges)),
        _estimate_accuracies(gold, cluster, level, "gold item that this judge met") if gold else no_values,
        _estimate_accuracies(consensus, cluster, level, "item that another judge labelled"),
        _uncounted_notes(work, others),
        _estimate_leniencies(work, others, cluster, level),
        [repeats.consistency(rows, cluster, level=level) for rows in rows_by_judge(repeats.judge, len(votes.judges))],
        traps or no_values,
        speeds or no_values,
        _estimate_side_biases(work, cluster, level) or no_values,
        _estimate_drifts(votes, work, gold, consensus, cluster, level) or no_values,
        strict=True,
    )
    reports = []
    for j, (rows, by_gold, by_others, uncounted, leniency, consistency, trap, speed, side, drift) in enumerate(columns):
        checked = gold if gold is not None and gold.n[j] else consensus
        accuracy = by_gold if by_gold is not None and by_gold.value is not None else by_others
        label_counts = np.bincount(votes.label[rows], minlength=len(votes.labels))
        n_checked = max(int(consensus.n[j]), accuracy.n)
        note = f"{n_checked} label{'s' * (n_checked != 1)} that can be checked: too little to tell"
        reports.append(
            JudgeReport(
                judge=votes.judges[j],
                labels=len(rows),
                items=len(np.unique(votes.item[rows])),
                accuracy=accuracy,
                against=checked.against if checked.n[j] else None,
                others_accuracy=_none_if_nan(checked.others_accuracy[j]),
                chance=_none_if_nan(checked.chance[j]),
                gold_accuracy=by_gold,
                consensus_accuracy=by_others,
                confusion=_judge_confusion(votes, checked, j),
                leniency=leniency,
                self_consistency=consistency,
                traps=trap,
                speed=speed,
                side_bias=side,
                drift=drift,
                common_label=votes.labels[int(label_counts.argmax())],
                common_share=float(label_counts.max() / max(len(rows), 1)),
                notes=(*((note,) if n_checked < FEW_CHECKED else ()), *uncounted),
            )
        )
        progress(len(rows))
    return reports


def _none_if_nan(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _estimate_accuracies(checked: CheckedLabels, cluster: Codes, level: float, case_name: str) -> list[Estimate]:
    return [
        estimate_share(checked.hit[rows], cluster[checked.item[rows]], level=level, case_name=case_name)
        for rows in checked.rows_by_judge
    ]


def _judge_confusion(votes: Votes, checked: CheckedLabels, judge: int) -> Confusion:
    rows, n_labels = checked.rows_by_judge[judge], checked.n_labels
    rows = rows[checked.reference[rows] >= 0]  # without those on which the others tie
    counts = np.bincount(checked.reference[rows] * n_labels + checked.label[rows], minlength=n_labels**2).reshape(
        n_labels, n_labels
    )
    against: Against = checked.against
    return Confusion(rows=against, columns=votes.judges[judge], labels=votes.labels, counts=counts)


def _uncounted_notes(work: Votes, others: OthersConsensus) -> list[tuple[str, ...]]:
    """For each judge, in words, the labels that the consensus says nothing about."""
    n_alone = np.bincount(work.judge[others.label == NO_OTHERS], minlength=len(work.judges)).tolist()
    return [
        (f"labels that do not count against the consensus: nobody else labelled {n:,}",) if n else () for n in n_alone
    ]


def _estimate_leniencies(
    work: Votes, others: OthersConsensus, cluster: Codes, level: float
) -> list[Estimate] | list[None]:
    if work.is_pairwise:
        return [None] * len(work.judges)
    rows = np.flatnonzero(~np.isnan(others.mean))
    difference = np.array(work.labels, dtype=np.float64)[work.label[rows]] - others.mean[rows]
    clusters = cluster[work.item[rows]]
    judge_rows = rows_by_judge(work.judge[rows], len(work.judges))
    return [estimate_leniency(difference[own_rows], clusters[own_rows], level=level) for own_rows in judge_rows]


def _estimate_side_biases(work: Votes, cluster: Codes, level: float) -> list[SideBias] | None:
    """Left and right among verdicts for a side; None where these are no preferences."""
    if not work.is_pairwise or "side" not in work.others.columns:
        return None
    side = work.others["side"].to_numpy()
    rows = np.flatnonzero(side != "tie")
    left, clusters = side[rows] == "left", cluster[work.item[rows]]
    return [
        estimate_side_bias(left[own_rows], clusters[own_rows], level=level)
        for own_rows in rows_by_judge(work.judge[rows], len(work.judges))
    ]


def _estimate_drifts(
    votes: Votes, work: Votes, gold: CheckedLabels | None, consensus: CheckedLabels, cluster: Codes, level: float
) -> list[Drift | None] | None:
    """Change over time, against gold where that is enough to test it, else against the consensus."""
    times = votes.times(), work.times()
    if times[0] is None or times[1] is None:
        return None
    drifts: list[Drift | None] = []
    for j in range(len(votes.judges)):
        by_gold = gold is not None and gold.n[j] >= min(MIN_DRIFT_LABELS, max(consensus.n[j], 1))
        checked, timestamps = (gold, times[0]) if by_gold and gold is not None else (consensus, times[1])
        own_rows = checked.rows_by_judge[j]
        stamps = timestamps[checked.rows[own_rows]]
        if not len(own_rows) or stamps.min() == stamps.max():  # no order in time
            drifts.append(None)
            continue
        own_rows = own_rows[np.argsort(stamps, kind="stable")]
        drifts.append(
            estimate_judge_drift(
                checked.hit[own_rows],
                checked.item_share[own_rows],
                checked.others_hit[own_rows],
                cluster[checked.item[own_rows]],
                level=level,
            )
        )
    return drifts
