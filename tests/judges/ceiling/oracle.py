"""The ceiling by trying everything: every training labelling, every order of those that tie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, permutations, product

import numpy as np
from numpy.typing import NDArray


def discounts(n: int, k: int | None) -> list[float]:
    return [1 / math.log2(rank + 1) if k is None or rank <= k else 0.0 for rank in range(1, n + 1)]


def dcg_of_all(
    counts: Sequence[int], matrix: NDArray[np.float64], gain: Sequence[float], k: int | None = None
) -> float:
    """The expected DCG: the mean over all orders of the ties, weighted by how probable each labelling is."""
    testing = [label for label, n in enumerate(counts) for _ in range(n)]
    discount = discounts(len(testing), k)
    total = 0.0
    for training in product(range(len(counts)), repeat=len(testing)):
        chance = math.prod(matrix[i, j] for i, j in zip(testing, training, strict=True))
        if chance:
            total += chance * _over_tie_orders(testing, training, gain, discount)
    return total


def _over_tie_orders(
    testing: Sequence[int], training: Sequence[int], gain: Sequence[float], discount: Sequence[float]
) -> float:
    """Orders within one tie do not concern another: the mean over each tie's orders adds up to that over all."""
    first, total = 0, 0.0
    ranked = sorted(zip(training, testing, strict=True), reverse=True)
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        worth = [gain[label] for _, label in tied]
        here = discount[first : first + len(worth)]
        orders = list(permutations(worth))
        total += sum(sum(g * d for g, d in zip(order, here, strict=True)) for order in orders) / len(orders)
        first += len(worth)
    return total
