"""Comparisons query by query: which run is ahead where, and what was asked there."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ringtrue.evaluation.significance import differences, largest_differences
from ringtrue.formatting.grid import Grid, format_signed
from ringtrue.stats.results import Comparison, Comparisons
from ringtrue.tables import Scores

BAR_WIDTH = 12
MAX_TEXT_WIDTH = 60


def query_grids(comparisons: Comparisons, scores: Scores, topics: pl.DataFrame | None, *, bars: bool) -> list[Grid]:
    """For each comparison a table with a row for each query, the largest difference first."""
    tables = (
        (comparison, differences(scores, comparison.a, comparison.b, comparison.measure)) for comparison in comparisons
    )
    return [_query_rows_grid(comparison, table, topics, bars=bars, title="every query") for comparison, table in tables]


def largest_moves_grid(comparison: Comparison, scores: Scores, topics: pl.DataFrame | None, *, bars: bool) -> Grid:
    """The queries where one of the two runs is furthest ahead."""
    ahead, behind = largest_differences(differences(scores, comparison.a, comparison.b, comparison.measure))
    table = pl.concat([ahead, behind.reverse()])
    return _query_rows_grid(comparison, table, topics, bars=bars, title="the queries that moved most")


def _query_rows_grid(
    comparison: Comparison, table: pl.DataFrame, topics: pl.DataFrame | None, *, bars: bool, title: str
) -> Grid:
    texts = topic_texts(topics)
    max_difference = max((abs(difference) for difference in table["difference"]), default=0.0) or 1.0
    rows = [
        [
            query,
            *([_truncate_text(texts.get(query, ""))] if texts else []),
            *(f"{a:.4f}", f"{b:.4f}", format_signed(d, 4)),
            *([_signed_bar(d / max_difference)] if bars else []),
        ]
        for query, a, b, d in table.iter_rows()
    ]
    text_columns = ["query", "asked"] if texts else ["query"]
    columns = [*text_columns, comparison.a, comparison.b, "difference", *([""] if bars else [])]
    legend = f"; to the right {comparison.a} is ahead, to the left {comparison.b}" if bars else ""
    return Grid(columns=columns, rows=rows, caption=f"{comparison.measure}: {title}{legend}", left=len(text_columns))


def _signed_bar(share: float) -> str:
    """A bar that points left or right."""
    length = round(abs(share) * BAR_WIDTH)
    left, right = (" " * BAR_WIDTH, "█" * length) if share > 0 else (("█" * length).rjust(BAR_WIDTH), "")
    return f"{left}│{right.ljust(BAR_WIDTH)}"


def topic_texts(topics: pl.DataFrame | None) -> dict[str, str]:
    """What each query asks, on one line."""
    if topics is None:
        return {}
    column = next((name for name in ("title", "text", "description") if name in topics.columns), None)
    if column is None:
        return {}
    rows = topics.select("query", pl.col(column).cast(pl.String)).drop_nulls().iter_rows()
    return {query: " ".join(text.split()) for query, text in rows}


def _truncate_text(text: str) -> str:
    return text if len(text) <= MAX_TEXT_WIDTH else text[: MAX_TEXT_WIDTH - 1] + "…"


def query_csv(comparisons: Iterable[Comparison], scores: Scores, topics: pl.DataFrame | None) -> Grid:
    """Every query of every comparison with every digit, and what it asks where that is known."""
    texts = topic_texts(topics)
    return Grid(
        columns=["measure", "a", "b", "query", "a_value", "b_value", "difference", *(["asked"] if texts else [])],
        rows=[
            [
                comparison.measure,
                comparison.a,
                comparison.b,
                query,
                *map(repr, values),
                *([texts.get(query, "")] if texts else []),
            ]
            for comparison in comparisons
            for query, *values in differences(scores, comparison.a, comparison.b, comparison.measure).iter_rows()
        ],
    )
