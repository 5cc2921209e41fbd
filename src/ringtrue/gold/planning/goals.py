"""What a plan is asked for: an interval so wide, or a difference found so often; and how far a variance serves it.

SciPy has the noncentral t, and so the power of a t test; its inverse never comes back for some numbers, and the ratio
that a power needs is searched for here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError
from ringtrue.messages import Suggestion
from ringtrue.stats.intervals import require_level

Array: TypeAlias = NDArray[np.float64]
MAX_POWER = 0.9999  # of a power: no test finds a difference always
NORMAL_DF = 1e9  # degrees of freedom with which Student's t is the normal distribution
MAX_HALF_WIDTH = 0.5  # half of 0 to 1: an interval that says nothing
LARGE_RATIO = 1e4
TAIL_SDS = 9.0  # standard deviations, beyond which next to nothing is left of a normal distribution
MAX_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """An interval of this half-width, or a difference that a test finds with this power.

    Where the half-width or the power is None, it is what a budget is to be spent for.

        half-width = t_{(1+level)/2, n−1} · √V,    power = P(T > t_{(1+level)/2, n−1}),  T ~ t_{n−1}(Δ/√V)

    T is Student's noncentral t: the paired t test on n queries. Only a finding in the right direction counts.

    Examples:
        >>> goal = Goal(half_width=0.05)
        >>> variance = goal.max_variance(60)
        >>> float(variance.round(6)), float(goal.achieved(variance, 60).round(6))
        (0.000624, 0.05)
        >>> float(Goal(difference=0.05, power=0.8).achieved(0.018**2, 60).round(3))
        0.78
    """

    half_width: float | None = None
    difference: float | None = None
    power: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        require_level(self.level)
        if self.half_width is not None:
            require_share("a half-width", self.half_width, parameter="half_width")
            if self.half_width >= MAX_HALF_WIDTH:
                raise UsageError(
                    "half-width-too-wide",
                    f"an interval of half-width {self.half_width:g} holds all from 0 to 1 and needs no label; "
                    f"ask for less than {MAX_HALF_WIDTH}, such as 0.05",
                    parameter="half_width",
                )
        if self.difference is not None:
            require_share("a difference", self.difference, parameter="difference")
        if self.power is not None and not self.alpha < self.power <= MAX_POWER:
            raise UsageError(
                "bad-power",
                f"power must lie between {self.alpha:g}, which a test of that level reaches by chance alone, and "
                f"{MAX_POWER}; found {self.power:g}, and 0.8 is usual",
                parameter="power",
            )

    @property
    def alpha(self) -> float:
        """How often a test of this level finds a difference that is not there."""
        return round(1 - self.level, 12)

    @property
    def target(self) -> str:
        """What of a plan is measured: `half_width` or `power`."""
        return "half_width" if self.difference is None else "power"

    def max_variance(self, queries: ArrayLike, *, normal: bool = False) -> Array:
        """The largest variance of the estimate with which so many queries reach the goal."""
        df, t = self._quantile(queries, normal=normal)
        if self.difference is None:
            assert self.half_width is not None
            return np.asarray((self.half_width / t) ** 2, dtype=np.float64)
        assert self.power is not None
        return np.asarray((self.difference / needed_ratio(self.power, df, t)) ** 2, dtype=np.float64)

    def achieved(self, variance: ArrayLike, queries: ArrayLike, *, normal: bool = False) -> Array:
        """The half-width, or the power, that a variance gives with so many queries."""
        df, t = self._quantile(queries, normal=normal)
        se = np.sqrt(np.asarray(variance, dtype=np.float64))
        if self.difference is None:
            return np.asarray(t * se, dtype=np.float64)
        return power(self.difference / np.maximum(se, self.difference * 1e-9), df, t)

    def loss(self, achieved: Array) -> Array:
        """What is to be made small: the half-width, or how often the difference is missed."""
        return achieved if self.difference is None else 1 - achieved

    def _quantile(self, queries: ArrayLike, *, normal: bool) -> tuple[Array, Array]:
        from scipy.special import stdtrit

        df = np.maximum(np.asarray(queries, dtype=np.float64) - 1, 1)
        df = np.full(df.shape, NORMAL_DF) if normal else df
        return df, np.asarray(stdtrit(df, (1 + self.level) / 2), dtype=np.float64)


def require_share(what: str, value: float, *, parameter: str) -> None:
    """Refuse what does not lie between 0 and 1; a percentage is understood and named.

    Examples:
        >>> require_share("a score", 62.6, parameter="score")
        Traceback (most recent call last):
        ringtrue.errors.UsageError: a score must lie between 0 and 1, found 62.6; score=0.626 is 62.6%
    """
    if not 0 < value < 1:
        share: dict[str, Any] = {parameter: float(f"{value / 100:g}")}
        hints = [Suggestion(f"is {value:g}%", **share)] if 1 < value <= 100 else []
        raise UsageError(
            "not-a-share",
            f"{what} must lie between 0 and 1, found {value:g}",
            parameter=parameter,
            suggestions=hints,
        )


def power(ratio: Array, df: Array, t: Array) -> Array:
    """How often a test rejects in the right direction: Student's t around `ratio` exceeds t.

        P(Z + δ > t S),    S² = χ²_df / df

    Examples:
        >>> power(np.array([2.5]), np.array([59.0]), np.array([2.000995])).round(4)
        array([0.6912])
    """
    from scipy.special import gammainc, nctdtr

    exceedance = 1 - nctdtr(df, np.minimum(ratio, LARGE_RATIO), t)
    # From a ratio of 35 on, SciPy may give NaN, and in the ten thousands it is slow and loses digits. Z is next to
    # nothing there: P(δ > t S) is 1 where SciPy has NaN, and within 0.5/δ² of the power elsewhere.
    powers: Array = np.where(
        np.isnan(exceedance) | (ratio > LARGE_RATIO), gammainc(df / 2, df * (ratio / t) ** 2 / 2), exceedance
    )
    return powers


def needed_ratio(target_power: float, df: Array, t: Array) -> Array:
    """The ratio of a difference to its standard error with which the test has this power.

    By the secant method, and by halves where a step would leave the stretch that holds the answer.

    Examples:
        >>> needed_ratio(0.8, np.array([59.0]), np.array([2.000995])).round(3)
        array([2.848])
    """
    from scipy.special import ndtri

    slope = np.sqrt(1 + t**2 / (2 * df))  # of the ratio over the normal quantile of the power: nearly a straight line
    low, high = np.zeros(np.shape(t)), t + TAIL_SDS * slope
    ratio = np.clip(t + ndtri(target_power) * slope, low, high)
    previous = previous_gap = np.full(np.shape(t), np.nan)
    for _ in range(MAX_STEPS):
        gap = ndtri(target_power) - ndtri(np.clip(power(ratio, df, t), 1e-300, 1 - 1e-16))
        if np.all(np.abs(gap) < 1e-11):
            break
        low, high = np.where(gap > 0, ratio, low), np.where(gap > 0, high, ratio)
        has_secant = (previous_gap != gap) & ~np.isnan(previous_gap)
        slope = np.where(has_secant, (ratio - previous) / np.where(has_secant, previous_gap - gap, 1.0), slope)
        previous, previous_gap = ratio, gap
        candidate = ratio + slope * gap
        ratio = np.where((low < candidate) & (candidate < high), candidate, (low + high) / 2)
    return np.asarray(ratio, dtype=np.float64)
