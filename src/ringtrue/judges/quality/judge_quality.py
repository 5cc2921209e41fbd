"""How good is each judge, and whom should somebody look at?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ringtrue.formatting.phrases import join_first_few
from ringtrue.judges.quality.flags import find_flags
from ringtrue.judges.quality.judge_reports import FEW_CHECKED, REFERENCES, Evidence
from ringtrue.judges.quality.results import Effect, Flag, JudgeQuality, JudgeReport
from ringtrue.judges.quality.traps import accept_rule_note, match_traps, require_accept_rule
from ringtrue.judges.votes import (
    NO_OTHERS,
    TIED,
    OthersConsensus,
    Outside,
    Repeats,
    Votes,
    align_with_gold,
    majority,
    make_votes,
)
from ringtrue.messages import Note
from ringtrue.stats.encoding import rows_by_group
from ringtrue.stats.intervals import estimate_share, require_level
from ringtrue.stats.results import Estimate

Counts = NDArray[np.int64]
LABEL_FLAGS = {"worse", "guessing", "one label", "lenient", "strict", "side bias", "drift"}  # the last of each item


def judge_quality(
    labels: object,
    *,
    gold: object = None,
    traps: object = None,
    accept: tuple[int, int] = (2, 5),
    scale: Sequence[int] | None = None,
    outside: Outside = "refuse",
    repeats: Repeats | None = None,
    level: float = 0.95,
    progress: Callable[[int], None] | None = None,
) -> JudgeQuality:
    """How good is each judge, and whom should somebody look at?

    `labels` are judgments or preferences of several judges, `gold` labels to be trusted, `traps` items with a known
    label that were mixed in; each may be any table. A judge's accuracy is the share of labels that are the gold one,
    or where the judge met no gold item, the one that most of the others gave. Where the others tie between m labels,
    each of these is right by 1/m; items that nobody else labelled do not count. Intervals take queries as drawn at
    random. Trap items count for nothing else but gold; a batch is accepted at M of N traps (`accept`). A trap whose
    column `kind` says unsure or skip, with a label below 0 or the winner tie, was met and not passed.

    A flag is a reason to look at a judge; nobody is ever dropped. Each kind of flag takes a test with Holm's
    adjustment over all judges, at 1 − level, and a difference that matters:

    - worse: right less often than the others on the same items, by 10 points or more
    - guessing: worse, and not clearly better than the same labels shuffled
    - one label: one and the same in 90% of labels, the rest at most half as often as by the others
    - lenient, strict: off the others' labels of the same items by half a standard deviation of all labels
    - traps: a batch not accepted, and fewer traps passed than by the others
    - too fast: most labels in less than a third of the typical judge's median time, or in less than half a second
    - side bias: left or right wins by 10 points more than half, and than by all judges of the same pairs
    - drift: accuracy changes by 10 points or more between the halves in order of time, and not for the items' sake
    - inconsistent: another label when asked again, by 10 points more often than the other judges

    The tests deal out the labels of each item among its judges by chance, and bound how rarely that gives as much
    [Bennett62], [Hoeffding56]. They hold for few labels too, speak of these items alone, and say nothing where judges
    share none. With `repeats="all"` every label counts in the numbers, and a judge's last one of an item in the flags;
    of traps, flags tell every one that was met. `progress` is told how many labels were done.

    Examples:
        >>> table = {"item": list("aaabbb"), "judge": list("xyzxyz"), "label": [1, 1, 1, 0, 0, 1]}
        >>> quality = judge_quality(table)
        >>> [(report.judge, report.accuracy.value) for report in quality]
        [('x', 0.75), ('y', 0.75), ('z', 0.5)]
    """
    require_level(level)
    require_accept_rule(accept)
    all_votes = make_votes(labels, scale=scale, outside=outside)
    gold_votes, trap_votes = (
        None if table is None else make_votes(table, scale=scale, outside=outside) for table in (gold, traps)
    )
    for reference in (gold_votes, trap_votes):
        all_votes = all_votes if reference is None else all_votes.widen_scale(reference.labels)
    votes = all_votes.resolve_repeats(repeats)
    gold_labels = None if gold_votes is None else align_with_gold(votes, gold_votes)[1]
    trap_labels = None if trap_votes is None else match_traps(votes, trap_votes)
    gather = partial(Evidence, gold=gold_labels, traps=trap_labels, accept=accept, level=level)
    evidence = tested = gather(all_votes, votes, progress=progress or (lambda _: None))
    leave_out = tested_leave_out = LeaveOneOut(evidence.work, gold_labels)
    if repeats == "all":  # labels of one item by one judge are no independent witnesses: each counts once in the tests
        tested = gather(all_votes, all_votes.resolve_repeats("last"), full=evidence)
        tested_leave_out = LeaveOneOut(tested.work, gold_labels)
    flags = _flags_by_judge(tested, tested_leave_out)
    reports = tuple(
        replace(report, flags=flags.get(j, ()))
        for j, report in enumerate(evidence.reports)
        if report.labels or (report.traps is not None and report.traps.n)
    )
    cluster = evidence.cluster
    checked = evidence.gold or evidence.consensus
    return JudgeQuality(
        judges=reports,
        labels=votes.size,
        items=int(votes.counts().any(axis=1).sum()),
        accuracy=estimate_share(checked.hit, cluster[checked.item], level=level, case_name="label that can be checked"),
        against=checked.against if len(checked.hit) else None,
        alpha=leave_out.alpha,
        majority_accuracy=None if gold_labels is None else leave_out.majority_accuracy(cluster, level),
        level=level,
        notes=(
            *(() if isinstance(labels, Votes) else all_votes.notes),
            *_quality_notes(reports, evidence.others, gold=gold_labels is not None),
            *_last_label_notes(reports, evidence, tested),
            *((accept_rule_note(votes, accept), *_trap_notes(reports, votes)) if trap_labels is not None else ()),
            *(_undefined_alpha_notes(evidence.work) if leave_out.alpha is None and len(reports) > 1 else ()),
        ),
    )


def _flags_by_judge(evidence: Evidence, leave_out: LeaveOneOut) -> dict[int, tuple[Flag, ...]]:
    """The flags of each judge who has any, by position, with the effect of leaving the judge out."""
    rows = rows_by_group(evidence.work.judge, evidence.n_judges)
    effects: dict[int, Effect] = {}
    flags: dict[int, tuple[Flag, ...]] = {}
    for j, kind, reason, p_adjusted in find_flags(evidence):
        effects[j] = effects.get(j) or leave_out.effect_without(rows[j])
        flag = Flag(kind=kind, reason=reason, p_adjusted=p_adjusted, effect=effects[j])
        flags[j] = (*flags.get(j, ()), flag)
    return flags


def _last_label_notes(reports: Sequence[JudgeReport], evidence: Evidence, tested: Evidence) -> Iterator[Note]:
    """A note where the reasons of flags count fewer labels than everything else."""
    has_repeats = tested.work.size < evidence.work.size
    if has_repeats and any(flag.kind in LABEL_FLAGS for report in reports for flag in report.flags):
        text = "flags count a judge's last label of an item, all other numbers every label"
        yield Note("flags-count-last", text, parameter="repeats")


def _quality_notes(reports: Sequence[JudgeReport], others: OthersConsensus, *, gold: bool) -> Iterator[Note]:
    """What holds for many judges at once."""
    if len(reports) == 1:
        yield Note("one-judge", "one judge alone: there are no others to compare with")
        return
    of_judges = f"of {len(reports):,} judges"
    n_unmet = sum(report.against == "consensus" for report in reports) if gold else 0
    if n_unmet:
        unmet = f"{n_unmet:,} {of_judges} met no gold item"
        yield Note("judges-without-gold", f"{unmet}: their accuracy is against the consensus of the others")
    n_tied, n_alone = (int((others.label == code).sum()) for code in (TIED, NO_OTHERS))
    if n_tied:
        yield Note(
            "tied-others", f"on {n_tied:,} labels the other judges tie; matching one of m tied labels scores 1/m"
        )
    if not gold and others.max_others < 2:
        yield Note(
            "two-labels-per-item",
            "two labels of an item cannot show which is wrong: it takes three, gold or traps",
            suggestions=REFERENCES,
        )
    if n_alone:
        text = f"{n_alone:,} labels do not count against the consensus: nobody else labelled the item"
        yield Note("unshared-labels", text)
    unchecked = [
        report.judge for report in reports if report.against is None and (report.traps is None or not report.traps.n)
    ]
    if unchecked:
        labels = f"the labels of {join_first_few(unchecked)}"
        yield Note("unchecked-judges", f"nothing to check {labels} against: nobody else labelled the same items")
    n_few = sum(0 < max(report.accuracy.n, report.consensus_accuracy.n) < FEW_CHECKED for report in reports)
    if n_few:
        verb = "has" if n_few == 1 else "have"
        few = f"{n_few:,} {of_judges} {verb} fewer than {FEW_CHECKED} labels that can be checked"
        yield Note("few-checked-labels", f"{few}: too few to judge them by")


def _trap_notes(reports: Sequence[JudgeReport], votes: Votes) -> Iterator[Note]:
    if votes.undecided is not None:
        text = f"{votes.undecided.size:,} times a trap was skipped or not decided: it counts as met and not passed"
        yield Note("undecided-traps", text)
    records = [report.traps for report in reports if report.traps is not None]
    unmet = [report.judge for report in reports if report.traps is not None and not report.traps.n]
    if unmet:
        yield Note("judges-without-traps", f"{join_first_few(unmet)} met no trap")
    n_batches = sum(record.batches for record in records)
    n_refused = n_batches - sum(record.accepted for record in records)
    if n_refused:
        yield Note("refused-batches", f"{n_refused:,} of {n_batches:,} batches with traps are not accepted")


def _undefined_alpha_notes(work: Votes) -> Iterator[Note]:
    if len(np.unique(work.label)) == 1:
        text = f"everybody gave the label {work.labels[work.label[0]]}: alpha is undefined"
        yield Note("constant-labels", text)
    else:
        yield Note("no-shared-items", "no item has labels of two judges: alpha is undefined")


class LeaveOneOut:
    """All votes counted once, so that a judge can be taken out of them; `gold` is a label for each item, or −1."""

    def __init__(self, votes: Votes, gold: NDArray[np.integer] | None) -> None:
        self.votes = votes
        self.gold = np.full(votes.items.height, -1) if gold is None else gold
        self.counts = votes.counts()
        self.disagreement, self.pairable = _alpha_terms(self.counts)
        self.n_right, self.n_gold = self._count_right(self.counts, self.gold)
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
        right_before, gold_before = self._count_right(before, self.gold[items])
        right_after, gold_after = self._count_right(after, self.gold[items])
        n_gold = self.n_gold - gold_before + gold_after
        return Effect(
            items=self.items,
            changed=int((majority(before) != majority(after))[has_label].sum()),
            lost=int((~has_label).sum()),
            alpha=self.alpha,
            alpha_without=_nominal_alpha(
                self.disagreement - terms_before[0] + terms_after[0], self.pairable - terms_before[1] + terms_after[1]
            ),
            accuracy=self.n_right / self.n_gold if self.n_gold else None,
            accuracy_without=(self.n_right - right_before + right_after) / n_gold if n_gold else None,
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
