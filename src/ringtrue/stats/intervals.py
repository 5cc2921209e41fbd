"""Intervals for a mean over queries and for shares, the quantiles behind them, and queries drawn anew for a bootstrap.

Student's t is computed here, because every command needs it and SciPy takes long to load.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Estimate

NEGLIGIBLE = 45.0  # e⁻⁴⁵ of the density at t adds nothing to a 53-bit sum


def estimate_mean(values: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
    """The mean over queries with Student's t interval.

        mean ± t_{(1+level)/2, n−1} · s / √n

    Holds for queries drawn at random from those that matter, and for the labels as they are: it says
    nothing about wrong labels.

    Examples:
        >>> print(estimate_mean(np.array([0.2, 0.4, 0.6, 0.8])))
        0.5 (95% CI 0.1 to 0.9)
    """
    require_level(level)
    n = len(values)
    if n == 0:
        nothing = Note("no-queries", "there is no query to average")
        return Estimate(value=None, level=level, n=0, method="t", notes=(nothing,))
    mean = float(np.mean(values))
    if n == 1:
        note = Note("single-query", "a single query: no interval can be given")
        return Estimate(value=mean, level=level, n=1, method="t", notes=(note,))
    if np.all(values == values[0]):
        mean = float(values[0])
        note = Note(
            "equal-values",
            f"all {n} queries have the same value: the interval cannot show what other queries would give",
        )
        return Estimate(value=mean, se=0.0, low=mean, high=mean, level=level, n=n, method="t", notes=(note,))
    se = float(np.std(values, ddof=1)) / math.sqrt(n)
    half = t_quantile((1 + level) / 2, n - 1) * se
    return Estimate(value=mean, se=se, low=mean - half, high=mean + half, level=level, n=n, method="t")


def require_level(level: float) -> None:
    """Refuse a confidence level that no interval can have."""
    if not 0 < level <= 0.999999:
        raise UsageError(
            "bad-level",
            f"the confidence level must lie between 0 and 0.999999, found {level:.15g}",
            parameter="level",
            suggestions=[Suggestion("is usual", level=0.95)],
        )


def wilson(share: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's interval for shares of n cases each: where the score test does not reject.

        (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)    [Wilson27]

    n need not be whole: it is what the cases are worth. With none, the interval is 0 to 1.

    Examples:
        >>> [float(end.round(4)) for end in wilson(0.9, 10)]
        [0.5958, 0.9821]
    """
    require_level(level)
    share, n = np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    half = np.sqrt(z2 * (share * (1 - share) * n + z2 / 4))
    low, high = ((share * n + z2 / 2 + sign * half) / (n + z2) for sign in (-1, 1))
    # Rounding must not leave a share of 1 above its own interval.
    return np.clip(np.minimum(low, share), 0, 1), np.clip(np.maximum(high, share), 0, 1)


def estimate_share(hits: ArrayLike, clusters: ArrayLike, *, level: float = 0.95, case_name: str = "case") -> Estimate:
    """How large a share of the cases are hits, where cases of one cluster (a query) are alike.

    Wilson's interval, with the number of cases that would be worth as much if each were drawn by itself [Korn98]:

        n_eff = p(1−p)/V · (t_{n−1} / t_ν)²,    V = G/(G−1) · Σ_g r_g² / n²,    r_g = Σ_{i in g} (hit_i − p)

    and never more than n. Where few of the G clusters hold all the misses, V itself is known badly, and
    ν = min(G − 1, 2G/(κ − 1)), with κ the kurtosis of the r_g. Where all are hits, or none, nothing tells how alike
    the cases of a cluster are: equal clusters then count as one case each, n_eff = n² / Σ_g n_g² in general.

    Examples:
        >>> print(estimate_share([1, 1, 0, 1], clusters=[0, 1, 2, 3]))
        0.8 (95% CI 0.3 to 1.0)
    """
    require_level(level)
    hits = np.asarray(hits, dtype=np.float64)
    n = len(hits)
    if n == 0:
        nothing = Note("no-cases", f"there is no {case_name}")
        return Estimate(value=None, level=level, n=0, method="wilson", notes=(nothing,))
    cluster_ids, cluster, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    share = float(hits.mean())
    unadjusted_n = effective_n = float(n)
    if 1 < len(cluster_ids) < n:
        residuals = np.bincount(cluster, weights=hits - share).astype(np.float64)
        if not 0 < share < 1:
            effective_n = n**2 / float(sizes @ sizes)
        elif (sum_of_squares := float(residuals @ residuals)) > 0:
            unadjusted_n = share * (1 - share) / (len(cluster_ids) / (len(cluster_ids) - 1) * sum_of_squares / n**2)
            t_ratio = t_quantile((1 + level) / 2, n - 1) / t_quantile((1 + level) / 2, _degrees_of_freedom(residuals))
            effective_n = min(unadjusted_n * t_ratio**2, n)
    low, high = wilson(share, effective_n, level=level)
    se = math.sqrt(share * (1 - share) / min(unadjusted_n, n))
    alone = Note("single-query", "all of it from one query: the interval knows nothing of others")
    notes = (alone,) if len(cluster_ids) == 1 < n else ()
    return Estimate(
        value=share, se=se, low=float(low), high=float(high), level=level, n=n, method="wilson", notes=notes
    )


def _degrees_of_freedom(residuals: NDArray[np.float64]) -> float:
    """How many degrees of freedom the sum of squares of these has, from their kurtosis."""
    kurtosis = len(residuals) * float((residuals**4).sum()) / float((residuals**2).sum()) ** 2
    return min(len(residuals) - 1, 2 * len(residuals) / (kurtosis - 1) if kurtosis > 1 else math.inf)


def require_generator(rng: object) -> None:
    """Refuse a source of randomness that is no generator of NumPy's; None stands for the usual one.

    Examples:
        >>> require_generator(3)
        Traceback (most recent call last):
        ringtrue.errors.UsageError: expected a numpy Generator such as np.random.default_rng(1), found int (rng)
    """
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise UsageError(
            "bad-rng",
            f"expected a numpy Generator such as np.random.default_rng(1), found {type(rng).__name__}",
            parameter="rng",
        )


def resample_query_counts(
    n_queries: int, resamples: int, *, batch: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """How often each query comes up when as many are drawn with replacement: resamples × queries, a batch at a time.

    Times the values and divided by the number of queries, a row gives a resampled mean.

    Examples:
        >>> (counts,) = resample_query_counts(3, 2, batch=10, rng=np.random.default_rng(0))
        >>> counts.sum(axis=1).tolist()
        [3.0, 3.0]
    """
    for first in range(0, resamples, batch):
        size = min(batch, resamples - first)
        draws = rng.integers(0, n_queries, (size, n_queries)) + n_queries * np.arange(size)[:, None]
        yield np.bincount(draws.ravel(), minlength=size * n_queries).reshape(size, n_queries).astype(np.float64)


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
        raise UsageError("bad-quantile", f"a t quantile needs 0 < p < 1 and df ≥ 1, found p={p}, df={df}")
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
