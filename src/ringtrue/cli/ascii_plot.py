"""Curves drawn with characters, for a quick look on a terminal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import click

__all__ = ["draw"]

WIDTH, HEIGHT = 60, 15  # in characters, each of which holds a raster of 2 × 4 dots
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of Unicode's Braille patterns, column by column
BLANK = 0x2800
PENS = {"A": "cyan", "B": "yellow", "C": "magenta", "D": "green", "E": "blue"}


def draw(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, across: str, up: str) -> str:
    """The first few curves, levels and values from 0 to 1, with a letter and a colour for each.

    Examples:
        >>> print(click.unstyle(draw({"new": ([0, 1], [0, 1])}, across="fallout", up="recall")))
        recall
        1.0 ┤...⠉
        ...
        A new
    """
    shown = dict(zip(PENS, curves.items(), strict=False))
    dots: dict[tuple[int, int], int] = {}
    letters: dict[tuple[int, int], str] = {}
    pens: dict[tuple[int, int], str] = {}
    for place, (letter, (_, (levels, values))) in reversed(list(enumerate(shown.items()))):  # the first comes on top
        heights = [_value(levels, values, x / (2 * WIDTH - 1)) for x in range(2 * WIDTH)]
        lows = [min(int((1 - height) * 4 * HEIGHT), 4 * HEIGHT - 1) for height in heights]
        for x, low in enumerate(lows):
            before = lows[max(x - 1, 0)]
            for y in range(min(low, before + 1), max(low, before - 1) + 1):  # no gaps where it is steep
                cell = (x // 2, y // 4)
                dots[cell] = dots.get(cell, 0) | DOTS[x % 2][y % 4]
                pens[cell] = letter
        column = WIDTH * (2 * place + 1) // (2 * len(shown))  # each letter at a place of its own
        cell = (column, lows[2 * column] // 4)
        letters[cell] = letter
    lines = [up]
    for row in range(HEIGHT):
        line = ""
        for cell in ((column, row) for column in range(WIDTH)):
            sign = letters.get(cell) or chr(BLANK + dots[cell]) if cell in dots else " "
            line += click.style(sign, fg=PENS[letters.get(cell) or pens[cell]]) if cell in pens else sign
        lines.append({0: "1.0 ┤", HEIGHT // 2: "0.5 ┤", HEIGHT - 1: "0.0 ┤"}.get(row, "    │") + line.rstrip())
    half = WIDTH // 2
    lines.append("    └" + 2 * ("─" * (half - 1) + "┬"))
    lines.append(f"    0{'0.5':>{half + 1}}{'1':>{half - 1}}  {across}")
    names = [f"{click.style(letter, fg=PENS[letter])} {name}" for letter, (name, _) in shown.items()]
    more = [f"(and {len(curves) - len(shown)} more)"] if len(curves) > len(shown) else []
    return "\n".join([*lines, "   ".join(names + more)])


def _value(levels: Sequence[float], values: Sequence[float], x: float) -> float:
    """The value at x, on the straight line between the levels on both sides."""
    right = min(max(bisect_left(levels, x), 1), len(levels) - 1)
    part = (x - levels[right - 1]) / (levels[right] - levels[right - 1])
    return values[right - 1] + part * (values[right] - values[right - 1])
