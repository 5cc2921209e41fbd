"""How often intervals of corrected means hold the truth, where queries, documents, labels and gold are drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from ringtrue.evaluation.measures import Measure, parse
from ringtrue.gold.correction.difference import Predictors, build_predictors, correct_means
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool, linearise
from ringtrue.gold.correction.query_means import correct_by_query
from ringtrue.gold.correction.results import JointEstimate
from ringtrue.gold.designs import Population
from ringtrue.simulation.studies.experiments import (
    DESIGN_OF,
    QUESTIONS,
    Draw,
    IntervalCoverage,
    Progress,
    Tally,
    Truth,
    draw_gold,
    estimate_bounds,
    interval_bounds,
    make_document_estimator,
    tally_world,
)
from ringtrue.simulation.worlds.judged_runs import BronzeJudge, JudgedRuns, JudgedWorld

POPULATIONS: tuple[Population, ...] = ("these", "like-these")
FEW_LABEL_METHODS = tuple(f"{form}, {draw}" for draw in DESIGN_OF for form in ("by label", "plain"))
WHOLE_QUERY_METHODS = ("difference, whole queries", "gold only, whole queries")
JUDGES: dict[str, BronzeJudge] = {
    "good": BronzeJudge(relevant=0.95, nonrelevant=0.95),
    "usual": BronzeJudge(relevant=0.85, nonrelevant=0.85),
    "weak, kind to the top": BronzeJudge(relevant=0.75, nonrelevant=0.7, by_rank=0.2),
    "moody, favours one": BronzeJudge(relevant=0.8, nonrelevant=0.8, moods=0.3, favours=0.15),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelWorld:
    """A world for few gold labels: the share of relevant documents, the judge's rates, the queries, how alike."""

    share: float
    relevant: float
    nonrelevant: float
    queries: int
    icc: float

    def __str__(self) -> str:
        return f"share {self.share:g}, judge {self.relevant:g}/{self.nonrelevant:g}, alike {self.icc:g}"


FEW_LABELS = tuple(
    LabelWorld(share=share, relevant=right, nonrelevant=wrong, queries=queries, icc=icc)
    for queries, (right, wrong), (share, icc) in product(
        (25, 50, 100),
        ((0.7, 0.8), (0.85, 0.9), (0.97, 0.95), (0.6, 0.95)),
        ((0.05, 0.2), (0.2, 0.05), (0.5, 0.2), (0.7, 0.4), (0.95, 0.2)),
    )
)


def coverage_by_documents(
    rng: np.random.Generator,
    *,
    queries: Sequence[int] = (50, 100),
    labels: Sequence[int] = (60, 150, 300),
    judges: Mapping[str, BronzeJudge] = JUDGES,
    measures: Sequence[str] = ("P@10", "DCG@10"),
    draws: Sequence[Draw] = ("sample", "random"),
    replications: int = 1_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[IntervalCoverage]:
    """How often the difference estimator's intervals hold the mean that gold would give, by gold labels of documents.

    Every experiment draws new queries with two systems and graded labels, and gold labels from what these show: as
    `sample` does for the measures together, or at random. An interval for *these* queries is held against their own
    mean and, to show what it does not promise, against the mean over all queries there could be; one for queries *like
    these* against the latter.

    Examples:
        >>> rows = coverage_by_documents(np.random.default_rng(1), queries=[50], labels=[150], measures=["P@10"],
        ...                               draws=["random"], judges={"usual": JUDGES["usual"]}, replications=30)
        >>> [(row.population, row.about, row.coverage > 0.9) for row in rows]
        [('these', 'drawn queries', True), ('these', 'all queries', False), ('like-these', 'all queries', True)]
    """
    parsed = {name: parse(name) for name in measures}

    def add_batch(tally: Tally, batch: JudgedRuns, truths: Mapping[str, Truth]) -> None:
        for experiment in range(len(batch)):
            pool, gold = batch.pool(experiment), batch.pool_gold(experiment)
            pool_predictors = build_predictors(pool)
            for n_labels, draw in product(labels, draws):
                sample = draw_gold(rng, pool, gold, labels=n_labels, draw=draw, measures=list(parsed.values()))
                for population in POPULATIONS:
                    estimator = make_document_estimator(
                        pool, pool_predictors, sample, design=DESIGN_OF[draw], population=population, level=level
                    )
                    for name, measure in parsed.items():
                        cell, bounds = (name, f"difference, {draw}", n_labels), estimate_bounds(estimator, measure)
                        tally.add(cell, population, bounds, truths[name], experiment)

    run_world = partial(tally_world, rng, replications=replications, level=level, progress=progress)
    cells = list(product(parsed, [f"difference, {draw}" for draw in draws], labels))
    return [
        row
        for n_queries, (name, judge) in product(queries, judges.items())
        for row in run_world(
            JudgedWorld(queries=n_queries, judge=judge, grades=3), parsed, add_batch, cells, setting=f"{name} judge"
        )
    ]


def coverage_by_label(
    rng: np.random.Generator,
    worlds: Sequence[LabelWorld] = FEW_LABELS,
    *,
    labels: Sequence[int] = (10, 20, 40),
    replications: int = 1_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[IntervalCoverage]:
    """The same for P@10 of one system with few gold labels: as it is told, by bronze label, and in the plain form.

    Examples:
        >>> rows = coverage_by_label(np.random.default_rng(1), FEW_LABELS[:1], labels=[20], replications=20)
        >>> [(row.method, row.coverage > 0.9) for row in rows if row.population == "like-these"]
        [('by label, sample', True), ('plain, sample', True), ('by label, random', True), ('plain, random', True)]
    """
    measure = parse("P@10")

    def add_batch(tally: Tally, batch: JudgedRuns, truths: Mapping[str, Truth]) -> None:
        for experiment in range(len(batch)):
            pool, gold = batch.pool(experiment), batch.pool_gold(experiment)
            pool_predictors = build_predictors(pool)
            for n_labels, (draw, design), population in product(labels, DESIGN_OF.items(), POPULATIONS):
                sample = draw_gold(rng, pool, gold, labels=n_labels, draw=draw, measures=[measure])
                estimator = make_document_estimator(
                    pool, pool_predictors, sample, design=design, population=population, level=level
                )
                plain = _estimate_by_difference(pool, pool_predictors, sample, measure, population)
                forms = {
                    "by label": estimate_bounds(estimator, measure),
                    "plain": interval_bounds([plain.estimate(0, level=level, method="plain")]),
                }
                for form, bounds in forms.items():
                    tally.add(("P@10", f"{form}, {draw}", n_labels), population, bounds, truths["P@10"], experiment)

    run_world = partial(tally_world, rng, replications=replications, level=level, progress=progress)
    questions = [question for question in QUESTIONS if question != ("these", "all queries")]
    rows = []
    for label_world in worlds:
        world = JudgedWorld(
            queries=label_world.queries,
            shares=(label_world.share,),
            query_icc=label_world.icc,
            judge=BronzeJudge(relevant=label_world.relevant, nonrelevant=label_world.nonrelevant),
        )
        cells = product(["P@10"], FEW_LABEL_METHODS, labels)
        rows += run_world(world, {"P@10": measure}, add_batch, cells, setting=str(label_world), questions=questions)
    return rows


def _estimate_by_difference(
    pool: Pool, pool_predictors: Predictors, sample: GoldSample, measure: Measure, population: Population
) -> JointEstimate:
    """The difference estimator, however few the labels."""
    linear_measure = linearise(measure, sample.labels, depth=pool.depth)
    return correct_means(
        pool,
        pool_predictors,
        pool.weights(linear_measure.discounts),
        sample,
        linear_measure.gain(sample.labels),
        population=population,
        gain_range=linear_measure.gain_range,
    )


def coverage_by_queries(
    rng: np.random.Generator,
    *,
    queries: Sequence[int] = (50, 100),
    judged: Sequence[int] = (20, 40),
    judges: Mapping[str, BronzeJudge] = JUDGES,
    measures: Sequence[str] = ("nDCG@10", "AP"),
    replications: int = 2_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[IntervalCoverage]:
    """The same for measures such as nDCG, where gold judged some of the queries whole; beside the gold queries alone.

    Examples:
        >>> rows = coverage_by_queries(np.random.default_rng(1), queries=[50], judged=[20], measures=["AP"],
        ...                             judges={"usual": JUDGES["usual"]}, replications=100)
        >>> [(row.method, row.coverage > 0.9) for row in rows if row.population == "like-these"]
        [('difference, whole queries', True), ('gold only, whole queries', True)]
    """
    parsed = {name: parse(name) for name in measures}

    def add_batch(tally: Tally, batch: JudgedRuns, truths: Mapping[str, Truth]) -> None:
        for name, measure in parsed.items():
            gold, bronze = (batch.values(measure, by).reshape(-1, batch.world.queries) for by in ("gold", "bronze"))
            for n_judged, population in product(judged, POPULATIONS):
                # Queries are drawn alike: the first of them are as good as any.
                means = correct_by_query(bronze, gold[:, :n_judged], np.arange(n_judged), population=population)
                for method, gold_only in zip(WHOLE_QUERY_METHODS, (False, True), strict=True):
                    bounds = interval_bounds(
                        means.estimate(row, level=level, gold_only=gold_only) for row in range(len(gold))
                    )
                    tally.add((name, method, n_judged), population, bounds, truths[name])

    run_world = partial(tally_world, rng, replications=replications, level=level, progress=progress)
    cells = list(product(parsed, WHOLE_QUERY_METHODS, judged))
    return [
        row
        for n_queries, (name, judge) in product(queries, judges.items())
        for row in run_world(
            JudgedWorld(queries=n_queries, judge=judge, grades=3, unseen=10),
            parsed,
            add_batch,
            cells,
            setting=f"{name} judge",
        )
    ]
