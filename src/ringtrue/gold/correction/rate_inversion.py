"""A bronze score turned into a gold one with the judge's rates: the formulas, on any number of scores at once.

Throughout, j is the bronze score, m_R and m_N are how often the judge is right on relevant documents and on others,
n_R and n_N on how many gold labels that was measured (infinite for rates that are known), J = m_R + m_N − 1, and θ is
the score by the gold judge. [Rogan78] found the same for the prevalence of a disease and a test that errs.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["adjusted_interval", "inverted", "inverted_variance", "rate_variance", "where_below"]

Array: TypeAlias = NDArray[np.float64]


def inverted(score: ArrayLike, relevant: ArrayLike, nonrelevant: ArrayLike) -> Array:
    """What the gold judge would say, where the bronze one says j.

        θ = (j − 1 + m_N) / J    [Goldberg17], eq. 5 and 14

    Holds where the judge errs on these documents as often as where the rates were measured, whatever their rank.

    Examples:
        >>> inverted([0.626, 0.6385], 43 / 59, 67 / 84).round(4)
        array([0.8047, 0.8284])
    """
    score, relevant, nonrelevant = (np.asarray(one, dtype=np.float64) for one in (score, relevant, nonrelevant))
    value: Array = (score - 1 + nonrelevant) / (relevant + nonrelevant - 1)
    return value


def rate_variance(rate: ArrayLike, n: ArrayLike) -> Array:
    """Of a share of n cases, m(1−m)/n; 0 for one that is known.

    Examples:
        >>> rate_variance([0.5, 0.5], [100, np.inf])
        array([0.0025, 0.    ])
    """
    rate = np.asarray(rate, dtype=np.float64)
    variance: Array = rate * (1 - rate) / np.asarray(n, dtype=np.float64)
    return variance


def inverted_variance(
    score: ArrayLike,
    variance: ArrayLike,
    relevant: tuple[ArrayLike, ArrayLike],
    nonrelevant: tuple[ArrayLike, ArrayLike],
) -> Array:
    """The square of θ's standard error; `variance` is that of j, and each rate comes with its n.

        V_J/J² + V_R (j − 1 + m_N)²/J⁴ + V_N (m_R − j)²/J⁴    [Goldberg17], eq. 7

    Holds for many gold labels and rates that are neither 0 nor 1: with few, or where the judge was never seen to err,
    it is too small.

    Examples:
        >>> np.sqrt(inverted_variance(0.626, 0.414**2 / 10278, (43 / 59, 59), (67 / 84, 84))).round(5)
        np.float64(0.09029)
    """
    score = np.asarray(score, dtype=np.float64)
    right, wrong = (np.asarray(one[0], dtype=np.float64) for one in (relevant, nonrelevant))
    youden = right + wrong - 1
    of_rates = rate_variance(*relevant) * (score - 1 + wrong) ** 2 + rate_variance(*nonrelevant) * (right - score) ** 2
    total: Array = np.asarray(variance) / youden**2 + of_rates / youden**4
    return total


def adjusted_interval(
    score: ArrayLike,
    worth: ArrayLike,
    relevant: tuple[ArrayLike, ArrayLike],
    nonrelevant: tuple[ArrayLike, ArrayLike],
    *,
    z: float,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Fieller's interval for θ after a nudge towards one half, and where no interval can be had.

        (A − θB)² ≤ z² (V_J' + V_N' (1−θ)² + V_R' θ²)    [Fieller54] [Lang14]
        m' = (nm + 1)/(n + 2),  V' = m'(1−m')/(n + 2),  A = j' − 1 + m_N',  B = m_R' + m_N' − 1
        j' = (wj + z²/2)/(w + z²),  V_J' = j'(1−j')/(w + z²)

    `worth` is w, how many single documents the queries are worth: j(1−j)/V_J. The nudge keeps the interval honest with
    few gold labels and where the judge was never seen to err. The third part of the answer is where
    z²(V_R' + V_N') ≥ B², or B ≤ 0: there the judge may be no better than chance, every θ fits, and the ends are 0 and
    1. Elsewhere the ends may lie outside 0 and 1.

    Examples:
        >>> low, high, hopeless = adjusted_interval(0.626, 14040, (43 / 59, 59), (67 / 84, 84), z=1.959964)
        >>> low.round(4), high.round(4), bool(hopeless)
        (np.float64(0.6575), np.float64(1.0438), False)
    """
    square = z**2
    (right, right_variance), (wrong, wrong_variance) = _nudged(*relevant), _nudged(*nonrelevant)
    worth = np.asarray(worth, dtype=np.float64)
    nudged = (worth * np.asarray(score) + square / 2) / (worth + square)
    top, bottom = nudged - 1 + wrong, right + wrong - 1
    a = bottom**2 - square * (right_variance + wrong_variance)
    b = -2 * top * bottom + 2 * square * wrong_variance
    c = top**2 - square * (nudged * (1 - nudged) / (worth + square) + wrong_variance)
    hopeless = np.asarray((bottom <= 0) | (a <= 0))
    low, high = where_below(np.where(hopeless, 1.0, a), b, c)
    return np.where(hopeless, 0.0, low), np.where(hopeless, 1.0, high), hopeless


def _nudged(rate: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """A rate with one more hit and one more miss, and its variance; a known one stays as it is."""
    share = 1 / (np.asarray(n, dtype=np.float64) + 2)
    moved = np.asarray(rate, dtype=np.float64) * (1 - 2 * share) + share
    return moved, moved * (1 - moved) * share


def where_below(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> tuple[Array, Array]:
    """Both ends of the stretch where at² + bt + c ≤ 0, for a > 0; without a loss of digits where b² is far above ac.

    Where it is nowhere so but for rounding, both are the bottom of the curve.

    Examples:
        >>> low, high = where_below(1, -3, 2)
        >>> float(low), float(high)
        (1.0, 2.0)
    """
    a, b, c = (np.asarray(one, dtype=np.float64) for one in (a, b, c))
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0))
    outer = -(b + np.copysign(root, b)) / 2  # the sum of two numbers of one sign
    far = outer / a
    near = np.where(outer == 0, 0.0, c / np.where(outer == 0, 1.0, outer))
    near = np.where(root == 0, far, near)
    return np.minimum(far, near), np.maximum(far, near)
