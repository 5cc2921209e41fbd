"""An answer that came too late for its login is kept: it is carried along, and sent again by the one who gave it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastapi import Request

from ringtrue.service.web.auth.anonymous_forms import render_open
from ringtrue.service.web.render import render
from ringtrue.service.web.security import form_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Response

__all__ = ["FIELDS", "PREFIX", "is_answer", "kept_answer", "resend_page", "sign_in_again", "stale_form"]

# What the judge's form sends; nothing else is carried along.
FIELDS = ("task", "assignment", "version", "kind", "answer", "reason", "seconds", "away", "since")
ANSWERS = re.compile(r"/p/[a-z0-9][a-z0-9-]{0,62}/answer")
LONGEST = 10_000  # characters of a field
PREFIX = "kept-"


def is_answer(path: str) -> bool:
    """Whether judges send their answers to this path."""
    return ANSWERS.fullmatch(path) is not None


def kept_answer(path: str, form: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """The fields of an answer that was sent to this path; empty where it was no answer."""
    if not is_answer(path):
        return {}
    found = {name: form.get(prefix + name) for name in FIELDS}
    return {name: value[:LONGEST] for name, value in found.items() if isinstance(value, str)}


async def sign_in_again(request: Request) -> Response:
    """The page to log in, for a form that was sent by nobody; an answer is kept on it."""
    path = request.url.path
    kept = kept_answer(path, await form_of(request)) if is_answer(path) else {}
    told = (
        "Your login has ended. Your answer is kept on this page: log in, and send it again."
        if kept
        else "Your login has ended, and nothing was saved. Log in, and send it again."
    )
    return render_open(
        request, "login.html", status=401, next=path if kept else "/", kept=kept, problem=told, handle=""
    )


async def stale_form(request: Request) -> Response | None:
    """For an answer from an earlier login: a page to send it again; None for other forms."""
    kept = kept_answer(request.url.path, await form_of(request))
    return resend_page(request, request.url.path, kept, status=403) if kept else None


def resend_page(request: Request, path: str, kept: Mapping[str, str], *, status: int = 200) -> Response:
    """A page with an answer that was not saved yet, and a button that sends it."""
    return render(request, "kept.html", status=status, path=path, kept=kept)
