"""Drawing documents with given probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray

__all__ = ["spread_over_queries"]

ROUNDING = 1e-9  # sums of halves and thirds must not lose a document to rounding


def spread_over_queries(prob: FloatArray, query: IntArray, alike: IntArray, rng: np.random.Generator) -> IntArray:
    """Documents drawn with exactly these probabilities, as many in all, and from each query, as they add up to.

    The pivotal method [Deville98], within each query in an order that has like next to like (`Pool.alike`), then in
    that order among what is left of each. A comb thrown on all probabilities laid end to end would be simpler, but
    where queries are alike it falls on the same place in each of them: all of one bronze level, or none.

    Examples:
        >>> drawn = spread_over_queries(np.full(8, 0.5), np.repeat([0, 1], 4), np.zeros(8), np.random.default_rng(1))
        >>> len(drawn), np.repeat([0, 1], 4)[drawn].tolist()
        (4, [0, 0, 1, 1])
    """
    order = np.lexsort((rng.random(len(prob)), alike, query))
    order = order[prob[order] > 0]
    docs, chances, dice = order.tolist(), prob[order].tolist(), rng.random(len(order)).tolist()
    ends = [*np.flatnonzero(np.diff(query[order], prepend=-1)).tolist(), len(docs)]
    drawn: list[int] = []
    left: list[tuple[int, float]] = []
    for start, end in pairwise(ends):
        some, undecided = _settled(docs[start:end], chances[start:end], dice[start:end])
        drawn += some
        left += undecided
    rest = [left[place] for place in np.lexsort((rng.random(len(left)), [alike[doc] for doc, _ in left])).tolist()]
    some, undecided = _settled([doc for doc, _ in rest], [chance for _, chance in rest], rng.random(len(rest)).tolist())
    drawn += some + [doc for doc, chance in undecided if rng.random() < chance]
    return np.sort(np.array(drawn, dtype=np.int64))


def _settled(docs: list[int], chances: list[float], dice: list[float]) -> tuple[list[int], list[tuple[int, float]]]:
    """Each document against the one that is still undecided, until at most one is: the drawn ones, and that one.

    Two that add up to less than 1: one takes what both have, the other is out. Otherwise one is drawn, and the other
    keeps what is above 1. Which of them is by chance, so that each is drawn as often as before.
    """
    drawn: list[int] = []
    held, share = -1, 0.0  # the undecided document and its probability; 0: there is none
    for doc, chance, die in zip(docs, chances, dice, strict=True):
        both = share + chance
        if both < 1 - ROUNDING:
            held = doc if die * both < chance else held
            share = both
            continue
        if share and die * (2 - both) < 1 - chance:
            drawn.append(held)
            held = doc
        else:
            drawn.append(doc)
        share = both - 1 if both > 1 + ROUNDING else 0.0
    return drawn, [(held, share)] if share else []
