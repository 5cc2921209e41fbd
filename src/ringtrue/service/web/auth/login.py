"""Coming in and going out by a password, and the first page after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.service.store.accounts import find_password_hash, get_person
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.login_attempts import clear_login_attempts, record_login_attempt
from ringtrue.service.store.projects import load_projects
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import log_in, log_out
from ringtrue.service.web.auth.anonymous_forms import read_public_form, render_public_form, set_cookie, strip_nul
from ringtrue.service.web.auth.dependencies import (
    RequestContext,
    get_context_or_none,
    public,
    read_session_secret,
    require_login,
)
from ringtrue.service.web.auth.password_hashing import is_correct_password
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.judge.resubmit import KEPT_PREFIX, extract_answer_fields, is_answer_path, resend_page
from ringtrue.service.web.responses import local_path, render, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
SESSION_HOURS = 7 * 24.0
WELCOME_MESSAGES = {
    "new": "Welcome. Your log-in name is {handle}; with it and your password you come back.",
    "changed": "Your password is changed.",
}
WRONG_CREDENTIALS = "The log-in name or the password is wrong."
NOT_LOGGED_IN_YET = "You are not logged in yet: open your link in another tab, begin there, then come back to this one."


@router.get("/")
async def home(request: Request, context: Annotated[RequestContext, Depends(require_login)]) -> Response:
    """The projects in which somebody has a part."""
    person = context.person
    all_projects = await context.read(load_projects)
    visible_projects = [
        (project, _project_roles(context, project))
        for project in all_projects
        if person.owner or project.id in person.roles
    ]
    message = WELCOME_MESSAGES.get(next(iter(request.query_params), ""), "")
    return render(request, "home.html", projects=visible_projects, said=message.format(handle=person.handle))


def _project_roles(context: RequestContext, project: Project) -> frozenset[str]:
    roles = context.person.roles.get(project.id, frozenset())
    return roles | {"viewer", "owner"} if context.person.owner else roles


@router.get("/login")
@public
async def login_page(
    request: Request,
    context: Annotated[RequestContext | None, Depends(get_context_or_none)],
    next: str = "/",  # noqa: A002
) -> Response:
    """The form to log in."""
    if context is not None:
        return see_other(next)
    return render_public_form(request, "login.html", next=local_path(next), kept={}, problem=None, handle="")


@router.post("/login")
@public
async def login(request: Request, context: Annotated[RequestContext | None, Depends(get_context_or_none)]) -> Response:
    """Log in; who sent an answer after their login had ended sends it again."""
    server, form = get_server_context(request), await read_public_form(request)
    handle, password, next_path = (strip_nul(str(form.get(name, ""))) for name in ("handle", "password", "next"))
    handle, next_path = handle.strip().lower()[:200], local_path(next_path)
    kept_fields = extract_answer_fields(next_path, form, KEPT_PREFIX)
    next_path = "/" if is_answer_path(next_path) and not kept_fields else next_path

    def refuse_login(status: int, problem: str) -> Response:
        return render_public_form(
            request, "login.html", status=status, next=next_path, kept=kept_fields, problem=problem, handle=handle
        )

    if kept_fields and form.get("resume"):
        return refuse_login(401, NOT_LOGGED_IN_YET) if context is None else resend_page(request, next_path, kept_fields)
    client_address, now = get_client_address(request), server.clock()
    wait_seconds = await server.write(lambda c: record_login_attempt(c, handle=handle, address=client_address, now=now))
    if wait_seconds:
        return refuse_login(429, f"{too_many_attempts_message(wait_seconds)}.".capitalize())
    credentials = await server.read(lambda c: find_password_hash(c, handle))
    is_correct = await server.compute(lambda: is_correct_password(password, credentials[1] if credentials else None))
    if credentials is None or not is_correct:
        return refuse_login(401, WRONG_CREDENTIALS)
    await server.write(lambda c: clear_login_attempts(c, handle=handle, address=client_address))
    secret, context = await start_session(request, server, credentials[0])
    if kept_fields:
        request.state.context = context
        return with_session_cookie(resend_page(request, next_path, kept_fields), server, secret)
    return with_session_cookie(see_other(next_path), server, secret)


def get_client_address(request: Request) -> str:
    """Where a request came from; by a proxy's word only where the server was told that there is one."""
    return request.client.host if request.client else ""


def too_many_attempts_message(wait_seconds: float) -> str:
    """What somebody is told who has to wait."""
    minutes = math.ceil(wait_seconds / 60)
    return f"too many attempts; wait {minutes} {'minute' if minutes == 1 else 'minutes'}, then try again"


async def start_session(request: Request, server: ServerContext, account: int) -> tuple[str, RequestContext]:
    """Log somebody in whose right to it was checked; the visit that their browser had before ends."""
    now, previous_secret = server.clock(), read_session_secret(request, server)

    def work(connection: Connection) -> tuple[str, RequestContext]:
        if previous_secret is not None:
            log_out(connection, previous_secret)
        secret, csrf = log_in(connection, account, now=now, hours=SESSION_HOURS)
        person = get_person(connection, account)
        record_action(connection, "log in", now=now, account=account)
        return secret, RequestContext(server=server, person=person, csrf=csrf, secret=secret, now=now)

    return await server.write(work)


def with_session_cookie(response: Response, server: ServerContext, secret: str) -> Response:
    """The same answer, with the cookie of who is logged in now."""
    set_cookie(response, server, server.session_cookie, server.sign(secret, "login"), seconds=int(SESSION_HOURS * 3600))
    return response


@router.post("/logout")
async def logout(context: Annotated[RequestContext, Depends(require_login)]) -> Response:
    """End this visit."""
    await context.write(lambda c: log_out(c, context.secret))
    response = see_other("/login")
    response.delete_cookie(
        context.server.session_cookie, path="/", secure=context.server.secure, httponly=True, samesite="lax"
    )
    return response


@router.get("/healthz")
@public
async def healthz(request: Request) -> dict[str, str]:
    """Whether the server and its database answer."""
    from sqlalchemy import text

    await get_server_context(request).read(lambda c: c.execute(text("SELECT 1")).scalar_one())
    return {"status": "ok"}
