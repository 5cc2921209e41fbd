"""A bronze score turned into a gold one with the judge's rates: the formulas, on any number of scores at once.

Throughout, j is the bronze score, m_R and m_N are how often the judge is right on relevant documents and on others,
n_R and n_N on how many gold labels that was measured (infinite for rates that are known), J = m_R + m_N − 1, and θ is
the score by the gold judge. [Rogan78] found the same for the prevalence of a disease and a test that errs.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]


def invert_rates(score: ArrayLike, relevant: ArrayLike, nonrelevant: ArrayLike) -> Array:
    """What the gold judge would say, where the bronze one says j.

        θ = (j − 1 + m_N) / J    [Goldberg17], eq. 5 and 14

    Holds where the judge errs on these documents as often as where the rates were measured, whatever their rank.

    Examples:
        >>> invert_rates([0.626, 0.6385], 43 / 59, 67 / 84).round(4)
        array([0.8047, 0.8284])
    """
    score, relevant, nonrelevant = (
        np.asarray(argument, dtype=np.float64) for argument in (score, relevant, nonrelevant)
    )
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


def inversion_variance(
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
        >>> np.sqrt(inversion_variance(0.626, 0.414**2 / 10278, (43 / 59, 59), (67 / 84, 84))).round(5)
        np.float64(0.09029)
    """
    score = np.asarray(score, dtype=np.float64)
    sensitivity, specificity = (np.asarray(rate[0], dtype=np.float64) for rate in (relevant, nonrelevant))
    youden = sensitivity + specificity - 1
    rate_part = (
        rate_variance(*relevant) * (score - 1 + specificity) ** 2
        + rate_variance(*nonrelevant) * (sensitivity - score) ** 2
    )
    total: Array = np.asarray(variance) / youden**2 + rate_part / youden**4
    return total


def adjusted_interval(
    score: ArrayLike,
    effective_n: ArrayLike,
    relevant: tuple[ArrayLike, ArrayLike],
    nonrelevant: tuple[ArrayLike, ArrayLike],
    *,
    z: float,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Fieller's interval for θ after a nudge towards one half, and where no interval can be had.

        (A − θB)² ≤ z² (V_J' + V_N' (1−θ)² + V_R' θ²)    [Fieller54] [Lang14]
        m' = (nm + 1)/(n + 2),  V' = m'(1−m')/(n + 2),  A = j' − 1 + m_N',  B = m_R' + m_N' − 1
        j' = (wj + z²/2)/(w + z²),  V_J' = j'(1−j')/(w + z²)

    `effective_n` is w, how many single documents the queries are worth: j(1−j)/V_J. The nudge keeps the interval honest
    with few gold labels and where the judge was never seen to err. The third part of the answer is where
    z²(V_R' + V_N') ≥ B², or B ≤ 0: there the judge may be no better than chance, every θ fits, and the ends are 0 and
    1. Elsewhere the ends may lie outside 0 and 1.

    Examples:
        >>> low, high, unbounded = adjusted_interval(0.626, 14040, (43 / 59, 59), (67 / 84, 84), z=1.959964)
        >>> low.round(4), high.round(4), bool(unbounded)
        (np.float64(0.6575), np.float64(1.0438), False)
    """
    z_squared = z**2
    (sensitivity, sensitivity_variance), (specificity, specificity_variance) = (
        _shrink_rate(*relevant),
        _shrink_rate(*nonrelevant),
    )
    effective_n = np.asarray(effective_n, dtype=np.float64)
    shrunk = (effective_n * np.asarray(score) + z_squared / 2) / (effective_n + z_squared)
    numerator, denominator = shrunk - 1 + specificity, sensitivity + specificity - 1
    a = denominator**2 - z_squared * (sensitivity_variance + specificity_variance)
    b = -2 * numerator * denominator + 2 * z_squared * specificity_variance
    c = numerator**2 - z_squared * (shrunk * (1 - shrunk) / (effective_n + z_squared) + specificity_variance)
    unbounded = np.asarray((denominator <= 0) | (a <= 0))
    low, high = quadratic_interval(np.where(unbounded, 1.0, a), b, c)
    return np.where(unbounded, 0.0, low), np.where(unbounded, 1.0, high), unbounded


def _shrink_rate(rate: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """A rate with one more hit and one more miss, and its variance; a known one stays as it is."""
    weight = 1 / (np.asarray(n, dtype=np.float64) + 2)
    shrunk = np.asarray(rate, dtype=np.float64) * (1 - 2 * weight) + weight
    return shrunk, shrunk * (1 - shrunk) * weight


def quadratic_interval(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> tuple[Array, Array]:
    """Both ends of the stretch where at² + bt + c ≤ 0, for a > 0; without a loss of digits where b² is far above ac.

    Where it is nowhere so but for rounding, both are the bottom of the curve.

    Examples:
        >>> low, high = quadratic_interval(1, -3, 2)
        >>> float(low), float(high)
        (1.0, 2.0)
    """
    a, b, c = (np.asarray(coefficient, dtype=np.float64) for coefficient in (a, b, c))
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0))
    outer = -(b + np.copysign(root, b)) / 2  # the sum of two numbers of one sign
    far = outer / a
    near = np.where(outer == 0, 0.0, c / np.where(outer == 0, 1.0, outer))
    near = np.where(root == 0, far, near)
    return np.minimum(far, near), np.maximum(far, near)
