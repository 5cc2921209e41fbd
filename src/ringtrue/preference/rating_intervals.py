"""How sure ratings are: intervals, and whether a document is really better than the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.formatting.phrases import counted
from ringtrue.preference.laplace import Told, drawn_inwards, standard_errors
from ringtrue.preference.vote_bootstrap import CLOSE, resampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches
    from ringtrue.preference.rating_fit import Rated

__all__ = ["by_bootstrap", "by_curvature", "next_behind"]

FEW = 10  # votes on a document, below which drawing votes anew shows too little of what is open


def by_curvature(matches: Matches, rated: Rated, told: Told, *, ridge: float, level: float) -> Rated:
    """Normal intervals from what the matches told, and how sure the leads are."""
    group = matches.components()
    behind = next_behind(rated.ratings, group, matches.docs["doc"])
    errors = standard_errors(matches, told, group, behind, ridge=ridge)
    unknown, notes = int(np.isnan(errors.rating).sum()), rated.notes
    if unknown:
        doubt = "of large queries without an interval: on long chains of votes it cannot be told how sure ratings are"
        notes += (f"{counted(unknown, 'document')} {doubt}",)
    drawn = np.abs(drawn_inwards(matches, told, rated.ratings, ridge=ridge))
    in_errors = np.divide(drawn, errors.rating, out=np.zeros_like(drawn), where=errors.rating > 0)
    known = replace(rated, judge_errors=errors.judge, drawn=in_errors, notes=notes)
    return known.with_errors(errors.rating, level).with_leads(errors.lead, behind)


def by_bootstrap(
    votes: Matches,
    rated: Rated,
    *,
    ridge: float,
    level: float,
    resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> Rated:
    """Percentiles of the ratings less their group's mean, query by query."""
    ratings = rated.ratings
    low, high, errors, ahead = (np.empty_like(ratings) for _ in range(4))
    group = votes.components()
    behind = next_behind(ratings, group, votes.docs["doc"])
    edges = [(1 - level) / 2, (1 + level) / 2]
    for (_, own), start, end in zip(votes.by_query(), votes.start[:-1], votes.start[1:], strict=True):
        drawn = resampled(own, ratings[start:end], ridge=ridge, outcome=rated.outcome,
                          resamples=resamples, rng=rng, progress=progress)  # fmt: skip
        _, groups = np.unique(group[start:end], return_inverse=True)
        member = np.eye(groups.max() + 1)[groups]
        drawn -= drawn @ (member / member.sum(axis=0)) @ member.T
        low[start:end], high[start:end] = np.quantile(drawn, edges, axis=0)
        errors[start:end] = drawn.std(axis=0, ddof=1)
        lead = drawn - drawn[:, behind[start:end] - start]
        ahead[start:end] = np.where(np.abs(lead) < 2 * CLOSE, 0.5, lead > 0).mean(axis=0)
    unknown = _shown_too_little(votes)
    ahead[unknown | unknown[behind] | (behind == np.arange(len(behind)))] = np.nan
    for some in (low, high, errors):
        some[unknown] = np.nan
    notes = rated.notes
    if unknown.any():
        which = f"{counted(int(unknown.sum()), 'document')} with fewer than {FEW} votes, or with wins or losses only"
        notes += (f"no interval for {which}: votes drawn anew show too little; --interval laplace has one",)
    return replace(rated, errors=errors, low=low, high=high, ahead=ahead, notes=notes)


def _shown_too_little(votes: Matches) -> NDArray[np.bool_]:
    """Which documents have few votes, or none that differs from the others."""
    won, met = votes.won(), votes.met()
    return np.asarray((met < FEW) | (won == 0) | (won == met))


def next_behind(ratings: FloatArray, group: NDArray[np.int32], docs: pl.Series) -> NDArray[np.int64]:
    """For each document the next one of its group by rating, equal ones by name; the last has itself.

    Examples:
        >>> group = np.array([0, 0, 0, 1], dtype=np.int32)
        >>> next_behind(np.array([0.5, 2.0, 0.5, 3.0]), group, pl.Series([*"dcba"])).tolist()
        [0, 2, 0, 3]
    """
    order = np.lexsort((docs.rank("ordinal").to_numpy(), -ratings, group))
    behind = np.arange(len(ratings))
    same = group[order[:-1]] == group[order[1:]]
    behind[order[:-1][same]] = order[1:][same]
    return behind
