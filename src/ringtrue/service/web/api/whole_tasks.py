"""Judge a task at once: all its questions in one answer, all answers to them in one request.

For a model that judges many documents side by side, or offline: two requests and two transactions for a task, where
question by question takes one for each.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.service.store.answers import record_answers
from ringtrue.service.store.tasks import load_open_questions
from ringtrue.service.web.api.schemas.common import ProjectName, RowId, describe_json_body, error_responses
from ringtrue.service.web.api.schemas.tasks import AnswersReceipt, AnswersRequest, TaskRequest, WholeTaskResponse
from ringtrue.service.web.api.tasks import (
    SECURITY,
    hand_in_with_code,
    make_json_response,
    make_submitted_answer,
    open_and_load_task,
    parse_task_id,
    require_judge,
)
from ringtrue.service.web.api.token_auth import Caller, TokenJudge, get_token_access
from ringtrue.service.web.auth.route_guards import guard

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import SubmittedAnswer

router = APIRouter(tags=["judging"])


@router.post(
    "/projects/{project}/whole-tasks",
    summary="Open a task, or go on with the open one, and get all its questions",
    response_model=WholeTaskResponse,
    responses=error_responses(404, 410),
    openapi_extra=SECURITY,
)
async def open_a_whole_task(project: ProjectName, access: TokenJudge, body: TaskRequest) -> Response:
    """The same tasks as one question after the other, and both can be mixed: what is answered is no longer listed."""
    task, questions = await open_and_load_task(access, project, body.queue, load_open_questions)
    return make_json_response(WholeTaskResponse.model_validate({"task": task, "questions": questions or []}))


@router.post(
    "/whole-tasks/{task}",
    summary="Answer several questions of a task, or all of them",
    response_model=AnswersReceipt,
    responses=error_responses(404, 409),
    openapi_extra=SECURITY | describe_json_body(AnswersRequest),
)
async def answer_questions(task: RowId, request: Request, access: TokenJudge) -> Response:
    """All of them are on the disk when this returns; where one is refused, none is kept, and the message names it.

    Sent again, each is kept once. With the last open question answered the task is handed in, unless `hand_in` is
    false.
    """
    body = AnswersRequest.model_validate_json(await request.body())
    answers = [make_submitted_answer(answer) for answer in body.answers]
    return make_json_response(
        await access.write(partial(_record_all, task=task, answers=answers, hand_in=body.hand_in))
    )


def _record_all(
    connection: Connection, caller: Caller, *, task: int, answers: list[SubmittedAnswer], hand_in: bool
) -> AnswersReceipt:
    saved = record_answers(connection, caller.person.id, task, answers, now=caller.now)
    state = require_judge(caller, saved.task)
    if hand_in and not state.open:
        state = hand_in_with_code(connection, caller, state)
    return AnswersReceipt.model_validate({"late": saved.late, "repeated": saved.repeated, "task": state})


@guard
async def _answer_questions_fast(request: Request) -> Response:
    return await answer_questions(parse_task_id(request), request, await get_token_access(request))


FAST_ENDPOINTS = {("POST", "/whole-tasks/{task:int}"): _answer_questions_fast}
