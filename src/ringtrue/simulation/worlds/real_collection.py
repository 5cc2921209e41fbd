"""A collection with gold labels of nearly everything, from which gold can be drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import Predictors, build_predictors, correct_means, gold_only_means
from ringtrue.gold.correction.estimator import JointEstimate
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool, build_pool, linearise
from ringtrue.gold.correction.post_stratified import post_stratified_precision
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities, weigh_measure
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

MIN_UNSHARED = 300  # documents that two runs must not share to be compared
PAIRS = 20
MAX_DEPTH = 1000  # where a measure has no cutoff


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedCollection:
    """Runs, and gold labels of nearly all they show; what has none counts as non-relevant, and is never drawn."""

    runs: Sequence[Run]
    gold: Judgments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RealWorld:
    """One measure of a collection by one judge: everything that does not depend on the draw."""

    measure: Measure
    pool: Pool
    pool_predictors: Predictors
    weights: csr_array
    gains: FloatArray
    labels: IntArray
    truth: FloatArray
    prob: FloatArray

    @property
    def gain_range(self) -> float:
        """How far apart two gains can be."""
        return float(np.ptp(self.gains))

    def draw_sample(self, rng: np.random.Generator) -> GoldSample:
        """Gold labels as `sample` draws them."""
        return self._gold_sample(
            pivotal_sample(self.prob, self.pool.query, self.pool.similarity_key, rng), self.prob, True
        )

    def draw_random_sample(self, budget: int, rng: np.random.Generator) -> GoldSample:
        """As many drawn at random from all documents."""
        places = rng.permutation(len(self.pool))[:budget]
        return self._gold_sample(places, np.full(len(self.pool), len(places) / len(self.pool)), False)

    def estimate_corrected(self, sample: GoldSample) -> JointEstimate:
        """The difference estimator."""
        return correct_means(
            self.pool,
            self.pool_predictors,
            self.weights,
            sample,
            self.gains[sample.positions],
            population="these",
            gain_range=self.gain_range,
        )

    def means(self, sample: GoldSample, *, level: float) -> tuple[FloatArray, FloatArray]:
        """The mean of each run and half of its interval, as `correct` has them."""
        joint = self.estimate_corrected(sample)
        values, errors = joint.values.copy(), np.sqrt(np.maximum(np.diag(joint.covariance), 0))
        quantile = np.full(len(values), normal_quantile((1 + level) / 2))
        if self.measure.name == "P":
            called = np.array(self.pool.levels)[self.pool.level] >= min(self.measure.rel, max(self.pool.levels))
            by_label = post_stratified_precision(
                self.pool, self.weights, sample, sample.labels >= self.measure.rel, called, population="these"
            )
            for run, (value, error) in by_label.items():
                values[run], errors[run] = value, max(error, errors[run])
                quantile[run] = t_quantile((1 + level) / 2, len(self.pool.queries) - 1)
        return values, quantile * errors

    def estimate_gold_only(self, sample: GoldSample) -> JointEstimate:
        """Gold alone."""
        return gold_only_means(self.pool, self.weights, sample, self.gains[sample.positions], population="these")

    def _gold_sample(self, places: IntArray, prob: FloatArray, spread: bool) -> GoldSample:
        return GoldSample(positions=places, labels=self.labels[places], prob=prob[places], balanced=spread)


def build_world(
    collection: JudgedCollection, bronze: Judgments, measure: Measure, *, budget: int, compare: bool
) -> RealWorld:
    """Everything about a measure and a judge that does not depend on the draw of gold."""
    full_pool = build_pool(collection.runs, bronze, depth=measure.reach or MAX_DEPTH)
    pool, labels = _keep_judged(full_pool, collection.gold)
    linear_measure = linearise(measure, labels, depth=pool.depth)
    weights, gains = pool.weights(linear_measure.discounts), linear_measure.gain(labels)
    prob = inclusion_probabilities([weigh_measure(measure, pool)], budget, compare=compare)
    return RealWorld(
        measure=measure,
        pool=pool,
        pool_predictors=build_predictors(pool),
        weights=weights,
        gains=gains,
        labels=labels,
        truth=np.asarray(weights @ gains),
        prob=prob,
    )


def _keep_judged(pool: Pool, gold: Judgments) -> tuple[Pool, IntArray]:
    """The documents of the pool that gold judged, and their labels."""
    gold_labels = pool.docs.join(
        gold.frame.select("query", "doc", "label"), on=["query", "doc"], how="left", maintain_order="left"
    )["label"]
    is_judged: NDArray[np.bool_] = gold_labels.is_not_null().to_numpy() & (gold_labels.fill_null(-1).to_numpy() >= 0)
    new_place = np.cumsum(is_judged) - 1
    is_kept = is_judged[pool.doc_index]
    judged_pool = Pool(
        runs=pool.runs,
        queries=pool.queries,
        levels=pool.levels,
        depth=pool.depth,
        docs=pool.docs.filter(gold_labels.is_not_null() & (gold_labels >= 0)),
        query=pool.query[is_judged],
        level=pool.level[is_judged],
        run=pool.run[is_kept],
        doc_index=new_place[pool.doc_index[is_kept]],
        rank=pool.rank[is_kept],
    )
    return judged_pool, gold_labels.filter(gold_labels.is_not_null() & (gold_labels >= 0)).to_numpy().astype(np.int64)


def draw_dissimilar_pairs(pool: Pool, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs drawn at random from those that share little."""
    shows = np.zeros((len(pool.runs), len(pool)), dtype=bool)
    shows[pool.run, pool.doc_index] = True
    dissimilar = [
        (a, b) for a, b in combinations(range(len(pool.runs)), 2) if (shows[a] ^ shows[b]).sum() >= MIN_UNSHARED
    ]
    return [dissimilar[position] for position in rng.permutation(len(dissimilar))[:PAIRS]]


def gold_means(collection: JudgedCollection, bronze: Judgments, measure: Measure) -> FloatArray:
    """The mean by gold over the queries that bronze judged."""
    pool, labels = _keep_judged(build_pool(collection.runs, bronze, depth=measure.reach or MAX_DEPTH), collection.gold)
    linear_measure = linearise(measure, labels, depth=pool.depth)
    return np.asarray(pool.weights(linear_measure.discounts) @ linear_measure.gain(labels))
