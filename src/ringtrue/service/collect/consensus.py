"""One label from many: the verdict where somebody decided, else what most judges said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes.vote_table import FIRST, SECOND
from ringtrue.service.store.label_queries import collected, verdict_frame
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Queue

__all__ = ["settled"]


def settled(
    connection: Connection, project: Project, *, queue: Queue = "main", failed: bool = True
) -> Judgments | Preferences | None:
    """One label, or one preference, for each item that has any; None while there is none.

    Where judges tie, it is the lower label, and of a pair neither document. The column `by` says verdict, majority or
    tie, `votes` how many judges there were, `share` how many of them said so.
    """
    votes = collected(connection, project, queue=queue, failed=failed)
    decided = verdict_frame(connection, project, queue=queue)
    pairs = project.scale.kind == "preference"
    names = ["query", "left", "right"] if pairs else ["query", "doc"]
    decided = decided.rename({"doc": "left", "other": "right"} if pairs else {}).select(*names, "answer")
    if votes is None:
        if not decided.height:
            return None
        frame = decided.with_columns(votes=pl.lit(0), share=pl.lit(None, dtype=pl.Float64), by=pl.lit("verdict"))
    else:
        frame = _majority(votes).join(
            decided.rename({"answer": "verdict"}), on=names, how="full", coalesce=True, maintain_order="left_right"
        )
        verdict = pl.col("verdict")
        frame = frame.select(
            *names, pl.coalesce(verdict, "answer").alias("answer"), pl.col("votes").fill_null(0), "share",
            by=pl.when(verdict.is_not_null()).then(pl.lit("verdict")).otherwise("by"),
        )  # fmt: skip
    if pairs:
        return Preferences.of(frame.rename({"answer": "winner"}))
    return Judgments.of(frame.rename({"answer": "label"}))


def _majority(votes: Judgments | Preferences) -> pl.DataFrame:
    """What most said of each item, as text; `by` tells where as many said something else."""
    found = aggregate(votes, method="majority", repeats="last")
    tied = np.isclose(found.probabilities, found.probabilities.max(axis=1, keepdims=True)).sum(axis=1) > 1
    by = pl.when(pl.Series(tied)).then(pl.lit("tie")).otherwise(pl.lit("majority"))
    items = found.items.rename({"probability": "share"}).with_columns(by=by)
    label = pl.col("label")
    if isinstance(votes, Judgments):
        return items.select("query", "doc", "share", "votes", "by", answer=label.cast(pl.String))
    said = pl.when(label == FIRST).then(pl.lit("left")).when(label == SECOND).then(pl.lit("right"))
    return items.select(
        "query", "share", "votes", "by", left="first", right="second", answer=said.otherwise(pl.lit("tie"))
    )
