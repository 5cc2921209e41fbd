"""Are all judges on one scale?"""

from __future__ import annotations

import polars as pl

from ringtrue.report.sections.number_phrases import join_names
from ringtrue.tables import Judgments

EXPECTED_TOP_LABELS = 10  # labels of a grade that a judge should have given by now


def scale_notes(labels: Judgments) -> tuple[str, ...]:
    """A word on judges who never give the highest label, though others would have given it ten times on their share.

    Examples:
        >>> table = {"doc": [*range(60)] * 2, "judge": ["ann"] * 60 + ["bob"] * 60, "label": [0, 1] * 30 + [0, 2] * 30}
        >>> scale_notes(Judgments.of(table, needs_query=False))[0].partition(': ')[0]
        'ann never says 2, which others do'
    """
    frame = labels.frame.filter(pl.col("label") >= 0)
    if not frame.height:
        return ()
    top = int(frame["label"].to_numpy().max())
    per_judge = frame.group_by("judge", maintain_order=True).agg(n=pl.len(), top=(pl.col("label") == top).sum())
    if per_judge.height < 2:
        return ()
    top_by_others, labels_by_others = pl.col("top").sum() - pl.col("top"), pl.col("n").sum() - pl.col("n")
    never_top = per_judge.filter(
        (pl.col("top") == 0) & (pl.col("n") * top_by_others / labels_by_others >= EXPECTED_TOP_LABELS)
    )["judge"].to_list()
    if not never_top:
        return ()
    verb = "says" if len(never_top) == 1 else "say"
    finding = (
        f"{join_names(never_top)} never {verb} {top}, which others do: are all judges on one scale? If not, "
        "numbers that "
    )
    return (f"{finding}compare them mislead",)
