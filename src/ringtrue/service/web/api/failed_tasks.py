"""Tasks that failed their traps: set aside, or counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from ringtrue.errors import NotFoundError
from ringtrue.service.store.answer_feed import task_is_in
from ringtrue.service.store.answers import set_aside
from ringtrue.service.store.progress import failed_tasks
from ringtrue.service.store.revisions import count_again
from ringtrue.service.web.api.schemas.common import (
    Answering,
    Moment,
    Name,
    Number,
    faults,
)
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(tags=["deciding"])


class FailedTaskShown(Answering):
    """A task with too few traps right; `answers` of it count, none where it was set aside."""

    task: int
    account: int
    handle: str
    traps: int
    passed: int
    closed: Moment
    outcome: str
    answers: int


class CountedAgain(Answering):
    """How many answers of a task count again, and how many do not, since others have taken their places."""

    again: int
    not_again: int


@router.get(
    "/projects/{project}/failed-tasks", summary="Tasks that failed their traps",
    response_model=list[FailedTaskShown], responses=faults(404),
)  # fmt: skip
async def list_failed_tasks(project: Name, caller: Manager) -> Any:
    """The newest first."""
    return await caller.read(lambda c: failed_tasks(c, caller.project(c, project, "owner")))


@router.post(
    "/projects/{project}/tasks/{task}/set-aside", summary="Count none of a task's answers",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def set_task_aside(project: Name, task: Number, caller: Manager) -> Response:
    """Its items go to other judges; the answers stay in the history."""

    def aside(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        if not task_is_in(connection, task, found.id):
            raise NotFoundError(f"there is no task {task} in '{found.title}'")
        set_aside(connection, task, now=caller.now)
        caller.record(connection, "set task aside", project=found.id, task=task)

    await caller.write(aside)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/tasks/{task}/count-again", summary="Count a task's answers that were set aside",
    response_model=CountedAgain, responses=faults(404, 409),
)  # fmt: skip
async def count_task_again(project: Name, task: Number, caller: Manager) -> Any:
    """Those whose items still have room."""

    def again(connection: Connection) -> Any:
        found = caller.project(connection, project, "owner")
        counted = count_again(connection, found, task)
        caller.record(connection, "count task again", project=found.id, task=task)
        return counted

    return await caller.write(again)
