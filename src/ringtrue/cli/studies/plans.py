"""The study of plans, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ringtrue.cli.studies.study import StudyOutput, StudyParameters
from ringtrue.formatting.grid import Grid

COLUMNS = ("setting", "method", "asked", "achieved", "ratio")


def study_plans(parameters: StudyParameters) -> StudyOutput:
    """Every method's plan carried out in several worlds."""
    from ringtrue.simulation.studies.plan_accuracy import planned_against_achieved

    rows = planned_against_achieved(parameters.rng, replications=parameters.replications)
    return StudyOutput(
        payload={"rows": rows},
        grids=partial(_plan_accuracy_grid, rows, parameters.replications),
        csv_grid=partial(_plan_accuracy_csv, rows),
    )


def _plan_accuracy_grid(rows: Sequence[dict[str, str | float]], replications: int) -> Grid:
    cells = [[str(row["setting"]), str(row["method"]), *(f"{row[name]:.3f}" for name in COLUMNS[2:])] for row in rows]
    explanation = "asked: a half-width, or the power to find a difference; achieved: what the planned numbers gave"
    return Grid(columns=COLUMNS, rows=cells, caption=f"{explanation} in {replications:,} experiments", left=2)


def _plan_accuracy_csv(rows: Sequence[dict[str, str | float]]) -> Grid:
    return Grid(columns=COLUMNS, rows=[[str(row[name]) for name in COLUMNS] for row in rows])
