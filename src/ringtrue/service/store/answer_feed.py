"""Answers a page at a time, for programs that follow them as they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, case, select

from ringtrue.service.store import schema
from ringtrue.service.store.label_queries import is_current_answer

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project

account, assignment, item, judgment, task = (
    schema.account,
    schema.assignment,
    schema.item,
    schema.judgment,
    schema.task,
)
doc, other = schema.document.alias("doc"), schema.document.alias("other")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAnswer:
    """One answer as it was given: `left` is the document, or the one that stood left, and `right` is there for pairs.

    `counts` tells whether it is the one that counts now; `batch` is the task. A late answer has a version below 0.
    """

    id: int
    query: str
    left: str
    right: str | None
    judge: str
    kind: str
    answer: str | None
    reason: str | None
    counts: bool
    version: int
    time: float
    seconds: float | None
    away: float | None
    queue: str
    batch: int
    place: int


def load_answers_after(
    connection: Connection,
    project: Project,
    *,
    queue: str = "main",
    after: int = 0,
    limit: int = 1000,
    counting: bool = True,
) -> list[ListedAnswer]:
    """The answers of a queue with a number above `after`, by number; those that count, or every one.

    With several writers, an answer may become visible after one with a higher number.
    """
    counts = is_current_answer()
    flipped = and_(assignment.c.flipped, item.c.other.is_not(None))
    statement = (
        select(
            judgment.c.id,
            schema.query.c.name.label("query"),
            case((flipped, other.c.name), else_=doc.c.name).label("left"),
            case((flipped, doc.c.name), else_=other.c.name).label("right"),
            account.c.handle.label("judge"),
            judgment.c.kind,
            judgment.c.answer,
            judgment.c.reason,
            counts.label("counts"),
            judgment.c.version,
            judgment.c.time,
            judgment.c.seconds,
            judgment.c.away,
            item.c.queue,
            task.c.id.label("batch"),
            assignment.c.place,
        )
        .select_from(
            judgment.join(assignment, assignment.c.id == judgment.c.assignment)
            .join(task, task.c.id == assignment.c.task)
            .join(account, account.c.id == assignment.c.account)
            .join(item, item.c.id == assignment.c.item)
            .join(schema.query, schema.query.c.id == item.c.query)
            .join(doc, doc.c.id == item.c.doc)
            .outerjoin(other, other.c.id == item.c.other)
        )
        .where(task.c.project == project.id, item.c.queue == queue, judgment.c.id > after)
        .order_by(judgment.c.id)
        .limit(limit)
    )
    rows = connection.execute(statement.where(counts) if counting else statement)
    return [ListedAnswer(**{**row._mapping, "counts": bool(row.counts)}) for row in rows]


def is_task_in_project(connection: Connection, task_number: int, project: int) -> bool:
    """Whether a task belongs to a project."""
    task_project = connection.execute(select(task.c.project).where(task.c.id == task_number)).scalar()
    return task_project == project
