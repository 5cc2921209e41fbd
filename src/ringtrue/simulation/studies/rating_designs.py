"""Which way of rating finds the good documents, and which pairs should be asked: all of them on the same votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.preference.choose_pairs import DESIGNS, VOTES, PairDesign
from ringtrue.preference.compare_ratings import WAYS
from ringtrue.preference.gold_agreement import area
from ringtrue.preference.pair_designs import published
from ringtrue.preference.rating_methods import PASSES
from ringtrue.simulation.worlds.compared_topics import ComparedTopics, PreferenceWorld, compared_topics
from ringtrue.stats.intervals import mean_estimate

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.preference.rating_methods import Rating
    from ringtrue.stats.results import Estimate

__all__ = ["GROUPS", "METHODS", "TIED", "RatedDesign", "rated_designs", "rating_ways", "steps_between_groups"]

METHODS = ("win-rate", "elo", "glicko", "bradley-terry", "elo+em", "bradley-terry+em", "crowd-bt", "sensitivity")
# What rises from one to the next: wins counted, opponents too, votes weighed before, judges rated with documents.
GROUPS = (("win-rate",), ("elo",), ("elo+em",), ("crowd-bt", "sensitivity"))
TIED = 0.01  # a step below this is none
DEPTH = 10
RELEVANT = 1
BATCH = 40  # pairs of each topic that the active design chooses before it sees the answers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatedDesign:
    """How good the ratings of one method are with one design and so many votes: a value for each replication.

    `votes` are those on a topic; `auc` is how often a relevant document is rated above another, and `ndcg` nDCG@10 with
    gains 2^grade − 1, each the mean over topics. Documents that were in no pair stand last.
    """

    design: PairDesign
    share: float
    votes: float
    method: str
    auc: FloatArray
    ndcg: FloatArray

    def as_dict(self) -> dict[str, object]:
        """The means with their standard errors, as plain data."""
        auc, ndcg = mean_estimate(self.auc), mean_estimate(self.ndcg)
        return {
            "design": self.design, "share": self.share, "votes": self.votes, "method": self.method,
            "auc": auc.value, "auc_se": auc.se, "ndcg": ndcg.value, "ndcg_se": ndcg.se,
        }  # fmt: skip


def rating_ways(
    *,
    k: float = 16.0,
    start: float = 100.0,
    scale: float = 200.0,
    variance: float = 10.0,
    ridge: float = 0.25,
    balance: float = 0.5,
    passes: int = PASSES,
) -> dict[str, Rating]:
    """Every method with these numbers; `passes` are those of Elo.

    Examples:
        >>> list(rating_ways())[:3], rating_ways(k=32)["elo"].k
        (['win-rate', 'elo', 'glicko'], 32)
    """
    ways = {
        name: replace(WAYS[name], k=k, start=start, scale=scale, variance=variance, ridge=ridge, balance=balance)
        for name in METHODS
    }
    return {name: replace(how, passes=passes) if how.method == "elo" else how for name, how in ways.items()}


def rated_designs(
    rng: np.random.Generator,
    world: PreferenceWorld | None = None,
    *,
    ways: Mapping[str, Rating] | None = None,
    designs: Sequence[PairDesign] = ("seed",),
    shares: Sequence[float] = (1.0,),
    votes: int = 4,
    replications: int = 10,
    progress: Callable[[int], None] = lambda _: None,
) -> list[RatedDesign]:
    """How good the ratings are by each way, with each design, after these shares of the votes of the published design.

    All methods see the same votes, and all designs have the same topics and workers, so that differences over
    replications are paired. The active design asks for one vote at a time, the others for `votes` on a pair.

    Examples:
        >>> small, ways = PreferenceWorld(topics=3, docs=40), rating_ways()
        >>> found = rated_designs(np.random.default_rng(1), small, ways=ways, replications=3)
        >>> [(one.method, round(float(one.auc.mean()), 2)) for one in (found[0], found[-1])]
        [('win-rate', 0.94), ('sensitivity', 0.96)]
    """
    world = world or PreferenceWorld()
    ways = rating_ways() if ways is None else ways
    if replications < 2 or votes < 1:
        raise UsageError(f"a study needs 2 replications and a vote on each pair, found {replications} and {votes}")
    if votes > world.crew:
        raise UsageError(f"{votes} votes on a pair need as many workers in a crew, found {world.crew}")
    if not shares or min(shares) <= 0 or max(shares) > 1:
        raise UsageError(f"shares of the votes lie above 0 and up to 1, found {', '.join(f'{x:g}' for x in shares)}")
    scores: dict[tuple[PairDesign, float, str], list[tuple[float, float]]] = {}
    spent: dict[tuple[PairDesign, float], float] = {}
    for _ in range(replications):
        topics = compared_topics(world, rng)
        lot = rng.random(len(topics.grade))
        for design in designs:
            known = topics.nobody
            for share in sorted(shares):
                known = _until(topics, known, design, round(share * _published(world, votes)), votes, rng)
                spent[design, share] = known.size / world.topics
                for name, how in ways.items():
                    scores.setdefault((design, share, name), []).append(_scores(topics, known, how, lot))
                    progress(known.size)
    return [
        RatedDesign(design=design, share=share, votes=spent[design, share], method=name,
                    auc=np.array([one for one, _ in some]), ndcg=np.array([one for _, one in some]))
        for (design, share, name), some in scores.items()
    ]  # fmt: skip


def steps_between_groups(found: Sequence[RatedDesign]) -> list[tuple[str, Estimate, Estimate]]:
    """How much each group of methods adds to the one before it, in AUC and nDCG@10, paired over replications.

    A group of several counts as their mean.
    """
    by_name = {one.method: one for one in found}

    def mean(group: Sequence[str], what: str) -> FloatArray:
        return np.asarray(np.mean([getattr(by_name[name], what) for name in group], axis=0))

    return [
        (
            f"{' and '.join(after)} over {' and '.join(before)}",
            mean_estimate(mean(after, "auc") - mean(before, "auc")),
            mean_estimate(mean(after, "ndcg") - mean(before, "ndcg")),
        )
        for before, after in pairwise(GROUPS)
    ]


def _published(world: PreferenceWorld, votes: int) -> int:
    """The votes of the published design, over all topics."""
    return int(published(np.array([world.docs]))[0]) * world.topics * votes


def _until(
    topics: ComparedTopics, known: Matches, design: PairDesign, most: int, votes: int, rng: np.random.Generator
) -> Matches:
    """More votes by this design, until there are so many, or all pairs have theirs."""
    queries = len(known.queries)
    each = VOTES[design] if design == "active" else votes
    batch = {"swiss": queries * (known.docs.height // queries // 2), "active": queries * BATCH}.get(design)
    choose = partial(DESIGNS[design], votes=each, rng=rng)
    while (left := (most - known.size) // each) > 0:
        pairs = choose(known, budget=left if batch is None else min(left, batch))
        if not len(pairs.first):
            break
        known = topics.asked(known, pairs, rng)
    return known


def _scores(topics: ComparedTopics, known: Matches, how: Rating, lot: FloatArray) -> tuple[float, float]:
    """AUC and nDCG@10, means over the topics that have relevant documents; equal ratings are ordered by lot."""
    ratings = how.rated(known).ratings
    met = np.bincount(np.concatenate([known.first, known.second]), minlength=len(ratings)) > 0
    size = -1, known.docs.height // len(known.queries)
    ratings, grade = np.where(met, ratings, -np.inf).reshape(size), topics.grade.reshape(size)
    areas = [area(some, relevant) for some, relevant in zip(ratings, grade >= RELEVANT, strict=True)]
    some = np.array([one is not None for one in areas])
    gain = np.exp2(grade[some]) - 1
    order = np.lexsort((lot.reshape(size)[some], -ratings[some]), axis=1)
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))[: gain.shape[1]]
    found, best = (
        (ordered[:, :DEPTH] @ discount)
        for ordered in (np.take_along_axis(gain, order, axis=1), -np.sort(-gain, axis=1))
    )
    return float(np.mean([one for one in areas if one is not None])), float(np.mean(found / best))
