"""What an owner watches while judges work: who is at it, as whom, and why some questions cannot be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, distinct, func, select

from ringtrue.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Unsure", "judges_at_work", "unsure_reasons", "worker_ids"]

NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure:
    """Why judges could not tell, and how often."""

    reason: str
    count: int


def judges_at_work(connection: Connection, project: int, now: float) -> int:
    """How many judges have a task open whose lease has not ended."""
    task = schema.task
    wanted = select(func.count(distinct(task.c.account))).where(
        task.c.project == project, task.c.closed.is_(None), task.c.leased > now
    )
    return int(connection.execute(wanted).scalar_one())


def unsure_reasons(connection: Connection, project: int, *, limit: int = 20) -> list[Unsure]:
    """The reasons why judges could not tell, the most frequent first; traps, gold and what was undone do not count."""
    assignment, judgment, item = schema.assignment, schema.judgment, schema.item
    reason = judgment.c.reason
    rows = connection.execute(
        select(reason, func.count())
        .join(assignment, and_(assignment.c.id == judgment.c.assignment, assignment.c.version == judgment.c.version))
        .join(item, item.c.id == assignment.c.item)
        .where(item.c.project == project, item.c.queue == "main", assignment.c.state == "unsure")
        .group_by(reason)
        .order_by(func.count().desc(), reason)
        .limit(limit)
    )
    return [Unsure(reason=words or NO_REASON, count=count) for words, count in rows]


def worker_ids(connection: Connection, project: int) -> dict[int, str]:
    """The ids that a crowd platform gave to those who came by a link of this project, by account; they are personal."""
    visit, invitation = schema.visit, schema.invitation
    rows = connection.execute(
        select(visit.c.account, visit.c.worker)
        .join(invitation, invitation.c.id == visit.c.invitation)
        .where(invitation.c.project == project, visit.c.worker.is_not(None))
        .order_by(visit.c.id)
    )
    return {row.account: row.worker for row in rows}
