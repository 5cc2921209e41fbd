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

DRAW_COLUMNS = {"stratum": pl.String, "drawn": pl.Int64, "drawn_from": pl.String, "drawn_for": pl.String}
CHUNK = 2_000
UNDECIDED_STATES = ("unsure", "skipped")  # states of what a judge saw and did not decide
assignment, document, item, query = schema.assignment, schema.document, schema.item, schema.query


def record_gold_draw(
    connection: Connection, project: Project, frame: pl.DataFrame, *, wanted: int, rng: np.random.Generator
) -> int:
    """Put a draw into the gold queue: query, doc, prob, design and how it was drawn; answers how many are new.

    Where a draw continues an earlier one, its probabilities hold for both, and take the place of those before.
    """
    extra_columns = [name for name in DRAW_COLUMNS if name in frame.columns]
    rows = [
        {
            "query": row["query"],
            "doc": row["doc"],
            "design": row["design"],
            "prob": row["prob"],
            "extra": json.dumps({name: row[name] for name in extra_columns}),
        }
        for row in frame.iter_rows(named=True)
    ]
    new = add_items(connection, project, rows, queue="gold", wanted=wanted, rng=rng)
    ids = {
        (query, doc): item_id
        for item_id, query, doc in load_gold_items(connection, project).select("item", "query", "doc").rows()
    }
    set_draw = (
        update(item)
        .where(item.c.id == bindparam("item_id"))
        .values(design=bindparam("new_design"), prob=bindparam("new_prob"), extra=bindparam("new_extra"))
    )
    parameters = [
        {
            "item_id": ids[row["query"], row["doc"]],
            "new_design": row["design"],
            "new_prob": row["prob"],
            "new_extra": row["extra"],
        }
        for row in rows
    ]
    for low in range(0, len(parameters), CHUNK):
        connection.execute(set_draw, parameters[low : low + CHUNK])
    return new


def withdraw_gold_draw(connection: Connection, project: Project) -> int:
    """Take a draw back that nobody has said anything about yet; answers how many documents it had."""
    in_gold_queue = (item.c.project == project.id, item.c.queue == "gold")
    gold_ids = select(item.c.id).where(*in_gold_queue)
    has_answers = exists().where(schema.judgment.c.assignment == assignment.c.id, assignment.c.item.in_(gold_ids))
    has_verdicts = exists().where(schema.verdict.c.item.in_(gold_ids))
    if connection.execute(select(has_answers | has_verdicts)).scalar():
        raise ConflictError("gold judges have begun with what was drawn: it cannot be withdrawn, only continued")
    task = schema.task
    connection.execute(delete(task).where(task.c.project == project.id, task.c.queue == "gold"))
    deleted = connection.execute(delete(item).where(*in_gold_queue)).rowcount
    if not deleted:
        raise NotFoundError(f"no gold was drawn in '{project.title}': there is nothing to withdraw")
    is_bronze_upload = (schema.upload.c.project == project.id, schema.upload.c.kind == "bronze")
    connection.execute(delete(schema.upload).where(*is_bronze_upload))
    return deleted


def load_undecided_gold(connection: Connection, project: Project) -> list[tuple[int, str, str]]:
    """What gold judges saw, and none of them or an owner has decided: item, query and document."""
    was_passed_over = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(UNDECIDED_STATES))
    is_judged = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(("done", "open")))
    is_decided = exists().where(schema.verdict.c.item == item.c.id)
    rows = connection.execute(
        select(item.c.id, query.c.name, document.c.name)
        .join(query, query.c.id == item.c.query)
        .join(document, document.c.id == item.c.doc)
        .where(item.c.project == project.id, item.c.queue == "gold", was_passed_over, ~is_judged, ~is_decided)
        .order_by(item.c.id)
    )
    return [(item_id, query_name, doc_name) for item_id, query_name, doc_name in rows]


def load_gold_items(connection: Connection, project: Project) -> pl.DataFrame:
    """What is in the gold queue: item, query, doc, design, prob, how it was drawn, and whether it is undecided.

    Undecided is what a judge saw and could not tell or skipped. Columns that say nothing are left out.
    """
    undecided_count = func.count(case((assignment.c.state.in_(UNDECIDED_STATES), 1))).label("undecided")
    rows = connection.execute(
        select(
            item.c.id.label("item"),
            query.c.name.label("query"),
            document.c.name.label("doc"),
            item.c.design,
            item.c.prob,
            item.c.extra,
            undecided_count,
        )
        .join(query, query.c.id == item.c.query)
        .join(document, document.c.id == item.c.doc)
        .outerjoin(assignment, assignment.c.item == item.c.id)
        .where(item.c.project == project.id, item.c.queue == "gold")
        .group_by(item.c.id, query.c.name, document.c.name)
        .order_by(item.c.id)
    )
    no_draw = dict.fromkeys(DRAW_COLUMNS)
    records = [
        {"item": row.item, "query": row.query, "doc": row.doc, "design": row.design, "prob": row.prob}
        | no_draw
        | (json.loads(row.extra) if row.extra else {})
        | {"undecided": row.undecided > 0}
        for row in rows
    ]
    dtypes = {
        "item": pl.Int64,
        "query": pl.String,
        "doc": pl.String,
        "design": pl.String,
        "prob": pl.Float64,
        **DRAW_COLUMNS,
        "undecided": pl.Boolean,
    }
    frame = pl.DataFrame(records, schema=dtypes)
    return frame.drop(name for name in ("design", "prob", *DRAW_COLUMNS) if frame[name].null_count() == frame.height)
