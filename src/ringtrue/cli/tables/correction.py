"""Corrected measures as tables: what bronze says, what gold would say, and what the gold labels say alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ringtrue.cli.spelling import CommandLine
from ringtrue.cli.tables.comparisons import (
    CSV_COLUMNS,
    comparison_csv_row,
    difference_cells,
    join_ranges,
    mark_better,
    p_cell,
)
from ringtrue.evaluation.measures import parse
from ringtrue.formatting.grid import Grid, exact_cells, format_interval, format_number, format_signed
from ringtrue.formatting.phrases import format_lead
from ringtrue.gold.correction.compare_corrected import CHANGED_VERDICTS
from ringtrue.gold.correction.possible_values import possible_differences, possible_values
from ringtrue.gold.designs import POPULATION_TEXTS
from ringtrue.messages import Note, spell, spell_all
from ringtrue.stats.results import (
    EXACT_FIELDS,
    Comparison,
    Comparisons,
    Estimate,
    collect_footnotes,
    exact_estimate,
    format_estimates,
)

if TYPE_CHECKING:
    from ringtrue.gold.correction import Correction
    from ringtrue.gold.designs import Population

FEW_PAIRS = 10  # of one measure: more are shown run by run
FEW_SENTENCES = 4
BOUNDS_LEGEND = (
    "bounds: the interval with lost labels and documents out of the sample's reach at the worst and best label seen"
)
NAIVE_COLUMNS = ("naive_difference", "naive_p")
GOLD_COUNT_COLUMNS = {
    "difference": ("gold labels", "gold labels: on documents that the two do not share"),
    "difference, whole queries": ("gold queries", "gold queries: that gold judged"),
    "gold only": ("gold labels", "gold labels: on documents that the two do not share"),
    "gold only, whole queries": ("gold queries", "gold queries: that gold judged"),
}


def correction_grids(correction: Correction) -> list[Grid]:
    """A table for each measure, and one with the checks if any were made."""
    return [
        *(_measure_grid(correction, name) for name in correction.methods),
        *([_check_grid(correction)] if correction.checks else []),
    ]


def _measure_grid(correction: Correction, name: str) -> Grid:
    estimates = {run: row[name] for run, row in correction.corrected.items()}
    best_first = sorted(estimates, key=lambda run: (estimates[run].value is None, -(estimates[run].value or 0)))
    corrected = [estimates[run] for run in best_first]
    level = f"{corrected[0].level * 100:g}% interval"
    digits = max([estimate.decimals + 1 for estimate in corrected if estimate.se], default=3)
    columns = {
        "bronze says": [format_number(correction.raw[run][name].value, 4) for run in best_first],
        "corrected": [format_number(estimate.value, digits) for estimate in corrected],
        level: [format_interval(estimate.low, estimate.high, digits) for estimate in corrected],
    }
    if correction.gold_only:
        columns["gold alone"] = format_estimates([correction.gold_only[run][name] for run in best_first])
        count_column = "gold queries" if correction.design == "whole_queries" else "gold labels"
        columns[count_column] = [str(estimate.n) for estimate in corrected]
    run_bounds = {run: row[name] for run, row in correction.bounds.items() if name in row}
    if run_bounds:
        columns["bounds"] = [
            format_interval(run_bounds[run].low, run_bounds[run].high, digits) if run in run_bounds else "–"
            for run in best_first
        ]
    caption = [
        *([str(correction.bronze_worth[name])] if name in correction.bronze_worth else []),
        correction.methods[name],
        f"the interval is for {_population_text(corrected[0], correction.population)}",
        *_bounds_legend({name: [(bounds.low, bounds.high) for bounds in run_bounds.values()]}),
    ]
    return Grid(
        columns=["run", *columns],
        rows=[[run, *row] for run, row in zip(best_first, zip(*columns.values(), strict=True), strict=True)],
        caption="\n".join(caption),
    )


def _bounds_legend(
    bounds_by_measure: Mapping[str, Sequence[tuple[float, float]]], *, difference: bool = False
) -> list[str]:
    """What bounds are, and where an end of them is the least or the most that there can be."""
    cut_texts = []
    for name, bounds in bounds_by_measure.items():
        lowest, highest = (possible_differences if difference else possible_values)(parse(name))
        ends = [f"{end:g}".replace("-", "−") for end in (lowest, highest) if any(end in pair for pair in bounds)]
        if ends:
            subject = f"a difference of {name}" if difference else name
            cut_texts.append(f"cut at {' and at '.join(ends)}, as {subject} cannot be beyond")
    if not any(bounds_by_measure.values()):
        return []
    return ["; ".join([BOUNDS_LEGEND, *cut_texts])]


def _population_text(estimate: Estimate, population: Population) -> str:
    """What the interval is about: rates from elsewhere allow one for queries like these only."""
    return POPULATION_TEXTS[population if estimate.method.startswith(("difference", "gold only")) else "like-these"]


def _check_grid(correction: Correction) -> Grid:
    """What was looked at, and below it what follows where something gives reason to doubt."""
    rows, caption = [], [_judge_accuracy_line(correction)]
    for check in correction.checks:
        rows.append(
            [
                "ok" if check.passed else "look",
                check.name,
                check.finding,
                "–" if check.p_value is None else f"{check.p_value:.2g}",
            ]
        )
        if check.warning is not None:
            subject = "accuracy that differs" if check.warning.code == "accuracy-differs" else check.name
            caption.append(spell(check.warning.about(subject), CommandLine.here()))
    return Grid(
        columns=["", "check", "found", "p"], rows=rows, caption="\n".join(dict.fromkeys(filter(None, caption))), left=3
    )


def _judge_accuracy_line(correction: Correction) -> str:
    judge = correction.judge
    if "relevant" not in judge:
        return ""
    rate_texts = []
    for kind, name in (("relevant", "relevant"), ("nonrelevant", "other")):
        rate = judge[kind]
        if isinstance(rate, dict) and rate["value"] is not None:
            rate_texts.append(f"{rate['value']:.0%} of {name} documents ({rate['low']:.0%} to {rate['high']:.0%})")
    return f"bronze is right on {' and '.join(rate_texts)}" if rate_texts else ""


def correction_csv(correction: Correction) -> Grid:
    """Every estimate with every digit."""
    tables = {"raw": correction.raw, "corrected": correction.corrected, "gold_only": correction.gold_only}
    rows = [
        [run, name, kind, *exact_estimate(estimate)]
        for kind, table in tables.items()
        for run, row in table.items()
        for name, estimate in row.items()
    ]
    return Grid(columns=["run", "measure", "estimate", *EXACT_FIELDS], rows=rows)


def corrected_comparison_grid(comparisons: Comparisons, layout: str | None, population: Population) -> Grid:
    """The comparisons pair by pair, or where every run is compared with many, by run the ones that each beats."""
    n_measures = len({comparison.measure for comparison in comparisons})
    n_runs = len({run for comparison in comparisons for run in (comparison.a, comparison.b)})
    has_every_pair = len(comparisons) == n_measures * n_runs * (n_runs - 1) // 2
    if layout == "runs" or (layout is None and has_every_pair and len(comparisons) > FEW_PAIRS * n_measures):
        return _run_rows_grid(comparisons, population)
    count_column, has_marks = (
        GOLD_COUNT_COLUMNS.get(comparisons[0].difference.method),
        any(map(_mark_if_defined, comparisons)),
    )
    bounds_by_measure: dict[str, list[tuple[float, float]]] = {}
    for comparison in comparisons:
        if comparison.bounds is not None:
            bounds_by_measure.setdefault(comparison.measure, []).append(comparison.bounds)
    has_bounds = bool(bounds_by_measure)
    rows = [
        [
            comparison.measure,
            comparison.a,
            comparison.b,
            *_naive_cells(comparison),
            *difference_cells(comparison),
            p_cell(comparison.p_value),
            p_cell(comparison.p_adjusted),
            *([_mark_if_defined(comparison)] if has_marks else []),
            *([str(comparison.difference.n)] if count_column else []),
            *([_bounds_cell(comparison)] if has_bounds else []),
        ]
        for comparison in comparisons
    ]
    columns = [
        "measure",
        "a",
        "b",
        "bronze a − b",
        "bronze p",
        "corrected a − b",
        f"{comparisons.level * 100:g}% interval",
        "p",
        "adjusted",
        *([""] if has_marks else []),
        *([count_column[0]] if count_column else []),
        *(["bounds"] if has_bounds else []),
    ]
    legend = [f"▲ a is better, ▼ a is worse: adjusted p < {1 - comparisons.level:.3g}; no mark: not decided"]
    caption_lines = [
        *_corrected_basis_lines(comparisons, population),
        *(legend if has_marks else []),
        *([count_column[1]] if count_column else []),
        *_bounds_legend(bounds_by_measure, difference=True),
        *_corrected_sentences(comparisons),
    ]
    return Grid(columns=columns, rows=rows, caption="\n".join(caption_lines), left=3)


def _bounds_cell(comparison: Comparison) -> str:
    if comparison.bounds is None:
        return "–"
    digits = comparison.difference.decimals + 1
    return f"{format_signed(comparison.bounds[0], digits)} to {format_signed(comparison.bounds[1], digits)}"


def _naive_cells(comparison: Comparison) -> list[str]:
    naive = comparison.naive or comparison
    difference = naive.difference.value
    return ["–" if difference is None else format_signed(difference, 4), p_cell(naive.p_value)]


def _mark_if_defined(comparison: Comparison) -> str:
    return "" if comparison.difference.value is None else mark_better(comparison)


def _corrected_basis_lines(comparisons: Comparisons, population: Population) -> list[str]:
    codes = [note.code for comparison in comparisons for note in comparison.notes]
    n_changed = sum(code in CHANGED_VERDICTS for code in codes)
    changed_lines = [f"{n_changed:,} of {len(comparisons):,} verdicts change by correction"] if n_changed else []
    n_unsafe = codes.count("verdict-not-safe")
    changed_lines += [f"{n_unsafe:,} could be undone by what is not known, as lost labels"] if n_unsafe else []
    return [
        (
            f"a − b: as gold would have it, for {_population_text(comparisons[0].difference, population)}; "
            "interval for one pair alone"
        ),
        f"p: {comparisons.test}; adjusted: {comparisons.family}",
        *changed_lines,
    ]


def _corrected_sentences(comparisons: Comparisons) -> list[str]:
    """The answer in words where there are few; what is to be said of every pair is said first, once."""
    if len(comparisons) > FEW_SENTENCES:
        return [*_undecided_lines(comparisons), *_withheld_lines(comparisons)]
    common_notes = [
        note
        for note in comparisons[0].notes
        if len(comparisons) > 1 and all(note in comparison.notes for comparison in comparisons)
    ]
    return [
        "",
        *spell_all(common_notes, CommandLine.here()),
        *(line for comparison in comparisons for line in _corrected_sentence(comparison, common_notes)),
    ]


def _undecided_lines(comparisons: Comparisons) -> list[str]:
    n_undecided = sum(comparison.better is None for comparison in comparisons)
    return [f"not decided: {n_undecided:,} of {len(comparisons):,} comparisons"] if n_undecided else []


def _withheld_lines(comparisons: Comparisons) -> list[str]:
    """Why pairs have no value, each reason once."""
    withheld: dict[str, dict[str, Estimate]] = {}
    for comparison in comparisons:
        if comparison.difference.value is None:
            withheld.setdefault(f"{comparison.a} − {comparison.b}", {})[comparison.measure] = comparison.difference
    return [spell(note, CommandLine.here()) for note in collect_footnotes(withheld)]


def _corrected_sentence(comparison: Comparison, common_notes: Sequence[Note]) -> list[str]:
    """Who is better, or why that cannot be told; the notes below it."""
    notes = [note for note in comparison.notes if note not in common_notes]
    d = comparison.difference
    if comparison.better is None:
        reasons = [note for note in notes if note.code == "not-decided"]
        if d.value is None:
            reasons = notes
        reason = spell(reasons[0], CommandLine.here()) if reasons else "not decided"
        verdict = f"{comparison.a} or {comparison.b}? {reason}"
        notes = [note for note in notes if note not in reasons[:1]]
    else:
        verdict = (
            f"{comparison.better} is better than {comparison.b if comparison.better == comparison.a else comparison.a}"
        )
        if d.low is not None and d.high is not None and d.low * d.high > 0:
            verdict += f", {format_lead(d.low, d.high, d.decimals + 1)}"
    return [f"{comparison.measure}: {verdict}", *(f"  {note}" for note in spell_all(notes, CommandLine.here()))]


def _run_rows_grid(comparisons: Comparisons, population: Population) -> Grid:
    """The runs, best first by their corrected differences from the others, and by number those that each beats."""
    measures = list(dict.fromkeys(comparison.measure for comparison in comparisons))
    leads: dict[str, list[float]] = {}
    for comparison in comparisons:
        for run, sign in ((comparison.a, 1), (comparison.b, -1)):
            leads.setdefault(run, [])
            if comparison.measure == measures[0] and comparison.difference.value is not None:
                leads[run].append(sign * comparison.difference.value)
    # Rounded, so that runs that are alike keep the order in which they were given.
    best_first = sorted(leads, key=lambda run: -round(sum(leads[run]) / max(len(leads[run]), 1), 9))
    number = {run: rank for rank, run in enumerate(best_first, start=1)}
    beats: dict[tuple[str, str, bool], list[int]] = {}
    for comparison in comparisons:
        if comparison.better is not None:
            worse = comparison.b if comparison.better == comparison.a else comparison.a
            beats.setdefault((comparison.measure, comparison.better, True), []).append(number[worse])
            beats.setdefault((comparison.measure, worse, False), []).append(number[comparison.better])
    sides = {"better than": True, "worse than": False}
    headings = [(measure, side) for measure in measures for side in sides]
    rows = [
        [
            str(number[run]),
            run,
            *(join_ranges(sorted(beats.get((measure, run, sides[side]), []))) for measure, side in headings),
        ]
        for run in best_first
    ]
    has_several = len(measures) > 1
    caption = [
        f"better and worse: by number in this table, adjusted p < {1 - comparisons.level:.3g}",
        f"best first by {measures[0]}: mean corrected difference from the others; --layout pairs shows each",
        *_corrected_basis_lines(comparisons, population),
        *_undecided_lines(comparisons),
        *_withheld_lines(comparisons),
    ]
    return Grid(
        columns=["nr", "run", *(f"{side} ({measure})" if has_several else side for measure, side in headings)],
        rows=rows,
        caption="\n".join(caption),
        left=2,
    )


def corrected_comparisons_csv(comparisons: Comparisons) -> Grid:
    """Every comparison with every digit, and the one by bronze beside it."""
    rows = []
    for comparison in comparisons:
        naive = comparison.naive or comparison
        rows.append([*comparison_csv_row(comparison), *exact_cells((naive.difference.value, naive.p_value))])
    return Grid(columns=[*CSV_COLUMNS, *NAIVE_COLUMNS], rows=rows)
