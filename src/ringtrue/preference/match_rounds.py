"""Matches in an order in which many can be played at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches

MIN_BATCH = 24  # matches at once from which arrays are faster than one after another


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRounds:
    """First the rows of `batches`, the matches in each of different queries; then `sequential`, one after another.

    Each query's matches keep their order. Queries know nothing of each other, so that the first match of all of them,
    then the second and so on, can be played at once; of the few that have more matches than others, the rest is left.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> votes = {"query": [*"ppq"], "left": [*"aac"], "right": [*"bcd"], "winner": [*"aac"]}
        >>> rounds = MatchRounds.of(Matches.of(Preferences.of(votes)), min_batch=1)
        >>> [rows.tolist() for rows in rounds.batches], rounds.sequential.tolist()
        ([[0, 2], [1]], [])
    """

    batches: tuple[NDArray[np.int64], ...]
    sequential: NDArray[np.int64]

    @classmethod
    def of(cls, matches: Matches, *, min_batch: int = MIN_BATCH) -> Self:
        """The rounds of these matches, at least so many played at once."""
        if len(matches.queries) < min_batch:
            return cls(batches=(), sequential=np.arange(matches.size))
        query = matches.query[matches.first]
        counts = np.bincount(query, minlength=len(matches.queries))
        rows = np.argsort(query, kind="stable") if len(counts) > 1 else np.arange(matches.size)
        begin = np.cumsum(counts) - counts
        longest = np.argsort(-counts, kind="stable")
        # In round t the queries with more than t matches play; there are fewer of them each time.
        playing = np.searchsorted(np.sort(-counts), -np.arange(counts.max(initial=0)), side="left")
        batched_rounds = int(np.count_nonzero(playing >= min_batch))
        round_number = np.arange(matches.size) - np.repeat(begin, counts)
        return cls(
            batches=tuple(rows[begin[longest[: playing[t]]] + t] for t in range(batched_rounds)),
            sequential=rows[round_number >= batched_rounds],
        )
