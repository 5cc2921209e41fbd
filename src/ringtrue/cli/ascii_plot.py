"""Curves drawn with characters, for a quick look on a terminal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import click

WIDTH, HEIGHT = 60, 15  # in characters, each of which holds a raster of 2 × 4 dots
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of Unicode's Braille patterns, column by column
BLANK = 0x2800
PENS = {"A": "cyan", "B": "yellow", "C": "magenta", "D": "green", "E": "blue"}


def draw_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, x_label: str, y_label: str) -> str:
    """The first few curves, levels and values from 0 to 1, with a letter and a colour for each.

    Examples:
        >>> print(click.unstyle(draw_curves({"new": ([0, 1], [0, 1])}, x_label="fallout", y_label="recall")))
        recall
        1.0 ┤...⠉
        ...
        A new
    """
    curves_by_letter = dict(zip(PENS, curves.items(), strict=False))
    dots: dict[tuple[int, int], int] = {}
    letters: dict[tuple[int, int], str] = {}
    pens: dict[tuple[int, int], str] = {}
    for index, (letter, (_, (levels, values))) in reversed(
        list(enumerate(curves_by_letter.items()))
    ):  # the first comes on top
        heights = [_interpolate(levels, values, x / (2 * WIDTH - 1)) for x in range(2 * WIDTH)]
        dot_rows = [min(int((1 - height) * 4 * HEIGHT), 4 * HEIGHT - 1) for height in heights]
        for x, dot_row in enumerate(dot_rows):
            previous = dot_rows[max(x - 1, 0)]
            for y in range(min(dot_row, previous + 1), max(dot_row, previous - 1) + 1):  # no gaps where it is steep
                cell = (x // 2, y // 4)
                dots[cell] = dots.get(cell, 0) | DOTS[x % 2][y % 4]
                pens[cell] = letter
        column = WIDTH * (2 * index + 1) // (2 * len(curves_by_letter))  # each letter at a place of its own
        cell = (column, dot_rows[2 * column] // 4)
        letters[cell] = letter
    lines = [y_label]
    for row in range(HEIGHT):
        line = ""
        for cell in ((column, row) for column in range(WIDTH)):
            character = letters.get(cell) or chr(BLANK + dots[cell]) if cell in dots else " "
            line += click.style(character, fg=PENS[letters.get(cell) or pens[cell]]) if cell in pens else character
        lines.append({0: "1.0 ┤", HEIGHT // 2: "0.5 ┤", HEIGHT - 1: "0.0 ┤"}.get(row, "    │") + line.rstrip())
    half = WIDTH // 2
    lines.append("    └" + 2 * ("─" * (half - 1) + "┬"))
    lines.append(f"    0{'0.5':>{half + 1}}{'1':>{half - 1}}  {x_label}")
    names = [f"{click.style(letter, fg=PENS[letter])} {name}" for letter, (name, _) in curves_by_letter.items()]
    omitted = [f"(and {len(curves) - len(curves_by_letter)} more)"] if len(curves) > len(curves_by_letter) else []
    return "\n".join([*lines, "   ".join(names + omitted)])


def _interpolate(levels: Sequence[float], values: Sequence[float], x: float) -> float:
    """The value at x, on the straight line between the levels on both sides."""
    right = min(max(bisect_left(levels, x), 1), len(levels) - 1)
    fraction = (x - levels[right - 1]) / (levels[right] - levels[right - 1])
    return values[right - 1] + fraction * (values[right] - values[right - 1])
