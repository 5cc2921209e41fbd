"""A collection with gold labels of nearly everything, from which gold can be drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import Predictors, build_predictors, correct_means, gold_only_means
from ringtrue.gold.correction.estimator import JointEstimate
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import NO_LABEL, Pool, build_pool, linearise
from ringtrue.gold.correction.post_stratified import post_stratified_precision
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities, weigh_measure
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
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
    pool, labels = _judged_pool(collection, bronze, measure)
    linear_measure = linearise(measure, labels, depth=pool.depth)
    weights, gains = pool.weights(linear_measure.discounts), linear_measure.gain(labels)
    return RealWorld(
        measure=measure,
        pool=pool,
        pool_predictors=build_predictors(pool),
        weights=weights,
        gains=gains,
        labels=labels,
        truth=np.asarray(weights @ gains),
        prob=inclusion_probabilities([weigh_measure(measure, pool)], budget, compare=compare),
    )


def _judged_pool(collection: JudgedCollection, bronze: Judgments, measure: Measure) -> tuple[Pool, IntArray]:
    """What the runs show at the depth of the measure, as far as gold judged it, and the gold labels."""
    pool = build_pool(collection.runs, bronze, depth=measure.reach or MAX_DEPTH)
    gold = collection.gold.frame.select("query", "doc", "label")
    joined = pool.docs.join(gold, on=["query", "doc"], how="left", maintain_order="left")
    label = joined["label"].fill_null(NO_LABEL).to_numpy().astype(np.int64)
    is_judged = label >= 0
    is_kept = is_judged[pool.doc_index]
    judged_pool = replace(
        pool,
        docs=pool.docs.filter(is_judged),
        query=pool.query[is_judged],
        level=pool.level[is_judged],
        run=pool.run[is_kept],
        doc_index=(np.cumsum(is_judged) - 1)[pool.doc_index[is_kept]],
        rank=pool.rank[is_kept],
    )
    return judged_pool, label[is_judged]


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
    pool, labels = _judged_pool(collection, bronze, measure)
    linear_measure = linearise(measure, labels, depth=pool.depth)
    return np.asarray(pool.weights(linear_measure.discounts) @ linear_measure.gain(labels))
