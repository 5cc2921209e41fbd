"""A bronze score, the judge's rates, and the formulas that turn it into a gold one, on any number of scores at once.

Throughout, j is the bronze score, m_R and m_N are how often the judge is right on relevant documents and on others,
n_R and n_N on how many gold labels that was measured (infinite for rates that are known), J = m_R + m_N − 1, and θ is
the score by the gold judge. [Rogan78] found the same for the prevalence of a disease and a test that errs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError
from ringtrue.messages import Suggestion
from ringtrue.stats.intervals import wilson
from ringtrue.stats.results import Estimate

Rate: TypeAlias = tuple[int, int] | float
NEGLIGIBLE_SD = 1e-12  # the spread that rounding leaves where all queries are equal
ROUNDING = 0.005  # scores are often told with two decimals: so far may a mean and a spread be off
Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often the bronze judge is right: on documents that gold calls relevant, and on the others.

    Each is (right, labels), such as (43, 59); or a share, such as 0.9, which is then taken for exactly known.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> round(rates.youden, 4), rates.known
        (0.5264, False)
    """

    relevant: Rate
    nonrelevant: Rate

    def __post_init__(self) -> None:
        for name, rate in (("relevant", self.relevant), ("nonrelevant", self.nonrelevant)):
            _require_rate(name, rate)

    @property
    def on_relevant(self) -> tuple[float, float]:
        """The share of relevant documents that are called so, and of how many; of infinitely many if known."""
        return _share_and_n(self.relevant)

    @property
    def on_nonrelevant(self) -> tuple[float, float]:
        """The share of other documents that are called non-relevant, and of how many; of infinitely many if known."""
        return _share_and_n(self.nonrelevant)

    @property
    def youden(self) -> float:
        """Youden's index J = m_R + m_N − 1: 1 for a judge who never errs, 0 for one who guesses."""
        return self.on_relevant[0] + self.on_nonrelevant[0] - 1

    @property
    def known(self) -> bool:
        """Whether both rates are taken for exactly known."""
        return math.isinf(self.on_relevant[1]) and math.isinf(self.on_nonrelevant[1])

    @property
    def bronze_relevant(self) -> tuple[int, int] | None:
        """Gold labels on documents that bronze calls relevant, and all of them; None where that is not told."""
        if isinstance(self.relevant, tuple) and isinstance(self.nonrelevant, tuple):
            (hits, relevant), (rejections, nonrelevant) = self.relevant, self.nonrelevant
            return hits + nonrelevant - rejections, relevant + nonrelevant
        return None

    def estimates(self, level: float = 0.95) -> dict[str, Estimate]:
        """Both rates with Wilson's interval, and J with the interval that follows from theirs [Newcombe98].

        Examples:
            >>> print(Rates(relevant=(43, 59), nonrelevant=(67, 84)).estimates()["relevant"])
            0.73 (95% CI 0.60 to 0.83)
        """
        relevant, nonrelevant = _estimate_rate(self.relevant, level), _estimate_rate(self.nonrelevant, level)
        (sensitivity, sensitivity_low, sensitivity_high), (specificity, specificity_low, specificity_high) = (
            _value_and_bounds(relevant),
            _value_and_bounds(nonrelevant),
        )
        youden = Estimate(
            value=self.youden,
            se=math.hypot(relevant.se or 0, nonrelevant.se or 0),
            low=self.youden - math.hypot(sensitivity - sensitivity_low, specificity - specificity_low),
            high=self.youden + math.hypot(sensitivity_high - sensitivity, specificity_high - specificity),
            level=level,
            n=relevant.n + nonrelevant.n,
            method="known" if self.known else "newcombe",
        )
        return {"relevant": relevant, "nonrelevant": nonrelevant, "youden": youden}


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeScore:
    """A mean over queries by the bronze judge: P@k, or the share of queries whose one document is relevant.

    `sd` is the standard deviation of the values of single queries, and `k` the number of documents in each. With
    k = 1 and no sd, the queries are taken for that many coins.

    Examples:
        >>> score = BronzeScore(mean=0.626, sd=0.414, queries=10278, k=3)
        >>> f"{score.variance:.3g}", round(score.worth)
        ('1.67e-05', 14040)
    """

    mean: float
    queries: int
    sd: float | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        _require_unit_share("the score", self.mean, parameter="mean")
        if self.queries < 1:
            raise UsageError(
                "too-few-queries", f"a score needs at least 1 query, found {self.queries}", parameter="queries"
            )
        if self.k is not None and self.k < 1:
            raise UsageError(
                "bad-k",
                f"k, the number of documents in each query's score, is 1 or more; found {self.k}",
                parameter="k",
            )
        if self.sd is not None:
            _require_sd(self.mean, self.sd, self.queries)
        elif self.k != 1:
            raise UsageError(
                "sd-missing",
                "the spread of the score over queries is not given",
                parameter="sd",
                suggestions=[
                    Suggestion("gives the standard deviation of its values", sd=...),
                    Suggestion("says that there is one document for each query", k=1),
                ],
            )

    @property
    def variance(self) -> float:
        """Of the mean: s²/n, or j(1−j)/n with one document for each query [Goldberg17]."""
        if self.sd is None:
            return self.mean * (1 - self.mean) / self.queries
        return self.sd**2 / self.queries if self.sd > NEGLIGIBLE_SD else 0.0

    @property
    def worth(self) -> float:
        """How many single documents the queries are worth: j(1−j)/V_J, and all of them where no query differs."""
        if self.variance == 0:
            return float(self.queries * (self.k or 1))
        return self.mean * (1 - self.mean) / self.variance


def _share_and_n(rate: Rate) -> tuple[float, float]:
    return (rate[0] / rate[1], float(rate[1])) if isinstance(rate, tuple) else (float(rate), math.inf)


def _estimate_rate(rate: Rate, level: float) -> Estimate:
    share, n = _share_and_n(rate)
    if not isinstance(rate, tuple):
        return Estimate(value=share, se=0.0, low=share, high=share, level=level, n=0, method="known")
    low, high = wilson(share, n, level=level)
    se = math.sqrt(share * (1 - share) / n)
    return Estimate(value=share, se=se, low=float(low), high=float(high), level=level, n=rate[1], method="wilson")


def _value_and_bounds(estimate: Estimate) -> tuple[float, float, float]:
    value, low, high = estimate.value, estimate.low, estimate.high
    assert value is not None
    assert low is not None
    assert high is not None
    return value, low, high


def _require_rate(name: str, rate: Rate) -> None:
    if not isinstance(rate, tuple):
        _require_unit_share(f"the rate on {name} documents", rate, parameter=name)
        return
    hits, n = rate
    if n < 1:
        raise UsageError(
            "no-gold-of-a-kind",
            f"no gold label is on a {name} document ({hits}/{n}): how often the judge is right there is unknown; "
            f"have some {name} documents judged by gold",
            parameter=name,
        )
    if not 0 <= hits <= n:
        raise UsageError(
            "bad-rate",
            f"nobody is right on {hits} of {n} {name} documents; write right/labels, as in 43/59",
            parameter=name,
        )


def _require_unit_share(what: str, value: float, *, parameter: str) -> None:
    if not 0 <= value <= 1:
        share: dict[str, Any] = {parameter: float(f"{value / 100:g}")}
        raise UsageError(
            "not-a-share",
            f"{what} lies between 0 and 1, found {value:g}",
            parameter=parameter,
            suggestions=[Suggestion(f"is {value:g}%", **share)] if 1 < value <= 100 else (),
        )


def _require_sd(mean: float, sd: float, queries: int) -> None:
    if not sd >= 0 or math.isinf(sd):
        raise UsageError("bad-sd", f"a standard deviation is 0 or more, found {sd:g}", parameter="sd")
    if sd <= NEGLIGIBLE_SD:
        return
    if queries == 1:
        raise UsageError(
            "single-query",
            "one query has no standard deviation; give more queries, or leave it out",
            parameter="sd",
            suggestions=[Suggestion("says that there is one document for each query", k=1)],
        )
    if mean in (0, 1):
        raise UsageError(
            "sd-too-large",
            f"a mean of {mean:g} leaves no room for a standard deviation of {sd:g}: all queries are {mean:g}; "
            f"give the score with more digits",
            parameter="sd",
        )
    rounded_mean = mean + math.copysign(min(ROUNDING, abs(0.5 - mean)), 0.5 - mean)
    largest = math.sqrt(rounded_mean * (1 - rounded_mean) * queries / (queries - 1))
    if sd > largest + ROUNDING:
        is_percentage = 1 < sd <= 100
        raise UsageError(
            "sd-too-large",
            f"values from 0 to 1 with the mean {mean:g} have a standard deviation of {largest:.3g} at most, "
            f"found {sd:g}{'' if is_percentage else '; is it a variance, or of another score?'}",
            parameter="sd",
            suggestions=[Suggestion(f"is {sd:g}%", sd=float(f"{sd / 100:g}"))] if is_percentage else (),
        )


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
