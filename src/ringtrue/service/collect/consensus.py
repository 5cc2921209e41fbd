"""One label from many: the verdict where somebody decided, else what most judges said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes.vote_table import FIRST, SECOND
from ringtrue.service.store.label_queries import load_collected, load_verdict_frame
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Queue


def resolve_labels(
    connection: Connection, project: Project, *, queue: Queue = "main", failed: bool = True
) -> Judgments | Preferences | None:
    """One label, or one preference, for each item that has any; None while there is none.

    Where judges tie, it is the lower label, and of a pair neither document. The column `by` says verdict, majority or
    tie, `votes` how many judges there were, `share` how many of them said so.
    """
    votes = load_collected(connection, project, queue=queue, failed=failed)
    verdicts = load_verdict_frame(connection, project, queue=queue)
    is_pairs = project.scale.kind == "preference"
    item_columns = ["query", "left", "right"] if is_pairs else ["query", "doc"]
    verdicts = verdicts.rename({"doc": "left", "other": "right"} if is_pairs else {}).select(*item_columns, "answer")
    if votes is None:
        if not verdicts.height:
            return None
        frame = verdicts.with_columns(votes=pl.lit(0), share=pl.lit(None, dtype=pl.Float64), by=pl.lit("verdict"))
    else:
        frame = _majority_votes(votes).join(
            verdicts.rename({"answer": "verdict"}),
            on=item_columns,
            how="full",
            coalesce=True,
            maintain_order="left_right",
        )
        verdict = pl.col("verdict")
        frame = frame.select(
            *item_columns,
            pl.coalesce(verdict, "answer").alias("answer"),
            pl.col("votes").fill_null(0),
            "share",
            by=pl.when(verdict.is_not_null()).then(pl.lit("verdict")).otherwise("by"),
        )
    if is_pairs:
        return Preferences.of(frame.rename({"answer": "winner"}))
    return Judgments.of(frame.rename({"answer": "label"}))


def _majority_votes(votes: Judgments | Preferences) -> pl.DataFrame:
    """What most said of each item, as text; `by` tells where as many said something else."""
    aggregation = aggregate(votes, method="majority", repeats="last")
    tied = np.isclose(aggregation.probabilities, aggregation.probabilities.max(axis=1, keepdims=True)).sum(axis=1) > 1
    by = pl.when(pl.Series(tied)).then(pl.lit("tie")).otherwise(pl.lit("majority"))
    items = aggregation.items.rename({"probability": "share"}).with_columns(by=by)
    label = pl.col("label")
    if isinstance(votes, Judgments):
        return items.select("query", "doc", "share", "votes", "by", answer=label.cast(pl.String))
    winner = pl.when(label == FIRST).then(pl.lit("left")).when(label == SECOND).then(pl.lit("right"))
    return items.select(
        "query", "share", "votes", "by", left="first", right="second", answer=winner.otherwise(pl.lit("tie"))
    )
