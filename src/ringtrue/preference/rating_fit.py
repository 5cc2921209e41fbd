"""What every method gives: ratings, and how sure they are by the posterior's curvature or by votes drawn anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.messages import Note, Suggestion
from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry
from ringtrue.preference.laplace import MatchInformation, ridge_shrinkage, standard_errors
from ringtrue.stats.intervals import normal_quantile
from ringtrue.tables.judgments import NO_QUERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ringtrue.preference.judge_aware_ratings import JudgeFit
    from ringtrue.preference.matches import FloatArray, Matches

MIN_VOTES = 10  # votes on a document, below which drawing votes anew shows too little of what is open
MAX_MATCHES_PER_BATCH = 100_000  # matches in one problem: few enough that their vectors are summed by one thread
RATING_TOLERANCE = 1e-3  # of a rating in log odds: far below what the votes leave open


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFit:
    """Ratings of all documents, and whatever the method knows beside them.

    `unit` is how many points are one in log odds, None where a rating says nothing about chances. `low` and `high` are
    None where no interval can be defended. `ahead` is how sure it is that a document is better than the next of its
    group, NaN for the last; `shrinkage` how many standard errors the ridge draws it towards the mean. `pass_ratings`
    has the ratings after every pass.
    """

    ratings: FloatArray
    unit: float | None
    outcome: OutcomeModel = field(default_factory=OutcomeModel)
    errors: FloatArray | None = None
    low: FloatArray | None = None
    high: FloatArray | None = None
    ahead: FloatArray | None = None
    shrinkage: FloatArray | None = None
    pass_ratings: tuple[FloatArray, ...] = ()
    judge_fit: JudgeFit | None = None
    judge_errors: FloatArray | None = None
    notes: tuple[Note, ...] = ()

    def with_errors(self, errors: FloatArray, level: float) -> Self:
        """The same with normal intervals."""
        half = normal_quantile((1 + level) / 2) * errors
        return replace(self, errors=errors, low=self.ratings - half, high=self.ratings + half)

    def with_note(self, note: Note) -> Self:
        """The same with one more doubt."""
        return replace(self, notes=(*self.notes, note))

    def expected_scores(self, matches: Matches) -> FloatArray | None:
        """The score that the first document of each match can expect, from its judge where judges differ."""
        if self.judge_fit is not None:
            return self.judge_fit.expected_scores(matches)
        if self.unit is None:
            return None
        return self.outcome.expected_score((self.ratings[matches.first] - self.ratings[matches.second]) / self.unit)


def add_laplace_intervals(
    matches: Matches, rating_fit: RatingFit, information: MatchInformation, *, ridge: float, level: float
) -> RatingFit:
    """Normal intervals from what the matches told, and how sure the leads are."""
    from scipy.special import ndtr

    ratings, group = rating_fit.ratings, matches.components()
    behind = next_ranked(ratings, group, matches.docs["doc"])
    errors = standard_errors(matches, information, group, behind, ridge=ridge)
    if (missing := np.isnan(errors.rating)).any():
        suggestions = [Suggestion("chooses votes that shorten the chains", function="choose_pairs")]
        if information.judges is None:
            suggestions.append(Suggestion("may have intervals", interval="bootstrap"))
        note = Note(
            "no-interval-on-chains",
            f"{_describe_missing_intervals(matches, missing)}: in large queries, on long chains of votes, the "
            f"precision of ratings cannot be computed",
            suggestions=suggestions,
        )
        rating_fit = rating_fit.with_note(note)
    shrinkage = np.abs(ridge_shrinkage(matches, information, ratings, ridge=ridge))
    shrinkage_in_errors = np.divide(shrinkage, errors.rating, out=np.zeros_like(shrinkage), where=errors.rating > 0)
    has_lead = errors.lead > 0
    ahead = np.full(len(ratings), np.nan)
    ahead[has_lead] = ndtr((ratings - ratings[behind])[has_lead] / errors.lead[has_lead])
    annotated = replace(rating_fit, judge_errors=errors.judge, shrinkage=shrinkage_in_errors, ahead=ahead)
    return annotated.with_errors(errors.rating, level)


def add_bootstrap_intervals(
    votes: Matches,
    rating_fit: RatingFit,
    *,
    ridge: float,
    level: float,
    resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> RatingFit:
    """Percentiles of the ratings less their group's mean, query by query."""
    ratings = rating_fit.ratings
    low, high, errors, ahead = (np.empty_like(ratings) for _ in range(4))
    group = votes.components()
    behind = next_ranked(ratings, group, votes.docs["doc"])
    edges = [(1 - level) / 2, (1 + level) / 2]
    for (_, part), start, end in zip(votes.by_query(), votes.start[:-1], votes.start[1:], strict=True):
        resampled_ratings = bootstrap_ratings(
            part, ratings[start:end], rating_fit.outcome, ridge=ridge, resamples=resamples, rng=rng, progress=progress
        )
        _, groups = np.unique(group[start:end], return_inverse=True)
        membership = np.eye(groups.max() + 1)[groups]
        resampled_ratings -= resampled_ratings @ (membership / membership.sum(axis=0)) @ membership.T
        low[start:end], high[start:end] = np.quantile(resampled_ratings, edges, axis=0)
        errors[start:end] = resampled_ratings.std(axis=0, ddof=1)
        lead = resampled_ratings - resampled_ratings[:, behind[start:end] - start]
        ahead[start:end] = np.where(np.abs(lead) < 2 * RATING_TOLERANCE, 0.5, lead > 0).mean(axis=0)
    wins, match_counts = votes.win_totals(), votes.match_counts()
    few = match_counts < MIN_VOTES
    undetermined = few | (wins == 0) | (wins == match_counts)
    ahead[undetermined | undetermined[behind] | (behind == np.arange(len(behind)))] = np.nan
    for column in (low, high, errors):
        column[undetermined] = np.nan
    rating_fit = replace(rating_fit, errors=errors, low=low, high=high, ahead=ahead)
    if not undetermined.any():
        return rating_fit
    counts = {
        f"with fewer than {MIN_VOTES} votes": int(few.sum()),
        f"with {MIN_VOTES} or more, all of them won or all lost": int((undetermined & ~few).sum()),
    }
    reasons = " and ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
    suggestions = [Suggestion("has an interval for these too", interval="laplace")]
    if few.any():
        collect = Suggestion(f"chooses pairs until each has {MIN_VOTES} votes", function="choose_pairs")
        suggestions.insert(0, collect)
    note = Note(
        "no-bootstrap-interval",
        f"{_describe_missing_intervals(votes, undetermined)}: {reasons}, of which resampled votes show too little",
        parameter="interval",
        suggestions=suggestions,
    )
    return rating_fit.with_note(note)


def _describe_missing_intervals(matches: Matches, missing: NDArray[np.bool_]) -> str:
    """How many documents have no interval, and the first three of them."""
    rows = matches.docs.filter(pl.Series(missing))
    names = [
        f"'{doc}'" if query == NO_QUERY else f"'{doc}' of query '{query}'"
        for query, doc in rows.select("query", "doc").iter_rows()
    ]
    return f"no interval for {len(names):,} of {format_count(len(missing), 'document')} ({join_first_few(names)})"


def next_ranked(ratings: FloatArray, group: NDArray[np.int32], docs: pl.Series) -> NDArray[np.int64]:
    """For each document the next one of its group by rating, equal ones by name; the last has itself.

    Examples:
        >>> group = np.array([0, 0, 0, 1], dtype=np.int32)
        >>> next_ranked(np.array([0.5, 2.0, 0.5, 3.0]), group, pl.Series([*"dcba"])).tolist()
        [0, 2, 0, 3]
    """
    order = np.lexsort((docs.rank("ordinal").to_numpy(), -ratings, group))
    behind = np.arange(len(ratings))
    same = group[order[:-1]] == group[order[1:]]
    behind[order[:-1][same]] = order[1:][same]
    return behind


def bootstrap_ratings(
    votes: Matches,
    ratings: FloatArray,
    outcome: OutcomeModel,
    *,
    ridge: float,
    resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> FloatArray:
    """The ratings of one query from as many votes, drawn from the votes with replacement: resamples × documents.

    Each resample is a query of its own, so that many are solved together, starting where all the votes lead.
    `progress` is told how many votes were drawn.
    """
    resampled_ratings = []
    for batch in _resample_votes(votes, resamples, rng):
        start = np.tile(ratings, len(batch.queries))
        fitted = fit_bradley_terry(batch, ridge=ridge, outcome=outcome, start=start, tolerance=RATING_TOLERANCE)
        resampled_ratings.append(fitted.reshape(-1, len(ratings)))
        progress(votes.size * len(batch.queries))
    return np.concatenate(resampled_ratings)


def _resample_votes(votes: Matches, resamples: int, rng: np.random.Generator) -> Iterator[Matches]:
    """The resamples as queries, some at a time; in which order votes and documents stand changes nothing."""
    distinct, counts = _distinct_votes(votes)
    size = votes.docs.height
    batch_size = max(MAX_MATCHES_PER_BATCH // distinct.size, 1)
    for begin in range(0, resamples, batch_size):
        copies = min(batch_size, resamples - begin)
        vote_counts = rng.multinomial(votes.size, counts / votes.size, copies)
        copy, kind = np.nonzero(vote_counts)
        yield replace(
            distinct.keep(kind),
            docs=pl.concat([votes.docs] * copies),
            queries=tuple(map(str, range(copies))),
            start=np.arange(copies + 1) * size,
            first=copy * size + distinct.first[kind],
            second=copy * size + distinct.second[kind],
            weight=vote_counts[copy, kind].astype(np.float64),
        )


def _distinct_votes(votes: Matches) -> tuple[Matches, NDArray[np.int64]]:
    """One of each kind of vote, by who won against whom, in an order that only names decide; and how many there are."""
    doc_rank = votes.docs["doc"].rank("ordinal").to_numpy().astype(np.int64)
    first_rank, second_rank = doc_rank[votes.first], doc_rank[votes.second]
    score = np.where(first_rank < second_rank, votes.score, 1 - votes.score)
    keys = (
        np.minimum(first_rank, second_rank) * (len(doc_rank) + 1) + np.maximum(first_rank, second_rank)
    ) * 3 + np.rint(2 * score).astype(np.int64)
    _, row, counts = np.unique(keys, return_index=True, return_counts=True)
    return votes.keep(row), counts
