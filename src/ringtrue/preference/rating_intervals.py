"""How sure ratings are: intervals, and whether a document is really better than the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.formatting.phrases import format_count
from ringtrue.preference.laplace import MatchInformation, ridge_shrinkage, standard_errors
from ringtrue.preference.vote_bootstrap import RATING_TOLERANCE, bootstrap_ratings

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.preference.rating_fit import RatingFit

MIN_VOTES = 10  # votes on a document, below which drawing votes anew shows too little of what is open


def add_laplace_intervals(
    matches: Matches, rating_fit: RatingFit, information: MatchInformation, *, ridge: float, level: float
) -> RatingFit:
    """Normal intervals from what the matches told, and how sure the leads are."""
    group = matches.components()
    behind = next_ranked(rating_fit.ratings, group, matches.docs["doc"])
    errors = standard_errors(matches, information, group, behind, ridge=ridge)
    missing, notes = int(np.isnan(errors.rating).sum()), rating_fit.notes
    if missing:
        reason = "of large queries without an interval: on long chains of votes it cannot be told how sure ratings are"
        notes += (f"{format_count(missing, 'document')} {reason}",)
    shrinkage = np.abs(ridge_shrinkage(matches, information, rating_fit.ratings, ridge=ridge))
    shrinkage_in_errors = np.divide(shrinkage, errors.rating, out=np.zeros_like(shrinkage), where=errors.rating > 0)
    annotated = replace(rating_fit, judge_errors=errors.judge, shrinkage=shrinkage_in_errors, notes=notes)
    return annotated.with_errors(errors.rating, level).with_leads(errors.lead, behind)


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
            part,
            ratings[start:end],
            ridge=ridge,
            outcome=rating_fit.outcome,
            resamples=resamples,
            rng=rng,
            progress=progress,
        )
        _, groups = np.unique(group[start:end], return_inverse=True)
        membership = np.eye(groups.max() + 1)[groups]
        resampled_ratings -= resampled_ratings @ (membership / membership.sum(axis=0)) @ membership.T
        low[start:end], high[start:end] = np.quantile(resampled_ratings, edges, axis=0)
        errors[start:end] = resampled_ratings.std(axis=0, ddof=1)
        lead = resampled_ratings - resampled_ratings[:, behind[start:end] - start]
        ahead[start:end] = np.where(np.abs(lead) < 2 * RATING_TOLERANCE, 0.5, lead > 0).mean(axis=0)
    undetermined = _lacks_varied_votes(votes)
    ahead[undetermined | undetermined[behind] | (behind == np.arange(len(behind)))] = np.nan
    for column in (low, high, errors):
        column[undetermined] = np.nan
    notes = rating_fit.notes
    if undetermined.any():
        count = format_count(int(undetermined.sum()), "document")
        described = f"{count} with fewer than {MIN_VOTES} votes, or with wins or losses only"
        notes += (f"no interval for {described}: votes drawn anew show too little; --interval laplace has one",)
    return replace(rating_fit, errors=errors, low=low, high=high, ahead=ahead, notes=notes)


def _lacks_varied_votes(votes: Matches) -> NDArray[np.bool_]:
    """Which documents have few votes, or none that differs from the others."""
    wins, match_counts = votes.win_totals(), votes.match_counts()
    return np.asarray((match_counts < MIN_VOTES) | (wins == 0) | (wins == match_counts))


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
