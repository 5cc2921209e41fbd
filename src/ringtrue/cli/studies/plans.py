"""The study of plans, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ringtrue.cli.output import Grid
from ringtrue.cli.studies.study import Asked, Shown

__all__ = ["planned"]

COLUMNS = ("setting", "method", "asked", "achieved", "ratio")


def planned(asked: Asked) -> Shown:
    """Every method's plan carried out in several worlds."""
    from ringtrue.simulation.studies.plan_accuracy import planned_against_achieved

    rows = planned_against_achieved(asked.rng, replications=asked.replications)
    return Shown(data={"rows": rows}, grids=partial(_grid, rows, asked.replications), flat=partial(_flat, rows))


def _grid(rows: Sequence[dict[str, str | float]], replications: int) -> Grid:
    cells = [[str(row["setting"]), str(row["method"]), *(f"{row[name]:.3f}" for name in COLUMNS[2:])] for row in rows]
    told = "asked: a half-width, or the power to find a difference; achieved: what the planned numbers gave"
    return Grid(columns=COLUMNS, rows=cells, caption=f"{told} in {replications:,} experiments", left=2)


def _flat(rows: Sequence[dict[str, str | float]]) -> Grid:
    return Grid(columns=COLUMNS, rows=[[str(row[name]) for name in COLUMNS] for row in rows])
