"""Where a difference comes from: query by query."""

from __future__ import annotations

import polars as pl

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.evaluation.significance.paired_statistics import paired_differences
from ringtrue.tables import Scores


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
    measures = scores.frame["measure"].unique(maintain_order=True).to_list()
    if measure is None:
        if len(measures) > 1:
            raise UsageError(f"the scores have several measures, {', '.join(measures)}: say which")
        measure = measures[0]
    runs = scores.frame["run"].unique(maintain_order=True).to_list()
    for kind, name, names in (("run", a, runs), ("run", b, runs), ("measure", measure, measures)):
        if name not in names:
            near = did_you_mean(name, names) or f"; there is {', '.join(names[:5])}"
            raise UsageError(f"no {kind} '{name}' in the scores{near}")
    measure_scores = scores.frame.filter(pl.col("measure") == measure)
    first, second = (
        measure_scores.filter(pl.col("run") == run).select("query", pl.col("value").alias(side))
        for run, side in ((a, "a"), (b, "b"))
    )
    both = first.join(second, on="query", maintain_order="left")
    difference = paired_differences(both["a"].to_numpy(), both["b"].to_numpy())
    return both.with_columns(difference=difference).sort("difference", descending=True, maintain_order=True)


def largest_differences(table: pl.DataFrame, limit: int = 3) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of `differences`, the queries where a is furthest ahead, and those where b is.

    Examples:
        >>> table = pl.DataFrame({"query": ["q1", "q2", "q3"], "difference": [0.5, 0.0, -0.2]})
        >>> [part["query"].to_list() for part in largest_differences(table)]
        [['q1'], ['q3']]
    """
    ahead, behind = table.filter(pl.col("difference") > 0), table.filter(pl.col("difference") < 0)
    return ahead.head(limit), behind.reverse().head(limit)
