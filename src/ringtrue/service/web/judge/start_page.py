"""Where judging begins: the page before a task, its button, and crowd links, by which workers come in.

Looking at a page begins nothing, as browsers and chat programs look at links before people do: a task, which keeps
questions from others and whose time runs, is begun by a form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import LateError
from ringtrue.service.store.completion import assess_completion, load_code_offer
from ringtrue.service.store.tasks import find_open_task, get_or_create_task, has_questions_left
from ringtrue.service.web.auth.dependencies import JudgeAccess, RequestContext, SessionJudge
from ringtrue.service.web.judge.addresses import resolve_queue, task_path
from ringtrue.service.web.judge.code_terms import describe_code_terms
from ringtrue.service.web.judge.end_pages import closed_page, code_page, nothing_left_page, waiting_page
from ringtrue.service.web.judge.handing_in import settle
from ringtrue.service.web.judge.screen import PairsPendingError, make_refill_job, wait_for_pairs
from ringtrue.service.web.responses import render, see_other
from ringtrue.service.web.safe_html import render_guidelines

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.completion import CodeOffer
    from ringtrue.service.store.records import Project, TaskState

router = APIRouter(include_in_schema=False)


async def show_start_page(request: Request, access: JudgeAccess, queue: str | None) -> Response:
    """What a judge without an open task sees: the code that is earned, that nothing is left, or the page to begin."""

    def load(connection: Connection, context: RequestContext) -> tuple[bool, CodeOffer | None]:
        project, account = context.project, context.person.id
        chosen_queue = resolve_queue(context, queue)
        is_anything_left = project.settings.active or has_questions_left(
            connection, project.id, account, queue=chosen_queue, now=context.now
        )
        return is_anything_left, load_code_offer(connection, project.id, account)

    is_anything_left, code_offer = await access.read(load)
    project: Project = request.state.context.project
    completion = await settle(access)
    if project.closed is not None:
        return closed_page(request, project, completion)
    if completion is not None and completion.kind is not None:
        return code_page(request, project, completion, is_anything_left=is_anything_left)
    if not is_anything_left:
        return nothing_left_page(request, project, completion)
    return render(
        request,
        "start.html",
        project=project,
        queue=queue,
        guidelines=render_guidelines(project.guidelines),
        code_terms=describe_code_terms(project.settings, code_offer),
    )


@router.post("/p/{project}/judge")
async def begin(request: Request, access: SessionJudge) -> Response:
    """Begin a task, or go on with the one that is open."""
    queue = access.form.get("queue")
    try:
        state = await _open_task(access, queue if isinstance(queue, str) else None)
    except LateError:
        return closed_page(request, request.state.context.project, await settle(access))
    except PairsPendingError:
        return waiting_page(request, request.state.context.project)
    if state is not None:
        return see_other(task_path(request.path_params["project"], state.id))
    project, completion = request.state.context.project, await settle(access)
    if completion is not None and not completion.may_go_on:
        return code_page(request, project, completion, is_anything_left=False)
    return nothing_left_page(request, project, completion)


def begin_task(
    connection: Connection, project: Project, account: int, *, queue: str = "main", now: float
) -> TaskState | None:
    """The open task of this judge or a new one; None where nothing is left, or the worker has the code of a link that
    is for one task."""
    completion = assess_completion(connection, project.id, account) if queue == "main" else None
    if completion is not None and not completion.may_go_on:
        return find_open_task(connection, project.id, account, queue)
    return get_or_create_task(connection, project, account, queue=queue, now=now, rng=np.random.default_rng())


async def _open_task(access: JudgeAccess, queue: str | None) -> TaskState | None:
    """The task that is begun.

    Where pairs are chosen as votes arrive, the next are chosen while this judge is at work; only who finds none left
    waits for them.
    """

    def work(connection: Connection, context: RequestContext) -> TaskState | None:
        chosen_queue = resolve_queue(context, queue)
        return begin_task(connection, context.project, context.person.id, queue=chosen_queue, now=context.now)

    context, completion = await access.read(
        lambda connection, context: (context, assess_completion(connection, context.project.id, context.person.id))
    )
    server, project, account = context.server, context.project, context.person.id
    state = await access.write(work)
    if not project.settings.active or not context.may("judge"):
        return state
    if state is not None:
        server.choose_pairs_in_background(make_refill_job(server, project))
    elif (completion is None or completion.may_go_on) and await wait_for_pairs(server, project, account):
        state = await access.write(work)
    return state
