"""How good is each judge, and whom should somebody look at?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError
from ringtrue.formatting.phrases import join_first_few
from ringtrue.judges.quality.checked_labels import CheckedLabels, rows_by_judge
from ringtrue.judges.quality.flags import Evidence, FlagFinding, find_flags
from ringtrue.judges.quality.judge_findings import Flag
from ringtrue.judges.quality.judge_reports import FEW_CHECKED, make_judge_reports
from ringtrue.judges.quality.judge_statistics import find_repeated_labels
from ringtrue.judges.quality.leave_one_out import LeaveOneOut
from ringtrue.judges.quality.results import JudgeQuality, JudgeReport
from ringtrue.judges.quality.timing import measure_durations
from ringtrue.judges.quality.traps import accept_rule_note, match_traps, record_traps, require_accept_rule
from ringtrue.judges.votes import Outside, Repeats, Votes, align_with_gold, make_votes
from ringtrue.judges.votes.reference_labels import NO_OTHERS, TIED, OthersConsensus, leave_one_out_consensus
from ringtrue.stats.intervals import estimate_share, require_level

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
    random. Trap items count for nothing else but gold; a batch is accepted at M of N traps (`accept`).

    A flag is a reason to look at a judge; nobody is ever dropped. Each kind of flag takes a test with Holm's
    adjustment over all judges, at 1 − level, and a difference that matters:

    - worse: right less often than the others on the same items, by 10 points or more
    - guessing: worse, and not clearly better than the same labels shuffled
    - one label: one and the same in 90% of labels, the rest at most half as often as by the others
    - lenient, strict: off the others' labels of the same items by half a standard deviation of all labels
    - traps: a batch not accepted, and fewer traps passed than by the others
    - too fast: most labels in less than a third of the typical judge's median time
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
    work = _drop_traps(votes, trap_labels)
    others = leave_one_out_consensus(work)
    is_pairwise = votes.is_pairwise  # whose sides can be told without anybody else
    if gold_labels is None and trap_labels is None and (others.label == NO_OTHERS).all() and not is_pairwise:
        raise _nothing_to_check_error(votes)

    evidence = _gather_evidence(
        all_votes, votes, others, gold_labels, trap_labels, accept=accept, level=level, progress=progress
    )
    leave_out = LeaveOneOut(work, gold_labels)
    tested_evidence = evidence
    if repeats == "all":  # labels of one item by one judge are no independent witnesses: each counts once in the tests
        last_votes = all_votes.resolve_repeats("last")
        last_others = leave_one_out_consensus(_drop_traps(last_votes, trap_labels))
        tested_evidence = _gather_evidence(
            all_votes,
            last_votes,
            last_others,
            gold_labels,
            trap_labels,
            accept=accept,
            level=level,
            full_evidence=evidence,
        )
    flags = _flags_by_judge(
        tested_evidence, leave_out if tested_evidence is evidence else LeaveOneOut(tested_evidence.work, gold_labels)
    )
    reports = tuple(
        replace(report, flags=flags.get(j, ())) for j, report in enumerate(evidence.reports) if report.labels
    )
    cluster = votes.clusters()[0]
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
            *_quality_notes(reports, others, gold=gold_labels is not None),
            *_last_label_notes(reports, evidence, tested_evidence),
            *((accept_rule_note(votes, accept), *_trap_notes(reports)) if trap_labels is not None else ()),
            *(_undefined_alpha_notes(work) if leave_out.alpha is None and len(reports) > 1 else ()),
        ),
    )


def _nothing_to_check_error(votes: Votes) -> MismatchError:
    judges = np.unique(votes.judge)
    reason = (
        f"there is one judge, '{votes.judges[judges[0]]}', and nobody to compare with"
        if len(judges) == 1
        else f"no two of the {len(judges):,} judges labelled the same item"
    )
    return MismatchError(
        f"{reason}; give gold labels (--gold), traps (--traps), or more judges' labels of the same items"
    )


def _drop_traps(votes: Votes, traps: NDArray[np.int32] | None) -> Votes:
    return votes if traps is None else votes.keep(traps[votes.item] < 0)


def _gather_evidence(
    all_votes: Votes,
    votes: Votes,
    others: OthersConsensus,
    gold: NDArray[np.int32] | None,
    traps: NDArray[np.int32] | None,
    *,
    accept: tuple[int, int],
    level: float,
    progress: Callable[[int], None] | None = None,
    full_evidence: Evidence | None = None,
) -> Evidence:
    """What `votes` say of each judge; `all_votes` are those with all repeats, and `others` is about the work alone.

    Every batch is accepted or not by all of its traps: where `votes` lack repeats, `full_evidence` has them.
    """
    work, times, repeats = _drop_traps(votes, traps), measure_durations(all_votes), find_repeated_labels(all_votes)
    gold_cases = None if gold is None else CheckedLabels(votes, gold[votes.item], "gold")
    consensus = CheckedLabels(work, others.label, "consensus", others)
    trap_cases = None if traps is None else CheckedLabels(votes, traps[votes.item], "gold")
    records = None if traps is None else record_traps(votes, traps, accept=accept, level=level)
    if full_evidence is not None:
        records = [report.traps for report in full_evidence.reports if report.traps is not None] or None
    reports = make_judge_reports(
        votes,
        work,
        others,
        gold=gold_cases,
        consensus=consensus,
        repeats=repeats,
        traps=records,
        speeds=times.speeds(len(votes.judges)) if times else None,
        level=level,
        progress=progress or (lambda _: None),
    )
    return Evidence(
        reports=reports,
        work=work,
        gold=gold_cases,
        consensus=consensus,
        traps=trap_cases,
        all_traps=trap_cases if full_evidence is None else full_evidence.traps,
        accept=accept,
        durations=times,
        repeats=repeats,
        level=level,
    )


def _flags_by_judge(evidence: Evidence, leave_out: LeaveOneOut) -> dict[int, tuple[Flag, ...]]:
    """The flags of each judge who has any, by position, with the effect of leaving the judge out."""
    findings_by_judge: dict[int, list[FlagFinding]] = {}
    for finding in find_flags(evidence):
        findings_by_judge.setdefault(finding.judge, []).append(finding)
    rows = rows_by_judge(evidence.work.judge, len(evidence.reports))
    flags = {}
    for j, findings in findings_by_judge.items():
        effect = leave_out.effect_without(rows[j])
        flags[j] = tuple(
            Flag(kind=finding.kind, reason=finding.reason, p_adjusted=finding.p_adjusted, effect=effect)
            for finding in findings
        )
    return flags


def _last_label_notes(reports: Sequence[JudgeReport], evidence: Evidence, tested_evidence: Evidence) -> Iterator[str]:
    """A word where the reasons of flags count fewer labels than everything else."""
    has_repeats = tested_evidence.work.size < evidence.work.size
    if has_repeats and any(flag.kind in LABEL_FLAGS for report in reports for flag in report.flags):
        yield "flags count a judge's last label of an item, all other numbers every label (--repeats all)"


def _quality_notes(reports: Sequence[JudgeReport], others: OthersConsensus, *, gold: bool) -> Iterator[str]:
    """What holds for many judges at once."""
    if len(reports) == 1:
        yield "one judge alone: there are no others to compare with"
        return
    of_judges = f"of {len(reports):,} judges"
    n_unmet = sum(report.against == "consensus" for report in reports) if gold else 0
    if n_unmet:
        yield f"{n_unmet:,} {of_judges} met no gold item: their accuracy is against the consensus of the others"
    n_tied, n_alone = (int((others.label == code).sum()) for code in (TIED, NO_OTHERS))
    if n_tied:
        yield f"on {n_tied:,} labels the others tie: saying what one of m such labels says is right by 1/m"
    if not gold and others.max_others < 2:
        yield "two labels of an item cannot tell which is wrong: whom to trust takes three, gold (--gold) or traps"
    if n_alone:
        yield f"{n_alone:,} labels do not count against the consensus: nobody else labelled the item"
    unchecked = [
        report.judge for report in reports if report.against is None and (report.traps is None or not report.traps.n)
    ]
    if unchecked:
        yield f"nothing to check the labels of {join_first_few(unchecked)} against: nobody else labelled the same items"
    n_few = sum(0 < max(report.accuracy.n, report.consensus_accuracy.n) < FEW_CHECKED for report in reports)
    if n_few:
        verb = "has" if n_few == 1 else "have"
        yield f"{n_few:,} {of_judges} {verb} fewer than {FEW_CHECKED} labels that can be checked: too little to tell"


def _trap_notes(reports: Sequence[JudgeReport]) -> Iterator[str]:
    records = [report.traps for report in reports if report.traps is not None]
    unmet = [report.judge for report in reports if report.traps is not None and not report.traps.n]
    if unmet:
        yield f"{join_first_few(unmet)} met no trap"
    n_refused, n_batches = (
        sum(record.batches - record.accepted for record in records),
        sum(record.batches for record in records),
    )
    if n_refused:
        yield f"{n_refused:,} of {n_batches:,} batches with traps are not accepted"


def _undefined_alpha_notes(work: Votes) -> Iterator[str]:
    if len(np.unique(work.label)) == 1:
        yield f"everybody gave the label {work.labels[work.label[0]]}: alpha is undefined"
    else:
        yield "no item has labels of two judges: alpha is undefined"
