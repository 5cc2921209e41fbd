"""Forms for those who are not logged in: each browser gets a cookie, and its forms a word that belongs to it.

Another site can send its visitors here, but cannot know the word; so nobody is logged in by somebody else's form.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import Request

from ringtrue.service.web.auth.dependencies import StaleFormError
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.responses import render
from ringtrue.service.web.security import read_form

if TYPE_CHECKING:
    from fastapi import Response
    from starlette.datastructures import FormData


def render_public_form(request: Request, template: str, /, *, status: int = 200, **values: Any) -> Response:
    """A page from a template with a form for anybody; the template sends `word` back."""
    server = get_server_context(request)
    nonce = _read_form_nonce(request, server)
    form_nonce = nonce or secrets.token_urlsafe(16)
    page = render(request, template, status=status, word=server.form_token(form_nonce), **values)
    if nonce is None:
        set_cookie(page, server, server.form_cookie, server.sign(form_nonce, "form"))
    return page


async def read_public_form(request: Request) -> FormData:
    """What a form for anybody sent; refused without the word that belongs to the browser."""
    server = get_server_context(request)
    form = await read_form(request)
    nonce, token = _read_form_nonce(request, server), form.get("word")
    if nonce is None or not isinstance(token, str):
        raise StaleFormError
    if not hmac.compare_digest(token.encode(), server.form_token(nonce).encode()):
        raise StaleFormError
    return form


def set_cookie(response: Response, server: ServerContext, name: str, value: str, *, seconds: int | None = None) -> None:
    """A cookie that no script can read and no other site can send; without `seconds` it goes with the browser."""
    response.set_cookie(name, value, max_age=seconds, httponly=True, secure=server.secure, samesite="lax", path="/")


def strip_nul(text: str) -> str:
    """A text that every database takes."""
    return text.replace("\x00", "")


def _read_form_nonce(request: Request, server: ServerContext) -> str | None:
    cookie = request.cookies.get(server.form_cookie)
    return None if cookie is None else server.unsign(cookie, "form")
