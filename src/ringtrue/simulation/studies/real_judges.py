"""Does correction keep its promise on real judges? Gold is drawn again and again where nearly all of it is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, parse
from ringtrue.gold.correction.difference import Predictors, build_predictors, correct_means, gold_only_means
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import NO_LABEL, Pool, build_pool, linearise
from ringtrue.gold.correction.post_stratified import post_stratified_errors
from ringtrue.gold.correction.query_means import correct_by_query
from ringtrue.gold.correction.rate_inversion import inversion_variance, invert_rates
from ringtrue.gold.correction.results import JointEstimate
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.sample import inclusion_probabilities
from ringtrue.gold.sampling.weighted_measure import weigh_measure
from ringtrue.simulation.studies.experiments import Progress
from ringtrue.stats.intervals import normal_quantile, t_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Intervals: TypeAlias = tuple[FloatArray, FloatArray]  # the middle of each, and half of its width
_PAIR_CONTRAST = np.array([[1.0, -1.0]])
GOLD_FROM_ALL_RUNS = "gold alone, random labels of all runs"
MIN_UNSHARED = 300  # documents that two runs must not share to be compared
PAIRS = 20
MAX_DEPTH = 1000  # where a measure has no cutoff


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodCoverage:
    """How a method did over many draws of gold: coverage over runs or pairs, bias, and width against another way.

    `width` is the mean interval relative to `against`; None where there is nothing to compare with.
    """

    judge: str
    measure: str
    method: str
    draws: int
    runs: int
    coverage: float
    lowest: float
    bias: float
    width: float | None = None
    against: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RealJudgeStudy:
    """A judge's labels of a collection, corrected by gold that is drawn again and again: `draws` times."""

    collection: JudgedCollection
    judge: str
    bronze: Judgments
    draws: int
    level: float
    progress: Progress = lambda _: None

    def means(self, measure: str | Measure, *, budget: int, rng: np.random.Generator) -> list[MethodCoverage]:
        """The mean of each run: the difference estimator from `sample`, and gold alone from as many random labels."""
        world = build_world(self.collection, self.bronze, parse(measure), budget=budget, compare=False)

        def draw() -> list[Intervals]:
            corrected = world.means(world.draw_sample(rng), level=self.level)
            return [corrected, self.intervals(world.estimate_gold_only(world.draw_random_sample(budget, rng)))]

        methods = f"difference, {budget} labels by sample", f"gold alone, {budget} random labels"
        return self.summarise(measure, self.repeat(world.truth, methods, draw, self.progress), against="gold alone")

    def differences(self, measure: str | Measure, *, budget: int, rng: np.random.Generator) -> list[MethodCoverage]:
        """Pairs of runs that share little: gold drawn from what they do not share, and at random.

        At random from what the two show and from what all runs show, with the difference estimator and by gold alone;
        the last of these is what widths are relative to.
        """
        measure = parse(measure)
        full_world = build_world(self.collection, self.bronze, measure, budget=budget, compare=False)
        pairs = draw_dissimilar_pairs(full_world.pool, rng)
        if not pairs:
            return []
        contrasts = np.zeros((len(pairs), len(self.collection.runs)))
        for row, (a, b) in enumerate(pairs):
            contrasts[row, [a, b]] = 1.0, -1.0
        corrected_all, gold_all = (
            f"difference, {budget} random labels of all",
            f"gold alone, {budget} random labels of all",
        )
        gold_random = f"gold alone, {budget} random labels of both"
        pair_methods = (
            f"difference, {budget} labels by sample for the comparison",
            f"difference, {budget} random labels of both",
            gold_random,
        )

        def draw_from_all() -> list[Intervals]:
            sample = full_world.draw_random_sample(budget, rng)
            estimates = full_world.estimate_corrected(sample), full_world.estimate_gold_only(sample)
            return [self.intervals(_apply_contrasts(joint, contrasts)) for joint in estimates]

        of_all = self.repeat(contrasts @ full_world.truth, (corrected_all, gold_all), draw_from_all, lambda _: None)
        by_pair = []
        for a, b in pairs:
            pair = replace(self.collection, runs=[self.collection.runs[a], self.collection.runs[b]])
            world = build_world(pair, self.bronze, measure, budget=budget, compare=True)

            def draw_from_pair(world: RealWorld = world) -> list[Intervals]:
                chosen = world.estimate_corrected(world.draw_sample(rng))
                sample = world.draw_random_sample(budget, rng)
                estimates = chosen, world.estimate_corrected(sample), world.estimate_gold_only(sample)
                return [self.intervals(_apply_contrasts(joint, _PAIR_CONTRAST)) for joint in estimates]

            by_pair.append(self.repeat(_PAIR_CONTRAST @ world.truth, pair_methods, draw_from_pair, self.progress))
        tallies = {
            method: _CoverageTally.merge([tally[method] for tally in by_pair]) for method in pair_methods
        } | of_all
        # Gold alone comes last, that of all runs behind that of the two.
        tallies = {method: tallies[method] for method in (*pair_methods[:2], corrected_all, gold_random, gold_all)}
        return self.summarise(f"{measure}, a − b", tallies, against=GOLD_FROM_ALL_RUNS)

    def whole_queries(self, measure: str | Measure, *, queries: int, rng: np.random.Generator) -> list[MethodCoverage]:
        """A measure that is no sum over documents, from whole queries that gold judges."""
        bronze_values, gold_values = self.values_by_query(measure, more_than=queries)

        def draw() -> list[Intervals]:
            places = rng.permutation(gold_values.shape[1])[:queries]
            means = correct_by_query(bronze_values, gold_values[:, places], places, population="these")
            t = t_quantile((1 + self.level) / 2, means.df)
            return [
                (means.values, _half_widths(means.variances, t)),
                (means.gold, _half_widths(means.gold_variances, t)),
            ]

        methods = f"difference, {queries} whole queries", f"gold alone, {queries} whole queries"
        tallies = self.repeat(gold_values.mean(axis=1), methods, draw, self.progress)
        return self.summarise(measure, tallies, against="gold alone")

    def values_by_query(self, measure: str | Measure, *, more_than: int) -> tuple[FloatArray, FloatArray]:
        """The measure by bronze and by gold (runs × queries), for the queries that both have judged."""
        by_bronze, by_gold = (
            evaluate(self.collection.runs, labels, measure).cube() for labels in (self.bronze, self.collection.gold)
        )
        gold_place = {query: place for place, query in enumerate(by_gold.queries)}
        order = [gold_place[query] for query in by_bronze.queries if query in gold_place]
        if len(order) <= more_than:
            raise InputError(
                "too-few-queries", f"{more_than} queries were to be drawn, and the collection has only {len(order)}"
            )
        shared_places = [place for place, query in enumerate(by_bronze.queries) if query in gold_place]
        return by_bronze.values[0][:, shared_places], by_gold.values[0][:, order]

    def published(self, measure: str | Measure, *, budget: int, rng: np.random.Generator) -> list[MethodCoverage]:
        """The published correction by accuracy rates from a random sample of the judged pool, with its own interval."""
        measure = parse(measure)
        labelled = self.collection.gold.frame.join(
            self.bronze.frame.select("query", "doc", bronze="label"), on=["query", "doc"]
        )
        threshold = min(measure.rel, int(self.bronze.frame["label"].max()))  # type: ignore[arg-type]  # 1 for yes and no
        relevant = labelled["label"].to_numpy() >= measure.rel
        called = labelled["bronze"].to_numpy() >= threshold
        scores = evaluate(self.collection.runs, self.bronze, measure.from_label(threshold)).cube().values[0]
        j, variance = scores.mean(axis=1), scores.var(axis=1, ddof=1) / scores.shape[1]

        def draw() -> list[Intervals]:
            places = rng.permutation(labelled.height)[:budget]
            is_relevant, is_called = relevant[places], called[places]
            of_relevant, of_others = int(is_relevant.sum()), int((~is_relevant).sum())
            rates = (
                float((is_relevant & is_called).sum() / of_relevant),
                float((~is_relevant & ~is_called).sum() / of_others),
            )
            variances = inversion_variance(j, variance, (rates[0], of_relevant), (rates[1], of_others))
            return [(invert_rates(j, *rates), _half_widths(variances, self._z))]

        methods = (f"published, {budget} labels from the judged pool",)
        truth = gold_means(self.collection, self.bronze, measure)
        return self.summarise(measure, self.repeat(truth, methods, draw, self.progress))

    @property
    def _z(self) -> float:
        return normal_quantile((1 + self.level) / 2)

    def intervals(self, joint: JointEstimate) -> Intervals:
        """The values and half of each interval, as if errors were normal."""
        return joint.values, _half_widths(np.diag(joint.covariance), self._z)

    def repeat(
        self, truth: FloatArray, methods: Sequence[str], draw: Callable[[], Sequence[Intervals]], progress: Progress
    ) -> dict[str, _CoverageTally]:
        """Gold drawn again and again, and how often the intervals of each method hold the truth."""
        tallies = {method: _CoverageTally(truth) for method in methods}
        for _ in range(self.draws):
            for tally, intervals in zip(tallies.values(), draw(), strict=True):
                tally.add(*intervals)
            progress(1)
        return tallies

    def summarise(
        self, measure: str | Measure, tallies: Mapping[str, _CoverageTally], *, against: str = ""
    ) -> list[MethodCoverage]:
        """A row for each method; with `against`, widths are relative to the last, which is called so."""
        *_, last = tallies.values()
        return [
            MethodCoverage(
                judge=self.judge,
                measure=str(measure),
                method=method,
                draws=self.draws,
                runs=len(tally.truth),
                coverage=float((tally.held / self.draws).mean()),
                lowest=float((tally.held / self.draws).min()),
                bias=float((tally.total / self.draws - tally.truth).mean()),
                width=float(np.mean(tally.width / last.width)) if against and tally is not last else None,
                against=against if tally is not last else "",
            )
            for method, tally in tallies.items()
        ]


class _CoverageTally:
    """Sums over draws, for each run or pair."""

    def __init__(self, truth: FloatArray) -> None:
        self.truth = truth
        self.held, self.width, self.total = (np.zeros(len(truth)) for _ in range(3))

    def add(self, values: FloatArray, half_widths: FloatArray) -> None:
        self.held += np.abs(values - self.truth) <= half_widths + 1e-12  # NaN holds nothing
        self.width += 2 * half_widths
        self.total += values

    @classmethod
    def merge(cls, parts: Sequence[_CoverageTally]) -> _CoverageTally:
        merged = cls(np.concatenate([part.truth for part in parts]))
        for name in ("held", "width", "total"):
            setattr(merged, name, np.concatenate([getattr(part, name) for part in parts]))
        return merged


def _half_widths(variances: FloatArray, quantile: float) -> FloatArray:
    half_widths: FloatArray = quantile * np.sqrt(np.maximum(variances, 0))
    return half_widths


def _apply_contrasts(joint: JointEstimate, contrasts: FloatArray) -> JointEstimate:
    """Differences of runs, each a row of +1 and −1, as if they were runs."""
    return replace(joint, values=contrasts @ joint.values, covariance=contrasts @ joint.covariance @ contrasts.T)


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
        return self.gold_sample(
            pivotal_sample(self.prob, self.pool.query, self.pool.similarity_key, rng), self.prob, True
        )

    def draw_random_sample(self, budget: int, rng: np.random.Generator) -> GoldSample:
        """As many drawn at random from all documents."""
        places = rng.permutation(len(self.pool))[:budget]
        return self.gold_sample(places, np.full(len(self.pool), len(places) / len(self.pool)), False)

    def estimate_corrected(self, sample: GoldSample, *, population: Population = "these") -> JointEstimate:
        """The difference estimator."""
        return correct_means(
            self.pool,
            self.pool_predictors,
            self.weights,
            sample,
            self.gains[sample.positions],
            population=population,
            gain_range=self.gain_range,
        )

    def means(self, sample: GoldSample, *, level: float, population: Population = "these") -> Intervals:
        """The mean of each run and half of its interval, as `correct` has them."""
        joint = self.estimate_corrected(sample, population=population)
        errors = np.sqrt(np.maximum(np.diag(joint.covariance), 0))
        t = t_quantile((1 + level) / 2, len(self.pool.queries) - 1)
        quantile = np.full(len(errors), normal_quantile((1 + level) / 2) if population == "these" else t)
        if self.measure.name == "P":
            called = np.array(self.pool.levels)[self.pool.level] >= min(self.measure.rel, max(self.pool.levels))
            by_label = post_stratified_errors(
                self.pool, self.weights, sample, sample.labels >= self.measure.rel, called, population=population
            )
            for run, error in by_label.items():
                errors[run] = max(error, errors[run])
                quantile[run] = t
        return joint.values, quantile * errors

    def estimate_gold_only(self, sample: GoldSample) -> JointEstimate:
        """Gold alone."""
        return gold_only_means(self.pool, self.weights, sample, self.gains[sample.positions], population="these")

    def gold_sample(self, places: IntArray, prob: FloatArray, spread: bool = False) -> GoldSample:
        """The gold labels of these documents; `spread` says that they were drawn evenly over the queries."""
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
