"""Words in pictures: how wide they are, where to cut them, what the font cannot show, and places for them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

FONT_FAMILY = "DejaVu Sans"  # comes with Matplotlib, so that a picture looks alike everywhere
FONT_SIZE = 12.0  # pixels, of all words unless said otherwise
_MEASURING_SIZE = 64  # the size at which letters are measured
_MISSING_GLYPH = "□"


@cache
def _load_font(bold: bool) -> FT2Font:
    from matplotlib.font_manager import findfont, get_font

    return get_font(findfont(f"{FONT_FAMILY}:{'bold' if bold else 'regular'}"))


@cache
def _advance(letter: str, bold: bool) -> float:
    """How far a letter goes, in units of the font's size; one that the font has not may be as wide as it is high."""
    if unicodedata.combining(letter):
        return 0.0
    font = _load_font(bold)
    if not font.get_char_index(ord(letter)):
        return 1.2
    font.set_size(_MEASURING_SIZE, 72)
    return float(font.load_char(ord(letter)).linearHoriAdvance) / 65536 / _MEASURING_SIZE


def text_width(text: str, size: float = FONT_SIZE, *, bold: bool = False) -> float:
    """How many pixels a text is wide."""
    return size * sum(_advance(letter, bold) for letter in text)


def widest(texts: Iterable[str], size: float = FONT_SIZE) -> float:
    """How many pixels the widest of some texts is wide."""
    return max((text_width(text, size) for text in texts), default=0.0)


def to_single_line(text: str) -> str:
    """A text without line breaks and what cannot be shown or written: control characters, halves of surrogates."""
    return "".join(
        " " if letter.isspace() else letter
        for letter in text
        if unicodedata.category(letter) not in ("Cc", "Cs") or letter.isspace()
    )


def replace_missing_glyphs(text: str) -> str:
    """A text with a box for each letter that the font has not; a browser has more fonts, a picture only this one."""
    font = _load_font(False)
    return "".join(letter if font.get_char_index(ord(letter)) else _MISSING_GLYPH for letter in text)


def shorten(text: str, width: float, size: float = FONT_SIZE, *, bold: bool = False) -> str:
    """A text that is no wider than this: its beginning and its end, with … for what is between.

    Examples:
        >>> shorten("a-run-with-a-long-name.v2", 110)
        'a-run-wit…me.v2'
    """
    text = to_single_line(text)
    if text_width(text, size, bold=bold) <= width:
        return text
    available = width - text_width("…", size, bold=bold)
    letter_counts = [0, 0]  # letters of the beginning, and of the end; the beginning first
    used = [0.0, 0.0]
    while sum(letter_counts) < len(text) - 1:
        side = 0 if used[0] <= used[1] * 1.4 else 1
        letter = text[letter_counts[0]] if side == 0 else text[-1 - letter_counts[1]]
        step = size * _advance(letter, bold)
        if sum(used) + step > available:
            break
        letter_counts[side] += 1
        used[side] += step
    return text[: letter_counts[0]].rstrip() + "…" + (text[-letter_counts[1] :].lstrip() if letter_counts[1] else "")


def wrap(text: str, width: float, size: float = FONT_SIZE, *, bold: bool = False, max_lines: int = 3) -> list[str]:
    """A text in lines that are no wider than this, at most so many; words that are too long are cut."""
    lines: list[str] = []
    for word in to_single_line(text).split():
        extended = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(extended, size, bold=bold) <= width:
            lines[-1] = extended
        else:
            lines.append(word)
    if len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], " ".join(lines[max_lines - 1 :])]
    return [shorten(line, width, size, bold=bold) for line in lines]


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
