"""What is shown when something is refused or fails: a page in words, or the same as JSON."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ringtrue.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    LateError,
    NotFoundError,
    RingtrueError,
    StoreError,
    UnavailableError,
    UsageError,
)
from ringtrue.service.web.auth.dependencies import SAFE, SignedOutError, StaleFormError
from ringtrue.service.web.judge.resubmit import sign_in_again, stale_form
from ringtrue.service.web.render import render, see_other
from ringtrue.service.web.security import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Response

__all__ = ["add_faults", "as_json", "is_api", "on_fault", "status_of"]

STATUS: tuple[tuple[type[RingtrueError], int], ...] = (
    (NotFoundError, 404),
    (ForbiddenError, 403),
    (ConflictError, 409),
    (LateError, 410),
    (UnavailableError, 503),
    (StoreError, 500),
    (UsageError, 422),
    (InputError, 422),
)
TITLES = {
    400: "This cannot be understood",
    403: "This is not for you",
    404: "There is no such page",
    405: "This cannot be done here",
    409: "This cannot be done now",
    410: "This is over",
    413: "This is too large",
    422: "This cannot be used as it is",
    429: "Too many attempts",
    500: "Something went wrong",
    503: "Not now",
}
KINDS = {
    400: "malformed", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "not_allowed", 409: "conflict",
    410: "late", 413: "too_large", 415: "media_type", 422: "invalid", 429: "too_many", 500: "fault", 503: "unavailable",
}  # fmt: skip
LONGEST = 2_000  # characters of a message
AGAIN = {"Retry-After": "2"}


def status_of(error: RingtrueError) -> int:
    """The HTTP status of one of our errors."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 400)


def is_api(request: Request) -> bool:
    """Whether the answer should be JSON: by the address, or because nothing else is accepted."""
    accepts = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or ("application/json" in accepts and "text/html" not in accepts)


def add_faults(app: FastAPI) -> None:
    """Teach an app to answer every error in words."""
    app.add_exception_handler(RingtrueError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(SignedOutError, _signed_out)
    app.add_exception_handler(StaleFormError, _stale)


def as_json(status: int, words: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error for programs: `{"error": {"kind": …, "message": …}}`."""
    plain = words[:LONGEST].encode("utf-8", "replace").decode()  # half a character, echoed, cannot be sent
    return JSONResponse({"error": {"kind": KINDS.get(status, "fault"), "message": plain}}, status, headers)


def _said(request: Request, status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    if is_api(request):
        return as_json(status, words, headers)
    title = TITLES.get(status) or HTTPStatus(status).phrase
    return render(request, "error.html", status=status, headers=headers, heading=title, words=words)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, RingtrueError)
    status = status_of(error)
    words = str(error)
    return _said(request, status, words[:1].upper() + words[1:], AGAIN if status == 503 else None)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__context__, TooLargeError):  # which the reader of forms takes for a broken one
        error = error.__context__
    words = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
    if error.status_code == 404:
        words = "The address may be mistyped, or what was here is gone."
    if error.status_code == 405:
        words = "This address is used in another way: go back, and follow a link or a button."
    return _said(request, error.status_code, words or error.detail, dict(error.headers or {}))


async def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()]
    return _said(request, 422, "; ".join(found)[:2000])


async def _signed_out(request: Request, _error: Exception) -> Response:
    if is_api(request):
        words = "log in, or send a token: Authorization: Bearer …"
        return as_json(401, words, {"WWW-Authenticate": "Bearer"})
    if request.method in SAFE:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return see_other("/login" if here == "/" else f"/login?next={quote(here, safe='')}")
    return await sign_in_again(request)


async def _stale(request: Request, error: Exception) -> Response:
    kept = None if is_api(request) else await stale_form(request)
    return kept or await _ours(request, error)


async def on_fault(request: Request, error: Exception) -> Response:
    """Answer an error that nobody meant to raise, and write it to the log: without the address, which may be secret."""
    if isinstance(error, HTTPException):  # raised while another error was being answered
        return await _http(request, error)
    route = getattr(request.scope.get("route"), "path", "?")
    logging.getLogger("ringtrue").error("%s %s failed", request.method, route, exc_info=error)
    words = "A fault of the server, not yours. It was written to its log; trying again may help."
    return _said(request, 500, words)
