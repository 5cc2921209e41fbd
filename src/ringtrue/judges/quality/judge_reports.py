"""A report on each judge, from everything that was counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.quality.judge_findings import Against, Drift, SideBias, Speed, Traps
from ringtrue.judges.quality.judge_statistics import FEW_IN_TIME, Again, drift_of, leniency_of, side_bias_of
from ringtrue.judges.quality.reference_labels import Cases, rows_of_each
from ringtrue.judges.quality.results import JudgeReport
from ringtrue.judges.votes import Votes
from ringtrue.judges.votes.consensus import ALONE, Others
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import share_estimate
from ringtrue.stats.results import Estimate

__all__ = ["FEW", "reports_on"]

FEW = 10  # labels that can be checked: fewer say too little
Codes = NDArray[np.integer]


def reports_on(
    once: Votes,
    work: Votes,
    others: Others,
    *,
    gold: Cases | None,
    consensus: Cases,
    again: Again,
    traps: list[Traps] | None,
    speeds: list[Speed | None] | None,
    level: float,
    progress: Callable[[int], None],
) -> list[JudgeReport]:
    """A report on each judge, without flags. `once` are all votes, `work` those that are no traps."""
    cluster, nobody = once.clusters()[0], [None] * len(once.judges)
    columns = zip(
        rows_of_each(once.judge, len(once.judges)),
        _accuracies(gold, cluster, level, "gold item that this judge met") if gold else nobody,
        _accuracies(consensus, cluster, level, "item that another judge labelled"),
        _uncounted(work, others),
        _leniency(work, others, cluster, level),
        [again.consistency(rows, cluster, level=level) for rows in rows_of_each(again.judge, len(once.judges))],
        traps or nobody,
        speeds or nobody,
        _sides(work, cluster, level) or nobody,
        _drifts(once, work, gold, consensus, cluster, level) or nobody,
        strict=True,
    )
    reports = []
    for j, (rows, by_gold, by_others, uncounted, leniency, consistency, trap, speed, side, drift) in enumerate(columns):
        cases = gold if gold is not None and gold.n[j] else consensus
        accuracy = by_gold if by_gold is not None and by_gold.value is not None else by_others
        said = np.bincount(once.label[rows], minlength=len(once.labels))
        checked = max(int(consensus.n[j]), accuracy.n)
        note = f"{checked} label{'s' * (checked != 1)} that can be checked: too little to tell"
        reports.append(
            JudgeReport(
                judge=once.judges[j],
                labels=len(rows),
                items=len(np.unique(once.item[rows])),
                accuracy=accuracy,
                against=cases.against if cases.n[j] else None,
                others_accuracy=_known(cases.others_accuracy[j]),
                chance=_known(cases.chance[j]),
                gold_accuracy=by_gold,
                consensus_accuracy=by_others,
                confusion=_confusion(once, cases, j),
                leniency=leniency,
                self_consistency=consistency,
                traps=trap,
                speed=speed,
                side_bias=side,
                drift=drift,
                common_label=once.labels[int(said.argmax())],
                common_share=float(said.max() / max(len(rows), 1)),
                notes=(*((note,) if checked < FEW else ()), *uncounted),
            )
        )
        progress(len(rows))
    return reports


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _accuracies(cases: Cases, cluster: Codes, level: float, what: str) -> list[Estimate]:
    return [
        share_estimate(cases.hit[rows], cluster[cases.item[rows]], level=level, what=what)
        for rows in cases.rows_of_each
    ]


def _confusion(votes: Votes, cases: Cases, judge: int) -> Confusion:
    rows, wide = cases.rows_of_each[judge], cases.width
    rows = rows[cases.reference[rows] >= 0]  # without those on which the others tie
    counts = np.bincount(cases.reference[rows] * wide + cases.label[rows], minlength=wide**2).reshape(wide, wide)
    against: Against = cases.against
    return Confusion(rows=against, columns=votes.judges[judge], labels=votes.labels, counts=counts)


def _uncounted(work: Votes, others: Others) -> list[tuple[str, ...]]:
    """For each judge, in words, the labels that the consensus says nothing about."""
    alone = np.bincount(work.judge[others.label == ALONE], minlength=len(work.judges)).tolist()
    return [
        (f"labels that do not count against the consensus: nobody else labelled {n:,}",) if n else () for n in alone
    ]


def _leniency(work: Votes, others: Others, cluster: Codes, level: float) -> list[Estimate] | list[None]:
    if len(work.items.columns) == 3:
        return [None] * len(work.judges)
    rows = np.flatnonzero(~np.isnan(others.mean))
    difference = np.array(work.labels, dtype=np.float64)[work.label[rows]] - others.mean[rows]
    where = cluster[work.item[rows]]
    each = rows_of_each(work.judge[rows], len(work.judges))
    return [leniency_of(difference[own], where[own], level=level) for own in each]


def _sides(work: Votes, cluster: Codes, level: float) -> list[SideBias] | None:
    """Left and right among verdicts for a side; None where these are no preferences."""
    if len(work.items.columns) == 2 or "side" not in work.others.columns:
        return None
    side = work.others["side"].to_numpy()
    rows = np.flatnonzero(side != "tie")
    left, where = side[rows] == "left", cluster[work.item[rows]]
    return [
        side_bias_of(left[own], where[own], level=level) for own in rows_of_each(work.judge[rows], len(work.judges))
    ]


def _drifts(
    once: Votes, work: Votes, gold: Cases | None, consensus: Cases, cluster: Codes, level: float
) -> list[Drift | None] | None:
    """Change over time, against gold where that is enough to test it, else against the consensus."""
    times = once.moments(), work.moments()
    if times[0] is None or times[1] is None:
        return None
    drifts: list[Drift | None] = []
    for j in range(len(once.judges)):
        by_gold = gold is not None and gold.n[j] >= min(FEW_IN_TIME, max(consensus.n[j], 1))
        cases, when = (gold, times[0]) if by_gold and gold is not None else (consensus, times[1])
        own = cases.rows_of_each[j]
        stamps = when[cases.rows[own]]
        if not len(own) or stamps.min() == stamps.max():  # no order in time
            drifts.append(None)
            continue
        own = own[np.argsort(stamps, kind="stable")]
        drifts.append(
            drift_of(
                cases.hit[own], cases.item_share[own], cases.others_hit[own], cluster[cases.item[own]], level=level
            )
        )
    return drifts
