"""Judge by program: open a task, answer its questions one by one or all at once, hand it in.

Question by question, an answer and the next question travel in one round trip. For a model that judges many documents
side by side, or offline, a whole task takes two requests and two transactions. Who asks is looked up in the same piece
of work, so that an answer costs one transaction and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from ringtrue.errors import NotFoundError
from ringtrue.service.store.answers import record_answer, record_answers, undo_last_answer
from ringtrue.service.store.completion import hand_in_task
from ringtrue.service.store.records import Answer, Queue, ShownQuestion, SubmittedAnswer, TaskState
from ringtrue.service.store.tasks import (
    find_task_of_question,
    get_or_create_task,
    get_task_state,
    load_next_question,
    load_open_questions,
    load_question,
)
from ringtrue.service.web.api.schemas import (
    DocumentResponse,
    ProjectName,
    QueryParams,
    RequestModel,
    ResponseModel,
    RowId,
    ShortText,
    Timestamp,
    error_responses,
    fields_of,
)
from ringtrue.service.web.auth.dependencies import make_role_error
from ringtrue.service.web.auth.token_auth import Caller, TokenAccess, TokenJudge
from ringtrue.service.web.judge.screen import make_refill_job, round_to_hundredths, wait_for_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project

T = TypeVar("T")

router = APIRouter(tags=["judging"])
DAY_SECONDS = 86_400.0
MAX_ANSWERS = 1_000  # answers in one request; no task has more
Seconds = Annotated[float, Field(ge=0, le=DAY_SECONDS)]


class TaskRequest(RequestModel):
    """Which queue to judge in; `gold` is for gold judges."""

    queue: Queue = "main"


class AnswerRequest(RequestModel):
    """What a judge says about a question: an answer of the scale, or `unsure` with a reason, or `skip`.

    `version` is the one of the question; it tells an answer that is sent again from another one.
    """

    assignment: RowId
    version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    kind: Literal["answer", "unsure", "skip"] = "answer"
    answer: ShortText | None = None
    reason: ShortText | None = None
    seconds: Annotated[
        Seconds | None, Field(description="How long it was looked at; at most what passed since the answer before.")
    ] = None
    away: Annotated[
        Seconds | None,
        Field(description="How long the judge was elsewhere; at most what the seconds leave of that."),
    ] = None

    def to_submission(self) -> SubmittedAnswer:
        """What a program says, as the store keeps it."""
        seconds, away = (
            None if duration is None else round_to_hundredths(duration) for duration in (self.seconds, self.away)
        )
        answer = Answer(kind=self.kind, answer=self.answer, reason=self.reason, seconds=seconds, away=away)
        return SubmittedAnswer(self.assignment, self.version, answer)


class AnswersRequest(RequestModel):
    """Answers to several questions of a task, in any order."""

    answers: Annotated[list[AnswerRequest], Field(min_length=1, max_length=MAX_ANSWERS)]
    hand_in: Annotated[bool, Field(description="Hand the task in when no question of it is open any more.")] = True


class UndoParams(QueryParams):
    """Which answer is to be taken back."""

    open: int | None = Field(
        default=None,
        ge=0,
        le=1_000,
        description="How many questions are open now: given, it is done once, however often it is sent.",
    )


@fields_of(ShownQuestion)
class QuestionResponse(ResponseModel):
    """One question; `right` is there for pairs. Nothing tells a trap from the others."""

    left: DocumentResponse
    right: DocumentResponse | None
    answer: str | None = Field(description="The answer that counts now, where there is one.")


@fields_of(TaskState, omit=("project",))
class TaskResponse(ResponseModel):
    """How far a task is: `open` questions are left of `size`."""

    leased: Timestamp = Field(description="Until when its items are kept for a judge who does nothing more.")
    outcome: Literal["handed_in", "expired"] | None = Field(
        description="How it ended; one that was set aside looks like the others."
    )
    code: str | None = Field(description="The completion code, for workers of a crowd platform.")


class StepResponse(ResponseModel):
    """Where a judge is: the task, none when nothing is left; and its next question, none when all are answered."""

    task: TaskResponse | None
    question: QuestionResponse | None


class AnswerReceipt(ResponseModel):
    """What became of an answer, and the next question.

    A `late` one came after its time: it is kept, and does not count. A `repeated` one was there already.
    """

    late: bool
    repeated: bool
    task: TaskResponse
    question: QuestionResponse | None


class WholeTaskResponse(ResponseModel):
    """A task with all its open questions; null and none when nothing is left for this judge."""

    task: TaskResponse | None
    questions: list[QuestionResponse]


class AnswersReceipt(ResponseModel):
    """What became of the answers, by the numbers of their questions.

    `late` ones came after their time: they are kept, and do not count. `repeated` ones were there already.
    """

    late: list[int]
    repeated: list[int]
    task: TaskResponse


@router.post(
    "/projects/{project}/tasks",
    summary="Open a task, or go on with the open one",
    response_model=StepResponse,
    responses=error_responses(404, 410),
)
async def open_a_task(project: ProjectName, access: TokenJudge, body: TaskRequest) -> Any:
    """A new task takes questions that have room; while one is open, the same one is given again.

    `task` is null when nothing is left for this judge.
    """
    task, question = await _open_and_load_task(access, project, body.queue, load_next_question)
    return {"task": task, "question": question}


@router.get(
    "/tasks/{task}/next",
    summary="The next question of a task",
    response_model=StepResponse,
    responses=error_responses(404),
)
async def next_question(task: RowId, access: TokenJudge) -> Any:
    """The same question until it is answered; `question` is null when all are."""

    def load(connection: Connection, caller: Caller) -> dict[str, Any]:
        state = _load_task(connection, caller, task)
        return {"task": state, "question": load_next_question(connection, task, caller.person.id)}

    return await access.read(load)


@router.get(
    "/tasks/{task}/questions/{assignment}",
    summary="One question of a task, with the answer that counts",
    response_model=QuestionResponse,
    responses=error_responses(404),
)
async def question_again(task: RowId, assignment: RowId, access: TokenJudge) -> Any:
    """What to look at when an answer was refused because the question was answered meanwhile."""

    def load(connection: Connection, caller: Caller) -> ShownQuestion:
        _load_task(connection, caller, task)
        if find_task_of_question(connection, assignment, caller.person.id) != task:
            raise NotFoundError("no-such-question", "there is no such question in this task")
        return load_question(connection, assignment, caller.person.id)

    return await access.read(load)


@router.post(
    "/tasks/{task}/answers",
    summary="Answer a question, and get the next one",
    response_model=AnswerReceipt,
    responses=error_responses(404, 409),
)
async def answer_question(task: RowId, access: TokenJudge, body: AnswerRequest) -> Any:
    """Each answer is on the disk when this returns, and none is ever overwritten.

    Sent again, it is kept once, so that a request whose answer got lost can be repeated. Another answer to the same
    version is refused with 409.
    """
    submitted = body.to_submission()

    def work(connection: Connection, caller: Caller) -> dict[str, Any]:
        saved = record_answer(connection, caller.person.id, *submitted, now=caller.now)
        if saved.task.id != task:
            raise NotFoundError("no-such-question", "there is no such question in this task")
        _require_judge(caller, saved.task)
        question = load_next_question(connection, task, caller.person.id)
        return {"late": saved.late, "repeated": saved.repeated, "task": saved.task, "question": question}

    return await access.write(work)


@router.post(
    "/tasks/{task}/undo",
    summary="Open the last answered question again",
    response_model=StepResponse,
    responses=error_responses(404, 409, 410),
)
async def undo_answer(task: RowId, access: TokenJudge, which: Annotated[UndoParams, Query()]) -> Any:
    """The answer that is taken back stays in the history."""

    def work(connection: Connection, caller: Caller) -> dict[str, Any]:
        state, account = _load_task(connection, caller, task), caller.person.id
        if which.open is not None and state.open != which.open:
            return {"task": state, "question": load_next_question(connection, task, account)}
        question = undo_last_answer(connection, account, task, now=caller.now)
        return {"task": get_task_state(connection, task, account), "question": question}

    return await access.write(work)


@router.post(
    "/tasks/{task}/hand-in",
    summary="Hand in a task whose questions are all answered",
    response_model=TaskResponse,
    responses=error_responses(404, 409),
)
async def hand_in(task: RowId, access: TokenJudge) -> Any:
    """Handing it in again changes nothing. The answer does not tell how the traps of the task went."""

    def work(connection: Connection, caller: Caller) -> TaskState:
        _load_task(connection, caller, task)
        return hand_in_task(connection, caller.person.id, task, now=caller.now)

    return await access.write(work)


@router.post(
    "/projects/{project}/whole-tasks",
    summary="Open a task, or go on with the open one, and get all its questions",
    response_model=WholeTaskResponse,
    responses=error_responses(404, 410),
)
async def open_a_whole_task(project: ProjectName, access: TokenJudge, body: TaskRequest) -> Any:
    """The same tasks as one question after the other, and both can be mixed: what is answered is no longer listed."""
    task, questions = await _open_and_load_task(access, project, body.queue, load_open_questions)
    return {"task": task, "questions": questions or []}


@router.post(
    "/whole-tasks/{task}",
    summary="Answer several questions of a task, or all of them",
    response_model=AnswersReceipt,
    responses=error_responses(404, 409),
)
async def answer_questions(task: RowId, access: TokenJudge, body: AnswersRequest) -> Any:
    """All of them are on the disk when this returns; where one is refused, none is kept, and the message names it.

    Their seconds together are at most what passed since the answer before, or since the task was opened: longer ones
    are shortened alike. Sent again, each is kept once. With the last open question answered the task is handed in,
    unless `hand_in` is false.
    """
    submitted = [answer.to_submission() for answer in body.answers]

    def work(connection: Connection, caller: Caller) -> dict[str, Any]:
        saved = record_answers(connection, caller.person.id, task, submitted, now=caller.now)
        state = _require_judge(caller, saved.task)
        if body.hand_in and not state.open:
            state = hand_in_task(connection, caller.person.id, task, now=caller.now)
        return {"late": saved.late, "repeated": saved.repeated, "task": state}

    return await access.write(work)


async def _open_and_load_task(
    access: TokenAccess, name: str, queue: str, load_content: Callable[[Connection, int, int], T]
) -> tuple[TaskState | None, T | None]:
    """The task that is open or a new one, and what there is to see of it; where votes choose pairs, more are chosen."""

    def work(connection: Connection, caller: Caller) -> tuple[Project, int, TaskState | None, T | None]:
        project = caller.load_project(connection, name, "gold" if queue == "gold" else "judge")
        account = caller.person.id
        rng = np.random.default_rng()
        task = get_or_create_task(connection, project, account, queue=queue, now=caller.now, rng=rng)
        return project, account, task, None if task is None else load_content(connection, task.id, account)

    project, account, task, content = await access.write(work)
    if project.settings.active and queue == "main":
        if task is not None:
            access.server.choose_pairs_in_background(make_refill_job(access.server, project))
        elif await wait_for_pairs(access.server, project, account):
            _, _, task, content = await access.write(work)
    return task, content


def _load_task(connection: Connection, caller: Caller, task: int) -> TaskState:
    """A task of this judge."""
    return _require_judge(caller, get_task_state(connection, task, caller.person.id))


def _require_judge(caller: Caller, task: TaskState) -> TaskState:
    """An answer counts only from somebody who is still a judge there; refused, it takes what was written back."""
    role = "gold" if task.queue == "gold" else "judge"
    if not caller.person.may(role, task.project):
        raise make_role_error(role, "this project")
    return task
