"""Links: the first owner's, invitations by name, and new passwords.

Looking at a link changes nothing, for browsers and chat programs look at links before people do; the button does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, ForbiddenError, NotFoundError, UsageError
from ringtrue.messages import Note
from ringtrue.service.store.invitations import (
    Invitation,
    accept_invitation,
    invite,
    require_valid_invitation,
)
from ringtrue.service.store.projects import get_project_by_id
from ringtrue.service.web.auth.anonymous_forms import read_public_form, render_public_form, strip_nul
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

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from starlette.datastructures import FormData

    from ringtrue.service.store.accounts import Account
    from ringtrue.service.store.records import Project

router = APIRouter(include_in_schema=False)

RESET_DAYS = 3


@router.get("/welcome/{secret}")
@public
async def welcome_page(request: Request, secret: str, context: Visitor) -> Response:
    """What an invitation is for, and the form that accepts it."""
    invitation, project = await load_invitation(get_server_context(request), secret, "named")
    return _welcome_form(request, invitation, project, context)


@router.post("/welcome/{secret}")
@public
async def welcome(request: Request, secret: str, context: Visitor) -> Response:
    """Accept an invitation with a new account, or with the one that is logged in."""
    server, form = get_server_context(request), await read_public_form(request)
    invitation, project = await load_invitation(server, secret, "named")
    existing_account = (
        context.person.id if context is not None and form.get("as") == "me" and invitation.role != "reset" else None
    )
    name, handle, password = (_form_text(form, field) for field in ("name", "handle", "password"))
    try:
        password_hash = None
        if existing_account is None:
            if invitation.role != "reset" and not name:
                raise UsageError(
                    "missing-name",
                    "give your name: it is shown to the owners of the project, and to nobody else",
                    parameter="name",
                )
            require_strong_password(password, handle=handle, name=name)
            if password != str(form.get("again", "")):
                raise UsageError(
                    "passwords-differ", "the two passwords differ: enter the same one twice", parameter="again"
                )
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
        return _welcome_form(request, invitation, project, context, problem=error.note, name=name, handle=handle)
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
    problem: Note | None = None,
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


async def load_invitation(server: ServerContext, secret: str, kind: str) -> tuple[Invitation, Project | None]:
    """A link of this kind that may still be used, and its project."""

    def load(connection: Connection) -> tuple[Invitation, Project | None]:
        invitation = require_valid_invitation(connection, secret, server.clock())
        if invitation.kind != kind:
            raise NotFoundError(
                "unknown-link", "this link is not known here; look whether it was copied whole, or ask for a new one"
            )
        return invitation, None if invitation.project is None else get_project_by_id(connection, invitation.project)

    return await server.read(load)


def invite_to_reset_password(connection: Connection, account: Account, *, secret: str, now: float, by: int) -> str:
    """A link with which somebody sets a new password, once."""
    if account.kind != "named" or account.erased is not None:
        raise UsageError("no-password", f"'{account.handle}' logs in without a password, so there is none to set")
    return invite(connection, role="reset", account=account.id, days=RESET_DAYS, secret=secret, now=now, by=by)


def _form_text(form: FormData, name: str) -> str:
    submitted = form.get(name, "")
    text = strip_nul(submitted) if isinstance(submitted, str) else ""
    return text if name == "password" else text.strip()
