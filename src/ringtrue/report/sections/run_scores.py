"""How good is each run? As the judgments have it, and corrected where there is gold."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import polars as pl

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import Means, drop_zero_width_intervals, order_runs, sort_runs_by_mean
from ringtrue.report.sections.best_run import best_run_sentence
from ringtrue.stats.estimate_cells import collect_footnotes, describe_intervals, format_estimates
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

TITLE = "The runs"
NEEDS = "runs and judgments"
FIGURES = {"forest": "How good is each run, raw and corrected?"}


def section(inputs: ReportInputs) -> Section | None:
    """The value of each run, a chart for each measure."""
    if inputs.scores is None:
        return None
    correction = inputs.correction
    raw = inputs.scores.means(level=inputs.level) if correction is None else correction.raw
    kinds: dict[str, Means] = {"raw": raw} if correction is None else {"raw": raw, "corrected": correction.corrected}
    truth, truth_notes = _true_means(inputs)
    if truth is not None:
        kinds["truth"] = truth
    kinds = {kind: drop_zero_width_intervals(means) for kind, means in kinds.items()}
    names = order_runs(inputs)
    charts = tuple(_score_forest(kinds, names[:MAX_CHART_ROWS], str(measure)) for measure in inputs.measures)
    figure = Figure(
        name="forest",
        title=FIGURES["forest"],
        sentence=_describe_scores(kinds, names, inputs),
        charts=charts,
        table=_score_table(kinds, names, inputs),
        notes=(*_value_notes(inputs, raw), *truth_notes),
    )
    notes = inputs.scores.notes if correction is None else (*correction.methods.values(), *correction.notes)
    return Section(name="levels", title=TITLE, answer=best_run_sentence(kinds, inputs), figures=(figure,), notes=notes)


def _value_notes(inputs: ReportInputs, raw: Means) -> list[str]:
    """What speaks against single values, and against the gold labels."""
    from ringtrue.gold.correction.results import correction_footnotes

    if inputs.correction is None:
        return collect_footnotes(raw)
    failed = [check.text for check in inputs.correction.checks if not check.passed]
    return [*correction_footnotes(inputs.correction), *failed]


def _true_means(inputs: ReportInputs) -> tuple[Means | None, list[str]]:
    """What the true labels say of the same queries; or why they say nothing of them."""
    if inputs.truth is None or inputs.scores is None:
        return None, []
    measured, with_truth = inputs.scores.frame["query"].unique(), inputs.truth.frame["query"].unique()
    covered = measured.is_in(with_truth.implode()).sum()
    if covered < len(measured):
        coverage = f"{covered:,} of the {len(measured):,} queries" if covered else "none of the queries"
        left_out = f"truth is left out: it has labels for {coverage} that the runs are measured by"
        return None, [f"{left_out}, and a mean over other queries cannot stand beside theirs"]
    labels = Judgments(inputs.truth.frame.filter(pl.col("query").is_in(measured.implode())))
    return evaluate(inputs.runs, labels, inputs.measures, **inputs.evaluation_options).means(level=inputs.level), []


def _score_forest(kinds: Mapping[str, Means], names: tuple[str, ...], measure: str) -> Forest:
    series = (Series(name=kind, values=tuple(means[run][measure] for run in names)) for kind, means in kinds.items())
    return Forest(names=names, across=measure, series=tuple(series))


def _describe_scores(kinds: Mapping[str, Means], names: tuple[str, ...], inputs: ReportInputs) -> str:
    parts = [
        _describe_raw(kinds["raw"], inputs)
        if "corrected" not in kinds
        else _describe_raw_and_corrected(kinds, names, inputs)
    ]
    if len(names) > MAX_CHART_ROWS:
        parts.append(f"The first {MAX_CHART_ROWS} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


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
    for_these_queries = correction is not None and correction.population == "these"
    meaning = (
        "is about these queries and knows how the judge errs"
        if for_these_queries
        else ("knows both how queries vary and how the judge errs")
    )
    verb = "lies" if len(outside) == 1 else "lie"
    values = "value" if len(outside) == 1 else "values"
    return (
        f"Raw is what the judgments say; corrected is what gold would say of all of them, with a {inputs.level:.0%} "
        f"interval that {meaning}. By {measure} the raw {values} of {format_count(len(outside), 'run')} of "
        f"{len(names)} {verb} outside of it."
    )


def _lies_outside(interval: Estimate, estimate: Estimate) -> bool:
    if interval.low is None or interval.high is None or estimate.value is None:
        return False
    return not interval.low <= estimate.value <= interval.high


def _score_table(kinds: Mapping[str, Means], names: tuple[str, ...], inputs: ReportInputs) -> Grid:
    columns = {
        f"{measure} {kind}" if len(kinds) > 1 else str(measure): [means[run][str(measure)] for run in names]
        for measure in inputs.measures
        for kind, means in kinds.items()
    }
    cells = [format_estimates(column) for column in columns.values()]
    kind = "corrected" if "corrected" in kinds else "raw"
    sorted_so = (
        ""
        if names == sort_runs_by_mean({run: kinds[kind][run] for run in names}, inputs.measure)
        else ("; the best first by their differences from each other")
    )
    return Grid(
        columns=["run", *columns],
        rows=[[run, *row] for run, *row in zip(names, *cells, strict=True)],
        caption=f"mean over queries{describe_intervals(cells, inputs.level)}{sorted_so}",
    )
