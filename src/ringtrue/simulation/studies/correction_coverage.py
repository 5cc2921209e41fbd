"""How often intervals of corrected means hold the truth, where queries, documents, labels and gold are drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ringtrue.evaluation.measures import Measure, parse
from ringtrue.gold.correction.difference import GoldSample, corrected_means
from ringtrue.gold.correction.gain_regression import Predictors, predictors
from ringtrue.gold.correction.joint_estimate import Joint, Population
from ringtrue.gold.correction.linear_measures import linear
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.whole_queries import corrected_by_query
from ringtrue.simulation.studies.coverage import QUESTIONS, HeldTruth, Progress, Tally, with_truth
from ringtrue.simulation.worlds.gold_draws import DESIGN_OF, Draw, corrected_way, drawn_gold
from ringtrue.simulation.worlds.judged_runs import BronzeJudge, JudgedWorld

__all__ = [
    "FEW_LABELS",
    "JUDGES",
    "LabelWorld",
    "coverage_by_documents",
    "coverage_by_label",
    "coverage_by_queries",
]

POPULATIONS: tuple[Population, ...] = ("these", "like-these")
FORMS = tuple(f"{form}, {draw}" for draw in DESIGN_OF for form in ("by label", "plain"))
WHOLE = ("difference, whole queries", "gold only, whole queries")
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
    alike: float

    def __str__(self) -> str:
        return f"share {self.share:g}, judge {self.relevant:g}/{self.nonrelevant:g}, alike {self.alike:g}"


FEW_LABELS = tuple(
    LabelWorld(share=share, relevant=right, nonrelevant=wrong, queries=queries, alike=alike)
    for queries, (right, wrong), (share, alike) in product(
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
) -> list[HeldTruth]:
    """How often the difference estimator's intervals hold the mean that gold would give, by gold labels of documents.

    Every experiment draws new queries with two systems and graded labels, and gold labels from what these show: as
    `sample` does for the measures together, or at random. An interval for *these* queries is held against their own
    mean and, to show what it does not promise, against the mean over all queries there could be; one for queries *like
    these* against the latter.

    Examples:
        >>> found = coverage_by_documents(np.random.default_rng(1), queries=[50], labels=[150], measures=["P@10"],
        ...                               draws=["random"], judges={"usual": JUDGES["usual"]}, replications=100)
        >>> [(one.population, one.about, one.coverage > 0.9) for one in found]
        [('these', 'drawn queries', True), ('these', 'all queries', False), ('like-these', 'all queries', True)]
    """
    wanted = {name: parse(name) for name in measures}
    rows = []
    for many, (name, judge) in product(queries, judges.items()):
        world, tally = JudgedWorld(queries=many, judge=judge, grades=3), Tally()
        for drawn, truths in with_truth(rng, world, wanted, replications, level):
            for place in range(len(drawn)):
                pool, gold = drawn.pool(place), drawn.pool_gold(place)
                known = predictors(pool)
                for some, draw in product(labels, draws):
                    sample = drawn_gold(rng, pool, gold, labels=some, draw=draw, measures=list(wanted.values()))
                    for population in POPULATIONS:
                        way = corrected_way(pool, known, sample, design=DESIGN_OF[draw], population=population,
                                            level=level)  # fmt: skip
                        for word, measure in wanted.items():
                            tally.add_estimates((word, draw, some), way, measure, truths[word], place)
            progress(len(drawn) * many)
        rows += [
            tally.row((word, draw, some), *question, setting=f"{name} judge", measure=word, queries=many, gold=some,
                      method=f"difference, {draw}", replications=replications)
            for word, draw, some, question in product(wanted, draws, labels, QUESTIONS)
        ]  # fmt: skip
    return rows


def coverage_by_label(
    rng: np.random.Generator,
    worlds: Sequence[LabelWorld] = FEW_LABELS,
    *,
    labels: Sequence[int] = (10, 20, 40),
    replications: int = 1_000,
    level: float = 0.95,
    progress: Progress = lambda _: None,
) -> list[HeldTruth]:
    """The same for P@10 of one system with few gold labels: as it is told, by bronze label, and in the plain form.

    Examples:
        >>> found = coverage_by_label(np.random.default_rng(1), FEW_LABELS[:1], labels=[20], replications=100)
        >>> [(one.method, one.coverage > 0.9) for one in found if one.population == "like-these"]
        [('by label, sample', True), ('plain, sample', True), ('by label, random', True), ('plain, random', True)]
    """
    measure = parse("P@10")
    rows = []
    for one in worlds:
        judge = BronzeJudge(relevant=one.relevant, nonrelevant=one.nonrelevant)
        world = JudgedWorld(queries=one.queries, shares=(one.share,), alike=one.alike, judge=judge)
        tally = Tally()
        for drawn, truths in with_truth(rng, world, {"P@10": measure}, replications, level):
            for place in range(len(drawn)):
                pool, gold = drawn.pool(place), drawn.pool_gold(place)
                known = predictors(pool)
                for some, (draw, design), population in product(labels, DESIGN_OF.items(), POPULATIONS):
                    sample = drawn_gold(rng, pool, gold, labels=some, draw=draw, measures=[measure])
                    way = corrected_way(pool, known, sample, design=design, population=population, level=level)
                    tally.add_estimates((f"by label, {draw}", some), way, measure, truths["P@10"], place)
                    found = _plain(pool, known, sample, measure, population).estimate(0, level=level, method="plain")
                    for asked, about in QUESTIONS:
                        if asked == population:
                            tally.add((f"plain, {draw}", some, asked, about), np.array(found.low),
                                      np.array(found.high), truths["P@10"].about(about, place))  # fmt: skip
            progress(len(drawn) * one.queries)
        rows += [
            tally.row((form, some), *question, setting=str(one), measure="P@10", queries=one.queries, gold=some,
                      method=form, replications=replications)
            for form, some, question in product(FORMS, labels, QUESTIONS)
            if question != ("these", "all queries")
        ]  # fmt: skip
    return rows


def _plain(
    pool: Pool, known: Predictors, sample: GoldSample, measure: Measure, population: Population
) -> Joint:  # fmt: skip
    """The difference estimator, however few the labels."""
    asked = linear(measure, sample.labels, depth=pool.depth)
    return corrected_means(pool, known, pool.weights(asked.discounts), sample, asked.gain(sample.labels),
                           population=population, gain_range=asked.reach)  # fmt: skip


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
) -> list[HeldTruth]:
    """The same for measures such as nDCG, where gold judged some of the queries whole; beside the gold queries alone.

    Examples:
        >>> found = coverage_by_queries(np.random.default_rng(1), queries=[50], judged=[20], measures=["AP"],
        ...                             judges={"usual": JUDGES["usual"]}, replications=500)
        >>> [(one.method, one.coverage > 0.9) for one in found if one.population == "like-these"]
        [('difference, whole queries', True), ('gold only, whole queries', True)]
    """
    wanted = {name: parse(name) for name in measures}
    rows = []
    for many, (name, judge) in product(queries, judges.items()):
        world, tally = JudgedWorld(queries=many, judge=judge, grades=3, unseen=10), Tally()
        for drawn, truths in with_truth(rng, world, wanted, replications, level):
            for word, measure in wanted.items():
                gold, bronze = (drawn.values(measure, by).reshape(-1, many) for by in ("gold", "bronze"))
                for some, population in product(judged, POPULATIONS):
                    # Queries are drawn alike: the first of them are as good as any.
                    found = corrected_by_query(bronze, gold[:, :some], np.arange(some), population=population)
                    tally.add_rows((word, some), found, truths[word], population, level)
            progress(len(drawn) * many)
        rows += [
            tally.row((word, some, method), *question, setting=f"{name} judge", measure=word, queries=many, gold=some,
                      method=method, replications=replications)
            for word, method, some, question in product(wanted, WHOLE, judged, QUESTIONS)
        ]  # fmt: skip
    return rows
