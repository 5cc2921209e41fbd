"""How probable it should be to draw each document, so that the answer becomes as sharp as the budget allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.correction.pool import NO_LABEL, Pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MIN_RATE = 0.1  # of the rate of a draw at random: no document that counts may be out of reach
# the spread of gold around its prediction, in ranges of the gain: lowest bronze label, others
LOWEST_LABEL_SD, OTHER_LABEL_SD = 0.2, 0.4


def assumed_residual_sd(pool: Pool) -> FloatArray:
    """How far gold is expected to lie from its prediction, for each document, before any gold label is known.

    In ranges of the gain. The lowest bronze label is the surest: half as far as the others. A wrong guess makes
    intervals wider, never wrong.
    """
    labels = np.array(pool.levels)
    bronze_labels = labels[labels != NO_LABEL]
    is_lowest = (labels == bronze_labels.min()) if len(bronze_labels) > 1 else np.zeros(len(labels), dtype=bool)
    return np.where(is_lowest, LOWEST_LABEL_SD, OTHER_LABEL_SD)[pool.level]


def importance(weights: csr_array, *, compare: bool) -> FloatArray:
    """The root mean square over runs of what each document adds to them; with `compare`, over differences of runs.

    Σ_{a<b} (w_a − w_b)² = R Σ w² − (Σ w)²: what all runs have at the same rank says nothing about their order.

    Examples:
        >>> from scipy.sparse import csr_array
        >>> both = csr_array([[0.1, 0.1, 0.0], [0.1, 0.0, 0.1]])
        >>> importance(both, compare=False).round(3).tolist(), importance(both, compare=True).round(3).tolist()
        ([0.1, 0.071, 0.071], [0.0, 0.1, 0.1])
    """
    runs = weights.shape[0]
    squares = np.asarray((weights * weights).sum(axis=0)).ravel()
    if not compare:
        overall: FloatArray = np.sqrt(squares / runs)
        return overall
    total = np.asarray(weights.sum(axis=0)).ravel()
    between_squares = runs * squares - total**2
    # What is left of rounding must not make a document count that adds the same to all.
    between: FloatArray = np.sqrt(
        np.where(between_squares > 1e-12 * runs * squares, between_squares, 0.0) / (runs * (runs - 1) / 2)
    )
    return between


def neyman(size: FloatArray, budget: int, *, max_prob: float = 1.0) -> FloatArray:
    """Probabilities in proportion to size, adding up to the budget, none above `max_prob` [Neyman34].

    A document of any size has at least a tenth of the probability of a draw at random; one of size 0 is never drawn.

    Examples:
        >>> neyman(np.array([1.0, 1.0, 2.0, 0.0]), 2).tolist()
        [0.5, 0.5, 1.0, 0.0]
    """
    drawable = size > 0
    if budget >= max_prob * drawable.sum():
        return np.where(drawable, max_prob, 0.0)
    floor = MIN_RATE * budget / drawable.sum()
    prob = np.zeros(len(size))
    free = drawable.copy()  # neither at the top nor at the bottom
    for _ in range(len(size)):
        remaining = budget - prob[drawable & ~free].sum()
        prob[free] = remaining * size[free] / size[free].sum()
        above_cap, below_floor = free & (prob > max_prob), free & (prob < floor)
        # One side at a time: what one takes changes what the other may have.
        raise_floor = (floor - prob[below_floor]).sum() > (prob[above_cap] - max_prob).sum()
        fixed, bound = (below_floor, floor) if raise_floor else (above_cap, max_prob)
        if not fixed.any():
            break
        prob[fixed] = bound
        free &= ~fixed
        if not free.any():
            break
    return prob


def require_budget(budget: int) -> None:
    """Refuse a budget that can tell nothing."""
    if budget < 2:
        raise UsageError(f"a sample needs a budget of at least 2 documents, found {budget}; 100 or more are usual")
