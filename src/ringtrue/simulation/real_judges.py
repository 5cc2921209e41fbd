"""Does correction keep its promise on real judges? Gold is drawn again and again where all of it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.correction.difference import GoldSample, corrected_means, gold_only
from ringtrue.correction.fieller import inverted, inverted_variance
from ringtrue.correction.joint import Joint
from ringtrue.correction.linear import linear
from ringtrue.correction.pooled import Pool, pooled
from ringtrue.correction.predicting import Predictors, predictors
from ringtrue.correction.whole_queries import corrected_by_query
from ringtrue.errors import InputError
from ringtrue.evaluation import evaluate
from ringtrue.measures import FloatArray, IntArray, Measure, parse
from ringtrue.sampling.choosing import part_of, probabilities
from ringtrue.sampling.drawing import spread_over_queries
from ringtrue.student import normal_quantile, t_quantile
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = [
    "PAIRS",
    "Collection",
    "Kept",
    "study_of_differences",
    "study_of_means",
    "study_of_published",
    "study_of_queries",
]

Progress = Callable[[int], None]
UNSHARED = 300  # documents that two runs must not share to be compared
PAIRS = 20
LONGEST = 1000  # where a measure has no cutoff
_APART = np.array([[1.0, -1.0]])
ANYWHERE = "random labels of all runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
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
class Collection:
    """Runs, and gold labels of nearly all they show; what has none counts as non-relevant, and is never drawn."""

    runs: Sequence[Run]
    gold: Judgments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _World:
    """One measure of a collection by one judge: everything that does not depend on the draw."""

    pool: Pool
    known: Predictors
    weights: csr_array
    gains: FloatArray
    labels: IntArray
    truth: FloatArray
    prob: FloatArray

    @property
    def gain_range(self) -> float:
        return float(np.ptp(self.gains))

    def drawn(self, rng: np.random.Generator) -> GoldSample:
        """Gold labels as `sample` draws them."""
        return self._sample(spread_over_queries(self.prob, self.pool.query, self.pool.level, rng), self.prob, True)

    def at_random(self, budget: int, rng: np.random.Generator) -> GoldSample:
        """As many drawn at random from all documents."""
        places = rng.permutation(len(self.pool))[:budget]
        return self._sample(places, np.full(len(self.pool), len(places) / len(self.pool)), False)

    def corrected(self, sample: GoldSample) -> Joint:
        return corrected_means(self.pool, self.known, self.weights, sample, self.gains[sample.places],
                               population="these", gain_range=self.gain_range)  # fmt: skip

    def gold_only(self, sample: GoldSample) -> Joint:
        return gold_only(self.pool, self.weights, sample, self.gains[sample.places], population="these")

    def _sample(self, places: IntArray, prob: FloatArray, spread: bool) -> GoldSample:
        return GoldSample(places=places, labels=self.labels[places], prob=prob[places], spread=spread)


def study_of_means(
    collection: Collection, judge: str, bronze: Judgments, measure: str | Measure, *, budget: int, draws: int,
    level: float, rng: np.random.Generator, progress: Progress = lambda _: None,
) -> list[Kept]:  # fmt: skip
    """The mean of each run: the difference estimator from `sample`, and gold alone from as many random labels."""
    world = _world(collection, bronze, parse(measure), budget=budget, compare=False)
    z = normal_quantile((1 + level) / 2)
    ours, theirs = _Tally(world.truth), _Tally(world.truth)
    for _ in range(draws):
        ours.add(world.corrected(world.drawn(rng)), z)
        theirs.add(world.gold_only(world.at_random(budget, rng)), z)
        progress(1)
    return [
        ours.kept(judge, str(measure), f"difference, {budget} labels by sample", against=theirs, called="gold alone"),
        theirs.kept(judge, str(measure), f"gold alone, {budget} random labels"),
    ]


def study_of_differences(
    collection: Collection, judge: str, bronze: Judgments, measure: str | Measure, *, budget: int, draws: int,
    level: float, rng: np.random.Generator, progress: Progress = lambda _: None,
) -> list[Kept]:  # fmt: skip
    """Pairs of runs that share little: gold drawn from what they do not share, and at random.

    At random from what the two show, and from what all runs show, which is what the width is relative to.
    """
    measure = parse(measure)
    z = normal_quantile((1 + level) / 2)
    everything = _world(collection, bronze, measure, budget=budget, compare=False)
    pairs = _pairs(everything.pool, rng)
    if not pairs:
        return []
    turn = np.zeros((len(pairs), len(collection.runs)))
    for row, (a, b) in enumerate(pairs):
        turn[row, [a, b]] = 1.0, -1.0
    anywhere = _Tally(turn @ everything.truth)
    for _ in range(draws):
        anywhere.add(_turned(everything.corrected(everything.at_random(budget, rng)), turn), z)
    tallies: list[tuple[_Tally, _Tally]] = []
    for a, b in pairs:
        both = replace(collection, runs=[collection.runs[a], collection.runs[b]])
        world = _world(both, bronze, measure, budget=budget, compare=True)
        truth = _APART @ world.truth
        tallies.append((_Tally(truth), _Tally(truth)))
        for _ in range(draws):
            tallies[-1][0].add(_turned(world.corrected(world.drawn(rng)), _APART), z)
            tallies[-1][1].add(_turned(world.corrected(world.at_random(budget, rng)), _APART), z)
            progress(1)
    ours, theirs = (_Tally.joined(some) for some in zip(*tallies, strict=True))
    what = f"{measure}, a − b"
    return [
        ours.kept(judge, what, f"difference, {budget} labels by sample --compare", against=anywhere, called=ANYWHERE),
        theirs.kept(judge, what, f"difference, {budget} random labels of both", against=anywhere, called=ANYWHERE),
        anywhere.kept(judge, what, f"difference, {budget} random labels of all"),
    ]


def study_of_queries(
    collection: Collection, judge: str, bronze: Judgments, measure: str | Measure, *, queries: int, draws: int,
    level: float, rng: np.random.Generator, progress: Progress = lambda _: None,
) -> list[Kept]:  # fmt: skip
    """A measure that is no sum over documents, from whole queries that gold judges."""
    by_bronze, by_gold = (evaluate(collection.runs, labels, measure).cube() for labels in (bronze, collection.gold))
    code = {query: place for place, query in enumerate(by_gold.queries)}
    order = [code[query] for query in by_bronze.queries if query in code]
    kept = [place for place, query in enumerate(by_bronze.queries) if query in code]
    cheap, gold = by_bronze.values[0][:, kept], by_gold.values[0][:, order]
    truth = gold.mean(axis=1)
    if gold.shape[1] <= queries:
        raise InputError(f"{queries} queries were to be drawn, and the collection has only {gold.shape[1]}")
    ours, theirs = _Tally(truth), _Tally(truth)
    for _ in range(draws):
        places = rng.permutation(gold.shape[1])[:queries]
        found = corrected_by_query(cheap, gold[:, places], places, population="these")
        ours.add_values(found.values, found.variances, t_quantile((1 + level) / 2, found.freedom))
        theirs.add_values(found.gold, found.gold_variances, t_quantile((1 + level) / 2, queries - 1))
        progress(1)
    return [
        ours.kept(judge, str(measure), f"difference, {queries} whole queries", against=theirs, called="gold alone"),
        theirs.kept(judge, str(measure), f"gold alone, {queries} whole queries"),
    ]


def study_of_published(
    collection: Collection, judge: str, bronze: Judgments, measure: str | Measure, *, budget: int, draws: int,
    level: float, rng: np.random.Generator, progress: Progress = lambda _: None,
) -> list[Kept]:  # fmt: skip
    """The published correction by accuracy rates from a random sample of the judged pool, with its own interval."""
    measure = parse(measure)
    both = collection.gold.frame.join(bronze.frame.select("query", "doc", bronze="label"), on=["query", "doc"])
    threshold = _threshold(bronze, measure)
    relevant = both["label"].to_numpy() >= measure.rel
    called = both["bronze"].to_numpy() >= threshold
    scores = evaluate(collection.runs, bronze, _from(measure, threshold)).cube().values[0]
    truth = _truth(collection, bronze, measure)
    j, variance = scores.mean(axis=1), scores.var(axis=1, ddof=1) / scores.shape[1]
    tally, z = _Tally(truth), normal_quantile((1 + level) / 2)
    for _ in range(draws):
        places = rng.permutation(both.height)[:budget]
        yes, said = relevant[places], called[places]
        of_relevant, of_others = int(yes.sum()), int((~yes).sum())
        rates = float((yes & said).sum() / of_relevant), float((~yes & ~said).sum() / of_others)
        value = inverted(j, *rates)
        tally.add_values(value, inverted_variance(j, variance, (rates[0], of_relevant), (rates[1], of_others)), z)
        progress(1)
    return [tally.kept(judge, str(measure), f"published, {budget} labels from the judged pool")]


class _Tally:
    """Counts over draws, for each run or pair."""

    def __init__(self, truth: FloatArray) -> None:
        self.truth, self.draws = truth, 0
        self.held, self.width, self.total = np.zeros(len(truth)), np.zeros(len(truth)), np.zeros(len(truth))

    def add(self, joint: Joint, quantile: float) -> None:
        self.add_values(joint.values, np.diag(joint.covariance), quantile)

    def add_values(self, values: FloatArray, variances: FloatArray, quantile: float) -> None:
        half = quantile * np.sqrt(np.maximum(variances, 0))
        self.held += np.abs(values - self.truth) <= half + 1e-12  # NaN holds nothing
        self.width += 2 * half
        self.total += values
        self.draws += 1

    @classmethod
    def joined(cls, parts: Sequence[_Tally]) -> _Tally:
        whole = cls(np.concatenate([part.truth for part in parts]))
        whole.draws = parts[0].draws
        for name in ("held", "width", "total"):
            setattr(whole, name, np.concatenate([getattr(part, name) for part in parts]))
        return whole

    def kept(self, judge: str, measure: str, method: str, *, against: _Tally | None = None, called: str = "") -> Kept:
        share = self.held / self.draws
        return Kept(
            judge=judge, measure=measure, method=method, draws=self.draws, runs=len(share),
            coverage=float(share.mean()), lowest=float(share.min()),
            bias=float((self.total / self.draws - self.truth).mean()),
            width=None if against is None else float(np.mean(self.width / against.width)),
            against=called,
        )  # fmt: skip


def _turned(joint: Joint, turn: FloatArray) -> Joint:
    """Differences of runs, each a row of +1 and −1, as if they were runs."""
    return replace(joint, values=turn @ joint.values, covariance=turn @ joint.covariance @ turn.T)


def _world(collection: Collection, bronze: Judgments, measure: Measure, *, budget: int, compare: bool) -> _World:
    whole = pooled(collection.runs, bronze, depth=measure.reach or LONGEST)
    pool, labels = _judged(whole, collection.gold)
    asked = linear(measure, labels, depth=pool.depth)
    weights, gains = pool.weights(asked.discounts), asked.gain(labels)
    prob = probabilities([part_of(measure, pool)], budget, compare=compare)
    return _World(pool=pool, known=predictors(pool), weights=weights, gains=gains, labels=labels,
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


def _pairs(pool: Pool, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs drawn at random from those that share little."""
    member = np.zeros((len(pool.runs), len(pool)), dtype=bool)
    member[pool.run, pool.shown] = True
    apart = [(a, b) for a, b in combinations(range(len(pool.runs)), 2) if (member[a] ^ member[b]).sum() >= UNSHARED]
    return [apart[place] for place in rng.permutation(len(apart))[:PAIRS]]


def _truth(collection: Collection, bronze: Judgments, measure: Measure) -> FloatArray:
    """The mean by gold over the queries that bronze judged."""
    pool, labels = _judged(pooled(collection.runs, bronze, depth=measure.reach or LONGEST), collection.gold)
    asked = linear(measure, labels, depth=pool.depth)
    return np.asarray(pool.weights(asked.discounts) @ asked.gain(labels))


def _threshold(bronze: Judgments, measure: Measure) -> int:
    """From which bronze label on a document counts as relevant: 1 for a judge who says only yes or no."""
    rel = measure.rel
    return min(rel, int(bronze.frame["label"].max()))  # type: ignore[arg-type]


def _from(measure: Measure, threshold: int) -> Measure:
    kept = tuple((name, value) for name, value in measure.parameters if name != "rel")
    return Measure(measure.name, measure.cutoff, kept).with_default("rel", threshold)
