"""Scales: from what to what, and where the numbers stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, ScalarFormatter, StrMethodFormatter

MAX_DRAWABLE = 1e100  # beyond this a number is drawn where this would be
MIN_DRAWABLE = 1e-100  # and below this where zero is
Limits: TypeAlias = tuple[float, float]


def keep_drawable(values: Iterable[float | None]) -> list[float]:
    """Those that are numbers, none of them too large or too small to be drawn."""
    clamped = (
        clamp(float(number), (-MAX_DRAWABLE, MAX_DRAWABLE))
        for number in values
        if number is not None and math.isfinite(number)
    )
    return [0.0 if abs(number) < MIN_DRAWABLE else number for number in clamped]


def clamp(value: float, limits: Limits) -> float:
    """The value, or the end of the scale that it lies beyond."""
    return min(limits[1], max(limits[0], value))


def padded_limits(values: Iterable[float | None], padding: float = 0.04) -> Limits:
    """The ends of a scale on which all values have room; it begins or ends at zero where they nearly do.

    Examples:
        >>> padded_limits([0.01, 0.5]), padded_limits([2.0]), padded_limits([])
        ((0.0, 0.5196), (1.76, 2.24), (0.0, 1.0))
    """
    numbers = keep_drawable(values)
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    span = high - low
    if span <= 1e-9 * max(abs(low), abs(high)):
        half = abs(low) * 0.12 or 0.5
        return low - half, high + half
    margin = span * padding
    return (0.0 if 0 <= low < margin else low - margin), (0.0 if -margin < high <= 0 else high + margin)


def positive_limits(values: Iterable[float | None]) -> Limits:
    """The ends of a logarithmic scale for those values that are above zero."""
    numbers = [number for number in keep_drawable(values) if number > 0] or [1.0, 10.0]
    low, high = min(numbers), max(numbers)
    return (low, high) if high > low * 1.001 else (low / 2, high * 2)


def set_ticks(axis: Axis, most: int) -> list[str]:
    """Numbers at round places of a linear scale, so many at most; returns what they say."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(_TickFormatter())
    return _tick_labels(axis)


def set_log_ticks(axis: Axis, most: int) -> list[str]:
    """Numbers at round places of a logarithmic scale, so many at most; returns what they say."""
    low, high = axis.get_view_interval()
    for multiples in ((1, 2, 5), (1, 3), (1,)):
        locator = LogLocator(subs=multiples, numticks=most)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) <= most:
            break
    axis.set_major_locator(locator)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    return _tick_labels(axis)


def _tick_labels(axis: Axis) -> list[str]:
    low, high = axis.get_view_interval()
    ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
    return axis.get_major_formatter().format_ticks(ticks)


class _TickFormatter(ScalarFormatter):
    """Numbers with the same decimals, thousands apart; very large and small ones as powers of ten."""

    def __init__(self) -> None:
        super().__init__(useOffset=False, useMathText=False)
        self.set_powerlimits((-5, 7))

    def __call__(self, x: float, pos: int | None = None) -> str:
        """What stands at a tick."""
        if super().get_offset():
            digits, _, power = f"{x:.3e}".partition("e")
            return f"{float(digits):g}e{int(power)}".replace("-", "−") if x else "0"
        label = super().__call__(x, pos)
        digits = label.removeprefix("−")
        return label.replace(digits, f"{int(digits):,}") if digits.isdigit() else label

    def get_offset(self) -> str:
        """Nothing: every tick says all of its number."""
        return ""
