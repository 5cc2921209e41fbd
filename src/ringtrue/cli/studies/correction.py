"""Studies of correction by documents and by whole queries, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

from ringtrue.cli.output import progress_bar
from ringtrue.cli.studies.study import Number, StudyOutput, StudyParameters
from ringtrue.errors import UsageError
from ringtrue.formatting.grid import Grid

if TYPE_CHECKING:
    from ringtrue.simulation.studies.decision_errors import DecisionErrorRates
    from ringtrue.simulation.studies.experiments import IntervalCoverage

LIKE_THESE_SETTINGS: dict[str, Number] = {"worlds": 0}
COMPARISON_SETTINGS: dict[str, Number] = {"effect": 0.08}
WIDTH = 100
PART_DESCRIPTIONS = {
    "documents": "gold labels of 60, 150 or 300 documents of 50 or 100 queries, four judges",
    "few labels": "gold labels of 10, 20 or 40 documents of 25, 50 or 100 queries, good and bad systems and judges",
    "whole queries": "20 or 40 of 50 or 100 queries judged whole by gold, four judges",
}
POPULATION_NOTE = "held against all queries there could be, intervals for these alone fail, as they must"


def study_like_these(parameters: StudyParameters) -> StudyOutput:
    """How often intervals for these queries, and for queries like these, hold the truth."""
    from ringtrue.simulation.studies import correction_coverage

    rng, n_worlds = parameters.rng, parameters.int_setting("worlds")
    worlds = correction_coverage.FEW_LABELS
    if n_worlds < 0:
        raise UsageError(f"--set worlds={n_worlds}: how many worlds with few labels to look at, or 0 for all of them")
    if n_worlds:
        worlds = tuple(worlds[index] for index in sorted(rng.permutation(len(worlds))[:n_worlds]))
    queries_per_part = 150 * len(correction_coverage.JUDGES)
    with progress_bar(
        (2 * queries_per_part + sum(world.queries for world in worlds)) * parameters.replications,
        description="simulating",
    ) as advance:
        settings = {"replications": parameters.replications, "level": parameters.level, "progress": advance}
        coverages_by_part = {
            "documents": correction_coverage.coverage_by_documents(rng, **settings),  # type: ignore[arg-type]
            "few labels": correction_coverage.coverage_by_label(rng, worlds, **settings),  # type: ignore[arg-type]
            "whole queries": correction_coverage.coverage_by_queries(rng, **settings),  # type: ignore[arg-type]
        }
    rows = [
        {"part": part, **coverage.as_dict()} for part, coverages in coverages_by_part.items() for coverage in coverages
    ]
    return StudyOutput(
        payload={"replications": parameters.replications, "level": parameters.level, "rows": rows},
        grids=lambda: [_coverage_grid(part, coverages, parameters) for part, coverages in coverages_by_part.items()],
        csv_grid=partial(_rows_csv, rows),
        notes=[POPULATION_NOTE],
    )


def _coverage_grid(part: str, coverages: Sequence[IntervalCoverage], parameters: StudyParameters) -> Grid:
    figures_by_kind: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for coverage in coverages:
        if coverage.coverage is not None and coverage.width is not None:
            names = (coverage.measure, coverage.method, coverage.population, coverage.about)
            figures_by_kind.setdefault(names, []).append((coverage.coverage, coverage.width))
    rows = []
    for kind, figures in figures_by_kind.items():
        shares, widths = zip(*figures, strict=True)
        rows.append(
            [
                *kind,
                *(f"{x:.3f}" for x in (sum(shares) / len(shares), min(shares), max(shares))),
                f"{sum(widths) / len(widths):.3f}",
            ]
        )
    n_settings = len({(coverage.setting, coverage.queries, coverage.gold) for coverage in coverages})
    description = f"{n_settings:,} settings, {parameters.replications:,} experiments in each: {PART_DESCRIPTIONS[part]}"
    columns = [part, "method", "about", "held against", "mean", "lowest", "highest", "width"]
    return Grid(columns=columns, rows=rows, left=4, caption=fill(description, WIDTH, subsequent_indent="  "))


def study_comparisons(parameters: StudyParameters) -> StudyOutput:
    """How often tests between two systems find a difference, where there is none and where there is one."""
    from ringtrue.simulation.studies.decision_errors import COMPARISON_SETTINGS, decision_error_rates

    effect = float(parameters.settings["effect"])
    total = 2 * parameters.replications * sum(compared.world.queries for compared in COMPARISON_SETTINGS)
    with progress_bar(total, description="simulating") as advance:
        outcomes = decision_error_rates(
            parameters.rng,
            effect=effect,
            replications=parameters.replications,
            level=parameters.level,
            progress=advance,
        )
    rows = [outcome.as_dict() for outcome in outcomes]
    payload = {"replications": parameters.replications, "level": parameters.level, "effect": effect, "rows": rows}
    return StudyOutput(
        payload=payload, grids=partial(_decision_grid, outcomes, parameters), csv_grid=partial(_rows_csv, rows)
    )


def _decision_grid(outcomes: Sequence[DecisionErrorRates], parameters: StudyParameters) -> Grid:
    rows = [
        [
            outcome.setting,
            outcome.test,
            outcome.measure,
            str(outcome.gold),
            f"{100 * outcome.type_one:.1f}%",
            f"{100 * outcome.power:.0f}%",
            "" if outcome.promised else "no",
        ]
        for outcome in outcomes
    ]
    allowed_share = f"{100 * (1 - parameters.level):g}% of those without a difference"
    lines = [
        (
            f"{parameters.replications:,} experiments each, {outcomes[0].queries} queries; a test may find one "
            f"in {allowed_share}"
        ),
        f"power: one system is better by {parameters.settings['effect']:g} in P@10",
        "gold: labels of documents, queries judged whole, or labels of each kind for the judge's rates",
        "promised: 'no' where the test is not made for such a judge",
    ]
    caption = "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)
    columns = ["the judge", "test", "measure", "gold", "false alarms", "power", "promised"]
    return Grid(columns=columns, rows=rows, left=3, caption=caption)


def _rows_csv(rows: Sequence[dict[str, object]]) -> Grid:
    return Grid(columns=list(rows[0]), rows=[[str(value) for value in row.values()] for row in rows])
