"""One line for each request, and an id by which it is known: in the log, in the answer's header and in error messages.

A line has the template of the route, never the address, in which links hold secrets; and the number of the account,
never its name.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ringtrue.service.web.context import ServerContext

LogFormat: TypeAlias = Literal["text", "json"]
HEADER = b"x-request-id"
WELL_FORMED = re.compile(rb"[A-Za-z0-9_-][A-Za-z0-9._-]{7,63}")
REQUEST_LOGGER = logging.getLogger("ringtrue.requests")
CLIENT_LEFT = 499  # nobody was there to be answered: nginx's number for it
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")  # of the request that is being answered


class RequestLogMiddleware:
    """Names each request, measures it and writes it down."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its id in the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        server: ServerContext = scope["app"].state.server
        started, status = time.perf_counter(), CLIENT_LEFT
        request_id = _request_id(scope, trusted=server.base_url is not None)
        REQUEST_ID.set(request_id)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds, route = time.perf_counter() - started, route_template(scope)
            server.metrics.observe(route, scope["method"], status, seconds)
            if REQUEST_LOGGER.isEnabledFor(logging.INFO):
                values = {
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000, 1),
                    "account": scope.get("state", {}).get("account"),
                }
                REQUEST_LOGGER.info("%(method)s %(route)s %(status)s %(ms)s ms", values, extra={"request": values})


def _request_id(scope: Scope, *, trusted: bool) -> str:
    """The id that a proxy gave, where there is one before us and it is well-formed; else a new one."""
    if trusted:
        for name, value in scope["headers"]:
            if name == HEADER and WELL_FORMED.fullmatch(value):
                return str(value.decode())
    return draw_request_id()


def draw_request_id() -> str:
    """A new id for a request."""
    return secrets.token_hex(8)


def log_refusal(request_id: str, status: int, message: str) -> None:
    """Write down what was refused before it was a request: its method and route are not known."""
    token = REQUEST_ID.set(request_id)
    REQUEST_LOGGER.info("refused %s %s", status, message, extra={"request": {"status": status}})
    REQUEST_ID.reset(token)


def log_broken_off(message: str) -> None:
    """Write down that a connection was closed in the middle of an answer."""
    REQUEST_LOGGER.info("broken off: %s", message)


def route_template(scope: Scope) -> str:
    """The address without what stands in it: `/p/{project}/answer`; `unmatched` where there is no such page."""
    path, mounted_at = getattr(scope.get("route"), "path", None), scope.get("root_path", "")
    if path is None:
        return f"{mounted_at}/{{path}}" if mounted_at else "unmatched"
    return f"{mounted_at}{path}"


def configure_logging(log_format: LogFormat | None) -> None:
    """Write a line for each request to standard error, and everything else in the same form; None writes neither."""
    if log_format is None:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.getLogger().addHandler(handler)
    REQUEST_LOGGER.setLevel(logging.INFO)


class JsonFormatter(logging.Formatter):
    """An object on each line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message and request id; of a request also its parts, of a fault where it came from."""
        entry: dict[str, Any] = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := REQUEST_ID.get():
            entry["request_id"] = request_id
        entry |= getattr(record, "request", {})
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A line for people; what spans several lines, such as where a fault came from, follows below."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, request id and message."""
        text = f"{_format_time(record)} {record.levelname} [{REQUEST_ID.get() or '-'}] {record.getMessage()}"
        if account := getattr(record, "request", {}).get("account"):
            text += f" account {account}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def _format_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
