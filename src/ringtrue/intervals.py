"""Intervals for a mean over queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.results import Estimate
from ringtrue.student import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mean_estimate"]


def mean_estimate(values: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
    """The mean over queries with Student's t interval.

        mean ± t_{(1+level)/2, n−1} · s / √n

    Holds for queries drawn at random from those that matter, and for the labels as they are: it says
    nothing about wrong labels.

    Examples:
        >>> print(mean_estimate(np.array([0.2, 0.4, 0.6, 0.8])))
        0.5 (95% CI 0.1 to 0.9)
    """
    if not 0 < level <= 0.999999:
        raise UsageError(f"level must lie between 0 and 0.999999, found {level:.15g}; 0.95 is usual")
    n = len(values)
    if n == 0:
        return Estimate(value=None, level=level, n=0, method="t", notes=("there is no query to average",))
    value = float(np.mean(values))
    if n == 1:
        note = "a single query: no interval can be given"
        return Estimate(value=value, level=level, n=1, method="t", notes=(note,))
    se = float(np.std(values, ddof=1)) / math.sqrt(n)
    if np.all(values == values[0]):
        note = f"all {n} queries have the same value: the interval cannot show what other queries would give"
        return Estimate(value=float(values[0]), se=0.0, low=float(values[0]), high=float(values[0]), level=level,
                        n=n, method="t", notes=(note,))  # fmt: skip
    half = t_quantile((1 + level) / 2, n - 1) * se
    return Estimate(value=value, se=se, low=value - half, high=value + half, level=level, n=n, method="t")
