"""Words in pictures: how wide they are, where to cut them, and what the font cannot show."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

FONT_SIZE = 12.0  # pixels, of all words unless said otherwise
_MEASURING_SIZE = 64  # the size at which letters are measured
_MISSING_GLYPH = "□"


@cache
def _load_font(bold: bool) -> FT2Font:
    from matplotlib.font_manager import findfont, get_font

    from ringtrue.report.charts.matplotlib_settings import FONT_FAMILY

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
