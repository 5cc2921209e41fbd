"""What judges say: every answer is a new version, and none is ever changed or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ringtrue.errors import ConflictError, LateError, NotFoundError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.service.store.dialects import Prepared
from ringtrue.service.store.projects import scale_of, settings_of
from ringtrue.service.store.records import Answer, AnswerTo, Saved, SavedAll, Shown, TaskState
from ringtrue.service.store.tasks import ONE_LESS, close_task, lease_until, shown_at, task_state

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["hand_in", "record_answer", "record_answers", "set_aside", "undo"]

STATES = {"answer": "done", "unsure": "unsure", "skip": "skipped"}
HELD = ("open", "done")  # the states in which an item is in this judge's hands
REASON_LENGTH = 2_000


class _Question(NamedTuple):
    id: int
    task: int
    item: int
    state: str
    version: int
    account: int
    leased: float
    deadline: float | None
    ended: float | None
    scale: str
    settings: str


class _Said(NamedTuple):
    kind: str
    answer: str | None


class _Number(NamedTuple):
    id: int


class _Kept(NamedTuple):
    """What became of an answer: `row` is still to be written where it counts."""

    row: dict[str, Any] | None = None
    late: bool = False
    repeated: bool = False


QUESTIONS = """
SELECT a.id, a.task, a.item, a.state, a.version, a.account, t.leased, t.deadline, t.closed, p.scale, p.settings
FROM assignment a JOIN task t ON t.id = a.task JOIN project p ON p.id = t.project
WHERE """
QUESTION = Prepared(f"{QUESTIONS} a.id = :assignment", _Question, postgresql="FOR UPDATE OF a, t")
ALL_QUESTIONS = Prepared(f"{QUESTIONS} a.task = :task", _Question, postgresql="ORDER BY a.id FOR UPDATE OF a, t")
SAID = Prepared("SELECT kind, answer FROM judgment WHERE assignment = :assignment AND version = :version", _Said)
ADD = Prepared[NamedTuple]("""
INSERT INTO judgment (assignment, version, kind, answer, reason, time, seconds, away)
VALUES (:assignment, :version, :kind, :answer, :reason, :time, :seconds, :away)""")
LAST_LATE = Prepared(
    "SELECT COALESCE(MIN(version), 0) FROM judgment WHERE assignment = :assignment AND version < 0", _Number
)
LATE_ALREADY = Prepared(
    """
SELECT id FROM judgment WHERE assignment = :assignment AND kind = 'late'
  AND COALESCE(answer, '') = COALESCE(CAST(:answer AS TEXT), '')""",
    _Number,
)
MOVE = Prepared[NamedTuple]("UPDATE assignment SET state = :state, version = :version WHERE id = :assignment")
RENEW = Prepared[NamedTuple]("UPDATE task SET leased = :leased WHERE id = :task")
TAKE = Prepared[NamedTuple]("""
UPDATE item SET given = given + CASE WHEN wanted IS NULL THEN 0 ELSE 1 END
WHERE id = :item AND (wanted IS NULL OR given < wanted)
  AND NOT EXISTS (SELECT 1 FROM assignment b WHERE b.item = :item AND b.account = :account AND b.id <> :assignment
                  AND b.state <> 'expired')""")
LEAVE = Prepared[NamedTuple](f"{ONE_LESS} WHERE id = :item AND wanted IS NOT NULL")
A_TASK = Prepared("SELECT id FROM task WHERE id = :task", _Number)
LAST = Prepared(
    """
SELECT a.id FROM assignment a JOIN judgment j ON j.assignment = a.id AND j.version = a.version
WHERE a.task = :task AND a.state IN ('done', 'unsure', 'skipped') ORDER BY j.id DESC LIMIT 1""",
    _Number,
)


def record_answer(
    connection: Connection, account: int, assignment: int, version: int, answer: Answer, *, now: float
) -> Saved:
    """Keep what a judge says about a question that was shown at this version.

    The same answer sent twice is kept once. Another answer to a version that is taken, from a second tab or by the
    back button, is a `ConflictError`: nothing is overwritten unseen. An answer that comes after the task was closed or
    its time is over is kept, and does not count.
    """
    question = _question(connection, account, assignment)
    kept = _kept(connection, question, version, answer, now)
    if kept.row is not None:
        MOVE.run(connection, **kept.row)
        ADD.run(connection, **kept.row)
        _renew(connection, question, now)
    return Saved(task=task_state(connection, question.task, account), late=kept.late, repeated=kept.repeated)


def record_answers(
    connection: Connection, account: int, task: int, answers: Sequence[AnswerTo], *, now: float
) -> SavedAll:
    """Keep several answers of one task, each as `record_answer` would; where one is refused, none is kept."""
    questions = {question.id: question for question in ALL_QUESTIONS.all(connection, task=task)}
    late, repeated, rows = [], [], {}
    for assignment, version, answer in answers:
        question = questions.get(assignment)
        if question is None or question.account != account:
            raise NotFoundError(f"there is no question {assignment} for you in this task")
        if assignment in rows:
            raise UsageError(f"question {assignment} is answered twice here")
        try:
            kept = _kept(connection, question, version, answer, now)
        except (ConflictError, UsageError) as error:
            raise type(error)(f"question {assignment}: {error}") from None
        rows[assignment] = kept.row
        late += [assignment] * kept.late
        repeated += [assignment] * kept.repeated
    if written := [row for row in rows.values() if row is not None]:
        MOVE.run_all(connection, written)
        ADD.run_all(connection, written)
        _renew(connection, questions[written[0]["assignment"]], now)
    return SavedAll(task=task_state(connection, task, account), late=tuple(late), repeated=tuple(repeated))


def undo(connection: Connection, account: int, task: int, *, now: float) -> Shown:
    """Open the last question again that was answered in this task; the answer stays in the history."""
    state = task_state(connection, task, account)
    if state.closed is not None or (state.deadline is not None and now > state.deadline):
        raise LateError("the task has ended, and its answers stay as they are")
    last = LAST.first(connection, task=task)
    if last is None:
        raise ConflictError("nothing was answered in this task yet, so there is nothing to undo")
    question = _question(connection, account, last.id)
    if not _has_room(connection, question, "open"):
        raise ConflictError("another judge has taken this item meanwhile; it cannot be opened again")
    version = question.version + 1
    MOVE.run(connection, assignment=last.id, state="open", version=version)
    ADD.run(
        connection, assignment=last.id, version=version, kind="undo", time=now, answer=None, reason=None, seconds=None,
        away=None,
    )  # fmt: skip
    _renew(connection, question, now)
    return shown_at(connection, last.id, account)


def hand_in(connection: Connection, account: int, task: int, *, now: float, code: str | None = None) -> TaskState:
    """Close a task whose questions are all answered; handing it in again changes nothing."""
    state = task_state(connection, task, account)
    if state.closed is None:
        if state.open:
            raise ConflictError(f"{counted(state.open, 'question')} of this task still wait for an answer")
        close_task(connection, task, "handed_in", now=now, code=code)
        state = task_state(connection, task, account)
    return state


def set_aside(connection: Connection, task: int, *, now: float) -> None:
    """Count none of a task's answers, and give its items to other judges; the answers stay in the history."""
    if A_TASK.first(connection, task=task) is None:
        raise NotFoundError(f"there is no task {task}")
    close_task(connection, task, "set_aside", now=now)


def _question(connection: Connection, account: int, assignment: int) -> _Question:
    found = QUESTION.first(connection, assignment=assignment)
    if found is None or found.account != account:
        raise NotFoundError("there is no such question for you")
    return found


def _kept(connection: Connection, question: _Question, version: int, answer: Answer, now: float) -> _Kept:
    """What is to be written for an answer; one that is late is written here, as its version is another."""
    if answer.kind == "answer":
        if answer.answer is None:
            raise UsageError("choose one of the answers")
        scale_of(question.scale).require(answer.answer)
    elif answer.kind not in STATES:
        raise UsageError(f"expected an answer, unsure or skip, found '{answer.kind}'")
    told = answer.answer if answer.kind == "answer" else None
    if question.version != version:
        return _repeated(connection, question, version, answer.kind, told)
    row: dict[str, Any] = {
        "assignment": question.id, "version": version + 1, "state": STATES[answer.kind], "kind": answer.kind,
        "answer": told, "reason": (answer.reason or "").strip()[:REASON_LENGTH] or None, "time": now,
        "seconds": _duration(answer.seconds), "away": _duration(answer.away),
    }  # fmt: skip
    if _too_late(question, now) or not _has_room(connection, question, row["state"]):
        return _kept_late(connection, row)
    return _Kept(row)


def _repeated(connection: Connection, question: _Question, version: int, kind: str, answer: str | None) -> _Kept:
    """An answer to a version that is taken: the same one again, or another."""
    said = SAID.first(connection, assignment=question.id, version=version + 1)
    if question.version == version + 1 and said == (kind, answer):
        return _Kept(repeated=True)
    raise ConflictError("this question was answered meanwhile, in another tab or before going back; look at it again")


def _kept_late(connection: Connection, row: dict[str, Any]) -> _Kept:
    """Keep an answer that does not count: its versions go down from −1."""
    repeated = LATE_ALREADY.first(connection, assignment=row["assignment"], answer=row["answer"]) is not None
    if not repeated:
        last = LAST_LATE.first(connection, assignment=row["assignment"])
        assert last is not None
        ADD.run(connection, **row | {"version": last.id - 1, "kind": "late"})
    return _Kept(late=True, repeated=repeated)


def _too_late(question: _Question, now: float) -> bool:
    """Whether a task has ended; traps and others alike, so that nothing tells them apart."""
    return question.ended is not None or (question.deadline is not None and now > question.deadline)


def _has_room(connection: Connection, question: _Question, state: str) -> bool:
    """Take or leave the item of an assignment that is to be in a state; False where it is in other hands."""
    held, holds = question.state in HELD, state in HELD
    if held and not holds:
        LEAVE.run(connection, item=question.item)
    elif holds and not held:
        return TAKE.run(connection, item=question.item, account=question.account, assignment=question.id) > 0
    return True


def _renew(connection: Connection, question: _Question, now: float) -> None:
    """Keep the items of an active judge; not with every answer, as each is a row to be written."""
    minutes = settings_of(question.settings).lease_minutes
    until = lease_until(now, minutes, question.deadline)
    if question.ended is None and until > question.leased + 6 * minutes:
        RENEW.run(connection, task=question.task, leased=until)


def _duration(seconds: float | None) -> float | None:
    """A time that a browser measured: nothing negative, and no more than a day."""
    return None if seconds is None else min(max(float(seconds), 0.0), 86_400.0)
