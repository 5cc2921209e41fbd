"""How good is each run? As the judgments have it, and corrected where there is gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import Measure
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_amount, format_count
from ringtrue.messages import Note
from ringtrue.report.inputs import (
    Means,
    ReportInputs,
    all_runs_phrase,
    compare_run_pairs,
    drop_zero_width_intervals,
    find_leaders,
    fit_strengths,
    order_runs,
    sort_runs_by_mean,
)
from ringtrue.report.model import MAX_CHART_ROWS, Forest, Section, SectionOutline, Series
from ringtrue.report.sections.number_phrases import format_number, join_names, pick_form
from ringtrue.stats.results import Estimate, collect_footnotes, describe_intervals, format_estimates
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.gold.correction.results import Bounds

OUTLINE = SectionOutline(
    name="levels",
    title="The runs",
    needs="runs and judgments",
    figures={"forest": "How good is each run, raw and corrected?"},
)
OUTSIDE_POSSIBLE = {"interval-outside-possible", "value-outside-possible"}
UNBOUNDED = ("DCG", "CG", "TP", "FP", "FN", "TN", "NumRet", "NumRel", "NumRelRet")


def section(inputs: ReportInputs) -> Section | None:
    """The value of each run, a chart for each measure."""
    if inputs.scores is None:
        return None
    correction = inputs.correction
    raw = inputs.scores.means(level=inputs.level) if correction is None else correction.raw
    corrected = None if correction is None else correction.corrected
    truth, truth_notes = _true_means(inputs)
    means_by_kind = {"raw": raw, "corrected": corrected, "truth": truth}
    kinds = {kind: drop_zero_width_intervals(means) for kind, means in means_by_kind.items() if means is not None}
    names = order_runs(inputs)
    charts = tuple(_score_forest(kinds, names[:MAX_CHART_ROWS], str(measure)) for measure in inputs.measures)
    figure = OUTLINE.figure(
        "forest",
        _describe_scores(kinds, names, inputs),
        _score_table(kinds, names, inputs),
        *charts,
        notes=(*_value_notes(inputs, raw), *truth_notes),
    )
    notes: tuple[Note, ...] = inputs.scores.notes
    if correction is not None:
        notes = (*correction.methods.values(), *correction.notes)
    return OUTLINE.section(best_run_sentence(kinds, inputs), figure, notes=notes)


def _value_notes(inputs: ReportInputs, raw: Means) -> Sequence[Note]:
    """What speaks against single values, and against the gold labels."""
    from ringtrue.gold.correction.diagnostics import failed_checks
    from ringtrue.gold.correction.results import correction_footnotes

    if inputs.correction is None:
        return collect_footnotes(raw)
    return [*_bounds_notes(inputs), *correction_footnotes(inputs.correction), *failed_checks(inputs.correction.checks)]


def _bounds_notes(inputs: ReportInputs) -> list[Note]:
    """The bounds of the best run that has some, one sentence for each measure; those of others are in the table."""
    notes = []
    for measure in map(str, inputs.measures):
        bounds = _bounds_by_run(inputs, measure)
        if not bounds:
            continue
        first = next(run for run in order_runs(inputs) if run in bounds)
        text = (
            f"{measure} of {first} is {bounds[first]} with lost labels and documents out of the sample's reach at "
            f"worst and at best"
        )
        others = len(bounds) - 1
        elsewhere = f"; the table has the bounds of {format_count(others, 'other run')}" if others else ""
        notes.append(Note("bounded-value", f"{text}{elsewhere}"))
    return notes


def _bounds_by_run(inputs: ReportInputs, measure: str) -> dict[str, Bounds]:
    if inputs.correction is None:
        return {}
    return {run: row[measure] for run, row in inputs.correction.bounds.items() if measure in row}


def _true_means(inputs: ReportInputs) -> tuple[Means | None, list[Note]]:
    """What the true labels say of the same queries; or why they say nothing of them."""
    if inputs.truth is None or inputs.scores is None:
        return None, []
    measured, with_truth = inputs.scores.frame["query"].unique(), inputs.truth.frame["query"].unique()
    covered = measured.is_in(with_truth.implode()).sum()
    if covered < len(measured):
        coverage = f"{covered:,} of the {len(measured):,} queries" if covered else "none of the queries"
        left_out = f"truth is left out: it has labels for {coverage} that the runs are measured by"
        text = f"{left_out}, and a mean over other queries cannot stand beside theirs"
        return None, [Note("truth-left-out", text)]
    labels = Judgments(inputs.truth.frame.filter(pl.col("query").is_in(measured.implode())))
    return evaluate(inputs.runs, labels, inputs.measures, **inputs.evaluation_options).means(level=inputs.level), []


def _score_forest(kinds: Mapping[str, Means], names: tuple[str, ...], measure: str) -> Forest:
    series = (Series(name=kind, values=tuple(means[run][measure] for run in names)) for kind, means in kinds.items())
    return Forest(names=names, across=measure, series=tuple(series))


def _describe_scores(kinds: Mapping[str, Means], names: tuple[str, ...], inputs: ReportInputs) -> str:
    if "corrected" in kinds:
        description = _describe_raw_and_corrected(kinds, names, inputs)
    else:
        description = _describe_raw(kinds["raw"], inputs)
    if len(names) <= MAX_CHART_ROWS:
        return description
    return f"{description} The first {MAX_CHART_ROWS} of {len(names)} runs are drawn; the table has all."


def _describe_raw(raw: Means, inputs: ReportInputs) -> str:
    means = {run: row[inputs.measure] for run, row in raw.items()}
    halves = [
        (estimate.high - estimate.low) / 2
        for estimate in means.values()
        if estimate.low is not None and estimate.high is not None
    ]
    if not halves:
        return "A dot is a run's mean over the queries."
    legend = (
        f"A dot is a run's mean over the queries; the line is its {inputs.level:.0%} interval, for queries like "
        f"these and labels that are right."
    )
    names = sort_runs_by_mean(raw, inputs.measure)
    high, low = (means[run].value for run in (names[0], names[-1]))
    if high is None or low is None or high == low:
        return legend
    return (
        f"{legend} {inputs.measure} reaches from {low:.3f} ({names[-1]}) to {high:.3f} ({names[0]}); half of an "
        f"interval is {median(halves):.3f} as a rule. Lines that overlap do not say that two runs are alike: queries "
        f"that are hard for one are hard for the other, and only a comparison takes that out."
    )


def _describe_raw_and_corrected(kinds: Mapping[str, Means], names: tuple[str, ...], inputs: ReportInputs) -> str:
    measure, correction = inputs.measure, inputs.correction
    outside = [run for run in names if _lies_outside(kinds["corrected"][run][measure], kinds["raw"][run][measure])]
    meaning = "knows both how queries vary and how the judge errs"
    if correction is not None and correction.population == "these":
        meaning = "is about these queries and knows how the judge errs"
    values, verb = pick_form(outside, "value", "values"), pick_form(outside, "lies", "lie")
    worth = None if correction is None else correction.bronze_worth.get(measure)
    worth_text = "" if worth is None else f" By {measure}, {worth}."
    return (
        f"Raw is what the judgments say; corrected is what gold would say of all of them, with a {inputs.level:.0%} "
        f"interval that {meaning}. By {measure} the raw {values} of {format_count(len(outside), 'run')} of "
        f"{len(names)} {verb} outside of it.{worth_text}"
    )


def _lies_outside(interval: Estimate, estimate: Estimate) -> bool:
    if interval.low is None or interval.high is None or estimate.value is None:
        return False
    return not interval.low <= estimate.value <= interval.high


def _score_table(kinds: Mapping[str, Means], names: tuple[str, ...], inputs: ReportInputs) -> Grid:
    columns, cells = [], []
    for measure in map(str, inputs.measures):
        for kind, means in kinds.items():
            columns.append(f"{measure} {kind}" if len(kinds) > 1 else measure)
            cells.append(format_estimates([means[run][measure] for run in names]))
        if bounds := _bounds_by_run(inputs, measure):
            columns.append(f"{measure} bounds")
            cells.append([str(bounds.get(run, "–")) for run in names])
    means = kinds["corrected" if "corrected" in kinds else "raw"]
    by_value = names == sort_runs_by_mean({run: means[run] for run in names}, inputs.measure)
    sorted_so = "" if by_value else "; the best first by their differences from each other"
    return Grid(
        columns=["run", *columns],
        rows=[[run, *row] for run, *row in zip(names, *cells, strict=True)],
        caption=f"mean over queries{describe_intervals(cells, inputs.level)}{sorted_so}",
    )


def best_run_sentence(kinds: Mapping[str, Means], inputs: ReportInputs) -> str:
    """The best run by each kind of value; where several have the same, all of them."""
    measure, kind = inputs.measure, "corrected" if "corrected" in kinds else "raw"
    names = order_runs(inputs)
    if len(names) == 1:
        return f"By {measure}, {names[0]} has {_describe_single_run(kinds, names[0], inputs.measures[0])}."
    first = find_leaders(fit_strengths(inputs)) or names[:1]
    by_labels = first if kind == "raw" else _runs_with_highest_mean(kinds["raw"], measure)
    parts = [_describe_best_run(kinds, first, by_labels, inputs), *_describe_higher_mean(kinds[kind], first[0], inputs)]
    if "truth" in kinds:
        truly_best = _runs_with_highest_mean(kinds["truth"], measure)
        value = _shared_value(kinds["truth"], truly_best, measure)
        parts.append(f"In truth the best {pick_form(truly_best, 'is', 'are')} {join_names(truly_best)} ({value}).")
    return " ".join(parts)


def why_impossible(estimate: Estimate, measure: Measure) -> str | None:
    """Where a corrected value lies, if no list can have it.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> why_impossible(Estimate(value=1.4, n=9, method="confusion"), parse("P@10"))
        'above 1, where no score can be'
        >>> why_impossible(Estimate(value=1.4, n=9, method="confusion"), parse("DCG@10"))
    """
    parameters = dict(measure.parameters)
    if estimate.value is None or parameters.get("gains") is not None:
        return None
    if estimate.value < 0:
        return "below 0, where no score can be"
    if estimate.value > 1 and measure.name not in UNBOUNDED:
        return "above 1, where no score can be"
    if OUTSIDE_POSSIBLE & {note.code for note in estimate.notes}:
        return "beyond what a list could be worth"
    return None


def _describe_best_run(
    kinds: Mapping[str, Means], first: Sequence[str], by_labels: Sequence[str], inputs: ReportInputs
) -> str:
    measure, raw, is_or_are = inputs.measure, kinds["raw"], pick_form(first, "is", "are")
    all_level = len(first) == len(raw)
    if "corrected" not in kinds:
        value = _shared_value(raw, first, measure)
        if all_level:
            return f"By {measure} {all_runs_phrase(first)} have the same value ({value})."
        return f"By {measure} the best of {format_count(len(raw), 'run')} {is_or_are} {join_names(first)} ({value})."
    beyond = why_impossible(kinds["corrected"][first[0]][measure], inputs.measures[0])
    value = "" if beyond else _shared_value(kinds["corrected"], first, measure)
    raw_value = _shared_value(raw, by_labels, measure)
    if all_level and len(by_labels) == len(raw):
        corrected = f"corrected {value}" if value else f"and corrected one that lies {beyond}"
        return f"By {measure} {all_runs_phrase(first)} have the same value: raw {raw_value}, {corrected}."
    if first[0] in by_labels:
        sentence = f"By {measure} the best {is_or_are} {join_names(first)}"
        if value:
            return f"{sentence} ({value}), by the raw labels and corrected."
        sentence += f", by the raw labels ({raw_value}) and corrected"
    else:
        best = f"{pick_form(first, 'it is', 'they are')} {join_names(first)}"
        sentence = f"By {measure} the raw labels call {join_names(by_labels)} ({raw_value}) the best; corrected, {best}"
        if value:
            return f"{sentence} ({value})."
    return f"{sentence}. No corrected value is told here: it lies {beyond}."


def _describe_higher_mean(means: Means, first: str, inputs: ReportInputs) -> list[str]:
    """A run with a higher value than the one that is first by the differences."""
    measure, pairs = inputs.measure, compare_run_pairs(inputs)
    first_mean, highest = means[first][measure].value, _runs_with_highest_mean(means, measure)
    beyond = why_impossible(means[first][measure], inputs.measures[0])
    if first_mean is None or beyond or not highest or first in highest or (highest[0], first) not in pairs:
        return []
    difference = pairs[highest[0], first].difference
    if difference.value is None:
        return []
    clause = f"{highest[0]} has a higher {'corrected value' if inputs.gold is not None else 'mean'}"
    if difference.value >= 0:
        return [f"{clause}; {first} is first by its differences from all the other runs."]
    behind = f"it lies {format_amount(-difference.value, difference.decimals + 1)} behind"
    return [f"{clause}, but compared with {first}, {behind}, and a comparison knows more."]


def _describe_single_run(kinds: Mapping[str, Means], run: str, measure: Measure) -> str:
    phrases = []
    for kind, means in kinds.items():
        estimate = means[run][str(measure)]
        beyond = why_impossible(estimate, measure) if kind == "corrected" else None
        phrases.append(f"{kind} {_value_with_interval(estimate) if beyond is None else f'a value that lies {beyond}'}")
    return ", ".join(phrases) if len(kinds) > 1 else phrases[0].removeprefix("raw ")


def _runs_with_highest_mean(means: Means, measure: str) -> tuple[str, ...]:
    return find_leaders({run: row[measure].value for run, row in means.items()})


def _shared_value(means: Means, runs: Sequence[str], measure: str) -> str:
    """The value that these runs share."""
    return _value_with_interval(means[runs[0]][measure]) if runs else "–"


def _value_with_interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return str(estimate)
    value, low, high = (
        format_number(number, estimate.decimals) for number in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value}, {estimate.level:.0%} interval {low} to {high}"
