"""How often the intervals of ratings hold what is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.preference.elo_and_glicko import glicko
from ringtrue.preference.pair_designs import choose_random_pairs
from ringtrue.preference.rating_fit import RatingFit
from ringtrue.preference.rating_methods import ELO_PASSES, RatingSettings
from ringtrue.simulation.worlds.compared_topics import PreferenceWorld, simulate_topics
from ringtrue.stats.intervals import estimate_mean, require_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.simulation.worlds.compared_topics import ComparedTopics

BEST_SHARE = 0.1  # the share of documents that matter most
GLICKO_WIDE = RatingSettings(method="glicko", variance=175.0**2)
INTERVALS: dict[str, RatingSettings] = {
    "laplace": RatingSettings(),
    "laplace, ridge .05": RatingSettings(ridge=0.05),
    "bootstrap": RatingSettings(interval="bootstrap", resamples=200),
    "davidson": RatingSettings(ties="davidson"),
    "sensitivity": RatingSettings(by_judge="sensitivity"),
    # `rate` gives no interval for these, and this is why.
    "glicko, 175²": GLICKO_WIDE,
    "glicko, 10": RatingSettings(method="glicko"),
    "glicko, 175², 20 passes": replace(GLICKO_WIDE, passes=ELO_PASSES),
}
HONEST = PreferenceWorld(topics=1, docs=30, workers=1, crew=1, random=0, adversarial=0, step=0, within=1.5)
SINGLE_WORKER_INTERVALS = ("laplace", "glicko, 175²", "glicko, 10", "glicko, 175², 20 passes")
# Settings and intervals that fail for their votes: the model is another, or the ridge expects documents that are less
# far apart, which nobody can know who sees the votes alone. The study says so.
UNFIT = {
    ("grades", "laplace"),
    ("far apart", "laplace"),
    ("far apart", "bootstrap"),
    ("ties", "laplace"),
    ("bad workers", "laplace"),
}
NEVER_FIT = ("glicko, 175²", "glicko, 10", "glicko, 175², 20 passes")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSetting:
    """Votes of one kind: a world, how many random pairs of each topic have how many votes, and which intervals."""

    description: str
    world: PreferenceWorld
    pairs: int
    votes: int
    intervals: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCoverage:
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


SETTINGS: dict[str, VoteSetting] = {
    "many votes": VoteSetting(
        description="30 documents with a spread of 1.5, 150 pairs, 4 votes each",
        world=HONEST, pairs=150, votes=4, intervals=("laplace", "bootstrap", *SINGLE_WORKER_INTERVALS[1:]),
    ),
    "few votes": VoteSetting(
        description="the same documents, 45 pairs, 2 votes each", world=HONEST, pairs=45, votes=2,
        intervals=SINGLE_WORKER_INTERVALS,
    ),
    "grades": VoteSetting(
        description="100 documents of four grades, the few best 5 above the mean, 500 pairs, 4 votes each",
        world=replace(HONEST, docs=100, step=2, within=0.75), pairs=500, votes=4,
        intervals=("laplace", "laplace, ridge .05"),
    ),
    "far apart": VoteSetting(
        description="as many votes on documents with a spread of 3",
        world=replace(HONEST, within=3), pairs=150, votes=4, intervals=("laplace", "laplace, ridge .05", "bootstrap"),
    ),
    "ties": VoteSetting(
        description="as many votes, a third of them ties",
        world=replace(HONEST, ties=1.0), pairs=150, votes=4, intervals=("laplace", "davidson"),
    ),
    "bad workers": VoteSetting(
        description="five such topics, 30 workers, of whom 20% guess and 5% say the opposite",
        world=replace(HONEST, topics=5, workers=30, crew=30, random=0.2, adversarial=0.05),
        pairs=150, votes=4, intervals=("laplace", "sensitivity"),
    ),
    "more bad workers": VoteSetting(
        description="the same, 40% guess and 10% say the opposite",
        world=replace(HONEST, topics=5, workers=30, crew=30, random=0.4, adversarial=0.1),
        pairs=150, votes=4, intervals=("sensitivity",),
    ),
}  # fmt: skip


def is_made_for(setting: str, interval: str) -> bool:
    """Whether an interval is made for such votes.

    Examples:
        >>> is_made_for("many votes", "laplace"), is_made_for("bad workers", "laplace")
        (True, False)
    """
    return interval not in NEVER_FIT and (setting, interval) not in UNFIT


def coverage_of_ratings(
    rng: np.random.Generator,
    settings: Sequence[str] = tuple(SETTINGS),
    *,
    replications: int = 40,
    level: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> list[RatingCoverage]:
    """How often intervals hold a document's quality less the mean of those it is joined with.

    By sensitivity the truth is what a typical worker who looks shows: quality times the root of the mean squared sense,
    over votes. Documents that were in no pair, or have no interval, are left out.

    Examples:
        >>> coverages = coverage_of_ratings(np.random.default_rng(1), ["ties"], replications=20)
        >>> [(row.interval, round(row.coverage, 2)) for row in coverages]
        [('laplace', 0.77), ('davidson', 0.95)]
    """
    require_level(level)
    if replications < 2:
        raise UsageError("study-too-small", f"a study of coverage needs 2 replications, found {replications}")
    coverages = []
    for name in settings:
        setting = SETTINGS[name]
        for interval, rows in _simulate_intervals(setting, rng, replications, level, progress).items():
            shares, best, widths = np.array(rows).T
            share = estimate_mean(shares)
            coverages.append(
                RatingCoverage(
                    setting=name,
                    interval=interval,
                    coverage=share.value or 0.0,
                    se=share.se or 0.0,
                    best=float(np.nanmean(best)),
                    width=float(widths.mean()),
                )
            )
    return coverages


def _simulate_intervals(
    setting: VoteSetting, rng: np.random.Generator, replications: int, level: float, progress: Callable[[int], None]
) -> dict[str, list[FloatArray]]:
    """For each interval and replication the share that it holds, that of the best documents, and its mean width."""
    # Topics without workers know nothing of each other: each is a replication, and all are solved at once.
    single_worker = setting.world.workers == 1
    world = replace(setting.world, topics=replications) if single_worker else setting.world
    by_interval: dict[str, list[FloatArray]] = {name: [] for name in setting.intervals}
    for _ in range(1 if single_worker else replications):
        topics = simulate_topics(world, rng)
        budget = setting.pairs * world.topics
        pairs = choose_random_pairs(topics.unvoted, votes=setting.votes, budget=budget, rng=rng)
        votes = topics.collect_votes(topics.unvoted, pairs, rng)
        for name in setting.intervals:
            settings = replace(INTERVALS[name], level=level)
            rating_fit = (
                _rate_with_glicko(settings, votes)
                if settings.method == "glicko"
                else settings.rate_votes(votes, rng=rng)
            )
            by_topic = _score_intervals(topics, votes, rating_fit, typical_worker=settings.by_judge == "sensitivity")
            by_interval[name] += list(by_topic) if single_worker else [by_topic.mean(axis=0)]
            progress(votes.size * (settings.resamples if settings.interval == "bootstrap" else 1))
    return by_interval


def _rate_with_glicko(settings: RatingSettings, votes: Matches) -> RatingFit:
    """Ratings with intervals whatever they are worth; one pass through copies of the matches is as many passes."""
    pairs = votes.merge_by_pair()
    played = pairs.keep(np.tile(np.arange(pairs.size), settings.passes or 1))
    pass_ratings, variances = glicko(played, start=settings.start, variance=settings.variance, scale=settings.scale)
    rating_fit = RatingFit(ratings=pass_ratings[-1], unit=settings.scale / np.log(10))
    return rating_fit.with_errors(np.sqrt(variances), settings.level)


def _score_intervals(
    topics: ComparedTopics, votes: Matches, rating_fit: RatingFit, *, typical_worker: bool
) -> FloatArray:
    """For each topic the share of documents whose interval holds the truth, that of the best, and the mean width."""
    assert rating_fit.low is not None
    assert rating_fit.high is not None
    assert rating_fit.unit is not None
    group = votes.components()
    sizes = np.bincount(group)

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray((np.bincount(group, weights=values) / sizes)[group])

    scale = float(np.sqrt((topics.sense[votes.judge] ** 2).mean())) if typical_worker else 1.0
    truth = scale * (topics.quality - mean(topics.quality)) * rating_fit.unit + mean(rating_fit.ratings)
    has_interval = (sizes[group] > 1) & ~np.isnan(rating_fit.low)
    quality = topics.quality.reshape(len(votes.queries), -1)
    is_best = has_interval & (quality >= np.quantile(quality, 1 - BEST_SHARE, axis=1, keepdims=True)).ravel()

    def by_topic(values: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
        topic, count = votes.query[mask], len(votes.queries)
        sums, documents = (np.bincount(topic, weights=x, minlength=count) for x in (values[mask], None))
        return np.asarray(np.divide(sums, documents, out=np.full(count, np.nan), where=documents > 0))

    held = ((rating_fit.low <= truth) & (truth <= rating_fit.high)).astype(np.float64)
    return np.stack(
        [
            by_topic(held, has_interval),
            by_topic(held, is_best),
            by_topic((rating_fit.high - rating_fit.low) / rating_fit.unit, has_interval),
        ],
        axis=1,
    )
