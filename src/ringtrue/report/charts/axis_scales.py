"""Scales: from what to what, and where the numbers stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MAX_DRAWABLE = 1e100  # beyond this a number is drawn where this would be
MIN_DRAWABLE = 1e-100  # and below this where zero is
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisScale:
    """A scale from `low` to `high` with its ticks and what they say."""

    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    logarithmic: bool = False

    def fraction(self, value: float) -> float:
        """How far along the scale a value stands, from 0 to 1; those beyond its ends stand there."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def contains(self, value: float) -> bool:
        """Whether a value lies on the scale."""
        return self.low <= value <= self.high

    def clamp(self, value: float) -> float:
        """The value, or the end of the scale that it lies beyond."""
        return min(self.high, max(self.low, value))


def keep_drawable(values: Iterable[float | None]) -> list[float]:
    """Those that are numbers, none of them too large or too small to be drawn."""
    clamped = (
        min(MAX_DRAWABLE, max(-MAX_DRAWABLE, float(number)))
        for number in values
        if number is not None and math.isfinite(number)
    )
    return [0.0 if abs(number) < MIN_DRAWABLE else number for number in clamped]


def make_linear_scale(
    values: Iterable[float | None], *, ticks: int, limits: tuple[float, float] | None = None, padding: float = 0.04
) -> AxisScale:
    """A scale on which all values have room, or just what is wanted; about so many ticks at round numbers.

    Examples:
        >>> make_linear_scale([0.31, 0.48], ticks=4).labels
        ('0.35', '0.40', '0.45')
        >>> make_linear_scale([], ticks=4).labels, make_linear_scale([2.0], ticks=3).labels
        (('0.0', '0.2', '0.4', '0.6', '0.8', '1.0'), ('1.8', '2.0', '2.2'))
    """
    low, high = (
        _padded_limits(keep_drawable(values), padding) if limits is None else (float(limits[0]), float(limits[1]))
    )
    if not low < high:
        low, high = _padded_limits([low], padding)
    step = _tick_step(high - low, ticks)
    positions = _ticks_between(low, high, step)
    if len(positions) < 2:
        step = _tick_step(high - low, ticks * 2 + 1)
        positions = _ticks_between(low, high, step)
    return AxisScale(low=low, high=high, ticks=positions, labels=format_ticks(positions, step))


def _padded_limits(numbers_on_scale: list[float], padding: float) -> tuple[float, float]:
    if not numbers_on_scale:
        return 0.0, 1.0
    low, high = min(numbers_on_scale), max(numbers_on_scale)
    span = high - low
    if span <= 1e-9 * max(abs(low), abs(high)):
        half = abs(low) * 0.12 or 0.5
        return low - half, high + half
    margin = span * padding
    return (0.0 if 0 <= low < margin else low - margin), (0.0 if -margin < high <= 0 else high + margin)


def _ticks_between(low: float, high: float, step: float) -> tuple[float, ...]:
    slack = step * 1e-6
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return tuple(number * step for number in range(first, last + 1))


def _tick_step(span: float, ticks: int) -> float:
    """A round number that goes into the span about so many times."""
    rough = span / max(1, ticks)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(multiple * power for multiple in _ROUND_STEPS if multiple * power >= rough * 0.75)


def format_ticks(ticks: tuple[float, ...], step: float) -> tuple[str, ...]:
    """Numbers with the same decimals, as few as tell them apart; very large or small ones as powers of ten."""
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if largest >= 1e7 or step < 1e-5:
        return tuple(_format_scientific(tick) for tick in ticks)
    decimals = next(d for d in range(12) if abs(round(step, d) - step) <= step * 1e-6)
    return tuple(f"{tick + 0.0:,.{decimals}f}".replace("-", "−") for tick in ticks)


def _format_scientific(number: float) -> str:
    digits, _, power = f"{number:.3e}".partition("e")
    return "0" if number == 0 else f"{float(digits):g}e{int(power)}".replace("-", "−")


def make_log_scale(
    values: Iterable[float | None], *, ticks: int, limits: tuple[float, float] | None = None
) -> AxisScale:
    """A scale on which ten is as far from one as a hundred from ten; only for what is above zero.

    Examples:
        >>> make_log_scale([12, 900], ticks=6).labels
        ('20', '50', '100', '200', '500')
    """
    positive_numbers = [number for number in (keep_drawable(values) if limits is None else limits) if number > 0] or [
        1.0,
        10.0,
    ]
    low, high = min(positive_numbers), max(positive_numbers)
    if high <= low * 1.001:
        low, high = low / 2, high * 2
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for multiples in ((1, 2, 5), (1, 3), (1,)):
        positions = tuple(
            multiple * 10.0**power
            for power in powers
            for multiple in multiples
            if low * 0.999 <= multiple * 10.0**power <= high * 1.001
        )
        if len(positions) <= ticks:
            break
    else:
        positions = positions[:: math.ceil(len(positions) / max(1, ticks))]
    labels = tuple(format_ticks((position,), 1.0 if position >= 1 else position)[0] for position in positions)
    return AxisScale(low=low, high=high, ticks=positions, labels=labels, logarithmic=True)
