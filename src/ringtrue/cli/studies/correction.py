"""Studies of correction for `ringtrue simulate`: by a judge's rates, by documents, by whole queries; plans."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.output import progress_bar
from ringtrue.cli.studies import Number, StudyOutput, StudyParameters, wrap_lines
from ringtrue.formatting.grid import Grid, exact_grid
from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.simulation.studies.decision_errors import DecisionErrorRates
    from ringtrue.simulation.studies.experiments import IntervalCoverage
    from ringtrue.simulation.studies.rate_coverage import NoisyScores, RatesCoverage

GOLDBERG_SETTINGS: dict[str, Number] = {
    "first": 0.49, "last": 0.31, "k": 10, "relevant": 0.9, "nonrelevant": 0.8, "relevant_labels": 250,
    "nonrelevant_labels": 250, "queries": 50,
}  # fmt: skip
RATE_SETTINGS: dict[str, Number] = {"resamples": 1000, "worlds": 0}
SCORE_TITLES = {
    "naive": "bronze scores as they are: mean ± t·s/√n",
    "wald": "corrected, ± z of the published standard error",
    "fieller": "corrected, Fieller's interval, adjusted",
}
INTERVAL_TITLES = {
    "fieller": "Fieller's, adjusted (the default)",
    "wald": "Wald, as published",
    "bootstrap": "Algorithm 1, as published",
}
BELOW_KEYS = ("below_0.9", "below_0.5")
WORLD_DESCRIPTIONS = {
    "usual": "25 to 1,000 queries of 1, 3 or 10 documents, 15 to 250 gold labels of each kind, judges from bad to good",
    "harder": "10 or 50 queries, some of them all good or all bad, so that their spread is hardly known",
}
BAR_WIDTH = 30  # characters of the longest bar
MAX_ROWS = 40
EIGHTHS = " ▏▎▍▌▋▊▉█"
LIKE_THESE_SETTINGS: dict[str, Number] = {"worlds": 0}
COMPARISON_SETTINGS: dict[str, Number] = {"effect": 0.08}
PART_DESCRIPTIONS = {
    "documents": "gold labels of 60, 150 or 300 documents of 50 or 100 queries, four judges",
    "few labels": "gold labels of 10, 20 or 40 documents of 25, 50 or 100 queries, good and bad systems and judges",
    "whole queries": "20 or 40 of 50 or 100 queries judged whole by gold, four judges",
}
POPULATION_NOTE = Note(
    "intervals-for-these", "held against all queries there could be, intervals for these alone fail, as they must"
)
PLAN_COLUMNS = ("setting", "method", "asked", "achieved", "ratio")


def study_goldberg(parameters: StudyParameters) -> StudyOutput:
    """Algorithm 2 of [Goldberg17], with its histogram."""
    import numpy as np

    from ringtrue.simulation.studies.rate_coverage import noisy_scores

    settings, k = parameters.settings, parameters.int_setting("k")
    with progress_bar(
        parameters.replications * parameters.int_setting("queries") * max(k, 1), description="simulating"
    ) as advance:
        scores = noisy_scores(
            parameters.rng,
            replications=parameters.replications,
            level=parameters.level,
            progress=advance,
            shares=np.linspace(settings["first"], settings["last"], max(k, 0)).tolist(),
            relevant=settings["relevant"],
            nonrelevant=settings["nonrelevant"],
            queries=parameters.int_setting("queries"),
            relevant_labels=parameters.int_setting("relevant_labels"),
            nonrelevant_labels=parameters.int_setting("nonrelevant_labels"),
        )
    refused_note = Note(
        "judge-maybe-at-chance",
        f"in {scores.refused:.1%} of the experiments the rates allow a judge at chance level: Fieller's is 0 to 1",
    )
    return StudyOutput(
        payload=scores.as_dict() | {"settings": dict(settings)},
        grids=partial(_noisy_scores_grid, scores),
        csv_grid=partial(_histogram_csv, scores),
        plot=_draw_histogram(scores, k),
        notes=[refused_note] if scores.refused else [],
    )


def _noisy_scores_grid(scores: NoisyScores) -> Grid:
    means = {"naive": scores.naive.mean(), "wald": scores.defined.mean(), "fieller": scores.defined.mean()}
    rows = [
        [SCORE_TITLES[kind], f"{means[kind]:.3f}", f"{100 * share:.1f}%"] for kind, share in scores.coverage.items()
    ]
    caption = (
        f"{len(scores.naive):,} experiments; the true score is {scores.truth:.3g}, and intervals promise to hold it in "
        f"{scores.level * 100:g}%"
    )
    return Grid(columns=["score and interval", "mean score", "holds the truth"], rows=rows, caption=caption)


def _histogram_csv(scores: NoisyScores) -> Grid:
    edges, naive, corrected = scores.histogram()
    rows = [
        [f"{low:g}", f"{high:g}", str(n_naive), str(n_corrected)]
        for low, high, n_naive, n_corrected in zip(edges[:-1], edges[1:], naive, corrected, strict=True)
    ]
    return Grid(columns=["from", "to", "naive", "corrected"], rows=rows)


def _draw_histogram(scores: NoisyScores, k: int) -> str:
    """Both kinds of score side by side, a line for each bin, with an arrow at the truth."""
    edges, naive, corrected = scores.histogram()
    step = -(-len(naive) // MAX_ROWS)
    starts = range(0, len(naive), step)
    bars = [[sum(counts[start : start + step]) for start in starts] for counts in (naive, corrected)]
    ends = [edges[min(start + step, len(naive))] for start in starts]
    max_count = max(map(max, bars))
    column_width = BAR_WIDTH + 2 + len(f"{max_count:,}")
    lines = [f"{f'P@{k}':<14}{'naive':<{column_width}}  corrected"]
    for start, end, n_naive, n_corrected in zip(starts, ends, *bars, strict=True):
        has_truth = edges[start] - 1e-9 <= scores.truth < end - 1e-9
        padding = " " * (column_width - len(_count_bar(n_naive, max_count)))
        left = (click.style(_count_bar(n_naive, max_count), fg="red") if n_naive else "") + padding
        right = click.style(_count_bar(n_corrected, max_count), fg="blue") if n_corrected else ""
        label = f"{edges[start]:.2f}–{end:.2f}".replace("-", "−")
        lines.append(f"{label:<11} {'▶' if has_truth else ' '} {left}  {right}".rstrip())
    return "\n".join([*lines, f"{'':<12}▶ the true score, {scores.truth:.3g}"])


def _count_bar(count: int, max_count: int) -> str:
    """A bar in eighths of a character, and its number."""
    eighths = round(8 * BAR_WIDTH * count / max_count)
    full_blocks, remainder = divmod(max(eighths, 1 if count else 0), 8)
    return ("█" * full_blocks + (EIGHTHS[remainder] if remainder else "") + f" {count:,}") if count else ""


def study_rates(parameters: StudyParameters) -> StudyOutput:
    """How often the intervals of corrected scores hold the truth, over many worlds."""
    from ringtrue.simulation.studies.rate_coverage import HARDER_WORLDS, USUAL_WORLDS, coverage_of_rates

    rng, resamples, n_worlds = parameters.rng, parameters.int_setting("resamples"), parameters.int_setting("worlds")
    worlds_by_kind = {"usual": USUAL_WORLDS, "harder": HARDER_WORLDS}
    if n_worlds < 0:
        raise OptionError(
            "bad-value",
            f"--set worlds={n_worlds}: how many worlds of each kind to look at, or 0 for all of them",
            parameter="set",
        )
    if n_worlds:
        worlds_by_kind = {
            name: [worlds[index] for index in sorted(rng.permutation(len(worlds))[:n_worlds])]
            for name, worlds in worlds_by_kind.items()
        }
    total = sum(map(len, worlds_by_kind.values())) * parameters.replications * resamples
    with progress_bar(total, description="simulating") as advance:
        coverages_by_kind = {
            name: coverage_of_rates(
                rng,
                worlds,
                replications=parameters.replications,
                resamples=resamples,
                level=parameters.level,
                progress=advance,
            )
            for name, worlds in worlds_by_kind.items()
        }
    summaries = {name: _summarise_worlds(coverages) for name, coverages in coverages_by_kind.items()}
    world_rows = [
        {"kind": name} | coverage.as_dict() for name, coverages in coverages_by_kind.items() for coverage in coverages
    ]
    return StudyOutput(
        payload={
            "replications": parameters.replications,
            "resamples": resamples,
            "level": parameters.level,
            **summaries,
            "worlds": world_rows,
        },
        grids=lambda: [_world_grid(name, coverages, parameters) for name, coverages in coverages_by_kind.items()],
        csv_grid=lambda: exact_grid(list(world_rows[0]), (row.values() for row in world_rows)),
    )


def _summarise_coverage(coverages: Sequence[RatesCoverage], interval: str) -> dict[str, float]:
    """How often an interval holds the truth, over worlds."""
    shares = [getattr(coverage, interval) for coverage in coverages]
    below = {f"below_{limit:g}": sum(share < limit for share in shares) for limit in (0.9, 0.5)}
    return {"mean": sum(shares) / len(shares), "min": min(shares), **below}


def _summarise_worlds(coverages: Sequence[RatesCoverage]) -> dict[str, object]:
    refused = [coverage.refused for coverage in coverages]
    answered = [coverage.answered for coverage in coverages if coverage.answered is not None and coverage.refused < 0.5]
    return {
        "worlds": len(coverages),
        **{interval: _summarise_coverage(coverages, interval) for interval in INTERVAL_TITLES},
        "refused": {"mean": sum(refused) / len(refused), "max": max(refused)},
        "answered": {"worlds": len(answered), "min": min(answered, default=None)},
    }


def _world_grid(name: str, coverages: list[RatesCoverage], parameters: StudyParameters) -> Grid:
    rows = []
    for interval, title in INTERVAL_TITLES.items():
        summary = _summarise_coverage(coverages, interval)
        rows.append(
            [title, f"{summary['mean']:.3f}", f"{summary['min']:.3f}", *(f"{summary[x]:,}" for x in BELOW_KEYS)]
        )
    refused = [coverage.refused for coverage in coverages]
    worst_world = min(coverages, key=lambda coverage: coverage.fieller).world
    mean_refused, max_refused = sum(refused) / len(refused), max(refused)
    labels_text = f"{worst_world.relevant_labels:,} and {worst_world.nonrelevant_labels:,} labels"
    queries_text = (
        f"{worst_world.queries:,} queries of {worst_world.k} "
        f"document{'' if worst_world.k == 1 else 's'}, alike {worst_world.alike:g}"
    )
    rates_text = f"rates of {worst_world.relevant:g} and {worst_world.nonrelevant:g}"
    lines = [
        f"{len(coverages):,} worlds, {parameters.replications:,} experiments in each: {WORLD_DESCRIPTIONS[name]}",
        f"no answer, which counts as held: {mean_refused:.1%} of the experiments, {max_refused:.1%} in the worst world",
        f"Fieller's is lowest for a share of {worst_world.share:g}, {rates_text} from {labels_text}, {queries_text}",
    ]
    return Grid(
        columns=[f"{name} worlds", "mean", "lowest", "below .90", "below .50"], rows=rows, caption=wrap_lines(lines)
    )


def study_like_these(parameters: StudyParameters) -> StudyOutput:
    """How often intervals for these queries, and for queries like these, hold the truth."""
    from ringtrue.simulation.studies import correction_coverage

    rng, n_worlds = parameters.rng, parameters.int_setting("worlds")
    worlds = correction_coverage.FEW_LABELS
    if n_worlds < 0:
        raise OptionError(
            "bad-value",
            f"--set worlds={n_worlds}: how many worlds with few labels to look at, or 0 for all of them",
            parameter="set",
        )
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
    return Grid(columns=columns, rows=rows, left=4, caption=wrap_lines([description]))


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
    caption = wrap_lines(lines)
    columns = ["the judge", "test", "measure", "gold", "false alarms", "power", "promised"]
    return Grid(columns=columns, rows=rows, left=3, caption=caption)


def _rows_csv(rows: Sequence[dict[str, object]]) -> Grid:
    return Grid(columns=list(rows[0]), rows=[[str(value) for value in row.values()] for row in rows])


def study_plans(parameters: StudyParameters) -> StudyOutput:
    """Every method's plan carried out in several worlds."""
    from ringtrue.simulation.studies.plan_accuracy import planned_against_achieved

    rows = planned_against_achieved(parameters.rng, replications=parameters.replications)
    return StudyOutput(
        payload={"rows": rows},
        grids=partial(_plan_accuracy_grid, rows, parameters.replications),
        csv_grid=lambda: exact_grid(PLAN_COLUMNS, ([row[name] for name in PLAN_COLUMNS] for row in rows)),
    )


def _plan_accuracy_grid(rows: Sequence[dict[str, str | float]], replications: int) -> Grid:
    cells = [
        [str(row["setting"]), str(row["method"]), *(f"{row[name]:.3f}" for name in PLAN_COLUMNS[2:])] for row in rows
    ]
    explanation = "asked: a half-width, or the power to find a difference; achieved: what the planned numbers gave"
    return Grid(columns=PLAN_COLUMNS, rows=cells, caption=f"{explanation} in {replications:,} experiments", left=2)
