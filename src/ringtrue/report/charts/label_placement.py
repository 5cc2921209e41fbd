"""Labels that keep apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Patch", "free_place", "spread"]


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in the same order and at least so far apart, between low and high if they fit.

    Examples:
        >>> spread([10, 11, 50], 8, 0, 100)
        [6.5, 14.5, 50.0]
    """
    # Labels that touch become one block, which lies where its labels would have it in the mean.
    blocks: list[tuple[float, int]] = []  # the place of the first label, how many
    order = sorted(range(len(wanted)), key=lambda one: wanted[one])
    high = max(high, low + apart * (len(wanted) - 1))
    for one in order:
        first, many = min(high, max(low, float(wanted[one]))), 1
        while blocks and blocks[-1][0] + blocks[-1][1] * apart > first:
            before, count = blocks.pop()
            middle = ((before + (count - 1) * apart / 2) * count + (first + (many - 1) * apart / 2) * many) / (
                count + many
            )
            many += count
            first = min(high - (many - 1) * apart, max(low, middle - (many - 1) * apart / 2))
        blocks.append((first, many))
    places = [first + number * apart for first, many in blocks for number in range(many)]
    found = [0.0] * len(wanted)
    for place, one in zip(places, order, strict=True):
        found[one] = place
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A part of the sheet that is taken: its centre and half of its width and height."""

    x: float
    y: float
    half_width: float
    half_height: float

    def meets(self, other: Patch) -> bool:
        """Whether the two overlap."""
        return (
            abs(self.x - other.x) < self.half_width + other.half_width
            and abs(self.y - other.y) < self.half_height + other.half_height
        )


def free_place(
    x: float, y: float, width: float, height: float, taken: Sequence[Patch], within: tuple[float, float, float, float]
) -> Patch | None:
    """Where a label of a point may stand: close to it, on nothing that is taken, within left, right, top, bottom."""
    left, right, top, bottom = within
    for far in (0.0, 6.0, 14.0):
        aside, up = width / 2 + 8 + far, height / 2 + 6 + far
        for across, down in (
            (aside, 0), (-aside, 0), (0, -up), (0, up), (aside, -up), (-aside, -up), (aside, up), (-aside, up),
        ):  # fmt: skip
            found = Patch(x=x + across, y=y + down, half_width=width / 2 + 1, half_height=height / 2)
            inside = abs(found.x - (left + right) / 2) + width / 2 <= (right - left) / 2
            inside = inside and abs(found.y - (top + bottom) / 2) + height / 2 <= (bottom - top) / 2
            if inside and not any(found.meets(other) for other in taken):
                return found
    return None
