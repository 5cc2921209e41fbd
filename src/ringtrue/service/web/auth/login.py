"""Logging in and out by a password, the first page after it, changing the password, and what is kept of it.

A right password, a wrong one and somebody who is not there take the same time to check.
"""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from fastapi import APIRouter, Request, Response

from ringtrue.errors import ReadOnlyError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.store.accounts import find_password_hash, get_person, set_password
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.projects import load_projects
from ringtrue.service.store.sessions import clear_login_attempts, log_in, log_out, record_login_attempt
from ringtrue.service.web.auth.anonymous_forms import (
    KEPT_PREFIX,
    extract_answer_fields,
    is_answer_path,
    read_public_form,
    render_public_form,
    resend_page,
    set_cookie,
    strip_nul,
)
from ringtrue.service.web.auth.dependencies import RequestContext, SignedIn, Visitor, public, read_session_secret
from ringtrue.service.web.auth.read_only_login import (
    PREFIX as READ_ONLY_PREFIX,
    record_attempt_in_memory,
    start_read_only_session,
)
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.responses import local_path, render, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
SESSION_HOURS = 7 * 24.0
WELCOME_MESSAGES = {
    "new": "Welcome. Your log-in name is {handle}; with it and your password you come back.",
    "changed": "Your password is changed.",
}
LOGGED_OUT_LATER = Note(
    "logged-out-here",
    "you are logged out here. The database cannot be written now: the server forgets your session for good as soon as "
    "it can",
)
WRONG_CREDENTIALS = Note("wrong-credentials", "the log-in name or the password is wrong")
NOT_LOGGED_IN_YET = Note(
    "not-logged-in-yet",
    "you are not logged in yet: open your link in another tab, begin there, then come back to this one",
)
MIN_PASSWORD_LENGTH = 10
MAX_PASSWORD_LENGTH = 200
# RFC 9106's second choice. Each takes 64 MiB, so `ServerContext.hash` computes only a few at once however many ask.
HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1)
# Of a password that was drawn by lot and thrown away: what is compared when there is nobody to compare with.
DUMMY_HASH = "$argon2id$v=19$m=65536,t=3,p=1$SJultWgtTEy0UKu/C8Uo+A$XhcFYxj2Okgd2WLaCx08FknfST8esvLrohNvJxFtn5I"


@router.get("/")
async def home(request: Request, context: SignedIn) -> Response:
    """The projects in which somebody has a part."""
    person = context.person
    all_projects = await context.read(load_projects)
    owner_roles = {"viewer", "owner"} if person.owner else frozenset()
    visible_projects = [
        (project, person.roles.get(project.id, frozenset()) | owner_roles)
        for project in all_projects
        if person.owner or project.id in person.roles
    ]
    message = WELCOME_MESSAGES.get(next(iter(request.query_params), ""), "")
    return render(request, "home.html", projects=visible_projects, said=message.format(handle=person.handle))


@router.get("/login")
@public
async def login_page(
    request: Request,
    context: Visitor,
    next: str = "/",  # noqa: A002
) -> Response:
    """The form to log in."""
    if context is not None:
        return see_other(next)
    is_later = "later" in request.query_params and _could_not_write(get_server_context(request))
    problem = LOGGED_OUT_LATER if is_later else None
    return render_public_form(request, "login.html", next=local_path(next), kept={}, problem=problem, handle="")


def _could_not_write(server: ServerContext) -> bool:
    """Whether the database could not be written when that was last tried."""
    return len(server.store.deferred) > 0 or server.health.value.database != "ok"


@router.post("/login")
@public
async def login(request: Request, context: Visitor) -> Response:
    """Log in; who sent an answer after their login had ended sends it again."""
    server, form = get_server_context(request), await read_public_form(request)
    handle, password, next_path = (strip_nul(str(form.get(name, ""))) for name in ("handle", "password", "next"))
    handle, next_path = handle.strip().lower()[:200], local_path(next_path)
    kept_fields = extract_answer_fields(next_path, form, KEPT_PREFIX)
    next_path = "/" if is_answer_path(next_path) and not kept_fields else next_path

    def refuse_login(status: int, problem: Note) -> Response:
        return render_public_form(
            request, "login.html", status=status, next=next_path, kept=kept_fields, problem=problem, handle=handle
        )

    if kept_fields and form.get("resume"):
        return refuse_login(401, NOT_LOGGED_IN_YET) if context is None else resend_page(request, next_path, kept_fields)
    client_address, now = get_client_address(request), server.clock()
    try:
        wait_seconds = await server.write(
            lambda c: record_login_attempt(c, handle=handle, address=client_address, now=now)
        )
    except ReadOnlyError:
        wait_seconds = await record_attempt_in_memory(server, handle=handle, address=client_address, now=now)
    if wait_seconds:
        return refuse_login(429, too_many_attempts(wait_seconds).note)
    credentials = await server.read(lambda c: find_password_hash(c, handle))
    is_correct = await server.hash(lambda: is_correct_password(password, credentials[1] if credentials else None))
    if credentials is None or not is_correct:
        return refuse_login(401, WRONG_CREDENTIALS)
    try:
        await server.write(lambda c: clear_login_attempts(c, handle=handle, address=client_address))
        secret, context = await start_session(request, server, credentials[0])
    except ReadOnlyError:
        secret, person, csrf = await start_read_only_session(server, credentials[0])
        context = RequestContext(server=server, person=person, csrf=csrf, secret=secret, now=now)
        await server.store.deferred.write(
            lambda c: record_action(c, "log in", now=now, account=person.id), description=f"account {person.id}: log in"
        )
    if kept_fields:
        request.state.context = context
        return with_session_cookie(resend_page(request, next_path, kept_fields), server, secret)
    return with_session_cookie(see_other(next_path), server, secret)


def get_client_address(request: Request) -> str:
    """Where a request came from; by a proxy's word only where the server was told that there is one."""
    return request.client.host if request.client else ""


def too_many_attempts(wait_seconds: float) -> UsageError:
    """The refusal of somebody who has to wait."""
    minutes = format_count(math.ceil(wait_seconds / 60), "minute")
    return UsageError("too-many-attempts", f"too many attempts; wait {minutes}, then try again")


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
async def logout(context: SignedIn) -> Response:
    """End this visit; while the database cannot be written, in the memory of the server."""
    server, secret = context.server, context.secret
    is_written = not secret.startswith(READ_ONLY_PREFIX) and await server.store.deferred.write(
        lambda c: log_out(c, secret), description=f"account {context.person.id}: log out"
    )
    if not is_written:
        server.ended_sessions.add(secret, now=context.now, until=context.now + SESSION_HOURS * 3600)
    response = see_other("/login" if is_written else "/login?later=1")
    response.delete_cookie(server.session_cookie, path="/", secure=server.secure, httponly=True, samesite="lax")
    return response


@router.get("/password")
async def password_page(request: Request, context: SignedIn) -> Response:
    """The form for a new password."""
    credentials = await context.read(lambda c: find_password_hash(c, context.person.handle))
    return _password_form(request, has_one=credentials is not None)


def _password_form(request: Request, *, has_one: bool, problem: Note | None = None) -> Response:
    status = 422 if problem else 200
    return render(
        request, "password.html", status=status, has_one=has_one, problem=problem, shortest=MIN_PASSWORD_LENGTH
    )


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
            raise too_many_attempts(wait_seconds)
        stored_hash = credentials[1] if credentials else None
        if not await context.server.hash(lambda: is_correct_password(context.text("old"), stored_hash)):
            raise UsageError("wrong-password", "the old password is wrong", parameter="old")
        require_strong_password(new_password, handle=handle, name=context.person.name or "")
        if new_password != context.text("again"):
            raise UsageError(
                "passwords-differ", "the two passwords differ: enter the same one twice", parameter="again"
            )
    except UsageError as error:
        return _password_form(request, has_one=credentials is not None, problem=error.note)
    new_hash = await context.server.hash(lambda: hash_password(new_password))

    def work(connection: Connection) -> None:
        set_password(connection, context.person.id, new_hash, now=context.now)
        clear_login_attempts(connection, handle=handle, address=client_address)
        record_action(connection, "change password", now=context.now, account=context.person.id)

    await context.write(work)
    secret, _ = await start_session(request, context.server, context.person.id)
    return with_session_cookie(see_other("/?changed=1"), context.server, secret)


def require_strong_password(password: str, *, handle: str = "", name: str = "") -> None:
    """Refuse a password that is guessed at once."""
    if len(password) < MIN_PASSWORD_LENGTH:
        raise UsageError(
            "short-password",
            f"a password needs at least {MIN_PASSWORD_LENGTH} characters, found {len(password)}",
            parameter="password",
        )
    if len(password) > MAX_PASSWORD_LENGTH:
        raise UsageError(
            "long-password",
            f"a password has at most {MAX_PASSWORD_LENGTH} characters, found {len(password)}",
            parameter="password",
        )
    folded = password.casefold()
    if len(set(folded)) < 5:
        raise UsageError(
            "repetitive-password",
            "this password repeats a few characters; choose one that nobody guesses, such as four words",
            parameter="password",
        )
    for guess in (handle, name, "password", "ringtrue", "12345678", "qwertyui"):
        remainder = folded.replace(guess.casefold(), "") if len(guess) > 2 else folded
        if len(remainder) < MIN_PASSWORD_LENGTH // 2:
            raise UsageError(
                "guessable-password",
                "this password is easily guessed; choose one that nobody guesses, such as four words",
                parameter="password",
            )


def hash_password(password: str) -> str:
    """What is stored of a password; takes a moment, so not on the loop that serves everybody."""
    return HASHER.hash(_normalise_password(password))


def is_correct_password(password: str, stored_hash: str | None) -> bool:
    """Whether this is the password; None for somebody who is not there, which takes as long."""
    try:
        return (
            HASHER.verify(stored_hash or DUMMY_HASH, _normalise_password(password[: 2 * MAX_PASSWORD_LENGTH]))
            and stored_hash is not None
        )
    except (VerificationError, InvalidHashError):
        return False


def _normalise_password(password: str) -> str:
    """One spelling for what keyboards write in several ways."""
    return unicodedata.normalize("NFKC", password)
