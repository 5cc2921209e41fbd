"""Tasks: several questions kept for one judge until the lease ends; handed out, found again, and closed."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import case, func, select, text

from ringtrue.errors import LateError, NotFoundError
from ringtrue.service.store import schema
from ringtrue.service.store.dialects import with_row_locks
from ringtrue.service.store.projects import parse_settings
from ringtrue.service.store.records import Project, ShownDocument, ShownQuestion, TaskState, swap_sides
from ringtrue.service.store.task_builder import plan_task

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection, Row, TextClause

assignment, task = schema.assignment, schema.task


# One judge less has an item; `wanted` falls to what is asked, or to as many as still have it.
LOWER_GIVEN = "UPDATE item SET given = given - 1, wanted = CASE WHEN given - 1 > asked THEN given - 1 ELSE asked END"
RELEASE_ITEMS = text(f"""
{LOWER_GIVEN}
WHERE wanted IS NOT NULL AND id IN (
  SELECT item FROM assignment WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done)))""")
END_ASSIGNMENTS = text("""
UPDATE assignment SET state = :state WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done))""")
LOCK_TASK = with_row_locks("SELECT outcome FROM task WHERE id = :task", "FOR UPDATE")
COUNT_OPEN = text("SELECT COUNT(*) FROM assignment WHERE task = :task AND state = 'open'")
CLOSE_TASK = text("""
UPDATE task SET closed = COALESCE(closed, :now), outcome = :outcome, traps = :traps, passed = :passed,
  code = COALESCE(code, :code) WHERE id = :task""")
TASK_TRAPS = text("""
SELECT i.expected, a.flipped, a.state, j.answer FROM assignment a JOIN item i ON i.id = a.item
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND j.kind = 'answer'
WHERE a.task = :task AND i.queue = 'trap'""")
TASK_SETTINGS = text("SELECT p.settings FROM project p JOIN task t ON t.project = p.id WHERE t.id = :task")


class TrapCount(NamedTuple):
    """How many traps a judge met in a task, and passed; one that was skipped or not decided is not passed."""

    seen: int
    passed: int


SELECT_TASK = """
SELECT t.id, t.project, t.queue, t.opened, t.leased, t.deadline, t.closed, t.outcome, t.code,
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id) AS size,
       (SELECT COUNT(*) FROM assignment a WHERE a.task = t.id AND a.state = 'open') AS open
FROM task t WHERE t.account = :account AND """
TASK_BY_ID = text(SELECT_TASK + "t.id = :task")
OPEN_TASK = text(SELECT_TASK + "t.project = :project AND t.queue = :queue AND t.closed IS NULL")
SELECT_EXPIRED = "SELECT id FROM task WHERE closed IS NULL AND leased < :now"
ALL_EXPIRED = with_row_locks(SELECT_EXPIRED, "FOR UPDATE SKIP LOCKED")
EXPIRED = with_row_locks(SELECT_EXPIRED + " AND project = :project", "FOR UPDATE SKIP LOCKED")
# Two tabs of one judge open one task.
LOCK_ACCOUNT = with_row_locks("SELECT id FROM account WHERE id = :account", "FOR NO KEY UPDATE")
TAKE_ITEM = text("UPDATE item SET given = given + 1 WHERE id = :item")
NEW_TASK = text("""
INSERT INTO task (project, account, queue, opened, leased, deadline)
VALUES (:project, :account, :queue, :now, :leased, :deadline) RETURNING id""")
RENEW_LEASE = text("UPDATE task SET leased = :leased WHERE id = :task")
NEW_ASSIGNMENT = text("""
INSERT INTO assignment (task, item, account, place, flipped, state, version)
VALUES (:task, :item, :account, :place, :flipped, 'open', 0)""")
DOC_COLUMNS = tuple(field.name for field in fields(ShownDocument))
SELECT_QUESTIONS = f"""
SELECT a.id AS assignment, a.version, a.place, q.name AS query, q.text AS query_text, q.description, q.narrative,
       j.answer, a.flipped, {", ".join(f"d.{name} AS doc_{name}, o.{name} AS other_{name}" for name in DOC_COLUMNS)}
FROM assignment a JOIN item i ON i.id = a.item JOIN query q ON q.id = i.query
JOIN document d ON d.id = i.doc LEFT JOIN document o ON o.id = i.other
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND a.state = 'done'
WHERE a.account = :account AND """
OPEN_QUESTIONS_SQL = SELECT_QUESTIONS + "a.task = :task AND a.state = 'open' ORDER BY a.place"
OPEN_QUESTIONS, NEXT_QUESTION = text(OPEN_QUESTIONS_SQL), text(f"{OPEN_QUESTIONS_SQL} LIMIT 1")
QUESTION_BY_ID = text(SELECT_QUESTIONS + "a.id = :assignment")


def has_had_task(connection: Connection, project: int, account: int) -> bool:
    """Whether a judge has had a task in a project, in either queue."""
    earlier_tasks = select(task.c.id).where(task.c.project == project, task.c.account == account).limit(1)
    return connection.execute(earlier_tasks).first() is not None


def find_task_of_question(connection: Connection, assignment_id: int, account: int) -> int:
    """The task of a question that this judge was asked."""
    task_id = connection.execute(
        select(assignment.c.task).where(assignment.c.id == assignment_id, assignment.c.account == account)
    ).scalar()
    if task_id is None:
        raise NotFoundError("there is no such question for you")
    return int(task_id)


def is_task_in_project(connection: Connection, task_id: int, project: int) -> bool:
    """Whether a task belongs to a project."""
    return connection.execute(select(task.c.project).where(task.c.id == task_id)).scalar() == project


def count_tasks_by_outcome(connection: Connection, project: int, now: float) -> dict[int, dict[str, int]]:
    """How many tasks each account handed in, let expire or had set aside; those that are `open` too.

    A task whose time has ended is closed when the next one is opened by anybody; it is counted as expired before.
    """
    outcome = func.coalesce(task.c.outcome, case((task.c.leased < now, "expired"), else_="open"))
    counts_by_account: defaultdict[int, dict[str, int]] = defaultdict(dict)
    outcomes = select(task.c.account, outcome.label("outcome")).where(task.c.project == project).subquery()
    counts = select(outcomes.c.account, outcomes.c.outcome, func.count()).group_by(
        outcomes.c.account, outcomes.c.outcome
    )
    for account, outcome_name, count in connection.execute(counts):
        counts_by_account[account][outcome_name] = count
    return dict(counts_by_account)


def passes_traps(trap_count: TrapCount, *, needed: int, usual: int) -> bool:
    """Whether a task has as great a share of its traps right as is needed.

    Examples:
        >>> passes_traps(TrapCount(5, 4), needed=4, usual=5), passes_traps(TrapCount(2, 1), needed=4, usual=5)
        (True, False)
    """
    return trap_count.passed >= math.ceil(needed * trap_count.seen / max(usual, 1))


def close_task(
    connection: Connection,
    task: int,
    outcome: Literal["handed_in", "expired", "set_aside"],
    *,
    now: float,
    code: str | None = None,
) -> None:
    """Close a task for good: its open items go to others, and so do all of them where it is set aside.

    A task that fails its traps is set aside, whether it was finished or not, where the project says so. One whose
    lease ends when all is answered was forgotten to be handed in, and is.
    """
    if not _lock_if_closable(connection, task, outcome):
        return
    if outcome == "expired" and not connection.execute(COUNT_OPEN, {"task": task}).scalar_one():
        outcome = "handed_in"
    trap_count = _count_traps(connection, task)
    settings = parse_settings(connection.execute(TASK_SETTINGS, {"task": task}).scalar_one())
    failed = not passes_traps(trap_count, needed=settings.traps_needed, usual=settings.traps)
    if failed and settings.failed_traps == "set_aside":
        outcome = "set_aside"
    release_items(connection, task, answered_too=outcome == "set_aside")
    connection.execute(
        CLOSE_TASK,
        {
            "task": task,
            "now": now,
            "outcome": outcome,
            "code": code,
            "traps": trap_count.seen,
            "passed": trap_count.passed,
        },
    )


def release_items(connection: Connection, task: int, *, answered_too: bool) -> None:
    """Let others have the items of a task that are open, or all of them."""
    connection.execute(RELEASE_ITEMS, {"task": task, "done": answered_too})
    connection.execute(
        END_ASSIGNMENTS, {"task": task, "done": answered_too, "state": "set_aside" if answered_too else "expired"}
    )


def get_or_create_task(
    connection: Connection,
    project: Project,
    account: int,
    *,
    queue: str = "main",
    now: float,
    rng: np.random.Generator,
) -> TaskState | None:
    """The task that this judge is in, or a new one; None when nothing is left for this judge.

    A new task takes the first items that have room, so that what was begun is finished first, and mixes in traps of
    the same queries where there are any. Order and sides are drawn by lot for each judge, and kept.
    """
    connection.execute(LOCK_ACCOUNT[connection.dialect.name], {"account": account})
    release_expired(connection, project.id, now)
    judge_and_queue = {"project": project.id, "account": account, "queue": queue}
    open_row = connection.execute(OPEN_TASK, judge_and_queue).first()
    if open_row is not None:
        return TaskState(**open_row._mapping)
    if project.closed is not None:
        raise LateError(f"'{project.title}' is closed: there is nothing more to judge")
    plan = plan_task(connection, project, account, queue=queue, rng=rng)
    if not plan.items:
        return None
    deadline = None if project.settings.minutes is None else now + 60 * project.settings.minutes
    leased = _lease_end(now, project.settings.lease_minutes, deadline)
    times = {"now": now, "deadline": deadline, "leased": leased}
    task_id = connection.execute(NEW_TASK, judge_and_queue | times).scalar_one()
    connection.execute(TAKE_ITEM, [{"item": item} for item in plan.items])
    connection.execute(
        NEW_ASSIGNMENT,
        [
            {"task": task_id, "item": item, "account": account, "place": place, "flipped": bool(flipped)}
            for place, (item, flipped) in enumerate(zip(plan.order, plan.flipped, strict=True), start=1)
        ],
    )
    return get_task_state(connection, task_id, account)


def get_task_state(connection: Connection, task: int, account: int) -> TaskState:
    """How far a judge is in a task."""
    row = connection.execute(TASK_BY_ID, {"task": task, "account": account}).first()
    if row is None:
        raise NotFoundError("there is no such task for you")
    return TaskState(**row._mapping)


def load_next_question(connection: Connection, task: int, account: int) -> ShownQuestion | None:
    """The next open question of a task; None when all are answered."""
    row = connection.execute(NEXT_QUESTION, {"task": task, "account": account}).first()
    return None if row is None else _question_from_row(row)


def load_open_questions(connection: Connection, task: int, account: int) -> list[ShownQuestion]:
    """All open questions of a task, in their order."""
    rows = connection.execute(OPEN_QUESTIONS, {"task": task, "account": account})
    return [_question_from_row(row) for row in rows]


def load_question(connection: Connection, assignment: int, account: int) -> ShownQuestion:
    """One question, with the answer that counts now, where there is one."""
    row = connection.execute(QUESTION_BY_ID, {"assignment": assignment, "account": account}).first()
    if row is None:
        raise NotFoundError("there is no such question for you")
    return _question_from_row(row)


def release_expired(connection: Connection, project: int, now: float) -> int:
    """Close the tasks whose lease has ended, and give back what was not answered; how many tasks they were."""
    return _close_expired(connection, EXPIRED, {"project": project, "now": now})


def release_all_expired(connection: Connection, now: float) -> int:
    """The same in every project: for one that nobody opens a task in any more."""
    return _close_expired(connection, ALL_EXPIRED, {"now": now})


def _lease_end(now: float, lease_minutes: int, deadline: float | None) -> float:
    """Until when the items of a task are kept for a judge who does nothing more."""
    lease_end = now + 60 * lease_minutes
    return lease_end if deadline is None else min(lease_end, deadline)


def renew_lease(
    connection: Connection, task: int, *, leased: float, minutes: int, deadline: float | None, now: float
) -> None:
    """Keep the items of an active judge; not with every answer, as each is a row to be written."""
    lease_end = _lease_end(now, minutes, deadline)
    if lease_end > leased + 6 * minutes:
        connection.execute(RENEW_LEASE, {"task": task, "leased": lease_end})


def _lock_if_closable(connection: Connection, task: int, outcome: str) -> bool:
    """Whether a task is not closed that way already; until the end of the transaction nobody else closes it."""
    task_row = connection.execute(LOCK_TASK[connection.dialect.name], {"task": task}).first()
    if task_row is None or task_row.outcome == "set_aside":
        return False
    return task_row.outcome is None or outcome == "set_aside"


def _count_traps(connection: Connection, task: int) -> TrapCount:
    rows = [row for row in connection.execute(TASK_TRAPS, {"task": task}) if row.state != "open"]
    are_right = [row.state == "done" and row.answer == swap_sides(row.expected, row.flipped) for row in rows]
    return TrapCount(len(rows), sum(are_right))


def _close_expired(connection: Connection, expired: dict[str, TextClause], parameters: dict[str, Any]) -> int:
    task_ids = connection.execute(expired[connection.dialect.name], parameters).scalars().all()
    for task_id in task_ids:
        close_task(connection, task_id, "expired", now=parameters["now"])
    return len(task_ids)


def _question_from_row(row: Row[Any]) -> ShownQuestion:
    columns = dict(row._mapping)
    first, second = ({name: columns.pop(f"{role}_{name}") for name in DOC_COLUMNS} for role in ("doc", "other"))
    left, right = ShownDocument(**first), None if second["name"] is None else ShownDocument(**second)
    if columns.pop("flipped") and right is not None:
        left, right = right, left
    return ShownQuestion(left=left, right=right, **columns)
