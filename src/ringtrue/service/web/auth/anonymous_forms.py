"""Forms for those who are not logged in: each browser gets a cookie, and its forms a word that belongs to it.

Another site can send its visitors here, but cannot know the word; so nobody is logged in by somebody else's form.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import Request

from ringtrue.service.web.auth.dependencies import StaleFormError
from ringtrue.service.web.context import Site, site_of
from ringtrue.service.web.render import render
from ringtrue.service.web.security import form_of

if TYPE_CHECKING:
    from fastapi import Response
    from starlette.datastructures import FormData

__all__ = ["open_form", "render_open", "set_cookie", "without_nul"]


def render_open(request: Request, template: str, /, *, status: int = 200, **values: Any) -> Response:
    """A page from a template with a form for anybody; the template sends `word` back."""
    site = site_of(request)
    nonce = _nonce(request, site)
    fresh = nonce or secrets.token_urlsafe(16)
    page = render(request, template, status=status, word=site.form_word(fresh), **values)
    if nonce is None:
        set_cookie(page, site, site.form_cookie, site.signed(fresh, "form"))
    return page


async def open_form(request: Request) -> FormData:
    """What a form for anybody sent; refused without the word that belongs to the browser."""
    site = site_of(request)
    form = await form_of(request)
    nonce, word = _nonce(request, site), form.get("word")
    if nonce is None or not isinstance(word, str):
        raise StaleFormError
    if not hmac.compare_digest(word.encode(), site.form_word(nonce).encode()):
        raise StaleFormError
    return form


def set_cookie(response: Response, site: Site, name: str, value: str, *, seconds: int | None = None) -> None:
    """A cookie that no script can read and no other site can send; without `seconds` it goes with the browser."""
    response.set_cookie(name, value, max_age=seconds, httponly=True, secure=site.secure, samesite="lax", path="/")


def without_nul(text: str) -> str:
    """A text that every database takes."""
    return text.replace("\x00", "")


def _nonce(request: Request, site: Site) -> str | None:
    cookie = request.cookies.get(site.form_cookie)
    return None if cookie is None else site.unsigned(cookie, "form")
