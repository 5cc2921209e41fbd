"""Runs, bronze labels and gold labels → what the measures would be with a perfect judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.inputs import every_run, require_choice
from ringtrue.evaluation.measures import Measure, parse_all
from ringtrue.gold.correction.document_estimator import ByDocuments
from ringtrue.gold.correction.estimator import Method, Task, Way
from ringtrue.gold.correction.gold_sample import Design, design_of, judged_gold
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.correction.query_estimator import ByQueries
from ringtrue.gold.correction.rate_estimator import ByRates
from ringtrue.gold.correction.results import Correction
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments, Run

__all__ = ["correct", "task_of", "wanted_measures", "way_of"]


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
    wanted = wanted_measures(measures)
    task, notes = task_of(runs, bronze, gold, design=design, method=method, population=population,
                          bronze_rel=bronze_rel, level=level, rng=rng)  # fmt: skip
    way = way_of(task)
    corrected: dict[str, dict[str, Estimate]] = {name: {} for name in task.names}
    raw: dict[str, dict[str, Estimate]] = {name: {} for name in task.names}
    alone: dict[str, dict[str, Estimate]] = {name: {} for name in task.names}
    for measure in wanted:
        scores = evaluate(task.runs, task.bronze, task.by_bronze(measure))
        means = scores.means(level=level)
        notes += [note for note in scores.notes if note not in notes]
        gold_alone = way.gold_only(measure)
        for place, (name, one) in enumerate(zip(task.names, way.estimates(measure), strict=True)):
            raw[name][str(measure)] = means[name][str(task.by_bronze(measure))]
            corrected[name][str(measure)] = one
            if gold_alone is not None:
                alone[name][str(measure)] = gold_alone[place]
    return Correction(
        raw=raw,
        corrected=corrected,
        gold_only={name: row for name, row in alone.items() if row},
        methods={str(measure): way.why(measure) for measure in wanted},
        design=task.design,
        population="like-these" if isinstance(way, ByRates) else population,
        judge=way.judge(wanted[0]),
        checks=tuple(way.checks(wanted[0])),
        notes=(*notes, *(note for note in way.notes if note not in notes)),
    )


def task_of(
    runs: object, bronze: object, gold: object, *, design: Design | None, method: Method | None,
    population: Population, bronze_rel: int | None, level: float, rng: np.random.Generator | None,
) -> tuple[Task, list[str]]:  # fmt: skip
    """The question, checked, and what is doubtful about it."""
    require_level(level)
    require_choice("method", method, (None, *get_args(Method)))
    require_choice("population", population, get_args(Population))
    labelled = Judgments.of(bronze)
    notes: list[str] = []
    truth: Judgments | Confusion
    how: Design
    if isinstance(gold, Confusion):
        if design not in (None, "known", "external"):
            raise UsageError(f"a confusion matrix has no documents: its design is 'known', found '{design}'")
        truth, how = gold, "known"
    else:
        how = design_of(Judgments.of(gold), design)
        truth, told = judged_gold(Judgments.of(gold), how)
        if how == "known":
            raise UsageError("the design 'known' needs a confusion matrix, and these are labels: are they 'external'?")
        notes += told
    by_rates = how in ("external", "known")
    if by_rates and method in ("difference", "gold"):
        raise InputError(
            f"gold labels of the design '{how}' are not a draw from the runs' documents: only the method 'confusion' "
            f"can use them; `ringtrue sample` draws some that serve for more"
        )
    shown = list(every_run(runs))
    task = Task(
        runs=shown,
        bronze=_of_the_runs(labelled, truth, shown) if how == "external" else labelled,
        labelled=labelled,
        gold=truth,
        design=how,
        method=method or ("confusion" if by_rates else "difference"),
        population=population,
        bronze_rel=bronze_rel,
        level=level,
        rng=rng or np.random.default_rng(0),
    )
    if len(set(task.names)) < len(task.names):
        twice = next(name for name in task.names if task.names.count(name) > 1)
        raise UsageError(f"two runs are called '{twice}'; give each its own name")
    return task, notes


def _of_the_runs(labelled: Judgments, gold: Judgments | Confusion, runs: Sequence[Run]) -> Judgments:
    """The bronze labels without the queries that are there for gold from elsewhere alone: no run was asked them."""
    if isinstance(gold, Confusion):
        return labelled
    asked = {query for run in runs for query in run.queries}
    elsewhere = [query for query in gold.frame["query"].unique() if query not in asked]
    kept = labelled.frame.filter(~pl.col("query").is_in(elsewhere))
    return Judgments(kept) if kept.height else labelled


def way_of(task: Task, *, independent: bool = False) -> Way:
    """The way that the design and the method ask for."""
    if task.method == "confusion" or isinstance(task.gold, Confusion):
        return ByRates(task=task, independent=independent)
    if task.design == "whole_queries":
        return ByQueries(task=task, gold=task.gold)
    return ByDocuments(task=task, gold=task.gold)


def wanted_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures by their names; at least one."""
    wanted = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not wanted:
        raise UsageError("no measure was asked for; P@10 and DCG@10 are good first ones")
    return wanted
