"""Intervals from votes drawn anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["resampled"]

AT_ONCE = 200_000  # matches in one problem
CLOSE = 1e-3  # of a rating in log odds: far below what the votes leave open


def resampled(
    votes: Matches,
    ratings: FloatArray,
    *,
    ridge: float,
    outcome: Outcome,
    resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> FloatArray:
    """The ratings of one query from as many votes, drawn from the votes with replacement: resamples × documents.

    Each resample is a query of its own, so that many are solved together, starting where all the votes lead.
    `progress` is told how many votes were drawn.
    """
    found = []
    for part in _drawn(votes, resamples, rng):
        start = np.tile(ratings, len(part.queries))
        rated = fit(part, ridge=ridge, outcome=outcome, start=start, tolerance=CLOSE)
        found.append(rated.reshape(-1, len(ratings)))
        progress(votes.size * len(part.queries))
    return np.concatenate(found)


def _drawn(votes: Matches, resamples: int, rng: np.random.Generator) -> Iterator[Matches]:
    """The resamples as queries, some at a time."""
    size = votes.docs.height
    batch = max(AT_ONCE // votes.size, 1)
    for begin in range(0, resamples, batch):
        some = min(batch, resamples - begin)
        drawn = rng.multinomial(votes.size, np.full(votes.size, 1 / votes.size), some)
        copy, vote = np.nonzero(drawn)
        yield replace(
            votes.keep(vote), docs=pl.concat([votes.docs] * some), queries=tuple(map(str, range(some))),
            start=np.arange(some + 1) * size, first=copy * size + votes.first[vote],
            second=copy * size + votes.second[vote], weight=drawn[copy, vote].astype(np.float64),
        )  # fmt: skip
