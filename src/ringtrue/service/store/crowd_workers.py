"""How a crowd worker gets back to the platform that sent them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from ringtrue.service.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

WORK_KINDS = ("answer", "unsure", "late")  # work was done for each of these, whether or not it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdWorker:
    """Somebody who came by a crowd link: its completion code, who filled it in, and whether there were answers."""

    code: str | None
    from_prolific: bool
    has_answered: bool


def find_crowd_worker(connection: Connection, project: int, account: int) -> CrowdWorker | None:
    """What is known of somebody who came to this project by a crowd link, the last time; None for all others."""
    invitation, visit = schema.invitation, schema.visit
    last_visit = connection.execute(
        select(invitation.c.code, visit.c.parameters)
        .select_from(visit.join(invitation, invitation.c.id == visit.c.invitation))
        .where(visit.c.account == account, invitation.c.project == project, invitation.c.kind == "crowd")
        .order_by(visit.c.id.desc())
        .limit(1)
    ).first()
    if last_visit is None:
        return None
    task, assignment, judgment = schema.task, schema.assignment, schema.judgment
    first_answer = connection.execute(
        select(judgment.c.id)
        .select_from(judgment.join(assignment, assignment.c.id == judgment.c.assignment))
        .join(task, task.c.id == assignment.c.task)
        .where(task.c.project == project, task.c.account == account, judgment.c.kind.in_(WORK_KINDS))
        .limit(1)
    ).first()
    parameters = json.loads(last_visit.parameters) if last_visit.parameters else {}
    return CrowdWorker(
        code=last_visit.code, from_prolific="PROLIFIC_PID" in parameters, has_answered=first_answer is not None
    )
