"""A collection with gold labels of nearly everything, from which gold can be drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import GoldSample, corrected_means, gold_only
from ringtrue.gold.correction.gain_regression import Predictors, predictors
from ringtrue.gold.correction.joint_estimate import Joint
from ringtrue.gold.correction.linear_measures import linear
from ringtrue.gold.correction.pool import Pool, pooled
from ringtrue.gold.correction.post_stratified import few_by_label
from ringtrue.gold.sampling.pivotal import spread_over_queries
from ringtrue.gold.sampling.sample import part_of, probabilities
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["PAIRS", "Collection", "RealWorld", "true_means", "unlike_pairs", "world_of"]

UNSHARED = 300  # documents that two runs must not share to be compared
PAIRS = 20
LONGEST = 1000  # where a measure has no cutoff


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """Runs, and gold labels of nearly all they show; what has none counts as non-relevant, and is never drawn."""

    runs: Sequence[Run]
    gold: Judgments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RealWorld:
    """One measure of a collection by one judge: everything that does not depend on the draw."""

    measure: Measure
    pool: Pool
    known: Predictors
    weights: csr_array
    gains: FloatArray
    labels: IntArray
    truth: FloatArray
    prob: FloatArray

    @property
    def gain_range(self) -> float:
        """How far apart two gains can be."""
        return float(np.ptp(self.gains))

    def drawn(self, rng: np.random.Generator) -> GoldSample:
        """Gold labels as `sample` draws them."""
        return self._sample(spread_over_queries(self.prob, self.pool.query, self.pool.alike, rng), self.prob, True)

    def at_random(self, budget: int, rng: np.random.Generator) -> GoldSample:
        """As many drawn at random from all documents."""
        places = rng.permutation(len(self.pool))[:budget]
        return self._sample(places, np.full(len(self.pool), len(places) / len(self.pool)), False)

    def corrected(self, sample: GoldSample) -> Joint:
        """The difference estimator."""
        return corrected_means(self.pool, self.known, self.weights, sample, self.gains[sample.places],
                               population="these", gain_range=self.gain_range)  # fmt: skip

    def means(self, sample: GoldSample, *, level: float) -> tuple[FloatArray, FloatArray]:
        """The mean of each run and half of its interval, as `correct` has them."""
        joint = self.corrected(sample)
        values, errors = joint.values.copy(), np.sqrt(np.maximum(np.diag(joint.covariance), 0))
        quantile = np.full(len(values), normal_quantile((1 + level) / 2))
        if self.measure.name == "P":
            called = np.array(self.pool.levels)[self.pool.level] >= min(self.measure.rel, max(self.pool.levels))
            few = few_by_label(self.pool, self.weights, sample, sample.labels >= self.measure.rel, called,
                               population="these")  # fmt: skip
            for run, (value, error) in few.items():
                values[run], errors[run] = value, max(error, errors[run])
                quantile[run] = t_quantile((1 + level) / 2, len(self.pool.queries) - 1)
        return values, quantile * errors

    def gold_only(self, sample: GoldSample) -> Joint:
        """Gold alone."""
        return gold_only(self.pool, self.weights, sample, self.gains[sample.places], population="these")

    def _sample(self, places: IntArray, prob: FloatArray, spread: bool) -> GoldSample:
        return GoldSample(places=places, labels=self.labels[places], prob=prob[places], spread=spread)


def world_of(collection: Collection, bronze: Judgments, measure: Measure, *, budget: int, compare: bool) -> RealWorld:
    """Everything about a measure and a judge that does not depend on the draw of gold."""
    whole = pooled(collection.runs, bronze, depth=measure.reach or LONGEST)
    pool, labels = _judged(whole, collection.gold)
    asked = linear(measure, labels, depth=pool.depth)
    weights, gains = pool.weights(asked.discounts), asked.gain(labels)
    prob = probabilities([part_of(measure, pool)], budget, compare=compare)
    return RealWorld(measure=measure, pool=pool, known=predictors(pool), weights=weights, gains=gains, labels=labels,
                     truth=np.asarray(weights @ gains), prob=prob)  # fmt: skip


def _judged(pool: Pool, gold: Judgments) -> tuple[Pool, IntArray]:
    """The documents of the pool that gold judged, and their labels."""
    found = pool.docs.join(gold.frame.select("query", "doc", "label"), on=["query", "doc"], how="left",
                           maintain_order="left")["label"]  # fmt: skip
    there: NDArray[np.bool_] = found.is_not_null().to_numpy() & (found.fill_null(-1).to_numpy() >= 0)
    place = np.cumsum(there) - 1
    shown = there[pool.shown]
    kept = Pool(
        runs=pool.runs, queries=pool.queries, levels=pool.levels, depth=pool.depth,
        docs=pool.docs.filter(found.is_not_null() & (found >= 0)), query=pool.query[there], level=pool.level[there],
        run=pool.run[shown], shown=place[pool.shown[shown]], rank=pool.rank[shown],
    )  # fmt: skip
    return kept, found.filter(found.is_not_null() & (found >= 0)).to_numpy().astype(np.int64)


def unlike_pairs(pool: Pool, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs drawn at random from those that share little."""
    member = np.zeros((len(pool.runs), len(pool)), dtype=bool)
    member[pool.run, pool.shown] = True
    apart = [(a, b) for a, b in combinations(range(len(pool.runs)), 2) if (member[a] ^ member[b]).sum() >= UNSHARED]
    return [apart[place] for place in rng.permutation(len(apart))[:PAIRS]]


def true_means(collection: Collection, bronze: Judgments, measure: Measure) -> FloatArray:
    """The mean by gold over the queries that bronze judged."""
    pool, labels = _judged(pooled(collection.runs, bronze, depth=measure.reach or LONGEST), collection.gold)
    asked = linear(measure, labels, depth=pool.depth)
    return np.asarray(pool.weights(asked.discounts) @ asked.gain(labels))
