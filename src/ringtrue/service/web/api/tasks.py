"""Judge by program: open a task, answer its questions, hand it in.

An answer and the next question travel in one round trip. Who asks is looked up in the same piece of work, so that an
answer costs one transaction and nothing else.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from ringtrue.errors import NotFoundError
from ringtrue.service.store.answers import hand_in, record_answer, undo
from ringtrue.service.store.invitations import completion_code
from ringtrue.service.store.records import Answer, AnswerTo
from ringtrue.service.store.tasks import next_shown, open_task, shown_at, task_state, task_with
from ringtrue.service.web.api.schemas.common import LARGEST, Answering, Name, Number, body_of, faults
from ringtrue.service.web.api.schemas.tasks import Answered, AnswerRequest, Question, Step, Task, TaskRequest, WhichUndo
from ringtrue.service.web.api.token_auth import Caller, JudgeGate, TokenGate, judge_token, not_for_you
from ringtrue.service.web.auth.dependencies import guard
from ringtrue.service.web.judge.screen import more_pairs, refilling, to_hundredths

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Saved, Shown, TaskState

__all__ = ["SECURITY", "STRAIGHT", "answer_of", "begun", "handed_in", "require_judge", "router", "sent", "task_number"]

T = TypeVar("T")

router = APIRouter(tags=["judging"])
SECURITY: dict[str, Any] = {"security": [{"token": ["judge"]}]}


def sent(answer: Answering) -> Response:
    """Written at once: the model is the check, and checking it again would take longer than all the rest."""
    return Response(answer.model_dump_json(), media_type="application/json")


def _step(task: TaskState | None, question: Shown | None) -> Step:
    return Step.model_validate({"task": task, "question": question})


def require_judge(caller: Caller, task: TaskState) -> TaskState:
    """An answer counts only from somebody who is still a judge there; refused, it takes what was written back."""
    role = "gold" if task.queue == "gold" else "judge"
    if not caller.person.may(role, task.project):
        raise not_for_you(role, "this project")
    return task


@router.post(
    "/projects/{project}/tasks", summary="Open a task, or go on with the open one",
    response_model=Step, responses=faults(404, 410), openapi_extra=SECURITY,
)  # fmt: skip
async def open_a_task(project: Name, gate: JudgeGate, wanted: TaskRequest) -> Response:
    """A new task takes questions that have room; while one is open, the same one is given again.

    `task` is null when nothing is left for this judge.
    """
    task, question = await begun(gate, project, wanted.queue, next_shown)
    return sent(_step(task, question))


async def begun(
    gate: TokenGate, name: str, queue: str, look: Callable[[Connection, int, int], T]
) -> tuple[TaskState | None, T | None]:
    """The task that is open or a new one, and what there is to see of it; where votes choose pairs, more are chosen."""
    project, account = await gate.read(partial(_admitted_to, name=name, queue=queue))
    work = partial(_opened, name=name, queue=queue, look=look)
    task, seen = await gate.write(work)
    if project.settings.active and queue == "main":
        if task is not None:
            gate.site.later(refilling(gate.site, project))
        elif await more_pairs(gate.site, project, account):
            task, seen = await gate.write(work)
    return task, seen


def _admitted_to(connection: Connection, caller: Caller, *, name: str, queue: str) -> tuple[Project, int]:
    return caller.project(connection, name, "gold" if queue == "gold" else "judge"), caller.person.id


def _opened(
    connection: Connection, caller: Caller, *, name: str, queue: str, look: Callable[[Connection, int, int], T]
) -> tuple[TaskState | None, T | None]:
    project, account = _admitted_to(connection, caller, name=name, queue=queue)
    task = open_task(connection, project, account, queue=queue, now=caller.now, rng=np.random.default_rng())
    return task, None if task is None else look(connection, task.id, account)


@router.get(
    "/tasks/{task}/next", summary="The next question of a task",
    response_model=Step, responses=faults(404), openapi_extra=SECURITY,
)  # fmt: skip
async def next_question(task: Number, gate: JudgeGate) -> Response:
    """The same question until it is answered; `question` is null when all are."""
    return sent(await gate.read(partial(_next, task=task)))


def _next(connection: Connection, caller: Caller, *, task: int) -> Step:
    state = require_judge(caller, task_state(connection, task, caller.person.id))
    return _step(state, next_shown(connection, task, caller.person.id))


@router.get(
    "/tasks/{task}/questions/{assignment}", summary="One question of a task, with the answer that counts",
    response_model=Question, responses=faults(404), openapi_extra=SECURITY,
)  # fmt: skip
async def question_again(task: Number, assignment: Number, gate: JudgeGate) -> Response:
    """What to look at when an answer was refused because the question was answered meanwhile."""
    return sent(await gate.read(partial(_question, task=task, assignment=assignment)))


def _question(connection: Connection, caller: Caller, *, task: int, assignment: int) -> Question:
    require_judge(caller, task_state(connection, task, caller.person.id))
    if task_with(connection, assignment, caller.person.id) != task:
        raise NotFoundError("there is no such question in this task")
    return Question.model_validate(shown_at(connection, assignment, caller.person.id))


@router.post(
    "/tasks/{task}/answers", summary="Answer a question, and get the next one",
    response_model=Answered, responses=faults(404, 409), openapi_extra=SECURITY | body_of(AnswerRequest),
)  # fmt: skip
async def answer_question(task: Number, request: Request, gate: JudgeGate) -> Response:
    """Each answer is on the disk when this returns, and none is ever overwritten.

    Sent again, it is kept once, so that a request whose answer got lost can be repeated. Another answer to the same
    version is refused with 409.
    """
    said = AnswerRequest.model_validate_json(await request.body())
    saved, question = await gate.write(partial(_answered, task=task, said=said))
    return sent(
        Answered.model_validate(
            {"late": saved.late, "repeated": saved.repeated, "task": saved.task, "question": question}
        )
    )


def answer_of(said: AnswerRequest) -> AnswerTo:
    """What a program says, as the store keeps it."""
    seconds, away = (None if one is None else to_hundredths(one) for one in (said.seconds, said.away))
    answer = Answer(kind=said.kind, answer=said.answer, reason=said.reason, seconds=seconds, away=away)
    return AnswerTo(said.assignment, said.version, answer)


def _answered(connection: Connection, caller: Caller, *, task: int, said: AnswerRequest) -> tuple[Saved, Shown | None]:
    saved = record_answer(connection, caller.person.id, *answer_of(said), now=caller.now)
    if saved.task.id != task:
        raise NotFoundError("there is no such question in this task")
    require_judge(caller, saved.task)
    return saved, next_shown(connection, task, caller.person.id)


@router.post(
    "/tasks/{task}/undo", summary="Open the last answered question again",
    response_model=Step, responses=faults(404, 409, 410), openapi_extra=SECURITY,
)  # fmt: skip
async def undo_answer(task: Number, gate: JudgeGate, which: Annotated[WhichUndo, Query()]) -> Response:
    """The answer that is taken back stays in the history."""
    return sent(await gate.write(partial(_undone, task=task, still_open=which.open)))


def _undone(connection: Connection, caller: Caller, *, task: int, still_open: int | None) -> Step:
    state = require_judge(caller, task_state(connection, task, caller.person.id))
    if still_open is not None and state.open != still_open:
        return _step(state, next_shown(connection, task, caller.person.id))
    question = undo(connection, caller.person.id, task, now=caller.now)
    return _step(task_state(connection, task, caller.person.id), question)


@router.post(
    "/tasks/{task}/hand-in", summary="Hand in a task whose questions are all answered",
    response_model=Task, responses=faults(404, 409), openapi_extra=SECURITY,
)  # fmt: skip
async def hand_in_task(task: Number, gate: JudgeGate) -> Response:
    """Handing it in again changes nothing."""
    return sent(await gate.write(partial(_handed_in, task=task)))


def _handed_in(connection: Connection, caller: Caller, *, task: int) -> Task:
    return Task.model_validate(
        handed_in(connection, caller, require_judge(caller, task_state(connection, task, caller.person.id)))
    )


def handed_in(connection: Connection, caller: Caller, state: TaskState) -> TaskState:
    """Close a task, with the code that a crowd platform wants to see."""
    code = completion_code(connection, state.project, caller.person.id)
    return hand_in(connection, caller.person.id, state.id, now=caller.now, code=code)


@guard
async def _answer_straight(request: Request) -> Response:
    return await answer_question(task_number(request), request, await judge_token(request))


@guard
async def _next_straight(request: Request) -> Response:
    return await next_question(task_number(request), await judge_token(request))


def task_number(request: Request) -> int:
    """The task that a lane's address names."""
    number = int(request.path_params["task"])
    if not 1 <= number <= LARGEST:
        raise NotFoundError("there is no such task for you")
    return number


# The two operations that are called all the time, for lanes: they read what they need by themselves.
STRAIGHT = {
    ("POST", "/tasks/{task:int}/answers"): _answer_straight,
    ("GET", "/tasks/{task:int}/next"): _next_straight,
}
