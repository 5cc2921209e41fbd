"""What every page has at hand: the store, the clock, and how cookies are signed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from itsdangerous import BadSignature, Signer

from ringtrue.service.web.auth.read_only_login import MemoryAttempts
from ringtrue.service.web.health_record import HealthRecord
from ringtrue.service.web.metrics import RequestMetrics

if TYPE_CHECKING:
    from fastapi import Request
    from sqlalchemy import Connection

    from ringtrue.service.store import Store

T = TypeVar("T")
READER_THREADS = 8  # threads that read; fewer than the connections of the store


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """One server: where it keeps things, how it is reached, and what it signs with.

    `secure` says that browsers reach it by https only, so that its cookies travel no other way.
    """

    store: Store
    secret: bytes
    base_url: str | None = None
    secure: bool = False
    upload_limit: int = 0
    clock: Callable[[], float] = time.time
    attempts: MemoryAttempts = field(default_factory=MemoryAttempts)
    health: HealthRecord = field(default_factory=HealthRecord)
    metrics: RequestMetrics = field(default_factory=RequestMetrics)
    readers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(READER_THREADS, "ringtrue-reader"))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up, without holding up anybody else."""
        return await asyncio.get_running_loop().run_in_executor(self.readers, self._read_in_thread, work)

    def _read_in_thread(self, work: Callable[[Connection], T]) -> T:
        with self.store.read() as connection:
            return work(connection)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.store.write_async(work)  # a browser that goes away takes nothing back

    async def compute(self, work: Callable[[], T]) -> T:
        """Run something longer in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(None, work)

    def run_in_background(self, work: Callable[[], object]) -> None:
        """Run something in a thread of its own while nobody waits for it; what fails is tried again by the next."""
        future = asyncio.get_running_loop().run_in_executor(None, work)
        future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    @property
    def session_cookie(self) -> str:
        """The name of the cookie of who is logged in; browsers keep __Host- to https and to this very host."""
        return "__Host-ringtrue" if self.secure else "ringtrue"

    @property
    def form_cookie(self) -> str:
        """The name of the cookie that ties the forms of somebody who is not logged in to their browser."""
        return f"{self.session_cookie}-form"

    def sign(self, value: str, purpose: str) -> str:
        """A value with our signature; one that was made for another purpose is not good for this one."""
        return self._signer(purpose).sign(value).decode()

    def unsign(self, text: str, purpose: str) -> str | None:
        """The value that we signed; None when we did not."""
        try:
            return self._signer(purpose).unsign(text).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def _signer(self, purpose: str) -> Signer:
        return Signer(self.secret, salt=f"ringtrue {purpose}", digest_method=hashlib.sha256)

    def form_token(self, nonce: str) -> str:
        """What a form of somebody who is not logged in has to send back, for the cookie that came with it."""
        return hmac.new(self.secret, f"form {nonce}".encode(), hashlib.sha256).hexdigest()

    def absolute_url(self, request: Request, path: str) -> str:
        """A whole address to be sent to people."""
        return f"{self.base_url or f'{request.url.scheme}://{request.url.netloc}'}{path}"


def get_server_context(request: Request) -> ServerContext:
    """The server that a request came to."""
    server: ServerContext = request.app.state.server
    return server
