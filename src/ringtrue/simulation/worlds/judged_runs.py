"""A seeded world of runs and two judges: what is true in it, and many experiments at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, RankedLists
from ringtrue.gold.correction.pool import Pool
from ringtrue.tables import Judgments, Run

By: TypeAlias = Literal["gold", "bronze"]
GRADE_STEP_CHANCE = 0.4  # how probable each grade above the lowest relevant one is, by gold
GRADE_ERROR_CHANCE = (
    0.2  # how often bronze is a grade too high, and as often too low, on what it rightly calls relevant
)
MANY_QUERIES = 50_000  # queries that stand for all there could be


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeJudge:
    """How often the bronze judge is right on relevant documents and on the others, and where it errs otherwise.

    It calls documents relevant more often, by `favours`, if only the first system shows them; by up to `by_rank`, the
    higher they stand. `moods` is how alike its labels are within a query beyond that (an intraclass correlation).
    """

    relevant: float = 0.85
    nonrelevant: float = 0.85
    favours: float = 0.0
    by_rank: float = 0.0
    moods: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWorld:
    """What is true: queries, systems that show k documents of each, and a judge.

    `shares` has the share of relevant documents that each system shows, over all queries there could be. Systems have a
    part of their documents in `common`. Queries differ: `query_icc` is the intraclass correlation of the relevance of a
    query's documents, and `system_icc` that of the documents of one system beyond it. Relevant documents stand by
    `order` standard deviations of a system's scores before others. Relevant ones have `grades` different grades.
    `unseen` documents of each query are judged, but no system shows them. A `second_judge` labels what only the second
    system shows, instead of the first.
    """

    queries: int = 50
    k: int = 10
    shares: tuple[float, ...] = (0.4, 0.4)
    common: float = 0.5
    query_icc: float = 0.2
    system_icc: float = 0.05
    order: float = 1.0
    grades: int = 1
    unseen: int = 0
    judge: BronzeJudge = BronzeJudge()
    second_judge: BronzeJudge | None = None

    def __post_init__(self) -> None:
        if self.queries < 2 or self.k < 1 or not self.shares or self.grades < 1 or self.unseen < 0:
            raise UsageError(
                "world-too-small",
                f"a world needs 2 queries, a document, a system and a grade; found {self.queries}, {self.k}, "
                f"{len(self.shares)} and {self.grades}, with {self.unseen} documents unseen",
            )
        judges = [judge for judge in (self.judge, self.second_judge) if judge is not None]
        rates = [*self.shares, self.common, *(rate for judge in judges for rate in (judge.relevant, judge.nonrelevant))]
        correlations = [self.query_icc, self.system_icc, *(judge.moods for judge in judges)]
        if not all(0 <= probability <= 1 for probability in rates) or not all(
            0 <= probability < 1 for probability in correlations
        ):
            raise UsageError(
                "not-a-share",
                f"shares and rates lie from 0 to 1, and likeness below 1; found {rates} and {correlations}",
            )
        if max(self.shares) > min(self.shares) and max(self.own_lift) >= 1:
            raise UsageError(
                "impossible-world",
                f"systems with {self.shared} of {self.k} documents in common cannot have shares as far apart as "
                f"{min(self.shares):g} and {max(self.shares):g}",
            )

    @property
    def shared(self) -> int:
        """How many of its k documents each system has in common with all others."""
        return round(self.common * self.k)

    @property
    def own_lift(self) -> FloatArray:
        """How much of what is missing to 1 each system's own documents have beyond those in common."""
        base, own_share = min(self.shares), 1 - self.shared / self.k
        lift = np.array(self.shares) - base
        return np.divide(
            lift, own_share * (1 - base), out=np.where(lift > 0, np.inf, 0.0), where=own_share * (1 - base) > 0
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRuns:
    """Many experiments in one world: experiments × queries × documents, those in common first.

    `ranking` has the document at each rank: experiments × queries × systems × ranks.
    """

    world: JudgedWorld
    gold: NDArray[np.int8]
    bronze: NDArray[np.int8]
    ranking: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def names(self) -> tuple[str, ...]:
        """What the systems are called."""
        return tuple(f"system {number}" for number in range(1, len(self.world.shares) + 1))

    @property
    def pooled_docs(self) -> int:
        """How many documents of a query some system shows."""
        return int(self.gold.shape[2]) - self.world.unseen

    def labels(self, by: By) -> NDArray[np.int8]:
        """What one of the judges says of every document."""
        return self.gold if by == "gold" else self.bronze

    def values(self, measure: Measure, by: By) -> FloatArray:
        """The measure by one of the judges: systems × experiments × queries.

        Examples:
            >>> from ringtrue.evaluation.measures import parse
            >>> judged_runs = simulate_judged_runs(np.random.default_rng(1), JudgedWorld(queries=200), replications=100)
            >>> judged_runs.values(parse("P@10"), "gold").mean(axis=(1, 2)).round(2).tolist()
            [0.4, 0.4]
        """
        labels = self.labels(by).astype(np.int64)
        lists, k = labels.shape[0] * labels.shape[1], self.world.k
        ideal = -np.sort(-labels, axis=2)
        by_system = []
        for system in range(len(self.names)):
            top = np.take_along_axis(labels, self.ranking[:, :, system], axis=2)
            values = measure(
                RankedLists(
                    offsets=np.arange(lists + 1) * k,
                    rank=np.tile(np.arange(1, k + 1), lists),
                    label=top.ravel(),
                    retrieved=np.full(lists, k),
                    pool_offsets=np.arange(lists + 1) * labels.shape[2],
                    pool=ideal.ravel(),
                    max_label=self.world.grades,
                )
            )
            by_system.append(values.reshape(labels.shape[:2]))
        return np.stack(by_system)

    def pool(self, experiment: int) -> Pool:
        """What the systems show in one experiment, as `correct` sees it: document d of query q at place q·docs + d."""
        queries, systems, k = self.ranking.shape[1:]
        docs = self.pooled_docs
        labels = self.bronze[experiment, :, :docs].ravel()
        levels, level = np.unique(labels, return_inverse=True)
        first = np.arange(queries)[:, None, None] * docs
        return Pool(
            runs=self.names,
            queries=tuple(map(str, range(queries))),
            levels=tuple(int(label) for label in levels),
            depth=k,
            docs=pl.DataFrame(),
            query=np.repeat(np.arange(queries), docs),
            level=level.astype(np.int64),
            run=np.broadcast_to(np.arange(systems)[:, None], self.ranking.shape[1:]).ravel(),
            doc_index=(first + self.ranking[experiment]).ravel(),
            rank=np.broadcast_to(np.arange(1, k + 1), self.ranking.shape[1:]).ravel(),
        )

    def pool_gold(self, experiment: int) -> IntArray:
        """The gold label of every document of the pool."""
        labels: IntArray = self.gold[experiment, :, : self.pooled_docs].astype(np.int64).ravel()
        return labels

    def tables(self, experiment: int) -> tuple[list[Run], Judgments, Judgments]:
        """The runs of one experiment, and all bronze and all gold labels, as people have them."""
        queries, systems, k = self.ranking.shape[1:]
        docs = self.gold.shape[2]
        runs = []
        for system in range(systems):
            frame = pl.DataFrame(
                {
                    "query": np.repeat(np.arange(queries), k),
                    "doc": self.ranking[experiment, :, system].ravel(),
                    "score": np.tile(np.arange(k, 0.0, -1), queries),
                }
            )
            runs.append(Run(frame.cast({"query": pl.String, "doc": pl.String}), name=self.names[system]))
        items = pl.DataFrame({"query": np.repeat(np.arange(queries), docs), "doc": np.tile(np.arange(docs), queries)})
        bronze, gold = (
            Judgments.of(
                items.cast(pl.String).with_columns(judge=pl.lit(by), label=self.labels(by)[experiment].ravel())
            )
            for by in ("bronze", "gold")
        )
        return runs, bronze, gold


def simulate_judged_runs(rng: np.random.Generator, world: JudgedWorld, *, replications: int) -> JudgedRuns:
    """Draw queries, documents, their order by each system, and both judges' labels, many times.

    A query has a share of relevant documents from a beta distribution, and each system's own documents one around it.
    Every system orders what it shows by chance and by relevance. The bronze judge sees whether a document is relevant,
    and errs; where relevant documents have grades, it may also be a grade off.

    Examples:
        >>> world = JudgedWorld(queries=5, judge=BronzeJudge(relevant=1, nonrelevant=1))
        >>> judged_runs = simulate_judged_runs(np.random.default_rng(1), world, replications=100)
        >>> judged_runs.gold.shape, judged_runs.ranking.shape, bool((judged_runs.gold == judged_runs.bronze).all())
        ((100, 5, 15), (100, 5, 2, 10), True)
    """
    if replications < 1:
        raise UsageError(
            "study-too-small", f"a study needs a replication, found {replications}", parameter="replications"
        )
    systems, own_docs = len(world.shares), world.k - world.shared
    shape = (replications, world.queries)
    query_share = _draw_beta_shares(rng, np.full((*shape, 1), float(min(world.shares))), world.query_icc)
    system_share = query_share + (1 - query_share) * world.own_lift
    parts = [np.repeat(query_share, world.shared, axis=2)]
    parts += [
        np.repeat(_draw_beta_shares(rng, system_share[..., [system]], world.system_icc), own_docs, axis=2)
        for system in range(systems)
    ]
    parts += [np.repeat(query_share, world.unseen, axis=2)]
    chance = np.concatenate(parts, axis=2)
    relevant = rng.random(chance.shape) < chance
    grade = 1 + rng.binomial(world.grades - 1, GRADE_STEP_CHANCE, chance.shape)
    ranking = _rank_documents(rng, world, relevant)
    called_relevant = rng.random(chance.shape) < _relevant_call_chance(rng, world, relevant, ranking)
    return JudgedRuns(
        world=world,
        gold=np.where(relevant, grade, 0).astype(np.int8),
        bronze=np.where(called_relevant, _bronze_grades(rng, world, relevant, grade), 0).astype(np.int8),
        ranking=ranking,
    )


def true_means(rng: np.random.Generator, world: JudgedWorld, measures: Iterable[Measure]) -> list[FloatArray]:
    """For each measure, the mean of each system by gold over all queries there could be: that of very many.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> (means,) = true_means(np.random.default_rng(1), JudgedWorld(shares=(0.5, 0.4)), [parse("P@10")])
        >>> means.round(2).tolist()
        [0.5, 0.4]
    """
    judged_runs = simulate_judged_runs(rng, world, replications=-(-MANY_QUERIES // world.queries))
    return [judged_runs.values(measure, "gold").mean(axis=(1, 2)) for measure in measures]


def _draw_beta_shares(rng: np.random.Generator, mean: FloatArray, icc: float) -> FloatArray:
    """Shares with this mean, and the variance that makes draws from one of them so much alike."""
    if icc == 0:
        return mean
    concentration = 1 / icc - 1
    shares: FloatArray = rng.beta(np.maximum(mean * concentration, 1e-9), np.maximum((1 - mean) * concentration, 1e-9))
    return shares


def _rank_documents(rng: np.random.Generator, world: JudgedWorld, relevant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The document at each rank of each system."""
    own_docs = world.k - world.shared
    rankings = []
    for system in range(len(world.shares)):
        first = world.shared + system * own_docs
        docs = np.concatenate([np.arange(world.shared), np.arange(first, first + own_docs)])
        score = world.order * relevant[..., docs] + rng.normal(size=(*relevant.shape[:2], world.k))
        rankings.append(docs[np.argsort(-score, axis=2)])
    return np.stack(rankings, axis=2)


def _relevant_call_chance(
    rng: np.random.Generator, world: JudgedWorld, relevant: NDArray[np.bool_], ranking: NDArray[np.int64]
) -> FloatArray:
    """How probable it is that bronze calls each document relevant."""
    height = _rank_height(world, relevant.shape, ranking)
    chance = _judge_call_chance(rng, world, world.judge, relevant, height)
    if world.second_judge is not None:
        second_docs = slice(world.k, 2 * world.k - world.shared)
        chance[..., second_docs] = _judge_call_chance(rng, world, world.second_judge, relevant, height)[
            ..., second_docs
        ]
    return chance


def _judge_call_chance(
    rng: np.random.Generator, world: JudgedWorld, judge: BronzeJudge, relevant: NDArray[np.bool_], height: FloatArray
) -> FloatArray:
    sensitivity, specificity = (
        _draw_beta_shares(rng, np.full((*relevant.shape[:2], 1), float(rate)), judge.moods)
        for rate in (judge.relevant, judge.nonrelevant)
    )
    chance = np.where(relevant, sensitivity, 1 - specificity)
    chance[..., world.shared : world.k] += judge.favours
    return np.clip(chance + judge.by_rank * height, 0, 1)


def _rank_height(world: JudgedWorld, shape: tuple[int, ...], ranking: NDArray[np.int64]) -> FloatArray:
    """1 where some system shows the document first, 0 where it comes last or is not shown."""
    highest = np.zeros(shape)
    height_by_rank = np.broadcast_to(np.linspace(1, 0, world.k), (*shape[:2], world.k))
    for system in range(ranking.shape[2]):
        system_height = np.zeros(shape)
        np.put_along_axis(system_height, ranking[:, :, system], height_by_rank, axis=2)
        highest = np.maximum(highest, system_height)
    return highest


def _bronze_grades(
    rng: np.random.Generator, world: JudgedWorld, relevant: NDArray[np.bool_], grade: IntArray
) -> IntArray:
    """The grade that bronze gives to what it calls relevant: about the right one, or any, low ones more often."""
    if world.grades == 1:
        return np.ones(relevant.shape, dtype=np.int64)
    chance = rng.random(relevant.shape)
    error = np.where(chance < GRADE_ERROR_CHANCE, -1, np.where(chance > 1 - GRADE_ERROR_CHANCE, 1, 0))
    unrelated = 1 + rng.binomial(world.grades - 1, GRADE_STEP_CHANCE / 2, relevant.shape)
    grades: IntArray = np.where(relevant, np.clip(grade + error, 1, world.grades), unrelated)
    return grades
