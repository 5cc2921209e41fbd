"""Topics whose documents a crowd compares two by two: most workers try, some guess, some say the opposite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.preference.bradley_terry import OutcomeModel
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.pair_designs import Pairs

IntArray: TypeAlias = NDArray[np.int64]
GRADES = (0.75, 0.12, 0.08, 0.05)  # of the documents that have grade 0 to 3: most are not relevant


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceWorld:
    """What is true: documents of each topic, workers, and how far apart documents are.

    A document's quality, in log odds of a vote, is `step` for each grade and a normal number with spread `within`. The
    initial order is that of the grade seen through noise with spread `initial`, in grades. `random` and `adversarial`
    are shares of the workers; each topic is done by a `crew` of them. `ties` is Davidson's ν: 0 is a world without.

    Of a dozen worlds that were tried, this one comes nearest to the figures that others have found. In all of them it
    is best to weigh the judges. That Elo beats the win rate needs many documents and a good initial order where half of
    the workers are bad: with 50 documents, or an initial order with noise of 1.5 grades, the two are level there.
    """

    topics: int = 10
    docs: int = 100
    workers: int = 60
    crew: int = 12
    random: float = 0.2
    adversarial: float = 0.05
    step: float = 2.0
    within: float = 0.75
    initial: float = 1.0
    ties: float = 0.0

    def __post_init__(self) -> None:
        if self.topics < 1 or self.docs < 7:
            raise UsageError(
                "world-too-small", f"a world needs a topic and 7 documents, found {self.topics} and {self.docs}"
            )
        if not 1 <= self.crew <= self.workers:
            raise UsageError(
                "crew-too-large",
                f"the crew of a topic is some of the workers, found a crew of {self.crew} and {self.workers} workers",
            )
        if min(self.random, self.adversarial) < 0 or self.random + self.adversarial > 1:
            raise UsageError(
                "not-a-share",
                f"random and adversarial are shares of the workers, found {self.random:g} and {self.adversarial:g}",
            )
        if min(self.step, self.within, self.initial, self.ties) < 0:
            raise UsageError(
                "below-zero",
                f"step, within, initial and ties are 0 or more, found {self.step:g}, {self.within:g}, "
                f"{self.initial:g} and {self.ties:g}",
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedTopics:
    """Topics with their truth, before anybody has voted: `unvoted` has the documents, in their initial order.

    `grade` and `quality` are those of each document; `sense` is 1 for an honest worker, 0 for one who flips a coin and
    −1 for one who says the opposite; `crew` has the workers of each topic, one row a topic.
    """

    unvoted: Matches
    grade: IntArray
    quality: FloatArray
    sense: FloatArray
    crew: IntArray
    outcome: OutcomeModel

    def collect_votes(self, matches: Matches, pairs: Pairs, rng: np.random.Generator) -> Matches:
        """The votes so far, and those on these pairs, in random order.

        A pair's votes come from different workers, until all of the crew have voted on it.
        """
        order = rng.permutation(len(pairs.first))
        copies = pairs.copies[order]
        first, second = (np.repeat(side[order], copies) for side in (pairs.first, pairs.second))
        turn = _count_previous(
            np.concatenate([matches.first, first]) * matches.docs.height + np.concatenate([matches.second, second])
        )[matches.size :]
        workers = self.crew.shape[1]
        # The crew takes turns, a pair beginning with whoever its documents fall to.
        judge = self.crew[matches.query[first], (first + second + turn) % workers]
        difference = self.sense[judge] * (self.quality[first] - self.quality[second])
        tie = self.outcome.tie_probability(difference)
        uniform, win = rng.random(len(first)), self.outcome.expected_score(difference) - tie / 2
        score = np.where(uniform < win, 1.0, np.where(uniform < win + tie, 0.5, 0.0))
        return replace(
            matches,
            first=np.concatenate([matches.first, first]).astype(np.int32),
            second=np.concatenate([matches.second, second]).astype(np.int32),
            score=np.concatenate([matches.score, score]),
            weight=np.concatenate([matches.weight, np.ones(len(first))]),
            tied=np.concatenate([matches.tied, score == 0.5]),
            judge=np.concatenate([matches.judge, judge]).astype(np.int32),
        )


def simulate_topics(world: PreferenceWorld, rng: np.random.Generator) -> ComparedTopics:
    """Topics of this world, with workers of every kind.

    Examples:
        >>> topics = simulate_topics(PreferenceWorld(topics=2, docs=10), np.random.default_rng(0))
        >>> topics.unvoted.docs.height, topics.unvoted.size, int((topics.sense == 0).sum())
        (20, 0, 12)
    """
    shape = world.topics, world.docs
    grade = rng.choice(len(GRADES), shape, p=GRADES)
    noisy_grade = grade + world.initial * rng.standard_normal(shape)
    grade = np.take_along_axis(grade, np.argsort(-noisy_grade, axis=1), axis=1)
    sense = np.ones(world.workers)
    shuffled = rng.permutation(world.workers)
    guessing, opposed = round(world.random * world.workers), round(world.adversarial * world.workers)
    sense[shuffled[:guessing]], sense[shuffled[guessing : guessing + opposed]] = 0.0, -1.0
    queries = tuple(f"t{number}" for number in range(world.topics))
    empty = np.empty(0)
    unvoted = Matches(
        docs=pl.DataFrame({"query": np.repeat(queries, world.docs), "doc": np.arange(grade.size).astype(str)}),
        queries=queries,
        start=np.arange(world.topics + 1) * world.docs,
        first=empty.astype(np.int32),
        second=empty.astype(np.int32),
        score=empty,
        weight=empty,
        tied=empty,
        judge=empty.astype(np.int32),
        judges=tuple(f"w{number}" for number in range(world.workers)),
    )
    return ComparedTopics(
        unvoted=unvoted,
        grade=grade.ravel(),
        quality=(world.step * grade + world.within * rng.standard_normal(shape)).ravel(),
        sense=sense,
        crew=rng.permuted(np.tile(np.arange(world.workers), (world.topics, 1)), axis=1)[:, : world.crew],
        outcome=OutcomeModel(ties=world.ties),
    )


def _count_previous(keys: IntArray) -> IntArray:
    """For each key, how many of the same stand before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    previous = np.empty(len(keys), dtype=np.int64)
    previous[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    return previous
