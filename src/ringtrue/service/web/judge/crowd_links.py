"""Crowd links: how the workers of a platform come in, each with an account of their own, and begin.

Looking at a link changes nothing, for browsers and chat programs look at links before people do; the button does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from ringtrue.errors import LateError, UsageError
from ringtrue.service.store.completion import CodeOffer, assess_completion
from ringtrue.service.store.invitations import accept_invitation, require_admission
from ringtrue.service.store.tasks import find_open_task
from ringtrue.service.web.auth.anonymous_forms import read_form_nonce, read_public_form, render_public_form, strip_nul
from ringtrue.service.web.auth.dependencies import Visitor, public
from ringtrue.service.web.auth.invitations import load_invitation
from ringtrue.service.web.auth.login import start_session, with_session_cookie
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.judge.addresses import task_path
from ringtrue.service.web.judge.code_terms import describe_code_terms
from ringtrue.service.web.judge.screen import make_refill_job
from ringtrue.service.web.judge.start_page import begin_task
from ringtrue.service.web.responses import see_other
from ringtrue.service.web.safe_html import render_guidelines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, TaskState

router = APIRouter(include_in_schema=False)

# What Prolific and Amazon Mechanical Turk put into their links.
PLATFORM_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "workerId", "assignmentId", "hitId")
MTURK_PREVIEW = ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")
MAX_PARAMETER_LENGTH = 200
# What stands in a link before a platform fills it in: everybody who got it so would be one worker.
PLACEHOLDER = re.compile(r"[{$<%].*[}>%]|(worker|assignment|hit|prolific)[ _-]?p?id", re.IGNORECASE)


@router.get("/join/{secret}")
@public
async def join_page(request: Request, secret: str, context: Visitor) -> Response:
    """What the work is, and a button that begins it."""
    server, parameters = get_server_context(request), _platform_parameters(request.query_params)
    invitation, project = await load_invitation(server, secret, "crowd")
    preview = parameters.get(MTURK_PREVIEW[0]) == MTURK_PREVIEW[1]
    if not preview:
        visitor = _identify_visitor(request, context, parameters)
        await server.read(lambda c: require_admission(c, invitation, **visitor))
    assert project is not None  # a crowd link belongs to one
    return render_public_form(
        request,
        "join.html",
        project=project,
        parameters=parameters,
        preview=preview,
        me=context,
        guidelines=render_guidelines(project.guidelines),
        code_terms=describe_code_terms(
            project.settings, CodeOffer(invitation.code is not None, invitation.partial_code is not None)
        ),
    )


@router.post("/join/{secret}")
@public
async def join(request: Request, secret: str, context: Visitor) -> Response:
    """Come in with the account that this worker had before, or with a new one, and begin a task."""
    server, form = get_server_context(request), await read_public_form(request)
    _, project = await load_invitation(server, secret, "crowd")
    parameters = _platform_parameters(form)
    if parameters.get(MTURK_PREVIEW[0]) == MTURK_PREVIEW[1]:
        raise UsageError("platform-preview", "this is a preview: accept the task on the platform, then begin here")
    visitor = _identify_visitor(request, context, parameters)
    account = await server.write(
        lambda c: accept_invitation(c, secret, now=server.clock(), parameters=parameters, **visitor)
    )
    session_secret, _ = await start_session(request, server, account)
    assert project is not None  # a crowd link belongs to one
    task = await _begin(server, project, account)
    path = f"/p/{project.name}/judge" if task is None else task_path(project.name, task)
    return with_session_cookie(see_other(path), server, session_secret)


async def _begin(server: ServerContext, project: Project, account: int) -> int | None:
    """The task that a worker begins; None where the project's page has something else to say, such as the code."""

    def work(connection: Connection) -> TaskState | None:
        completion = assess_completion(connection, project.id, account)
        if completion is not None and completion.kind is not None:
            return find_open_task(connection, project.id, account, "main")
        return begin_task(connection, project, account, now=server.clock())

    try:
        state = await server.write(work)
    except LateError:
        return None
    if state is not None and project.settings.active:
        server.choose_pairs_in_background(make_refill_job(server, project))
    return None if state is None else state.id


def _identify_visitor(request: Request, context: Visitor, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Who opens a crowd link: by the login, by the platform's id, and by the browser's cookie."""
    return {
        "account": None if context is None else context.person.id,
        "worker": worker_id_from(parameters),
        "browser": read_form_nonce(request, get_server_context(request)),
    }


def worker_id_from(parameters: Mapping[str, str]) -> str | None:
    """The platform's id of the person who follows a link.

    Examples:
        >>> worker_id_from({"PROLIFIC_PID": "5f0c", "STUDY_ID": "61"})
        'prolific:5f0c'
        >>> worker_id_from({"workerId": "A1B2", "hitId": "3X"})
        'mturk:A1B2'
        >>> worker_id_from({})
        >>> worker_id_from({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "workerId": "WORKER_ID"})
    """
    for name, platform in (("PROLIFIC_PID", "prolific"), ("workerId", "mturk")):
        if parameters.get(name) and not PLACEHOLDER.fullmatch(parameters[name]):
            return f"{platform}:{parameters[name]}"
    return None


def _platform_parameters(source: Mapping[str, object]) -> dict[str, str]:
    fields = {name: source.get(name) for name in PLATFORM_PARAMETERS}
    texts = {
        name: strip_nul(value).strip()[:MAX_PARAMETER_LENGTH]
        for name, value in fields.items()
        if isinstance(value, str)
    }
    return {name: value for name, value in texts.items() if value}
