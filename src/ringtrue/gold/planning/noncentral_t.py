"""The power of a t test: Student's noncentral t, for any number of tests at once.

SciPy has both functions, and for some numbers its inverse never comes back.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
TAIL_SDS = 9.0  # standard deviations, beyond which nothing is left to be added up
MAX_STEPS = 60


def power(ratio: Array, df: Array, t: Array) -> Array:
    """How often a test rejects in the right direction: Student's t around `ratio` exceeds t.

        P(Z + δ > t S) = ∫ Φ(δ − t s) f_S(s) ds = ∫ F_S((δ + z)/t) φ(z) dz,    S² = χ²_df / df

    The first integral is smooth where S varies little, t < √(2 df), the second elsewhere; then Gauss–Legendre
    quadrature has ten digits.

    Examples:
        >>> power(np.array([2.5]), np.array([59.0]), np.array([2.000995])).round(4)
        array([0.6912])
    """
    ratio, df, t = np.broadcast_arrays(ratio, df, t)
    powers = np.empty(ratio.shape)
    over_sd = t < np.sqrt(2 * df)
    powers[over_sd] = _integrate_over_sd(ratio[over_sd], df[over_sd], t[over_sd])
    powers[~over_sd] = _integrate_over_mean(ratio[~over_sd], df[~over_sd], t[~over_sd])
    return powers


def needed_ratio(target_power: float, df: Array, t: Array) -> Array:
    """The ratio of a difference to its standard error with which the test has this power.

    By the secant method, and by halves where a step would leave the stretch that holds the answer.

    Examples:
        >>> needed_ratio(0.8, np.array([59.0]), np.array([2.000995])).round(3)
        array([2.848])
    """
    from scipy.special import ndtri

    slope = np.sqrt(1 + t**2 / (2 * df))  # of the ratio over the normal quantile of the power: nearly a straight line
    low, high = np.zeros(np.shape(t)), t + TAIL_SDS * slope
    ratio = np.clip(t + ndtri(target_power) * slope, low, high)
    previous = previous_gap = np.full(np.shape(t), np.nan)
    for _ in range(MAX_STEPS):
        gap = ndtri(target_power) - ndtri(np.clip(power(ratio, df, t), 1e-300, 1 - 1e-16))
        if np.all(np.abs(gap) < 1e-11):
            break
        low, high = np.where(gap > 0, ratio, low), np.where(gap > 0, high, ratio)
        has_secant = (previous_gap != gap) & ~np.isnan(previous_gap)
        slope = np.where(has_secant, (ratio - previous) / np.where(has_secant, previous_gap - gap, 1.0), slope)
        previous, previous_gap = ratio, gap
        candidate = ratio + slope * gap
        ratio = np.where((low < candidate) & (candidate < high), candidate, (low + high) / 2)
    return np.asarray(ratio, dtype=np.float64)


def _integrate_over_sd(ratio: Array, df: Array, t: Array) -> Array:
    from scipy.special import ndtr

    nodes, weights = _quadrature()
    half_range = (TAIL_SDS / np.sqrt(2 * df))[:, None]
    low = np.maximum(-half_range, -1)
    deviation = low + (half_range - low) * nodes  # S − 1
    log_density = (df[:, None] - 1) * np.log1p(deviation) - df[:, None] * deviation * (2 + deviation) / 2
    density = weights * np.exp(log_density - log_density.max(axis=1, keepdims=True))
    exceedance = ndtr(ratio[:, None] - t[:, None] * (1 + deviation))
    return np.asarray((exceedance * density).sum(axis=1) / density.sum(axis=1), dtype=np.float64)


def _integrate_over_mean(ratio: Array, df: Array, t: Array) -> Array:
    from scipy.special import gammainc

    nodes, weights = _quadrature()
    low = np.maximum(-ratio, -TAIL_SDS)[:, None]
    z = low + (TAIL_SDS - low) * nodes
    density = weights * (TAIL_SDS - low) * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    largest = (ratio[:, None] + z) / t[:, None]
    exceedance = gammainc(df[:, None] / 2, df[:, None] * largest**2 / 2)
    return np.asarray((exceedance * density).sum(axis=1), dtype=np.float64)


@cache
def _quadrature() -> tuple[Array, Array]:
    """Points and weights on 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(96)
    return (1 + nodes) / 2, weights / 2
