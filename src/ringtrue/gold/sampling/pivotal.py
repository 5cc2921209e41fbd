"""Drawing documents with given probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray

ROUNDING = 1e-9  # sums of halves and thirds must not lose a document to rounding


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
