"""Drawing documents with given probabilities."""

from __future__ import annotations

import numpy as np

from ringtrue.measures import FloatArray, IntArray

__all__ = ["spread_over_queries"]


def spread_over_queries(prob: FloatArray, query: IntArray, level: IntArray, rng: np.random.Generator) -> IntArray:
    """Documents drawn with exactly these probabilities, as many in all, and from each query, as they add up to.

    Systematic sampling [Madow49]: the probabilities are laid end to end, a query after another in random order and in
    each the bronze levels together, and a comb with a tooth at every 1 is thrown on them.

    Examples:
        >>> drawn = spread_over_queries(np.full(8, 0.5), np.repeat([0, 1], 4), np.zeros(8), np.random.default_rng(1))
        >>> len(drawn), np.repeat([0, 1], 4)[drawn].tolist()
        (4, [0, 0, 1, 1])
    """
    chance = rng.permutation(int(query.max(initial=0)) + 1)
    order = np.lexsort((rng.random(len(prob)), level, chance[query]))
    order = order[prob[order] > 0]
    ends = np.cumsum(prob[order])
    # Sums of halves and thirds must not lose a tooth to rounding.
    ends = np.where(np.abs(ends - np.rint(ends)) < 1e-9, np.rint(ends), ends)
    teeth = np.floor(ends - rng.random())
    drawn: IntArray = np.sort(order[np.diff(teeth, prepend=-1.0) > 0])
    return drawn
