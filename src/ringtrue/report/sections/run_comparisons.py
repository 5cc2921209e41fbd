"""Which runs can be told apart? All pairs at once, and letters for those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringtrue.evaluation.significance import assign_letters, find_homogeneous_groups
from ringtrue.formatting.grid import Grid, format_signed
from ringtrue.formatting.phrases import format_count
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import (
    EQUAL_DIGITS,
    PairComparisons,
    all_runs_phrase,
    compare_run_pairs,
    drop_zero_width_intervals,
    estimate_run_means,
    find_contradicted_pairs,
    find_leaders,
    fit_strengths,
    order_runs,
)
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    format_estimate,
    format_number,
    format_p_value,
    join_names,
)
from ringtrue.stats.estimate_cells import describe_intervals, format_estimates
from ringtrue.stats.results import Comparison, Comparisons, Estimate

TITLE = "Which runs can be told apart?"
NEEDS = "two runs or more, and judgments"
FIGURES = {"ranking": "Which runs can be told from the best, and from each other?"}
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
    figure = Figure(
        name="ranking",
        title=FIGURES["ranking"],
        sentence=_describe_comparisons(names, pairs, comparisons, inputs),
        charts=(chart,),
        table=_comparison_table(inputs, behind, pairs, letters),
        notes=(*_comparison_notes(names, pairs, letters), *_contradiction_notes(names, pairs, inputs)),
    )
    leading = find_leaders(fit_strengths(inputs))
    return Section(
        name="ranking",
        title=TITLE,
        answer=_summarise_comparisons(names, leading, pairs, comparisons),
        figures=(figure,),
        notes=(f"p: {comparisons.test}; adjusted: {comparisons.family}", *comparisons.notes),
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
    from ringtrue.evaluation.significance import compare
    from ringtrue.gold.correction import compare_corrected
    from ringtrue.tables import Scores

    level = holm_interval_level(comparisons)
    settings: dict[str, Any] = {"baselines": best, "adjust": "none", "level": level, "rng": inputs.rng("comparisons")}
    if inputs.gold is None:
        assert inputs.scores is not None
        against = compare(Scores(inputs.scores.frame.filter(measure=inputs.measure)), **settings)
    else:
        against = compare_corrected(
            inputs.runs, inputs.judgments, inputs.gold, inputs.measures[0], **settings, **inputs.correction_options
        )
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
    undecided = [run for run in others if pairs[best, run].better is None]
    if beaten == len(others):
        return f"{best} is better than each of the other {beaten} runs."
    if len(leading) > 1:
        opening, pronoun = f"{join_names(leading)} are first, with the same value", best
        undecided = [run for run in undecided if run not in leading]
    else:
        opening, pronoun = f"{best} is first", "it"
    beats = f"better than {beaten} of the others"
    parts = [
        opening if not beaten else f"{opening} and {beats}" if len(leading) == 1 else f"{opening}; {best} is {beats}",
        *([f"{join_names(undecided)} cannot be told from {pronoun}"] if undecided else []),
        *(
            [f"{join_names(ahead)}, compared with {pronoun} alone, {'is' if len(ahead) == 1 else 'are'} better"]
            if ahead
            else []
        ),
    ]
    decided = sum(comparison.decided for comparison in comparisons)
    decided_phrase = "none is" if not decided else "1 is" if decided == 1 else f"{decided:,} are"
    return f"{'; '.join(parts)}. Of {len(comparisons):,} pairs of runs, {decided_phrase} told apart."


def _summarise_pair(comparison: Comparison) -> str:
    if comparison.difference.value is None or comparison.p_adjusted is None:
        return f"{comparison.a} and {comparison.b} cannot be compared: {'; '.join(comparison.notes)}."
    evidence = (
        f"{comparison.a} − {comparison.b} is "
        f"{format_estimate(comparison.difference, _difference_digits(comparison))}, "
        f"{format_p_value(comparison.p_adjusted)}"
    )
    if comparison.better is not None:
        return (
            f"{comparison.better} is better than "
            f"{comparison.b if comparison.better == comparison.a else comparison.a}: {evidence}."
        )
    if round(comparison.difference.value, EQUAL_DIGITS) == 0:
        return f"{comparison.a} and {comparison.b} have the same value, and cannot be told apart."
    return f"{comparison.a} and {comparison.b} cannot be told apart: {evidence}."


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
        sample_phrase = (
            "Labels such as these"
            if inputs.gold is not None
            else format_count(top_pair.difference.n, "query") + " like these"
        )
        digits = _difference_digits(top_pair)
        parts.append(
            f"{sample_phrase} show a difference of {top_pair.detectable:.{digits}f} in 4 of 5 tests of one pair; "
            f"{best} and {second} lie {format_number(abs(top_pair.difference.value), digits)} apart."
        )
    if len(names) > MAX_CHART_ROWS:
        parts.append(f"The first {MAX_CHART_ROWS} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


def _difference_digits(comparison: Comparison) -> int:
    return comparison.difference.decimals + 1 if comparison.difference.se else 4


def _describe_top_pairs(names: Sequence[str], pairs: PairComparisons) -> str:
    """Which of the first few are told apart."""
    top_pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    winners = [(comparison.better, comparison) for a, b in top_pairs if (comparison := pairs[a, b]).better is not None]
    decisions = [
        f"{better} over {comparison.b if better == comparison.a else comparison.a}" for better, comparison in winners
    ]
    where = f"Of the {len(top_pairs)} pairs among the first {len(names)} runs"
    if not decisions:
        return f"{where} none is decided."
    return f"{where} {len(decisions)} {'is' if len(decisions) == 1 else 'are'} decided: {join_names(decisions)}."


def _comparison_notes(names: Sequence[str], pairs: PairComparisons, letters: Mapping[str, str]) -> tuple[str, ...]:
    notes, best = [], names[0]
    significant_alone = [
        run
        for run in names[1:]
        if (comparison := pairs[best, run]).p_value is not None
        and not comparison.decided
        and comparison.p_value < round(1 - comparison.difference.level, 12)
    ]
    behind, ahead = (
        [run for run in significant_alone if sign * _known_difference(pairs, best, run) > 0] for sign in (1, -1)
    )
    if behind:
        notes.append(f"looked at alone, the best would also be better than {join_names(behind)}; {BY_CHANCE}")
    if ahead:
        notes.append(f"looked at alone, {join_names(ahead)} would be better than {best}; {BY_CHANCE}")
    stronger = [run for run in names[1:] if _known_difference(pairs, best, run) < 0]
    if stronger:
        notes.append(
            f"the order is by the differences from all the other runs, and {best} is first by those; compared with it "
            f"alone, {join_names(stronger)} {'lies' if len(stronger) == 1 else 'lie'} ahead"
        )
    unknown = [run for run in names[1:] if pairs[names[0], run].p_value is None]
    if unknown:
        notes.append(f"not compared with the best, and so not told apart from it: {join_names(unknown)}")
    separated = [run for run in names[1:] if not set(letters[run]) & set(letters[names[0]])]
    first = names.index(separated[0]) if separated else len(names)
    if any(run not in separated for run in names[first:]):
        notes.append(
            "a run further down may share a letter with the best where one above does not: its queries vary more, and "
            "it takes more to tell it apart"
        )
    return tuple(notes)


def _contradiction_notes(names: Sequence[str], pairs: PairComparisons, inputs: ReportInputs) -> list[str]:
    """Where differences and the values beside them do not say the same."""
    means, measure = estimate_run_means(inputs), inputs.measure
    if means is None:
        return []
    contradictions = find_contradicted_pairs(means, pairs, measure)
    if contradictions:
        a, b = min(contradictions, key=lambda pair: _known_difference(pairs, *pair))
        comparison = pairs[a, b]
        pair_count = "1 pair" if len(contradictions) == 1 else f"{len(contradictions):,} pairs"
        example = (
            f"{a} has the higher value, and yet lies "
            f"{format_number(-_known_difference(pairs, a, b), _difference_digits(comparison))} behind {b}"
        )
        return [
            (
                f"values and differences disagree about who is ahead for {pair_count} of runs: {example}; "
                f"{DIFFERENCE_DECIDES}"
            )
        ]
    comparison, (first, second) = pairs[names[0], names[1]], (means[run][measure].value for run in names[:2])
    gap, digits = comparison.difference.value, _difference_digits(comparison)
    if first is None or second is None or gap is None or abs(first - second - gap) < 0.5 * 10**-digits:
        return []
    example = (
        f"{format_number(first, digits)} − {format_number(second, digits)} stands beside {format_number(gap, digits)}"
    )
    return [f"a difference is not quite that of the two values ({example}); {DIFFERENCE_DECIDES}"]


def _comparison_table(
    inputs: ReportInputs, behind: Mapping[str, Estimate], pairs: PairComparisons, letters: Mapping[str, str]
) -> Grid:
    names, means = list(letters), estimate_run_means(inputs)
    best, level = names[0], behind[names[0]].level
    shown = None if means is None else drop_zero_width_intervals(means)
    levels = ["–"] * len(names) if shown is None else format_estimates([shown[run][inputs.measure] for run in names])
    interval_phrase = describe_intervals([levels], inputs.level).replace("; ", ", ")
    rows = [
        [
            str(place),
            run,
            letters[run],
            value,
            *(["–"] * 4 if run == best else _comparison_cells(behind[run], pairs[run, best])),
        ]
        for place, (run, value) in enumerate(zip(names, levels, strict=True), start=1)
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
    digits = difference.decimals + 1 if difference.se else 4
    low, high = difference.low, difference.high
    interval = (
        "–"
        if low is None or high is None or low == high
        else f"{format_signed(low, digits)} to {format_signed(high, digits)}"
    )
    p_values = [
        "–" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"
        for p in (comparison.p_value, comparison.p_adjusted)
    ]
    return [format_signed(difference.value, digits), interval, *p_values]
