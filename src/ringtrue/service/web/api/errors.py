"""Errors as JSON: `{"error": {"kind": …, "message": …}}`, with the status that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ringtrue.errors import RingtrueError
from ringtrue.service.web.api.token_auth import UnknownTokenError
from ringtrue.service.web.errors import AGAIN, as_json, status_of
from ringtrue.service.web.security import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastapi import FastAPI, Request
    from starlette.responses import JSONResponse

__all__ = ["add_faults", "complaint"]

WHO = {"WWW-Authenticate": "Bearer"}


def add_faults(app: FastAPI) -> None:
    """Teach an app to answer every error as JSON."""
    app.add_exception_handler(RingtrueError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ValidationError, _invalid)


def complaint(errors: Iterable[Mapping[str, Any]]) -> str:
    """What is wrong with what was sent, where and how, in one line.

    Examples:
        >>> complaint([{"loc": ("body", "settings", "judges"), "msg": "Input should be a valid integer"}])
        'settings.judges: Input should be a valid integer'
    """
    said = []
    for error in errors:
        where = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
        said.append(f"{where}: {error['msg']}" if where else str(error["msg"]))
    return "; ".join(said)


async def _ours(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RingtrueError)
    if isinstance(error, UnknownTokenError):
        return as_json(401, str(error), WHO)
    status = status_of(error)
    return as_json(status, str(error), AGAIN if status == 503 else None)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__context__, TooLargeError):  # which the reader of forms takes for a broken one
        error = error.__context__
    words = error.detail
    if error.status_code == 404:
        words = f"there is nothing at {request.url.path}; openapi.json lists what there is"
    if error.status_code == 405:
        words = f"{request.method} cannot be done at {request.url.path}; openapi.json lists what can"
    return as_json(error.status_code, words, error.headers)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError | ValidationError)
    found = error.errors()
    malformed = any(one["type"] == "json_invalid" for one in found)
    words = complaint(found)
    if malformed:
        words = f"expected JSON: {found[0].get('ctx', {}).get('error', words)}"
    return as_json(400 if malformed else 422, words)
