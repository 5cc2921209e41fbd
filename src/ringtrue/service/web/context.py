"""What every page has at hand: the store, the clock, and how cookies are signed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from itsdangerous import BadSignature, Signer

from ringtrue.errors import UnavailableError
from ringtrue.messages import PYTHON_CALLS
from ringtrue.service.web.auth.read_only_login import EndedSessions, MemoryAttempts
from ringtrue.service.web.health_record import HealthRecord
from ringtrue.service.web.metrics import RequestMetrics
from ringtrue.service.web.origins import find_own_url
from ringtrue.service.web.work_pools import READER_THREADS, READERS_WAITING, WorkPool, WorkPools

if TYPE_CHECKING:
    from fastapi import Request
    from sqlalchemy import Connection

    from ringtrue.messages import CallSpelling
    from ringtrue.service.store import Store

T = TypeVar("T")


def draw_memory_secret() -> bytes:
    """What a server signs with that no database holds: drawn at its start, and shared by its processes."""
    return secrets.token_bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """One server: where it keeps things, how it is reached, and what it signs with.

    `secret` is kept in the database; `memory_secret` is not, and whoever reads the database can sign nothing with it.
    `secure` says that browsers reach it by https only, so that its cookies travel no other way. `spelling` writes the
    calls that read exported files.
    """

    store: Store
    secret: bytes
    memory_secret: bytes = field(default_factory=draw_memory_secret)
    base_url: str | None = None
    secure: bool = False
    upload_limit: int = 0
    spelling: CallSpelling = PYTHON_CALLS
    clock: Callable[[], float] = time.time
    attempts: MemoryAttempts = field(default_factory=MemoryAttempts)
    ended_sessions: EndedSessions = field(default_factory=EndedSessions)
    health: HealthRecord = field(default_factory=HealthRecord)
    metrics: RequestMetrics = field(default_factory=RequestMetrics)
    readers: WorkPool = field(
        default_factory=lambda: WorkPool("reader", threads=READER_THREADS, waiting=READERS_WAITING)
    )
    pools: WorkPools = field(default_factory=WorkPools)
    known_tokens: dict[bytes, float] = field(default_factory=dict)  # hashes, and until when they need no look-up

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look up something short: who asks, or what a judge sees."""
        return await self.readers.run(lambda: self._read_in_thread(work))

    async def read_overview(self, account: int, work: Callable[[Connection], T]) -> T:
        """Look up what may take long in a large project, without holding up those who log in or judge."""
        return await self.pools.overview.run(lambda: self._read_in_thread(work), account=account)

    def _read_in_thread(self, work: Callable[[Connection], T]) -> T:
        with self.store.read() as connection:
            return work(connection)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.store.write_async(work)  # a browser that goes away takes nothing back

    async def compute(self, account: int, work: Callable[[], T], *, share: Hashable = None) -> T:
        """Run something that takes seconds; an account has few of them in hand at once.

        Those who ask for the same `share` while it is computed get one answer.
        """
        return await self.pools.heavy.run(work, account=account, share=share)

    async def choose_pairs(self, work: Callable[[], T]) -> T:
        """Choose the next pairs for a judge who waits for them."""
        return await self.pools.pairs.run(work)

    def choose_pairs_in_background(self, work: Callable[[], object]) -> None:
        """The same while nobody waits for it; what fails, or finds no room, is tried again by the next."""
        with suppress(UnavailableError):
            self.pools.pairs.submit(work)

    async def hash(self, work: Callable[[], T]) -> T:
        """Hash or check a password."""
        return await self.pools.passwords.run(work)

    def close(self) -> None:
        """Let go of all threads."""
        self.readers.shutdown(wait=True)
        self.pools.shutdown()

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
        return _make_signer(self.secret, purpose).sign(value).decode()

    def unsign(self, text: str, purpose: str) -> str | None:
        """The value that we signed; None when we did not."""
        return _unsign(_make_signer(self.secret, purpose), text)

    def sign_in_memory(self, value: str, purpose: str) -> str:
        """A value with a signature that only this server can make, and only until it ends."""
        return _make_signer(self.memory_secret, purpose).sign(value).decode()

    def unsign_in_memory(self, text: str, purpose: str) -> str | None:
        """The value that this server signed since it was started; None when it did not."""
        return _unsign(_make_signer(self.memory_secret, purpose), text)

    def form_token(self, nonce: str) -> str:
        """What a form of somebody who is not logged in has to send back, for the cookie that came with it."""
        return hmac.new(self.secret, f"form {nonce}".encode(), hashlib.sha256).hexdigest()

    def absolute_url(self, request: Request, path: str) -> str:
        """A whole address to be sent to people; never one that a stranger chose by a header."""
        return f"{self.base_url or find_own_url(request.scope)}{path}"


def _make_signer(secret: bytes, purpose: str) -> Signer:
    return Signer(secret, salt=f"ringtrue {purpose}", digest_method=hashlib.sha256)


def _unsign(signer: Signer, text: str) -> str | None:
    try:
        return signer.unsign(text).decode()
    except (BadSignature, UnicodeDecodeError):
        return None


def get_server_context(request: Request) -> ServerContext:
    """The server that a request came to."""
    server: ServerContext = request.app.state.server
    return server
