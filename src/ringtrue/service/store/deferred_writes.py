"""Writes that may come later: kept in memory while the database cannot be written.

Whoever downloads an export or a backup must get it from a full disk too; that it was done is written down as soon as
there is room. Each entry also goes to the log when it is put off: a server that is killed before loses it from memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ringtrue.errors import UnavailableError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.store import Store

MAX_DEFERRED = 10_000  # pieces of work that are kept; what comes after is in the log alone
LOGGER = logging.getLogger("ringtrue")


class DeferredWrites:
    """The pieces of work that a store could not write yet, the oldest first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[tuple[str, Callable[[Connection], object]]] = deque()
        self._flushing: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def write(self, work: Callable[[Connection], object], *, description: str) -> bool:
        """Write now, or as soon as the database can be written again; whether it was now.

        `description` is what the log says of it, and holds nothing personal.
        """
        try:
            await self._store.write_async(work, patience=0)
        except UnavailableError as error:
            is_kept = len(self._waiting) < MAX_DEFERRED
            if is_kept:
                self._waiting.append((description, work))
            LOGGER.warning(
                "%s: %s (%s)",
                "written down later" if is_kept else "not written down, too many wait",
                description,
                error,
            )
            return False
        return True

    async def flush(self) -> None:
        """Try again what waits, until the database refuses; one try at a time, which goes on if its caller does not."""
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._write_waiting())
        await asyncio.shield(self._flushing)

    async def _write_waiting(self) -> None:
        while self._waiting:
            description, work = self._waiting.popleft()
            try:
                await self._store.write_async(work, patience=0)
            except UnavailableError:
                self._waiting.appendleft((description, work))
                return
            except Exception:  # what it is about was deleted meanwhile; the others must not wait for it
                LOGGER.exception("cannot be written down: %s", description)
