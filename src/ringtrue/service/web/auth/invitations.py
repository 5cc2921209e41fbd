"""Links: the first owner's, invitations, new passwords, and those that a crowd platform gives to its workers.

Looking at a link changes nothing, for browsers and chat programs look at links before people do; the button does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, ForbiddenError, NotFoundError, UsageError
from ringtrue.service.store.invitations import (
    Invitation,
    accept_invitation,
    invite,
    require_admission,
    require_valid_invitation,
)
from ringtrue.service.store.projects import get_project_by_id
from ringtrue.service.web.auth.anonymous_forms import read_form_nonce, read_public_form, render_public_form, strip_nul
from ringtrue.service.web.auth.dependencies import RequestContext, Visitor, public
from ringtrue.service.web.auth.login import (
    MIN_PASSWORD_LENGTH,
    hash_password,
    require_strong_password,
    start_session,
    with_session_cookie,
)
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.responses import see_other
from ringtrue.service.web.safe_html import render_guidelines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection
    from starlette.datastructures import FormData

    from ringtrue.service.store.accounts import Account
    from ringtrue.service.store.records import Project

router = APIRouter(include_in_schema=False)

# What Prolific and Amazon Mechanical Turk put into their links.
PLATFORM_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "workerId", "assignmentId", "hitId")
MTURK_PREVIEW = ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")
MAX_PARAMETER_LENGTH = 200
# What stands in a link before a platform fills it in: everybody who got it so would be one worker.
PLACEHOLDER = re.compile(r"[{$<%].*[}>%]|(worker|assignment|hit|prolific)[ _-]?p?id", re.IGNORECASE)
RESET_DAYS = 3


@router.get("/welcome/{secret}")
@public
async def welcome_page(request: Request, secret: str, context: Visitor) -> Response:
    """What an invitation is for, and the form that accepts it."""
    invitation, project = await _load_invitation(get_server_context(request), secret, "named")
    return _welcome_form(request, invitation, project, context)


@router.post("/welcome/{secret}")
@public
async def welcome(request: Request, secret: str, context: Visitor) -> Response:
    """Accept an invitation with a new account, or with the one that is logged in."""
    server, form = get_server_context(request), await read_public_form(request)
    invitation, project = await _load_invitation(server, secret, "named")
    existing_account = (
        context.person.id if context is not None and form.get("as") == "me" and invitation.role != "reset" else None
    )
    name, handle, password = (_form_text(form, field) for field in ("name", "handle", "password"))
    try:
        password_hash = None
        if existing_account is None:
            if invitation.role != "reset" and not name:
                raise UsageError("say your name: it is shown to the owners of the project, and to nobody else")
            require_strong_password(password, handle=handle, name=name)
            if password != str(form.get("again", "")):
                raise UsageError("the two passwords differ; write the same one twice")
            password_hash = await server.hash(lambda: hash_password(password))
        account = await server.write(
            lambda c: accept_invitation(
                c,
                secret,
                now=server.clock(),
                account=existing_account,
                name=name,
                handle=handle or None,
                password=password_hash,
            )
        )
    except (UsageError, ConflictError, ForbiddenError) as error:
        return _welcome_form(request, invitation, project, context, problem=str(error), name=name, handle=handle)
    if existing_account is not None:
        return see_other("/")
    session_secret, _ = await start_session(request, server, account)
    return with_session_cookie(see_other("/?new=1"), server, session_secret)


def _welcome_form(
    request: Request,
    invitation: Invitation,
    project: Project | None,
    context: RequestContext | None,
    *,
    problem: str | None = None,
    name: str = "",
    handle: str = "",
) -> Response:
    return render_public_form(
        request,
        "welcome.html",
        status=422 if problem else 200,
        invitation=invitation,
        project=project,
        problem=problem,
        name=name,
        handle=handle,
        shortest=MIN_PASSWORD_LENGTH,
        me=None if invitation.role == "reset" else context,
        is_crowd=context is not None and context.person.kind == "crowd",
    )


@router.get("/join/{secret}")
@public
async def join_page(request: Request, secret: str, context: Visitor) -> Response:
    """What the work is, and a button that begins it."""
    server, parameters = get_server_context(request), _platform_parameters(request.query_params)
    invitation, project = await _load_invitation(server, secret, "crowd")
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
    )


@router.post("/join/{secret}")
@public
async def join(request: Request, secret: str, context: Visitor) -> Response:
    """Begin: with the account that this worker had before, or with a new one."""
    server, form = get_server_context(request), await read_public_form(request)
    _, project = await _load_invitation(server, secret, "crowd")
    parameters = _platform_parameters(form)
    if parameters.get(MTURK_PREVIEW[0]) == MTURK_PREVIEW[1]:
        raise UsageError("this is a preview: accept the task on the platform, then begin here")
    visitor = _identify_visitor(request, context, parameters)
    account = await server.write(
        lambda c: accept_invitation(c, secret, now=server.clock(), parameters=parameters, **visitor)
    )
    session_secret, _ = await start_session(request, server, account)
    assert project is not None  # a crowd link belongs to one
    return with_session_cookie(see_other(f"/p/{project.name}/judge?begin=1"), server, session_secret)


def _identify_visitor(request: Request, context: Visitor, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Who opens a crowd link: by the login, by the platform's id, and by the browser's cookie."""
    return {
        "account": None if context is None else context.person.id,
        "worker": worker_id_from(parameters),
        "browser": read_form_nonce(request, get_server_context(request)),
    }


async def _load_invitation(server: ServerContext, secret: str, kind: str) -> tuple[Invitation, Project | None]:
    def load(connection: Connection) -> tuple[Invitation, Project | None]:
        invitation = require_valid_invitation(connection, secret, server.clock())
        if invitation.kind != kind:
            raise NotFoundError("this link is not known here; look whether it was copied whole, or ask for a new one")
        return invitation, None if invitation.project is None else get_project_by_id(connection, invitation.project)

    return await server.read(load)


def invite_to_reset_password(connection: Connection, account: Account, *, secret: str, now: float, by: int) -> str:
    """A link with which somebody sets a new password, once."""
    if account.kind != "named" or account.erased is not None:
        raise UsageError(f"{account.handle} logs in without a password, so there is none to set")
    return invite(connection, role="reset", account=account.id, days=RESET_DAYS, secret=secret, now=now, by=by)


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


def _form_text(form: FormData, name: str) -> str:
    submitted = form.get(name, "")
    text = strip_nul(submitted) if isinstance(submitted, str) else ""
    return text if name == "password" else text.strip()
