"""Are all judges on one scale?"""

from __future__ import annotations

import polars as pl

from ringtrue.report.sections.number_phrases import listed
from ringtrue.tables import Judgments

__all__ = ["scales_told"]

EXPECTED = 10  # labels of a grade that a judge should have given by now


def scales_told(labels: Judgments) -> tuple[str, ...]:
    """A word on judges who never give the highest label, though others would have given it ten times on their share.

    Examples:
        >>> table = {"doc": [*range(60)] * 2, "judge": ["ann"] * 60 + ["bob"] * 60, "label": [0, 1] * 30 + [0, 2] * 30}
        >>> scales_told(Judgments.of(table, needs_query=False))[0].partition(': ')[0]
        'ann never says 2, which others do'
    """
    frame = labels.frame.filter(pl.col("label") >= 0)
    if not frame.height:
        return ()
    top = int(frame["label"].to_numpy().max())
    each = frame.group_by("judge", maintain_order=True).agg(n=pl.len(), top=(pl.col("label") == top).sum())
    if each.height < 2:
        return ()
    given, others = pl.col("top").sum() - pl.col("top"), pl.col("n").sum() - pl.col("n")
    never = each.filter((pl.col("top") == 0) & (pl.col("n") * given / others >= EXPECTED))["judge"].to_list()
    if not never:
        return ()
    verb = "says" if len(never) == 1 else "say"
    told = f"{listed(never)} never {verb} {top}, which others do: are all judges on one scale? If not, numbers that "
    return (f"{told}compare them mislead",)
