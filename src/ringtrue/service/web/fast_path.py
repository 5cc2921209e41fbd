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

from ringtrue.service.web.errors import on_fault
from ringtrue.service.web.security import Protection

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["Endpoint", "Gathering", "Lane", "Server"]

ENOUGH = 65_536  # bytes that are not held back


class Gathering(HttpToolsProtocol):
    """uvicorn's protocol, before a transport that gathers."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the gathering transport between."""
        super().connection_made(_Gathered(transport, self.loop))  # type: ignore[arg-type]


class _Gathered:
    """A transport that sends what is written in one turn of the loop at its end; all else is the transport's own."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep for the end of this turn, or send at once what is much."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)
        self._size += len(data)
        if self._size > ENOUGH:
            self._send()

    def close(self) -> None:
        """Send what is held, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held and not self._transport.is_closing():
            held, self._held, self._size = self._held, [], 0
            self._transport.write(b"".join(held))


Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
NUMBER, WORD = "[0-9]{1,19}", "[^/]+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One method at one address, such as POST /tasks/{task:int}/answers; `app` says how its errors are answered.

    An address that does not fit, with no number where one belongs, is left to FastAPI, which tells what is wrong.

    Examples:
        >>> lane = Lane(method="GET", path="/tasks/{task:int}/next", endpoint=print, app=FastAPI())
        >>> lane.pattern.fullmatch("/tasks/17/next").groupdict(), lane.pattern.fullmatch("/tasks/-1/next")
        ({'task': '17'}, None)
    """

    method: str
    path: str
    endpoint: Endpoint
    app: FastAPI
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = re.split(r"{(\w+)(:int)?}", self.path)  # text, name, kind, text, name, kind, …, text
        named = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        behind = [f"(?P<{name}>{NUMBER if kind else WORD}){re.escape(text)}" for name, kind, text in named]
        object.__setattr__(self, "pattern", re.compile(re.escape(parts[0]) + "".join(behind)))

    async def answer(self, request: Request) -> Response:
        """What the endpoint says, or what is said about its error; a fault of ours goes further out."""
        try:
            return await self.endpoint(request)
        except Exception as error:
            handlers: Mapping[Any, Any] = self.app.exception_handlers
            handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
            if handler is None:
                raise
            answer: Response = await handler(request, error)
            return answer


class Server(FastAPI):
    """An application with lanes, which have the limits and headers of all the rest."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.lanes: dict[str, list[Lane]] = {}
        self.add_middleware(Protection, on_fault=on_fault)
        self._straight = Protection(_answer, on_fault=on_fault)

    def add_lanes(self, lanes: Iterable[Lane]) -> None:
        """Open some more; the first that fits is taken."""
        for lane in lanes:
            self.lanes.setdefault(lane.method, []).append(lane)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the lane of a request, or the way of all others."""
        if scope["type"] == "http":
            for lane in self.lanes.get(scope["method"], ()):
                found = lane.pattern.fullmatch(scope["path"])
                if found is not None:
                    scope.update(app=self, route=lane, path_params=found.groupdict())
                    await self._straight(scope, receive, send)
                    return
        await super().__call__(scope, receive, send)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    lane: Lane = scope["route"]
    answer = await lane.answer(Request(scope, receive))
    await answer(scope, receive, send)
