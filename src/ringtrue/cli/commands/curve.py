"""`ringtrue curve`."""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import Command, option, output_options
from ringtrue.cli.options.runs import RunInputs, evaluation_options, runs_and_judgments
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.formatting.grid import Grid, format_number
from ringtrue.formatting.phrases import format_range

if TYPE_CHECKING:
    from ringtrue.evaluation.curves import CurveKind
    from ringtrue.stats.results import Curve, Curves


MAX_WIDTH = 80  # characters; a table with more is turned, the runs below each other
RECALL_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FALLOUT_LEVELS = (0.0, 1e-6, 1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
WIDTH, HEIGHT = 60, 15  # in characters, each of which holds a raster of 2 × 4 dots
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of Unicode's Braille patterns, column by column
BLANK = 0x2800
PENS = {"A": "cyan", "B": "yellow", "C": "magenta", "D": "green", "E": "blue"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axes:
    """What a kind of curve shows, the levels that a table has, those of a turned one, and the area's name."""

    x_label: str
    y_label: str
    levels: tuple[float, ...] = RECALL_LEVELS
    few_levels: tuple[float, ...] = RECALL_LEVELS[::2]
    area_name: str


AXES: dict[str, _Axes] = {
    "pr": _Axes(x_label="recall", y_label="precision", area_name="AP"),
    "roc": _Axes(
        x_label="fallout",
        y_label="recall",
        levels=FALLOUT_LEVELS,
        few_levels=(*FALLOUT_LEVELS[:5], 0.01, 0.1, 0.5),
        area_name="AUC",
    ),
    "11pt": _Axes(x_label="recall", y_label="interpolated precision", area_name="IAP"),
}


@click.command("curve", cls=Command)
@runs_and_judgments
@option(
    "--kind",
    "Precision by recall, recall by fallout, or interpolated precision at 11 levels.",
    choices=list(AXES),
    default="pr",
)
@option("--draw/--no-draw", "Draw the best runs below the table; as a rule on a terminal.", default=None)
@evaluation_options
@output_options
def command(run_inputs: RunInputs, kind: CurveKind, draw: bool | None, form: OutputFormat) -> None:
    """Precision against recall, or ROC.

    Prints each run's curve, averaged over the queries, and the area under it: AP for pr, AUC for roc, the
    11-point average for 11pt. JSON and CSV have all levels, a table only some. --columns and --where apply to
    the judgments.
    """
    from ringtrue.evaluation.curves import curve

    if draw and form != "table":
        raise OptionError(
            "conflicting-parameters", f"--draw belongs to the table, and this is --format {form}", parameter="draw"
        )
    labels = run_inputs.read_labels()
    curves: Curves = run_inputs.explain_errors(
        lambda: curve(
            run_inputs.read_runs(), labels, kind=kind, rel=run_inputs.rel or 1, **run_inputs.evaluation_settings()
        )
    )
    notes = [*run_inputs.notes, *curves.notes]
    emit(
        form,
        notes=notes,
        payload=curves.as_dict(),
        grid=partial(_curve_grid, curves, run_inputs.rel),
        csv_grid=partial(_curve_points_grid, curves),
    )
    if form == "table" and (sys.stdout.isatty() if draw is None else draw):
        _print_plot(curves)


def _curve_grid(curves: Curves, rel: int | None) -> Grid:
    """A row for each level and a column for each run, the best first; turned where that would be too wide."""
    axes, runs = AXES[curves.kind], _best_first(curves)
    area = axes.area_name if rel is None else f"{axes.area_name}(rel={rel})"
    levels = _informative_levels(axes.levels, runs)
    rows = [[_format_level(level), *(_format_value_at(curve, level) for curve in runs.values())] for level in levels]
    rows.append([f"area ({area})", *(format_number(curve.area, 4) for curve in runs.values())])
    queries_text = format_range([curve.n for curve in runs.values()], "query")
    caption = f"{axes.y_label} at each {axes.x_label}, mean over {queries_text}"
    if sum(max(len(name), 6) + 2 for name in runs) + len(rows[-1][0]) <= MAX_WIDTH:
        return Grid(columns=[axes.x_label, *runs], rows=rows, caption=caption)
    few_levels = [level for level in axes.few_levels if level in levels]
    return Grid(
        columns=["run", area, *(f"@{_format_level(level)}" for level in few_levels)],
        rows=[
            [name, format_number(curve.area, 4), *(_format_value_at(curve, level) for level in few_levels)]
            for name, curve in runs.items()
        ],
        caption=f"{caption}; {area} is the area under the curve",
    )


def _best_first(curves: Curves) -> dict[str, Curve]:
    return dict(sorted(curves.runs.items(), key=lambda name_and_curve: -(name_and_curve[1].area or 0)))


def _informative_levels(levels: tuple[float, ...], runs: dict[str, Curve]) -> list[float]:
    """The levels without those below 0.001 at which nothing has changed yet: a small collection has no such fallout."""
    first_cells = [_format_value_at(curve, levels[0]) for curve in runs.values()]
    unchanged_levels = [
        level
        for level in levels[1:]
        if level < 0.001 and [_format_value_at(curve, level) for curve in runs.values()] == first_cells
    ]
    return [level for level in levels if level not in unchanged_levels]


def _format_level(level: float) -> str:
    return f"{level:.6f}".rstrip("0").rstrip(".")


def _format_value_at(curve: Curve, level: float) -> str:
    return f"{curve.y[curve.x.index(level)]:.4f}" if curve.y else "–"


def _curve_points_grid(curves: Curves) -> Grid:
    rows = [
        [name, repr(x), repr(y)] for name, curve in curves.runs.items() for x, y in zip(curve.x, curve.y, strict=True)
    ]
    return Grid(columns=["run", "x", "y"], rows=rows)


def _print_plot(curves: Curves) -> None:
    axes = AXES[curves.kind]
    points_by_run = {name: (curve.x, curve.y) for name, curve in _best_first(curves).items() if curve.y}
    if points_by_run:
        click.echo(
            "\n" + draw_curves(points_by_run, x_label=axes.x_label, y_label=axes.y_label),
            color=False if "NO_COLOR" in os.environ else None,
        )


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
