"""`ringtrue curve`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.runs import Question, evaluation_options, runs_and_judgments
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation.curves import Kind
    from ringtrue.stats.results import Curve, Curves

__all__ = ["command"]

WIDEST = 80  # characters; a table with more is turned, the runs below each other
RECALL = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FALLOUT = (0.0, 1e-6, 1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axes:
    """What a kind of curve shows, the levels that a table has, those of a turned one, and the area's name."""

    across: str
    up: str
    levels: tuple[float, ...] = RECALL
    few: tuple[float, ...] = RECALL[::2]
    area: str


AXES: dict[str, _Axes] = {
    "pr": _Axes(across="recall", up="precision", area="AP"),
    "roc": _Axes(across="fallout", up="recall", levels=FALLOUT, few=(*FALLOUT[:5], 0.01, 0.1, 0.5), area="AUC"),
    "11pt": _Axes(across="recall", up="interpolated precision", area="IAP"),
}


@click.command("curve", cls=Command)
@runs_and_judgments
@click.option("--kind", type=click.Choice(list(AXES)), default="pr", show_default=True,
              help="Precision by recall, recall by fallout, or interpolated precision at 11 levels.")  # fmt: skip
@click.option("--draw/--no-draw", default=None, help="Draw the best runs below the table; as a rule on a terminal.")
@evaluation_options
@output_options
def command(question: Question, kind: Kind, draw: bool | None, form: OutputFormat) -> None:
    """Precision against recall, or ROC.

    Prints each run's curve, averaged over the queries, and the area under it: AP for pr, AUC for roc, the
    11-point average for 11pt. JSON and CSV have all levels, a table only some. --columns and --where apply to
    the judgments.
    """
    from ringtrue.evaluation.curves import curve

    if draw and form != "table":
        raise UsageError(f"--draw belongs to the table, and this is --format {form}")
    labels = question.labels()
    curves: Curves = question.explained(
        lambda: curve(question.each_run(), labels, kind=kind, rel=question.rel or 1, **question.evaluating())
    )
    notes = [*question.notes, *curves.notes]
    tell(notes)
    emit(
        form,
        data=curves.as_dict() | {"notes": notes},
        grid=partial(_grid, curves, question.rel),
        flat=partial(_flat, curves),
    )
    if form == "table" and (sys.stdout.isatty() if draw is None else draw):
        _picture(curves)


def _grid(curves: Curves, rel: int | None) -> Grid:
    """A row for each level and a column for each run, the best first; turned where that would be too wide."""
    axes, runs = AXES[curves.kind], _best_first(curves)
    area = axes.area if rel is None else f"{axes.area}(rel={rel})"
    levels = _telling(axes.levels, runs)
    rows = [[_level(level), *(_at(one, level) for one in runs.values())] for level in levels]
    rows.append([f"area ({area})", *map(_area, runs.values())])
    said = f"{axes.up} at each {axes.across}, {_over(runs)}"
    if sum(max(len(name), 6) + 2 for name in runs) + len(rows[-1][0]) <= WIDEST:
        return Grid(columns=[axes.across, *runs], rows=rows, caption=said)
    few = [level for level in axes.few if level in levels]
    return Grid(
        columns=["run", area, *(f"@{_level(level)}" for level in few)],
        rows=[[name, _area(one), *(_at(one, level) for level in few)] for name, one in runs.items()],
        caption=f"{said}; {area} is the area under the curve",
    )


def _best_first(curves: Curves) -> dict[str, Curve]:
    return dict(sorted(curves.runs.items(), key=lambda item: -(item[1].area or 0)))


def _telling(levels: tuple[float, ...], runs: dict[str, Curve]) -> list[float]:
    """The levels without those below 0.001 at which nothing has changed yet: a small collection has no such fallout."""
    first = [_at(one, levels[0]) for one in runs.values()]
    same = [level for level in levels[1:] if level < 0.001 and [_at(one, level) for one in runs.values()] == first]
    return [level for level in levels if level not in same]


def _level(level: float) -> str:
    return f"{level:.6f}".rstrip("0").rstrip(".")


def _at(one: Curve, level: float) -> str:
    return f"{one.y[one.x.index(level)]:.4f}" if one.y else "–"


def _area(one: Curve) -> str:
    return "–" if one.area is None else f"{one.area:.4f}"


def _over(runs: dict[str, Curve]) -> str:
    counts = [one.n for one in runs.values()]
    low, high = min(counts), max(counts)
    return f"mean over {'1 query' if high == 1 else f'{high} queries' if low == high else f'{low} to {high} queries'}"


def _flat(curves: Curves) -> Grid:
    rows = [[name, repr(x), repr(y)] for name, one in curves.runs.items() for x, y in zip(one.x, one.y, strict=True)]
    return Grid(columns=["run", "x", "y"], rows=rows)


def _picture(curves: Curves) -> None:
    from ringtrue.cli.ascii_plot import draw

    axes = AXES[curves.kind]
    drawn = {name: (one.x, one.y) for name, one in _best_first(curves).items() if one.y}
    if drawn:
        click.echo(
            "\n" + draw(drawn, across=axes.across, up=axes.up), color=False if "NO_COLOR" in os.environ else None
        )
