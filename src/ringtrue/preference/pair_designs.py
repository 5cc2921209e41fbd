"""Designs that are drawn without a look at what a vote would teach: the published one, random pairs, Swiss rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from ringtrue.preference.bradley_terry import fit
from ringtrue.tables.groups import IntArray

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches

__all__ = ["OPPONENTS", "Pairs", "random_pairs", "seed_pairs", "share_evenly", "swiss_pairs"]

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
    def of(cls, found: list[tuple[int, int, int]]) -> Self:
        """From a list of first, second and copies."""
        first, second, copies = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return cls(first=first, second=second, copies=copies)


def seed_pairs(known: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """The published design: every document meets five of those above it in the initial order    [Bashir13]

        the first six all meet each other: 15 + 5 (n − 6) pairs of n documents

    Opponents that it has met already count; others are drawn, each of those above alike. A budget is spent from the
    top of the initial order down, evenly over the queries.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 10, "doc": list("abcdefghij")}).matches(None)
        >>> len(seed_pairs(nobody, votes=4, budget=None, rng=np.random.default_rng(0)).first)
        35
    """
    tallies = list(_tallies(known))
    designs = [
        [pair for pair in _opponents(int(size), met, rng) if met.get(pair, 0) < votes]
        for size, met in zip(np.diff(known.start), tallies, strict=True)
    ]
    if budget is not None:
        share = share_evenly(np.array([len(design) for design in designs]), budget, rng)
        designs = [design[:count] for design, count in zip(designs, share, strict=True)]
    return _of_all(known, designs, tallies, votes)


def _opponents(size: int, met: Tally, rng: np.random.Generator) -> Iterator[Pair]:
    """For each document in its turn, the five above it whom it meets: first those whom it met most often."""
    above: dict[int, list[tuple[int, int]]] = {}
    for (first, second), count in met.items():
        above.setdefault(second, []).append((-count, first))
    for second in range(1, size):
        familiar = [first for _, first in sorted(above.get(second, []))]
        strangers = np.setdiff1d(np.arange(second), familiar)
        drawn = rng.permutation(strangers)[: max(OPPONENTS - len(familiar), 0)]
        for first in sorted([*familiar[:OPPONENTS], *drawn.tolist()]):
            yield first, second


def random_pairs(known: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Pairs drawn from all that lack votes, each alike, evenly over the queries; usually as many as the seed has.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).matches(None)
        >>> len(random_pairs(nobody, votes=4, budget=5, rng=np.random.default_rng(0)).first)
        5
    """
    tallies = list(_tallies(known))
    left = _open(known, tallies, votes)
    usual = np.minimum(published(np.diff(known.start)), left)
    share = usual if budget is None else share_evenly(left, budget, rng)
    designs = []
    for met, most, count in zip(tallies, left, share, strict=True):
        done = _numbers(pair for pair, given in met.items() if given >= votes)
        place = rng.choice(most, size=count, replace=False)
        # The p-th pair that is not done: as many further on as there are done ones before it.
        number = place + np.searchsorted(done - np.arange(len(done)), place, side="right")
        second = ((1 + np.sqrt(8 * number + 1)) // 2).astype(np.int64)
        first = number - second * (second - 1) // 2
        designs.append(list(zip(first.tolist(), second.tolist(), strict=True)))
    return _of_all(known, designs, tallies, votes)


def swiss_pairs(known: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Neighbours in the order so far who have not met, as in a Swiss tournament; usually a single round.

    The order is that of the Bradley–Terry ratings by the votes so far; where they are equal, as before any vote, the
    initial one. A budget of more than a round goes on with neighbours of neighbours.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).matches(None)
        >>> pairs = swiss_pairs(nobody, votes=4, budget=4, rng=np.random.default_rng(0))
        >>> list(zip(pairs.first.tolist(), pairs.second.tolist()))
        [(0, 1), (2, 3), (0, 2), (1, 3)]
    """
    ratings = fit(known, ridge=RIDGE).round(9) if known.size else np.zeros(known.docs.height)
    tallies = list(_tallies(known))
    share = None if budget is None else share_evenly(_open(known, tallies, votes), budget, rng).tolist()
    designs = []
    for q, met in enumerate(tallies):
        order = np.argsort(-ratings[known.start[q] : known.start[q + 1]], kind="stable").tolist()
        done = {pair for pair, given in met.items() if given >= votes}
        designs.append(list(_round(order, done)) if share is None else list(islice(_rounds(order, done), share[q])))
    return _of_all(known, designs, tallies, votes)


def _rounds(order: list[int], done: set[Pair]) -> Iterator[Pair]:
    """One round after another, until everybody has met everybody."""
    while pairs := list(_round(order, done)):
        yield from pairs
        done.update(pairs)


def _round(order: list[int], done: set[Pair]) -> Iterator[Pair]:
    """Everybody plays once: the first who is free with the next who is free and has not met him."""
    free = dict.fromkeys(order)
    while free:
        one = next(iter(free))
        del free[one]
        other = next((other for other in free if (min(one, other), max(one, other)) not in done), None)
        if other is not None:
            del free[other]
            yield min(one, other), max(one, other)


def published(sizes: IntArray) -> IntArray:
    """How many pairs the published design has, for queries with so many documents.

    Examples:
        >>> published(np.array([2, 6, 50])).tolist()
        [1, 15, 235]
    """
    few = np.minimum(sizes, OPPONENTS + 1)
    return np.asarray(few * (few - 1) // 2 + OPPONENTS * (sizes - few))


def share_evenly(most: IntArray, budget: int, rng: np.random.Generator) -> IntArray:
    """As many for each query, but no more than it can use; what is left over goes to others, one each, by lot.

    Examples:
        >>> share_evenly(np.array([2, 10, 10]), 12, np.random.default_rng(0)).tolist()
        [2, 5, 5]
    """
    share = np.zeros_like(most)
    left = min(budget, int(most.sum()))
    while left:
        able = np.flatnonzero(share < most)
        if left < len(able):
            able = rng.permutation(able)[:left]
        more = np.minimum(max(left // len(able), 1), most[able] - share[able])
        share[able] += more
        left -= int(more.sum())
    return share


def _of_all(known: Matches, designs: list[list[Pair]], tallies: list[Tally], votes: int) -> Pairs:
    """The pairs of each query as rows of the candidates, with the votes that they lack."""
    return Pairs.of([
        (low + first, low + second, votes - met.get((first, second), 0))
        for low, design, met in zip(known.start[:-1].tolist(), designs, tallies, strict=True)
        for first, second in design
    ])  # fmt: skip


def _open(known: Matches, tallies: list[Tally], votes: int) -> IntArray:
    """How many pairs of each query lack votes."""
    sizes = np.diff(known.start)
    done = np.array([sum(given >= votes for given in met.values()) for met in tallies])
    return np.asarray(sizes * (sizes - 1) // 2 - done)


def _tallies(known: Matches) -> Iterator[Tally]:
    """How many votes each pair has, query by query."""
    for _, part in known.paired().by_query():
        pairs = zip(part.first.tolist(), part.second.tolist(), strict=True)
        yield dict(zip(pairs, part.weight.astype(int).tolist(), strict=True))


def _numbers(pairs: Iterable[Pair]) -> IntArray:
    """Pairs as numbers: 0 for (0, 1), 1 for (0, 2), 2 for (1, 2), 3 for (0, 3), …; in rising order."""
    return np.sort(np.array([second * (second - 1) // 2 + first for first, second in pairs], dtype=np.int64))
