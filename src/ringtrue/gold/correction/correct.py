"""Runs, bronze labels and gold labels → what the measures would be with a perfect judge."""

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
from ringtrue.gold.correction.estimator import CorrectionProblem, Estimator, Method
from ringtrue.gold.correction.gold_sample import drop_unjudged, resolve_design
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.correction.query_estimator import QueryEstimator
from ringtrue.gold.correction.rate_estimator import RateEstimator
from ringtrue.gold.correction.results import Correction
from ringtrue.gold.designs import Design
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
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Correction:
    """What would the measures be if gold had judged everything?

    `bronze` has the cheap labels of everything, `gold` those of a sample, whose `design` says how it was drawn: given
    here, or in its column of that name. The design decides the `method`: by documents ("difference"), by whole
    queries, or, for gold from elsewhere, by the judge's "confusion" matrix; "gold" takes the gold labels alone. The
    interval is about the mean over queries "like-these", or over "these" alone. `bronze_rel` is the lowest bronze
    label that counts as relevant, where it is not that of gold.

    Examples:
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 3), "b": 0} for i in range(0, 30, 3)}
        >>> print(correct(run, bronze, gold, "P@2", design="pool_random").corrected["run"]["P@2"])
        0.41 (95% CI 0.21 to 0.62)
    """
    parsed_measures = require_measures(measures)
    problem, notes = build_problem(
        runs,
        bronze,
        gold,
        design=design,
        method=method,
        population=population,
        bronze_rel=bronze_rel,
        level=level,
        rng=rng,
    )
    estimator = make_estimator(problem)
    corrected: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
    raw: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
    gold_only: dict[str, dict[str, Estimate]] = {name: {} for name in problem.run_names}
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
    return Correction(
        raw=raw,
        corrected=corrected,
        gold_only={name: row for name, row in gold_only.items() if row},
        methods={str(measure): estimator.explain_method(measure) for measure in parsed_measures},
        design=problem.design,
        population="like-these" if isinstance(estimator, RateEstimator) else population,
        judge=estimator.describe_judge(parsed_measures[0]),
        checks=tuple(estimator.checks(parsed_measures[0])),
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
    level: float,
    rng: np.random.Generator | None,
) -> tuple[CorrectionProblem, list[str]]:
    """The problem, checked, and what is doubtful about it."""
    require_level(level)
    require_choice("method", method, (None, *get_args(Method)))
    require_choice("population", population, get_args(Population))
    all_bronze = Judgments.of(bronze)
    notes: list[str] = []
    judged: Judgments | Confusion
    resolved_design: Design
    if isinstance(gold, Confusion):
        if design not in (None, "known", "external"):
            raise UsageError(f"a confusion matrix has no documents: its design is 'known', found '{design}'")
        judged, resolved_design = gold, "known"
    else:
        resolved_design = resolve_design(Judgments.of(gold), design)
        judged, gold_notes = drop_unjudged(Judgments.of(gold), resolved_design)
        if resolved_design == "known":
            raise UsageError("the design 'known' needs a confusion matrix, and these are labels: are they 'external'?")
        notes += gold_notes
    by_rates = resolved_design in ("external", "known")
    if by_rates and method in ("difference", "gold"):
        raise InputError(
            f"gold labels of the design '{resolved_design}' are not a draw from the runs' documents: only the method "
            f"'confusion' can use them; `ringtrue sample` draws some that serve for more"
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
    )
    if len(set(problem.run_names)) < len(problem.run_names):
        duplicate = next(name for name in problem.run_names if problem.run_names.count(name) > 1)
        raise UsageError(f"two runs are called '{duplicate}'; give each its own name")
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
        raise UsageError("no measure was asked for; P@10 and DCG@10 are good first ones")
    return parsed
