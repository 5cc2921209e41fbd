"""Comparisons query by query: which run is ahead where, and what was asked there."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ringtrue.cli.output import Grid, signed
from ringtrue.evaluation.significance import differences, moved_most
from ringtrue.stats.results import Comparison, Comparisons
from ringtrue.tables import Scores

__all__ = ["by_query", "flat_by_query", "moved", "questions"]

BAR = 12
WIDEST_TEXT = 60


def by_query(found: Comparisons, scores: Scores, asked: pl.DataFrame | None, *, bars: bool) -> list[Grid]:
    """For each comparison a table with a row for each query, the largest difference first."""
    tables = ((one, differences(scores, one.a, one.b, one.measure)) for one in found)
    return [_queries(one, table, asked, bars=bars, what="every query") for one, table in tables]


def moved(one: Comparison, scores: Scores, asked: pl.DataFrame | None, *, bars: bool) -> Grid:
    """The queries where one of the two runs is furthest ahead."""
    ahead, behind = moved_most(differences(scores, one.a, one.b, one.measure))
    table = pl.concat([ahead, behind.reverse()])
    return _queries(one, table, asked, bars=bars, what="the queries that moved most")


def _queries(one: Comparison, table: pl.DataFrame, asked: pl.DataFrame | None, *, bars: bool, what: str) -> Grid:
    texts = questions(asked)
    widest = max((abs(value) for value in table["difference"]), default=0.0) or 1.0
    rows = [
        [
            query,
            *([_cut(texts.get(query, ""))] if texts else []),
            *(f"{a:.4f}", f"{b:.4f}", signed(d, 4)),
            *([_bar(d / widest)] if bars else []),
        ]
        for query, a, b, d in table.iter_rows()
    ]
    words = ["query", "asked"] if texts else ["query"]
    columns = [*words, one.a, one.b, "difference", *([""] if bars else [])]
    pointing = f"; to the right {one.a} is ahead, to the left {one.b}" if bars else ""
    return Grid(columns=columns, rows=rows, caption=f"{one.measure}: {what}{pointing}", left=len(words))


def _bar(share: float) -> str:
    """A bar that points left or right."""
    length = round(abs(share) * BAR)
    left, right = (" " * BAR, "█" * length) if share > 0 else (("█" * length).rjust(BAR), "")
    return f"{left}│{right.ljust(BAR)}"


def questions(asked: pl.DataFrame | None) -> dict[str, str]:
    """What each query asks, on one line."""
    if asked is None:
        return {}
    column = next((name for name in ("title", "text", "description") if name in asked.columns), None)
    if column is None:
        return {}
    whole = asked.select("query", pl.col(column).cast(pl.String)).drop_nulls().iter_rows()
    return {query: " ".join(text.split()) for query, text in whole}


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST_TEXT else text[: WIDEST_TEXT - 1] + "…"


def flat_by_query(found: Iterable[Comparison], scores: Scores, asked: pl.DataFrame | None) -> Grid:
    """Every query of every comparison with every digit, and what it asks where that is known."""
    texts = questions(asked)
    return Grid(
        columns=["measure", "a", "b", "query", "a_value", "b_value", "difference", *(["asked"] if texts else [])],
        rows=[
            [one.measure, one.a, one.b, query, *map(repr, values), *([texts.get(query, "")] if texts else [])]
            for one in found
            for query, *values in differences(scores, one.a, one.b, one.measure).iter_rows()
        ],
    )
