"""Intervals for a mean over queries.

SciPy is not imported here: it would double the start-up time of the command (see
`docs/decisions/0003-dependencies.md`), and one quantile is all that is needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mean_estimate", "t_quantile"]


def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t distribution.

    With t = √df · tan φ the density becomes cos^(df−1) φ, which Gauss–Legendre quadrature integrates
    to machine precision; Newton's method does the rest.

    Examples:
        >>> round(t_quantile(0.975, 42), 6)
        2.018082
        >>> t_quantile(0.5, 3)
        0.0
    """
    if not 0 < p < 1 or not df >= 1:
        raise UsageError(f"a t quantile needs 0 < p < 1 and df ≥ 1, found p={p}, df={df}")
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    nodes, weights = np.polynomial.legendre.leggauss(64)
    target = (p - 0.5) * math.sqrt(math.pi) / _gamma_ratio(df / 2)

    # The mass sits within a few 1/√df of zero: integrate there, in the variable u = φ·√df.
    scale = math.sqrt(df)

    def density(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.cos(u / scale) ** (df - 1) / scale

    low, high = 0.0, scale * math.pi / 2
    u = min(target * scale, high / 2)
    for _ in range(200):
        points = (nodes + 1) * u / 2
        error = float(weights @ density(points)) * u / 2 - target
        low, high = (low, u) if error > 0 else (u, high)
        slope = float(density(np.array([u]))[0])
        step = u - error / slope if slope > 0 else low
        following = step if low < step < high else (low + high) / 2
        if abs(following - u) <= 1e-15 * scale or following == u:
            break
        u = following
    return scale * math.tan(u / scale)


def _gamma_ratio(x: float) -> float:
    """Γ(x + ½) / Γ(x); by its asymptotic series where the difference of two logarithms would cancel."""
    if x < 100:
        return math.exp(math.lgamma(x + 0.5) - math.lgamma(x))
    series = (1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(x) * sum(c / x**power for power, c in enumerate(series))


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
        raise UsageError(f"level must lie between 0 and 0.999999, found {level:g}; 0.95 is usual")
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
