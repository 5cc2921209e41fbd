"""Who did what and when; nothing personal is written down here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from ringtrue.service.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the record; `handle` is the account that acted, None where nobody was logged in."""

    time: float
    action: str
    handle: str | None
    project: str | None
    detail: dict[str, object]


def record_action(
    connection: Connection,
    action: str,
    *,
    now: float,
    account: int | None = None,
    project: int | None = None,
    detail: Mapping[str, object] | None = None,
) -> None:
    """Write down that something was done. `detail` holds numbers and choices, never names of people or secrets."""
    detail_json = None if detail is None else json.dumps(dict(detail), ensure_ascii=False)
    connection.execute(
        insert(schema.audit).values(time=now, action=action, account=account, project=project, detail=detail_json)
    )


def load_audit_entries(connection: Connection, project: int | None = None, limit: int = 200) -> list[AuditEntry]:
    """The latest entries of a project or of all, the newest first."""
    audit, account, project_table = schema.audit, schema.account, schema.project
    statement = (
        select(audit.c.time, audit.c.action, account.c.handle, project_table.c.name, audit.c.detail)
        .select_from(
            audit.outerjoin(account, account.c.id == audit.c.account).outerjoin(
                project_table, project_table.c.id == audit.c.project
            )
        )
        .order_by(audit.c.id.desc())
        .limit(limit)
    )
    if project is not None:
        statement = statement.where(audit.c.project == project)
    return [
        AuditEntry(time=time, action=action, handle=handle, project=name, detail=json.loads(detail) if detail else {})
        for time, action, handle, name, detail in connection.execute(statement)
    ]
