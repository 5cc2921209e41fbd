"""How a crowd worker gets back to the platform that sent them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from ringtrue.service.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Worker", "worker_of"]

SAID = ("answer", "unsure", "late")  # work was done for each of these, whether or not it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Somebody who came by a crowd link: its completion code, who filled it in, and whether there were answers."""

    code: str | None
    from_prolific: bool
    has_answered: bool


def worker_of(connection: Connection, project: int, account: int) -> Worker | None:
    """What is known of somebody who came to this project by a crowd link, the last time; None for all others."""
    of, visit = schema.invitation, schema.visit
    came = connection.execute(
        select(of.c.code, visit.c.parameters)
        .select_from(visit.join(of, of.c.id == visit.c.invitation))
        .where(visit.c.account == account, of.c.project == project, of.c.kind == "crowd")
        .order_by(visit.c.id.desc())
        .limit(1)
    ).first()
    if came is None:
        return None
    task, assignment, judgment = schema.task, schema.assignment, schema.judgment
    said = connection.execute(
        select(judgment.c.id)
        .select_from(judgment.join(assignment, assignment.c.id == judgment.c.assignment))
        .join(task, task.c.id == assignment.c.task)
        .where(task.c.project == project, task.c.account == account, judgment.c.kind.in_(SAID))
        .limit(1)
    ).first()
    parameters = json.loads(came.parameters) if came.parameters else {}
    return Worker(code=came.code, from_prolific="PROLIFIC_PID" in parameters, has_answered=said is not None)
