"""Scales: from what to what, and where the numbers stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FAR", "Scale", "finite", "logarithmic_scale", "numbers", "scale"]

FAR = 1e100  # beyond this a number is drawn where this would be
NEAR = 1e-100  # and below this where zero is
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A scale from `low` to `high` with its ticks and what they say."""

    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """How far along the scale a value stands, from 0 to 1; those beyond its ends stand there."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def has(self, value: float) -> bool:
        """Whether a value lies on the scale."""
        return self.low <= value <= self.high

    def within(self, value: float) -> float:
        """The value, or the end of the scale that it lies beyond."""
        return min(self.high, max(self.low, value))


def finite(values: Iterable[float | None]) -> list[float]:
    """Those that are numbers, none of them too large or too small to be drawn."""
    found = (min(FAR, max(-FAR, float(one))) for one in values if one is not None and math.isfinite(one))
    return [0.0 if abs(one) < NEAR else one for one in found]


def scale(
    values: Iterable[float | None], *, ticks: int, wanted: tuple[float, float] | None = None, room: float = 0.04
) -> Scale:
    """A scale on which all values have room, or just what is wanted; about so many ticks at round numbers.

    Examples:
        >>> scale([0.31, 0.48], ticks=4).labels
        ('0.35', '0.40', '0.45')
        >>> scale([], ticks=4).labels, scale([2.0], ticks=3).labels
        (('0.0', '0.2', '0.4', '0.6', '0.8', '1.0'), ('1.8', '2.0', '2.2'))
    """
    low, high = _ends(finite(values), room) if wanted is None else (float(wanted[0]), float(wanted[1]))
    if not low < high:
        low, high = _ends([low], room)
    step = _step(high - low, ticks)
    found = _between(low, high, step)
    if len(found) < 2:
        step = _step(high - low, ticks * 2 + 1)
        found = _between(low, high, step)
    return Scale(low=low, high=high, ticks=found, labels=numbers(found, step))


def _ends(found: list[float], room: float) -> tuple[float, float]:
    if not found:
        return 0.0, 1.0
    low, high = min(found), max(found)
    span = high - low
    if span <= 1e-9 * max(abs(low), abs(high)):
        half = abs(low) * 0.12 or 0.5
        return low - half, high + half
    wide = span * room
    return (0.0 if 0 <= low < wide else low - wide), (0.0 if -wide < high <= 0 else high + wide)


def _between(low: float, high: float, step: float) -> tuple[float, ...]:
    slack = step * 1e-6
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return tuple(number * step for number in range(first, last + 1))


def _step(span: float, ticks: int) -> float:
    """A round number that goes into the span about so many times."""
    rough = span / max(1, ticks)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(one * power for one in _STEPS if one * power >= rough * 0.75)


def numbers(ticks: tuple[float, ...], step: float) -> tuple[str, ...]:
    """Numbers with the same decimals, as few as tell them apart; very large or small ones as powers of ten."""
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if largest >= 1e7 or step < 1e-5:
        return tuple(_power(tick) for tick in ticks)
    decimals = next(d for d in range(12) if abs(round(step, d) - step) <= step * 1e-6)
    return tuple(f"{tick + 0.0:,.{decimals}f}".replace("-", "−") for tick in ticks)


def _power(number: float) -> str:
    digits, _, power = f"{number:.3e}".partition("e")
    return "0" if number == 0 else f"{float(digits):g}e{int(power)}".replace("-", "−")


def logarithmic_scale(
    values: Iterable[float | None], *, ticks: int, wanted: tuple[float, float] | None = None
) -> Scale:
    """A scale on which ten is as far from one as a hundred from ten; only for what is above zero.

    Examples:
        >>> logarithmic_scale([12, 900], ticks=6).labels
        ('20', '50', '100', '200', '500')
    """
    found = [one for one in (finite(values) if wanted is None else wanted) if one > 0] or [1.0, 10.0]
    low, high = min(found), max(found)
    if high <= low * 1.001:
        low, high = low / 2, high * 2
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        at = tuple(
            part * 10.0**power
            for power in powers
            for part in parts
            if low * 0.999 <= part * 10.0**power <= high * 1.001
        )
        if len(at) <= ticks:
            break
    else:
        at = at[:: math.ceil(len(at) / max(1, ticks))]
    labels = tuple(numbers((one,), 1.0 if one >= 1 else one)[0] for one in at)
    return Scale(low=low, high=high, ticks=at, labels=labels, logarithmic=True)
