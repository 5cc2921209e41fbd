"""What judges say: every answer is a new version, and none is ever changed or deleted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, select, text, update

from ringtrue.errors import ConflictError, LateError, NotFoundError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.service.store import schema
from ringtrue.service.store.projects import parse_scale, parse_settings
from ringtrue.service.store.records import (
    Answer,
    Project,
    SavedAnswer,
    SavedAnswers,
    ShownQuestion,
    SubmittedAnswer,
    TaskState,
)
from ringtrue.service.store.tasks import close_task, get_task_state, load_question, renew_lease

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

STATE_BY_KIND = {"answer": "done", "unsure": "unsure", "skip": "skipped"}
REASON_LENGTH = 2_000
MAX_SECONDS = 86_400.0  # of an answer that took longer, nobody looked at its question all the time
assignments, items, judgments = schema.assignment, schema.item, schema.judgment
projects, tasks = schema.project, schema.task
QUESTIONS = (
    select(
        *(assignments.c[name] for name in ("id", "task", "item", "state", "version", "account")),
        *(tasks.c[name] for name in ("opened", "leased", "deadline", "closed")),
        *(projects.c[name] for name in ("scale", "settings")),
    )
    .join(tasks, tasks.c.id == assignments.c.task)
    .join(projects, projects.c.id == tasks.c.project)
    .order_by(assignments.c.id)
    .with_for_update(of=[assignments, tasks])
)
LOCK_QUESTION = QUESTIONS.where(assignments.c.id == bindparam("assignment"))
LOCK_TASK_QUESTIONS = QUESTIONS.where(assignments.c.task == bindparam("task"))
STORED_ANSWER = text("SELECT kind, answer FROM judgment WHERE assignment = :assignment AND version = :version")
ADD_JUDGMENT = text("""
INSERT INTO judgment (assignment, version, kind, answer, reason, time, seconds, away)
VALUES (:assignment, :version, :kind, :answer, :reason, :time, :seconds, :away)""")
LOWEST_VERSION = text("SELECT COALESCE(MIN(version), 0) FROM judgment WHERE assignment = :assignment AND version < 0")
SAME_LATE_ANSWER = text("""
SELECT id FROM judgment WHERE assignment = :assignment AND kind = 'late'
  AND COALESCE(answer, '') = COALESCE(CAST(:answer AS TEXT), '')""")
SET_STATE = text("UPDATE assignment SET state = :state, version = :version WHERE id = :assignment")
LAST_ANSWERED = text("""
SELECT a.id FROM assignment a JOIN judgment j ON j.assignment = a.id AND j.version = a.version
WHERE a.task = :task AND a.state IN ('done', 'unsure', 'skipped') ORDER BY j.id DESC LIMIT 1""")
LAST_RECORDED = text("""
SELECT MAX(j.time) FROM assignment a JOIN judgment j ON j.assignment = a.id WHERE a.task = :task""")
NO_ANSWER = dict.fromkeys(("answer", "reason", "seconds", "away"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinstatedAnswers:
    """How many answers count again, and how many do not: others have taken their places."""

    again: int
    not_again: int


class _AnswerOutcome(NamedTuple):
    """What became of an answer: `row` is still to be written where it counts."""

    row: dict[str, Any] | None = None
    late: bool = False
    repeated: bool = False


def record_answer(
    connection: Connection, account: int, assignment: int, version: int, answer: Answer, *, now: float
) -> SavedAnswer:
    """Keep what a judge says about a question that was shown at this version.

    The same answer sent twice is kept once. Another answer to a version that is taken, from a second tab or by the
    back button, is a `ConflictError`: nothing is overwritten unseen. An answer that comes after the task was closed or
    its time is over is kept, and does not count.
    """
    question = _require_own_question(connection, account, assignment)
    (timed_answer,) = _limit_times(connection, question, [answer], now)
    outcome = _prepare_answer(connection, question, version, timed_answer, now)
    if outcome.row is not None:
        _write_answers(connection, [outcome.row], question, now)
    return SavedAnswer(
        task=get_task_state(connection, question.task, account), late=outcome.late, repeated=outcome.repeated
    )


def record_answers(
    connection: Connection, account: int, task: int, answers: Sequence[SubmittedAnswer], *, now: float
) -> SavedAnswers:
    """Keep several answers of one task, each as `record_answer` would; where one is refused, none is kept.

    All together took no longer than passed since the last answer before: longer times are shortened alike.
    """
    questions = {question.id: question for question in connection.execute(LOCK_TASK_QUESTIONS, {"task": task})}
    versions = {assignment: question.version for assignment, question in questions.items()}
    new = {assignment: answer for assignment, version, answer in answers if versions.get(assignment) == version}
    if new:
        any_question = next(iter(questions.values()))
        new = dict(zip(new, _limit_times(connection, any_question, list(new.values()), now), strict=True))
    late, repeated, rows = [], [], {}
    for assignment, version, answer in answers:
        question = questions.get(assignment)
        if question is None or question.account != account:
            raise NotFoundError("no-such-question", f"there is no question {assignment} for you in this task")
        if assignment in rows:
            raise UsageError("answered-twice", f"question {assignment} is answered twice here")
        try:
            outcome = _prepare_answer(connection, question, version, new.get(assignment, answer), now)
        except (ConflictError, UsageError) as error:
            raise error.about(f"question {assignment}") from None
        rows[assignment] = outcome.row
        late += [assignment] * outcome.late
        repeated += [assignment] * outcome.repeated
    if new_rows := [row for row in rows.values() if row is not None]:
        _write_answers(connection, new_rows, questions[new_rows[0]["assignment"]], now)
    return SavedAnswers(task=get_task_state(connection, task, account), late=tuple(late), repeated=tuple(repeated))


def undo_last_answer(connection: Connection, account: int, task: int, *, now: float) -> ShownQuestion:
    """Open the last question again that was answered in this task; the answer stays in the history."""
    _require_task_open(connection, account, task, now)
    assignment = connection.execute(LAST_ANSWERED, {"task": task}).scalar()
    if assignment is None:
        raise ConflictError("nothing-to-undo", "nothing was answered in this task yet, so there is nothing to undo")
    question = _require_own_question(connection, account, assignment)
    if _is_task_over(question, now):  # closed while this waited for the lock
        raise _task_over_error()
    _write_answers(connection, [_make_undo(question, now)], question, now)
    return load_question(connection, assignment, account)


def reopen_questions(connection: Connection, account: int, task: int, *states: str, now: float) -> int:
    """Open the questions of a task again that are skipped, or unsure; answers how many."""
    _require_task_open(connection, account, task, now)
    questions = [row for row in connection.execute(LOCK_TASK_QUESTIONS, {"task": task}) if row.state in states]
    if any(_is_task_over(question, now) for question in questions):  # closed while this waited for the lock
        raise _task_over_error()
    if questions:
        _write_answers(connection, [_make_undo(question, now) for question in questions], questions[0], now)
    return len(questions)


def _require_task_open(connection: Connection, account: int, task: int, now: float) -> None:
    state = get_task_state(connection, task, account)
    if state.closed is not None or (state.deadline is not None and now > state.deadline):
        raise _task_over_error()


def _task_over_error() -> LateError:
    return LateError("task-over", "the task has ended, and its answers stay as they are")


def _make_undo(question: Row[*tuple[Any, ...]], now: float) -> dict[str, Any]:
    """The version that opens a question again."""
    undo = {"assignment": question.id, "version": question.version + 1, "state": "open", "kind": "undo", "time": now}
    return undo | NO_ANSWER


def submit_task(connection: Connection, account: int, task: int, *, now: float, early: bool = False) -> TaskState:
    """Close a task whose questions are all answered; handing it in again changes nothing.

    `early` leaves the open questions to other judges; where the task has run out meanwhile, it has expired.
    """
    state = get_task_state(connection, task, account)
    if state.closed is None:
        if state.open and not early:
            open_count = format_count(state.open, "question")
            raise ConflictError("open-questions", f"{open_count} of this task still wait for an answer")
        has_run_out = state.open > 0 and now > state.leased
        close_task(connection, task, "expired" if has_run_out else "handed_in", now=now)
        state = get_task_state(connection, task, account)
    return state


def set_aside_task(connection: Connection, task: int, *, now: float) -> None:
    """Count none of a task's answers, and give its items to other judges; the answers stay in the history."""
    if connection.execute(select(tasks.c.id).where(tasks.c.id == task)).first() is None:
        raise NotFoundError("no-such-task", f"there is no task {task}")
    close_task(connection, task, "set_aside", now=now)


def reinstate_task(connection: Connection, project: Project, task_id: int) -> ReinstatedAnswers:
    """Count the answers of a task that was set aside, where their items still have room for them."""
    is_this_task = (tasks.c.id == task_id, tasks.c.project == project.id)
    if connection.execute(select(tasks.c.id).where(*is_this_task)).first() is None:
        raise NotFoundError("no-such-task", f"there is no task {task_id} in '{project.title}'")
    reinstatement = update(tasks).where(*is_this_task, tasks.c.outcome == "set_aside").values(outcome="handed_in")
    if not connection.execute(reinstatement).rowcount:
        raise ConflictError("not-set-aside", "this task is not set aside: what was answered in it counts already")
    rows = connection.execute(
        select(assignments.c.id, assignments.c.item, items.c.wanted)
        .join(items, items.c.id == assignments.c.item)
        .join(judgments, and_(judgments.c.assignment == assignments.c.id, judgments.c.version == assignments.c.version))
        .where(assignments.c.task == task_id, assignments.c.state == "set_aside", judgments.c.kind == "answer")
        .order_by(items.c.id)
    ).all()
    reinstated = ordinary = 0
    for row in rows:
        if row.wanted is not None:
            ordinary += 1
            free_item = update(items).where(items.c.id == row.item, items.c.given < items.c.wanted)
            if not connection.execute(free_item.values(given=items.c.given + 1)).rowcount:
                continue
            reinstated += 1
        connection.execute(update(assignments).where(assignments.c.id == row.id).values(state="done"))
    if ordinary and not reinstated:
        raise ConflictError(
            "no-room-for-answers",
            "other judges have answered all its questions since: there is no room for these answers",
        )
    return ReinstatedAnswers(again=reinstated, not_again=ordinary - reinstated)


def _require_own_question(connection: Connection, account: int, assignment: int) -> Row[*tuple[Any, ...]]:
    question = connection.execute(LOCK_QUESTION, {"assignment": assignment}).first()
    if question is None or question.account != account:
        raise NotFoundError("no-such-question", "there is no such question for you")
    return question


def _prepare_answer(
    connection: Connection, question: Row[*tuple[Any, ...]], version: int, answer: Answer, now: float
) -> _AnswerOutcome:
    """What is to be written for an answer; one that is late is written here, as its version is another."""
    if answer.kind == "answer":
        if answer.answer is None:
            raise UsageError("no-answer", "choose one of the answers", parameter="answer")
        parse_scale(question.scale).require_answer(answer.answer)
    elif answer.kind not in STATE_BY_KIND:
        raise UsageError(
            "unknown-answer-kind", f"expected an answer, unsure or skip, found '{answer.kind}'", parameter="kind"
        )
    answer_text = answer.answer if answer.kind == "answer" else None
    if question.version != version:
        return _require_same_answer(connection, question, version, answer.kind, answer_text)
    row: dict[str, Any] = {
        "assignment": question.id,
        "version": version + 1,
        "state": STATE_BY_KIND[answer.kind],
        "kind": answer.kind,
        "answer": answer_text,
        "reason": (answer.reason or "").strip()[:REASON_LENGTH] or None,
        "time": now,
        "seconds": answer.seconds,
        "away": answer.away,
    }
    if _is_task_over(question, now):
        return _store_late_answer(connection, row)
    return _AnswerOutcome(row)


def _require_same_answer(
    connection: Connection, question: Row[*tuple[Any, ...]], version: int, kind: str, answer: str | None
) -> _AnswerOutcome:
    """An answer to a version that is taken: the same one again, or another."""
    stored_answer = connection.execute(STORED_ANSWER, {"assignment": question.id, "version": version + 1}).first()
    if question.version == version + 1 and stored_answer == (kind, answer):
        return _AnswerOutcome(repeated=True)
    raise ConflictError(
        "answered-meanwhile",
        "this question was answered meanwhile, in another tab or before going back; look at it again",
    )


def _store_late_answer(connection: Connection, row: dict[str, Any]) -> _AnswerOutcome:
    """Keep an answer that does not count: its versions go down from −1."""
    repeated = connection.execute(SAME_LATE_ANSWER, row).first() is not None
    if not repeated:
        lowest = connection.execute(LOWEST_VERSION, row).scalar_one()
        connection.execute(ADD_JUDGMENT, row | {"version": lowest - 1, "kind": "late"})
    return _AnswerOutcome(late=True, repeated=repeated)


def _is_task_over(question: Row[*tuple[Any, ...]], now: float) -> bool:
    """Whether a task has ended; traps and others alike, so that nothing tells them apart."""
    return question.closed is not None or (question.deadline is not None and now > question.deadline)


def _write_answers(
    connection: Connection, rows: list[dict[str, Any]], question: Row[*tuple[Any, ...]], now: float
) -> None:
    """Write answers of one task, of which `question` is one, and keep the task for its judge."""
    connection.execute(SET_STATE, rows)
    connection.execute(ADD_JUDGMENT, rows)
    if question.closed is None:
        minutes = parse_settings(question.settings).lease_minutes
        renew_lease(
            connection, question.task, leased=question.leased, minutes=minutes, deadline=question.deadline, now=now
        )


def _limit_times(
    connection: Connection, question: Row[*tuple[Any, ...]], answers: Sequence[Answer], now: float
) -> list[Answer]:
    """Answers to questions of one task with times that the server can believe.

    Nothing took longer than passed since its question was shown or, where the server does not know that, since the task
    was opened or something was last recorded in it; nor did all answers together. So those of a task never sum up to
    more than its age. Time away from a question is what the seconds leave of that at most.
    """
    if all(answer.seconds is None and answer.away is None for answer in answers):
        return list(answers)
    last_recorded = connection.execute(LAST_RECORDED, {"task": question.task}).scalar()
    since = max(question.opened, last_recorded or 0.0)
    limits = [_measure_elapsed(max(since, answer.shown or 0.0), now) for answer in answers]
    total = _measure_elapsed(since, now)
    seconds = _shorten_times([answer.seconds for answer in answers], limits, total)
    rests = [round(limit - (taken or 0.0), 2) for limit, taken in zip(limits, seconds, strict=True)]
    rest = round(total - sum(taken for taken in seconds if taken is not None), 2)
    away = _shorten_times([answer.away for answer in answers], rests, rest)
    return [replace(answer, seconds=seconds[at], away=away[at]) for at, answer in enumerate(answers)]


def _measure_elapsed(since: float, now: float) -> float:
    return min(math.floor(100 * max(now - since, 0.0)) / 100, MAX_SECONDS)


def _shorten_times(times: Sequence[float | None], limits: Sequence[float], total: float) -> list[float | None]:
    """Times within their limits and, together, within the total, where they are shortened alike; none is negative.

    Examples:
        >>> _shorten_times([3.5, None, 9.0], [5.0, 5.0, 5.0], 5.0)
        [2.05, None, 2.94]
        >>> _shorten_times([3.5, None, -1.0], [5.0, 5.0, 5.0], 5.0)
        [3.5, None, 0.0]
    """
    within = [None if time is None else min(max(time, 0.0), limit) for time, limit in zip(times, limits, strict=True)]
    claimed = sum(time for time in within if time is not None)
    if claimed <= total:
        return within
    return [None if time is None else math.floor(100 * time * total / claimed) / 100 for time in within]
