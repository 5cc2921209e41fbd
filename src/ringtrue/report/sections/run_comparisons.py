"""Which runs can be told apart? All pairs at once, and letters for those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ringtrue.evaluation.significance import assign_letters, find_homogeneous_groups
from ringtrue.formatting.grid import Grid, format_signed
from ringtrue.formatting.phrases import format_amount, format_count
from ringtrue.messages import Note
from ringtrue.report.inputs import (
    EQUAL_DIGITS,
    PairComparisons,
    ReportInputs,
    all_runs_phrase,
    compare_run_pairs,
    drop_zero_width_intervals,
    estimate_run_means,
    find_contradicted_pairs,
    find_leaders,
    fit_strengths,
    order_runs,
)
from ringtrue.report.model import MAX_CHART_ROWS, Forest, Section, SectionOutline, Series
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    format_estimate,
    format_number,
    format_p_value,
    join_names,
    join_reasons,
    pick_form,
)
from ringtrue.stats.results import Comparison, Comparisons, Estimate, describe_intervals, format_estimates

OUTLINE = SectionOutline(
    name="ranking",
    title="Which runs can be told apart?",
    needs="two runs or more, and judgments",
    figures={"ranking": "Which runs can be told from the best, and from each other?"},
)
NEAR_TOP = 5
MAX_LEVEL = 0.999999
DECIDED = "the difference is decided"
DIFFERENCE_DECIDES = "a difference is worked out for the two together, and is the one to go by"
BY_CHANCE = "among so many pairs, chance alone shows such differences"


def section(inputs: ReportInputs) -> Section | None:
    """The runs in order, how far each lies behind the best, and the groups that are not told apart."""
    comparisons = inputs.comparisons
    if comparisons is None:
        return None
    names, pairs = order_runs(inputs), compare_run_pairs(inputs)
    best = names[0]
    letters = dict(zip(names, _letters_of_runs(names, pairs), strict=True))
    behind = _differences_to_best(inputs, comparisons, best)
    shown = names[:MAX_CHART_ROWS]
    chart = Forest(
        names=shown,
        across=f"{inputs.measure}: difference to {best}",
        at=0.0,
        marks_title="group",
        marks=tuple(letters[run] for run in shown),
        series=(Series(name="difference to the best", values=tuple(behind[run] for run in shown)),),
    )
    figure = OUTLINE.figure(
        "ranking",
        _describe_comparisons(names, pairs, comparisons, inputs),
        _comparison_table(inputs, behind, pairs, letters),
        chart,
        notes=(*_comparison_notes(names, pairs, letters), *_contradiction_notes(names, pairs, inputs)),
    )
    leading = find_leaders(fit_strengths(inputs))
    return OUTLINE.section(
        _summarise_comparisons(names, leading, pairs, comparisons),
        figure,
        notes=(Note("test-used", f"p: {comparisons.test}; adjusted: {comparisons.family}"), *comparisons.notes),
    )


def holm_interval_level(comparisons: Comparisons) -> float:
    """The level of an interval that misses 0 just where Holm's procedure decides.

    Of m comparisons it decides k, those with p below α/(m − k); so an interval of level 1 − α/(m − k) for each says the
    same as the procedure about all.
    """
    tested = [comparison for comparison in comparisons if comparison.p_adjusted is not None]
    undecided = max(len(tested) - sum(comparison.decided for comparison in tested), 1)
    return min(1 - (1 - comparisons.level) / undecided, MAX_LEVEL)


def _letters_of_runs(names: Sequence[str], pairs: PairComparisons) -> list[str]:
    differ = np.array([[a != b and pairs[a, b].decided for b in names] for a in names], dtype=bool)
    return assign_letters(find_homogeneous_groups(differ), len(names))


def _differences_to_best(inputs: ReportInputs, comparisons: Comparisons, best: str) -> dict[str, Estimate]:
    """Each run minus the best, with an interval that misses 0 just where the difference is decided."""
    level = holm_interval_level(comparisons)
    against = inputs.compare_runs(baselines=best, adjust="none", level=level)
    oriented = [comparison if comparison.b == best else comparison.turned() for comparison in against]
    no_difference = Estimate(value=0.0, level=level, n=oriented[0].difference.n, method="itself")
    return {best: no_difference} | {comparison.a: comparison.difference for comparison in oriented}


def _known_difference(pairs: PairComparisons, a: str, b: str) -> float:
    """How far a is ahead of b; 0 where that is not known, or only how numbers were added up."""
    return round(pairs[a, b].difference.value or 0.0, EQUAL_DIGITS)


def _summarise_comparisons(
    names: Sequence[str], leading: Sequence[str], pairs: PairComparisons, comparisons: Comparisons
) -> str:
    best, others = names[0], names[1:]
    if len(names) == 2:
        return _summarise_pair(pairs[best, names[1]])
    if len(leading) == len(names):
        return f"{capitalize_first(all_runs_phrase(names))} have the same value."
    beaten = sum(pairs[best, run].better == best for run in others)
    ahead = [run for run in others if pairs[best, run].better == run]
    uncompared = [run for run in others if pairs[best, run].difference.value is None]
    undecided = [run for run in others if pairs[best, run].better is None and run not in uncompared]
    if beaten == len(others):
        return f"{best} is better than each of the other {beaten} runs."
    if len(leading) > 1:
        opening, pronoun = f"{join_names(leading)} are first, with the same value", best
        undecided = [run for run in undecided if run not in leading]
    else:
        opening, pronoun = f"{best} is first", "it"
    beats = f"better than {beaten} of the others"
    if beaten:
        opening += f" and {beats}" if len(leading) == 1 else f"; {best} is {beats}"
    parts = [opening]
    if undecided:
        parts.append(f"{join_names(undecided)} cannot be told from {pronoun}")
    if uncompared:
        parts.append(f"{join_names(uncompared)} cannot be compared with {pronoun}")
    if ahead:
        parts.append(f"{join_names(ahead)}, compared with {pronoun} alone, {pick_form(ahead, 'is', 'are')} better")
    decided = sum(comparison.decided for comparison in comparisons)
    decided_phrase = "none is" if not decided else "1 is" if decided == 1 else f"{decided:,} are"
    return f"{'; '.join(parts)}. Of {len(comparisons):,} pairs of runs, {decided_phrase} told apart."


def _summarise_pair(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    if comparison.difference.value is None or comparison.p_adjusted is None:
        return f"{a} and {b} cannot be compared: {join_reasons(comparison.notes)}."
    difference = format_estimate(comparison.difference, _difference_digits(comparison.difference))
    evidence = f"{a} − {b} is {difference}, {format_p_value(comparison.p_adjusted)}"
    if comparison.better is not None:
        return f"{comparison.better} is better than {_worse_run(comparison)}: {evidence}."
    if round(comparison.difference.value, EQUAL_DIGITS) == 0:
        return f"{a} and {b} have the same value, and cannot be told apart."
    return f"{a} and {b} cannot be told apart: {evidence}."


def _worse_run(comparison: Comparison) -> str:
    return comparison.b if comparison.better == comparison.a else comparison.a


def _describe_comparisons(
    names: Sequence[str], pairs: PairComparisons, comparisons: Comparisons, inputs: ReportInputs
) -> str:
    best, second = names[0], names[1]
    among = f", also as one of {len(comparisons):,} pairs" if len(comparisons) > 1 else ""
    ahead = any(_known_difference(pairs, best, run) < 0 for run in names[1:])
    side = ", or to the right of 0 how far it lies ahead when the two are compared" if ahead else ""
    parts = [f"A dot is how far a run lies behind {best}{side}.", f"Where its line misses 0, {DECIDED}{among}."]
    if len(names) > 2:
        parts.append("Two runs that share a letter are not told apart.")
        parts.append(_describe_top_pairs(names[:NEAR_TOP], pairs))
    top_pair = pairs[best, second]
    if top_pair.detectable is not None and top_pair.difference.value is not None:
        sample_phrase = "Labels such as these"
        if inputs.gold is None:
            sample_phrase = f"{format_count(top_pair.difference.n, 'query')} like these"
        digits = _difference_digits(top_pair.difference)
        parts.append(
            f"{sample_phrase} show a difference of {top_pair.detectable:.{digits}f} in 4 of 5 tests of one pair; "
            f"{best} and {second} lie {format_amount(abs(top_pair.difference.value), digits)} apart."
        )
    if len(names) > MAX_CHART_ROWS:
        parts.append(f"The first {MAX_CHART_ROWS} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


def _difference_digits(difference: Estimate) -> int:
    return difference.decimals + 1 if difference.se else 4


def _describe_top_pairs(names: Sequence[str], pairs: PairComparisons) -> str:
    """Which of the first few are told apart."""
    top_pairs = [pairs[a, b] for a, b in combinations(names, 2)]
    decisions = [f"{pair.better} over {_worse_run(pair)}" for pair in top_pairs if pair.better is not None]
    where = f"Of the {len(top_pairs)} pairs among the first {len(names)} runs"
    if not decisions:
        return f"{where} none is decided."
    return f"{where} {len(decisions)} {pick_form(decisions, 'is', 'are')} decided: {join_names(decisions)}."


def _comparison_notes(names: Sequence[str], pairs: PairComparisons, letters: Mapping[str, str]) -> list[Note]:
    notes, best, others = [], names[0], names[1:]
    significant_alone = [
        run
        for run in others
        if (comparison := pairs[best, run]).p_value is not None
        and not comparison.decided
        and comparison.p_value < round(1 - comparison.difference.level, 12)
    ]
    behind, ahead = (
        [run for run in significant_alone if sign * _known_difference(pairs, best, run) > 0] for sign in (1, -1)
    )
    if behind:
        text = f"looked at alone, the best would also be better than {join_names(behind)}; {BY_CHANCE}"
        notes.append(Note("better-if-alone", text))
    if ahead:
        text = f"looked at alone, {join_names(ahead)} would be better than {best}; {BY_CHANCE}"
        notes.append(Note("better-if-alone", text))
    if stronger := [run for run in others if _known_difference(pairs, best, run) < 0]:
        text = (
            f"the order is by the differences from all the other runs, and {best} is first by those; compared with it "
            f"alone, {join_names(stronger)} {pick_form(stronger, 'lies', 'lie')} ahead"
        )
        notes.append(Note("first-by-all-differences", text))
    if unknown := [run for run in others if pairs[best, run].p_value is None]:
        text = f"not compared with the best, and so not told apart from it: {join_names(unknown)}"
        notes.append(Note("not-compared", text))
    separated = [run for run in others if not set(letters[run]) & set(letters[best])]
    first = names.index(separated[0]) if separated else len(names)
    if any(run not in separated for run in names[first:]):
        text = (
            "a run further down may share a letter with the best where one above does not: its queries vary more, and "
            "it takes more to tell it apart"
        )
        notes.append(Note("shared-letter", text))
    return notes


def _contradiction_notes(names: Sequence[str], pairs: PairComparisons, inputs: ReportInputs) -> list[Note]:
    """Where differences and the values beside them do not say the same."""
    means, measure = estimate_run_means(inputs), inputs.measure
    if means is None:
        return []
    contradictions = find_contradicted_pairs(means, pairs, measure)
    if contradictions:
        a, b = min(contradictions, key=lambda pair: _known_difference(pairs, *pair))
        gap = format_amount(-_known_difference(pairs, a, b), _difference_digits(pairs[a, b].difference))
        example = f"{a} has the higher value, and yet lies {gap} behind {b}"
        disagreement = f"disagree about who is ahead for {format_count(len(contradictions), 'pair')} of runs"
        text = f"values and differences {disagreement}: {example}; {DIFFERENCE_DECIDES}"
        return [Note("order-contradicted", text)]
    difference, (first, second) = pairs[names[0], names[1]].difference, (means[run][measure].value for run in names[:2])
    digits = _difference_digits(difference)
    if first is None or second is None or difference.value is None:
        return []
    if abs(first - second - difference.value) < 0.5 * 10**-digits:
        return []
    shown_first, shown_second, gap = (format_number(value, digits) for value in (first, second, difference.value))
    example = f"{shown_first} − {shown_second} stands beside {gap}"
    text = f"a difference is not quite that of the two values ({example}); {DIFFERENCE_DECIDES}"
    return [Note("difference-estimated-jointly", text)]


def _comparison_table(
    inputs: ReportInputs, behind: Mapping[str, Estimate], pairs: PairComparisons, letters: Mapping[str, str]
) -> Grid:
    names, means = list(letters), estimate_run_means(inputs)
    best, level = names[0], behind[names[0]].level
    values = ["–"] * len(names)
    if means is not None:
        shown = drop_zero_width_intervals(means)
        values = format_estimates([shown[run][inputs.measure] for run in names])
    interval_phrase = describe_intervals([values], inputs.level).replace("; ", ", ")
    differences = {run: _comparison_cells(behind[run], pairs[run, best]) for run in names[1:]}
    rows = [
        [str(place), run, letters[run], value, *differences.get(run, ["–"] * 4)]
        for place, (run, value) in enumerate(zip(names, values, strict=True), start=1)
    ]
    corrected = ", corrected" if inputs.gold is not None else ""
    return Grid(
        columns=["", "run", "group", inputs.measure, "to the best", "interval", "p", "adjusted p"],
        rows=rows,
        left=3,
        caption=f"{inputs.measure}{corrected}{interval_phrase}; to the best: the "
        f"difference to {best}; interval: of level {level * 100:.6g}%, which misses 0 just where adjusted p is "
        f"below {1 - inputs.level:.3g}; p: of that pair alone; adjusted p: as one of all pairs",
    )


def _comparison_cells(difference: Estimate, comparison: Comparison) -> list[str]:
    if difference.value is None:
        return ["–"] * 4
    digits, low, high = _difference_digits(difference), difference.low, difference.high
    interval = "–"
    if low is not None and high is not None and low != high:
        interval = f"{format_signed(low, digits)} to {format_signed(high, digits)}"
    p_values = [
        "–" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"
        for p in (comparison.p_value, comparison.p_adjusted)
    ]
    return [format_signed(difference.value, digits), interval, *p_values]
