"""Errors as JSON: `{"error": {"kind": …, "message": …}}`, with the status that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ringtrue.errors import RingtrueError
from ringtrue.service.web.api.token_auth import UnknownTokenError
from ringtrue.service.web.errors import RETRY_AFTER, make_json_error, status_of
from ringtrue.service.web.security import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastapi import FastAPI, Request
    from starlette.responses import JSONResponse

BEARER_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def add_api_error_handlers(app: FastAPI) -> None:
    """Teach an app to answer every error as JSON."""
    app.add_exception_handler(RingtrueError, _handle_ringtrue_error)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(ValidationError, _handle_validation_error)


def describe_validation_errors(errors: Iterable[Mapping[str, Any]]) -> str:
    """What is wrong with what was sent, where and how, in one line.

    Examples:
        >>> error = {"loc": ("body", "settings", "judges"), "msg": "Input should be a valid integer"}
        >>> describe_validation_errors([error])
        'settings.judges: Input should be a valid integer'
    """
    problems = []
    for error in errors:
        where = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
        problems.append(f"{where}: {error['msg']}" if where else str(error["msg"]))
    return "; ".join(problems)


async def _handle_ringtrue_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RingtrueError)
    if isinstance(error, UnknownTokenError):
        return make_json_error(401, str(error), BEARER_CHALLENGE)
    status = status_of(error)
    return make_json_error(status, str(error), RETRY_AFTER if status == 503 else None)


async def _handle_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__context__, TooLargeError):  # which the reader of forms takes for a broken one
        error = error.__context__
    message = error.detail
    if error.status_code == 404:
        message = f"there is nothing at {request.url.path}; openapi.json lists what there is"
    if error.status_code == 405:
        message = f"{request.method} cannot be done at {request.url.path}; openapi.json lists what can"
    return make_json_error(error.status_code, message, error.headers)


async def _handle_validation_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError | ValidationError)
    problems = error.errors()
    is_malformed = any(problem["type"] == "json_invalid" for problem in problems)
    message = describe_validation_errors(problems)
    if is_malformed:
        message = f"expected JSON: {problems[0].get('ctx', {}).get('error', message)}"
    return make_json_error(400 if is_malformed else 422, message)
