"""Designs that are drawn without a look at what a vote would teach: the published one, random pairs, Swiss rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from ringtrue.preference.bradley_terry import fit_bradley_terry
from ringtrue.tables.groups import IntArray

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches

OPPONENTS = 5  # that a document meets among those above it: all of them, for the first six
RIDGE = 0.25
Pair: TypeAlias = tuple[int, int]
Tally: TypeAlias = dict[Pair, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Pairs to ask, as rows of the candidates, `first` above `second`; each is to be asked `copies` times."""

    first: IntArray
    second: IntArray
    copies: IntArray

    @classmethod
    def of(cls, rows: list[tuple[int, int, int]]) -> Self:
        """From a list of first, second and copies."""
        first, second, copies = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return cls(first=first, second=second, copies=copies)


def choose_seed_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """The published design: every document meets five of those above it in the initial order    [Bashir13]

        the first six all meet each other: 15 + 5 (n − 6) pairs of n documents

    Opponents that it has met already count; others are drawn, each of those above alike. A budget is spent from the
    top of the initial order down, evenly over the queries.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 10, "doc": list("abcdefghij")}).to_matches(None)
        >>> len(choose_seed_pairs(nobody, votes=4, budget=None, rng=np.random.default_rng(0)).first)
        35
    """
    tallies = list(_tally_votes(matches))
    designs = [
        [pair for pair in _draw_opponents(int(size), tally, rng) if tally.get(pair, 0) < votes]
        for size, tally in zip(np.diff(matches.start), tallies, strict=True)
    ]
    if budget is not None:
        shares = share_evenly(np.array([len(design) for design in designs]), budget, rng)
        designs = [design[:count] for design, count in zip(designs, shares, strict=True)]
    return _collect_pairs(matches, designs, tallies, votes)


def _draw_opponents(size: int, tally: Tally, rng: np.random.Generator) -> Iterator[Pair]:
    """For each document in its turn, the five above it whom it meets: first those whom it met most often."""
    above: dict[int, list[tuple[int, int]]] = {}
    for (first, second), count in tally.items():
        above.setdefault(second, []).append((-count, first))
    for second in range(1, size):
        familiar = [first for _, first in sorted(above.get(second, []))]
        strangers = np.setdiff1d(np.arange(second), familiar)
        new_opponents = rng.permutation(strangers)[: max(OPPONENTS - len(familiar), 0)]
        for first in sorted([*familiar[:OPPONENTS], *new_opponents.tolist()]):
            yield first, second


def choose_random_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Pairs drawn from all that lack votes, each alike, evenly over the queries; usually as many as the seed has.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).to_matches(None)
        >>> len(choose_random_pairs(nobody, votes=4, budget=5, rng=np.random.default_rng(0)).first)
        5
    """
    tallies = list(_tally_votes(matches))
    open_counts = _count_open_pairs(matches, tallies, votes)
    default_shares = np.minimum(published_pair_count(np.diff(matches.start)), open_counts)
    shares = default_shares if budget is None else share_evenly(open_counts, budget, rng)
    designs = []
    for tally, open_count, count in zip(tallies, open_counts, shares, strict=True):
        complete = _number_pairs(pair for pair, vote_count in tally.items() if vote_count >= votes)
        position = rng.choice(open_count, size=count, replace=False)
        # The p-th pair that is not done: as many further on as there are done ones before it.
        number = position + np.searchsorted(complete - np.arange(len(complete)), position, side="right")
        second = ((1 + np.sqrt(8 * number + 1)) // 2).astype(np.int64)
        first = number - second * (second - 1) // 2
        designs.append(list(zip(first.tolist(), second.tolist(), strict=True)))
    return _collect_pairs(matches, designs, tallies, votes)


def choose_swiss_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Neighbours in the order so far who have not met, as in a Swiss tournament; usually a single round.

    The order is that of the Bradley–Terry ratings by the votes so far; where they are equal, as before any vote, the
    initial one. A budget of more than a round goes on with neighbours of neighbours.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).to_matches(None)
        >>> pairs = choose_swiss_pairs(nobody, votes=4, budget=4, rng=np.random.default_rng(0))
        >>> list(zip(pairs.first.tolist(), pairs.second.tolist()))
        [(0, 1), (2, 3), (0, 2), (1, 3)]
    """
    ratings = fit_bradley_terry(matches, ridge=RIDGE).round(9) if matches.size else np.zeros(matches.docs.height)
    tallies = list(_tally_votes(matches))
    shares = None if budget is None else share_evenly(_count_open_pairs(matches, tallies, votes), budget, rng).tolist()
    designs = []
    for q, tally in enumerate(tallies):
        order = np.argsort(-ratings[matches.start[q] : matches.start[q + 1]], kind="stable").tolist()
        complete = {pair for pair, vote_count in tally.items() if vote_count >= votes}
        designs.append(
            list(_swiss_round(order, complete))
            if shares is None
            else list(islice(_swiss_rounds(order, complete), shares[q]))
        )
    return _collect_pairs(matches, designs, tallies, votes)


def _swiss_rounds(order: list[int], complete: set[Pair]) -> Iterator[Pair]:
    """One round after another, until everybody has met everybody."""
    while pairs := list(_swiss_round(order, complete)):
        yield from pairs
        complete.update(pairs)


def _swiss_round(order: list[int], complete: set[Pair]) -> Iterator[Pair]:
    """Everybody plays once: the first who is free with the next who is free and has not met him."""
    free = dict.fromkeys(order)
    while free:
        doc = next(iter(free))
        del free[doc]
        opponent = next(
            (opponent for opponent in free if (min(doc, opponent), max(doc, opponent)) not in complete), None
        )
        if opponent is not None:
            del free[opponent]
            yield min(doc, opponent), max(doc, opponent)


def published_pair_count(sizes: IntArray) -> IntArray:
    """How many pairs the published design has, for queries with so many documents.

    Examples:
        >>> published_pair_count(np.array([2, 6, 50])).tolist()
        [1, 15, 235]
    """
    few = np.minimum(sizes, OPPONENTS + 1)
    return np.asarray(few * (few - 1) // 2 + OPPONENTS * (sizes - few))


def share_evenly(limits: IntArray, budget: int, rng: np.random.Generator) -> IntArray:
    """As many for each query, but no more than it can use; what is left over goes to others, one each, by lot.

    Examples:
        >>> share_evenly(np.array([2, 10, 10]), 12, np.random.default_rng(0)).tolist()
        [2, 5, 5]
    """
    share = np.zeros_like(limits)
    remaining = min(budget, int(limits.sum()))
    while remaining:
        open_queries = np.flatnonzero(share < limits)
        if remaining < len(open_queries):
            open_queries = rng.permutation(open_queries)[:remaining]
        extra = np.minimum(max(remaining // len(open_queries), 1), limits[open_queries] - share[open_queries])
        share[open_queries] += extra
        remaining -= int(extra.sum())
    return share


def _collect_pairs(matches: Matches, designs: list[list[Pair]], tallies: list[Tally], votes: int) -> Pairs:
    """The pairs of each query as rows of the candidates, with the votes that they lack."""
    return Pairs.of(
        [
            (low + first, low + second, votes - tally.get((first, second), 0))
            for low, design, tally in zip(matches.start[:-1].tolist(), designs, tallies, strict=True)
            for first, second in design
        ]
    )


def _count_open_pairs(matches: Matches, tallies: list[Tally], votes: int) -> IntArray:
    """How many pairs of each query lack votes."""
    sizes = np.diff(matches.start)
    complete = np.array([sum(vote_count >= votes for vote_count in tally.values()) for tally in tallies])
    return np.asarray(sizes * (sizes - 1) // 2 - complete)


def _tally_votes(matches: Matches) -> Iterator[Tally]:
    """How many votes each pair has, query by query."""
    for _, part in matches.merge_by_pair().by_query():
        pairs = zip(part.first.tolist(), part.second.tolist(), strict=True)
        yield dict(zip(pairs, part.weight.astype(int).tolist(), strict=True))


def _number_pairs(pairs: Iterable[Pair]) -> IntArray:
    """Pairs as numbers: 0 for (0, 1), 1 for (0, 2), 2 for (1, 2), 3 for (0, 3), …; in rising order."""
    return np.sort(np.array([second * (second - 1) // 2 + first for first, second in pairs], dtype=np.int64))
