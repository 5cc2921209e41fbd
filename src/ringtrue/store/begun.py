"""The tasks that judges had: whether there were any, how they ended, and which one a question belongs to."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import case, func, select

from ringtrue.errors import NotFoundError
from ringtrue.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["has_begun", "task_with", "tasks_by_outcome"]

assignment, task = schema.assignment, schema.task


def has_begun(connection: Connection, project: int, account: int) -> bool:
    """Whether a judge has had a task in a project, in either queue."""
    had = select(task.c.id).where(task.c.project == project, task.c.account == account).limit(1)
    return connection.execute(had).first() is not None


def task_with(connection: Connection, assignment_id: int, account: int) -> int:
    """The task of a question that this judge was asked."""
    found = connection.execute(
        select(assignment.c.task).where(assignment.c.id == assignment_id, assignment.c.account == account)
    ).scalar()
    if found is None:
        raise NotFoundError("there is no such question for you")
    return int(found)


def tasks_by_outcome(connection: Connection, project: int, now: float) -> dict[int, dict[str, int]]:
    """How many tasks each account handed in, let expire or had set aside; those that are `open` too.

    A task whose time has ended is closed when the next one is opened by anybody; it is counted as expired before.
    """
    outcome = func.coalesce(task.c.outcome, case((task.c.leased < now, "expired"), else_="open"))
    found: defaultdict[int, dict[str, int]] = defaultdict(dict)
    each = select(task.c.account, outcome.label("outcome")).where(task.c.project == project).subquery()
    counts = select(each.c.account, each.c.outcome, func.count()).group_by(each.c.account, each.c.outcome)
    for account, ended, count in connection.execute(counts):
        found[account][ended] = count
    return dict(found)
