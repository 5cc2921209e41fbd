"""Is the difference between two bronze scores real? Several answers, and what each takes for granted."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.significance.paired_statistics import welch
from ringtrue.gold.correction.proportion import hopeless
from ringtrue.gold.correction.rate_inversion import inverted, inverted_variance, rate_variance, where_below
from ringtrue.gold.correction.rates import BronzeScore, Rates
from ringtrue.gold.correction.sensitivity import TippingPoint, tipping_points
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile, t_tail

__all__ = ["ScoreDifference", "by_separate_judges", "by_shared_judge", "naive", "normal_p"]

ALIKE = "assumes that the judge errs alike on both systems; only gold labels from each of them can settle that"
SHARES_GOLD = (
    "treats two estimates as independent that share every gold label, and so hardly ever finds a difference; it is "
    "here to reproduce published numbers"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """One answer to whether two scores differ: the difference, first − second, p and the test it comes from.

    `p_wald` is p by the difference and its standard error, where `p_value` comes from a better test. `tipping` has
    for "relevant" and "nonrelevant" how far the judge's rate would have to differ between the systems to explain the
    answer; None where that was not asked.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> first, second = (BronzeScore(mean=mean, sd=0.4, queries=10000) for mean in (0.62, 0.64))
        >>> found = by_shared_judge(first, second, rates)
        >>> print(found.difference, f"p = {found.p_value:.4f}")
        -0.04 (95% CI -0.07 to -0.02) p = 0.0004
    """

    difference: Estimate
    p_value: float | None
    test: str
    p_wald: float | None = None
    tipping: dict[str, TippingPoint] | None = None

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        plain: dict[str, object] = {
            "difference": self.difference.as_dict(),
            "p_value": self.p_value,
            "test": self.test,
        }
        if self.tipping is not None:
            tipping = {name: asdict(point) for name, point in self.tipping.items()}
            plain |= {"p_wald": self.p_wald, "tipping_points": tipping}
        return plain


@dataclass(frozen=True, slots=True)
class _Apart:
    """Two bronze scores against each other: the difference, its standard error, degrees of freedom and p."""

    value: float
    se: float
    df: float
    p_value: float | None
    paired: bool

    def critical(self, level: float) -> float:
        p = (1 + level) / 2
        return normal_quantile(p) if math.isinf(self.df) else t_quantile(p, self.df)


def naive(
    first: BronzeScore, second: BronzeScore, *, difference_sd: float | None = None, level: float = 0.95
) -> ScoreDifference:
    """The bronze scores as if no label were wrong: Welch's t test, paired with `difference_sd` [Welch47].

    Examples:
        >>> first, second = BronzeScore(mean=0.626, sd=0.414, queries=10278), BronzeScore(mean=0.6385, sd=0.402,
        ...                                                                               queries=20604)
        >>> round(naive(first, second).p_value, 4)
        0.0116
    """
    apart = _apart(first, second, difference_sd)
    half = apart.critical(level) * apart.se
    notes = ("there is no spread over queries to test with",) if apart.p_value is None else ()
    difference = Estimate(
        value=apart.value, se=apart.se, low=apart.value - half, high=apart.value + half, level=level,
        n=min(first.queries, second.queries), method="t", notes=notes,
    )  # fmt: skip
    return ScoreDifference(difference=difference, p_value=apart.p_value, test="t" if apart.paired else "welch")


def by_shared_judge(
    first: BronzeScore,
    second: BronzeScore,
    rates: Rates,
    *,
    difference_sd: float | None = None,
    level: float = 0.95,
) -> ScoreDifference:
    """The difference by the gold judge, where one judge with one pair of rates labelled both systems.

        D = (j_a − j_b) / J,  all t with (d − tJ)² ≤ q² (se_d² + t² (V_R + V_N))    [Fieller54]

    A difference by gold is a difference by bronze made smaller by J, and one is 0 where the other is: `p_value` is
    that of the bronze scores, and the interval holds 0 exactly where p is above 1 − level (q is the quantile of that
    test). Where the same queries were asked of both, `difference_sd` is the standard deviation of the differences of
    single queries, and the test is the paired one. All of it holds only if the judge errs alike on both systems, and
    `tipping` tells how little may be needed to explain it otherwise.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> first, second = BronzeScore(mean=0.6385, sd=0.402, queries=20604), BronzeScore(mean=0.626, sd=0.414,
        ...                                                                                queries=10278)
        >>> found = by_shared_judge(first, second, rates)
        >>> [round(one, 4) for one in (found.difference.value, found.difference.low, found.difference.high)]
        [0.0237, 0.0053, 0.046]
    """
    apart = _apart(first, second, difference_sd)
    youden, q = rates.youden, apart.critical(level)
    spread = float(rate_variance(*rates.on_relevant) + rate_variance(*rates.on_nonrelevant))
    a, b, c = youden**2 - q**2 * spread, -2 * apart.value * youden, apart.value**2 - (q * apart.se) ** 2
    test = "t on bronze scores" if apart.paired else "welch on bronze scores"
    method, n = "fieller", min(first.queries, second.queries)
    why_not = hopeless(rates, level=level)
    if why_not is not None or a <= 0:
        notes = (why_not or "the judge may be no better than chance", *_unbounded(a, b, c), ALIKE)
        nothing = Estimate(value=None, low=-1.0, high=1.0, level=level, n=n, method=method, notes=notes)
        return ScoreDifference(difference=nothing, p_value=apart.p_value, test=test, tipping={})
    low, high = where_below(a, b, c)
    value = apart.value / youden
    se = math.sqrt(apart.se**2 / youden**2 + apart.value**2 * spread / youden**4)
    difference = Estimate(
        value=value, se=se, low=float(low), high=float(high), level=level, n=n, method=method, notes=(ALIKE,)
    )
    covariance = (first.variance + second.variance - apart.se**2) / 2 if apart.paired else 0.0
    return ScoreDifference(
        difference=difference,
        p_value=apart.p_value,
        test=test,
        p_wald=normal_p(value, se) if se else None,
        tipping=tipping_points(first, second, rates, covariance=covariance, critical=q),
    )


def by_separate_judges(
    first: BronzeScore,
    second: BronzeScore,
    rates: Rates,
    second_rates: Rates | None = None,
    *,
    difference_sd: float | None = None,
    level: float = 0.95,
) -> ScoreDifference:
    """The difference by the gold judge, where each system had judges of its own, with gold labels of their own.

        z = (θ_a − θ_b) / √(se_a² + se_b² − 2 cov(j_a, j_b) / (J_a J_b))    [Goldberg17], eq. 11

    The covariance is there if both were asked the same queries, which `difference_sd` says. With one pair of rates for
    both this is the published test on a shared judge, which a note warns of.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> first, second = BronzeScore(mean=0.626, sd=0.414, queries=10278), BronzeScore(mean=0.6385, sd=0.402,
        ...                                                                               queries=20604)
        >>> round(by_separate_judges(first, second, rates).p_value, 3)
        0.854
    """
    both = (first, rates), (second, second_rates or rates)
    n = min(first.queries, second.queries)
    reasons = [why for _, some in both if (why := hopeless(some, level=level)) is not None]
    if reasons:
        nothing = Estimate(value=None, low=-1.0, high=1.0, level=level, n=n, method="wald",
                           notes=tuple(dict.fromkeys(reasons)))  # fmt: skip
        return ScoreDifference(difference=nothing, p_value=None, test="independent")
    values = [float(inverted(one.mean, some.on_relevant[0], some.on_nonrelevant[0])) for one, some in both]
    squares = [float(inverted_variance(one.mean, one.variance, some.on_relevant, some.on_nonrelevant))
               for one, some in both]  # fmt: skip
    apart = _apart(first, second, difference_sd)
    covariance = (first.variance + second.variance - apart.se**2) / 2 if apart.paired else 0.0
    value = values[0] - values[1]
    se = math.sqrt(max(sum(squares) - 2 * covariance / (both[0][1].youden * both[1][1].youden), 0.0))
    half = normal_quantile((1 + level) / 2) * se
    difference = Estimate(
        value=value, se=se, low=value - half, high=value + half, level=level, n=n, method="wald",
        notes=() if second_rates else (SHARES_GOLD,),
    )  # fmt: skip
    return ScoreDifference(difference=difference, p_value=normal_p(value, se) if se else None, test="independent")


def _apart(first: BronzeScore, second: BronzeScore, difference_sd: float | None) -> _Apart:
    value = first.mean - second.mean
    if difference_sd is not None:
        return _paired(first, second, value, difference_sd)
    counts = np.array([first.queries, second.queries], dtype=np.float64)
    variances = np.array([first.variance, second.variance]) * counts
    if not variances.any() or counts.min() < 2:
        return _Apart(value, math.sqrt(first.variance + second.variance), math.inf, 1.0 if value == 0 else None, False)
    p, se, df = welch(np.array([first.mean, second.mean]), variances, counts)
    return _Apart(value, float(se), float(df), float(p), False)


def _paired(first: BronzeScore, second: BronzeScore, value: float, difference_sd: float) -> _Apart:
    n = first.queries
    if second.queries != n:
        raise UsageError(
            f"differences of single queries need the same queries for both, found {n:,} and {second.queries:,}; leave "
            f"their standard deviation out where the queries differ"
        )
    if n < 2:
        raise UsageError("one query has no standard deviation of differences; leave it out, or give more queries")
    spreads = [math.sqrt(one.variance * n) for one in (first, second)]
    least, most = abs(spreads[0] - spreads[1]), sum(spreads)
    if not least - 0.01 <= difference_sd <= most + 0.01:
        raise UsageError(
            f"differences of scores with standard deviations {spreads[0]:.3g} and {spreads[1]:.3g} have one between "
            f"{least:.3g} and {most:.3g}, found {difference_sd:g}"
        )
    se = difference_sd / math.sqrt(n)
    if se == 0:
        return _Apart(value, 0.0, n - 1, 1.0 if value == 0 else None, True)
    return _Apart(value, se, n - 1, 2 * float(t_tail(abs(value) / se, n - 1)), True)


def _unbounded(a: float, b: float, c: float) -> tuple[str, ...]:
    """What Fieller's inequality leaves where it has no end: everything, or all but a stretch in the middle."""
    if a >= 0 or b**2 - 4 * a * c <= 0:
        return ("no difference can be ruled out",)
    near, far = where_below(-a, -b, -c)
    return (f"no difference can be ruled out but those from {float(near):.3f} to {float(far):.3f}",)


def normal_p(value: float, se: float) -> float:
    """Two-sided p of a normal test, with as many digits far out as in the middle.

    Examples:
        >>> round(normal_p(1.959964, 1), 6), f"{normal_p(12, 1):.2g}"
        (0.05, '3.6e-33')
    """
    return math.erfc(abs(value) / se / math.sqrt(2))
