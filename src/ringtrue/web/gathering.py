"""HTTP whose answers leave in one piece.

uvicorn hands the head of an answer and its body to the socket one after the other, and each is a call of the system
that wakes whoever reads: with small answers, that is a good part of what they cost.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Gathering"]

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
