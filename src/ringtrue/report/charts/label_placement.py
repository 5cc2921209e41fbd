"""Labels that keep apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def spread_labels(wanted_positions: Sequence[float], min_gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in the same order and at least so far apart, between low and high if they fit.

    Examples:
        >>> spread_labels([10, 11, 50], 8, 0, 100)
        [6.5, 14.5, 50.0]
    """
    # Labels that touch become one block, which lies where its labels would have it in the mean.
    blocks: list[tuple[float, int]] = []  # the place of the first label, how many
    order = sorted(range(len(wanted_positions)), key=lambda label: wanted_positions[label])
    high = max(high, low + min_gap * (len(wanted_positions) - 1))
    for label in order:
        first, count = min(high, max(low, float(wanted_positions[label]))), 1
        while blocks and blocks[-1][0] + blocks[-1][1] * min_gap > first:
            previous_first, previous_count = blocks.pop()
            middle = (
                (previous_first + (previous_count - 1) * min_gap / 2) * previous_count
                + (first + (count - 1) * min_gap / 2) * count
            ) / (previous_count + count)
            count += previous_count
            first = min(high - (count - 1) * min_gap, max(low, middle - (count - 1) * min_gap / 2))
        blocks.append((first, count))
    places = [first + number * min_gap for first, count in blocks for number in range(count)]
    placed = [0.0] * len(wanted_positions)
    for place, label in zip(places, order, strict=True):
        placed[label] = place
    return placed


@dataclass(frozen=True, slots=True, kw_only=True)
class OccupiedArea:
    """A part of the sheet that is taken: its centre and half of its width and height."""

    x: float
    y: float
    half_width: float
    half_height: float

    def overlaps(self, other: OccupiedArea) -> bool:
        """Whether the two overlap."""
        return (
            abs(self.x - other.x) < self.half_width + other.half_width
            and abs(self.y - other.y) < self.half_height + other.half_height
        )


def find_free_place(
    x: float,
    y: float,
    width: float,
    height: float,
    occupied: Sequence[OccupiedArea],
    bounds: tuple[float, float, float, float],
) -> OccupiedArea | None:
    """Where a label of a point may stand: close to it, on nothing that is taken, within left, right, top, bottom."""
    left, right, top, bottom = bounds
    for distance in (0.0, 6.0, 14.0):
        offset_x, offset_y = width / 2 + 8 + distance, height / 2 + 6 + distance
        for dx, dy in (
            (offset_x, 0),
            (-offset_x, 0),
            (0, -offset_y),
            (0, offset_y),
            (offset_x, -offset_y),
            (-offset_x, -offset_y),
            (offset_x, offset_y),
            (-offset_x, offset_y),
        ):
            candidate = OccupiedArea(x=x + dx, y=y + dy, half_width=width / 2 + 1, half_height=height / 2)
            inside = abs(candidate.x - (left + right) / 2) + width / 2 <= (right - left) / 2
            inside = inside and abs(candidate.y - (top + bottom) / 2) + height / 2 <= (bottom - top) / 2
            if inside and not any(candidate.overlaps(area) for area in occupied):
                return candidate
    return None
