"""Tables for eyes: rows and columns of text, the numbers in them, and the whole as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from unicodedata import east_asian_width

LATEX_ESCAPES = {special: "\\" + special for special in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$",
    "±": r"$\pm$", "–": "--", "−": "$-$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "≠": r"$\neq$",
    "≥": r"$\geq$", "≤": r"$\leq$", "→": r"$\rightarrow$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$",
    "²": "$^2$", "½": r"$\frac12$", "≈": r"$\approx$", "…": r"\dots{}", "─": "---", "│": "$|$",
    "█": r"\rule{1ex}{1.5ex}", "▶": r"$\blacktriangleright$",
    **{bar: rf"\rule{{{eighths / 8:g}ex}}{{1.5ex}}" for eighths, bar in enumerate("▏▎▍▌▋▊▉", start=1)},
}  # fmt: skip
GAINS_PATTERN = re.compile(r"gains=\{[^}]*\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows and columns of text, with a caption that says what the numbers mean."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    left: int = field(default=1)  # how many columns, from the first, hold words rather than numbers


def format_signed(number: float, digits: int) -> str:
    """A difference with its sign, + or −; never −0.

    Examples:
        >>> format_signed(-0.25, 2), format_signed(-0.001, 2)
        ('−0.25', '+0.00')
    """
    return f"{round(number, digits) + 0.0:+.{digits}f}".replace("-", "−")


def format_number(number: float | None, digits: int, missing: str = "–") -> str:
    """A number with so many decimals; never −0.

    Examples:
        >>> format_number(-0.25, 2), format_number(-0.001, 2), format_number(None, 2)
        ('−0.25', '0.00', '–')
    """
    return missing if number is None else f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−")


def format_interval(low: float | None, high: float | None, digits: int, between: str = " to ") -> str:
    """Both ends of an interval, where it has them.

    Examples:
        >>> format_interval(-0.25, 0.5, 2), format_interval(None, None, 2)
        ('−0.25 to 0.50', '–')
    """
    if low is None or high is None:
        return "–"
    return f"{format_number(low, digits)}{between}{format_number(high, digits)}"


def exact_cells(values: Iterable[object]) -> list[str]:
    """Values with every digit; nothing where there is none.

    Examples:
        >>> exact_cells([0.123456789, None])
        ['0.123456789', '']
    """
    return ["" if value is None else str(value) for value in values]


def exact_grid(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Grid:
    """A table with every digit, for CSV."""
    return Grid(columns=columns, rows=[exact_cells(row) for row in rows])


def shorten_gains(grid: Grid) -> Grid:
    """The same with gains={…} as gains=…, where all measures have the same: a table of gains makes columns too wide."""
    gain_tables = set(GAINS_PATTERN.findall(" ".join([*grid.columns, *(cell for row in grid.rows for cell in row)])))
    if len(gain_tables) != 1:
        return grid
    (gains,) = gain_tables
    rows = [[cell.replace(gains, "gains=…") for cell in row] for row in grid.rows]
    return replace(
        grid,
        columns=[name.replace(gains, "gains=…") for name in grid.columns],
        rows=rows,
        caption=grid.caption.replace(gains, "gains=…"),
    )


def render_text(grid: Grid) -> str:
    """Aligned columns for a terminal, words to the left and numbers to the right.

    Examples:
        >>> print(render_text(Grid(columns=["run", "AP"], rows=[["old", "0.5"], ["newest", "0.25"]])))
        run       AP
        ──────  ────
        old      0.5
        newest  0.25
    """
    widths = [max(map(_terminal_width, column)) for column in zip(grid.columns, *grid.rows, strict=True)]
    lines = [_align_cells(grid.columns, widths, grid.left), "  ".join("─" * width for width in widths)]
    lines += [_align_cells(row, widths, grid.left) for row in grid.rows]
    return "\n".join(lines + ([grid.caption] if grid.caption else []))


def _align_cells(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    padded = [
        cell + " " * (width - _terminal_width(cell)) if column < left else " " * (width - _terminal_width(cell)) + cell
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _terminal_width(cell: str) -> int:
    """How many columns of a terminal a text takes: East Asian characters take two."""
    return len(cell) if cell.isascii() else sum(2 if east_asian_width(letter) in "WF" else 1 for letter in cell)


def render_markdown(grid: Grid) -> str:
    """A table as GitHub shows it, the caption below.

    Examples:
        >>> print(render_markdown(Grid(columns=["run", "AP"], rows=[["a|b", "0.5"]])))
        | run | AP |
        | --- | ---: |
        | a\\|b | 0.5 |
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_escape_markdown, cells)) + " |"

    rule = ["---" if column < grid.left else "---:" for column in range(len(grid.columns))]
    lines = [line(grid.columns), line(rule), *(line(row) for row in grid.rows)]
    return "\n".join(lines + [part for line in grid.caption.splitlines() if line for part in ("", line)])


def _escape_markdown(cell: str) -> str:
    for special in ("\\", "|", "*", "`", "["):
        cell = cell.replace(special, "\\" + special)
    return cell.replace("<", "&lt;")


def render_latex(grid: Grid) -> str:
    """A `tabular` with the rules of booktabs; the caption stands below it as a comment.

    Examples:
        >>> print(render_latex(Grid(columns=["run", "AP"], rows=[["bm25_v2", "0.5"]])).splitlines()[5])
        bm25\\_v2 & 0.5 \\\\
    """

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_escape_latex, cells)) + r" \\"

    alignment = "".join("l" if column < grid.left else "r" for column in range(len(grid.columns)))
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", line(grid.columns), r"\midrule"]
    lines += [line(row) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    needs = "booktabs, amssymb" if any("blacktriangle" in line for line in lines) else "booktabs"
    return "\n".join([f"% needs {needs}", *lines, *(f"% {line}".rstrip() for line in grid.caption.splitlines())])


def _escape_latex(cell: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in cell)


def render_csv(grid: Grid) -> str:
    """CSV without the caption.

    Examples:
        >>> render_csv(Grid(columns=["run", "AP"], rows=[["a,b", "0.5"]]))
        'run,AP\\n"a,b",0.5\\n'
    """
    text = _Text()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(grid.columns)
    writer.writerows(grid.rows)
    return "".join(text)


class _Text(list[str]):
    """What `csv` writes to, in memory."""

    def write(self, piece: str, /) -> None:
        """Keep the next piece."""
        self.append(piece)
