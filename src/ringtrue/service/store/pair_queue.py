"""Pairs that are chosen as votes arrive: how many are left to give out, and whose turn it is to choose more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Double, cast, delete, exists, func, select, update

from ringtrue.service.store import schema
from ringtrue.service.store.dialects import dialect_insert

if TYPE_CHECKING:
    from sqlalchemy import Connection

assignment, item, setting, task = schema.assignment, schema.item, schema.setting, schema.task


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCapacity:
    """How many answers can still be given out, to anybody and to one judge, and how many tasks are open."""

    total: int
    for_judge: int
    open_tasks: int


def load_queue_capacity(connection: Connection, project: int, account: int | None = None) -> QueueCapacity:
    """How many answers the main queue still has room for."""
    has_room = (item.c.project == project, item.c.queue == "main", item.c.given < item.c.wanted)
    total = connection.execute(
        select(func.coalesce(func.sum(item.c.wanted - item.c.given), 0)).where(*has_room)
    ).scalar_one()
    for_judge = total
    if account is not None:
        already_seen = exists().where(
            assignment.c.item == item.c.id, assignment.c.account == account, assignment.c.state != "expired"
        )
        for_judge = connection.execute(
            select(func.count()).select_from(item).where(*has_room, ~already_seen)
        ).scalar_one()
    open_tasks = connection.execute(
        select(func.count()).select_from(task).where(task.c.project == project, task.c.closed.is_(None))
    ).scalar_one()
    return QueueCapacity(total=int(total), for_judge=int(for_judge), open_tasks=int(open_tasks))


def find_seen_pairs(connection: Connection, project: int, account: int) -> set[tuple[str, str, str]]:
    """The pairs that a judge had before, as query, first and second name."""
    doc, other = schema.document.alias("doc"), schema.document.alias("other")
    rows = connection.execute(
        select(schema.query.c.name, doc.c.name, other.c.name)
        .select_from(item.join(schema.query, schema.query.c.id == item.c.query))
        .join(doc, doc.c.id == item.c.doc)
        .join(other, other.c.id == item.c.other)
        .join(assignment, assignment.c.item == item.c.id)
        .where(
            item.c.project == project,
            item.c.queue == "main",
            assignment.c.account == account,
            assignment.c.state != "expired",
        )
    )
    return {(query, first, second) for query, first, second in rows}


def acquire_lock(connection: Connection, project: int, *, now: float, until: float) -> bool:
    """Whether it is the caller's turn to choose pairs; it ends by itself, should the caller not come back."""
    name = _lock_name(project)
    connection.execute(dialect_insert(connection, setting).values(name=name, value="0").on_conflict_do_nothing())
    acquisition = connection.execute(
        update(setting).where(setting.c.name == name, cast(setting.c.value, Double) < now).values(value=repr(until))
    )
    return acquisition.rowcount == 1


def release_lock(connection: Connection, project: int, *, until: float) -> None:
    """Let others have a turn, unless this one ended before."""
    connection.execute(delete(setting).where(setting.c.name == _lock_name(project), setting.c.value == repr(until)))


def _lock_name(project: int) -> str:
    return f"choosing pairs of project {project}"
