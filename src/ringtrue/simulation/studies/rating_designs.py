"""Which way of rating finds the good documents, and which pairs should be asked: all of them on the same votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.preference.choose_pairs import DEFAULT_VOTES, DESIGNS, PairDesign
from ringtrue.preference.compare_ratings import RATING_METHODS
from ringtrue.preference.gold_agreement import auc
from ringtrue.preference.pair_designs import published_pair_count
from ringtrue.preference.rating_methods import ELO_PASSES
from ringtrue.simulation.worlds.compared_topics import ComparedTopics, PreferenceWorld, simulate_topics
from ringtrue.stats.intervals import estimate_mean

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.preference.rating_methods import RatingSettings
    from ringtrue.stats.results import Estimate

METHODS = ("win-rate", "elo", "glicko", "bradley-terry", "elo+em", "bradley-terry+em", "crowd-bt", "sensitivity")
# What rises from one to the next: wins counted, opponents too, votes weighed before, judges rated with documents.
METHOD_GROUPS = (("win-rate",), ("elo",), ("elo+em",), ("crowd-bt", "sensitivity"))
MIN_STEP = 0.01  # a step below this is none
DEPTH = 10
RELEVANT = 1
BATCH = 40  # pairs of each topic that the active design chooses before it sees the answers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignScores:
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
        auc, ndcg = estimate_mean(self.auc), estimate_mean(self.ndcg)
        return {
            "design": self.design,
            "share": self.share,
            "votes": self.votes,
            "method": self.method,
            "auc": auc.value,
            "auc_se": auc.se,
            "ndcg": ndcg.value,
            "ndcg_se": ndcg.se,
        }


def make_rating_settings(
    *,
    k: float = 16.0,
    start: float = 100.0,
    scale: float = 200.0,
    variance: float = 10.0,
    ridge: float = 0.25,
    balance: float = 0.5,
    passes: int = ELO_PASSES,
) -> dict[str, RatingSettings]:
    """Every method with these numbers; `passes` are those of Elo.

    Examples:
        >>> list(make_rating_settings())[:3], make_rating_settings(k=32)["elo"].k
        (['win-rate', 'elo', 'glicko'], 32)
    """
    by_name = {
        name: replace(
            RATING_METHODS[name], k=k, start=start, scale=scale, variance=variance, ridge=ridge, balance=balance
        )
        for name in METHODS
    }
    return {
        name: replace(settings, passes=passes) if settings.method == "elo" else settings
        for name, settings in by_name.items()
    }


def score_designs(
    rng: np.random.Generator,
    world: PreferenceWorld | None = None,
    *,
    methods: Mapping[str, RatingSettings] | None = None,
    designs: Sequence[PairDesign] = ("seed",),
    shares: Sequence[float] = (1.0,),
    votes: int = 4,
    replications: int = 10,
    progress: Callable[[int], None] = lambda _: None,
) -> list[DesignScores]:
    """How good the ratings are by each way, with each design, after these shares of the votes of the published design.

    All methods see the same votes, and all designs have the same topics and workers, so that differences over
    replications are paired. The active design asks for one vote at a time, the others for `votes` on a pair.

    Examples:
        >>> small, methods = PreferenceWorld(topics=3, docs=40), make_rating_settings()
        >>> scores = score_designs(np.random.default_rng(1), small, methods=methods, replications=3)
        >>> [(row.method, round(float(row.auc.mean()), 2)) for row in (scores[0], scores[-1])]
        [('win-rate', 0.94), ('sensitivity', 0.96)]
    """
    world = world or PreferenceWorld()
    methods = make_rating_settings() if methods is None else methods
    if replications < 2 or votes < 1:
        raise UsageError(
            "study-too-small", f"a study needs 2 replications and a vote on each pair, found {replications} and {votes}"
        )
    if votes > world.crew:
        raise UsageError(
            "crew-too-small", f"{votes} votes on a pair need as many workers in a crew, found {world.crew}"
        )
    if not shares or min(shares) <= 0 or max(shares) > 1:
        raise UsageError(
            "not-a-share", f"shares of the votes lie above 0 and up to 1, found {', '.join(f'{x:g}' for x in shares)}"
        )
    scores: dict[tuple[PairDesign, float, str], list[tuple[float, float]]] = {}
    votes_spent: dict[tuple[PairDesign, float], float] = {}
    for _ in range(replications):
        topics = simulate_topics(world, rng)
        tie_breaker = rng.random(len(topics.grade))
        for design in designs:
            matches = topics.unvoted
            for share in sorted(shares):
                matches = _collect_votes(
                    topics, matches, design, round(share * _published_votes(world, votes)), votes, rng
                )
                votes_spent[design, share] = matches.size / world.topics
                for name, settings in methods.items():
                    scores.setdefault((design, share, name), []).append(
                        _score_ratings(topics, matches, settings, tie_breaker)
                    )
                    progress(matches.size)
    return [
        DesignScores(
            design=design,
            share=share,
            votes=votes_spent[design, share],
            method=name,
            auc=np.array([auc for auc, _ in pairs]),
            ndcg=np.array([ndcg for _, ndcg in pairs]),
        )
        for (design, share, name), pairs in scores.items()
    ]


def estimate_group_steps(scores: Sequence[DesignScores]) -> list[tuple[str, Estimate, Estimate]]:
    """How much each group of methods adds to the one before it, in AUC and nDCG@10, paired over replications.

    A group of several counts as their mean.
    """
    by_name = {design_scores.method: design_scores for design_scores in scores}

    def mean(group: Sequence[str], field: str) -> FloatArray:
        return np.asarray(np.mean([getattr(by_name[name], field) for name in group], axis=0))

    return [
        (
            f"{' and '.join(after)} over {' and '.join(before)}",
            estimate_mean(mean(after, "auc") - mean(before, "auc")),
            estimate_mean(mean(after, "ndcg") - mean(before, "ndcg")),
        )
        for before, after in pairwise(METHOD_GROUPS)
    ]


def _published_votes(world: PreferenceWorld, votes: int) -> int:
    """The votes of the published design, over all topics."""
    return int(published_pair_count(np.array([world.docs]))[0]) * world.topics * votes


def _collect_votes(
    topics: ComparedTopics, matches: Matches, design: PairDesign, max_votes: int, votes: int, rng: np.random.Generator
) -> Matches:
    """More votes by this design, until there are so many, or all pairs have theirs."""
    queries = len(matches.queries)
    votes_each = DEFAULT_VOTES[design] if design == "active" else votes
    batch = {"swiss": queries * (matches.docs.height // queries // 2), "active": queries * BATCH}.get(design)
    choose = partial(DESIGNS[design], votes=votes_each, rng=rng)
    while (remaining := (max_votes - matches.size) // votes_each) > 0:
        pairs = choose(matches, budget=remaining if batch is None else min(remaining, batch))
        if not len(pairs.first):
            break
        matches = topics.collect_votes(matches, pairs, rng)
    return matches


def _score_ratings(
    topics: ComparedTopics, matches: Matches, settings: RatingSettings, tie_breaker: FloatArray
) -> tuple[float, float]:
    """AUC and nDCG@10, means over the topics that have relevant documents; equal ratings are ordered by lot."""
    ratings = settings.rate_votes(matches).ratings
    has_match = np.bincount(np.concatenate([matches.first, matches.second]), minlength=len(ratings)) > 0
    size = -1, matches.docs.height // len(matches.queries)
    ratings, grade = np.where(has_match, ratings, -np.inf).reshape(size), topics.grade.reshape(size)
    aucs = [auc(topic_ratings, relevant) for topic_ratings, relevant in zip(ratings, grade >= RELEVANT, strict=True)]
    has_auc = np.array([topic_auc is not None for topic_auc in aucs])
    gain = np.exp2(grade[has_auc]) - 1
    order = np.lexsort((tie_breaker.reshape(size)[has_auc], -ratings[has_auc]), axis=1)
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))[: gain.shape[1]]
    dcg, ideal_dcg = (
        (ordered[:, :DEPTH] @ discount)
        for ordered in (np.take_along_axis(gain, order, axis=1), -np.sort(-gain, axis=1))
    )
    return float(np.mean([topic_auc for topic_auc in aucs if topic_auc is not None])), float(np.mean(dcg / ideal_dcg))
