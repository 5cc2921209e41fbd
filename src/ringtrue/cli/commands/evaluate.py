"""`ringtrue evaluate`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.gold import Golding, gold_options
from ringtrue.cli.options.runs import Question, evaluation_options, gains_option, level_option, runs_and_judgments
from ringtrue.cli.output import Grid, OutputFormat, emit, estimate_column, plain, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation.measures import Measure
    from ringtrue.stats.results import Estimate
    from ringtrue.tables import Scores

__all__ = ["command"]

USUAL = ("nDCG@10", "AP", "P@10", "RR")
ESTIMATE_FIELDS = ("value", "se", "low", "high", "level", "n", "method")


@click.command("evaluate", cls=Command)
@runs_and_judgments
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help=f"What to measure; may be repeated, or a list. Usually {', '.join(USUAL)}.")  # fmt: skip
@click.option("--per-query", is_flag=True, help="Show every query.")
@click.option("--by", metavar="COLUMN", help="Means for each value of a column of the topics or judgments.")
@click.option("--topics", metavar="FILE", help="A table with a row for each query, for --by.")
@gains_option
@level_option
@gold_options
@evaluation_options
@output_options
def command(
    question: Question,
    golding: Golding,
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
    from ringtrue.cli.options.files import named_column
    from ringtrue.evaluation.evaluate import split_by
    from ringtrue.files import read_topics

    if topics is not None and by is None:
        raise UsageError("--topics says nothing without --by COLUMN")
    if by is not None and per_query and form != "json":
        raise UsageError("--by and --per-query are two tables: ask for one of them, or for --json")
    if golding.gold is not None:
        if by is not None or per_query:
            raise UsageError("--by and --per-query do not go with --gold: gold labels are too few for parts of it")
        _corrected(question, golding, measures, form)
        return
    notes, level = question.notes, question.level
    wanted = _wanted(question, measures)
    labels = question.labels()
    scores = question.scores(question.each_run(), labels, wanted)
    means = scores.means(level=level)
    notes += scores.notes
    notes += _doubts(means)
    data: dict[str, Any] = {"runs": plain(means)}
    grid, flat = partial(_grid, means, level), partial(_flat, means)
    if by is not None:
        table = labels.frame if topics is None else read_topics(topics)
        groups = split_by(scores, table, named_column(table, by, topics or question.judgments))
        data["groups"] = {
            value: {"queries": part.frame["query"].n_unique(), "runs": plain(part.means(level=level))}
            for value, part in groups.items()
        }
        grid, flat = partial(_group_grid, groups, by, level), partial(_group_flat, groups, by, level)
    if per_query:
        data["queries"] = scores.by_query()
        grid, flat = partial(_by_query_grid, scores), partial(_by_query_flat, scores)
    tell(notes)
    emit(form, data=data | {"notes": notes}, grid=grid, flat=flat)


def _corrected(question: Question, golding: Golding, measures: tuple[str, ...], form: OutputFormat) -> None:
    """What the measures would be if gold had judged everything."""
    from ringtrue.cli.tables import correction as tables
    from ringtrue.gold.correction import correct
    from ringtrue.gold.correction.results import doubts

    golding.require(question)
    gold, labels, runs = golding.read(question), question.labels(), list(question.each_run())
    wanted = question.measures(measures or golding.usual(gold, USUAL))
    found = question.explained(lambda: correct(runs, labels, gold, wanted, level=question.level, **golding.settings()))
    notes = [*question.notes, *found.notes, *doubts(found)]
    tell(notes)
    emit(form, data=found.as_dict() | {"notes": notes}, grid=partial(tables.answer, found),
         flat=partial(tables.flat, found))  # fmt: skip


def _wanted(question: Question, measures: tuple[str, ...]) -> list[Measure]:
    """The measures asked for, and beside them how much of the same top was judged."""
    from ringtrue.evaluation.measures import parse, parse_all

    asked = question.measures(measures or USUAL)
    if not asked:
        raise UsageError(f"-m names no measure; write it like -m {','.join(USUAL)}")
    depths = {measure.cutoff for measure in asked if measure.definition.cutoff != "recall"} - {None}
    judged = [parse(f"Judged@{depth}") for depth in sorted(depths, key=lambda k: k or 0)] or [parse("Judged@10")]
    return parse_all([*asked, *judged])


def _doubts(means: dict[str, dict[str, Estimate]]) -> list[str]:
    """What is doubtful about single means, the same doubt told once; that all was judged is none."""
    told: dict[str, list[str]] = {}
    for run, row in means.items():
        for name, estimate in row.items():
            for note in () if name.startswith("Judged") else estimate.notes:
                told.setdefault(note, []).append(f"{name} of {run}")
    return [f"{who[0]}{f' and {len(who) - 1} more' if len(who) > 1 else ''}: {note}" for note, who in told.items()]


def _grid(means: dict[str, dict[str, Estimate]], level: float) -> Grid:
    names = list(next(iter(means.values())))
    best_first = sorted(means, key=lambda run: -(means[run][names[0]].value or 0))
    columns = [_column(name, [means[run][name] for run in best_first]) for name in names]
    counts = [means[run][names[0]].n for run in best_first]
    n = max(counts)
    over = "1 query" if n == 1 else f"{n} queries" if min(counts) == n else f"{min(counts)} to {n} queries"
    half = f"; ± half of the {level * 100:g}% interval (t)" if n > 1 else ""
    return Grid(
        columns=["run", *names],
        rows=[[run, *cells] for run, cells in zip(best_first, zip(*columns, strict=True), strict=True)],
        caption=f"mean over {over}, sorted by {names[0]}{half}",
    )


def _column(name: str, estimates: list[Estimate]) -> list[str]:
    """A column of the table; how much was judged is a fact about these queries and needs no interval."""
    if name.startswith("Judged"):
        return [f"{100 * (estimate.value or 0):.1f}%" for estimate in estimates]
    return estimate_column(estimates)


def _group_grid(groups: dict[str, Scores], by: str, level: float) -> Grid:
    means = {value: part.means(level=level) for value, part in groups.items()}
    names = list(next(iter(next(iter(means.values())).values())))
    keys = [(value, run) for value, row in means.items() for run in row]
    columns = [_column(name, [means[value][run][name] for value, run in keys]) for name in names]
    counts = {value: str(part.frame["query"].n_unique()) for value, part in groups.items()}
    rows = zip(keys, zip(*columns, strict=True), strict=True)
    return Grid(
        columns=[by, "queries", "run", *names],
        rows=[[value, counts[value], run, *cells] for (value, run), cells in rows],
        caption=f"± half of the {level * 100:g}% interval (t)",
        left=3,
    )


def _by_query_grid(scores: Scores) -> Grid:
    nested = scores.by_query()
    names = scores.frame["measure"].unique(maintain_order=True).to_list()
    return Grid(
        columns=["run", "query", *names],
        rows=[
            [run, query, *(f"{row[name]:.4f}" if name in row else "–" for name in names)]
            for run, queries in nested.items()
            for query, row in queries.items()
        ],
        left=2,
    )


def _flat(means: dict[str, dict[str, Estimate]]) -> Grid:
    rows = [[run, name, *_fields(estimate)] for run, row in means.items() for name, estimate in row.items()]
    return Grid(columns=["run", "measure", *ESTIMATE_FIELDS], rows=rows)


def _group_flat(groups: dict[str, Scores], by: str, level: float) -> Grid:
    rows = [[value, *row] for value, part in groups.items() for row in _flat(part.means(level=level)).rows]
    return Grid(columns=[by, "run", "measure", *ESTIMATE_FIELDS], rows=rows)


def _fields(estimate: Estimate) -> list[str]:
    known = estimate.as_dict()
    return ["" if known[key] is None else str(known[key]) for key in ESTIMATE_FIELDS]


def _by_query_flat(scores: Scores) -> Grid:
    rows = [[run, query, name, repr(value)] for run, query, name, value in scores.frame.iter_rows()]
    return Grid(columns=["run", "query", "measure", "value"], rows=rows)
