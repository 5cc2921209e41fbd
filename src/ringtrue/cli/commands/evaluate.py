"""`ringtrue evaluate`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import (
    Command,
    by_option,
    gains_option,
    level_option,
    measure_option,
    output_options,
    per_query_option,
    topics_option,
)
from ringtrue.cli.options.gold import GoldOptions, gold_options
from ringtrue.cli.options.runs import RunInputs, evaluation_options, runs_and_judgments
from ringtrue.cli.output import OutputFormat, emit, means_as_dict
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_range
from ringtrue.messages import Note
from ringtrue.stats.results import EXACT_FIELDS, exact_estimate, format_estimates

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import Measure
    from ringtrue.stats.results import Estimate
    from ringtrue.tables import Scores

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR")


@click.command("evaluate", cls=Command)
@runs_and_judgments
@measure_option(DEFAULT_MEASURES)
@per_query_option
@by_option
@topics_option
@gains_option
@level_option
@gold_options
@evaluation_options
@output_options
def command(
    run_inputs: RunInputs,
    gold_opts: GoldOptions,
    measures: tuple[str, ...],
    per_query: bool,
    by: str | None,
    topics: str | None,
    form: OutputFormat,
) -> None:
    """How good is each run?

    Prints the mean of each measure over the queries with an interval, and the share of the top documents
    that anybody judged. With --gold, what it would be with a perfect judge. --columns and --where apply to the
    judgments.
    """
    from ringtrue.cli.options.files import find_column
    from ringtrue.evaluation.evaluate import split_by
    from ringtrue.files import read_topics

    if topics is not None and by is None:
        raise OptionError("needs-parameter", "--topics says nothing without --by COLUMN", parameter="by")
    if by is not None and per_query and form != "json":
        raise OptionError(
            "conflicting-parameters",
            "--by and --per-query are two tables: ask for one of them, or for --json",
            parameter="per_query",
        )
    if gold_opts.gold is not None:
        if by is not None or per_query:
            raise OptionError(
                "conflicting-parameters",
                "--by and --per-query do not go with --gold: gold labels are too few for parts of it",
                parameter="per_query" if by is None else "by",
            )
        _evaluate_corrected(run_inputs, gold_opts, measures, form)
        return
    notes, level = run_inputs.notes, run_inputs.level
    parsed_measures = _parse_measures_with_judged(run_inputs, measures)
    labels = run_inputs.read_labels()
    scores = run_inputs.evaluate(run_inputs.read_runs(), labels, parsed_measures)
    means = scores.means(level=level)
    notes += scores.notes
    notes += _collect_estimate_notes(means)
    payload: dict[str, Any] = {"runs": means_as_dict(means)}
    grid, csv_grid = partial(_run_means_grid, means, level), partial(_run_means_csv, means)
    if by is not None:
        table = labels.frame if topics is None else read_topics(topics)
        groups = split_by(scores, table, find_column(table, by, topics or run_inputs.judgments))
        payload["groups"] = {
            group_value: {"queries": group.frame["query"].n_unique(), "runs": means_as_dict(group.means(level=level))}
            for group_value, group in groups.items()
        }
        grid, csv_grid = partial(_group_grid, groups, by, level), partial(_group_csv, groups, by, level)
    if per_query:
        payload["queries"] = scores.by_query()
        grid, csv_grid = partial(_by_query_grid, scores), partial(_by_query_csv, scores)
    emit(form, notes=notes, payload=payload, grid=grid, csv_grid=csv_grid)


def _evaluate_corrected(
    run_inputs: RunInputs, gold_opts: GoldOptions, measures: tuple[str, ...], form: OutputFormat
) -> None:
    """What the measures would be if gold had judged everything."""
    from ringtrue.cli.tables import correction as tables
    from ringtrue.gold.correction import correct
    from ringtrue.gold.correction.results import correction_footnotes

    gold_opts.refuse_incompatible_settings(run_inputs)
    gold, labels, runs = gold_opts.read_gold(run_inputs), run_inputs.read_labels(), list(run_inputs.read_runs())
    parsed_measures = run_inputs.parse_measures(measures or gold_opts.default_measures(gold, DEFAULT_MEASURES))
    correction = run_inputs.explain_errors(
        lambda: correct(
            runs, labels, gold, parsed_measures, level=run_inputs.level, **gold_opts.correction_settings(gold)
        )
    )
    notes = [*run_inputs.notes, *correction.notes, *correction_footnotes(correction)]
    emit(
        form,
        notes=notes,
        payload=correction.as_dict(),
        grid=partial(tables.correction_grids, correction),
        csv_grid=partial(tables.correction_csv, correction),
    )


def _parse_measures_with_judged(run_inputs: RunInputs, measures: tuple[str, ...]) -> list[Measure]:
    """The measures asked for, and beside them how much of the same top was judged."""
    from ringtrue.evaluation.measures import parse, parse_all

    parsed_measures = run_inputs.parse_measures(measures or DEFAULT_MEASURES)
    if not parsed_measures:
        raise OptionError(
            "no-measure", f"-m names no measure; write it like -m {','.join(DEFAULT_MEASURES)}", parameter="measure"
        )
    depths = {measure.cutoff for measure in parsed_measures if measure.definition.cutoff != "recall"} - {None}
    judged_measures = [parse(f"Judged@{depth}") for depth in sorted(depths, key=lambda k: k or 0)] or [
        parse("Judged@10")
    ]
    return parse_all([*parsed_measures, *judged_measures])


def _collect_estimate_notes(means: dict[str, dict[str, Estimate]]) -> list[Note]:
    """What is doubtful about single means, the same doubt told once; that all was judged is none."""
    sources_by_note: dict[Note, list[str]] = {}
    for run, row in means.items():
        for name, estimate in row.items():
            for note in () if name.startswith("Judged") else estimate.notes:
                sources_by_note.setdefault(note, []).append(f"{name} of {run}")
    return [
        note.about(f"{sources[0]}{f' and {len(sources) - 1} more' if len(sources) > 1 else ''}")
        for note, sources in sources_by_note.items()
    ]


def _run_means_grid(means: dict[str, dict[str, Estimate]], level: float) -> Grid:
    names = list(next(iter(means.values())))
    best_first = sorted(means, key=lambda run: -(means[run][names[0]].value or 0))
    columns = [_measure_cells(name, [means[run][name] for run in best_first]) for name in names]
    counts = [means[run][names[0]].n for run in best_first]
    interval_text = f"; ± half of the {level * 100:g}% interval (t)" if max(counts) > 1 else ""
    return Grid(
        columns=["run", *names],
        rows=[[run, *cells] for run, cells in zip(best_first, zip(*columns, strict=True), strict=True)],
        caption=f"mean over {format_range(counts, 'query')}, sorted by {names[0]}{interval_text}",
    )


def _measure_cells(name: str, estimates: list[Estimate]) -> list[str]:
    """A column of the table; how much was judged is a fact about these queries and needs no interval."""
    if name.startswith("Judged"):
        return [f"{estimate.value or 0:.1%}" for estimate in estimates]
    return format_estimates(estimates)


def _group_grid(groups: dict[str, Scores], by: str, level: float) -> Grid:
    means = {group_value: group.means(level=level) for group_value, group in groups.items()}
    names = list(next(iter(next(iter(means.values())).values())))
    keys = [(group_value, run) for group_value, row in means.items() for run in row]
    columns = [_measure_cells(name, [means[group_value][run][name] for group_value, run in keys]) for name in names]
    counts = {group_value: str(group.frame["query"].n_unique()) for group_value, group in groups.items()}
    rows = zip(keys, zip(*columns, strict=True), strict=True)
    return Grid(
        columns=[by, "queries", "run", *names],
        rows=[[group_value, counts[group_value], run, *cells] for (group_value, run), cells in rows],
        caption=f"± half of the {level * 100:g}% interval (t)",
        left=3,
    )


def _by_query_grid(scores: Scores) -> Grid:
    scores_by_run = scores.by_query()
    names = scores.frame["measure"].unique(maintain_order=True).to_list()
    return Grid(
        columns=["run", "query", *names],
        rows=[
            [run, query, *(f"{row[name]:.4f}" if name in row else "–" for name in names)]
            for run, queries in scores_by_run.items()
            for query, row in queries.items()
        ],
        left=2,
    )


def _run_means_csv(means: dict[str, dict[str, Estimate]]) -> Grid:
    rows = [[run, name, *exact_estimate(estimate)] for run, row in means.items() for name, estimate in row.items()]
    return Grid(columns=["run", "measure", *EXACT_FIELDS], rows=rows)


def _group_csv(groups: dict[str, Scores], by: str, level: float) -> Grid:
    rows = [
        [group_value, *row]
        for group_value, group in groups.items()
        for row in _run_means_csv(group.means(level=level)).rows
    ]
    return Grid(columns=[by, "run", "measure", *EXACT_FIELDS], rows=rows)


def _by_query_csv(scores: Scores) -> Grid:
    rows = [[run, query, name, repr(value)] for run, query, name, value in scores.frame.iter_rows()]
    return Grid(columns=["run", "query", "measure", "value"], rows=rows)
