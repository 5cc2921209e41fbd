"""Forms of those who are not logged in: each browser gets a cookie, and its forms a word that belongs to it.

Another site can send its visitors here, but cannot know the word; so nobody is logged in by somebody else's form. An
answer that came after its login had ended is kept: it is carried along, and sent again by the one who gave it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import Request

from ringtrue.messages import Note
from ringtrue.service.web.auth.dependencies import make_stale_form_error
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.responses import render
from ringtrue.service.web.security import read_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Response
    from starlette.datastructures import FormData

# What the judge's form sends; nothing else is carried along.
ANSWER_FIELDS = ("task", "assignment", "version", "kind", "answer", "reason", "seconds", "away", "since")
ANSWER_PATH = re.compile(r"/p/[a-z0-9][a-z0-9-]{0,62}/answer")
MAX_FIELD_LENGTH = 10_000  # characters of a field
KEPT_PREFIX = "kept-"


def render_public_form(request: Request, template: str, /, *, status: int = 200, **values: Any) -> Response:
    """A page from a template with a form for anybody; the template sends `word` back."""
    server = get_server_context(request)
    nonce = read_form_nonce(request, server)
    form_nonce = nonce or secrets.token_urlsafe(16)
    page = render(request, template, status=status, word=server.form_token(form_nonce), **values)
    if nonce is None:
        set_cookie(page, server, server.form_cookie, server.sign(form_nonce, "form"))
    return page


async def read_public_form(request: Request) -> FormData:
    """What a form for anybody sent; refused without the word that belongs to the browser."""
    server = get_server_context(request)
    form = await read_form(request)
    nonce, token = read_form_nonce(request, server), form.get("word")
    if nonce is None or not isinstance(token, str):
        raise make_stale_form_error()
    if not hmac.compare_digest(token.encode(), server.form_token(nonce).encode()):
        raise make_stale_form_error()
    return form


def set_cookie(response: Response, server: ServerContext, name: str, value: str, *, seconds: int | None = None) -> None:
    """A cookie that no script can read and no other site can send; without `seconds` it goes with the browser."""
    response.set_cookie(name, value, max_age=seconds, httponly=True, secure=server.secure, samesite="lax", path="/")


def strip_nul(text: str) -> str:
    """A text that every database takes."""
    return text.replace("\x00", "")


def read_form_nonce(request: Request, server: ServerContext) -> str | None:
    """What tells this browser from others: drawn with the first form that it was shown."""
    cookie = request.cookies.get(server.form_cookie)
    return None if cookie is None else server.unsign(cookie, "form")


def is_answer_path(path: str) -> bool:
    """Whether judges send their answers to this path."""
    return ANSWER_PATH.fullmatch(path) is not None


def extract_answer_fields(path: str, form: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """The fields of an answer that was sent to this path; empty where it was no answer."""
    if not is_answer_path(path):
        return {}
    submitted = {name: form.get(prefix + name) for name in ANSWER_FIELDS}
    return {name: value[:MAX_FIELD_LENGTH] for name, value in submitted.items() if isinstance(value, str)}


async def login_page_keeping_answer(request: Request) -> Response:
    """The page to log in, for a form that was sent by nobody; an answer is kept on it."""
    path = request.url.path
    answer_fields = extract_answer_fields(path, await read_form(request)) if is_answer_path(path) else {}
    problem = (
        Note("answer-kept", "your login has ended. Your answer is kept on this page: log in, and send it again")
        if answer_fields
        else Note("login-ended", "your login has ended, and nothing was saved. Log in, and send it again")
    )
    return render_public_form(
        request,
        "login.html",
        status=401,
        next=path if answer_fields else "/",
        kept=answer_fields,
        problem=problem,
        handle="",
    )


async def resend_page_for_stale_form(request: Request) -> Response | None:
    """For an answer from an earlier login: a page to send it again; None for other forms."""
    answer_fields = extract_answer_fields(request.url.path, await read_form(request))
    return resend_page(request, request.url.path, answer_fields, status=403) if answer_fields else None


def resend_page(request: Request, path: str, answer_fields: Mapping[str, str], *, status: int = 200) -> Response:
    """A page with an answer that was not saved yet, and a button that sends it."""
    return render(request, "kept.html", status=status, path=path, kept=answer_fields)
