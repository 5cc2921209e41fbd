"""Whom to look at: each kind of flag with its rule.

A flag asks two things of a judge. First, that chance does not explain it: had the labels of each item been dealt out
among the judges who labelled it, a result so far off would be rare, and stay so when Holm's method counts how many
judges were looked at. So of a hundred crowds of equally good judges, at most five have anybody flagged of a kind.
Second, that it matters: with many labels everybody differs from the others by a little, and that is no reason to
look at anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.significance.adjustment import holm
from ringtrue.judges.quality.judge_reports import Evidence
from ringtrue.judges.quality.judge_statistics import CheckedLabels
from ringtrue.judges.quality.results import FlagKind
from ringtrue.judges.quality.tail_bounds import bennett, binomial_tail, sums_of_hits, sums_within_strata
from ringtrue.judges.votes import FIRST
from ringtrue.stats.encoding import mean_by_group

FloatArray = NDArray[np.float64]
MIN_DIFFERENCE = 0.1  # a difference of shares that matters: ten points
MIN_COMMON_SHARE = 0.9  # share of labels that are one and the same
MAX_RARE_RATIO = 0.5  # how often the other labels are used, compared with the others
MIN_LENIENCY = 0.5  # leniency that matters, in standard deviations of all labels
MIN_SPEED_RATIO = 3  # times as fast as the typical judge
MIN_LABEL_SECONDS = 0.5  # in which somebody reads two words, or presses a key on seeing a picture
MIN_SKILL = 0.2  # of the way from chance to perfect: less is no better than guessing


Finding: TypeAlias = tuple[int, FlagKind, str, float]  # a judge's position, the kind, the reason, the adjusted p


def find_flags(evidence: Evidence) -> list[Finding]:
    """Every flag on every judge, kind by kind, before its effect is known."""
    return [finding for rule in RULES for finding in rule(evidence)]


def _significant_judges(evidence: Evidence, p: FloatArray) -> list[tuple[int, float]]:
    """The judges for whom chance is no explanation, with Holm's p."""
    adjusted = holm(p)
    return [(int(j), float(adjusted[j])) for j in np.flatnonzero(adjusted < 1 - evidence.level)]


def _flag_worse(evidence: Evidence) -> Iterator[Finding]:
    """Right less often than the others on the same items, by ten points or more; or no better than guessing.

    Gold is asked where it covers half as many labels as the consensus of the others does, or more; else both are,
    and the smaller p is doubled. A judge who is worse, and not clearly better than the same labels shuffled, is no
    better than guessing. So is one with whom nobody can be compared, and who clearly is not a fifth of the way from
    chance to perfect.
    """
    gold, consensus = evidence.gold, evidence.consensus
    p = consensus.chance_sums().p_low()
    by_gold = np.zeros(evidence.n_judges, dtype=bool)
    if gold is not None:
        gold_p = gold.chance_sums().p_low()
        enough_gold = (gold.n > 0) & (2 * gold.n >= consensus.n)
        both = ~enough_gold & ~np.isnan(gold_p) & ~np.isnan(p)
        by_gold = enough_gold | (gold_p < p)
        p = np.where(by_gold, gold_p, p) * np.where(both, 2, 1)
        p = np.where(np.isnan(p) & np.isnan(gold.others_accuracy), _p_of_low_skill(gold), p)
    for j, adjusted in _significant_judges(evidence, np.minimum(p, 1)):
        checked = gold if by_gold[j] and gold is not None else consensus
        own_share, others_share, chance = (
            float(statistic[j]) for statistic in (checked.shared_accuracy, checked.others_accuracy, checked.chance)
        )
        hits, n = round(checked.n[j] * checked.accuracy[j]), int(checked.n[j])
        guessing = binomial_tail(n - hits, n, 1 - chance) >= 1 - evidence.level
        if others_share - own_share < MIN_DIFFERENCE or (np.isnan(others_share) and not guessing):
            continue
        against = "gold" if checked is gold else "the consensus of the others"
        others_phrase = "" if np.isnan(others_share) else f", the others on {others_share:.0%} of the same items"
        shuffled = f"; shuffled, the same labels would be right on {chance:.0%}" if guessing else ""
        right, labels = (checked.accuracy[j], n) if np.isnan(own_share) else (own_share, int(checked.shared[j]))
        reason = f"right on {right:.0%} of {labels:,} labels{others_phrase} (against {against}){shuffled}"
        yield j, "guessing" if guessing else "worse", reason, adjusted


def _p_of_low_skill(gold: CheckedLabels) -> FloatArray:
    """How rarely a judge a fifth of the way from chance to perfect is right so seldom; NaN without gold items."""
    min_accuracy = gold.chance + MIN_SKILL * (1 - gold.chance)
    is_defined = (gold.n > 0) & (gold.chance < 1)
    n, min_accuracy, accuracy = (
        np.where(is_defined, statistic, 0.0) for statistic in (gold.n, min_accuracy, gold.accuracy)
    )
    return np.where(
        is_defined, bennett(n * (min_accuracy - accuracy), n * min_accuracy * (1 - min_accuracy), min_accuracy), np.nan
    )


def _flag_one_label(evidence: Evidence) -> Iterator[Finding]:
    """One label in nine cases of ten or more, and the other labels half as often as the others use them, or less."""
    work, n_judges = evidence.work, evidence.n_judges
    if work.is_pairwise:  # of two documents neither is the first; a habit is one of sides
        return
    tally = work.tally(work.judge, n_judges)
    common = tally.argmax(axis=1)
    is_common = work.label == common[work.judge]
    counts = work.counts()
    n = counts.sum(axis=1)[work.item]
    n_common = counts[work.item, common[work.judge]]
    p = sums_of_hits(work.judge, n_judges, is_common, n_common / n).p_high() * len(work.labels)
    is_shared = n > 1
    others_share = mean_by_group(
        work.judge[is_shared], ((n_common - is_common) / np.maximum(n - 1, 1))[is_shared], n_judges
    )
    own_share = mean_by_group(work.judge[is_shared], is_common[is_shared], n_judges)
    n_shared = np.bincount(work.judge[is_shared], minlength=n_judges)
    for j, adjusted in _significant_judges(evidence, np.minimum(p, 1)):
        if own_share[j] >= MIN_COMMON_SHARE and 1 - own_share[j] <= MAX_RARE_RATIO * (1 - others_share[j]):
            own = f"says {work.labels[common[j]]} in {own_share[j]:.0%} of {n_shared[j]:,} labels"
            yield j, "one label", f"{own}, the others in {others_share[j]:.0%} on the same items", adjusted


def _flag_lenient(evidence: Evidence) -> Iterator[Finding]:
    """Labels higher or lower than the others' on the same items, by half a standard deviation of all labels."""
    work = evidence.work
    if work.is_pairwise or not work.size:
        return
    grade = np.array(work.labels, dtype=np.float64)[work.label]
    sums = sums_within_strata(work.judge, evidence.n_judges, grade, work.item, share=False)
    for j, adjusted in _significant_judges(evidence, sums.p_two_sided()):
        leniency = evidence.reports[j].leniency
        if leniency is None or leniency.value is None or abs(leniency.value) < MIN_LENIENCY * float(grade.std()):
            continue
        kind: FlagKind = "lenient" if leniency.value > 0 else "strict"
        distance = f"labels lie {abs(leniency.value):.2f} {'above' if leniency.value > 0 else 'below'} the others'"
        yield j, kind, f"{distance} on the same {leniency.n:,} items, on average", adjusted


def _flag_traps(evidence: Evidence) -> Iterator[Finding]:
    """A batch that is not accepted, and fewer traps passed than by the others.

    Where nobody else met the same traps, fewer than the rule of acceptance asks for.
    """
    checked, all_traps = evidence.traps, evidence.all_traps
    if checked is None or all_traps is None:
        return
    p = checked.chance_sums().p_low()
    min_rate = np.full(evidence.n_judges, evidence.accept[0] / evidence.accept[1])
    shortfall = np.nan_to_num(checked.n * (min_rate - checked.accuracy))
    by_rule = bennett(shortfall, checked.n * min_rate * (1 - min_rate), min_rate)
    unmatched = np.isnan(p) & (checked.n > 0) & np.isnan(checked.others_accuracy)
    for j, adjusted in _significant_judges(evidence, np.where(unmatched, by_rule, p)):
        traps = evidence.reports[j].traps
        if traps is None or traps.accepted == traps.batches:
            continue
        others_phrase = "" if unmatched[j] else f", the others {float(all_traps.others_accuracy[j]):.0%} of the same"
        batches_phrase = (
            f"{traps.accepted} of {traps.batches:,} batches accepted" if traps.batches > 1 else "not accepted"
        )
        reason = f"passed {traps.passed:,} of {traps.n:,} traps{others_phrase}; {batches_phrase}"
        yield j, "traps", reason, adjusted


def _flag_too_fast(evidence: Evidence) -> Iterator[Finding]:
    """Most labels in less than a third of the time of the typical judge, by the medians; or in less than half a second.

    The half second is for one judge alone, and for judges who are all in a hurry. It is asked of durations that were
    measured: gaps between stamps are 0 where several labels were sent at once.
    """
    durations = evidence.durations
    if durations is None:
        return
    medians = [report.speed.median for report in evidence.reports if report.speed is not None]
    typical = float(np.median(medians)) if len(medians) > 1 else 0.0
    least = MIN_LABEL_SECONDS if durations.source == "seconds" else 0.0
    is_fast = durations.seconds < max(typical / MIN_SPEED_RATIO, least)
    p = sums_of_hits(durations.judge, evidence.n_judges, is_fast, np.full(len(is_fast), 0.5)).p_high()
    for j, adjusted in _significant_judges(evidence, p):
        speed = evidence.reports[j].speed
        if speed is not None:
            slower = f", the typical judge {typical:.3g}" if speed.median < typical / MIN_SPEED_RATIO else ""
            least_phrase = f"; nobody reads a document in less than {least:g}" if speed.median < least else ""
            reason = f"{speed.median:.3g} seconds a label (median of {speed.n:,}){slower}{least_phrase}"
            yield j, "too fast", reason, adjusted


def _flag_side_bias(evidence: Evidence) -> Iterator[Finding]:
    """One side wins by ten points more often than half, and more often than the others say of the same pairs."""
    work = evidence.work
    if "side" not in work.others.columns or not work.is_pairwise:
        return
    side = work.others["side"].to_numpy()
    rows = np.flatnonzero(side != "tie")
    judge, item, left = work.judge[rows], work.item[rows], side[rows] == "left"
    first = np.array(work.labels)[work.label[rows]] == FIRST
    share = mean_by_group(item, first, work.items.height)
    chance = np.where(left == first, share[item], 1 - share[item])  # that the document on the left wins
    sums = sums_of_hits(judge, evidence.n_judges, left, chance)
    biases = [report.side_bias for report in evidence.reports]
    half_p = np.array([np.nan if bias is None or bias.p_value is None else bias.p_value for bias in biases])
    others = mean_by_group(judge, chance, evidence.n_judges)
    shared = sums.cases > 0
    for j, adjusted in _significant_judges(evidence, np.where(shared, np.fmax(half_p, sums.p_two_sided()), half_p)):
        bias = evidence.reports[j].side_bias
        if bias is None or bias.left.value is None:
            continue
        left_share, expected_share = bias.left.value, float(others[j]) if shared[j] else 0.5
        if min(abs(left_share - 0.5), abs(left_share - expected_share)) < MIN_DIFFERENCE or (left_share > 0.5) != (
            left_share > expected_share
        ):
            continue
        side_name, side_share, others_share = (
            ("left", left_share, expected_share) if left_share > 0.5 else ("right", 1 - left_share, 1 - expected_share)
        )
        reason = f"{side_name} wins in {side_share:.0%} of {bias.left.n:,} verdicts for a side"
        comparison = (
            f"by all judges of the same pairs in {others_share:.0%}" if shared[j] else "and half if sides are random"
        )
        yield j, "side bias", f"{reason}, {comparison}", adjusted


def _flag_drift(evidence: Evidence) -> Iterator[Finding]:
    """Accuracy changes by ten points or more from the first half to the second, and not because the items do."""
    p = np.array(
        [
            np.nan if report.drift is None or report.drift.p_value is None else report.drift.p_value
            for report in evidence.reports
        ]
    )
    for j, adjusted in _significant_judges(evidence, p):
        drift = evidence.reports[j].drift
        if drift is None:
            continue
        own_change = drift.change.value or 0.0
        unexplained = own_change - (drift.others_change or 0.0)  # what the items do not explain
        if min(abs(own_change), abs(unexplained)) < MIN_DIFFERENCE or own_change * unexplained < 0:
            continue
        first, second = drift.first, drift.second
        others_change = drift.others_change or 0
        others_phrase = f"; the others change by {100 * others_change:+.0f} points on the same items".replace("-", "−")
        reason = (
            f"right on {first.value or 0:.0%} of the first {first.n:,} labels and on "
            f"{second.value or 0:.0%} of the last {second.n:,}{others_phrase}"
        )
        yield j, "drift", reason, adjusted


def _flag_inconsistent(evidence: Evidence) -> Iterator[Finding]:
    """Another label when asked again, by ten points more often than the other judges, whatever items they were asked.

    For each item of a judge it is the share of equal pairs among the labels that counts, however often it was asked.
    """
    judge, equal_share = evidence.repeats.judge, evidence.repeats.equal / np.maximum(evidence.repeats.pairs, 1)
    sums = sums_within_strata(judge, evidence.n_judges, equal_share, np.zeros(len(judge), dtype=np.int64), share=False)
    n = np.bincount(judge, minlength=evidence.n_judges)
    equal_sum = np.bincount(judge, weights=equal_share, minlength=evidence.n_judges)
    for j, adjusted in _significant_judges(evidence, sums.p_low()):
        n_others = len(equal_share) - n[j]
        others_share = float((equal_share.sum() - equal_sum[j]) / n_others) if n_others else 0.0
        if others_share - equal_sum[j] / n[j] >= MIN_DIFFERENCE:
            reason = (
                f"gave the same label again in {equal_sum[j] / n[j]:.0%} of cases ({n[j]:,} items), "
                f"the other judges in {others_share:.0%}"
            )
            yield j, "inconsistent", reason, adjusted


RULES: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    _flag_worse,
    _flag_one_label,
    _flag_lenient,
    _flag_traps,
    _flag_too_fast,
    _flag_side_bias,
    _flag_drift,
    _flag_inconsistent,
)
