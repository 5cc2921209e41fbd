"""Intervals from votes drawn anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.preference.bradley_terry import fit_bradley_terry
from ringtrue.preference.outcome_model import OutcomeModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ringtrue.preference.matches import FloatArray, Matches

MAX_MATCHES_PER_BATCH = 100_000  # matches in one problem: few enough that their vectors are summed by one thread
RATING_TOLERANCE = 1e-3  # of a rating in log odds: far below what the votes leave open


def bootstrap_ratings(
    votes: Matches,
    ratings: FloatArray,
    *,
    ridge: float,
    outcome: OutcomeModel,
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
