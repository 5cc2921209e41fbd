"""Does correction keep its promise on real judges? Gold is drawn again and again where all of it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, Measure, parse
from ringtrue.gold.correction.joint_estimate import Joint
from ringtrue.gold.correction.rate_inversion import inverted, inverted_variance
from ringtrue.gold.correction.whole_queries import corrected_by_query
from ringtrue.simulation.worlds.real_collection import Collection, true_means, unlike_pairs, world_of
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments

__all__ = [
    "Kept",
    "study_of_differences",
    "study_of_means",
    "study_of_published",
    "study_of_queries",
]

Progress = Callable[[int], None]
_APART = np.array([[1.0, -1.0]])
ANYWHERE = "gold alone, random labels of all runs"


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


def study_of_means(
    collection: Collection, judge: str, bronze: Judgments, measure: str | Measure, *, budget: int, draws: int,
    level: float, rng: np.random.Generator, progress: Progress = lambda _: None,
) -> list[Kept]:  # fmt: skip
    """The mean of each run: the difference estimator from `sample`, and gold alone from as many random labels."""
    world = world_of(collection, bronze, parse(measure), budget=budget, compare=False)
    z = normal_quantile((1 + level) / 2)
    ours, theirs = _Tally(world.truth), _Tally(world.truth)
    for _ in range(draws):
        ours.add_intervals(*world.means(world.drawn(rng), level=level))
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

    At random from what the two show and from what all runs show, with the difference estimator and by gold alone; the
    last of these is what widths are relative to.
    """
    measure = parse(measure)
    z = normal_quantile((1 + level) / 2)
    everything = world_of(collection, bronze, measure, budget=budget, compare=False)
    pairs = unlike_pairs(everything.pool, rng)
    if not pairs:
        return []
    turn = np.zeros((len(pairs), len(collection.runs)))
    for row, (a, b) in enumerate(pairs):
        turn[row, [a, b]] = 1.0, -1.0
    of_all, alone_of_all = _Tally(turn @ everything.truth), _Tally(turn @ everything.truth)
    for _ in range(draws):
        anywhere = everything.at_random(budget, rng)
        of_all.add(_turned(everything.corrected(anywhere), turn), z)
        alone_of_all.add(_turned(everything.gold_only(anywhere), turn), z)
    tallies: list[tuple[_Tally, ...]] = []
    for a, b in pairs:
        both = replace(collection, runs=[collection.runs[a], collection.runs[b]])
        world = world_of(both, bronze, measure, budget=budget, compare=True)
        chosen, of_both, alone = (_Tally(_APART @ world.truth) for _ in range(3))
        for _ in range(draws):
            chosen.add(_turned(world.corrected(world.drawn(rng)), _APART), z)
            at_random = world.at_random(budget, rng)
            of_both.add(_turned(world.corrected(at_random), _APART), z)
            alone.add(_turned(world.gold_only(at_random), _APART), z)
            progress(1)
        tallies.append((chosen, of_both, alone))
    chosen, of_both, alone = (_Tally.joined(some) for some in zip(*tallies, strict=True))
    ways = [
        (chosen, f"difference, {budget} labels by sample --compare"),
        (of_both, f"difference, {budget} random labels of both"),
        (of_all, f"difference, {budget} random labels of all"),
        (alone, f"gold alone, {budget} random labels of both"),
    ]
    what = f"{measure}, a − b"
    return [
        *(tally.kept(judge, what, way, against=alone_of_all, called=ANYWHERE) for tally, way in ways),
        alone_of_all.kept(judge, what, f"gold alone, {budget} random labels of all"),
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
    threshold = min(measure.rel, int(bronze.frame["label"].max()))  # type: ignore[arg-type]  # 1 for yes and no
    relevant = both["label"].to_numpy() >= measure.rel
    called = both["bronze"].to_numpy() >= threshold
    scores = evaluate(collection.runs, bronze, measure.from_label(threshold)).cube().values[0]
    truth = true_means(collection, bronze, measure)
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
        self.add_intervals(values, quantile * np.sqrt(np.maximum(variances, 0)))

    def add_intervals(self, values: FloatArray, half: FloatArray) -> None:
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
