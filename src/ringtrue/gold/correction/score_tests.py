"""Is the difference between two bronze scores real? Several answers, and what would explain it otherwise."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.significance.paired_statistics import welch_test
from ringtrue.gold.correction.proportion import why_uncorrectable
from ringtrue.gold.correction.rate_inversion import (
    BronzeScore,
    Rates,
    inversion_variance,
    invert_rates,
    quadratic_interval,
    rate_variance,
)
from ringtrue.messages import Note
from ringtrue.stats.intervals import normal_quantile, t_quantile, t_tail
from ringtrue.stats.results import Estimate

SAME_ERRORS_NOTE = Note(
    "equal-errors-on-both-runs",
    "assumes that the judge errs alike on both systems; only gold labels from each of them can settle that",
)
SHARED_GOLD_NOTE = Note(
    "shared-gold",
    "treats two estimates as independent that share every gold label, and so hardly ever finds a difference; it is "
    "here to reproduce published numbers",
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
        >>> tested = shared_judge_test(first, second, rates)
        >>> print(tested.difference, f"p = {tested.p_value:.4f}")
        -0.04 (95% CI -0.07 to -0.02) p = 0.0004
    """

    difference: Estimate
    p_value: float | None
    test: str
    p_wald: float | None = None
    tipping: dict[str, TippingPoint] | None = None

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        plain: dict[str, object] = {"difference": self.difference.as_dict(), "p_value": self.p_value, "test": self.test}
        if self.tipping is not None:
            tipping = {name: asdict(point) for name, point in self.tipping.items()}
            plain |= {"p_wald": self.p_wald, "tipping_points": tipping}
        return plain


@dataclass(frozen=True, slots=True)
class _BronzeDifference:
    """Two bronze scores against each other: the difference, its standard error, degrees of freedom and p."""

    value: float
    se: float
    df: float
    p_value: float | None
    paired: bool

    def critical(self, level: float) -> float:
        p = (1 + level) / 2
        return normal_quantile(p) if math.isinf(self.df) else t_quantile(p, self.df)


def naive_test(
    first: BronzeScore, second: BronzeScore, *, difference_sd: float | None = None, level: float = 0.95
) -> ScoreDifference:
    """The bronze scores as if no label were wrong: Welch's t test, paired with `difference_sd` [Welch47].

    Examples:
        >>> first, second = BronzeScore(mean=0.626, sd=0.414, queries=10278), BronzeScore(mean=0.6385, sd=0.402,
        ...                                                                               queries=20604)
        >>> round(naive_test(first, second).p_value, 4)
        0.0116
    """
    bronze_difference = _bronze_difference(first, second, difference_sd)
    half_width = bronze_difference.critical(level) * bronze_difference.se
    no_spread = Note("no-spread", "there is no spread over queries to test with")
    notes = (no_spread,) if bronze_difference.p_value is None else ()
    difference = Estimate(
        value=bronze_difference.value,
        se=bronze_difference.se,
        low=bronze_difference.value - half_width,
        high=bronze_difference.value + half_width,
        level=level,
        n=min(first.queries, second.queries),
        method="t",
        notes=notes,
    )
    return ScoreDifference(
        difference=difference, p_value=bronze_difference.p_value, test="t" if bronze_difference.paired else "welch"
    )


def shared_judge_test(
    first: BronzeScore, second: BronzeScore, rates: Rates, *, difference_sd: float | None = None, level: float = 0.95
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
        >>> tested = shared_judge_test(first, second, rates)
        >>> [round(x, 4) for x in (tested.difference.value, tested.difference.low, tested.difference.high)]
        [0.0237, 0.0053, 0.046]
    """
    bronze_difference = _bronze_difference(first, second, difference_sd)
    youden, q = rates.youden, bronze_difference.critical(level)
    rate_variances = float(rate_variance(*rates.on_relevant) + rate_variance(*rates.on_nonrelevant))
    a, b, c = (
        youden**2 - q**2 * rate_variances,
        -2 * bronze_difference.value * youden,
        bronze_difference.value**2 - (q * bronze_difference.se) ** 2,
    )
    test = "t on bronze scores" if bronze_difference.paired else "welch on bronze scores"
    method, n = "fieller", min(first.queries, second.queries)
    reason = why_uncorrectable(rates, level=level)
    if reason is not None or a <= 0:
        reason = reason or Note("judge-maybe-at-chance", "the judge may be no better than chance")
        notes = (reason, _unbounded_note(a, b, c), SAME_ERRORS_NOTE)
        no_difference = Estimate(value=None, low=-1.0, high=1.0, level=level, n=n, method=method, notes=notes)
        return ScoreDifference(difference=no_difference, p_value=bronze_difference.p_value, test=test, tipping={})
    low, high = quadratic_interval(a, b, c)
    value = bronze_difference.value / youden
    se = math.sqrt(bronze_difference.se**2 / youden**2 + bronze_difference.value**2 * rate_variances / youden**4)
    difference = Estimate(
        value=value, se=se, low=float(low), high=float(high), level=level, n=n, method=method, notes=(SAME_ERRORS_NOTE,)
    )
    covariance = (first.variance + second.variance - bronze_difference.se**2) / 2 if bronze_difference.paired else 0.0
    return ScoreDifference(
        difference=difference,
        p_value=bronze_difference.p_value,
        test=test,
        p_wald=normal_p(value, se) if se else None,
        tipping=tipping_points(first, second, rates, covariance=covariance, critical=q),
    )


def separate_judges_test(
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
        >>> round(separate_judges_test(first, second, rates).p_value, 3)
        0.854
    """
    systems = (first, rates), (second, second_rates or rates)
    n = min(first.queries, second.queries)
    reasons = [
        reason for _, judge_rates in systems if (reason := why_uncorrectable(judge_rates, level=level)) is not None
    ]
    if reasons:
        no_difference = Estimate(
            value=None, low=-1.0, high=1.0, level=level, n=n, method="wald", notes=tuple(dict.fromkeys(reasons))
        )
        return ScoreDifference(difference=no_difference, p_value=None, test="independent")
    values = [
        float(invert_rates(score.mean, judge_rates.on_relevant[0], judge_rates.on_nonrelevant[0]))
        for score, judge_rates in systems
    ]
    variances = [
        float(inversion_variance(score.mean, score.variance, judge_rates.on_relevant, judge_rates.on_nonrelevant))
        for score, judge_rates in systems
    ]
    bronze_difference = _bronze_difference(first, second, difference_sd)
    covariance = (first.variance + second.variance - bronze_difference.se**2) / 2 if bronze_difference.paired else 0.0
    value = values[0] - values[1]
    se = math.sqrt(max(sum(variances) - 2 * covariance / (systems[0][1].youden * systems[1][1].youden), 0.0))
    half_width = normal_quantile((1 + level) / 2) * se
    difference = Estimate(
        value=value,
        se=se,
        low=value - half_width,
        high=value + half_width,
        level=level,
        n=n,
        method="wald",
        notes=() if second_rates else (SHARED_GOLD_NOTE,),
    )
    return ScoreDifference(difference=difference, p_value=normal_p(value, se) if se else None, test="independent")


def _bronze_difference(first: BronzeScore, second: BronzeScore, difference_sd: float | None) -> _BronzeDifference:
    value = first.mean - second.mean
    if difference_sd is not None:
        return _paired_difference(first, second, value, difference_sd)
    counts = np.array([first.queries, second.queries], dtype=np.float64)
    variances = np.array([first.variance, second.variance]) * counts
    if not variances.any() or counts.min() < 2:
        return _BronzeDifference(
            value, math.sqrt(first.variance + second.variance), math.inf, 1.0 if value == 0 else None, False
        )
    p, se, df = welch_test(np.array([first.mean, second.mean]), variances, counts)
    return _BronzeDifference(value, float(se), float(df), float(p), False)


def _paired_difference(
    first: BronzeScore, second: BronzeScore, value: float, difference_sd: float
) -> _BronzeDifference:
    n = first.queries
    if second.queries != n:
        raise UsageError(
            "queries-differ",
            f"differences of single queries need the same queries for both, found {n:,} and {second.queries:,}; leave "
            f"their standard deviation out where the queries differ",
            parameter="difference_sd",
        )
    if n < 2:
        raise UsageError(
            "single-query",
            "one query has no standard deviation of differences; leave it out, or give more queries",
            parameter="difference_sd",
        )
    sds = [math.sqrt(score.variance * n) for score in (first, second)]
    smallest, largest = abs(sds[0] - sds[1]), sum(sds)
    if not smallest - 0.01 <= difference_sd <= largest + 0.01:
        raise UsageError(
            "impossible-difference-sd",
            f"differences of scores with standard deviations {sds[0]:.3g} and {sds[1]:.3g} have one between "
            f"{smallest:.3g} and {largest:.3g}, found {difference_sd:g}",
            parameter="difference_sd",
        )
    se = difference_sd / math.sqrt(n)
    if se == 0:
        return _BronzeDifference(value, 0.0, n - 1, 1.0 if value == 0 else None, True)
    return _BronzeDifference(value, se, n - 1, 2 * float(t_tail(abs(value) / se, n - 1)), True)


def _unbounded_note(a: float, b: float, c: float) -> Note:
    """What Fieller's inequality leaves where it has no end: everything, or all but a stretch in the middle."""
    if a >= 0 or b**2 - 4 * a * c <= 0:
        return Note("nothing-ruled-out", "no difference can be ruled out")
    near, far = quadratic_interval(-a, -b, -c)
    text = f"no difference can be ruled out but those from {float(near):.3f} to {float(far):.3f}"
    return Note("little-ruled-out", text)


def normal_p(value: float, se: float) -> float:
    """Two-sided p of a normal test, with as many digits far out as in the middle.

    Examples:
        >>> round(normal_p(1.959964, 1), 6), f"{normal_p(12, 1):.2g}"
        (0.05, '3.6e-33')
    """
    return math.erfc(abs(value) / se / math.sqrt(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingPoint:
    """How far one of the judge's rates would have to differ between two systems, from 0 to 1.

    With `significance` the difference would no longer be significant, with `difference` there would be none. 0 where
    there is nothing to take away, None where no two rates do it.
    """

    significance: float | None
    difference: float | None

    @property
    def description(self) -> str:
        """Both in words, in points of a hundred."""
        if self.significance is None and self.difference is None:
            return "no rates explain the difference"
        significance, difference = (
            "no number of points" if gap is None else f"{100 * gap:.2g} points"
            for gap in (self.significance, self.difference)
        )
        if not self.significance:
            return f"rates {difference} apart between the systems explain all of the difference"
        return (
            f"rates {significance} apart between the systems take the significance away, "
            f"{difference} all of the difference"
        )


def tipping_points(
    first: BronzeScore, second: BronzeScore, rates: Rates, *, covariance: float = 0.0, critical: float
) -> dict[str, TippingPoint]:
    """How much one of the judge's rates, on relevant or on other documents, must differ between the systems.

        (A_l/J_l − A_h/J_h)² = q² (V_l/J_l² + V_h/J_h² − 2C/(J_l J_h)),  A = j − 1 + m_N,  J_l = J − x/2,  J_h = J + x/2

    solved for x: a quadratic in w = J_l/J_h, with x = 2J (1−w)/(1+w). l is the lower score and h the higher, q the
    critical value of the test, C the covariance of the scores; the whole difference goes with w = A_l/A_h. For the
    other rate, A = m_R − j, and x has the opposite sign.

    Examples:
        >>> first, second = BronzeScore(mean=0.626, sd=0.414, queries=10278), BronzeScore(mean=0.6385, sd=0.402,
        ...                                                                               queries=20604)
        >>> points = tipping_points(first, second, Rates(relevant=(43, 59), nonrelevant=(67, 84)), critical=1.96)
        >>> f"{points['relevant'].significance:.4f}", f"{points['relevant'].difference:.4f}"
        ('0.0034', '0.0153')
    """
    lower, higher = sorted((first, second), key=lambda score: score.mean)
    (sensitivity, _), (specificity, _) = rates.on_relevant, rates.on_nonrelevant
    common = {"covariance": covariance, "square": critical**2, "youden": rates.youden}
    return {
        "relevant": _tipping_point(
            (lower.mean - 1 + specificity, lower.variance), (higher.mean - 1 + specificity, higher.variance), **common
        ),
        # Of non-relevant documents the higher system has less.
        "nonrelevant": _tipping_point(
            (sensitivity - higher.mean, higher.variance), (sensitivity - lower.mean, lower.variance), **common
        ),
    }


def _tipping_point(
    lower: tuple[float, float], higher: tuple[float, float], *, covariance: float, square: float, youden: float
) -> TippingPoint:
    (low, low_variance), (high, high_variance) = lower, higher
    if low == high:
        return TippingPoint(significance=0.0, difference=0.0)
    difference_ratio = low / high if low > 0 else None
    a, c = high**2 - square * high_variance, low**2 - square * low_variance
    half_b = low * high - square * covariance
    discriminant = half_b**2 - a * c
    significance_ratio = (half_b + math.sqrt(discriminant)) / a if a > 0 and discriminant >= 0 else None
    if (high - low) ** 2 <= square * (low_variance + high_variance - 2 * covariance):
        significance_ratio = 1.0  # it is not significant as it is
    return TippingPoint(
        significance=_rate_gap(significance_ratio, youden), difference=_rate_gap(difference_ratio, youden)
    )


def _rate_gap(ratio: float | None, youden: float) -> float | None:
    """How far rates lie apart whose J have this ratio; None where rates cannot."""
    if ratio is None or ratio <= 0:
        return None
    needed = 2 * youden * (1 - ratio) / (1 + ratio)
    return needed if needed < 1 else None
