"""Who judges what: tasks of several questions, kept for one judge until the lease ends.

An item is in the hands of `given` judges, open or done, and never of more than it wants: whoever takes one adds to the
count in the same transaction, and the database refuses a count that is too high. SQLite lets one writer in at a time;
PostgreSQL locks the rows that are taken, and others pass over them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ringtrue.errors import LateError, NotFoundError
from ringtrue.store.closing import close_task
from ringtrue.store.composing import compose
from ringtrue.store.dialects import Prepared
from ringtrue.store.values import Project, Shown, ShownDocument, TaskState

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

__all__ = [
    "all_shown",
    "lease_until",
    "next_shown",
    "open_task",
    "release_all_expired",
    "release_expired",
    "shown_at",
    "task_state",
]


class _Task(NamedTuple):
    id: int
    project: int
    queue: str
    opened: float
    leased: float
    deadline: float | None
    closed: float | None
    outcome: str | None
    code: str | None
    account: int
    size: int
    open: int


class _Row(NamedTuple):
    assignment: int
    version: int
    place: int
    flipped: bool
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    name: str
    title: str | None
    url: str | None
    snippet: str | None
    text: str | None
    other_name: str | None
    other_title: str | None
    other_url: str | None
    other_snippet: str | None
    other_text: str | None
    answer: str | None


class _Number(NamedTuple):
    id: int


TASK = """
SELECT t.id, t.project, t.queue, t.opened, t.leased, t.deadline, t.closed, t.outcome, t.code, t.account,
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id),
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id AND a.state = 'open')
FROM task t WHERE """
TASK_BY_ID = Prepared(TASK + "t.id = :task", _Task)
OPEN_TASK = Prepared(
    TASK + "t.project = :project AND t.account = :account AND t.queue = :queue AND t.closed IS NULL", _Task
)
ALL_ENDED = Prepared(
    "SELECT id FROM task WHERE closed IS NULL AND leased < :now", _Number, postgresql="FOR UPDATE SKIP LOCKED"
)
ENDED = Prepared(
    "SELECT id FROM task WHERE project = :project AND closed IS NULL AND leased < :now", _Number,
    postgresql="FOR UPDATE SKIP LOCKED",
)  # fmt: skip
# Two tabs of one judge open one task.
ALONE = Prepared("SELECT id FROM account WHERE id = :account", _Number, postgresql="FOR NO KEY UPDATE")
TAKE = Prepared[NamedTuple]("UPDATE item SET given = given + 1 WHERE id = :item")
NEW_TASK = Prepared(
    """
INSERT INTO task (project, account, queue, opened, leased, deadline)
VALUES (:project, :account, :queue, :now, :leased, :deadline) RETURNING id""",
    _Number,
)
NEW_ASSIGNMENT = Prepared[NamedTuple]("""
INSERT INTO assignment (task, item, account, place, flipped, state, version)
VALUES (:task, :item, :account, :place, :flipped, 'open', 0)""")

SHOWN = """
SELECT a.id, a.version, a.place, a.flipped, q.name, q.text, q.description, q.narrative,
       d.name, d.title, d.url, d.snippet, d.text, o.name, o.title, o.url, o.snippet, o.text, j.answer
FROM assignment a JOIN item i ON i.id = a.item JOIN query q ON q.id = i.query
JOIN document d ON d.id = i.doc LEFT JOIN document o ON o.id = i.other
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND a.state = 'done'
WHERE """
STILL_OPEN = SHOWN + "a.task = :task AND a.account = :account AND a.state = 'open' ORDER BY a.place"
ALL = Prepared(STILL_OPEN, _Row)
NEXT = Prepared(f"{STILL_OPEN} LIMIT 1", _Row)
SHOWN_AT = Prepared(SHOWN + "a.id = :assignment AND a.account = :account", _Row)


def open_task(
    connection: Connection, project: Project, account: int, *, queue: str = "main", now: float,
    rng: np.random.Generator,
) -> TaskState | None:  # fmt: skip
    """The task that this judge is in, or a new one; None when nothing is left for this judge.

    A new task takes the first items that have room, so that what was begun is finished first, and mixes in traps of
    the same queries where there are any. Order and sides are drawn by lot for each judge, and kept.
    """
    ALONE.first(connection, account=account)
    release_expired(connection, project.id, now)
    found = OPEN_TASK.first(connection, project=project.id, account=account, queue=queue)
    if found is not None:
        return _state(found)
    if project.closed is not None:
        raise LateError(f"'{project.title}' is closed: there is nothing more to judge")
    composed = compose(connection, project, account, queue=queue, rng=rng)
    if not composed.items:
        return None
    deadline = None if project.settings.minutes is None else now + 60 * project.settings.minutes
    made = NEW_TASK.first(
        connection, project=project.id, account=account, queue=queue, now=now, deadline=deadline,
        leased=lease_until(now, project.settings.lease_minutes, deadline),
    )  # fmt: skip
    assert made is not None
    TAKE.run_all(connection, [{"item": item} for item in composed.items])
    NEW_ASSIGNMENT.run_all(
        connection,
        [
            {"task": made.id, "item": item, "account": account, "place": place, "flipped": bool(flipped)}
            for place, (item, flipped) in enumerate(zip(composed.order, composed.flipped, strict=True), start=1)
        ],
    )
    return task_state(connection, made.id, account)


def task_state(connection: Connection, task: int, account: int) -> TaskState:
    """How far a judge is in a task."""
    row = TASK_BY_ID.first(connection, task=task)
    if row is None or row.account != account:
        raise NotFoundError("there is no such task for you")
    return _state(row)


def next_shown(connection: Connection, task: int, account: int) -> Shown | None:
    """The next open question of a task; None when all are answered."""
    row = NEXT.first(connection, task=task, account=account)
    return None if row is None else _shown(row)


def all_shown(connection: Connection, task: int, account: int) -> list[Shown]:
    """All open questions of a task, in their order."""
    return [_shown(row) for row in ALL.all(connection, task=task, account=account)]


def shown_at(connection: Connection, assignment: int, account: int) -> Shown:
    """One question, with the answer that counts now, where there is one."""
    row = SHOWN_AT.first(connection, assignment=assignment, account=account)
    if row is None:
        raise NotFoundError("there is no such question for you")
    return _shown(row)


def release_expired(connection: Connection, project: int, now: float) -> int:
    """Close the tasks whose lease has ended, and give back what was not answered; how many tasks they were."""
    return _released(connection, ENDED.all(connection, project=project, now=now), now)


def release_all_expired(connection: Connection, now: float) -> int:
    """The same in every project: for one that nobody opens a task in any more."""
    return _released(connection, ALL_ENDED.all(connection, now=now), now)


def lease_until(now: float, lease_minutes: int, deadline: float | None) -> float:
    """Until when the items of a task are kept for a judge who does nothing more."""
    until = now + 60 * lease_minutes
    return until if deadline is None else min(until, deadline)


def _released(connection: Connection, ended: list[_Number], now: float) -> int:
    for task in ended:
        close_task(connection, task.id, "expired", now=now)
    return len(ended)


def _state(row: _Task) -> TaskState:
    return TaskState(
        id=row.id, project=row.project, queue=row.queue, size=row.size, open=row.open, opened=row.opened,
        leased=row.leased, deadline=row.deadline, closed=row.closed, outcome=row.outcome, code=row.code,
    )  # fmt: skip


def _shown(row: _Row) -> Shown:
    first = ShownDocument(name=row.name, title=row.title, url=row.url, snippet=row.snippet, text=row.text)
    second = None if row.other_name is None else ShownDocument(
        name=row.other_name, title=row.other_title, url=row.other_url, snippet=row.other_snippet, text=row.other_text
    )  # fmt: skip
    left, right = (second, first) if row.flipped and second is not None else (first, second)
    return Shown(
        assignment=row.assignment, version=row.version, place=row.place, query=row.query, query_text=row.query_text,
        description=row.description, narrative=row.narrative, left=left, right=right, answer=row.answer,
    )  # fmt: skip
