"""Who judges what: tasks of several questions, kept for one judge until the lease ends.

An item is in the hands of `given` judges, open or done, and never of more than it wants: whoever takes one adds to the
count in the same transaction, and the database refuses a count that is too high. SQLite lets one writer in at a time;
PostgreSQL locks the rows that are taken, and others pass over them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ringtrue.errors import LateError, NotFoundError
from ringtrue.store.closing import close_task
from ringtrue.store.dialects import for_both
from ringtrue.store.values import Project, Shown, ShownDocument, TaskState

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection, Row

__all__ = ["lease_until", "next_shown", "open_task", "release_expired", "shown_at", "task_state"]

TASK = """
SELECT t.id, t.project, t.queue, t.opened, t.leased, t.deadline, t.closed, t.outcome, t.code, t.account,
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id) AS size,
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id AND a.state = 'open') AS open
FROM task t WHERE """
TASK_BY_ID = text(TASK + "t.id = :task")
OPEN_TASK = text(TASK + "t.project = :project AND t.account = :account AND t.queue = :queue AND t.closed IS NULL")

WITH_ROOM = for_both(
    """
SELECT i.id, i.query FROM item i
WHERE i.project = :project AND i.queue = :queue AND i.given < i.wanted
  AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.item = i.id AND a.account = :account AND a.state <> 'expired')
ORDER BY i.position LIMIT :number""",
    postgresql="FOR UPDATE OF i SKIP LOCKED",
)
ENDED = for_both(
    "SELECT id FROM task WHERE project = :project AND closed IS NULL AND leased < :now",
    postgresql="FOR UPDATE SKIP LOCKED",
)
ALONE = for_both(  # two tabs of one judge open one task
    "SELECT id FROM account WHERE id = :account", postgresql="FOR NO KEY UPDATE"
)
TRAPS = text("""
SELECT i.id, i.query FROM item i
WHERE i.project = :project AND i.queue = 'trap'
  AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.item = i.id AND a.account = :account)
ORDER BY i.position""")
TAKE = text("UPDATE item SET given = given + 1 WHERE id = :item")
NEW_TASK = text("""
INSERT INTO task (project, account, queue, opened, leased, deadline)
VALUES (:project, :account, :queue, :now, :leased, :deadline) RETURNING id""")
NEW_ASSIGNMENT = text("""
INSERT INTO assignment (task, item, account, place, flipped, state, version)
VALUES (:task, :item, :account, :place, :flipped, 'open', 0)""")

SHOWN = """
SELECT a.id, a.version, a.place, a.flipped, a.state, q.name AS query, q.text AS query_text, q.description, q.narrative,
       d.name AS d_name, d.title AS d_title, d.url AS d_url, d.snippet AS d_snippet, d.text AS d_text,
       o.name AS o_name, o.title AS o_title, o.url AS o_url, o.snippet AS o_snippet, o.text AS o_text,
       j.answer
FROM assignment a JOIN item i ON i.id = a.item JOIN query q ON q.id = i.query
JOIN document d ON d.id = i.doc LEFT JOIN document o ON o.id = i.other
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND a.state = 'done'
WHERE """
NEXT = text(SHOWN + "a.task = :task AND a.account = :account AND a.state = 'open' ORDER BY a.place LIMIT 1")
SHOWN_AT = text(SHOWN + "a.id = :assignment AND a.account = :account")


def open_task(
    connection: Connection, project: Project, account: int, *, queue: str = "main", now: float,
    rng: np.random.Generator,
) -> TaskState | None:  # fmt: skip
    """The task that this judge is in, or a new one; None when nothing is left for this judge.

    A new task takes the first items that have room, so that what was begun is finished first, and mixes in traps of
    the same queries where there are any. Order and sides are drawn by lot for each judge, and kept.
    """
    connection.execute(ALONE[connection.dialect.name], {"account": account})
    release_expired(connection, project.id, now)
    found = connection.execute(OPEN_TASK, {"project": project.id, "account": account, "queue": queue}).first()
    if found is not None:
        return _state(found)
    if project.closed is not None:
        raise LateError(f"'{project.title}' is closed: there is nothing more to judge")
    items, traps = _questions(connection, project, account, queue, rng)
    if not items:
        return None
    deadline = None if project.settings.minutes is None else now + 60 * project.settings.minutes
    task = connection.execute(
        NEW_TASK,
        {
            "project": project.id, "account": account, "queue": queue, "now": now, "deadline": deadline,
            "leased": lease_until(now, project.settings.lease_minutes, deadline),
        },
    ).scalar_one()  # fmt: skip
    connection.execute(TAKE, [{"item": item} for item, _ in items])
    order = _order([*items, *traps], rng, together=project.settings.together)
    connection.execute(
        NEW_ASSIGNMENT,
        [
            {"task": task, "item": item, "account": account, "place": place, "flipped": bool(flipped)}
            for place, (item, flipped) in enumerate(zip(order, rng.random(len(order)) < 0.5, strict=True), start=1)
        ],
    )
    return task_state(connection, task, account)


def task_state(connection: Connection, task: int, account: int) -> TaskState:
    """How far a judge is in a task."""
    row = connection.execute(TASK_BY_ID, {"task": task}).first()
    if row is None or row.account != account:
        raise NotFoundError("there is no such task for you")
    return _state(row)


def next_shown(connection: Connection, task: int, account: int) -> Shown | None:
    """The next open question of a task; None when all are answered."""
    row = connection.execute(NEXT, {"task": task, "account": account}).first()
    return None if row is None else _shown(row)


def shown_at(connection: Connection, assignment: int, account: int) -> Shown:
    """One question, with the answer that counts now, where there is one."""
    row = connection.execute(SHOWN_AT, {"assignment": assignment, "account": account}).first()
    if row is None:
        raise NotFoundError("there is no such question for you")
    return _shown(row)


def release_expired(connection: Connection, project: int, now: float) -> int:
    """Close the tasks whose lease has ended, and give back what was not answered; how many tasks they were."""
    ended = connection.execute(ENDED[connection.dialect.name], {"project": project, "now": now}).all()
    for (task,) in ended:
        close_task(connection, task, "expired", now=now)
    return len(ended)


def lease_until(now: float, lease_minutes: int, deadline: float | None) -> float:
    """Until when the items of a task are kept for a judge who does nothing more."""
    until = now + 60 * lease_minutes
    return until if deadline is None else min(until, deadline)


def _questions(
    connection: Connection, project: Project, account: int, queue: str, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Items with room, and traps to mix in, each with its query."""
    settings = project.settings
    asked = {"project": project.id, "queue": queue, "account": account}
    known = _pairs(connection.execute(TRAPS, asked).all()) if queue == "main" and settings.traps else []
    room = settings.task_size - min(settings.traps, len(known))
    items = _pairs(connection.execute(WITH_ROOM[connection.dialect.name], asked | {"number": room}).all())
    wanted = min(len(known), math.ceil(settings.traps * len(items) / max(settings.task_size - settings.traps, 1)))
    queries = {query for _, query in items}
    by_lot = [known[at] for at in rng.permutation(len(known))]
    return items, sorted(by_lot, key=lambda trap: trap[1] not in queries)[:wanted]


def _order(questions: list[tuple[int, int]], rng: np.random.Generator, *, together: bool) -> list[int]:
    drawn = [questions[at] for at in rng.permutation(len(questions))]
    if together:
        turn = {query: at for at, query in enumerate(dict.fromkeys(query for _, query in drawn))}
        drawn.sort(key=lambda one: turn[one[1]])
    return [item for item, _ in drawn]


def _pairs(rows: Any) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in rows]


def _state(row: Row[Any]) -> TaskState:
    return TaskState(
        id=row.id, project=row.project, queue=row.queue, size=row.size, open=row.open, opened=row.opened,
        leased=row.leased, deadline=row.deadline, closed=row.closed, outcome=row.outcome, code=row.code,
    )  # fmt: skip


def _shown(row: Row[Any]) -> Shown:
    first = ShownDocument(name=row.d_name, title=row.d_title, url=row.d_url, snippet=row.d_snippet, text=row.d_text)
    second = None if row.o_name is None else ShownDocument(
        name=row.o_name, title=row.o_title, url=row.o_url, snippet=row.o_snippet, text=row.o_text
    )  # fmt: skip
    left, right = (second, first) if row.flipped and second is not None else (first, second)
    return Shown(
        assignment=row.id, version=row.version, place=row.place, query=row.query, query_text=row.query_text,
        description=row.description, narrative=row.narrative, left=left, right=right, answer=row.answer,
    )  # fmt: skip
