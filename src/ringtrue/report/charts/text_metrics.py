"""Words in pictures: how wide they are, where to cut them, and what the font cannot show."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

__all__ = ["SIZE", "cut", "in_font", "on_one_line", "width_of", "wrapped"]

SIZE = 12.0  # pixels, of all words unless said otherwise
_EM = 64  # the size at which letters are measured
_MISSING = "□"


@cache
def _font(bold: bool) -> FT2Font:
    from matplotlib.font_manager import findfont, get_font

    from ringtrue.report.charts.matplotlib_settings import FAMILY

    return get_font(findfont(f"{FAMILY}:{'bold' if bold else 'regular'}"))


@cache
def _advance(letter: str, bold: bool) -> float:
    """How far a letter goes, in units of the font's size; one that the font has not may be as wide as it is high."""
    if unicodedata.combining(letter):
        return 0.0
    font = _font(bold)
    if not font.get_char_index(ord(letter)):
        return 1.2
    font.set_size(_EM, 72)
    return float(font.load_char(ord(letter)).linearHoriAdvance) / 65536 / _EM


def width_of(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """How many pixels a text is wide."""
    return size * sum(_advance(letter, bold) for letter in text)


def on_one_line(text: str) -> str:
    """A text without line breaks and what cannot be shown or written: control characters, halves of surrogates."""
    return "".join(
        " " if letter.isspace() else letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cs")
        or letter.isspace()
    )  # fmt: skip


def in_font(text: str) -> str:
    """A text with a box for each letter that the font has not; a browser has more fonts, a picture only this one."""
    font = _font(False)
    return "".join(letter if font.get_char_index(ord(letter)) else _MISSING for letter in text)


def cut(text: str, width: float, size: float = SIZE, *, bold: bool = False) -> str:
    """A text that is no wider than this: its beginning and its end, with … for what is between.

    Examples:
        >>> cut("a-run-with-a-long-name.v2", 110)
        'a-run-wit…me.v2'
    """
    text = on_one_line(text)
    if width_of(text, size, bold=bold) <= width:
        return text
    room = width - width_of("…", size, bold=bold)
    kept = [0, 0]  # letters of the beginning, and of the end; the beginning first
    used = [0.0, 0.0]
    while sum(kept) < len(text) - 1:
        side = 0 if used[0] <= used[1] * 1.4 else 1
        letter = text[kept[0]] if side == 0 else text[-1 - kept[1]]
        step = size * _advance(letter, bold)
        if sum(used) + step > room:
            break
        kept[side] += 1
        used[side] += step
    return text[: kept[0]].rstrip() + "…" + (text[-kept[1] :].lstrip() if kept[1] else "")


def wrapped(text: str, width: float, size: float = SIZE, *, bold: bool = False, most: int = 3) -> list[str]:
    """A text in lines that are no wider than this, at most so many; words that are too long are cut."""
    lines: list[str] = []
    for word in on_one_line(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [cut(line, width, size, bold=bold) for line in lines]
