"""How alike are two orders of the same things?

The orders come as scores, the higher the better, along the last axis: one order is `[0.7, 0.5]`, a thousand
orders of the same things are an array of shape (1000, things). Equal scores are ties, to the last digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError

FloatArray = NDArray[np.float64]


def kendall_tau(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Of all pairs, how many more two orders agree on than they disagree on: Kendall's tau-b.

        τ = (C − D) / √((P − Tₐ) (P − T_b))    [Kendall45]

    C pairs stand in the same order in both, D in opposite orders; of all P pairs, Tₐ are tied in a and T_b
    in b. 1 for the same order, −1 for the reverse. NaN where one order ties everything: it is none.

    Examples:
        >>> round(float(kendall_tau([0.9, 0.8, 0.5, 0.4], [0.7, 0.9, 0.5, 0.1])), 4)
        0.6667
        >>> kendall_tau([[1, 2, 3], [3, 2, 1]], [1, 2, 3])
        array([ 1., -1.])
    """
    a, b = _broadcast_orders(a, b)
    return tau_from_signs(pair_signs(a), pair_signs(b))


def pair_signs(scores: ArrayLike) -> NDArray[np.int8]:
    """For every pair of things, the first before the second: 1 if the first is higher, −1 if lower, 0 if tied.

    Examples:
        >>> pair_signs([0.9, 0.4, 0.9])
        array([ 1,  0, -1], dtype=int8)
    """
    scores = np.asarray(scores)
    first, second = np.triu_indices(scores.shape[-1], k=1)
    left, right = scores[..., first], scores[..., second]
    return np.subtract(left > right, left < right, dtype=np.int8)


def tau_from_signs(a: NDArray[np.int8], b: NDArray[np.int8]) -> FloatArray:
    """Kendall's tau-b of two orders whose pairs are known.

    Examples:
        >>> float(tau_from_signs(pair_signs([3, 2, 1]), pair_signs([1, 2, 3])))
        -1.0
    """
    agreement = np.sum(a * b, axis=-1, dtype=np.int64)
    untied = np.asarray(np.count_nonzero(a, axis=-1) * np.count_nonzero(b, axis=-1))
    tau = np.full(np.shape(agreement), np.nan)
    np.divide(agreement, np.sqrt(untied), out=tau, where=untied > 0)
    return np.clip(tau, -1, 1)


def tau_ap(reference: ArrayLike, other: ArrayLike) -> FloatArray:
    """Like Kendall's tau, but a mistake near the top counts for more: AP correlation.

        τ_AP = 2 / (N − 1) · Σ_{i=2..N} C(i) / (i − 1) − 1    [Yilmaz08]

    C(i) counts those above rank i of the other order that the reference, too, puts above the thing at rank i.
    With ties it is the mean over all ways to break them in both orders, for the other order what [Urbano17]
    calls τ_AP,a. In a group of s ties behind p others, every thing is as likely at each of the ranks
    p + 1 … p + s, and those of the group above it are concordant half of the time, so that

        E C(i) = (concordant pairs of the group with those above it) / s + (i − 1 − p) / 2

    where a pair that the reference ties is half concordant. Equal orders with ties thus stay below 1.
    NaN for a single thing.

    Examples:
        >>> round(float(tau_ap([4, 3, 2, 1], [3, 4, 2, 1])), 4), round(float(tau_ap([4, 3, 2, 1], [4, 3, 1, 2])), 4)
        (0.3333, 0.7778)
        >>> float(tau_ap([3, 2, 1], [1, 1, 1]))
        0.0
    """
    reference, other = _broadcast_orders(reference, other)
    n = other.shape[-1]
    if n < 2:
        return np.full(other.shape[:-1], np.nan)
    above = other[..., None, :] > other[..., :, None]  # [x, y]: y stands above x
    higher = reference[..., None, :] > reference[..., :, None]
    tied = reference[..., None, :] == reference[..., :, None]
    concordant = np.sum(above * (higher + tied / 2), axis=-1)
    ahead, size = _tie_groups(other)
    harmonic = np.concatenate([[0, 0], np.cumsum(1 / np.arange(1, n))])  # [m + 1] is 1 + 1/2 + … + 1/m
    shares = harmonic[ahead + size] - harmonic[ahead]  # Σ 1 / (i − 1) over the ranks of the group, without rank 1
    ranks = size - (ahead == 0)
    # Each thing's part of Σ E C(i) / (i − 1) over the ranks of its group.
    parts = ((concordant - ahead / 2) * shares + ranks / 2) / size
    return np.asarray(2 / (n - 1) * parts.sum(axis=-1) - 1)


def rbo(a: ArrayLike, b: ArrayLike, *, p: float = 0.9) -> FloatArray:
    """How much the tops of two orders have in common, for a reader who goes on with probability p.

        RBO = p^N + (1 − p) Σ_{d=1..N} p^(d−1) · X_d / d    [Webber10]

    X_d counts the things among the first d of both orders. This is the extrapolated form at the depth of all
    N things, where both orders hold the same. From 1 for the same order towards 0; two orders at random do
    not have 0, since among few things the tops must meet. With ties it is the mean over all ways to break
    them, what [Corsi24] call RBO^a: X_d becomes Σ_x Pr(x among the first d of a) · Pr(x among the first d of b).

    Examples:
        >>> float(rbo([3, 2, 1], [3, 2, 1])), round(float(rbo([3, 2, 1], [2, 3, 1])), 4)
        (1.0, 0.9)
        >>> round(float(rbo([3, 2, 1], [2, 3, 1], p=0.5)), 4)
        0.5
    """
    if not 0 < p < 1:
        raise UsageError(
            "bad-persistence",
            f"the persistence of RBO lies between 0 and 1, found {p:g}; 0.9 is usual",
            parameter="p",
        )
    a, b = _broadcast_orders(a, b)
    n = a.shape[-1]
    depth = np.arange(1, n + 1)
    overlap = np.sum(_prob_within_depth(a, depth) * _prob_within_depth(b, depth), axis=-2)
    return np.asarray(p**n + (1 - p) * np.sum(p ** (depth - 1) * overlap / depth, axis=-1))


def _broadcast_orders(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as arrays of one shape; refused where they order different numbers of things or hold NaN."""
    scores_a, scores_b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if scores_a.ndim == 0 or scores_b.ndim == 0 or scores_a.shape[-1] != scores_b.shape[-1] or scores_a.shape[-1] == 0:
        raise UsageError(
            "mismatched-orders",
            f"two orders of the same things are needed, found shapes {scores_a.shape} and {scores_b.shape}",
        )
    if np.isnan(scores_a).any() or np.isnan(scores_b).any():
        raise UsageError("missing-score", "a score is NaN: without a score for everything there is no order")
    broadcast = np.broadcast_arrays(scores_a, scores_b)
    return broadcast[0], broadcast[1]


def _tie_groups(scores: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each thing, how many stand above it, and how many share its score, itself included."""
    ahead = np.sum(scores[..., None, :] > scores[..., :, None], axis=-1)
    size = np.sum(scores[..., None, :] == scores[..., :, None], axis=-1)
    return ahead, size


def _prob_within_depth(scores: FloatArray, depth: NDArray[np.int64]) -> FloatArray:
    """[thing, depth]: how likely a thing is among the first so many when ties are broken at random."""
    ahead, size = _tie_groups(scores)
    return np.clip((depth - ahead[..., None]) / size[..., None], 0, 1)
