"""Where does a difference come from? The first run against the second, query by query."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import polars as pl

from ringtrue.evaluation.significance import differences, largest_differences
from ringtrue.formatting.grid import Grid, format_signed
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs, compare_run_pairs, find_leaders, order_runs, score_as_labelled
from ringtrue.report.model import Bars, Section, SectionOutline
from ringtrue.report.sections.number_phrases import join_names
from ringtrue.stats.results import Comparison
from ringtrue.tables import Scores

OUTLINE = SectionOutline(
    name="differences",
    title="Query by query",
    needs="two runs or more, and judgments",
    figures={"differences": "Which queries make the difference?"},
)
MAX_NAMED_BARS = 60  # bars with a name; of more, the outermost on either side
MAX_BARS = 400  # bars at all
MAX_LEVEL_QUERIES = 5  # queries without a difference that are drawn
MAX_QUERIES_IN_TEXT = 3


def section(inputs: ReportInputs) -> Section | None:
    """The best run against the second, and against the one that the labels as they are call best."""
    if inputs.scores is None or len(inputs.runs) < 2:
        return None
    scores, measure = score_as_labelled(inputs)
    names = order_runs(inputs)
    by_labels = find_leaders({run: row[measure].value for run, row in scores.means().items()})
    rivals = list(dict.fromkeys([names[1], *(by_labels[:1] if names[0] not in by_labels else [])]))
    pairs = compare_run_pairs(inputs)
    tables = {rival: differences(scores, names[0], rival, measure) for rival in rivals}
    sentences = ["A bar is a query: to the right the first run is ahead, to the left the other."]
    if inputs.gold is not None:
        sentences.append(
            "Query by query only the labels as they are can be shown; what corrects them holds for the mean."
        )
    sentences += [
        _describe_differences(table, names[0], rival, pairs.get((names[0], rival)), briefly=rival != rivals[0])
        for rival, table in tables.items()
    ]
    figure = OUTLINE.figure(
        "differences",
        " ".join(sentences),
        _difference_table(tables, names[0], measure),
        *(_difference_bars(table, names[0], rival, measure) for rival, table in tables.items()),
        notes=_difference_notes(tables.values(), scores),
    )
    answer = _summarise_differences(tables[rivals[0]], names[0], rivals[0], inputs)
    return OUTLINE.section(answer, figure)


def count_decisive_queries(values: list[float]) -> int | None:
    """How many of the differences, the largest first, have to be left out for their sum to be 0 or less.

    None where the sum is not above 0 to begin with.

    Examples:
        >>> [count_decisive_queries(gaps) for gaps in ([0.5, 0.4, -0.2, -0.3], [0.1, 0.1], [-1.0])]
        [1, 2, None]
    """
    ordered = np.sort(np.array(values))[::-1]
    remaining_sum = np.round(ordered.sum() - np.cumsum(ordered), 12)
    return int(np.argmax(remaining_sum <= 0)) + 1 if round(ordered.sum(), 12) > 0 else None


def _count_outcomes(table: pl.DataFrame) -> tuple[int, int, int]:
    gaps = table["difference"]
    return int((gaps > 0).sum()), int((gaps == 0).sum()), int((gaps < 0).sum())


def _summarise_differences(table: pl.DataFrame, a: str, b: str, inputs: ReportInputs) -> str:
    wins, ties, losses = _count_outcomes(table)
    by = inputs.measure + (" and the labels as they are" if inputs.gold is not None else "")
    query_count = format_count(table.height, "query")
    return f"By {by}, {a} is ahead of {b} for {wins} of {query_count}, behind for {losses}, level for {ties}."


def _describe_differences(table: pl.DataFrame, a: str, b: str, comparison: Comparison | None, *, briefly: bool) -> str:
    wins, ties, losses = _count_outcomes(table)
    mean = float(table["difference"].to_numpy().mean())
    mean_phrase = _format_difference(mean)
    if comparison is not None and comparison.naive is not None and comparison.difference.value is not None:
        mean_phrase += f", corrected {_format_difference(comparison.difference.value)}"
    summary = (
        f"{a} is ahead of {b} for {format_count(wins, 'query')}, behind for {losses}, level for {ties}; the mean "
        f"difference is {mean_phrase}."
    )
    if briefly:
        return summary
    moved = zip(("ahead", "behind"), largest_differences(table, MAX_QUERIES_IN_TEXT), strict=True)
    sides = [f"furthest {where} for {_queries_with_differences(part)}" for where, part in moved if part.height]
    furthest = [f"It is {' and '.join(sides)}."] if sides else []
    return " ".join([summary, *furthest, *_describe_robustness(table, a, b, mean)])


def _describe_robustness(table: pl.DataFrame, a: str, b: str, mean: float) -> list[str]:
    """On how few queries the order of the two rests."""
    sign = 1 if mean > 0 else -1
    decisive_count = count_decisive_queries((sign * table["difference"]).to_list())
    if decisive_count is None or decisive_count == table.height:
        return []
    queries, leader, outcome = table["query"].reverse(), b, f"{b} would not be ahead of it"
    if sign > 0:
        queries, leader, outcome = table["query"], "it", f"{a} would no longer be ahead"
    without = f"the {decisive_count} queries where {leader} is furthest ahead"
    if decisive_count <= MAX_QUERIES_IN_TEXT:
        without = join_names(queries.head(decisive_count).to_list())
    return [f"Without {without}, {outcome}."]


def _queries_with_differences(part: pl.DataFrame) -> str:
    rows = part.select("query", "difference").rows()
    return join_names([f"{query} ({_format_difference(value)})" for query, value in rows])


def _format_difference(value: float) -> str:
    return format_signed(round(value, 4) + 0.0, 3 if abs(value) >= 0.0095 else 4)


def _difference_bars(table: pl.DataFrame, a: str, b: str, measure: str) -> Bars:
    """A bar for each query, the largest difference first; where there are many, only the outermost have names."""
    table = _drop_level_queries(table)
    drawn = table if table.height <= MAX_BARS else pl.concat([table.head(MAX_BARS // 2), table.tail(MAX_BARS // 2)])
    queries = drawn["query"].to_list()
    named_each_side = MAX_NAMED_BARS // 2
    if (unnamed := len(queries) - 2 * named_each_side) > 0:
        queries = [*queries[:named_each_side], *[""] * unnamed, *queries[-named_each_side:]]
    return Bars(
        names=tuple(queries),
        values=tuple(drawn["difference"].to_list()),
        across=f"{measure}: {a} − {b}",
        title=f"{a} against {b}",
    )


def _drop_level_queries(table: pl.DataFrame) -> pl.DataFrame:
    """Without the queries where the two are level, if these are many and there are others."""
    unequal = table.filter(pl.col("difference") != 0)
    return unequal if unequal.height and table.height - unequal.height > MAX_LEVEL_QUERIES else table


def _difference_notes(tables: Iterable[pl.DataFrame], scores: Scores) -> list[Note]:
    notes = list(scores.notes)
    heights = [(table.height, _drop_level_queries(table).height) for table in tables]
    if any(drawn_count < total for total, drawn_count in heights):
        text = "queries where the two are level are not drawn; the table has them"
        notes.append(Note("level-queries-not-drawn", text))
    queries = max(drawn_count for _, drawn_count in heights)
    if queries > MAX_BARS:
        text = f"of {queries:,} queries the {MAX_BARS} outermost are drawn; the table has all"
        notes.append(Note("chart-shortened", text))
    elif queries > MAX_NAMED_BARS:
        text = f"of {queries:,} queries the {MAX_NAMED_BARS} outermost are named; the table has all"
        notes.append(Note("chart-shortened", text))
    return notes


def _difference_table(tables: dict[str, pl.DataFrame], a: str, measure: str) -> Grid:
    """Every query: the values of the runs, and how far the first is ahead of each other."""
    first_table = next(iter(tables.values()))
    values_by_query = {rival: {query: values for query, *values in table.rows()} for rival, table in tables.items()}
    rows = [
        [query, f"{value:.4f}", *chain(*(_rival_cells(of_rival.get(query)) for of_rival in values_by_query.values()))]
        for query, value in first_table.select("query", "a").rows()
    ]
    columns = ["query", a, *(name for rival in tables for name in (rival, f"{a} − {rival}"))]
    return Grid(columns=columns, rows=rows, caption=f"{measure} of each query, by the labels as they are")


def _rival_cells(values: list[float] | None) -> list[str]:
    """The other run's value for a query, and the difference; the three numbers of `differences` are a, b and a − b."""
    return ["–", "–"] if values is None else [f"{values[1]:.4f}", format_signed(values[2], 4)]
