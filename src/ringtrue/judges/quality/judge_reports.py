"""What there is to go by, and a report on each judge made of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError
from ringtrue.judges.quality.judge_statistics import (
    MIN_DRIFT_LABELS,
    CheckedLabels,
    estimate_judge_drift,
    estimate_leniency,
    estimate_side_bias,
    find_repeated_labels,
    measure_durations,
)
from ringtrue.judges.quality.results import Drift, JudgeReport, SideBias, Traps
from ringtrue.judges.quality.traps import record_traps
from ringtrue.judges.votes import NO_OTHERS, OthersConsensus, Votes, leave_one_out_consensus
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, rows_by_group
from ringtrue.stats.intervals import estimate_share
from ringtrue.stats.results import Estimate

FEW_CHECKED = 10  # labels that can be checked: fewer say too little
REFERENCES = (Suggestion(gold=...), Suggestion("gives labels to check against", traps=...))


class Evidence:
    """What flags and reports are made of, and the reports: `votes` are those that count, of `all_votes` with repeats.

    `work` are the votes that are no traps. Every batch is accepted or not by all of its traps: where `votes` lack
    repeats, `full` has them.
    """

    def __init__(
        self,
        all_votes: Votes,
        votes: Votes,
        *,
        gold: NDArray[np.int32] | None,
        traps: NDArray[np.int32] | None,
        accept: tuple[int, int],
        level: float,
        progress: Callable[[int], None] = lambda _: None,
        full: Evidence | None = None,
    ) -> None:
        self.votes, self.accept, self.level, self.n_judges = votes, accept, level, len(votes.judges)
        self.work = votes if traps is None else votes.keep(traps[votes.item] < 0)
        self.others = leave_one_out_consensus(self.work)
        self.durations, self.repeats = measure_durations(all_votes), find_repeated_labels(all_votes)
        # The side that wins, and the speed of a judge, need no other judge.
        is_timed = self.durations is not None and self.durations.source == "seconds" and len(self.durations.seconds)
        tells_nothing = gold is None and traps is None and not votes.is_pairwise and not is_timed
        if tells_nothing and (self.others.label == NO_OTHERS).all():
            raise _nothing_to_check_error(votes)
        self.cluster = votes.clusters()[0]
        self.gold = None if gold is None else CheckedLabels(votes, gold[votes.item], "gold")
        trap_votes = votes.with_undecided()
        self.traps = None if traps is None else CheckedLabels(trap_votes, traps[trap_votes.item], "gold")
        self.consensus = CheckedLabels(self.work, self.others.label, "consensus", self.others)
        self.all_traps: CheckedLabels | None = self.traps if full is None else full.traps
        self.trap_records: list[Traps] | None = None
        if traps is not None:
            self.trap_records = (
                full.trap_records if full else record_traps(trap_votes, traps, accept=accept, level=level)
            )
        self.reports = _make_judge_reports(self, progress)


def _nothing_to_check_error(votes: Votes) -> MismatchError:
    judges = np.unique(votes.judge)
    reason = f"no two of the {len(judges):,} judges labelled the same item"
    if len(judges) == 1:
        reason = f"there is one judge, '{votes.judges[judges[0]]}', and nobody to compare with"
    return MismatchError(
        "nothing-to-check", f"{reason}; it takes more judges of the same items", suggestions=REFERENCES
    )


def _make_judge_reports(evidence: Evidence, progress: Callable[[int], None]) -> list[JudgeReport]:
    """A report on each judge, without flags."""
    votes, gold, consensus, repeats = evidence.votes, evidence.gold, evidence.consensus, evidence.repeats
    cluster, level, no_values = evidence.cluster, evidence.level, [None] * evidence.n_judges
    columns = zip(
        rows_by_group(votes.judge, evidence.n_judges),
        _estimate_accuracies(evidence, gold, "gold item that this judge met") if gold else no_values,
        _estimate_accuracies(evidence, consensus, "item that another judge labelled"),
        _uncounted_notes(evidence.work, evidence.others),
        _estimate_leniencies(evidence) or no_values,
        [repeats.consistency(rows, cluster, level=level) for rows in rows_by_group(repeats.judge, evidence.n_judges)],
        evidence.trap_records or no_values,
        evidence.durations.speeds(evidence.n_judges) if evidence.durations else no_values,
        _estimate_side_biases(evidence) or no_values,
        _estimate_drifts(evidence) or no_values,
        strict=True,
    )
    reports = []
    for j, (rows, by_gold, by_others, uncounted, leniency, consistency, trap, speed, side, drift) in enumerate(columns):
        checked = gold if gold is not None and gold.n[j] else consensus
        accuracy = by_gold if by_gold is not None and by_gold.value is not None else by_others
        label_counts = np.bincount(votes.label[rows], minlength=len(votes.labels))
        n_checked = max(int(consensus.n[j]), accuracy.n)
        few = f"{n_checked} label{'s' * (n_checked != 1)} that can be checked: too few to judge by"
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
                notes=(*((Note("few-checked-labels", few),) if n_checked < FEW_CHECKED else ()), *uncounted),
            )
        )
        progress(len(rows))
    return reports


def _none_if_nan(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _estimate_accuracies(evidence: Evidence, checked: CheckedLabels, case_name: str) -> list[Estimate]:
    clusters = evidence.cluster[checked.item]
    return [
        estimate_share(checked.hit[rows], clusters[rows], level=evidence.level, case_name=case_name)
        for rows in checked.rows_by_judge
    ]


def _judge_confusion(votes: Votes, checked: CheckedLabels, judge: int) -> Confusion:
    rows, n_labels = checked.rows_by_judge[judge], checked.n_labels
    rows = rows[checked.reference[rows] >= 0]  # without those on which the others tie
    counts = cross_tabulate(checked.reference[rows], checked.label[rows], n_labels, n_labels)
    return Confusion(rows=checked.against, columns=votes.judges[judge], labels=votes.labels, counts=counts)


def _uncounted_notes(work: Votes, others: OthersConsensus) -> list[tuple[Note, ...]]:
    """For each judge, a note on the labels that the consensus says nothing about."""
    n_alone = np.bincount(work.judge[others.label == NO_OTHERS], minlength=len(work.judges)).tolist()
    text = "labels that do not count against the consensus: nobody else labelled"
    return [(Note("unshared-labels", f"{text} {n:,}"),) if n else () for n in n_alone]


def _estimate_leniencies(evidence: Evidence) -> list[Estimate] | None:
    """Own labels less those of the others; None where these are preferences."""
    work, others = evidence.work, evidence.others
    if work.is_pairwise:
        return None
    rows = np.flatnonzero(~np.isnan(others.mean))
    difference = np.array(work.labels, dtype=np.float64)[work.label[rows]] - others.mean[rows]
    clusters = evidence.cluster[work.item[rows]]
    return [
        estimate_leniency(difference[own_rows], clusters[own_rows], level=evidence.level)
        for own_rows in rows_by_group(work.judge[rows], evidence.n_judges)
    ]


def _estimate_side_biases(evidence: Evidence) -> list[SideBias] | None:
    """Left and right among verdicts for a side; None where these are no preferences."""
    work = evidence.work
    if not work.is_pairwise or "side" not in work.others.columns:
        return None
    side = work.others["side"].to_numpy()
    rows = np.flatnonzero(side != "tie")
    left, clusters = side[rows] == "left", evidence.cluster[work.item[rows]]
    return [
        estimate_side_bias(left[own_rows], clusters[own_rows], level=evidence.level)
        for own_rows in rows_by_group(work.judge[rows], evidence.n_judges)
    ]


def _estimate_drifts(evidence: Evidence) -> list[Drift | None] | None:
    """Change over time, against gold where that is enough to test it, else against the consensus."""
    times, work_times = evidence.votes.times(), evidence.work.times()
    if times is None or work_times is None:
        return None
    gold, consensus = evidence.gold, evidence.consensus
    drifts: list[Drift | None] = []
    for j in range(evidence.n_judges):
        by_gold = gold is not None and gold.n[j] >= min(MIN_DRIFT_LABELS, max(consensus.n[j], 1))
        checked, timestamps = (gold, times) if by_gold and gold is not None else (consensus, work_times)
        rows = checked.rows_by_judge[j]
        stamps = timestamps[checked.rows[rows]]
        if not len(rows) or stamps.min() == stamps.max():  # no order in time
            drifts.append(None)
            continue
        rows = rows[np.argsort(stamps, kind="stable")]
        hit, share, others = checked.hit[rows], checked.item_share[rows], checked.others_hit[rows]
        drifts.append(
            estimate_judge_drift(hit, share, others, evidence.cluster[checked.item[rows]], level=evidence.level)
        )
    return drifts
