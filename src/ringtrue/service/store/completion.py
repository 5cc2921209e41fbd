"""Completion codes: what a crowd worker earns by a task, or what is missing for it, and who got which code.

`find_shortfalls` decides, by counts and settings alone. Each worker has one code for each crowd link: looked at again,
it is the same, and a second task by the same link brings no other. A task earns the code of one link.
"""

from __future__ import annotations

import json
import math
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sqlalchemy import bindparam, func, select, text, update

from ringtrue.service.store import schema
from ringtrue.service.store.answers import submit_task
from ringtrue.service.store.connections import insert_if_absent
from ringtrue.service.store.projects import parse_settings
from ringtrue.service.store.tasks import NO_TRAPS, TrapCount, get_task_state, passes_traps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Settings, TaskState

CompletionKind: TypeAlias = Literal["full", "partial"]
ShortfallKind: TypeAlias = Literal["answered", "unsure", "traps", "time"]
# What is easily taken for something else when it is copied by hand is left out: 0 and O, 1, I and L, U and V.
CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTWXYZ"
CODE_LENGTH = 8
invitation, visit, completion, tasks = schema.invitation, schema.visit, schema.completion, schema.task
visits_before = visit.alias("visits_before")
FIRST_VISIT = select(func.min(visits_before.c.time)).where(
    visits_before.c.invitation == invitation.c.id, visits_before.c.account == visit.c.account
)
LAST_CROWD_VISIT = (
    select(
        *(invitation.c[name] for name in ("id", "code", "partial_code", "own_codes", "id_required")),
        visit.c.parameters,
        FIRST_VISIT.scalar_subquery().label("since"),
    )
    .join(visit, visit.c.invitation == invitation.c.id)
    .where(
        visit.c.account == bindparam("account"),
        invitation.c.project == bindparam("project"),
        invitation.c.kind == "crowd",
    )
    .order_by(visit.c.id.desc())
    .limit(1)
)
TASK_WORK = text("""
SELECT COUNT(*) AS questions,
  COUNT(CASE WHEN j.kind = 'answer' THEN 1 END) AS answered,
  COUNT(CASE WHEN j.kind = 'unsure' THEN 1 END) AS unsure,
  COUNT(CASE WHEN j.kind = 'skip' THEN 1 END) AS skipped,
  (SELECT COALESCE(SUM(k.seconds), 0) FROM assignment b
     JOIN judgment last ON last.assignment = b.id AND last.version = b.version JOIN judgment k ON k.assignment = b.id
   WHERE b.task = :task AND (k.kind IN ('answer', 'unsure')
     OR (k.kind = 'skip' AND last.kind IN ('answer', 'unsure')))) AS seconds
FROM assignment a LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version WHERE a.task = :task""")
TASK = (
    select(*(tasks.c[name] for name in ("opened", "closed", "traps", "passed", "code")), schema.project.c.settings)
    .join(schema.project, schema.project.c.id == tasks.c.project)
    .where(tasks.c.id == bindparam("task"))
)
LAST_CLOSED_TASK = select(func.max(tasks.c.id)).where(
    tasks.c.project == bindparam("project"),
    tasks.c.account == bindparam("account"),
    tasks.c.closed >= bindparam("since"),
)
COMPLETIONS = (
    select(completion)
    .join(invitation, invitation.c.id == completion.c.invitation)
    .where(completion.c.account == bindparam("account"), invitation.c.project == bindparam("project"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWork:
    """What was done of a task: its questions by what counts of them, its traps once it is closed, and the recorded
    seconds of its answers, also of those that were changed later, and those before a skip of a question that was
    answered in the end: idle time is none of them."""

    questions: int
    answered: int
    unsure: int
    skipped: int
    traps: TrapCount = NO_TRAPS
    seconds: float = 0.0

    @property
    def has_answers(self) -> bool:
        """Whether anything was answered, and not only skipped."""
        return self.answered + self.unsure > 0


class Shortfall(NamedTuple):
    """Something that a completion code asks for, how much of it was found, and how much is needed.

    Of `unsure`, "can't tell", at most `needed` count as answered.
    """

    kind: ShortfallKind
    found: float
    needed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a crowd worker sees at the end of a task: `kind` is None where no code is earned.

    `code` is None where the link has none. `work` is what was done of the task, where it had to be looked at.
    `offers_partial` says that the link has a code for a part of the work, and that there is a part. With `to_grant` the
    code has to be written down before it is shown, by `settle_completion`. `more_tasks` says whether a worker goes on
    who has the completion code.
    """

    kind: CompletionKind | None = None
    code: str | None = None
    missing: tuple[Shortfall, ...] = ()
    work: TaskWork | None = None
    offers_partial: bool = False
    more_tasks: bool = False
    from_prolific: bool = False
    task: int | None = None
    to_grant: bool = False

    @property
    def may_go_on(self) -> bool:
        """Whether another task would be given to the worker."""
        return self.kind != "full" or self.more_tasks


class CodeOffer(NamedTuple):
    """What a crowd link offers before any work: a completion code, and one for part of the work."""

    full: bool
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedCode:
    """Which worker got which code, by which link and for which task; `replaced` is the partial one they had before."""

    account: int
    handle: str
    worker: str | None
    kind: CompletionKind
    code: str
    replaced: str | None
    invitation: int
    task: int
    time: float


def find_shortfalls(work: TaskWork, settings: Settings) -> tuple[Shortfall, ...]:
    """What is missing of a task for its completion code; nothing where the code is earned.

    Skipping never counts. "Can't tell" counts as answered up to a share of the questions, rounded up, so that one
    broken document costs nobody the code, however short the task.

    Examples:
        >>> from ringtrue.service.store import Settings
        >>> find_shortfalls(TaskWork(questions=20, answered=12, unsure=0, skipped=8), Settings())
        (Shortfall(kind='answered', found=12, needed=20),)
        >>> find_shortfalls(TaskWork(questions=20, answered=15, unsure=5, skipped=0), Settings())
        ()
    """
    needed = _round_up(settings.completion_answered * work.questions)
    most_unsure = _round_up(settings.completion_unsure * work.questions)
    shortfalls: list[Shortfall] = []
    if work.answered + work.unsure < needed:
        shortfalls.append(Shortfall("answered", work.answered + work.unsure, needed))
    if work.unsure > most_unsure and work.answered + most_unsure < needed:
        shortfalls.append(Shortfall("unsure", work.unsure, most_unsure))
    if settings.completion_traps and not passes_traps(work.traps, needed=settings.traps_needed, usual=settings.traps):
        shortfalls.append(Shortfall("traps", work.traps.passed, settings.traps_needed))
    least_seconds = settings.completion_seconds * work.questions
    if work.seconds < least_seconds:
        shortfalls.append(Shortfall("time", work.seconds, least_seconds))
    return tuple(shortfalls)


def _round_up(number: float) -> int:
    return math.ceil(number - 1e-9)  # 0.55 × 20 is a little more than 11


def load_task_work(connection: Connection, task: int) -> tuple[TaskWork, Settings]:
    """What was done of a task so far, and the settings that it is held to."""
    task_row = connection.execute(TASK, {"task": task}).one()
    counts = connection.execute(TASK_WORK, {"task": task}).one()
    work = TaskWork(
        questions=counts.questions,
        answered=counts.answered,
        unsure=counts.unsure,
        skipped=counts.skipped,
        traps=TrapCount(task_row.traps or 0, task_row.passed or 0),
        seconds=counts.seconds,
    )
    return work, parse_settings(task_row.settings)


def find_mendable_shortfalls(missing: Iterable[Shortfall]) -> tuple[Shortfall, ...]:
    """What a worker can still mend in an open task; nothing about traps, which whoever tries could learn by it."""
    return tuple(shortfall for shortfall in missing if shortfall.kind in ("answered", "unsure"))


def load_code_offer(connection: Connection, project: int, account: int) -> CodeOffer | None:
    """What somebody can earn who came by a crowd link; None for all others."""
    last_visit = connection.execute(LAST_CROWD_VISIT, {"project": project, "account": account}).first()
    return None if last_visit is None else CodeOffer(last_visit.code is not None, last_visit.partial_code is not None)


def assess_completion(connection: Connection, project: int, account: int, task: int | None = None) -> Completion | None:
    """What somebody who came by a crowd link gets for a task; None for all others. Nothing is written.

    Without a task it is the last one that was closed since they first came by the link: work that was done for an
    earlier link earns no code of this one.
    """
    worker = {"project": project, "account": account}
    last_visit = connection.execute(LAST_CROWD_VISIT, worker).first()
    if last_visit is None:
        return None
    parameters = json.loads(last_visit.parameters) if last_visit.parameters else {}
    nothing = Completion(from_prolific="PROLIFIC_PID" in parameters, more_tasks=not last_visit.id_required)
    codes = connection.execute(COMPLETIONS, worker).all()
    link_code = next((row for row in codes if row.invitation == last_visit.id), None)
    task = task or connection.execute(LAST_CLOSED_TASK, worker | {"since": last_visit.since}).scalar()
    if task is None:
        return nothing if link_code is None else replace(nothing, kind=link_code.kind, code=link_code.code)
    task_row = connection.execute(TASK, {"task": task}).one()
    task_code = next((row for row in codes if task_row.code and task_row.code in (row.code, row.replaced)), None)
    full_code = next((row for row in (task_code, link_code) if row is not None and row.kind == "full"), None)
    if full_code is not None:
        return replace(nothing, kind="full", code=full_code.code, task=task)
    work, settings = load_task_work(connection, task)
    missing = find_shortfalls(work, settings)
    assessed = replace(
        nothing,
        missing=missing,
        work=work,
        offers_partial=work.answered > 0 and last_visit.partial_code is not None,
        task=task,
    )
    partial_code = task_code or link_code
    is_for_this_link = partial_code is link_code and (task_row.closed or 0) >= last_visit.since
    if is_for_this_link and not missing:
        return replace(assessed, kind="full", code=last_visit.code, to_grant=last_visit.code is not None)
    if partial_code is not None:
        return replace(assessed, kind="partial", code=partial_code.code)
    if is_for_this_link and assessed.offers_partial:
        return replace(assessed, kind="partial", code=last_visit.partial_code, to_grant=True)
    return assessed


def settle_completion(
    connection: Connection, project: int, account: int, task: int | None = None, *, now: float
) -> Completion | None:
    """The same, and the code is written down where one is earned; run again, it is the same code."""
    assessed = assess_completion(connection, project, account, task)
    if assessed is None or not assessed.to_grant:
        return assessed
    last_visit = connection.execute(LAST_CROWD_VISIT, {"project": project, "account": account}).one()
    ending = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    code = f"{assessed.code}-{ending}" if last_visit.own_codes else assessed.code
    grant = {"kind": assessed.kind, "code": code, "task": assessed.task, "time": now}
    is_theirs = completion.c.invitation == last_visit.id, completion.c.account == account
    if assessed.kind == "full":
        is_partial = *is_theirs, completion.c.kind == "partial"
        connection.execute(update(completion).where(*is_partial).values(**grant, replaced=completion.c.code))
    connection.execute(
        insert_if_absent(connection, completion, "invitation", "account").values(
            invitation=last_visit.id, account=account, **grant
        )
    )
    row = connection.execute(select(completion).where(*is_theirs)).one()
    connection.execute(update(tasks).where(tasks.c.id == assessed.task).values(code=row.code))
    return replace(assessed, kind=row.kind, code=row.code, to_grant=False)


def hand_in_task(connection: Connection, account: int, task: int, *, now: float, early: bool = False) -> TaskState:
    """Close a task whose questions are all answered, and settle what a crowd worker earns by it.

    `early` closes it as it is, and leaves the open questions to other judges.
    """
    state = submit_task(connection, account, task, now=now, early=early)
    settled = settle_completion(connection, state.project, account, task, now=now)
    return state if settled is None else get_task_state(connection, task, account)


def load_granted_codes(connection: Connection, project: int) -> list[GrantedCode]:
    """Who got which code in a project, the newest first; the worker's id is personal."""
    account = schema.account
    platform_id = (
        select(func.max(visit.c.worker))
        .where(visit.c.account == completion.c.account, visit.c.invitation == completion.c.invitation)
        .scalar_subquery()
    )
    names = ("account", "kind", "code", "replaced", "invitation", "task", "time")
    rows = connection.execute(
        select(*(completion.c[name] for name in names), account.c.handle, platform_id.label("worker"))
        .join(account, account.c.id == completion.c.account)
        .join(invitation, invitation.c.id == completion.c.invitation)
        .where(invitation.c.project == project)
        .order_by(completion.c.time.desc(), completion.c.id.desc())
    )
    return [GrantedCode(**row._mapping) for row in rows]
