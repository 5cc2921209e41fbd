"""Answers on a screen: aligned text for people, JSON, CSV, Markdown and LaTeX for what comes next."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, TypeAlias
from unicodedata import east_asian_width

import click

from ringtrue.formatting.grid import Grid, signed
from ringtrue.stats.estimate_cells import estimate_column
from ringtrue.stats.results import Estimate

__all__ = ["Grid", "OutputFormat", "emit", "estimate_column", "plain", "progress_bar", "signed", "steps", "tell"]

LONG_WORK = 32_000_000  # bytes: about a quarter of a second
OutputFormat: TypeAlias = Literal["table", "json", "csv", "markdown", "latex"]
LATEX = {special: "\\" + special for special in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$",
    "±": r"$\pm$", "–": "--", "−": "$-$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "≠": r"$\neq$",
    "≥": r"$\geq$", "≤": r"$\leq$", "→": r"$\rightarrow$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$",
    "²": "$^2$", "½": r"$\frac12$", "≈": r"$\approx$", "…": r"\dots{}", "─": "---", "│": "$|$",
    "█": r"\rule{1ex}{1.5ex}", "▶": r"$\blacktriangleright$",
    **{bar: rf"\rule{{{eighths / 8:g}ex}}{{1.5ex}}" for eighths, bar in enumerate("▏▎▍▌▋▊▉", start=1)},
}  # fmt: skip
GAINS = re.compile(r"gains=\{[^}]*\}")


def emit(
    form: OutputFormat,
    *,
    data: object,
    grid: Grid | Callable[[], Grid | Sequence[Grid]],
    flat: Callable[[], Grid] | None = None,
) -> None:
    """Print an answer: `data` as JSON, `flat` as CSV with every digit, `grid` as tables; only one of them is made."""
    if form == "json":
        # Indented for eyes only: Python writes compact JSON many times faster.
        indent = 2 if sys.stdout.isatty() else None
        click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent))
    elif form == "csv":
        click.echo("\n".join(map(_csv, _made(flat or grid))), nl=False)
    else:
        draw: dict[str, Callable[[Grid], str]] = {"table": _text, "markdown": _markdown, "latex": _latex}
        click.echo("\n\n".join(draw[form](_short(one)) for one in _made(grid)))


def _short(grid: Grid) -> Grid:
    """The same with gains={…} as gains=…, where all measures have the same: a table of gains makes columns too wide."""
    found = set(GAINS.findall(" ".join([*grid.columns, *(cell for row in grid.rows for cell in row)])))
    if len(found) != 1:
        return grid
    (gains,) = found
    rows = [[cell.replace(gains, "gains=…") for cell in row] for row in grid.rows]
    return replace(grid, columns=[name.replace(gains, "gains=…") for name in grid.columns], rows=rows,
                   caption=grid.caption.replace(gains, "gains=…"))  # fmt: skip


def _made(grid: Grid | Callable[[], Grid | Sequence[Grid]]) -> Sequence[Grid]:
    made = grid if isinstance(grid, Grid) else grid()
    return [made] if isinstance(made, Grid) else made


def plain(means: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, dict[str, object]]]:
    """run → measure → estimate, as plain data for JSON."""
    return {run: {name: one.as_dict() for name, one in row.items()} for run, row in means.items()}


def tell(notes: Iterable[str]) -> None:
    """Say what is worth knowing beside the answer, on standard error."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


@contextmanager
def progress_bar(total: int, *, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that is told how much was done; only for long work, and only if somebody looks."""
    if total < LONG_WORK or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def steps(number: int, *, what: str) -> Iterator[Callable[[str], None]]:
    """A bar on standard error for work of several steps, told the name of each as it begins; only if somebody looks."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=number)
        yield lambda name: bar.update(task, advance=1, description=name)


def _text(grid: Grid) -> str:
    widths = [max(map(_width, column)) for column in zip(grid.columns, *grid.rows, strict=True)]
    lines = [_aligned(grid.columns, widths, grid.left), "  ".join("─" * width for width in widths)]
    lines += [_aligned(row, widths, grid.left) for row in grid.rows]
    return "\n".join(lines + ([grid.caption] if grid.caption else []))


def _aligned(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    padded = [
        cell + " " * (width - _width(cell)) if place < left else " " * (width - _width(cell)) + cell
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _width(cell: str) -> int:
    """How many columns of a terminal a text takes: East Asian characters take two."""
    return len(cell) if cell.isascii() else sum(2 if east_asian_width(letter) in "WF" else 1 for letter in cell)


def _markdown(grid: Grid) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_escaped_markdown, cells)) + " |"

    rule = ["---" if place < grid.left else "---:" for place in range(len(grid.columns))]
    lines = [line(grid.columns), line(rule), *(line(row) for row in grid.rows)]
    return "\n".join(lines + [part for line in grid.caption.splitlines() if line for part in ("", line)])


def _escaped_markdown(cell: str) -> str:
    for special in ("\\", "|", "*", "`", "["):
        cell = cell.replace(special, "\\" + special)
    return cell.replace("<", "&lt;")


def _latex(grid: Grid) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_escaped, cells)) + r" \\"

    kinds = "".join("l" if place < grid.left else "r" for place in range(len(grid.columns)))
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", line(grid.columns), r"\midrule"]
    lines += [line(row) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    needs = "booktabs, amssymb" if any("blacktriangle" in line for line in lines) else "booktabs"
    return "\n".join([f"% needs {needs}", *lines, *(f"% {line}".rstrip() for line in grid.caption.splitlines())])


def _escaped(cell: str) -> str:
    return "".join(LATEX.get(character, character) for character in cell)


def _csv(grid: Grid) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(grid.columns)
    writer.writerows(grid.rows)
    return text.getvalue()
