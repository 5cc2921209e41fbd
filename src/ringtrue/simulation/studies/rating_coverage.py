"""How often the intervals of ratings hold what is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.preference.glicko import glicko
from ringtrue.preference.pair_designs import random_pairs
from ringtrue.preference.rating_fit import Rated
from ringtrue.preference.rating_methods import PASSES, Rating
from ringtrue.simulation.worlds.compared_topics import PreferenceWorld, compared_topics
from ringtrue.stats.intervals import mean_estimate, require_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.simulation.worlds.compared_topics import ComparedTopics

__all__ = ["INTERVALS", "SETTINGS", "HeldRatings", "Setting", "coverage_of_ratings", "intervals_that_hold"]

BEST = 0.1  # the share of documents that matter most
WIDE = Rating(method="glicko", variance=175.0**2)
INTERVALS: dict[str, Rating] = {
    "laplace": Rating(),
    "laplace, ridge .05": Rating(ridge=0.05),
    "bootstrap": Rating(interval="bootstrap", resamples=200),
    "davidson": Rating(ties="davidson"),
    "sensitivity": Rating(by_judge="sensitivity"),
    # `rate` gives no interval for these, and this is why.
    "glicko, 175²": WIDE,
    "glicko, 10": Rating(method="glicko"),
    "glicko, 175², 20 passes": replace(WIDE, passes=PASSES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Votes of one kind: a world, how many random pairs of each topic have how many votes, and which intervals."""

    says: str
    world: PreferenceWorld
    pairs: int
    votes: int
    intervals: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRatings:
    """How often an interval held the truth, over documents and replications.

    `se` is over replications, since ratings of one topic come from the same votes. `best` is the coverage of the best
    tenth of the documents, and `width` the mean of high − low, in log odds.
    """

    setting: str
    interval: str
    coverage: float
    se: float
    best: float
    width: float


HONEST = PreferenceWorld(topics=1, docs=30, workers=1, crew=1, random=0, adversarial=0, step=0, within=1.5)
ALONE = ("laplace", "glicko, 175²", "glicko, 10", "glicko, 175², 20 passes")
SETTINGS: dict[str, Setting] = {
    "many votes": Setting(
        says="30 documents with a spread of 1.5, 150 pairs, 4 votes each",
        world=HONEST, pairs=150, votes=4, intervals=("laplace", "bootstrap", *ALONE[1:]),
    ),
    "few votes": Setting(
        says="the same documents, 45 pairs, 2 votes each", world=HONEST, pairs=45, votes=2, intervals=ALONE
    ),
    "grades": Setting(
        says="100 documents of four grades, the few best 5 above the mean, 500 pairs, 4 votes each",
        world=replace(HONEST, docs=100, step=2, within=0.75), pairs=500, votes=4,
        intervals=("laplace", "laplace, ridge .05"),
    ),
    "far apart": Setting(
        says="as many votes on documents with a spread of 3",
        world=replace(HONEST, within=3), pairs=150, votes=4, intervals=("laplace", "laplace, ridge .05", "bootstrap"),
    ),
    "ties": Setting(
        says="as many votes, a third of them ties",
        world=replace(HONEST, ties=1.0), pairs=150, votes=4, intervals=("laplace", "davidson"),
    ),
    "bad workers": Setting(
        says="five such topics, 30 workers, of whom 20% guess and 5% say the opposite",
        world=replace(HONEST, topics=5, workers=30, crew=30, random=0.2, adversarial=0.05),
        pairs=150, votes=4, intervals=("laplace", "sensitivity"),
    ),
    "more bad workers": Setting(
        says="the same, 40% guess and 10% say the opposite",
        world=replace(HONEST, topics=5, workers=30, crew=30, random=0.4, adversarial=0.1),
        pairs=150, votes=4, intervals=("sensitivity",),
    ),
}  # fmt: skip
# Intervals that fail for such votes: their model is another, or the ridge expects documents that are less far apart,
# which nobody can know who sees the votes alone. The study says so.
UNFIT = {
    ("grades", "laplace"), ("far apart", "laplace"), ("far apart", "bootstrap"), ("ties", "laplace"),
    ("bad workers", "laplace"),
}  # fmt: skip
NEVER = ("glicko, 175²", "glicko, 10", "glicko, 175², 20 passes")


def intervals_that_hold(setting: str, interval: str) -> bool:
    """Whether an interval is made for such votes.

    Examples:
        >>> intervals_that_hold("many votes", "laplace"), intervals_that_hold("bad workers", "laplace")
        (True, False)
    """
    return interval not in NEVER and (setting, interval) not in UNFIT


def coverage_of_ratings(
    rng: np.random.Generator,
    settings: Sequence[str] = tuple(SETTINGS),
    *,
    replications: int = 40,
    level: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> list[HeldRatings]:
    """How often intervals hold a document's quality less the mean of those it is joined with.

    By sensitivity the truth is what a typical worker who looks shows: quality times the root of the mean squared sense,
    over votes. Documents that were in no pair, or have no interval, are left out.

    Examples:
        >>> found = coverage_of_ratings(np.random.default_rng(1), ["ties"], replications=20)
        >>> [(one.interval, round(one.coverage, 2)) for one in found]
        [('laplace', 0.77), ('davidson', 0.95)]
    """
    require_level(level)
    if replications < 2:
        raise UsageError(f"a study of coverage needs 2 replications, found {replications}")
    found = []
    for name in settings:
        setting = SETTINGS[name]
        for interval, told in _held(setting, rng, replications, level, progress).items():
            shares, best, widths = np.array(told).T
            share = mean_estimate(shares)
            found.append(HeldRatings(
                setting=name, interval=interval, coverage=share.value or 0.0, se=share.se or 0.0,
                best=float(np.nanmean(best)), width=float(widths.mean()),
            ))  # fmt: skip
    return found


def _held(
    setting: Setting, rng: np.random.Generator, replications: int, level: float, progress: Callable[[int], None]
) -> dict[str, list[FloatArray]]:
    """For each interval and replication the share that it holds, that of the best documents, and its mean width."""
    # Topics without workers know nothing of each other: each is a replication, and all are solved at once.
    alone = setting.world.workers == 1
    world = replace(setting.world, topics=replications) if alone else setting.world
    told: dict[str, list[FloatArray]] = {name: [] for name in setting.intervals}
    for _ in range(1 if alone else replications):
        topics = compared_topics(world, rng)
        budget = setting.pairs * world.topics
        pairs = random_pairs(topics.nobody, votes=setting.votes, budget=budget, rng=rng)
        votes = topics.asked(topics.nobody, pairs, rng)
        for name in setting.intervals:
            how = replace(INTERVALS[name], level=level)
            rated = _by_glicko(how, votes) if how.method == "glicko" else how.rated(votes, rng=rng)
            by_topic = _compared(topics, votes, rated, shown=how.by_judge == "sensitivity")
            told[name] += list(by_topic) if alone else [by_topic.mean(axis=0)]
            progress(votes.size * (how.resamples if how.interval == "bootstrap" else 1))
    return told


def _by_glicko(how: Rating, votes: Matches) -> Rated:
    """Ratings with intervals whatever they are worth; one pass through copies of the matches is as many passes."""
    pairs = votes.paired()
    played = pairs.keep(np.tile(np.arange(pairs.size), how.passes or 1))
    after, variances = glicko(played, start=how.start, variance=how.variance, scale=how.scale)
    rated = Rated(ratings=after[-1], unit=how.scale / np.log(10))
    return rated.with_errors(np.sqrt(variances), how.level)


def _compared(topics: ComparedTopics, votes: Matches, rated: Rated, *, shown: bool) -> FloatArray:
    """For each topic the share of documents whose interval holds the truth, that of the best, and the mean width."""
    assert rated.low is not None
    assert rated.high is not None
    assert rated.unit is not None
    group = votes.components()
    sizes = np.bincount(group)

    def mean(some: FloatArray) -> FloatArray:
        return np.asarray((np.bincount(group, weights=some) / sizes)[group])

    scale = float(np.sqrt((topics.sense[votes.judge] ** 2).mean())) if shown else 1.0
    truth = scale * (topics.quality - mean(topics.quality)) * rated.unit + mean(rated.ratings)
    met = (sizes[group] > 1) & ~np.isnan(rated.low)
    quality = topics.quality.reshape(len(votes.queries), -1)
    good = met & (quality >= np.quantile(quality, 1 - BEST, axis=1, keepdims=True)).ravel()

    def by_topic(values: FloatArray, some: NDArray[np.bool_]) -> FloatArray:
        topic, count = votes.query[some], len(votes.queries)
        sums, documents = (np.bincount(topic, weights=x, minlength=count) for x in (values[some], None))
        return np.asarray(np.divide(sums, documents, out=np.full(count, np.nan), where=documents > 0))

    held = ((rated.low <= truth) & (truth <= rated.high)).astype(np.float64)
    return np.stack(
        [by_topic(held, met), by_topic(held, good), by_topic((rated.high - rated.low) / rated.unit, met)], axis=1
    )
