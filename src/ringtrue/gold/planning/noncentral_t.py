"""The power of a t test: Student's noncentral t, for any number of tests at once.

SciPy has the distribution; its inverse never comes back for some numbers, so that the ratio is searched for here.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
LARGE_RATIO = 1e4
TAIL_SDS = 9.0  # standard deviations, beyond which next to nothing is left of a normal distribution
MAX_STEPS = 60


def power(ratio: Array, df: Array, t: Array) -> Array:
    """How often a test rejects in the right direction: Student's t around `ratio` exceeds t.

        P(Z + δ > t S),    S² = χ²_df / df

    Examples:
        >>> power(np.array([2.5]), np.array([59.0]), np.array([2.000995])).round(4)
        array([0.6912])
    """
    from scipy.special import gammainc, nctdtr

    exceedance = 1 - nctdtr(df, np.minimum(ratio, LARGE_RATIO), t)
    # From a ratio of 35 on, SciPy may give NaN, and in the ten thousands it is slow and loses digits. Z is next to
    # nothing there: P(δ > t S) is 1 where SciPy has NaN, and within 0.5/δ² of the power elsewhere.
    return np.where(
        np.isnan(exceedance) | (ratio > LARGE_RATIO), gammainc(df / 2, df * (ratio / t) ** 2 / 2), exceedance
    )


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
