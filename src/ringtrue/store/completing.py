"""How a crowd worker gets back to the platform that sent them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import select

from ringtrue.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["is_from_prolific"]


def is_from_prolific(connection: Connection, project: int, account: int) -> bool:
    """Whether somebody came to this project by a link that Prolific filled in, the last time they came."""
    of, visit = schema.invitation, schema.visit
    parameters = connection.execute(
        select(visit.c.parameters)
        .select_from(visit.join(of, of.c.id == visit.c.invitation))
        .where(visit.c.account == account, of.c.project == project, of.c.kind == "crowd")
        .order_by(visit.c.id.desc())
        .limit(1)
    ).scalar()
    return parameters is not None and "PROLIFIC_PID" in json.loads(parameters)
