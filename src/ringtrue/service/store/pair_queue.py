"""Pairs that are chosen as votes arrive: how many are left to give out, and whose turn it is to choose more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Double, cast, delete, exists, func, select, update

from ringtrue.service.store import schema
from ringtrue.service.store.dialects import insert_or

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Room", "end_turn", "pairs_seen", "room_left", "take_turn"]

assignment, item, setting, task = schema.assignment, schema.item, schema.setting, schema.task


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many answers can still be given out, to anybody and to one judge, and how many tasks are open."""

    all: int
    own: int
    tasks: int


def room_left(connection: Connection, project: int, account: int | None = None) -> Room:
    """How many answers the main queue still has room for."""
    free = (item.c.project == project, item.c.queue == "main", item.c.given < item.c.wanted)
    everybody = connection.execute(
        select(func.coalesce(func.sum(item.c.wanted - item.c.given), 0)).where(*free)
    ).scalar_one()
    own = everybody
    if account is not None:
        met = exists().where(
            assignment.c.item == item.c.id, assignment.c.account == account, assignment.c.state != "expired"
        )
        own = connection.execute(select(func.count()).select_from(item).where(*free, ~met)).scalar_one()
    tasks = connection.execute(
        select(func.count()).select_from(task).where(task.c.project == project, task.c.closed.is_(None))
    ).scalar_one()
    return Room(all=int(everybody), own=int(own), tasks=int(tasks))


def pairs_seen(connection: Connection, project: int, account: int) -> set[tuple[str, str, str]]:
    """The pairs that a judge had before, as query, first and second name."""
    doc, other = schema.document.alias("doc"), schema.document.alias("other")
    rows = connection.execute(
        select(schema.query.c.name, doc.c.name, other.c.name)
        .select_from(item.join(schema.query, schema.query.c.id == item.c.query))
        .join(doc, doc.c.id == item.c.doc)
        .join(other, other.c.id == item.c.other)
        .join(assignment, assignment.c.item == item.c.id)
        .where(item.c.project == project, item.c.queue == "main", assignment.c.account == account,
               assignment.c.state != "expired")
    )  # fmt: skip
    return {(query, first, second) for query, first, second in rows}


def take_turn(connection: Connection, project: int, *, now: float, until: float) -> bool:
    """Whether it is the caller's turn to choose pairs; it ends by itself, should the caller not come back."""
    name = _name(project)
    connection.execute(insert_or(connection, setting).values(name=name, value="0").on_conflict_do_nothing())
    taken = connection.execute(
        update(setting).where(setting.c.name == name, cast(setting.c.value, Double) < now).values(value=repr(until))
    )
    return taken.rowcount == 1


def end_turn(connection: Connection, project: int, *, until: float) -> None:
    """Let others have a turn, unless this one ended before."""
    connection.execute(delete(setting).where(setting.c.name == _name(project), setting.c.value == repr(until)))


def _name(project: int) -> str:
    return f"choosing pairs of project {project}"
