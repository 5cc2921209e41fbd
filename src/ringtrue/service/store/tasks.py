"""Tasks: several questions kept for one judge until the lease ends; handed out, found again, and closed."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import and_, bindparam, case, func, select, text, update

from ringtrue.errors import LateError, NotFoundError
from ringtrue.service.store import schema
from ringtrue.service.store.projects import parse_settings
from ringtrue.service.store.records import FLIPPED, Project, ShownDocument, ShownQuestion, TaskState
from ringtrue.service.store.task_builder import has_items_left, plan_task

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import ColumnElement, Connection, Row, Select

assignments, items, judgments = schema.assignment, schema.item, schema.judgment
projects, queries, tasks = schema.project, schema.query, schema.task
doc, other = schema.doc, schema.other
KEPT_STATES = ("open", "unsure", "skipped")  # of questions whose items are kept only until the task is closed
# One judge less has an item; `wanted` falls to what is asked, or to as many as still have it.
LOWER_GIVEN = "UPDATE item SET given = given - 1, wanted = CASE WHEN given - 1 > asked THEN given - 1 ELSE asked END"
RELEASE_ITEMS = text(f"""
{LOWER_GIVEN}
WHERE wanted IS NOT NULL AND id IN (SELECT item FROM assignment WHERE task = :task AND state IN :states)
""").bindparams(bindparam("states", expanding=True))
END_ASSIGNMENTS = text("""
UPDATE assignment SET state = :new_state WHERE task = :task AND state = :state""")
LOCK_TASK = (
    select(tasks.c.outcome, projects.c.settings)
    .join(projects, projects.c.id == tasks.c.project)
    .where(tasks.c.id == bindparam("task"))
    .with_for_update(of=tasks)
)
COUNT_OPEN = text("SELECT COUNT(*) FROM assignment WHERE task = :task AND state = 'open'")
CLOSE_TASK = text("""
UPDATE task SET closed = COALESCE(closed, :now), outcome = :outcome, traps = :traps, passed = :passed
WHERE id = :task""")
QUESTION_COUNT = select(func.count()).where(assignments.c.task == tasks.c.id)
# Judges do not see that a task was set aside, which would reveal its traps: it was handed in, or it expired.
UNANSWERED = (
    select(assignments.c.id)
    .outerjoin(
        judgments, and_(judgments.c.assignment == assignments.c.id, judgments.c.version == assignments.c.version)
    )
    .where(assignments.c.task == tasks.c.id, func.coalesce(judgments.c.kind, "undo") == "undo")
)
TOLD_OUTCOME = case(
    (tasks.c.outcome != "set_aside", tasks.c.outcome),
    (tasks.c.outcome.is_(None), None),
    (and_(tasks.c.closed > tasks.c.leased, UNANSWERED.exists()), "expired"),
    else_="handed_in",
)
TASKS = select(
    *(tasks.c[name] for name in ("id", "project", "queue", "opened", "leased", "deadline", "closed", "code")),
    TOLD_OUTCOME.label("outcome"),
    QUESTION_COUNT.scalar_subquery().label("size"),
    QUESTION_COUNT.where(assignments.c.state == "open").scalar_subquery().label("open"),
).where(tasks.c.account == bindparam("account"))
TASK_BY_ID = TASKS.where(tasks.c.id == bindparam("task"))
OPEN_TASK = TASKS.where(
    tasks.c.project == bindparam("project"), tasks.c.queue == bindparam("queue"), tasks.c.closed.is_(None)
)
ALL_EXPIRED = (
    select(tasks.c.id)
    .where(tasks.c.closed.is_(None), tasks.c.leased < bindparam("now"))
    .with_for_update(skip_locked=True)
)
EXPIRED = ALL_EXPIRED.where(tasks.c.project == bindparam("project"))
EXPIRED_EXISTS = (
    select(tasks.c.id)
    .where(tasks.c.closed.is_(None), tasks.c.leased < bindparam("now"), tasks.c.project == bindparam("project"))
    .limit(1)
)
# Two tabs of one judge open one task.
LOCK_ACCOUNT = (
    select(schema.account.c.id).where(schema.account.c.id == bindparam("account")).with_for_update(key_share=True)
)
TAKE_ITEMS = update(items).where(items.c.id.in_(bindparam("items", expanding=True))).values(given=items.c.given + 1)
NEW_TASK = text("""
INSERT INTO task (project, account, queue, opened, leased, deadline)
VALUES (:project, :account, :queue, :now, :leased, :deadline) RETURNING id""")
RENEW_LEASE = text("UPDATE task SET leased = :leased WHERE id = :task")
NEW_ASSIGNMENT = text("""
INSERT INTO assignment (task, item, account, place, flipped, state, version)
VALUES (:task, :item, :account, :place, :flipped, 'open', 0)""")
DOC_COLUMNS = tuple(field.name for field in fields(ShownDocument))
QUESTIONS = (
    select(
        assignments.c.id.label("assignment"),
        *(assignments.c[name] for name in ("version", "place", "flipped")),
        queries.c.name.label("query"),
        queries.c.text.label("query_text"),
        *(queries.c[name] for name in ("description", "narrative")),
        *(doc.c[name].label(f"doc_{name}") for name in DOC_COLUMNS),
        *(other.c[name].label(f"other_{name}") for name in DOC_COLUMNS),
        judgments.c.answer,
    )
    .select_from(schema.named_items.join(assignments, assignments.c.item == items.c.id))
    .outerjoin(
        judgments,
        and_(judgments.c.assignment == assignments.c.id, judgments.c.version == assignments.c.version),
    )
    .where(assignments.c.account == bindparam("account"))
)
OPEN_QUESTIONS = QUESTIONS.where(assignments.c.task == bindparam("task"), assignments.c.state == "open").order_by(
    assignments.c.place
)
NEXT_QUESTION = OPEN_QUESTIONS.limit(1)
QUESTION_BY_ID = QUESTIONS.where(assignments.c.id == bindparam("assignment"))


class TrapCount(NamedTuple):
    """How many traps a judge met, and passed: in a task, or in all of them."""

    seen: int
    passed: int


NO_TRAPS = TrapCount(0, 0)


def is_last_word() -> ColumnElement[bool]:
    """Whether a judgment is the last word on its question: an answer, can't tell or skip. A trap is met by one.

    What became of the task makes no difference: open, handed in, expired or set aside. A question that was never
    answered, or whose answer was undone, has none.
    """
    return and_(judgments.c.version == assignments.c.version, judgments.c.kind.in_(("answer", "unsure", "skip")))


def count_traps(
    connection: Connection, by: ColumnElement[int], *conditions: ColumnElement[bool]
) -> dict[int, TrapCount]:
    """The traps that were met and passed, by task or by account: the one count that every page and rule goes by.

    A trap is passed by its known answer; one that was skipped or not decided is met, and not passed.
    """
    flipped_answers = [(items.c.expected == answer, other_side) for answer, other_side in FLIPPED.items()]
    expected = case((assignments.c.flipped, case(*flipped_answers, else_=items.c.expected)), else_=items.c.expected)
    is_passed = and_(judgments.c.kind == "answer", judgments.c.answer == expected)
    rows = connection.execute(
        select(by, func.count(), func.count(case((is_passed, 1))))
        .select_from(assignments)
        .join(items, items.c.id == assignments.c.item)
        .join(tasks, tasks.c.id == assignments.c.task)
        .join(judgments, judgments.c.assignment == assignments.c.id)
        .where(items.c.queue == "trap", is_last_word(), *conditions)
        .group_by(by)
    )
    return {key: TrapCount(seen, passed) for key, seen, passed in rows}


def find_open_task(connection: Connection, project: int, account: int, queue: str) -> TaskState | None:
    """The task that a judge is in; None without one. Nothing is written."""
    row = connection.execute(OPEN_TASK, {"project": project, "account": account, "queue": queue}).first()
    return None if row is None else TaskState(**row._mapping)


def has_questions_left(connection: Connection, project: int, account: int, *, queue: str, now: float) -> bool:
    """Whether a judge who begins a task may get one: an item has room, or a task has run out that holds some."""
    if connection.execute(EXPIRED_EXISTS, {"project": project, "now": now}).first() is not None:
        return True
    return has_items_left(connection, project, account, queue=queue)


def find_task_of_question(connection: Connection, assignment_id: int, account: int) -> int:
    """The task of a question that this judge was asked."""
    task_id = connection.execute(
        select(assignments.c.task).where(assignments.c.id == assignment_id, assignments.c.account == account)
    ).scalar()
    if task_id is None:
        raise NotFoundError("no-such-question", "there is no such question for you")
    return int(task_id)


def is_task_in_project(connection: Connection, task_id: int, project: int) -> bool:
    """Whether a task belongs to a project."""
    return connection.execute(select(tasks.c.project).where(tasks.c.id == task_id)).scalar() == project


def count_tasks_by_outcome(connection: Connection, project: int, now: float) -> dict[int, dict[str, int]]:
    """How many tasks each account handed in, let expire or had set aside; those that are `open` too.

    A task whose time has ended is closed when the next one is opened by anybody; it is counted as expired before.
    """
    outcome = func.coalesce(tasks.c.outcome, case((tasks.c.leased < now, "expired"), else_="open"))
    counts_by_account: defaultdict[int, dict[str, int]] = defaultdict(dict)
    outcomes = select(tasks.c.account, outcome.label("outcome")).where(tasks.c.project == project).subquery()
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
) -> None:
    """Close a task for good: items without an answer go to others, and so do all of them where it is set aside.

    Until then they are kept, those that were skipped or not decided too: their judge may come back to them, and if
    others could take them meanwhile, what cannot be opened again would be no trap.

    A task that fails its traps is set aside, whether it was finished or not, where the project says so. One whose
    lease ends when all is answered was forgotten to be handed in, and is.
    """
    # Until the end of the transaction nobody else closes it.
    task_row = connection.execute(LOCK_TASK, {"task": task}).first()
    if task_row is None or task_row.outcome == "set_aside" or (task_row.outcome and outcome != "set_aside"):
        return
    open_questions = connection.execute(COUNT_OPEN, {"task": task}).scalar_one()
    if outcome == "expired" and not open_questions:
        outcome = "handed_in"
    trap_count = count_traps(connection, tasks.c.id, tasks.c.id == task).get(task, NO_TRAPS)
    settings = parse_settings(task_row.settings)
    failed = not passes_traps(trap_count, needed=settings.traps_needed, usual=settings.traps)
    if failed and settings.failed_traps == "set_aside":
        outcome = "set_aside"
    if task_row.outcome is None:
        _release_items(connection, task, *KEPT_STATES)
        _end_assignments(connection, task, "open", new_state="set_aside" if outcome == "set_aside" else "expired")
    if outcome == "set_aside":
        _release_items(connection, task, "done")
        _end_assignments(connection, task, "done", new_state="set_aside")
    connection.execute(
        CLOSE_TASK,
        {
            "task": task,
            "now": now,
            "outcome": outcome,
            "traps": trap_count.seen,
            "passed": trap_count.passed,
        },
    )


def _release_items(connection: Connection, task: int, *states: str) -> None:
    """Let others have the items of a task whose questions are in these states."""
    connection.execute(RELEASE_ITEMS, {"task": task, "states": states})


def _end_assignments(connection: Connection, task: int, state: str, *, new_state: str) -> None:
    connection.execute(END_ASSIGNMENTS, {"task": task, "state": state, "new_state": new_state})


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
    connection.execute(LOCK_ACCOUNT, {"account": account})
    release_expired(connection, project.id, now)
    judge_and_queue = {"project": project.id, "account": account, "queue": queue}
    open_task = find_open_task(connection, project.id, account, queue)
    if open_task is not None:
        return open_task
    if project.closed is not None:
        raise LateError("project-closed", f"'{project.title}' is closed: there is nothing more to judge")
    plan = plan_task(connection, project, account, queue=queue, rng=rng)
    if not plan.items:
        return None
    deadline = None if project.settings.minutes is None else now + 60 * project.settings.minutes
    leased = _lease_end(now, project.settings.lease_minutes, deadline)
    times = {"now": now, "deadline": deadline, "leased": leased}
    task_id = connection.execute(NEW_TASK, judge_and_queue | times).scalar_one()
    connection.execute(TAKE_ITEMS, {"items": plan.items})
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
        raise NotFoundError("no-such-task", "there is no such task for you")
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
        raise NotFoundError("no-such-question", "there is no such question for you")
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


def _close_expired(connection: Connection, expired: Select[int], parameters: dict[str, Any]) -> int:
    task_ids = connection.execute(expired, parameters).scalars().all()
    for task_id in task_ids:
        close_task(connection, task_id, "expired", now=parameters["now"])
    return len(task_ids)


def _question_from_row(row: Row[*tuple[Any, ...]]) -> ShownQuestion:
    columns = dict(row._mapping)
    first, second = ({name: columns.pop(f"{role}_{name}") for name in DOC_COLUMNS} for role in ("doc", "other"))
    left, right = ShownDocument(**first), None if second["name"] is None else ShownDocument(**second)
    if columns.pop("flipped") and right is not None:
        left, right = right, left
    return ShownQuestion(left=left, right=right, **columns)
