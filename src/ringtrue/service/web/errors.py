"""What is answered when something is refused or fails: a page in words, or JSON with a kind, a code and a message."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

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
from ringtrue.messages import Note, spell
from ringtrue.service.web.auth.anonymous_forms import login_page_keeping_answer, resend_page_for_stale_form
from ringtrue.service.web.auth.dependencies import SignedOutError, StaleFormError
from ringtrue.service.web.auth.token_auth import UnknownTokenError
from ringtrue.service.web.field_spelling import API_SPELLING, as_sentence
from ringtrue.service.web.origins import SAFE_METHODS
from ringtrue.service.web.request_logs import CLIENT_LEFT, REQUEST_ID
from ringtrue.service.web.responses import render, see_other
from ringtrue.service.web.security import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

STATUS_BY_ERROR: tuple[tuple[type[RingtrueError], int], ...] = (
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
    429: "Too much at once",
    500: "Something went wrong",
    503: "Not now",
}
ERROR_KINDS = {
    400: "malformed", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "not_allowed", 409: "conflict",
    410: "late", 413: "too_large", 415: "media_type", 422: "invalid", 429: "too_many", 500: "fault", 503: "unavailable",
}  # fmt: skip
MAX_MESSAGE_LENGTH = 2_000  # characters of a message
RETRY_AFTER = {"Retry-After": "2"}
BEARER_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def status_of(error: RingtrueError) -> int:
    """The HTTP status of one of our errors."""
    return next((status for error_type, status in STATUS_BY_ERROR if isinstance(error, error_type)), 400)


def wants_json(request: Request) -> bool:
    """Whether the answer should be JSON: by the address, or because nothing else is accepted."""
    accepts = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or ("application/json" in accepts and "text/html" not in accepts)


def add_page_error_handlers(app: FastAPI) -> None:
    """Teach an app to answer every error in words."""
    app.add_exception_handler(RingtrueError, _handle_ringtrue_error)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(SignedOutError, _handle_signed_out)
    app.add_exception_handler(StaleFormError, _handle_stale_form)
    app.add_exception_handler(ClientDisconnect, _handle_client_left)


def make_json_error(
    status: int, problem: Note | RingtrueError, headers: Mapping[str, str] | None = None, *, message: str | None = None
) -> JSONResponse:
    """An error for programs: `{"error": {"kind": …, "code": …, "message": …, "parameter": …, "request_id": …}}`."""
    if message is None:
        message = spell(problem, API_SPELLING) if isinstance(problem, Note) else problem.spelled(API_SPELLING)
    # half a character, echoed, cannot be sent
    encodable = message[:MAX_MESSAGE_LENGTH].encode("utf-8", "replace").decode()
    error = {
        "kind": ERROR_KINDS.get(status, "fault"),
        "code": problem.code,
        "message": encodable,
        "parameter": problem.parameter,
        "request_id": REQUEST_ID.get(),
    }
    return JSONResponse({"error": error}, status, headers)


def _error_response(
    request: Request, status: int, problem: Note | RingtrueError, headers: Mapping[str, str] | None = None
) -> Response:
    sentence = as_sentence(problem)
    if wants_json(request):
        return make_json_error(status, problem, headers, message=sentence)
    return render(
        request,
        "error.html",
        status=status,
        headers=headers,
        heading=TITLES.get(status) or HTTPStatus(status).phrase,
        words=sentence,
        code=problem.code,
        request_id=REQUEST_ID.get(),
    )


async def _handle_ringtrue_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RingtrueError)
    if isinstance(error, UnknownTokenError):
        return make_json_error(401, error, BEARER_CHALLENGE)
    status = status_of(error)
    return _error_response(request, status, error, RETRY_AFTER if status == 503 else None)


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    error = _unwrap_too_large(error)
    problem = _describe_http_error(error)
    if error.status_code == 404:
        problem = Note("no-such-address", "the address may be mistyped, or what was here is gone")
    if error.status_code == 405:
        problem = Note(
            "method-not-allowed", "this address is used in another way: go back, and follow a link or a button"
        )
    return _error_response(request, error.status_code, problem, error.headers)


def _describe_http_error(error: HTTPException) -> Note:
    """What we raised as a note, and the words of the framework as one."""
    return error.detail if isinstance(error.detail, Note) else Note("http-error", error.detail)


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}" for problem in error.errors()]
    return _error_response(request, 422, Note("invalid-request", "; ".join(problems)[:2000]))


async def _handle_signed_out(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignedOutError)
    if wants_json(request):
        return make_json_error(401, error, BEARER_CHALLENGE)
    if request.method in SAFE_METHODS:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return see_other("/login" if path == "/" else f"/login?next={quote(path, safe='')}")
    return await login_page_keeping_answer(request)


async def _handle_stale_form(request: Request, error: Exception) -> Response:
    resend = None if wants_json(request) else await resend_page_for_stale_form(request)
    return resend or await _handle_ringtrue_error(request, error)


async def _handle_client_left(_request: Request, _error: Exception) -> Response:
    """What is counted and logged of a request whose client left before it was answered; it reaches nobody."""
    return Response(status_code=CLIENT_LEFT)


async def handle_unexpected_error(request: Request, error: Exception) -> Response:
    """Answer an error that nobody meant to raise, and write it to the log: without the address, which may be secret."""
    if isinstance(error, HTTPException):  # raised while another error was being answered
        return await _handle_http_error(request, error)
    route = getattr(request.scope.get("route"), "path", "?")
    logging.getLogger("ringtrue").error("%s %s failed", request.method, route, exc_info=error)
    fault = Note("server-fault", "a fault of the server, not yours. It was written to its log; trying again may help")
    return _error_response(request, 500, fault)


def _unwrap_too_large(error: HTTPException) -> HTTPException:
    """Too much, where the reader of forms took it for a broken form."""
    return error.__context__ if isinstance(error.__context__, TooLargeError) else error


def add_api_error_handlers(app: FastAPI) -> None:
    """Teach an app to answer every error as JSON."""
    app.add_exception_handler(RingtrueError, _handle_api_ringtrue_error)
    app.add_exception_handler(HTTPException, _handle_api_http_error)
    app.add_exception_handler(RequestValidationError, _handle_api_validation_error)
    app.add_exception_handler(ValidationError, _handle_api_validation_error)
    app.add_exception_handler(ClientDisconnect, _handle_client_left)


def describe_validation_errors(errors: Iterable[Mapping[str, Any]]) -> str:
    """What is wrong with what was sent, where and how, in one line.

    Examples:
        >>> error = {"loc": ("body", "settings", "judges"), "msg": "Input should be a valid integer"}
        >>> describe_validation_errors([error])
        'settings.judges: Input should be a valid integer'
    """
    problems = []
    for error in errors:
        where = _locate(error)
        problems.append(f"{where}: {error['msg']}" if where else str(error["msg"]))
    return "; ".join(problems)


def _locate(error: Mapping[str, Any]) -> str:
    """The field that is wrong: `settings.judges`."""
    return ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))


async def _handle_api_ringtrue_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RingtrueError)
    if isinstance(error, UnknownTokenError):
        return make_json_error(401, error, BEARER_CHALLENGE)
    status = status_of(error)
    return make_json_error(status, error, RETRY_AFTER if status == 503 else None)


async def _handle_api_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    error = _unwrap_too_large(error)
    problem = _describe_http_error(error)
    if error.status_code == 404:
        problem = Note("no-such-address", f"there is nothing at {request.url.path}; openapi.json lists what there is")
    if error.status_code == 405:
        problem = Note(
            "method-not-allowed", f"{request.method} cannot be done at {request.url.path}; openapi.json lists what can"
        )
    return make_json_error(error.status_code, problem, error.headers)


async def _handle_api_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError | ValidationError)
    problems = error.errors()
    text = describe_validation_errors(problems)
    if any(problem["type"] == "json_invalid" for problem in problems):
        reason = problems[0].get("ctx", {}).get("error", text)
        return make_json_error(400, Note("malformed-json", f"expected JSON: {reason}"))
    if any(problem["loc"] == ("body",) for problem in problems) and not _is_json(request):
        note = Note("json-expected", "expected a body of JSON: send it with Content-Type: application/json")
        return make_json_error(422, note)
    return make_json_error(422, Note("invalid-request", text, parameter=_locate(problems[0]) or None))


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"
