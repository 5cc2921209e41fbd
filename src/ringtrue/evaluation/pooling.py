"""Which documents should be judged at all: what the runs found."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ringtrue.errors import UsageError
from ringtrue.tables import Run


def pool(runs: Iterable[Run], *, depth: int) -> pl.DataFrame:
    """The union of the runs' first `depth` documents: query, doc, how many runs found it, and its best rank.

    Queries come in order of appearance; within a query, what most runs found and ranked highest comes first.

    Examples:
        >>> a = Run.of({"q1": {"d1": 2.0, "d2": 1.0}}, name="a")
        >>> b = Run.of({"q1": {"d2": 9.0, "d3": 8.0}}, name="b")
        >>> pool([a, b], depth=2).rows()
        [('q1', 'd2', 2, 1), ('q1', 'd1', 1, 1), ('q1', 'd3', 1, 2)]
    """
    if depth < 1:
        raise UsageError(f"a pool needs a depth of at least 1, found {depth}")
    rankings = [run.ranked(depth).select("query", "doc", "rank") for run in runs]
    if not rankings:
        raise UsageError("a pool needs at least one run")
    retrieved = pl.concat(rankings)
    order = retrieved.select(pl.col("query").unique(maintain_order=True)).with_row_index("place")
    return (
        retrieved.group_by("query", "doc")
        .agg(pl.len().alias("runs"), pl.col("rank").min().alias("best_rank"))
        .join(order, on="query")
        .sort("place", "runs", "best_rank", "doc", descending=[False, True, False, False])
        .select("query", "doc", "runs", "best_rank")
    )
