"""Who is ahead: the order of the runs and their comparisons, as several sections need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.report.inputs import ReportInputs
from ringtrue.stats.results import Comparison, Comparisons, Estimate
from ringtrue.tables import Scores

Means: TypeAlias = Mapping[str, Mapping[str, Estimate]]
PairComparisons: TypeAlias = Mapping[tuple[str, str], Comparison]

EQUAL_DIGITS = 9  # digits in which values are the same that differ only by how they were added up


def sort_runs_by_mean(means: Means, measure: str) -> tuple[str, ...]:
    """The runs by their value, the best first; those without one last."""
    return _sort_highest_first({run: row[measure].value for run, row in means.items()})


def find_leaders(values_by_run: Mapping[str, float | None]) -> tuple[str, ...]:
    """The runs with the highest value: more than one, where several have the same.

    Examples:
        >>> find_leaders({"a": 0.5, "b": 0.1 + 0.2 + 0.2, "c": None})
        ('a', 'b')
    """
    rounded = {run: round(value, EQUAL_DIGITS) for run, value in values_by_run.items() if value is not None}
    return tuple(run for run, value in rounded.items() if value == max(rounded.values()))


def all_runs_phrase(runs: Sequence[str]) -> str:
    """All of them, in words.

    Examples:
        >>> all_runs_phrase(["a", "b"]), all_runs_phrase(["a", "b", "c"])
        ('both runs', 'all 3 runs')
    """
    return "both runs" if len(runs) == 2 else f"all {len(runs)} runs"


def drop_zero_width_intervals(means: Means) -> Means:
    """Without intervals of no length: where every query has the same value, they cannot tell what others would give."""
    return {
        run: {
            name: replace(estimate, low=None, high=None) if estimate.low == estimate.high else estimate
            for name, estimate in row.items()
        }
        for run, row in means.items()
    }


def estimate_run_means(inputs: ReportInputs) -> Means | None:
    """The value of each run, corrected where there is gold; None where gold serves for comparisons alone."""
    if inputs.gold is None:
        return None if inputs.scores is None else inputs.scores.means(level=inputs.level)
    correction = inputs.correction_or_error
    return None if correction is None or isinstance(correction, InputError) else correction.corrected


def fit_strengths(inputs: ReportInputs) -> dict[str, float | None]:
    """How far each run is ahead of all the others; where they cannot be compared, its value.

    Of a corrected difference more is known than of two corrected values, so that the differences have the last word.
    They need not fit together: the strengths are the values that fit them best, by least squares. Where every pair is
    compared, that is the mean of a run's differences from all, itself included.
    """
    outcome = inputs.comparisons_or_error
    if isinstance(outcome, Comparisons):
        comparisons = [comparison for comparison in outcome if comparison.difference.value is not None]
        if comparisons:
            return _fit_least_squares([run.name for run in inputs.runs], comparisons)
    means = estimate_run_means(inputs) or {}
    return {run.name: means[run.name][inputs.measure].value if means else None for run in inputs.runs}


def order_runs(inputs: ReportInputs) -> tuple[str, ...]:
    """The runs as the whole page has them, the best first by the measure of the page."""
    return _sort_highest_first(fit_strengths(inputs))


def compare_run_pairs(inputs: ReportInputs) -> dict[tuple[str, str], Comparison]:
    """Every pair of runs, either way round; none where they cannot be compared."""
    comparisons = inputs.comparisons_or_error if isinstance(inputs.comparisons_or_error, Comparisons) else ()
    by_pair = {(comparison.a, comparison.b): comparison for comparison in comparisons}
    return by_pair | {(b, a): comparison.turned() for (a, b), comparison in by_pair.items()}


def find_contradicted_pairs(means: Means, pairs: PairComparisons, measure: str) -> list[tuple[str, str]]:
    """The pairs of runs where the first has the higher value, and yet the second is ahead when they are compared."""
    contradicted = []
    for (a, b), comparison in pairs.items():
        first, second, gap = means[a][measure].value, means[b][measure].value, comparison.difference.value
        if first is None or second is None or gap is None:
            continue
        if round(first - second, EQUAL_DIGITS) > 0 > round(gap, EQUAL_DIGITS):
            contradicted.append((a, b))
    return contradicted


def score_as_labelled(inputs: ReportInputs) -> tuple[Scores, str]:
    """The value of each run and query by the labels as they are, and how the measure reads them.

    Bronze labels may count as relevant from another label on than gold ones.
    """
    assert inputs.scores is not None
    measure, rel = inputs.measures[0], inputs.correction_options.get("bronze_rel")
    if rel is None or "rel" not in measure.definition.defaults:
        return inputs.scores, str(measure)
    bronze_measure = measure.from_label(rel)
    return evaluate(inputs.runs, inputs.judgments, bronze_measure, **inputs.evaluation_options), str(bronze_measure)


def _sort_highest_first(values_by_run: Mapping[str, float | None]) -> tuple[str, ...]:
    """The highest first, those without a value last, and those with the same in the order in which they came."""
    sort_values = {
        run: float("-inf") if value is None else round(value, EQUAL_DIGITS) for run, value in values_by_run.items()
    }
    return tuple(sorted(sort_values, key=lambda run: -sort_values[run]))


def _fit_least_squares(run_names: list[str], comparisons: list[Comparison]) -> dict[str, float | None]:
    column_of_run = {run: column for column, run in enumerate(run_names)}
    design_matrix, rows = np.zeros((len(comparisons), len(run_names))), np.arange(len(comparisons))
    design_matrix[rows, [column_of_run[comparison.a] for comparison in comparisons]] = 1
    design_matrix[rows, [column_of_run[comparison.b] for comparison in comparisons]] = -1
    gaps = np.array([comparison.difference.value for comparison in comparisons], dtype=np.float64)
    fit = np.linalg.lstsq(design_matrix, gaps, rcond=None)[0]
    compared_runs = {run for comparison in comparisons for run in (comparison.a, comparison.b)}
    return {run: float(fit[column]) if run in compared_runs else None for run, column in column_of_run.items()}
