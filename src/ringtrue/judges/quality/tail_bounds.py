"""How rarely chance alone takes a sum so far: bounds that hold for few cases as well as for many."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sums", "bennett", "binomial_tail", "drawn_from", "shares_drawn"]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.integer]
ROUNDING = 1e-9


class Sums:
    """For each judge, a sum of values that were drawn by chance from known ones: where it lies and where it might.

    `excess` is the sum less what is expected, `variance` that of the sum, and `up` and `down` are how far a single
    draw can lie above and below what is expected of it. Where the values are shares, `cases` of them can go either
    way, and `hits` of these are expected to be 1; else both are None.
    """

    def __init__(
        self,
        judge: Codes,
        judges: int,
        *,
        value: FloatArray,
        mean: FloatArray,
        variance: FloatArray,
        high: FloatArray,
        low: FloatArray,
        share: bool,
    ) -> None:
        open_ = variance > ROUNDING
        judge, value, mean, variance = judge[open_], value[open_], mean[open_], variance[open_]
        self.excess: FloatArray = np.bincount(judge, weights=value - mean, minlength=judges).astype(np.float64)
        self.variance: FloatArray = np.bincount(judge, weights=variance, minlength=judges).astype(np.float64)
        self.cases = np.bincount(judge, minlength=judges)
        self.up, self.down = np.zeros(judges), np.zeros(judges)
        np.maximum.at(self.up, judge, high[open_] - mean)
        np.maximum.at(self.down, judge, mean - low[open_])
        self.expected = np.bincount(judge, weights=mean, minlength=judges) if share else None

    def rarely_so_low(self) -> FloatArray:
        """At most how often chance alone takes the sum so low; NaN where nothing could differ."""
        p = bennett(-self.excess, self.variance, self.down)
        if self.expected is not None:
            for j in np.flatnonzero((self.cases > 0) & (self.excess <= -1)):
                hits, n = round(self.expected[j] + self.excess[j]), int(self.cases[j])
                p[j] = min(p[j], binomial_tail(hits, n, float(self.expected[j]) / n))
        return np.where(self.cases > 0, p, np.nan)

    def rarely_so_high(self) -> FloatArray:
        """At most how often chance alone takes the sum so high; NaN where nothing could differ."""
        p = bennett(self.excess, self.variance, self.up)
        if self.expected is not None:
            for j in np.flatnonzero((self.cases > 0) & (self.excess >= 1)):
                hits, n = round(self.expected[j] + self.excess[j]), int(self.cases[j])
                p[j] = min(p[j], binomial_tail(n - hits, n, 1 - float(self.expected[j]) / n))
        return np.where(self.cases > 0, p, np.nan)

    def rarely_so_far(self) -> FloatArray:
        """At most how often chance alone takes the sum so far to either side."""
        either: FloatArray = 2 * np.fmin(self.rarely_so_low(), self.rarely_so_high())
        return np.minimum(either, 1)


def drawn_from(judge: Codes, judges: int, value: FloatArray, stratum: Codes, *, share: bool) -> Sums:
    """Each judge's sum of values, had every value been drawn by chance among all of its stratum, such as an item.

    This is what the sum would be if the judge were like the others: then any of the values that an item got could
    have been this judge's, and each is equally likely to be. Nothing is said about what items are like.

    Examples:
        >>> sums = drawn_from(np.array([0, 1, 2, 3]), 4, np.array([0.0, 1.0, 1.0, 1.0]), np.zeros(4, int), share=True)
        >>> sums.rarely_so_low().round(2)
        array([0.43, 1.  , 1.  , 1.  ])
    """
    if not len(judge):
        empty = np.zeros(0)
        return Sums(judge, judges, value=empty, mean=empty, variance=empty, high=empty, low=empty, share=share)
    n = np.maximum(np.bincount(stratum), 1)
    mean = np.bincount(stratum, weights=value) / n
    rest = value - mean[stratum]
    variance = np.bincount(stratum, weights=rest**2) / n
    high, low = np.full(len(n), -np.inf), np.full(len(n), np.inf)
    np.maximum.at(high, stratum, value)
    np.minimum.at(low, stratum, value)
    return Sums(
        judge, judges, value=value, mean=mean[stratum], variance=variance[stratum], high=high[stratum],
        low=low[stratum], share=share,
    )  # fmt: skip


def shares_drawn(judge: Codes, judges: int, hit: NDArray[np.bool_], chance: FloatArray) -> Sums:
    """Each judge's number of hits, where each case is one by a chance of its own."""
    ones = np.ones(len(judge))
    return Sums(
        judge, judges, value=hit.astype(np.float64), mean=chance, variance=chance * (1 - chance), high=ones,
        low=0 * ones, share=True,
    )  # fmt: skip


def bennett(excess: FloatArray, variance: FloatArray, largest: FloatArray) -> FloatArray:
    """At most how often a sum of independent values exceeds its mean by so much, however many there are.

        P(S − E S ≥ t) ≤ exp(−V/b² · h(b t / V)),   h(u) = (1 + u) ln(1 + u) − u    [Bennett62]

    for values that lie at most b above their means. It holds for draws without replacement too [Hoeffding63].

    Examples:
        >>> bennett(np.array([30.0, 0.0]), np.array([100.0, 100.0]), np.array([1.0, 1.0])).round(3)
        array([0.016, 1.   ])
    """
    found = np.ones(len(excess))
    far = (excess > 0) & (variance > 0)
    t, v, b = excess[far], variance[far], largest[far]
    u = b * t / v
    found[far] = np.exp(-v / b**2 * ((1 + u) * np.log1p(u) - u))
    return found


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
    logs = _log_factorials(n)
    terms = logs[n] - logs[i] - logs[n - i] + i * np.log(chance) + (n - i) * np.log1p(-chance)
    return float(min(np.exp(terms - terms.max()).sum() * np.exp(terms.max()), 1.0))


def _log_factorials(n: int) -> FloatArray:
    return _table(1 << n.bit_length())


@lru_cache(maxsize=24)
def _table(n: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
