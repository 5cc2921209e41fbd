"""Tasks that failed their traps: set aside, or counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from ringtrue.errors import NotFoundError
from ringtrue.service.store.answer_feed import is_task_in_project
from ringtrue.service.store.answers import set_aside_task
from ringtrue.service.store.progress import load_failed_tasks
from ringtrue.service.store.revisions import reinstate_task
from ringtrue.service.web.api.schemas.common import (
    ProjectName,
    ResponseModel,
    RowId,
    Timestamp,
    error_responses,
)
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["deciding"])


class FailedTaskResponse(ResponseModel):
    """A task with too few traps right; `answers` of it count, none where it was set aside."""

    task: int
    account: int
    handle: str
    traps: int
    passed: int
    closed: Timestamp
    outcome: str
    answers: int


class RecountResponse(ResponseModel):
    """How many answers of a task count again, and how many do not, since others have taken their places."""

    again: int
    not_again: int


@router.get(
    "/projects/{project}/failed-tasks",
    summary="Tasks that failed their traps",
    response_model=list[FailedTaskResponse],
    responses=error_responses(404),
)
async def list_failed_tasks(project: ProjectName, caller: Manager) -> Any:
    """The newest first."""
    return await caller.read(lambda c: load_failed_tasks(c, caller.load_project(c, project, "owner")))


@router.post(
    "/projects/{project}/tasks/{task}/set-aside",
    summary="Count none of a task's answers",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def set_task_aside(project: ProjectName, task: RowId, caller: Manager) -> Response:
    """Its items go to other judges; the answers stay in the history."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        if not is_task_in_project(connection, task, stored_project.id):
            raise NotFoundError(f"there is no task {task} in '{stored_project.title}'")
        set_aside_task(connection, task, now=caller.now)
        caller.record(connection, "set task aside", project=stored_project.id, task=task)

    await caller.write(work)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/tasks/{task}/count-again",
    summary="Count a task's answers that were set aside",
    response_model=RecountResponse,
    responses=error_responses(404, 409),
)
async def count_task_again(project: ProjectName, task: RowId, caller: Manager) -> Any:
    """Those whose items still have room."""

    def work(connection: Connection) -> Any:
        stored_project = caller.load_project(connection, project, "owner")
        recount = reinstate_task(connection, stored_project, task)
        caller.record(connection, "count task again", project=stored_project.id, task=task)
        return recount

    return await caller.write(work)
