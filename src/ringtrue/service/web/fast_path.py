"""HTTP without FastAPI for what judges send all the time, and answers that leave in one piece."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ringtrue.service.web.errors import handle_unexpected_error
from ringtrue.service.web.security import SecurityMiddleware

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

FLUSH_BYTES = 65_536  # bytes that are not held back


class CoalescingProtocol(HttpToolsProtocol):
    """uvicorn's protocol, before a transport that coalesces writes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the coalescing transport between."""
        super().connection_made(_CoalescingTransport(transport, self.loop))  # type: ignore[arg-type]


class _CoalescingTransport:
    """A transport that sends what is written in one turn of the loop at its end; all else is the transport's own."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pending: list[bytes] = []
        self._pending_bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep for the end of this turn, or send at once what is much."""
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes > FLUSH_BYTES:
            self._flush()

    def close(self) -> None:
        """Send what is held, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._pending and not self._transport.is_closing():
            pending, self._pending, self._pending_bytes = self._pending, [], 0
            self._transport.write(b"".join(pending))


Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
INTEGER_PATTERN, SEGMENT_PATTERN = "[0-9]{1,19}", "[^/]+"


@dataclass(frozen=True, slots=True, kw_only=True)
class FastRoute:
    """One method at one address, such as POST /tasks/{task:int}/answers; `app` says how its errors are answered.

    An address that does not fit, with no number where one belongs, is left to FastAPI, which tells what is wrong.

    Examples:
        >>> route = FastRoute(method="GET", path="/tasks/{task:int}/next", endpoint=print, app=FastAPI())
        >>> route.pattern.fullmatch("/tasks/17/next").groupdict(), route.pattern.fullmatch("/tasks/-1/next")
        ({'task': '17'}, None)
    """

    method: str
    path: str
    endpoint: Endpoint
    app: FastAPI
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = re.split(r"{(\w+)(:int)?}", self.path)  # text, name, kind, text, name, kind, …, text
        placeholders = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        patterns = [
            f"(?P<{name}>{INTEGER_PATTERN if kind else SEGMENT_PATTERN}){re.escape(text)}"
            for name, kind, text in placeholders
        ]
        object.__setattr__(self, "pattern", re.compile(re.escape(parts[0]) + "".join(patterns)))

    async def respond(self, request: Request) -> Response:
        """What the endpoint says, or what is said about its error; a fault of ours goes further out."""
        try:
            return await self.endpoint(request)
        except Exception as error:
            handlers: Mapping[Any, Any] = self.app.exception_handlers
            handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
            if handler is None:
                raise
            response: Response = await handler(request, error)
            return response


class FastPathApp(FastAPI):
    """An application with fast routes, which have the limits and headers of all the rest."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.fast_routes: dict[str, list[FastRoute]] = {}
        self.add_middleware(SecurityMiddleware, on_error=handle_unexpected_error)
        self._fast_path = SecurityMiddleware(_serve_fast_route, on_error=handle_unexpected_error)

    def add_fast_routes(self, routes: Iterable[FastRoute]) -> None:
        """Open some more; the first that fits is taken."""
        for route in routes:
            self.fast_routes.setdefault(route.method, []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the fast route of a request, or the way of all others."""
        if scope["type"] == "http":
            for route in self.fast_routes.get(scope["method"], ()):
                match = route.pattern.fullmatch(scope["path"])
                if match is not None:
                    scope.update(app=self, route=route, path_params=match.groupdict())
                    await self._fast_path(scope, receive, send)
                    return
        await super().__call__(scope, receive, send)


async def _serve_fast_route(scope: Scope, receive: Receive, send: Send) -> None:
    route: FastRoute = scope["route"]
    response = await route.respond(Request(scope, receive))
    await response(scope, receive, send)
