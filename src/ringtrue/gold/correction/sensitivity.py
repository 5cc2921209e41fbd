"""How little would explain a difference: a judge who errs a bit otherwise on one of the two systems."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ringtrue.gold.correction.calculator_inputs import BronzeScore, Rates


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
