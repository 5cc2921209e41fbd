"""Whether the client of a request is still there, so that nothing is looked up for one that has left.

The protocol makes one for each connection and says when it is lost. Nobody asks the ASGI server for that, which would
take the body from whoever reads it later. Without such a protocol, as in tests, every client stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SCOPE_KEY = "ringtrue.client"


class ClientPresence:
    """Whether a client is there, and what is to be done when it leaves."""

    __slots__ = ("_callbacks", "is_gone")

    def __init__(self) -> None:
        self.is_gone = False
        self._callbacks: list[Callable[[], object]] = []

    def leave(self) -> None:
        """Say that the client is gone."""
        self.is_gone = True
        for callback in tuple(self._callbacks):
            callback()

    @contextmanager
    def watched(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call back if the client leaves before the block ends."""
        self._callbacks.append(callback)
        try:
            yield
        finally:
            self._callbacks.remove(callback)


CLIENT: ContextVar[ClientPresence | None] = ContextVar("client", default=None)  # of the request that is being answered
