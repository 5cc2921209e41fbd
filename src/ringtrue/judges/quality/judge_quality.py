"""How good is each judge, and whom should somebody look at?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import MismatchError
from ringtrue.formatting.phrases import first_few
from ringtrue.judges.quality.flags import Evidence, Found, find_flags
from ringtrue.judges.quality.judge_findings import Flag
from ringtrue.judges.quality.judge_reports import FEW, reports_on
from ringtrue.judges.quality.judge_statistics import labels_again
from ringtrue.judges.quality.leave_one_out import LeavingOut
from ringtrue.judges.quality.reference_labels import Cases, rows_of_each
from ringtrue.judges.quality.results import JudgeQuality, JudgeReport
from ringtrue.judges.quality.timing import durations
from ringtrue.judges.quality.traps import match_traps, require_rule, rule_note, trap_records
from ringtrue.judges.votes import Outside, Repeats, Votes, votes_of, with_gold
from ringtrue.judges.votes.consensus import ALONE, TIED, Others, leave_one_out
from ringtrue.stats.intervals import require_level, share_estimate

__all__ = ["judge_quality"]

OF_LABELS = {"worse", "guessing", "one label", "lenient", "strict", "side bias", "drift"}  # the last of each item


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
        >>> [(one.judge, one.accuracy.value) for one in quality]
        [('x', 0.75), ('y', 0.75), ('z', 0.5)]
    """
    require_level(level)
    require_rule(accept)
    given = votes_of(labels, scale=scale, outside=outside)
    trusted, known = (None if data is None else votes_of(data, scale=scale, outside=outside) for data in (gold, traps))
    for further in (trusted, known):
        given = given if further is None else given.on(further.labels)
    once = given.settled(repeats)
    answers = None if trusted is None else with_gold(once, trusted)[1]
    known_labels = None if known is None else match_traps(once, known)
    work = _without_traps(once, known_labels)
    others = leave_one_out(work)
    of_pairs = len(once.items.columns) == 3  # whose sides can be told without anybody else
    if answers is None and known_labels is None and (others.label == ALONE).all() and not of_pairs:
        raise _nothing_to_check(once)

    evidence = _evidence(given, once, others, answers, known_labels, accept=accept, level=level, progress=progress)
    leaving = LeavingOut(work, answers)
    tested = evidence
    if repeats == "all":  # labels of one item by one judge are no independent witnesses: each counts once in the tests
        last = given.settled("last")
        by_last = leave_one_out(_without_traps(last, known_labels))
        tested = _evidence(given, last, by_last, answers, known_labels, accept=accept, level=level, met=evidence)
    flags = _flags(tested, leaving if tested is evidence else LeavingOut(tested.work, answers))
    reports = tuple(replace(one, flags=flags.get(j, ())) for j, one in enumerate(evidence.reports) if one.labels)
    cluster = once.clusters()[0]
    cases = evidence.gold or evidence.consensus
    return JudgeQuality(
        judges=reports,
        labels=once.size,
        items=int(once.counts().any(axis=1).sum()),
        accuracy=share_estimate(cases.hit, cluster[cases.item], level=level, what="label that can be checked"),
        against=cases.against if len(cases.hit) else None,
        alpha=leaving.alpha,
        majority_accuracy=None if answers is None else leaving.majority_accuracy(cluster, level),
        level=level,
        notes=(
            *(() if isinstance(labels, Votes) else given.notes),
            *_notes(reports, others, gold=answers is not None),
            *_last_alone(reports, evidence, tested),
            *((rule_note(once, accept), *_trap_notes(reports)) if known_labels is not None else ()),
            *(_undefined(work) if leaving.alpha is None and len(reports) > 1 else ()),
        ),
    )


def _nothing_to_check(votes: Votes) -> MismatchError:
    who = np.unique(votes.judge)
    why = (
        f"there is one judge, '{votes.judges[who[0]]}', and nobody to compare with"
        if len(who) == 1
        else f"no two of the {len(who):,} judges labelled the same item"
    )
    return MismatchError(f"{why}; give gold labels (--gold), traps (--traps), or more judges' labels of the same items")


def _without_traps(votes: Votes, traps: NDArray[np.int32] | None) -> Votes:
    return votes if traps is None else votes.keep(traps[votes.item] < 0)


def _evidence(
    given: Votes,
    votes: Votes,
    others: Others,
    gold: NDArray[np.int32] | None,
    traps: NDArray[np.int32] | None,
    *,
    accept: tuple[int, int],
    level: float,
    progress: Callable[[int], None] | None = None,
    met: Evidence | None = None,
) -> Evidence:
    """What `votes` say of each judge, where `given` are those with all repeats, and `others` is about the work alone.

    Every batch is accepted or not by all of its traps: where `votes` lack repeats, `met` has them.
    """
    work, times, again = _without_traps(votes, traps), durations(given), labels_again(given)
    by_gold = None if gold is None else Cases(votes, gold[votes.item], "gold")
    consensus = Cases(work, others.label, "consensus", others)
    on_traps = None if traps is None else Cases(votes, traps[votes.item], "gold")
    records = None if traps is None else trap_records(votes, traps, accept=accept, level=level)
    if met is not None:
        records = [one.traps for one in met.reports if one.traps is not None] or None
    reports = reports_on(
        votes, work, others, gold=by_gold, consensus=consensus, again=again, traps=records,
        speeds=times.speeds(len(votes.judges)) if times else None, level=level, progress=progress or (lambda _: None),
    )  # fmt: skip
    return Evidence(
        reports=reports, work=work, gold=by_gold, consensus=consensus, traps=on_traps,
        met=on_traps if met is None else met.traps, accept=accept, durations=times, again=again, level=level,
    )  # fmt: skip


def _flags(evidence: Evidence, leaving: LeavingOut) -> dict[int, tuple[Flag, ...]]:
    """The flags of each judge who has any, by position, with the effect of leaving the judge out."""
    found: dict[int, list[Found]] = {}
    for one in find_flags(evidence):
        found.setdefault(one.judge, []).append(one)
    rows = rows_of_each(evidence.work.judge, len(evidence.reports))
    flags = {}
    for j, some in found.items():
        effect = leaving.without(rows[j])
        flags[j] = tuple(
            Flag(kind=one.kind, reason=one.reason, p_adjusted=one.p_adjusted, effect=effect) for one in some
        )
    return flags


def _last_alone(reports: Sequence[JudgeReport], told: Evidence, tested: Evidence) -> Iterator[str]:
    """A word where the reasons of flags count fewer labels than everything else."""
    again = tested.work.size < told.work.size
    if again and any(flag.kind in OF_LABELS for one in reports for flag in one.flags):
        yield "flags count a judge's last label of an item, all other numbers every label (--repeats all)"


def _notes(reports: Sequence[JudgeReport], others: Others, *, gold: bool) -> Iterator[str]:
    """What holds for many judges at once."""
    if len(reports) == 1:
        yield "one judge alone: there are no others to compare with"
        return
    everybody = f"of {len(reports):,} judges"
    unmet = sum(one.against == "consensus" for one in reports) if gold else 0
    if unmet:
        yield f"{unmet:,} {everybody} met no gold item: their accuracy is against the consensus of the others"
    tied, alone = (int((others.label == why).sum()) for why in (TIED, ALONE))
    if tied:
        yield f"on {tied:,} labels the others tie: saying what one of m such labels says is right by 1/m"
    if not gold and others.most < 2:
        yield "two labels of an item cannot tell which is wrong: whom to trust takes three, gold (--gold) or traps"
    if alone:
        yield f"{alone:,} labels do not count against the consensus: nobody else labelled the item"
    unknown = [one.judge for one in reports if one.against is None and (one.traps is None or not one.traps.n)]
    if unknown:
        yield f"nothing to check the labels of {first_few(unknown)} against: nobody else labelled the same items"
    few = sum(0 < max(one.accuracy.n, one.consensus_accuracy.n) < FEW for one in reports)
    if few:
        verb = "has" if few == 1 else "have"
        yield f"{few:,} {everybody} {verb} fewer than {FEW} labels that can be checked: too little to tell"


def _trap_notes(reports: Sequence[JudgeReport]) -> Iterator[str]:
    records = [one.traps for one in reports if one.traps is not None]
    unmet = [one.judge for one in reports if one.traps is not None and not one.traps.n]
    if unmet:
        yield f"{first_few(unmet)} met no trap"
    refused, batches = sum(one.batches - one.accepted for one in records), sum(one.batches for one in records)
    if refused:
        yield f"{refused:,} of {batches:,} batches with traps are not accepted"


def _undefined(work: Votes) -> Iterator[str]:
    if len(np.unique(work.label)) == 1:
        yield f"everybody gave the label {work.labels[work.label[0]]}: alpha is undefined"
    else:
        yield "no item has labels of two judges: alpha is undefined"
