"""Threads of their own for each kind of work, so that none starves another: few at once, and a short queue.

The threads that touch the database are together fewer than its connections, so that nobody waits for one.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ringtrue.errors import UnavailableError
from ringtrue.messages import Note
from ringtrue.service.web.client_presence import CLIENT, ClientPresence

T = TypeVar("T")
READER_THREADS = 8  # who asks, and what a judge sees: short reads
OVERVIEW_THREADS = 4  # what owners, viewers and programs look up: lists and counts of a whole project
# Quality, exports, backups, imports, draws: seconds of work each. Half of the cores stay for log-ins and judges.
HEAVY_THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))
PAIR_THREADS = 2  # the next pairs for judges of a project that chooses them by votes
PASSWORD_THREADS = 2  # each hash takes 64 MiB and a fifth of a second
HEAVY_WAITING, HEAVY_PER_ACCOUNT = 16, 4
OVERVIEW_PER_ACCOUNT = 20
READERS_WAITING = 10_000  # more than connections: none is refused
OVERVIEW_WAITING = PAIRS_WAITING = PASSWORDS_WAITING = 200
RETRY_SECONDS = 5  # after which somebody with too much in hand may ask again


class WorkPool:
    """Some threads, and how much may wait for them; `per_account` bounds what one account has in hand.

    What is refused was not begun: 429 for an account with too much in hand, 503 where too many wait. Nor is what waits
    for a thread when all who asked for it have left.
    """

    def __init__(self, name: str, *, threads: int, waiting: int, per_account: int | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, f"ringtrue-{name}")
        self._threads, self._capacity, self._per_account = threads, threads + waiting, per_account
        self._lock = threading.Lock()  # work ends in its own thread
        self.in_hand = 0
        self._by_account: Counter[int] = Counter()
        self._shared: dict[Hashable, Future[Any]] = {}
        self._clients: dict[Future[Any], list[ClientPresence]] = {}  # who waits for it; used in the event loop alone

    async def run(self, work: Callable[[], T], *, account: int | None = None, share: Hashable = None) -> T:
        """What `work` answers; those who ask for the same `share` while it is computed get the one answer."""
        client = CLIENT.get() or ClientPresence()
        if client.is_gone:
            raise ClientDisconnect
        future = self.submit(work, account=account, share=share)
        clients = self._clients.setdefault(future, [])
        clients.append(client)
        try:
            with client.watched(partial(self._call_off_unwanted, future)):
                return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            if future.cancelled() and client.is_gone:
                raise ClientDisconnect from None
            raise
        finally:
            clients.remove(client)
            if not clients:
                self._clients.pop(future, None)

    def submit(self, work: Callable[[], T], *, account: int | None = None, share: Hashable = None) -> Future[T]:
        """Hand in a piece of work, or refuse it."""
        with self._lock:
            if share is not None and share in self._shared:
                return self._shared[share]
            if account is not None and self._per_account is not None:
                _require_share(self._by_account[account], self._per_account)
            if self.in_hand >= self._capacity:
                raise UnavailableError("server-busy", "the server is busy; try again in a moment")
            self.in_hand += 1
            if account is not None:
                self._by_account[account] += 1
            waiting_work = [work]
            future = self._executor.submit(lambda: waiting_work.pop()())
            if share is not None:
                self._shared[share] = future
        # The threads let go of what was called off only when they come to it, and it may hold files.
        future.add_done_callback(lambda _: waiting_work.clear())
        future.add_done_callback(lambda _: self._release(account, share))
        return future

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for a thread."""
        return max(0, self.in_hand - self._threads)

    def shutdown(self, *, wait: bool = False) -> None:
        """Begin nothing more; what runs is finished, and waited for if told so."""
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def _call_off_unwanted(self, future: Future[Any]) -> None:
        if all(client.is_gone for client in self._clients[future]):
            future.cancel()  # which does nothing where it has begun

    def _release(self, account: int | None, share: Hashable) -> None:
        with self._lock:
            self.in_hand -= 1
            self._shared.pop(share, None)
            if account is not None:
                self._by_account -= Counter((account,))  # without those that reach 0


def _require_share(in_hand: int, limit: int) -> None:
    if in_hand >= limit:
        raise HTTPException(
            429,
            Note(
                "too-many-requests",
                f"this account has {in_hand} requests in hand already: wait until one of them is answered, then try "
                f"again",
            ),
            {"Retry-After": str(RETRY_SECONDS)},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPools:
    """The pools of a server, by what they are for; short reads and writes have threads elsewhere."""

    overview: WorkPool = field(
        default_factory=partial(
            WorkPool,
            "overview",
            threads=OVERVIEW_THREADS,
            waiting=OVERVIEW_WAITING,
            per_account=OVERVIEW_PER_ACCOUNT,
        )
    )
    heavy: WorkPool = field(
        default_factory=partial(
            WorkPool, "heavy", threads=HEAVY_THREADS, waiting=HEAVY_WAITING, per_account=HEAVY_PER_ACCOUNT
        )
    )
    pairs: WorkPool = field(default_factory=partial(WorkPool, "pairs", threads=PAIR_THREADS, waiting=PAIRS_WAITING))
    passwords: WorkPool = field(
        default_factory=partial(WorkPool, "passwords", threads=PASSWORD_THREADS, waiting=PASSWORDS_WAITING)
    )

    def by_name(self) -> dict[str, WorkPool]:
        """Each pool by what it is for."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def shutdown(self) -> None:
        """Begin nothing more in any of them."""
        for pool in self.by_name().values():
            pool.shutdown()
