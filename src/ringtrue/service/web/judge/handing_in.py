"""The end of a task: skipped questions are opened again, or it is handed in, whole or early, and a code is earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, LateError
from ringtrue.service.store.answers import reopen_questions
from ringtrue.service.store.completion import (
    Completion,
    assess_completion,
    hand_in_task,
    load_task_work,
    settle_completion,
)
from ringtrue.service.web.auth.dependencies import JudgeAccess, RequestContext, SessionJudge
from ringtrue.service.web.judge.addresses import parse_number, task_path
from ringtrue.service.web.judge.end_pages import stop_page, thanks_page
from ringtrue.service.web.judge.screen import JudgeScreen, load_task
from ringtrue.service.web.responses import see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.completion import TaskWork

router = APIRouter(include_in_schema=False)


@router.post("/p/{project}/reopen")
async def reopen(request: Request, access: SessionJudge) -> Response:
    """Open the questions again that were skipped, and those without an answer that the completion code asks for."""
    task = parse_number(access.form.get("task"))

    def work(connection: Connection, context: RequestContext) -> int:
        load_task(connection, context, task)
        _, completion = load_work_and_completion(connection, context, task)
        missing = {shortfall.kind for shortfall in completion.missing} if completion is not None else set()
        states = ("skipped", "unsure") if "unsure" in missing else ("skipped",)
        return reopen_questions(connection, context.person.id, task, *states, now=context.now)

    try:
        message_key = "reopened" if await access.write(work) else None
    except LateError:
        message_key = None
    return see_other(task_path(request.path_params["project"], task, message_key))


@router.post("/p/{project}/hand-in")
async def hand_in(request: Request, access: SessionJudge) -> Response:
    """Close a task whose questions are all answered."""
    task = parse_number(access.form.get("task"))

    def work(connection: Connection, context: RequestContext) -> None:
        load_task(connection, context, task)
        hand_in_task(connection, context.person.id, task, now=context.now)

    try:
        await access.write(work)
    except ConflictError:
        return see_other(task_path(request.path_params["project"], task))
    return see_other(f"/p/{request.path_params['project']}/done?task={task}")


@router.get("/p/{project}/stop")
async def stop(request: Request, access: SessionJudge) -> Response:
    """What it means to hand in a task before its end, and the button that does."""
    task = parse_number(request.query_params.get("task"))

    def load(connection: Connection, context: RequestContext) -> tuple[JudgeScreen, TaskWork, Completion | None]:
        screen = JudgeScreen(context=context, state=load_task(connection, context, task))
        return screen, *load_work_and_completion(connection, context, task)

    screen, work, completion = await access.read(load)
    if screen.state.closed is not None or not screen.state.open:
        return see_other(task_path(screen.context.project.name, task))
    return stop_page(request, screen, work, completion)


@router.post("/p/{project}/stop")
async def hand_in_early(request: Request, access: SessionJudge) -> Response:
    """Close a task as it is; the questions that are open go to other judges."""
    task = parse_number(access.form.get("task"))

    def work(connection: Connection, context: RequestContext) -> None:
        load_task(connection, context, task)
        hand_in_task(connection, context.person.id, task, now=context.now, early=True)

    await access.write(work)
    return see_other(f"/p/{request.path_params['project']}/done?task={task}")


@router.get("/p/{project}/done")
async def done_page(request: Request, access: SessionJudge) -> Response:
    """Thanks for a task, and the code that shows a crowd platform that it was done."""
    task = parse_number(request.query_params.get("task"))
    screen, work = await access.read(lambda connection, context: _load_task_and_work(connection, context, task))
    if screen.state.closed is None or screen.state.outcome == "expired":
        return see_other(task_path(screen.context.project.name, task))
    return thanks_page(request, screen, work, await settle(access, task))


async def settle(access: JudgeAccess, task: int | None = None) -> Completion | None:
    """What a crowd worker earns by a task, or by the last one; written down before it is shown for the first time."""
    assessed = await access.read(
        lambda c, context: assess_completion(c, context.project.id, context.person.id, task),
    )
    if assessed is None or not assessed.to_grant:
        return assessed
    return await access.write(
        lambda c, context: settle_completion(c, context.project.id, context.person.id, task, now=context.now)
    )


def load_work_and_completion(
    connection: Connection, context: RequestContext, task: int
) -> tuple[TaskWork, Completion | None]:
    """What was done of a task, and how far a crowd worker is from the code."""
    work, _ = load_task_work(connection, task)
    return work, assess_completion(connection, context.project.id, context.person.id, task)


def _load_task_and_work(connection: Connection, context: RequestContext, task: int) -> tuple[JudgeScreen, TaskWork]:
    screen = JudgeScreen(context=context, state=load_task(connection, context, task))
    return screen, load_task_work(connection, task)[0]
