"""Student's t distribution, its tail and its quantile, and the normal one's.

SciPy is not imported here: that alone would cost as much as the rest of the command (see
`docs/decisions/0003-dependencies.md`), and every command needs these two.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError

NEGLIGIBLE = 45.0  # e⁻⁴⁵ of the density at t adds nothing to a 53-bit sum


def t_tail(t: ArrayLike, df: ArrayLike) -> NDArray[np.float64]:
    """How often Student's t exceeds t ≥ 0.

        P(T > t) = c · ∫_φ^{π/2} cos^(df−1) u du,   tan φ = t / √df,   c = Γ((df+1)/2) / (√π Γ(df/2))

    The integrand falls at least as fast as a normal density, so that Gauss–Legendre quadrature over the stretch
    where it is not negligible gives the far tail with as many digits as the middle.

    Examples:
        >>> t_tail([0.0, 2.018082], 42).round(6)
        array([0.5  , 0.025])
    """
    t, df = np.broadcast_arrays(np.asarray(t, dtype=np.float64), np.asarray(df, dtype=np.float64))
    slope = np.minimum(t / np.sqrt(df), 1e150)  # tan φ; its square must be a number, too
    power = np.maximum(df - 1, 1e-9)  # at one degree of freedom the integrand is flat
    reach = 2 * NEGLIGIBLE / power
    stretch = np.minimum(np.arctan2(1, slope), reach / (slope + np.sqrt(slope**2 + reach)))
    nodes, weights = _quadrature()
    step = nodes * stretch[..., None]
    log_ratio = np.log1p(-2 * np.sin(step / 2) ** 2 - slope[..., None] * np.sin(step))
    area = np.exp((df - 1)[..., None] * log_ratio) @ weights * stretch
    density_at_start = np.exp(-(df - 1) / 2 * np.log1p(slope**2))  # cos^(df−1) φ
    constant = np.array([_gamma_ratio(x / 2) for x in df.flat]).reshape(df.shape) / math.sqrt(math.pi)
    tail: NDArray[np.float64] = np.minimum(constant * area * density_at_start, 0.5)
    return tail


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights on 0 to 1, closer together towards 1, where few degrees of freedom leave a sharp corner."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    distance = (1 - nodes) / 2
    return 1 - distance**4, 2 * weights * distance**3


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t distribution, by Newton's method on the tail.

    The tail is convex, so that the steps from the normal quantile, which is never larger, do not pass the quantile.

    Examples:
        >>> round(t_quantile(0.975, 42), 6)
        2.018082
        >>> t_quantile(0.5, 3)
        0.0
    """
    if not 0 < p < 1 or not df >= 1:
        raise UsageError(f"a t quantile needs 0 < p < 1 and df ≥ 1, found p={p}, df={df}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    constant = _gamma_ratio(df / 2) / math.sqrt(math.pi * df)
    t = NormalDist().inv_cdf(p)
    for _ in range(200):
        density = constant * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
        step = (float(t_tail(t, df)) - (1 - p)) / density
        t += step
        if step <= 1e-15 * t:
            break
    return max(t, 0.0)


def normal_quantile(p: float) -> float:
    """The quantile of the standard normal distribution.

    Examples:
        >>> round(normal_quantile(0.975), 6)
        1.959964
    """
    return NormalDist().inv_cdf(p)


def _gamma_ratio(x: float) -> float:
    """Γ(x + ½) / Γ(x); by its asymptotic series where the difference of two logarithms would cancel."""
    if x < 100:
        return math.exp(math.lgamma(x + 0.5) - math.lgamma(x))
    series = (1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(x) * sum(c / x**power for power, c in enumerate(series))
