"""Votes between documents as small numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.judges.votes import Repeats, Votes
from ringtrue.stats.encoding import Codes, encode_column, encode_keys
from ringtrue.tables import Preferences
from ringtrue.tables.judgments import NO_JUDGE
from ringtrue.tables.preferences import OUTCOMES

FloatArray: TypeAlias = NDArray[np.float64]
SCORE_BY_OUTCOME = np.array([{"left": 1.0, "right": 0.0}.get(outcome, 0.5) for outcome in OUTCOMES])
MIN_BATCH = 24  # matches at once from which arrays are faster than one after another
MATCHES_PER_DOC = 8  # matches a document that usually join all of them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matches:
    """Match m is between the documents `first[m]` and `second[m]`; the first scored `score[m]`: 1, ½ for a tie, or 0.

    `docs` has a row for each document of each query, those of a query side by side: query number q has the rows
    from `start[q]` to `start[q + 1]`. A match stands for `weight` votes, its score is their mean, and `tied` is the
    share of ties among them. `judge` is who gave the vote, as a position in `judges`; −1 where several are in one.

    Examples:
        >>> votes = {"query": ["q"] * 3, "left": ["a", "b", "b"], "right": ["b", "a", "c"], "winner": ["a", "a", "tie"]}
        >>> matches = Matches.of(votes, repeats="all")
        >>> matches.docs["doc"].to_list(), matches.first.tolist(), matches.score.tolist()
        (['a', 'b', 'c'], [0, 0, 1], [1.0, 1.0, 0.5])
        >>> matches.merge_by_pair().weight.tolist()
        [2.0, 1.0]
    """

    docs: pl.DataFrame
    queries: tuple[str, ...]
    start: NDArray[np.int64]
    first: Codes
    second: Codes
    score: FloatArray
    weight: FloatArray
    tied: FloatArray
    judge: Codes
    judges: tuple[str, ...]

    @classmethod
    def of(cls, preferences: object, *, repeats: Repeats | None = None) -> Self:
        """Each vote as a match. Where a judge who has a name voted on a pair again, `repeats` says what counts."""
        frame = resolve_repeats(Preferences.of(preferences), repeats).frame
        query, queries = encode_column(frame["query"])
        doc_codes, names = encode_column(pl.concat([frame["left"], frame["right"]]))
        if len(queries) == 1:
            docs = pl.DataFrame({"query": queries.gather([0] * len(names)), "doc": names})
            doc_row, start = doc_codes, np.array([0, len(names)])
        else:
            keys, doc_row = encode_keys(np.tile(query.astype(np.int64), 2) * len(names) + doc_codes)
            docs = pl.DataFrame({"query": queries.gather(keys // len(names)), "doc": names.gather(keys % len(names))})
            start = np.searchsorted(keys, np.arange(len(queries) + 1) * len(names))
        left, right = doc_row[: frame.height], doc_row[frame.height :]
        judge, judges = encode_column(frame["judge"])
        return cls.between(
            left,
            right,
            frame["winner"],
            judge=judge,
            judges=tuple(judges),
            docs=docs,
            queries=tuple(queries),
            start=start,
        )

    @classmethod
    def between(cls, left: Codes, right: Codes, winner: pl.Series, *, judge: Codes, **shared: Any) -> Self:
        """A match for each vote between the documents on the left and on the right; `shared` are the other fields."""
        left_score = SCORE_BY_OUTCOME[winner.cast(pl.Enum(OUTCOMES)).to_physical().to_numpy()]
        return cls(
            first=np.minimum(left, right),
            second=np.maximum(left, right),
            score=np.where(left > right, 1 - left_score, left_score),
            weight=np.ones(len(left)),
            tied=(left_score == 0.5).astype(np.float64),
            judge=judge,
            **shared,
        )

    @property
    def size(self) -> int:
        """How many matches there are."""
        return len(self.first)

    @property
    def query(self) -> NDArray[np.int64]:
        """The query of each document, as a position."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.start))

    def match_counts(self) -> NDArray[np.int64]:
        """How many matches each document had."""
        return np.bincount(np.concatenate([self.first, self.second]), minlength=self.docs.height)

    def win_totals(self) -> FloatArray:
        """How many of them each document won, by share where a match stands for several votes."""
        size = self.docs.height
        wins = np.bincount(self.first, weights=self.score, minlength=size)
        return np.asarray(wins + np.bincount(self.second, weights=1 - self.score, minlength=size))

    def merge_by_pair(self) -> Self:
        """One match for each pair of documents, in order of appearance: the mean of its votes."""
        keys = self.first.astype(np.int64) * self.docs.height + self.second
        _, first_row, pair = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first_row)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        pair, first_row = rank[pair], first_row[order]
        votes = np.bincount(pair, weights=self.weight).astype(np.float64)
        return replace(
            self,
            first=self.first[first_row],
            second=self.second[first_row],
            weight=votes,
            score=np.bincount(pair, weights=self.weight * self.score) / votes,
            tied=np.bincount(pair, weights=self.weight * self.tied) / votes,
            judge=np.full(len(first_row), -1, dtype=np.int32),
        )

    def keep(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> Self:
        """These matches alone; documents and judges stay, also those that are left without one."""
        columns = ("first", "second", "score", "weight", "tied", "judge")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def by_query(self) -> Iterator[tuple[NDArray[np.int64], Self]]:
        """The matches of each query by themselves, and which rows they are."""
        query = self.query[self.first]
        order = np.argsort(query, kind="stable")
        ends = np.cumsum(np.bincount(query, minlength=len(self.queries)))
        for q, rows in enumerate(np.split(order, ends[:-1])):
            low, high = int(self.start[q]), int(self.start[q + 1])
            part = self.keep(rows)
            first, second, own_docs = part.first - np.int32(low), part.second - np.int32(low), self.docs[low:high]
            own_query = self.queries[q : q + 1]
            part = replace(
                part, docs=own_docs, queries=own_query, start=np.array([0, high - low]), first=first, second=second
            )
            yield rows, part

    def components(self) -> NDArray[np.int32]:
        """For each document the group that it is in: documents that chains of matches join."""
        group = self._connected_components(slice(None, None, max(self.size // (MATCHES_PER_DOC * self.docs.height), 1)))
        # Of very many matches, a few join what can be joined: no more than a group for each query is possible.
        return group if group.max(initial=0) + 1 == len(self.queries) else self._connected_components(slice(None))

    def _connected_components(self, rows: slice) -> NDArray[np.int32]:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        size, first, second = self.docs.height, self.first[rows], self.second[rows]
        graph = coo_array((np.ones(len(first)), (first, second)), shape=(size, size))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)


def resolve_repeats(preferences: Preferences, repeats: Repeats | None) -> Preferences:
    """At most one vote of a named judge on a pair, or all of them; votes of nobody in particular all count."""
    frame = preferences.frame
    named = (frame["judge"] != NO_JUDGE).to_numpy()
    if repeats == "all" or not named.any():
        return preferences
    keep = ~named
    keep[named] = Votes.of_preferences(Preferences(frame.filter(pl.Series(named)))).rows_without_repeats(repeats)
    return preferences if keep.all() else Preferences(frame.filter(pl.Series(keep)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRounds:
    """First the rows of `batches`, the matches in each of different queries; then `sequential`, one after another.

    Each query's matches keep their order. Queries know nothing of each other, so that the first match of all of them,
    then the second and so on, can be played at once; of the few that have more matches than others, the rest is left.

    Examples:
        >>> votes = {"query": [*"ppq"], "left": [*"aac"], "right": [*"bcd"], "winner": [*"aac"]}
        >>> rounds = MatchRounds.of(Matches.of(votes), min_batch=1)
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
