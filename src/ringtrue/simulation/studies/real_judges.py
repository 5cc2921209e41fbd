"""Does correction keep its promise on real judges? Gold is drawn again and again where all of it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, Measure, parse
from ringtrue.gold.correction.estimator import JointEstimate
from ringtrue.gold.correction.query_estimator import correct_by_query
from ringtrue.gold.correction.rate_inversion import inversion_variance, invert_rates
from ringtrue.simulation.worlds.real_collection import JudgedCollection, build_world, draw_dissimilar_pairs, gold_means
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments

Progress = Callable[[int], None]
_PAIR_CONTRAST = np.array([[1.0, -1.0]])
GOLD_FROM_ALL_RUNS = "gold alone, random labels of all runs"


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


def study_means(
    collection: JudgedCollection,
    judge: str,
    bronze: Judgments,
    measure: str | Measure,
    *,
    budget: int,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = lambda _: None,
) -> list[MethodCoverage]:
    """The mean of each run: the difference estimator from `sample`, and gold alone from as many random labels."""
    world = build_world(collection, bronze, parse(measure), budget=budget, compare=False)
    z = normal_quantile((1 + level) / 2)
    corrected_tally, gold_tally = _CoverageTally(world.truth), _CoverageTally(world.truth)
    for _ in range(draws):
        corrected_tally.add_intervals(*world.means(world.draw_sample(rng), level=level))
        gold_tally.add(world.estimate_gold_only(world.draw_random_sample(budget, rng)), z)
        progress(1)
    return [
        corrected_tally.summarise(
            judge, str(measure), f"difference, {budget} labels by sample", against=gold_tally, against_name="gold alone"
        ),
        gold_tally.summarise(judge, str(measure), f"gold alone, {budget} random labels"),
    ]


def study_differences(
    collection: JudgedCollection,
    judge: str,
    bronze: Judgments,
    measure: str | Measure,
    *,
    budget: int,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = lambda _: None,
) -> list[MethodCoverage]:
    """Pairs of runs that share little: gold drawn from what they do not share, and at random.

    At random from what the two show and from what all runs show, with the difference estimator and by gold alone; the
    last of these is what widths are relative to.
    """
    measure = parse(measure)
    z = normal_quantile((1 + level) / 2)
    full_world = build_world(collection, bronze, measure, budget=budget, compare=False)
    pairs = draw_dissimilar_pairs(full_world.pool, rng)
    if not pairs:
        return []
    contrasts = np.zeros((len(pairs), len(collection.runs)))
    for row, (a, b) in enumerate(pairs):
        contrasts[row, [a, b]] = 1.0, -1.0
    corrected_all, gold_all = _CoverageTally(contrasts @ full_world.truth), _CoverageTally(contrasts @ full_world.truth)
    for _ in range(draws):
        sample = full_world.draw_random_sample(budget, rng)
        corrected_all.add(_apply_contrasts(full_world.estimate_corrected(sample), contrasts), z)
        gold_all.add(_apply_contrasts(full_world.estimate_gold_only(sample), contrasts), z)
    tallies: list[tuple[_CoverageTally, ...]] = []
    for a, b in pairs:
        pair = replace(collection, runs=[collection.runs[a], collection.runs[b]])
        world = build_world(pair, bronze, measure, budget=budget, compare=True)
        corrected_chosen, corrected_random, gold_random = (
            _CoverageTally(_PAIR_CONTRAST @ world.truth) for _ in range(3)
        )
        for _ in range(draws):
            corrected_chosen.add(_apply_contrasts(world.estimate_corrected(world.draw_sample(rng)), _PAIR_CONTRAST), z)
            at_random = world.draw_random_sample(budget, rng)
            corrected_random.add(_apply_contrasts(world.estimate_corrected(at_random), _PAIR_CONTRAST), z)
            gold_random.add(_apply_contrasts(world.estimate_gold_only(at_random), _PAIR_CONTRAST), z)
            progress(1)
        tallies.append((corrected_chosen, corrected_random, gold_random))
    corrected_chosen, corrected_random, gold_random = (
        _CoverageTally.merge(parts) for parts in zip(*tallies, strict=True)
    )
    methods = [
        (corrected_chosen, f"difference, {budget} labels by sample --compare"),
        (corrected_random, f"difference, {budget} random labels of both"),
        (corrected_all, f"difference, {budget} random labels of all"),
        (gold_random, f"gold alone, {budget} random labels of both"),
    ]
    measure_name = f"{measure}, a − b"
    return [
        *(
            tally.summarise(judge, measure_name, method, against=gold_all, against_name=GOLD_FROM_ALL_RUNS)
            for tally, method in methods
        ),
        gold_all.summarise(judge, measure_name, f"gold alone, {budget} random labels of all"),
    ]


def study_queries(
    collection: JudgedCollection,
    judge: str,
    bronze: Judgments,
    measure: str | Measure,
    *,
    queries: int,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = lambda _: None,
) -> list[MethodCoverage]:
    """A measure that is no sum over documents, from whole queries that gold judges."""
    by_bronze, by_gold = (evaluate(collection.runs, labels, measure).cube() for labels in (bronze, collection.gold))
    gold_place = {query: place for place, query in enumerate(by_gold.queries)}
    order = [gold_place[query] for query in by_bronze.queries if query in gold_place]
    shared_places = [place for place, query in enumerate(by_bronze.queries) if query in gold_place]
    bronze_values, gold_values = by_bronze.values[0][:, shared_places], by_gold.values[0][:, order]
    truth = gold_values.mean(axis=1)
    if gold_values.shape[1] <= queries:
        raise InputError(f"{queries} queries were to be drawn, and the collection has only {gold_values.shape[1]}")
    corrected_tally, gold_tally = _CoverageTally(truth), _CoverageTally(truth)
    for _ in range(draws):
        places = rng.permutation(gold_values.shape[1])[:queries]
        by_query = correct_by_query(bronze_values, gold_values[:, places], places, population="these")
        corrected_tally.add_values(by_query.values, by_query.variances, t_quantile((1 + level) / 2, by_query.df))
        gold_tally.add_values(by_query.gold, by_query.gold_variances, t_quantile((1 + level) / 2, queries - 1))
        progress(1)
    return [
        corrected_tally.summarise(
            judge, str(measure), f"difference, {queries} whole queries", against=gold_tally, against_name="gold alone"
        ),
        gold_tally.summarise(judge, str(measure), f"gold alone, {queries} whole queries"),
    ]


def study_published(
    collection: JudgedCollection,
    judge: str,
    bronze: Judgments,
    measure: str | Measure,
    *,
    budget: int,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = lambda _: None,
) -> list[MethodCoverage]:
    """The published correction by accuracy rates from a random sample of the judged pool, with its own interval."""
    measure = parse(measure)
    labelled = collection.gold.frame.join(bronze.frame.select("query", "doc", bronze="label"), on=["query", "doc"])
    threshold = min(measure.rel, int(bronze.frame["label"].max()))  # type: ignore[arg-type]  # 1 for yes and no
    relevant = labelled["label"].to_numpy() >= measure.rel
    called = labelled["bronze"].to_numpy() >= threshold
    scores = evaluate(collection.runs, bronze, measure.from_label(threshold)).cube().values[0]
    truth = gold_means(collection, bronze, measure)
    j, variance = scores.mean(axis=1), scores.var(axis=1, ddof=1) / scores.shape[1]
    tally, z = _CoverageTally(truth), normal_quantile((1 + level) / 2)
    for _ in range(draws):
        places = rng.permutation(labelled.height)[:budget]
        is_relevant, is_called = relevant[places], called[places]
        of_relevant, of_others = int(is_relevant.sum()), int((~is_relevant).sum())
        rates = (
            float((is_relevant & is_called).sum() / of_relevant),
            float((~is_relevant & ~is_called).sum() / of_others),
        )
        corrected = invert_rates(j, *rates)
        tally.add_values(corrected, inversion_variance(j, variance, (rates[0], of_relevant), (rates[1], of_others)), z)
        progress(1)
    return [tally.summarise(judge, str(measure), f"published, {budget} labels from the judged pool")]


class _CoverageTally:
    """Counts over draws, for each run or pair."""

    def __init__(self, truth: FloatArray) -> None:
        self.truth, self.draws = truth, 0
        self.held, self.width, self.total = np.zeros(len(truth)), np.zeros(len(truth)), np.zeros(len(truth))

    def add(self, joint: JointEstimate, quantile: float) -> None:
        self.add_values(joint.values, np.diag(joint.covariance), quantile)

    def add_values(self, values: FloatArray, variances: FloatArray, quantile: float) -> None:
        self.add_intervals(values, quantile * np.sqrt(np.maximum(variances, 0)))

    def add_intervals(self, values: FloatArray, half: FloatArray) -> None:
        self.held += np.abs(values - self.truth) <= half + 1e-12  # NaN holds nothing
        self.width += 2 * half
        self.total += values
        self.draws += 1

    @classmethod
    def merge(cls, parts: Sequence[_CoverageTally]) -> _CoverageTally:
        merged = cls(np.concatenate([part.truth for part in parts]))
        merged.draws = parts[0].draws
        for name in ("held", "width", "total"):
            setattr(merged, name, np.concatenate([getattr(part, name) for part in parts]))
        return merged

    def summarise(
        self, judge: str, measure: str, method: str, *, against: _CoverageTally | None = None, against_name: str = ""
    ) -> MethodCoverage:
        share = self.held / self.draws
        return MethodCoverage(
            judge=judge,
            measure=measure,
            method=method,
            draws=self.draws,
            runs=len(share),
            coverage=float(share.mean()),
            lowest=float(share.min()),
            bias=float((self.total / self.draws - self.truth).mean()),
            width=None if against is None else float(np.mean(self.width / against.width)),
            against=against_name,
        )


def _apply_contrasts(joint: JointEstimate, contrasts: FloatArray) -> JointEstimate:
    """Differences of runs, each a row of +1 and −1, as if they were runs."""
    return replace(joint, values=contrasts @ joint.values, covariance=contrasts @ joint.covariance @ contrasts.T)
