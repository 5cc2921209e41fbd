"""Whom to look at: each kind of flag with its rule.

A flag asks two things of a judge. First, that chance does not explain it: had the labels of each item been dealt out
among the judges who labelled it, a result so far off would be rare, and stay so when Holm's method counts how many
judges were looked at. So of a hundred crowds of equally good judges, at most five have anybody flagged of a kind.
Second, that it matters: with many labels everybody differs from the others by a little, and that is no reason to
look at anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.significance.adjustment import holm
from ringtrue.judges.quality.judge_findings import Kind
from ringtrue.judges.quality.judge_statistics import Again
from ringtrue.judges.quality.reference_labels import Cases, group_mean, percent
from ringtrue.judges.quality.results import JudgeReport
from ringtrue.judges.quality.tail_bounds import bennett, binomial_tail, drawn_from, shares_drawn
from ringtrue.judges.quality.timing import Durations
from ringtrue.judges.votes import FIRST, Votes

__all__ = ["Evidence", "Found", "find_flags"]

FloatArray = NDArray[np.float64]
MATERIAL = 0.1  # a difference of shares that matters: ten points
NEARLY_ALWAYS = 0.9  # share of labels that are one and the same
HALF_AS_OFTEN = 0.5  # how often the other labels are used, compared with the others
GRADES = 0.5  # leniency that matters, in standard deviations of all labels
FASTER = 3  # times as fast as the typical judge
LITTLE_BETTER = 0.2  # of the way from chance to perfect: less is no better than guessing


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A flag on a judge, by position, before its effect is known."""

    judge: int
    kind: Kind
    reason: str
    p_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What the rules look at; `work` are the votes that are no traps, `met` all traps, those met again too."""

    reports: list[JudgeReport]
    work: Votes
    consensus: Cases
    gold: Cases | None
    traps: Cases | None
    met: Cases | None
    accept: tuple[int, int]
    durations: Durations | None
    again: Again
    level: float

    @property
    def judges(self) -> int:
        """How many judges there are."""
        return len(self.reports)

    def clear(self, p: FloatArray) -> list[tuple[int, float]]:
        """The judges for whom chance is no explanation, with Holm's p."""
        adjusted = holm(p)
        return [(int(j), float(adjusted[j])) for j in np.flatnonzero(adjusted < 1 - self.level)]


def find_flags(evidence: Evidence) -> list[Found]:
    """Every flag on every judge, kind by kind."""
    return [found for rule in RULES for found in rule(evidence)]


def _worse(evidence: Evidence) -> list[Found]:
    """Right less often than the others on the same items, by ten points or more; or no better than guessing.

    Gold is asked where it covers half as many labels as the consensus of the others does, or more; else both are,
    and the smaller p is doubled. A judge who is worse, and not clearly better than the same labels shuffled, is no
    better than guessing. So is one with whom nobody can be compared, and who clearly is not a fifth of the way from
    chance to perfect.
    """
    gold, consensus = evidence.gold, evidence.consensus
    p = consensus.sums().rarely_so_low()
    by_gold = np.zeros(evidence.judges, dtype=bool)
    if gold is not None:
        golden = gold.sums().rarely_so_low()
        enough = (gold.n > 0) & (2 * gold.n >= consensus.n)
        both = ~enough & ~np.isnan(golden) & ~np.isnan(p)
        by_gold = enough | (golden < p)
        p = np.where(by_gold, golden, p) * np.where(both, 2, 1)
        p = np.where(np.isnan(p) & np.isnan(gold.others_accuracy), _little_better(gold), p)
    found = []
    for j, adjusted in evidence.clear(np.minimum(p, 1)):
        cases = gold if by_gold[j] and gold is not None else consensus
        own, others, chance = (float(one[j]) for one in (cases.shared_accuracy, cases.others_accuracy, cases.chance))
        hits, n = round(cases.n[j] * cases.accuracy[j]), int(cases.n[j])
        guessing = binomial_tail(n - hits, n, 1 - chance) >= 1 - evidence.level
        if others - own < MATERIAL or (np.isnan(others) and not guessing):
            continue
        against = "gold" if cases is gold else "the consensus of the others"
        than = "" if np.isnan(others) else f", the others on {percent(others)} of the same items"
        shuffled = f"; shuffled, the same labels would be right on {percent(chance)}" if guessing else ""
        right, labels = (cases.accuracy[j], n) if np.isnan(own) else (own, int(cases.shared[j]))
        reason = f"right on {percent(right)} of {labels:,} labels{than} (against {against}){shuffled}"
        found.append(Found(judge=j, kind="guessing" if guessing else "worse", reason=reason, p_adjusted=adjusted))
    return found


def _little_better(gold: Cases) -> FloatArray:
    """How rarely a judge a fifth of the way from chance to perfect is right so seldom; NaN without gold items."""
    least = gold.chance + LITTLE_BETTER * (1 - gold.chance)
    known = (gold.n > 0) & (gold.chance < 1)
    n, least, accuracy = (np.where(known, one, 0.0) for one in (gold.n, least, gold.accuracy))
    return np.where(known, bennett(n * (least - accuracy), n * least * (1 - least), least), np.nan)


def _one_label(evidence: Evidence) -> list[Found]:
    """One label in nine cases of ten or more, and the other labels half as often as the others use them, or less."""
    work, judges = evidence.work, evidence.judges
    if len(work.items.columns) == 3:  # of two documents neither is the first; a habit is one of sides
        return []
    tally = work.tally(work.judge, judges)
    common = tally.argmax(axis=1)
    said = work.label == common[work.judge]
    counts = work.counts()
    n = counts.sum(axis=1)[work.item]
    here = counts[work.item, common[work.judge]]
    p = shares_drawn(work.judge, judges, said, here / n).rarely_so_high() * len(work.labels)
    several = n > 1
    others = group_mean(work.judge[several], ((here - said) / np.maximum(n - 1, 1))[several], judges)
    own = group_mean(work.judge[several], said[several], judges)
    total = np.bincount(work.judge[several], minlength=judges)
    return [
        Found(
            judge=j, kind="one label", p_adjusted=adjusted,
            reason=f"says {work.labels[common[j]]} in {percent(own[j])} of {total[j]:,} labels, the others in "
            f"{percent(others[j])} on the same items",
        )
        for j, adjusted in evidence.clear(np.minimum(p, 1))
        if own[j] >= NEARLY_ALWAYS and 1 - own[j] <= HALF_AS_OFTEN * (1 - others[j])
    ]  # fmt: skip


def _lenient(evidence: Evidence) -> list[Found]:
    """Labels higher or lower than the others' on the same items, by half a standard deviation of all labels."""
    work = evidence.work
    if len(work.items.columns) == 3 or not work.size:
        return []
    grade = np.array(work.labels, dtype=np.float64)[work.label]
    sums = drawn_from(work.judge, evidence.judges, grade, work.item, share=False)
    found = []
    for j, adjusted in evidence.clear(sums.rarely_so_far()):
        leniency = evidence.reports[j].leniency
        if leniency is not None and leniency.value is not None and abs(leniency.value) >= GRADES * float(grade.std()):
            kind: Kind = "lenient" if leniency.value > 0 else "strict"
            than = "above" if leniency.value > 0 else "below"
            reason = (
                f"labels lie {abs(leniency.value):.2f} {than} the others' on the same {leniency.n:,} items, on average"
            )
            found.append(Found(judge=j, kind=kind, reason=reason, p_adjusted=adjusted))
    return found


def _traps(evidence: Evidence) -> list[Found]:
    """A batch that is not accepted, and fewer traps passed than by the others.

    Where nobody else met the same traps, fewer than the rule of acceptance asks for.
    """
    cases, met = evidence.traps, evidence.met
    if cases is None or met is None:
        return []
    p = cases.sums().rarely_so_low()
    least = np.full(evidence.judges, evidence.accept[0] / evidence.accept[1])
    short = np.nan_to_num(cases.n * (least - cases.accuracy))
    by_rule = bennett(short, cases.n * least * (1 - least), least)
    unmatched = np.isnan(p) & (cases.n > 0) & np.isnan(cases.others_accuracy)
    found = []
    for j, adjusted in evidence.clear(np.where(unmatched, by_rule, p)):
        traps = evidence.reports[j].traps
        if traps is None or traps.accepted == traps.batches:
            continue
        others = "" if unmatched[j] else f", the others {percent(float(met.others_accuracy[j]))} of the same"
        work = f"{traps.accepted} of {traps.batches:,} batches accepted" if traps.batches > 1 else "not accepted"
        reason = f"passed {traps.passed:,} of {traps.n:,} traps{others}; {work}"
        found.append(Found(judge=j, kind="traps", reason=reason, p_adjusted=adjusted))
    return found


def _too_fast(evidence: Evidence) -> list[Found]:
    """Most labels in less than a third of the time of the typical judge, by the medians."""
    times = evidence.durations
    medians = [one.speed.median for one in evidence.reports if one.speed is not None]
    if times is None or len(medians) < 2:
        return []
    typical = float(np.median(medians))
    fast = times.seconds < typical / FASTER
    p = shares_drawn(times.judge, evidence.judges, fast, np.full(len(fast), 0.5)).rarely_so_high()
    found = []
    for j, adjusted in evidence.clear(p):
        speed = evidence.reports[j].speed
        if speed is not None:
            reason = f"{speed.median:.3g} seconds a label (median of {speed.n:,}), the typical judge {typical:.3g}"
            found.append(Found(judge=j, kind="too fast", reason=reason, p_adjusted=adjusted))
    return found


def _side_bias(evidence: Evidence) -> list[Found]:
    """One side wins by ten points more often than half, and more often than the others say of the same pairs."""
    work = evidence.work
    if "side" not in work.others.columns or len(work.items.columns) == 2:
        return []
    side = work.others["side"].to_numpy()
    rows = np.flatnonzero(side != "tie")
    judge, item, left = work.judge[rows], work.item[rows], side[rows] == "left"
    first = np.array(work.labels)[work.label[rows]] == FIRST
    share = group_mean(item, first, work.items.height)
    chance = np.where(left == first, share[item], 1 - share[item])  # that the document on the left wins
    sums = shares_drawn(judge, evidence.judges, left, chance)
    half = np.array([np.nan if one.side_bias is None or one.side_bias.p_value is None else one.side_bias.p_value
                     for one in evidence.reports])  # fmt: skip
    others = group_mean(judge, chance, evidence.judges)
    found = []
    shared = sums.cases > 0
    for j, adjusted in evidence.clear(np.where(shared, np.fmax(half, sums.rarely_so_far()), half)):
        bias = evidence.reports[j].side_bias
        if bias is None or bias.left.value is None:
            continue
        more, than = bias.left.value, float(others[j]) if shared[j] else 0.5
        if min(abs(more - 0.5), abs(more - than)) < MATERIAL or (more > 0.5) != (more > than):
            continue
        one, share_, theirs = ("left", more, than) if more > 0.5 else ("right", 1 - more, 1 - than)
        reason = f"{one} wins in {percent(share_)} of {bias.left.n:,} verdicts for a side"
        beside = (
            f"by all judges of the same pairs in {percent(theirs)}" if shared[j] else "and half if sides are random"
        )
        found.append(Found(judge=j, kind="side bias", reason=f"{reason}, {beside}", p_adjusted=adjusted))
    return found


def _drift(evidence: Evidence) -> list[Found]:
    """Accuracy changes by ten points or more from the first half to the second, and not because the items do."""
    p = np.array([np.nan if one.drift is None or one.drift.p_value is None else one.drift.p_value
                  for one in evidence.reports])  # fmt: skip
    found = []
    for j, adjusted in evidence.clear(p):
        drift = evidence.reports[j].drift
        if drift is None:
            continue
        own = drift.change.value or 0.0
        beyond = own - (drift.others_change or 0.0)  # what the items do not explain
        if min(abs(own), abs(beyond)) < MATERIAL or own * beyond < 0:
            continue
        first, second = drift.first, drift.second
        change = drift.others_change or 0
        others = f"; the others change by {100 * change:+.0f} points on the same items".replace("-", "−")
        reason = (
            f"right on {percent(first.value or 0)} of the first {first.n:,} labels and on "
            f"{percent(second.value or 0)} of the last {second.n:,}{others}"
        )
        found.append(Found(judge=j, kind="drift", reason=reason, p_adjusted=adjusted))
    return found


def _inconsistent(evidence: Evidence) -> list[Found]:
    """Another label when asked again, by ten points more often than the other judges, whatever items they were asked.

    For each item of a judge it is the share of equal pairs among the labels that counts, however often it was asked.
    """
    judge, same = evidence.again.judge, evidence.again.equal / np.maximum(evidence.again.pairs, 1)
    sums = drawn_from(judge, evidence.judges, same, np.zeros(len(judge), dtype=np.int64), share=False)
    n = np.bincount(judge, minlength=evidence.judges)
    kept = np.bincount(judge, weights=same, minlength=evidence.judges)
    found = []
    for j, adjusted in evidence.clear(sums.rarely_so_low()):
        rest = len(same) - n[j]
        others = float((same.sum() - kept[j]) / rest) if rest else 0.0
        if others - kept[j] / n[j] >= MATERIAL:
            reason = (
                f"gave the same label again in {percent(kept[j] / n[j])} of cases ({n[j]:,} items), the other judges "
                f"in {percent(others)}"
            )
            found.append(Found(judge=j, kind="inconsistent", reason=reason, p_adjusted=adjusted))
    return found


RULES: tuple[Callable[[Evidence], list[Found]], ...] = (
    _worse, _one_label, _lenient, _traps, _too_fast, _side_bias, _drift, _inconsistent,
)  # fmt: skip
