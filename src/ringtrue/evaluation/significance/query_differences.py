"""Where a difference comes from: query by query."""

from __future__ import annotations

import polars as pl

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.evaluation.significance.paired_statistics import apart
from ringtrue.tables import Scores

__all__ = ["differences", "moved_most"]


def differences(scores: Scores, a: str, b: str, measure: str | None = None) -> pl.DataFrame:
    """The value of both runs for each query they share, and a − b, the largest first.

    `measure` may be left out where the scores have one only.

    Examples:
        >>> import ringtrue as rt
        >>> runs = {"new": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, "old": {"q1": {"d3": 1.0}, "q2": {"d2": 1.0}}}
        >>> scores = rt.evaluate(runs, {"q1": {"d1": 1}, "q2": {"d2": 1}}, "RR")
        >>> differences(scores, "new", "old").rows()
        [('q1', 1.0, 0.0, 1.0), ('q2', 1.0, 1.0, 0.0)]
    """
    known = scores.frame["measure"].unique(maintain_order=True).to_list()
    if measure is None:
        if len(known) > 1:
            raise UsageError(f"the scores have several measures, {', '.join(known)}: say which")
        measure = known[0]
    runs = scores.frame["run"].unique(maintain_order=True).to_list()
    for what, name, names in (("run", a, runs), ("run", b, runs), ("measure", measure, known)):
        if name not in names:
            near = did_you_mean(name, names) or f"; there is {', '.join(names[:5])}"
            raise UsageError(f"no {what} '{name}' in the scores{near}")
    chosen = scores.frame.filter(pl.col("measure") == measure)
    first, second = (
        chosen.filter(pl.col("run") == run).select("query", pl.col("value").alias(side))
        for run, side in ((a, "a"), (b, "b"))
    )
    both = first.join(second, on="query", maintain_order="left")
    difference = apart(both["a"].to_numpy(), both["b"].to_numpy())
    return both.with_columns(difference=difference).sort("difference", descending=True, maintain_order=True)


def moved_most(table: pl.DataFrame, most: int = 3) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of `differences`, the queries where a is furthest ahead, and those where b is.

    Examples:
        >>> table = pl.DataFrame({"query": ["q1", "q2", "q3"], "difference": [0.5, 0.0, -0.2]})
        >>> [part["query"].to_list() for part in moved_most(table)]
        [['q1'], ['q3']]
    """
    ahead, behind = table.filter(pl.col("difference") > 0), table.filter(pl.col("difference") < 0)
    return ahead.head(most), behind.reverse().head(most)
