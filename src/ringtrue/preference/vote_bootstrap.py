"""Intervals from votes drawn anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.outcome_model import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["CLOSE", "resampled"]

AT_ONCE = 100_000  # matches in one problem: few enough that their vectors are summed by one thread
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
    """The resamples as queries, some at a time; in which order votes and documents stand changes nothing."""
    kinds, counts = _kinds(votes)
    size = votes.docs.height
    batch = max(AT_ONCE // kinds.size, 1)
    for begin in range(0, resamples, batch):
        some = min(batch, resamples - begin)
        drawn = rng.multinomial(votes.size, counts / votes.size, some)
        copy, kind = np.nonzero(drawn)
        yield replace(
            kinds.keep(kind), docs=pl.concat([votes.docs] * some), queries=tuple(map(str, range(some))),
            start=np.arange(some + 1) * size, first=copy * size + kinds.first[kind],
            second=copy * size + kinds.second[kind], weight=drawn[copy, kind].astype(np.float64),
        )  # fmt: skip


def _kinds(votes: Matches) -> tuple[Matches, NDArray[np.int64]]:
    """One of each kind of vote, by who won against whom, in an order that only names decide; and how many there are."""
    name = votes.docs["doc"].rank("ordinal").to_numpy().astype(np.int64)
    one, other = name[votes.first], name[votes.second]
    won = np.where(one < other, votes.score, 1 - votes.score)
    keys = (np.minimum(one, other) * (len(name) + 1) + np.maximum(one, other)) * 3 + np.rint(2 * won).astype(np.int64)
    _, row, counts = np.unique(keys, return_index=True, return_counts=True)
    return votes.keep(row), counts
