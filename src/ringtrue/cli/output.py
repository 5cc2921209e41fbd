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

from ringtrue.formatting.grid import Grid, format_signed
from ringtrue.stats.estimate_cells import format_estimates
from ringtrue.stats.results import Estimate

__all__ = [
    "Grid",
    "OutputFormat",
    "emit",
    "format_estimates",
    "format_signed",
    "means_as_dict",
    "print_notes",
    "progress_bar",
    "step_bar",
]

LONG_WORK_BYTES = 32_000_000  # bytes: about a quarter of a second
OutputFormat: TypeAlias = Literal["table", "json", "csv", "markdown", "latex"]
LATEX_ESCAPES = {special: "\\" + special for special in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$",
    "±": r"$\pm$", "–": "--", "−": "$-$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "≠": r"$\neq$",
    "≥": r"$\geq$", "≤": r"$\leq$", "→": r"$\rightarrow$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$",
    "²": "$^2$", "½": r"$\frac12$", "≈": r"$\approx$", "…": r"\dots{}", "─": "---", "│": "$|$",
    "█": r"\rule{1ex}{1.5ex}", "▶": r"$\blacktriangleright$",
    **{bar: rf"\rule{{{eighths / 8:g}ex}}{{1.5ex}}" for eighths, bar in enumerate("▏▎▍▌▋▊▉", start=1)},
}  # fmt: skip
GAINS_PATTERN = re.compile(r"gains=\{[^}]*\}")


def emit(
    form: OutputFormat,
    *,
    payload: object,
    grid: Grid | Callable[[], Grid | Sequence[Grid]],
    csv_grid: Callable[[], Grid] | None = None,
) -> None:
    """Print an answer: `payload` as JSON, `csv_grid` as CSV with every digit, `grid` as tables; only one is made."""
    if form == "json":
        # Indented for eyes only: Python writes compact JSON many times faster.
        indent = 2 if sys.stdout.isatty() else None
        click.echo(json.dumps(payload, ensure_ascii=False, allow_nan=False, indent=indent))
    elif form == "csv":
        click.echo("\n".join(map(_render_csv, _as_grids(csv_grid or grid))), nl=False)
    else:
        renderers: dict[str, Callable[[Grid], str]] = {
            "table": _render_text,
            "markdown": _render_markdown,
            "latex": _render_latex,
        }
        click.echo("\n\n".join(renderers[form](_shorten_gains(shown_grid)) for shown_grid in _as_grids(grid)))


def _shorten_gains(grid: Grid) -> Grid:
    """The same with gains={…} as gains=…, where all measures have the same: a table of gains makes columns too wide."""
    gain_tables = set(GAINS_PATTERN.findall(" ".join([*grid.columns, *(cell for row in grid.rows for cell in row)])))
    if len(gain_tables) != 1:
        return grid
    (gains,) = gain_tables
    rows = [[cell.replace(gains, "gains=…") for cell in row] for row in grid.rows]
    return replace(grid, columns=[name.replace(gains, "gains=…") for name in grid.columns], rows=rows,
                   caption=grid.caption.replace(gains, "gains=…"))  # fmt: skip


def _as_grids(grid_or_maker: Grid | Callable[[], Grid | Sequence[Grid]]) -> Sequence[Grid]:
    grids = grid_or_maker if isinstance(grid_or_maker, Grid) else grid_or_maker()
    return [grids] if isinstance(grids, Grid) else grids


def means_as_dict(means: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, dict[str, object]]]:
    """run → measure → estimate, as plain data for JSON."""
    return {run: {name: estimate.as_dict() for name, estimate in estimates.items()} for run, estimates in means.items()}


def print_notes(notes: Iterable[str]) -> None:
    """Say what is worth knowing beside the answer, on standard error."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


@contextmanager
def progress_bar(total: int, *, description: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that is told how much was done; only for long work, and only if somebody looks."""
    if total < LONG_WORK_BYTES or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def step_bar(number: int, *, description: str) -> Iterator[Callable[[str], None]]:
    """A bar on standard error for work of several steps, told the name of each as it begins; only if somebody looks."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=number)
        yield lambda name: bar.update(task, advance=1, description=name)


def _render_text(grid: Grid) -> str:
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


def _render_markdown(grid: Grid) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_escape_markdown, cells)) + " |"

    rule = ["---" if column < grid.left else "---:" for column in range(len(grid.columns))]
    lines = [line(grid.columns), line(rule), *(line(row) for row in grid.rows)]
    return "\n".join(lines + [part for line in grid.caption.splitlines() if line for part in ("", line)])


def _escape_markdown(cell: str) -> str:
    for special in ("\\", "|", "*", "`", "["):
        cell = cell.replace(special, "\\" + special)
    return cell.replace("<", "&lt;")


def _render_latex(grid: Grid) -> str:
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


def _render_csv(grid: Grid) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(grid.columns)
    writer.writerows(grid.rows)
    return text.getvalue()
