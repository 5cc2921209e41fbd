"""The gold queue: documents that were drawn for trusted judges, with how probable each was to be drawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import bindparam, case, delete, exists, func, select, update

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.service.store import schema
from ringtrue.service.store.projects import add_items
from ringtrue.service.store.records import Project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

__all__ = ["EXTRA", "gold_items", "record_draw", "undecided", "withdraw_draw"]

EXTRA = {"stratum": pl.String, "drawn": pl.Int64, "drawn_from": pl.String, "drawn_for": pl.String}
CHUNK = 2_000
PASSED_OVER = ("unsure", "skipped")  # states of what a judge saw and did not decide
assignment, document, item, query = schema.assignment, schema.document, schema.item, schema.query


def record_draw(
    connection: Connection, project: Project, frame: pl.DataFrame, *, wanted: int, rng: np.random.Generator
) -> int:
    """Put a draw into the gold queue: query, doc, prob, design and how it was drawn; answers how many are new.

    Where a draw continues an earlier one, its probabilities hold for both, and take the place of those before.
    """
    kept = [name for name in EXTRA if name in frame.columns]
    rows = [
        {
            "query": row["query"], "doc": row["doc"], "design": row["design"], "prob": row["prob"],
            "extra": json.dumps({name: row[name] for name in kept}),
        }
        for row in frame.iter_rows(named=True)
    ]  # fmt: skip
    new = add_items(connection, project, rows, queue="gold", wanted=wanted, rng=rng)
    ids = {(query, doc): at for at, query, doc in gold_items(connection, project).select("item", "query", "doc").rows()}
    how = (
        update(item)
        .where(item.c.id == bindparam("at"))
        .values(design=bindparam("by"), prob=bindparam("with"), extra=bindparam("more"))
    )
    again = [
        {"at": ids[row["query"], row["doc"]], "by": row["design"], "with": row["prob"], "more": row["extra"]}
        for row in rows
    ]
    for low in range(0, len(again), CHUNK):
        connection.execute(how, again[low : low + CHUNK])
    return new


def withdraw_draw(connection: Connection, project: Project) -> int:
    """Take a draw back that nobody has said anything about yet; answers how many documents it had."""
    of_gold = (item.c.project == project.id, item.c.queue == "gold")
    numbers = select(item.c.id).where(*of_gold)
    said = exists().where(schema.judgment.c.assignment == assignment.c.id, assignment.c.item.in_(numbers))
    judged = exists().where(schema.verdict.c.item.in_(numbers))
    if connection.execute(select(said | judged)).scalar():
        raise ConflictError("gold judges have begun with what was drawn: it cannot be withdrawn, only continued")
    task = schema.task
    connection.execute(delete(task).where(task.c.project == project.id, task.c.queue == "gold"))
    gone = connection.execute(delete(item).where(*of_gold)).rowcount
    if not gone:
        raise NotFoundError(f"no gold was drawn in '{project.title}': there is nothing to withdraw")
    bronze = (schema.upload.c.project == project.id, schema.upload.c.kind == "bronze")
    connection.execute(delete(schema.upload).where(*bronze))
    return gone


def undecided(connection: Connection, project: Project) -> list[tuple[int, str, str]]:
    """What gold judges saw, and none of them or an owner has decided: item, query and document."""
    passed = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(PASSED_OVER))
    judged = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(("done", "open")))
    decided = exists().where(schema.verdict.c.item == item.c.id)
    rows = connection.execute(
        select(item.c.id, query.c.name, document.c.name)
        .join(query, query.c.id == item.c.query)
        .join(document, document.c.id == item.c.doc)
        .where(item.c.project == project.id, item.c.queue == "gold", passed, ~judged, ~decided)
        .order_by(item.c.id)
    )
    return [(at, asked, doc) for at, asked, doc in rows]


def gold_items(connection: Connection, project: Project) -> pl.DataFrame:
    """What is in the gold queue: item, query, doc, design, prob, how it was drawn, and whether it is undecided.

    Undecided is what a judge saw and could not tell or skipped. Columns that say nothing are left out.
    """
    unclear = func.count(case((assignment.c.state.in_(PASSED_OVER), 1))).label("undecided")
    rows = connection.execute(
        select(
            item.c.id.label("item"), query.c.name.label("query"), document.c.name.label("doc"), item.c.design,
            item.c.prob, item.c.extra, unclear,
        )
        .join(query, query.c.id == item.c.query)
        .join(document, document.c.id == item.c.doc)
        .outerjoin(assignment, assignment.c.item == item.c.id)
        .where(item.c.project == project.id, item.c.queue == "gold")
        .group_by(item.c.id, query.c.name, document.c.name)
        .order_by(item.c.id)
    )  # fmt: skip
    nothing = dict.fromkeys(EXTRA)
    plain = [
        {"item": row.item, "query": row.query, "doc": row.doc, "design": row.design, "prob": row.prob}
        | nothing | (json.loads(row.extra) if row.extra else {}) | {"undecided": row.undecided > 0}
        for row in rows
    ]  # fmt: skip
    kinds = {"item": pl.Int64, "query": pl.String, "doc": pl.String, "design": pl.String, "prob": pl.Float64,
             **EXTRA, "undecided": pl.Boolean}  # fmt: skip
    frame = pl.DataFrame(plain, schema=kinds)
    return frame.drop(name for name in ("design", "prob", *EXTRA) if frame[name].null_count() == frame.height)
