"""Judge a task at once: all its questions in one answer, all answers to them in one request.

For a model that judges many documents side by side, or offline: two requests and two transactions for a task, where
question by question takes one for each.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.service.store.answers import record_answers
from ringtrue.service.store.tasks import all_shown
from ringtrue.service.web.api.schemas.common import Name, Number, body_of, faults
from ringtrue.service.web.api.schemas.tasks import AnsweredAll, AnswersRequest, TaskRequest, WholeTask
from ringtrue.service.web.api.tasks import SECURITY, answer_of, begun, handed_in, require_judge, sent, task_number
from ringtrue.service.web.api.token_auth import Caller, JudgeGate, judge_token
from ringtrue.service.web.auth.dependencies import guard

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import AnswerTo

__all__ = ["STRAIGHT", "router"]

router = APIRouter(tags=["judging"])


@router.post(
    "/projects/{project}/whole-tasks", summary="Open a task, or go on with the open one, and get all its questions",
    response_model=WholeTask, responses=faults(404, 410), openapi_extra=SECURITY,
)  # fmt: skip
async def open_a_whole_task(project: Name, gate: JudgeGate, wanted: TaskRequest) -> Response:
    """The same tasks as one question after the other, and both can be mixed: what is answered is no longer listed."""
    task, questions = await begun(gate, project, wanted.queue, all_shown)
    return sent(WholeTask.model_validate({"task": task, "questions": questions or []}))


@router.post(
    "/whole-tasks/{task}", summary="Answer several questions of a task, or all of them",
    response_model=AnsweredAll, responses=faults(404, 409), openapi_extra=SECURITY | body_of(AnswersRequest),
)  # fmt: skip
async def answer_questions(task: Number, request: Request, gate: JudgeGate) -> Response:
    """All of them are on the disk when this returns; where one is refused, none is kept, and the message names it.

    Sent again, each is kept once. With the last open question answered the task is handed in, unless `hand_in` is
    false.
    """
    said = AnswersRequest.model_validate_json(await request.body())
    answers = [answer_of(one) for one in said.answers]
    return sent(await gate.write(partial(_answered, task=task, answers=answers, closes=said.hand_in)))


def _answered(
    connection: Connection, caller: Caller, *, task: int, answers: list[AnswerTo], closes: bool
) -> AnsweredAll:
    saved = record_answers(connection, caller.person.id, task, answers, now=caller.now)
    state = require_judge(caller, saved.task)
    if closes and not state.open:
        state = handed_in(connection, caller, state)
    return AnsweredAll.model_validate({"late": saved.late, "repeated": saved.repeated, "task": state})


@guard
async def _answer_straight(request: Request) -> Response:
    return await answer_questions(task_number(request), request, await judge_token(request))


STRAIGHT = {("POST", "/whole-tasks/{task:int}"): _answer_straight}
