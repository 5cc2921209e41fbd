"""How rarely chance alone takes a sum so far: bounds that hold for few cases as well as for many."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer]
ROUNDING = 1e-9


class ChanceSums:
    """For each judge, a sum of values that were drawn by chance from known ones: where it lies and where it might.

    `excess` is the sum less what is expected, `variance` that of the sum, and `up` and `down` are how far a single
    draw can lie above and below what is expected of it. Where the values are shares, `cases` of them can go either
    way, and `hits` of these are expected to be 1; else both are None.
    """

    def __init__(
        self,
        judge: Codes,
        n_judges: int,
        *,
        values: FloatArray,
        mean: FloatArray,
        variance: FloatArray,
        high: FloatArray,
        low: FloatArray,
        share: bool,
    ) -> None:
        can_vary = variance > ROUNDING
        judge, values, mean, variance = judge[can_vary], values[can_vary], mean[can_vary], variance[can_vary]
        self.excess: FloatArray = np.bincount(judge, weights=values - mean, minlength=n_judges).astype(np.float64)
        self.variance: FloatArray = np.bincount(judge, weights=variance, minlength=n_judges).astype(np.float64)
        self.cases = np.bincount(judge, minlength=n_judges)
        self.up, self.down = np.zeros(n_judges), np.zeros(n_judges)
        np.maximum.at(self.up, judge, high[can_vary] - mean)
        np.maximum.at(self.down, judge, mean - low[can_vary])
        self.expected = np.bincount(judge, weights=mean, minlength=n_judges) if share else None

    def p_low(self) -> FloatArray:
        """At most how often chance alone takes the sum so low; NaN where nothing could differ."""
        return self._p_beyond(-1, self.down)

    def p_high(self) -> FloatArray:
        """At most how often chance alone takes the sum so high; NaN where nothing could differ."""
        return self._p_beyond(1, self.up)

    def _p_beyond(self, sign: int, farthest: FloatArray) -> FloatArray:
        p = bennett(sign * self.excess, self.variance, farthest)
        if self.expected is not None:
            for j in np.flatnonzero((self.cases > 0) & (sign * self.excess >= 1)):
                hits, n = round(self.expected[j] + self.excess[j]), int(self.cases[j])
                chance = float(self.expected[j]) / n
                p[j] = min(p[j], binomial_tail(hits, n, chance) if sign < 0 else binomial_tail(n - hits, n, 1 - chance))
        return np.where(self.cases > 0, p, np.nan)

    def p_two_sided(self) -> FloatArray:
        """At most how often chance alone takes the sum so far to either side."""
        either: FloatArray = 2 * np.fmin(self.p_low(), self.p_high())
        return np.minimum(either, 1)


def sums_within_strata(judge: Codes, n_judges: int, values: FloatArray, stratum: Codes, *, share: bool) -> ChanceSums:
    """Each judge's sum of values, had every value been drawn by chance among all of its stratum, such as an item.

    This is what the sum would be if the judge were like the others: then any of the values that an item got could
    have been this judge's, and each is equally likely to be. Nothing is said about what items are like.

    Examples:
        >>> hits = np.array([0.0, 1.0, 1.0, 1.0])
        >>> sums = sums_within_strata(np.array([0, 1, 2, 3]), 4, hits, np.zeros(4, int), share=True)
        >>> sums.p_low().round(2)
        array([0.43, 1.  , 1.  , 1.  ])
    """
    n = np.maximum(np.bincount(stratum), 1)
    mean = np.bincount(stratum, weights=values) / n
    variance = np.bincount(stratum, weights=(values - mean[stratum]) ** 2) / n
    high, low = np.full(len(n), -np.inf), np.full(len(n), np.inf)
    np.maximum.at(high, stratum, values)
    np.minimum.at(low, stratum, values)
    mean, variance, high, low = (statistic[stratum] for statistic in (mean, variance, high, low))
    return ChanceSums(judge, n_judges, values=values, mean=mean, variance=variance, high=high, low=low, share=share)


def sums_of_hits(judge: Codes, n_judges: int, hit: NDArray[np.bool_], chance: FloatArray) -> ChanceSums:
    """Each judge's number of hits, where each case is one by a chance of its own."""
    values, variance, high = hit.astype(np.float64), chance * (1 - chance), np.ones(len(judge))
    return ChanceSums(
        judge, n_judges, values=values, mean=chance, variance=variance, high=high, low=0 * high, share=True
    )


def bennett(excess: FloatArray, variance: FloatArray, largest: FloatArray) -> FloatArray:
    """At most how often a sum of independent values exceeds its mean by so much, however many there are.

        P(S − E S ≥ t) ≤ exp(−V/b² · h(b t / V)),   h(u) = (1 + u) ln(1 + u) − u    [Bennett62]

    for values that lie at most b above their means. It holds for draws without replacement too [Hoeffding63].

    Examples:
        >>> bennett(np.array([30.0, 0.0]), np.array([100.0, 100.0]), np.array([1.0, 1.0])).round(3)
        array([0.016, 1.   ])
    """
    bound = np.ones(len(excess))
    is_above = (excess > 0) & (variance > 0)
    t, v, b = excess[is_above], variance[is_above], largest[is_above]
    u = b * t / v
    bound[is_above] = np.exp(-v / b**2 * ((1 + u) * np.log1p(u) - u))
    return bound


def binomial_tail(hits: int, n: int, chance: float) -> float:
    """How often n cases have so few hits, where each is one by the same chance.

    Where the chances differ, their mean gives a larger tail than they do, if hits lie below what is expected by 1
    or more [Hoeffding56].

    Examples:
        >>> round(binomial_tail(2, 10, 0.5), 4)
        0.0547
    """
    if hits < 0:
        return 0.0
    if hits >= n or chance <= 0:
        return 1.0
    if chance >= 1:
        return 0.0
    i = np.arange(hits + 1)
    logs = _log_factorials(1 << n.bit_length())
    terms = logs[n] - logs[i] - logs[n - i] + i * np.log(chance) + (n - i) * np.log1p(-chance)
    return float(min(np.exp(terms - terms.max()).sum() * np.exp(terms.max()), 1.0))


@lru_cache(maxsize=24)
def _log_factorials(n: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
