"""`ringtrue evaluate`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.options import Command, columns_of, conditions_of, input_options, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, estimate_column, plain, tell
from ringtrue.errors import DuplicateError, UsageError

if TYPE_CHECKING:
    from ringtrue.evaluation import Missing
    from ringtrue.measures import Compat, Measure
    from ringtrue.results import Estimate
    from ringtrue.tables import Scores

__all__ = ["command"]

USUAL = ("nDCG@10", "AP", "P@10", "RR")
ESTIMATE_FIELDS = ("value", "se", "low", "high", "level", "n", "method")


@click.command("evaluate", cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--judgments", "--qrels", required=True, metavar="FILE", help="Relevance labels: qrels, or a table.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help=f"What to measure; may be repeated, or a list. Usually {', '.join(USUAL)}.")  # fmt: skip
@click.option(
    "--rel", type=click.IntRange(1, 2**31 - 1), help="The lowest label that counts as relevant; 1 if not said."
)
@click.option("--per-query", is_flag=True, help="Show every query.")
@click.option("--by", metavar="COLUMN", help="Means for each value of a column of the topics or judgments.")
@click.option("--topics", metavar="FILE", help="A table with a row for each query, for --by.")
@click.option("--missing", type=click.Choice(["zero", "skip"]), default="zero", show_default=True,
              help="A judged query that a run does not have counts as 0, or is left out of the mean.")  # fmt: skip
@click.option("--judge", metavar="NAME", help="Use this judge's labels only.")
@click.option("--judges", type=click.Choice(["one", "average"]), default="one", show_default=True,
              help="With several judges: evaluate by each and average, as trec_eval's qrels_jg.")  # fmt: skip
@click.option("--repeats", type=click.Choice(["first", "last"]),
              help="Where a judge labelled a document again, keep the first or the last label.")  # fmt: skip
@click.option("--compat", type=click.Choice(["trec_eval-9", "trec_eval-10"]),
              help="Follow trec_eval to the last digit where it departs from the plain formulas.")  # fmt: skip
@click.option("--depth", type=click.IntRange(1, 2**31 - 1), help="Cut every list at this rank.")
@click.option("--collection-size", type=click.IntRange(1, 2**53), help="Documents in all, for SetAcc, Fallout, TN.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
              show_default=True, help="How often such intervals hold the mean over queries like these.")  # fmt: skip
@click.option("--name", type=click.Choice(["file", "tag"]), default="file", show_default=True,
              help="Call a run by its file, or by the tag inside.")  # fmt: skip
@click.option(
    "--run-columns", multiple=True, metavar="NAME=COLUMN", help="The same as --columns, for runs that are tables."
)
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@input_options
@output_options
def command(
    runs: tuple[str, ...],
    judgments: str,
    measures: tuple[str, ...],
    rel: int | None,
    per_query: bool,
    by: str | None,
    topics: str | None,
    missing: Missing,
    judge: str | None,
    judges: Literal["one", "average"],
    repeats: Literal["first", "last"] | None,
    compat: Compat | None,
    depth: int | None,
    collection_size: int | None,
    level: float,
    name: Literal["file", "tag"],
    run_columns: tuple[str, ...],
    forced: tuple[str, ...],
    columns: tuple[str, ...],
    where: tuple[str, ...],
    form: OutputFormat,
) -> None:
    """How good is each run?

    Prints the mean of each measure over the queries with an interval, and the share of the top documents
    that anybody judged. --columns and --where apply to the judgments.
    """
    from ringtrue.cli.inputs import forms_for, read_runs
    from ringtrue.evaluation import evaluate, split_by
    from ringtrue.files import read_judgments, read_topics
    from ringtrue.files.reading import explain_duplicate

    if [*runs, judgments].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")
    if judge is not None and judges == "average":
        raise UsageError("--judge takes one judge and --judges average takes all: choose one of the two")
    if topics is not None and by is None:
        raise UsageError("--topics says nothing without --by COLUMN")
    if by is not None and per_query and form != "json":
        raise UsageError("--by and --per-query are two tables: ask for one of them, or for --json")
    notes: list[str] = []
    wanted = _wanted(measures, rel)
    form_of = forms_for(("run", "judgments"), forced)
    how: dict[str, Any] = {
        "form": form_of["judgments"],
        "columns": columns_of(columns),
        "where": conditions_of(where),
    }
    labels = read_judgments(judgments, note=notes.append, **how)
    if judge is not None:
        labels = labels.by(judge)
    if repeats is not None:
        labels = labels.without_repeats(repeats)
    try:
        scores = evaluate(
            read_runs(runs, form=form_of["run"], columns=columns_of(run_columns), name=name, note=notes.append),
            labels,
            wanted,
            missing=missing,
            judges=judges,
            depth=depth,
            compat=compat,
            collection_size=collection_size,
        )
    except DuplicateError as error:
        if error.table == "run":
            raise
        raise explain_duplicate(error, judgments, **how) from error
    means = scores.means(level=level)
    notes += scores.notes
    notes += _doubts(means)
    data: dict[str, Any] = {"runs": plain(means)}
    grid, flat = partial(_grid, means, level), partial(_flat, means)
    if by is not None:
        groups = split_by(scores, labels.frame if topics is None else read_topics(topics), by)
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


def _wanted(measures: tuple[str, ...], rel: int | None) -> list[Measure]:
    """The measures asked for, and beside them how much of the same top was judged."""
    from ringtrue.measures import parse, parse_all

    asked = parse_all(measures or USUAL)
    if not asked:
        raise UsageError(f"-m names no measure; write it like -m {','.join(USUAL)}")
    if rel is not None:
        asked = [measure.with_default("rel", rel) for measure in asked]
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
