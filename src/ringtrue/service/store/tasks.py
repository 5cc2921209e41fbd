"""Tasks: several questions kept for one judge until the lease ends; handed out, found again, and closed."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from sqlalchemy import case, func, select, text

from ringtrue.errors import LateError, NotFoundError
from ringtrue.service.store import schema
from ringtrue.service.store.dialects import Prepared
from ringtrue.service.store.projects import FLIPPED, settings_of
from ringtrue.service.store.records import Project, Shown, ShownDocument, TaskState
from ringtrue.service.store.task_builder import compose

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

__all__ = [
    "ONE_LESS",
    "TrapCount",
    "all_shown",
    "close_task",
    "give_back",
    "has_begun",
    "lease_until",
    "next_shown",
    "open_task",
    "passes",
    "release_all_expired",
    "release_expired",
    "shown_at",
    "task_state",
    "task_with",
    "tasks_by_outcome",
]

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


class _Outcome(NamedTuple):
    outcome: str | None


# One judge less has an item; `wanted` falls to what is asked, or to as many as still have it.
ONE_LESS = "UPDATE item SET given = given - 1, wanted = CASE WHEN given - 1 > asked THEN given - 1 ELSE asked END"
GIVE_BACK = text(f"""
{ONE_LESS}
WHERE wanted IS NOT NULL AND id IN (
  SELECT item FROM assignment WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done)))""")
END = text("""
UPDATE assignment SET state = :state WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done))""")
LOCKED = Prepared("SELECT outcome FROM task WHERE id = :task", _Outcome, postgresql="FOR UPDATE")
OPEN = text("SELECT COUNT(*) FROM assignment WHERE task = :task AND state = 'open'")
CLOSE = text("""
UPDATE task SET closed = COALESCE(closed, :now), outcome = :outcome, traps = :traps, passed = :passed,
  code = COALESCE(code, :code) WHERE id = :task""")
TRAPS = text("""
SELECT i.expected, a.flipped, a.state, j.answer FROM assignment a JOIN item i ON i.id = a.item
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND j.kind = 'answer'
WHERE a.task = :task AND i.queue = 'trap'""")
SETTINGS = text("SELECT p.settings FROM project p JOIN task t ON t.project = p.id WHERE t.id = :task")


class TrapCount(NamedTuple):
    """How many traps a judge met in a task, and passed; one that was skipped or not decided is not passed."""

    seen: int
    passed: int


def passes(count: TrapCount, *, needed: int, usual: int) -> bool:
    """Whether a task has as great a share of its traps right as is needed.

    Examples:
        >>> passes(TrapCount(5, 4), needed=4, usual=5), passes(TrapCount(2, 1), needed=4, usual=5)
        (True, False)
    """
    return count.passed >= math.ceil(needed * count.seen / max(usual, 1))


def close_task(
    connection: Connection, task: int, outcome: Literal["handed_in", "expired", "set_aside"], *, now: float,
    code: str | None = None,
) -> None:  # fmt: skip
    """Close a task for good: its open items go to others, and so do all of them where it is set aside.

    A task that fails its traps is set aside, whether it was finished or not, where the project says so. One whose
    lease ends when all is answered was forgotten to be handed in, and is.
    """
    if not _is_to_be_closed(connection, task, outcome):
        return
    if outcome == "expired" and not connection.execute(OPEN, {"task": task}).scalar_one():
        outcome = "handed_in"
    count = _traps(connection, task)
    settings = settings_of(connection.execute(SETTINGS, {"task": task}).scalar_one())
    failed = not passes(count, needed=settings.traps_needed, usual=settings.traps)
    if failed and settings.failed_traps == "set_aside":
        outcome = "set_aside"
    give_back(connection, task, all_of_it=outcome == "set_aside")
    connection.execute(
        CLOSE,
        {
            "task": task, "now": now, "outcome": outcome, "code": code, "traps": count.seen, "passed": count.passed,
        },
    )  # fmt: skip


def give_back(connection: Connection, task: int, *, all_of_it: bool) -> None:
    """Let others have the items of a task that are open, or all of them."""
    connection.execute(GIVE_BACK, {"task": task, "done": all_of_it})
    connection.execute(END, {"task": task, "done": all_of_it, "state": "set_aside" if all_of_it else "expired"})


def _is_to_be_closed(connection: Connection, task: int, outcome: str) -> bool:
    """Whether a task is not closed that way already; until the end of the transaction nobody else closes it."""
    found = LOCKED.first(connection, task=task)
    if found is None or found.outcome == "set_aside":
        return False
    return found.outcome is None or outcome == "set_aside"


def _traps(connection: Connection, task: int) -> TrapCount:
    rows = [row for row in connection.execute(TRAPS, {"task": task}) if row.state != "open"]
    right = [
        row.state == "done" and row.answer == (FLIPPED.get(row.expected, row.expected) if row.flipped else row.expected)
        for row in rows
    ]
    return TrapCount(len(rows), sum(right))


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
