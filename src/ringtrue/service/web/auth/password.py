"""Changing one's own password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import UsageError
from ringtrue.service.store.accounts import find_password_hash, set_password
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.login_attempts import clear_login_attempts, record_login_attempt
from ringtrue.service.web.auth.dependencies import RequestContext, require_login
from ringtrue.service.web.auth.login import (
    get_client_address,
    start_session,
    too_many_attempts_message,
    with_session_cookie,
)
from ringtrue.service.web.auth.password_hashing import (
    MIN_PASSWORD_LENGTH,
    hash_password,
    is_correct_password,
    require_strong_password,
)
from ringtrue.service.web.responses import render, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
SignedIn = Annotated[RequestContext, Depends(require_login)]


@router.get("/password")
async def password_page(request: Request, context: SignedIn) -> Response:
    """The form for a new password."""
    credentials = await context.read(lambda c: find_password_hash(c, context.person.handle))
    return render(request, "password.html", has_one=credentials is not None, problem=None, shortest=MIN_PASSWORD_LENGTH)


@router.post("/password")
async def change_password(request: Request, context: SignedIn) -> Response:
    """A new password, for whoever knows the old one; every other visit and every token ends."""
    handle, client_address, new_password = context.person.handle, get_client_address(request), context.text("password")
    wait_seconds = await context.write(
        lambda c: record_login_attempt(c, handle=handle, address=client_address, now=context.now)
    )
    credentials = await context.read(lambda c: find_password_hash(c, handle))
    try:
        if wait_seconds:
            raise UsageError(too_many_attempts_message(wait_seconds))
        stored_hash = credentials[1] if credentials else None
        if not await context.server.compute(lambda: is_correct_password(context.text("old"), stored_hash)):
            raise UsageError("the old password is wrong")
        require_strong_password(new_password, handle=handle, name=context.person.name or "")
        if new_password != context.text("again"):
            raise UsageError("the two new passwords differ; write the same one twice")
    except UsageError as error:
        return render(
            request,
            "password.html",
            status=422,
            has_one=credentials is not None,
            problem=str(error),
            shortest=MIN_PASSWORD_LENGTH,
        )
    new_hash = await context.server.compute(lambda: hash_password(new_password))

    def work(connection: Connection) -> None:
        set_password(connection, context.person.id, new_hash, now=context.now)
        clear_login_attempts(connection, handle=handle, address=client_address)
        record_action(connection, "change password", now=context.now, account=context.person.id)

    await context.write(work)
    secret, _ = await start_session(request, context.server, context.person.id)
    return with_session_cookie(see_other("/?changed=1"), context.server, secret)
