"""How probable it should be to draw each document, for the sharpest answer that the budget allows; and the draw."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.pool import NO_LABEL, Pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MIN_RATE = 0.1  # of the rate of a draw at random: no document that counts may be out of reach
# The spread of gold around its prediction, in standard deviations of equally common gains: lowest bronze label, others.
# For gold of yes and no, that is a judge whose lowest label is wrong in one document of 25, and the others in one of 5.
LOWEST_LABEL_SD, OTHER_LABEL_SD = 0.4, 0.8
ERROR_RATE = 0.2
ROUNDING = 1e-9  # sums of halves and thirds must not lose a document to rounding


def assumed_residual_sd(pool: Pool) -> FloatArray:
    """How far gold is expected to lie from its prediction, for each document, before any gold label is known.

    In standard deviations of the gold gains, were all of them equally common. The lowest bronze label is the surest:
    half as far as the others. A wrong guess makes intervals wider, never wrong.
    """
    labels = np.array(pool.levels)
    bronze_labels = labels[labels != NO_LABEL]
    is_lowest = (labels == bronze_labels.min()) if len(bronze_labels) > 1 else np.zeros(len(labels), dtype=bool)
    return np.where(is_lowest, LOWEST_LABEL_SD, OTHER_LABEL_SD)[pool.level]


def graded_factor(grades: int) -> float:
    """How much nearer gold lies to its prediction where judge and gold share so many grades, relative to yes and no.

        √(1 − ρ²) / 0.8,   ρ = 1 − e − e/(g − 1)

    of a judge who errs in one label of five (e), each wrong grade being as common as any other, and gold's grades too:
    ρ is then the correlation of the two.

    Examples:
        >>> [round(graded_factor(grades), 3) for grades in (2, 3, 4)]
        [1.0, 0.893, 0.85]
    """
    correlation = 1 - ERROR_RATE - ERROR_RATE / (max(grades, 2) - 1)
    return float(np.sqrt(1 - correlation**2)) / OTHER_LABEL_SD


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
        raise UsageError(
            "budget-too-small",
            f"a sample needs a budget of at least 2 documents, found {budget}; 100 or more are usual",
            parameter="budget",
        )


def pivotal_sample(prob: FloatArray, query: IntArray, similarity_key: IntArray, rng: np.random.Generator) -> IntArray:
    """Documents drawn with exactly these probabilities, as many in all, and from each query, as they add up to.

    The pivotal method [Deville98], within each query in an order that has like next to like (`Pool.similarity_key`),
    then in that order among what is left of each. A comb thrown on all probabilities laid end to end would be simpler,
    but where queries are alike it falls on the same place in each of them: all of one bronze level, or none.

    Examples:
        >>> drawn = pivotal_sample(np.full(8, 0.5), np.repeat([0, 1], 4), np.zeros(8), np.random.default_rng(1))
        >>> len(drawn), np.repeat([0, 1], 4)[drawn].tolist()
        (4, [0, 0, 1, 1])
    """
    order = np.lexsort((rng.random(len(prob)), similarity_key, query))
    order = order[prob[order] > 0]
    docs, chances, uniforms = order.tolist(), prob[order].tolist(), rng.random(len(order)).tolist()
    ends = [*np.flatnonzero(np.diff(query[order], prepend=-1)).tolist(), len(docs)]
    drawn: list[int] = []
    leftovers: list[tuple[int, float]] = []
    for start, end in pairwise(ends):
        accepted, undecided = _settle_in_pairs(docs[start:end], chances[start:end], uniforms[start:end])
        drawn += accepted
        leftovers += undecided
    ordered = [
        leftovers[index]
        for index in np.lexsort((rng.random(len(leftovers)), [similarity_key[doc] for doc, _ in leftovers])).tolist()
    ]
    accepted, undecided = _settle_in_pairs(
        [doc for doc, _ in ordered], [chance for _, chance in ordered], rng.random(len(ordered)).tolist()
    )
    drawn += accepted + [doc for doc, chance in undecided if rng.random() < chance]
    return np.sort(np.array(drawn, dtype=np.int64))


def _settle_in_pairs(
    docs: list[int], chances: list[float], uniforms: list[float]
) -> tuple[list[int], list[tuple[int, float]]]:
    """Each document against the one that is still undecided, until at most one is: the drawn ones, and that one.

    Two that add up to less than 1: one takes what both have, the other is out. Otherwise one is drawn, and the other
    keeps what is above 1. Which of them is by chance, so that each is drawn as often as before.
    """
    drawn: list[int] = []
    undecided, share = -1, 0.0  # the undecided document and its probability; 0: there is none
    for doc, chance, uniform in zip(docs, chances, uniforms, strict=True):
        total = share + chance
        if total < 1 - ROUNDING:
            undecided = doc if uniform * total < chance else undecided
            share = total
            continue
        if share and uniform * (2 - total) < 1 - chance:
            drawn.append(undecided)
            undecided = doc
        else:
            drawn.append(doc)
        share = total - 1 if total > 1 + ROUNDING else 0.0
    return drawn, [(undecided, share)] if share else []
