"""Experiments with known truth, and whether intervals hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import Predictors
from ringtrue.gold.correction.document_estimator import DocumentEstimator
from ringtrue.gold.correction.estimator import CorrectionProblem
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.query_estimator import QueryMeans
from ringtrue.gold.designs import Design, Population
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities, weigh_measure
from ringtrue.simulation.worlds.judged_runs import JudgedRuns, JudgedWorld, simulate_judged_runs, true_means
from ringtrue.stats.intervals import require_level
from ringtrue.tables import Judgments, Run

Draw: TypeAlias = Literal["sample", "random"]
DESIGN_OF: dict[Draw, Design] = {"sample": "pool_stratified", "random": "pool_random"}
NO_RUN, NO_LABELS = Run.of({"q": {"d": 1.0}}), Judgments.of({"q": {"d": 1}})


def draw_gold(
    rng: np.random.Generator,
    pool: Pool,
    gold: IntArray,
    *,
    labels: int,
    draw: Draw,
    measures: Sequence[Measure],
    compare: bool = False,
) -> GoldSample:
    """So many of the pool's documents with their gold labels: as `sample` draws them for these measures, or at random.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> from ringtrue.simulation.worlds.judged_runs import JudgedWorld, simulate_judged_runs
        >>> rng = np.random.default_rng(1)
        >>> judged_runs = simulate_judged_runs(rng, JudgedWorld(), replications=1)
        >>> sample = draw_gold(rng, judged_runs.pool(0), judged_runs.pool_gold(0), labels=60, draw="random",
        ...                    measures=[parse("P@10")])
        >>> len(sample), float(sample.prob[0])
        (60, 0.08)
    """
    if draw == "random":
        places = np.sort(rng.permutation(len(pool))[:labels])
        return GoldSample(positions=places, labels=gold[places], prob=np.full(len(places), len(places) / len(pool)))
    prob = inclusion_probabilities([weigh_measure(measure, pool) for measure in measures], labels, compare=compare)
    places = pivotal_sample(prob, pool.query, pool.similarity_key, rng)
    return GoldSample(positions=places, labels=gold[places], prob=prob[places], balanced=True)


def make_document_estimator(
    pool: Pool,
    predictors: Predictors,
    sample: GoldSample,
    *,
    design: Design,
    population: Population,
    level: float = 0.95,
) -> DocumentEstimator:
    """What `correct` and `compare_corrected` ask for estimates and differences, from a pool that is already made.

    Tables of labels are what takes time, and here they need not be joined.
    """
    task = CorrectionProblem(
        runs=[NO_RUN] * len(pool.runs),
        bronze=NO_LABELS,
        gold=NO_LABELS,
        design=design,
        method="difference",
        population=population,
        bronze_rel=None,
        level=level,
        rng=np.random.default_rng(0),
    )
    return DocumentEstimator(problem=task, gold=NO_LABELS, _pools={pool.depth: (pool, predictors, sample, ())})


About: TypeAlias = Literal["all queries", "drawn queries"]
Progress: TypeAlias = Callable[[int], None]
BATCH_SIZE = 500  # experiments held at once
# What an interval is asked for, and what it is held against; the second is a promise that nobody makes.
QUESTIONS: tuple[tuple[Population, About], ...] = (
    ("these", "drawn queries"),
    ("these", "all queries"),
    ("like-these", "all queries"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalCoverage:
    """How often intervals held the truth in one setting, on average over systems, and how wide they were.

    `gold` is the number of gold labels, or of queries that gold judged whole. The interval is about `population`, and
    held against the mean over `about` all queries there could be, or those drawn. `unanswered` is the share of
    experiments without an interval; the rest is about the others, and None where there are none.
    """

    setting: str
    measure: str
    queries: int
    gold: int
    method: str
    population: Population
    about: About
    replications: int
    coverage: float | None
    width: float | None
    unanswered: float = 0.0

    def as_dict(self) -> dict[str, object]:
        """The row as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """The mean by gold over all queries there could be, for each system; over those drawn, systems × experiments."""

    of_all: FloatArray
    of_drawn: FloatArray

    def about(self, about: About, experiment: int) -> FloatArray:
        """What an interval of each system should hold."""
        return self.of_all if about == "all queries" else self.of_drawn[:, experiment]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Ends of intervals and what they should hold, by method and question."""

    intervals: dict[tuple[object, ...], list[FloatArray]] = field(default_factory=dict)

    def add(self, key: tuple[object, ...], low: FloatArray, high: FloatArray, truth: FloatArray) -> None:
        """Intervals, and what each should hold."""
        self.intervals.setdefault(key, []).append(np.stack(np.broadcast_arrays(low, high, truth)).reshape(3, -1))

    def add_estimates(
        self, key: tuple[object, ...], estimator: DocumentEstimator, measure: Measure, truth: Truth, experiment: int
    ) -> None:
        """Each system's interval in one experiment, against everything that it is held against; NaN where none."""
        try:
            estimates = estimator.estimates(measure)
        except InputError:  # a sample that happens to look as if it had been drawn elsewhere
            estimates = []
        bounds = [
            (np.nan, np.nan) if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
            for estimate in estimates
        ]
        low, high = np.array(bounds or [(np.nan, np.nan)]).T
        for population, about in QUESTIONS:
            if population == estimator.problem.population:
                self.add((*key, population, about), low, high, truth.about(about, experiment))

    def add_rows(
        self, key: tuple[object, ...], by_query: QueryMeans, truth: Truth, population: Population, level: float
    ) -> None:
        """The interval of every system in every experiment, with the bronze judge's help and by gold alone."""
        for gold_only in (False, True):
            estimates = [
                by_query.estimate(row, level=level, gold_only=gold_only) for row in range(len(by_query.values))
            ]
            low, high = (np.array([getattr(estimate, bound) for estimate in estimates]) for bound in ("low", "high"))
            for asked_population, about in QUESTIONS:
                if asked_population == population:
                    target = truth.of_drawn if about == "drawn queries" else truth.of_all[:, None] + 0 * truth.of_drawn
                    self.add((*key, estimates[0].method, asked_population, about), low, high, target.ravel())

    def row(
        self,
        key: tuple[object, ...],
        population: Population,
        about: About,
        *,
        setting: str,
        measure: str,
        queries: int,
        gold: int,
        method: str,
        replications: int,
    ) -> IntervalCoverage:
        """How often the truth was held, how wide the intervals were, and how often there was none."""
        low, high, truth = np.concatenate(self.intervals[(*key, population, about)], axis=1)
        has_interval = ~np.isnan(low)
        held = (low <= truth) & (truth <= high)
        return IntervalCoverage(
            setting=setting,
            measure=measure,
            queries=queries,
            gold=gold,
            method=method,
            population=population,
            about=about,
            replications=replications,
            coverage=float(held[has_interval].mean()) if has_interval.any() else None,
            width=float((high - low)[has_interval].mean()) if has_interval.any() else None,
            unanswered=float(1 - has_interval.mean()),
        )


def simulate_batches(
    rng: np.random.Generator, world: JudgedWorld, replications: int, level: float = 0.95
) -> Iterator[JudgedRuns]:
    """So many experiments in a world, some hundred at a time."""
    require_level(level)
    if replications < 1:
        raise UsageError(f"a study needs a replication, found {replications}")
    for start in range(0, replications, BATCH_SIZE):
        yield simulate_judged_runs(rng, world, replications=min(BATCH_SIZE, replications - start))


def simulate_with_truth(
    rng: np.random.Generator, world: JudgedWorld, measures: Mapping[str, Measure], replications: int, level: float
) -> Iterator[tuple[JudgedRuns, dict[str, Truth]]]:
    """Experiments, and for each measure what is true in the world and in them."""
    of_all = dict(zip(measures, true_means(rng, world, measures.values()), strict=True))
    for batch in simulate_batches(rng, world, replications, level):
        truths = {
            name: Truth(of_all=of_all[name], of_drawn=batch.values(measure, "gold").mean(axis=2))
            for name, measure in measures.items()
        }
        yield batch, truths
