"""What the measures would be with a perfect judge, and whether one run is better than another by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.inputs import iterate_runs, require_choice
from ringtrue.evaluation.measures import Measure, parse_all
from ringtrue.gold.correction.document_estimator import DocumentEstimator
from ringtrue.gold.correction.gold_sample import FRAME_DESIGNS, resolve_design, split_gold
from ringtrue.gold.correction.query_estimator import QueryEstimator
from ringtrue.gold.correction.rate_estimator import RateEstimator
from ringtrue.gold.correction.results import (
    Bounds,
    Correction,
    CorrectionProblem,
    Estimator,
    Method,
)
from ringtrue.gold.correction.sampling_frame import SamplingFrame
from ringtrue.gold.designs import Design, Population
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments, Run


def correct(
    runs: object,
    bronze: object,
    gold: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    design: Design | None = None,
    method: Method | None = None,
    population: Population = "like-these",
    bronze_rel: int | None = None,
    sampling_frame: object = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Correction:
    """What would the measures be if gold had judged everything?

    `bronze` has the cheap labels of everything, `gold` those of a sample, whose `design` says how it was drawn: given
    here, or in its column of that name. The design decides the `method`: by documents ("difference"), by whole
    queries, or, for gold from elsewhere, by the judge's "confusion" matrix; "gold" takes the gold labels alone. The
    interval is about the mean over queries "like-these", or over "these" alone. `bronze_rel` is the lowest bronze
    label that counts as relevant, where it is not that of gold. `sampling_frame` has all documents that could be drawn,
    as `sample` gives them: it tells what of a run was out of reach, and which labels were lost. A document without a
    gold label counts as lost.

    Examples:
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 3), "b": 0} for i in range(0, 30, 3)}
        >>> print(correct(run, bronze, gold, "P@2", design="pool_random").corrected["run"]["P@2"])
        0.40 (95% CI 0.20 to 0.61)
    """
    parsed_measures = require_measures(measures)
    problem, problem_notes = build_problem(
        runs,
        bronze,
        gold,
        design=design,
        method=method,
        population=population,
        bronze_rel=bronze_rel,
        sampling_frame=sampling_frame,
        level=level,
        rng=rng,
    )
    notes: list[Note] = [*problem_notes]
    estimator = make_estimator(problem)
    corrected: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
    raw: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
    gold_only: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
    bounds: dict[str, dict[str, Bounds]] = {name: {} for name in problem.run_names}
    bronze_worth = {}
    for measure in parsed_measures:
        scores = evaluate(problem.runs, problem.bronze, problem.bronze_measure(measure))
        means = scores.means(level=level)
        notes += [note for note in scores.notes if note not in notes]
        gold_estimates = estimator.gold_only(measure)
        for index, (name, estimate) in enumerate(zip(problem.run_names, estimator.estimates(measure), strict=True)):
            raw[name][str(measure)] = means[name][str(problem.bronze_measure(measure))]
            corrected[name][str(measure)] = estimate
            if gold_estimates is not None:
                gold_only[name][str(measure)] = gold_estimates[index]
        for name, run_bounds in zip(problem.run_names, estimator.bounds(measure), strict=True):
            if run_bounds is not None:
                bounds[name][str(measure)] = run_bounds
        bronze_worth[str(measure)] = estimator.bronze_worth(measure)
    return Correction(
        raw=raw,
        corrected=corrected,
        gold_only={name: row for name, row in gold_only.items() if row},
        methods={str(measure): estimator.explain_method(measure) for measure in parsed_measures},
        design=problem.design,
        population="like-these" if isinstance(estimator, RateEstimator) else population,
        judge=estimator.describe_judge(parsed_measures[0]),
        checks=tuple(estimator.checks(parsed_measures[0])),
        bounds={name: row for name, row in bounds.items() if row},
        bronze_worth={name: worth for name, worth in bronze_worth.items() if worth is not None},
        notes=(*notes, *(note for note in estimator.notes if note not in notes)),
    )


def build_problem(
    runs: object,
    bronze: object,
    gold: object,
    *,
    design: Design | None,
    method: Method | None,
    population: Population,
    bronze_rel: int | None,
    sampling_frame: object = None,
    level: float,
    rng: np.random.Generator | None,
) -> tuple[CorrectionProblem, list[Note]]:
    """The problem, checked, and what is doubtful about it."""
    require_level(level)
    require_choice("method", method, (None, *get_args(Method)))
    require_choice("population", population, get_args(Population))
    all_bronze = Judgments.of(bronze)
    notes: list[Note] = []
    judged: Judgments | Confusion
    lost: Judgments | None = None
    resolved_design: Design
    frame = None if sampling_frame is None else SamplingFrame.of(sampling_frame)
    if isinstance(gold, Confusion):
        if design not in (None, "known", "external"):
            raise UsageError(
                "design-does-not-fit",
                f"a confusion matrix has no documents: its design is 'known', found '{design}'",
                parameter="design",
                suggestions=[Suggestion(design=None)],
            )
        judged, resolved_design = gold, "known"
    else:
        all_gold = Judgments.of(gold, allow_blank=True)
        resolved_design = resolve_design(all_gold, design, has_frame=frame is not None)
        gold_labels = split_gold(all_gold, resolved_design, frame)
        judged, lost = gold_labels.judged, gold_labels.lost
        if resolved_design == "known":
            raise UsageError(
                "design-does-not-fit",
                "the design 'known' needs a confusion matrix, and these are labels",
                parameter="design",
                suggestions=[Suggestion("is for labels from elsewhere", design="external")],
            )
        notes += gold_labels.notes
        if lost is not None and resolved_design != "whole_queries":
            has_bounds = resolved_design in FRAME_DESIGNS and method in (None, "difference")
            bounds_text = "; bounds beside the interval say what they could change" if has_bounds else ""
            notes.append(Note("lost-left-out", f"documents without a gold label are left out{bounds_text}"))
    by_rates = resolved_design in ("external", "known")
    if by_rates and method in ("difference", "gold"):
        raise InputError(
            "not-a-draw",
            f"gold labels of the design '{resolved_design}' are not a draw from the runs' documents",
            parameter="method",
            suggestions=[
                Suggestion("can use them", method="confusion"),
                Suggestion("draws some that serve for more", function="sample"),
            ],
        )
    run_list = list(iterate_runs(runs))
    problem = CorrectionProblem(
        runs=run_list,
        bronze=_keep_run_queries(all_bronze, judged, run_list) if resolved_design == "external" else all_bronze,
        all_bronze=all_bronze,
        gold=judged,
        design=resolved_design,
        method=method or ("confusion" if by_rates else "difference"),
        population=population,
        bronze_rel=bronze_rel,
        level=level,
        rng=rng or np.random.default_rng(0),
        lost=lost,
        sampling_frame=frame,
    )
    if len(set(problem.run_names)) < len(problem.run_names):
        duplicate = next(name for name in problem.run_names if problem.run_names.count(name) > 1)
        raise UsageError(
            "repeated-run-name", f"two runs are called '{duplicate}'; give each its own name", parameter="runs"
        )
    return problem, notes


def _keep_run_queries(all_bronze: Judgments, gold: Judgments | Confusion, runs: Sequence[Run]) -> Judgments:
    """The bronze labels without the queries that are there for gold from elsewhere alone: no run was asked them."""
    if isinstance(gold, Confusion):
        return all_bronze
    run_queries = {query for run in runs for query in run.queries}
    elsewhere = [query for query in gold.frame["query"].unique() if query not in run_queries]
    run_labels = all_bronze.frame.filter(~pl.col("query").is_in(elsewhere))
    return Judgments(run_labels) if run_labels.height else all_bronze


def make_estimator(problem: CorrectionProblem, *, independent: bool = False) -> Estimator:
    """The estimator that the design and the method ask for."""
    if problem.method == "confusion" or isinstance(problem.gold, Confusion):
        return RateEstimator(problem=problem, independent=independent)
    if problem.design == "whole_queries":
        return QueryEstimator(problem=problem, gold=problem.gold)
    return DocumentEstimator(problem=problem, gold=problem.gold)


def require_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures by their names; at least one."""
    parsed = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not parsed:
        raise UsageError("no-measure", "for which measure? P@10 and DCG@10 are usual", parameter="measures")
    return parsed
