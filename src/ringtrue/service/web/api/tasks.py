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
from ringtrue.service.store.answers import record_answer, submit_task, undo_last_answer
from ringtrue.service.store.invitations import find_completion_code
from ringtrue.service.store.records import MAX_ID, Answer, SubmittedAnswer
from ringtrue.service.store.tasks import (
    find_task_of_question,
    get_or_create_task,
    get_task_state,
    load_next_question,
    load_question,
)
from ringtrue.service.web.api.schemas.common import (
    ProjectName,
    ResponseModel,
    RowId,
    describe_json_body,
    error_responses,
)
from ringtrue.service.web.api.schemas.tasks import (
    AnswerReceipt,
    AnswerRequest,
    QuestionResponse,
    StepResponse,
    TaskRequest,
    TaskResponse,
    UndoParams,
)
from ringtrue.service.web.api.token_auth import Caller, TokenAccess, TokenJudge, get_token_access, make_role_error
from ringtrue.service.web.auth.route_guards import guard
from ringtrue.service.web.judge.screen import make_refill_job, round_to_hundredths, wait_for_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, SavedAnswer, ShownQuestion, TaskState

T = TypeVar("T")

router = APIRouter(tags=["judging"])
SECURITY: dict[str, Any] = {"security": [{"token": ["judge"]}]}


def make_json_response(model: ResponseModel) -> Response:
    """Written at once: the model is the check, and checking it again would take longer than all the rest."""
    return Response(model.model_dump_json(), media_type="application/json")


def _make_step(task: TaskState | None, question: ShownQuestion | None) -> StepResponse:
    return StepResponse.model_validate({"task": task, "question": question})


def require_judge(caller: Caller, task: TaskState) -> TaskState:
    """An answer counts only from somebody who is still a judge there; refused, it takes what was written back."""
    role = "gold" if task.queue == "gold" else "judge"
    if not caller.person.may(role, task.project):
        raise make_role_error(role, "this project")
    return task


@router.post(
    "/projects/{project}/tasks",
    summary="Open a task, or go on with the open one",
    response_model=StepResponse,
    responses=error_responses(404, 410),
    openapi_extra=SECURITY,
)
async def open_a_task(project: ProjectName, access: TokenJudge, body: TaskRequest) -> Response:
    """A new task takes questions that have room; while one is open, the same one is given again.

    `task` is null when nothing is left for this judge.
    """
    task, question = await open_and_load_task(access, project, body.queue, load_next_question)
    return make_json_response(_make_step(task, question))


async def open_and_load_task(
    access: TokenAccess, name: str, queue: str, load_content: Callable[[Connection, int, int], T]
) -> tuple[TaskState | None, T | None]:
    """The task that is open or a new one, and what there is to see of it; where votes choose pairs, more are chosen."""
    project, account = await access.read(partial(_load_project_and_account, name=name, queue=queue))
    work = partial(_open_and_load_task, name=name, queue=queue, load_content=load_content)
    task, content = await access.write(work)
    if project.settings.active and queue == "main":
        if task is not None:
            access.server.run_in_background(make_refill_job(access.server, project))
        elif await wait_for_pairs(access.server, project, account):
            task, content = await access.write(work)
    return task, content


def _load_project_and_account(connection: Connection, caller: Caller, *, name: str, queue: str) -> tuple[Project, int]:
    return caller.load_project(connection, name, "gold" if queue == "gold" else "judge"), caller.person.id


def _open_and_load_task(
    connection: Connection, caller: Caller, *, name: str, queue: str, load_content: Callable[[Connection, int, int], T]
) -> tuple[TaskState | None, T | None]:
    project, account = _load_project_and_account(connection, caller, name=name, queue=queue)
    task = get_or_create_task(connection, project, account, queue=queue, now=caller.now, rng=np.random.default_rng())
    return task, None if task is None else load_content(connection, task.id, account)


@router.get(
    "/tasks/{task}/next",
    summary="The next question of a task",
    response_model=StepResponse,
    responses=error_responses(404),
    openapi_extra=SECURITY,
)
async def next_question(task: RowId, access: TokenJudge) -> Response:
    """The same question until it is answered; `question` is null when all are."""
    return make_json_response(await access.read(partial(_load_next_step, task=task)))


def _load_next_step(connection: Connection, caller: Caller, *, task: int) -> StepResponse:
    state = require_judge(caller, get_task_state(connection, task, caller.person.id))
    return _make_step(state, load_next_question(connection, task, caller.person.id))


@router.get(
    "/tasks/{task}/questions/{assignment}",
    summary="One question of a task, with the answer that counts",
    response_model=QuestionResponse,
    responses=error_responses(404),
    openapi_extra=SECURITY,
)
async def question_again(task: RowId, assignment: RowId, access: TokenJudge) -> Response:
    """What to look at when an answer was refused because the question was answered meanwhile."""
    return make_json_response(await access.read(partial(_load_question, task=task, assignment=assignment)))


def _load_question(connection: Connection, caller: Caller, *, task: int, assignment: int) -> QuestionResponse:
    require_judge(caller, get_task_state(connection, task, caller.person.id))
    if find_task_of_question(connection, assignment, caller.person.id) != task:
        raise NotFoundError("there is no such question in this task")
    return QuestionResponse.model_validate(load_question(connection, assignment, caller.person.id))


@router.post(
    "/tasks/{task}/answers",
    summary="Answer a question, and get the next one",
    response_model=AnswerReceipt,
    responses=error_responses(404, 409),
    openapi_extra=SECURITY | describe_json_body(AnswerRequest),
)
async def answer_question(task: RowId, request: Request, access: TokenJudge) -> Response:
    """Each answer is on the disk when this returns, and none is ever overwritten.

    Sent again, it is kept once, so that a request whose answer got lost can be repeated. Another answer to the same
    version is refused with 409.
    """
    body = AnswerRequest.model_validate_json(await request.body())
    saved, question = await access.write(partial(_record_and_load_next, task=task, body=body))
    return make_json_response(
        AnswerReceipt.model_validate(
            {"late": saved.late, "repeated": saved.repeated, "task": saved.task, "question": question}
        )
    )


def make_submitted_answer(body: AnswerRequest) -> SubmittedAnswer:
    """What a program says, as the store keeps it."""
    seconds, away = (
        None if duration is None else round_to_hundredths(duration) for duration in (body.seconds, body.away)
    )
    answer = Answer(kind=body.kind, answer=body.answer, reason=body.reason, seconds=seconds, away=away)
    return SubmittedAnswer(body.assignment, body.version, answer)


def _record_and_load_next(
    connection: Connection, caller: Caller, *, task: int, body: AnswerRequest
) -> tuple[SavedAnswer, ShownQuestion | None]:
    saved = record_answer(connection, caller.person.id, *make_submitted_answer(body), now=caller.now)
    if saved.task.id != task:
        raise NotFoundError("there is no such question in this task")
    require_judge(caller, saved.task)
    return saved, load_next_question(connection, task, caller.person.id)


@router.post(
    "/tasks/{task}/undo",
    summary="Open the last answered question again",
    response_model=StepResponse,
    responses=error_responses(404, 409, 410),
    openapi_extra=SECURITY,
)
async def undo_answer(task: RowId, access: TokenJudge, which: Annotated[UndoParams, Query()]) -> Response:
    """The answer that is taken back stays in the history."""
    return make_json_response(await access.write(partial(_undo_and_load_next, task=task, still_open=which.open)))


def _undo_and_load_next(connection: Connection, caller: Caller, *, task: int, still_open: int | None) -> StepResponse:
    state = require_judge(caller, get_task_state(connection, task, caller.person.id))
    if still_open is not None and state.open != still_open:
        return _make_step(state, load_next_question(connection, task, caller.person.id))
    question = undo_last_answer(connection, caller.person.id, task, now=caller.now)
    return _make_step(get_task_state(connection, task, caller.person.id), question)


@router.post(
    "/tasks/{task}/hand-in",
    summary="Hand in a task whose questions are all answered",
    response_model=TaskResponse,
    responses=error_responses(404, 409),
    openapi_extra=SECURITY,
)
async def hand_in_task(task: RowId, access: TokenJudge) -> Response:
    """Handing it in again changes nothing."""
    return make_json_response(await access.write(partial(_hand_in_own_task, task=task)))


def _hand_in_own_task(connection: Connection, caller: Caller, *, task: int) -> TaskResponse:
    return TaskResponse.model_validate(
        hand_in_with_code(connection, caller, require_judge(caller, get_task_state(connection, task, caller.person.id)))
    )


def hand_in_with_code(connection: Connection, caller: Caller, state: TaskState) -> TaskState:
    """Close a task, with the code that a crowd platform wants to see."""
    code = find_completion_code(connection, state.project, caller.person.id)
    return submit_task(connection, caller.person.id, state.id, now=caller.now, code=code)


@guard
async def _answer_question_fast(request: Request) -> Response:
    return await answer_question(parse_task_id(request), request, await get_token_access(request))


@guard
async def _next_question_fast(request: Request) -> Response:
    return await next_question(parse_task_id(request), await get_token_access(request))


def parse_task_id(request: Request) -> int:
    """The task that the address of a fast route names."""
    task_id = int(request.path_params["task"])
    if not 1 <= task_id <= MAX_ID:
        raise NotFoundError("there is no such task for you")
    return task_id


# The two operations that are called all the time, for the fast path: they read what they need by themselves.
FAST_ENDPOINTS = {
    ("POST", "/tasks/{task:int}/answers"): _answer_question_fast,
    ("GET", "/tasks/{task:int}/next"): _next_question_fast,
}
