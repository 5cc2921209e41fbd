"""Experiments in a world whose truth is known: gold is drawn and used, and intervals are held against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import Predictors
from ringtrue.gold.correction.document_estimator import DocumentEstimator
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.measured_pool import SampledPool
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.results import CorrectionProblem
from ringtrue.gold.designs import Design, Population
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities
from ringtrue.gold.sampling.weighted_measure import weigh_measure
from ringtrue.simulation.worlds.judged_runs import JudgedRuns, JudgedWorld, simulate_judged_runs, true_means
from ringtrue.stats.intervals import require_level
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments, Run

About: TypeAlias = Literal["all queries", "drawn queries"]
Draw: TypeAlias = Literal["sample", "random"]
Progress: TypeAlias = Callable[[int], None]
Cell: TypeAlias = tuple[str, str, int]  # a measure, a method, and how much gold
DESIGN_OF: dict[Draw, Design] = {"sample": "pool_stratified", "random": "pool_random"}
BATCH_SIZE = 500  # experiments held at once
NO_RUN, NO_LABELS = Run.of({"q": {"d": 1.0}}), Judgments.of({"q": {"d": 1}})
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

    def about(self, about: About, experiment: int | None) -> FloatArray:
        """What an interval of each system should hold, in one experiment or in all of them."""
        columns = self.of_drawn if experiment is None else self.of_drawn[:, [experiment]]
        return (columns if about == "drawn queries" else np.broadcast_to(self.of_all[:, None], columns.shape)).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Ends of intervals and what they should hold, by cell and question."""

    intervals: dict[tuple[Cell, Population, About], list[FloatArray]] = field(default_factory=dict)

    def add(
        self, cell: Cell, population: Population, bounds: FloatArray, truth: Truth, experiment: int | None = None
    ) -> None:
        """Intervals as rows of low and high, NaN where there is none, against everything that they are held against."""
        low, high = bounds.T
        for asked_population, about in QUESTIONS:
            if asked_population == population:
                ends = np.stack(np.broadcast_arrays(low, high, truth.about(about, experiment)))
                self.intervals.setdefault((cell, population, about), []).append(ends)

    def row(
        self, cell: Cell, population: Population, about: About, *, setting: str, queries: int, replications: int
    ) -> IntervalCoverage:
        """How often the truth was held, how wide the intervals were, and how often there was none."""
        low, high, truth = np.concatenate(self.intervals[cell, population, about], axis=1)
        has_interval = ~np.isnan(low)
        held = (low <= truth) & (truth <= high)
        measure, method, gold = cell
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


def tally_world(
    rng: np.random.Generator,
    world: JudgedWorld,
    measures: Mapping[str, Measure],
    add_batch: Callable[[Tally, JudgedRuns, Mapping[str, Truth]], None],
    cells: Iterable[Cell],
    *,
    setting: str,
    replications: int,
    level: float,
    progress: Progress,
    questions: Sequence[tuple[Population, About]] = QUESTIONS,
) -> list[IntervalCoverage]:
    """Experiments in one world, batch by batch, and a row for each cell and question of what was tallied."""
    tally = Tally()
    for batch, truths in simulate_with_truth(rng, world, measures, replications, level):
        add_batch(tally, batch, truths)
        progress(len(batch) * world.queries)
    return [
        tally.row(cell, *question, setting=setting, queries=world.queries, replications=replications)
        for cell, question in product(cells, questions)
    ]


def simulate_batches(
    rng: np.random.Generator, world: JudgedWorld, replications: int, level: float = 0.95
) -> Iterator[JudgedRuns]:
    """So many experiments in a world, some hundred at a time."""
    require_level(level)
    if replications < 1:
        raise UsageError(
            "study-too-small", f"a study needs a replication, found {replications}", parameter="replications"
        )
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
    sampled = SampledPool(
        pool=pool,
        predictors=predictors,
        sample=sample,
        complete_sample=sample,
        in_frame=np.ones(len(pool), dtype=bool),
        notes=(),
    )
    return DocumentEstimator(problem=task, gold=NO_LABELS, _pools={pool.depth: sampled})


def interval_bounds(estimates: Iterable[Estimate]) -> FloatArray:
    """Low and high of each; NaN where there is no interval."""
    return np.array([[estimate.low, estimate.high] for estimate in estimates], dtype=np.float64)


def estimate_bounds(estimator: DocumentEstimator, measure: Measure) -> FloatArray:
    """Each system's interval in one experiment; a row of NaN for a sample that looks as if drawn elsewhere."""
    try:
        return interval_bounds(estimator.estimates(measure))
    except InputError:
        return np.full((1, 2), np.nan)
