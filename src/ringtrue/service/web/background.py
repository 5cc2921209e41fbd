"""Work that a server does again and again by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ringtrue.errors import RingtrueError

LOGGER = logging.getLogger("ringtrue")


async def repeat_work(work: Callable[[], Awaitable[object]], *, seconds: float) -> None:
    """Work until cancelled, with a pause in between; what fails is tried again, and logged if it is a fault of ours."""
    while True:
        try:
            await work()
        except RingtrueError:  # the database is locked, full or away: `/healthz` tells that
            pass
        except Exception:
            LOGGER.exception("regular work failed; it is tried again in %g s", seconds)
        await asyncio.sleep(seconds)
