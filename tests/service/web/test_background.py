"""Work that a server does again and again by itself."""

from __future__ import annotations

import asyncio

import pytest

from ringtrue.errors import StoreError
from ringtrue.service.web.background import repeat_work


def test_work_that_fails_is_done_again_and_faults_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    failures = iter((RuntimeError("a fault"), StoreError("locked", "the database is locked")))
    done = asyncio.Event()

    async def work() -> None:
        for error in failures:
            raise error
        done.set()

    async def watch() -> None:
        loop = asyncio.create_task(repeat_work(work, seconds=0))
        await asyncio.wait_for(done.wait(), 5)
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)

    asyncio.run(watch())
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert "a fault" in caplog.text
