from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from ringtrue.service.store import Store, deferred_writes
from service.full_disks import make_read_only
from service.small_projects import rows


def adding(word: str) -> Callable[[Any], object]:
    return lambda connection: connection.execute(text("INSERT INTO attempt (what, time) VALUES (:w, 0)"), {"w": word})


@pytest.fixture
def store(sqlite_path: Any) -> Any:
    with Store.open(str(sqlite_path)) as opened:
        yield opened


def kept(store: Store) -> list[str]:
    return [word for (word,) in rows(store, "SELECT what FROM attempt ORDER BY id")]


def test_what_can_be_written_is_written_at_once(store: Store) -> None:
    assert asyncio.run(store.deferred.write(adding("a"), description="a"))
    assert kept(store) == ["a"]
    assert len(store.deferred) == 0


def test_what_cannot_be_written_is_logged_kept_and_written_in_order_once_it_can(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    end = make_read_only(store)

    async def work() -> None:
        for word in "abc":
            assert not await store.deferred.write(adding(word), description=f"account 7: export {word}")
        await store.deferred.flush()
        assert (kept(store), len(store.deferred)) == ([], 3)
        end()
        await store.deferred.flush()

    with caplog.at_level(logging.WARNING, "ringtrue"):
        asyncio.run(work())
    assert (kept(store), len(store.deferred)) == (["a", "b", "c"], 0)
    kept_ones = [record.args for record in caplog.records]
    assert [what for _, what, _ in kept_ones] == [f"account 7: export {word}" for word in "abc"]
    assert {reason.code for _, _, reason in kept_ones} == {"database-read-only"}


def test_one_that_can_never_be_written_does_not_hold_up_the_others(store: Store) -> None:
    end = make_read_only(store)

    def broken(connection: Any) -> None:
        adding("x")(connection)
        raise LookupError("what it is about is gone")

    async def work() -> None:
        for piece in (broken, adding("b")):
            await store.deferred.write(piece, description="piece")
        end()
        await store.deferred.flush()

    asyncio.run(work())
    assert (kept(store), len(store.deferred)) == (["b"], 0)


def test_no_more_is_kept_than_there_is_room_for(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(deferred_writes, "MAX_DEFERRED", 1)
    make_read_only(store)

    async def work() -> None:
        for word in "ab":
            await store.deferred.write(adding(word), description=word)

    asyncio.run(work())
    assert len(store.deferred) == 1
    kept_one, lost_one = (record.args for record in caplog.records)
    assert (kept_one[1], lost_one[1]) == ("a", "b")
    assert kept_one[0] != lost_one[0]


def test_tries_at_once_keep_the_order_and_one_that_is_called_off_loses_nothing(store: Store) -> None:
    end = make_read_only(store)

    async def work() -> None:
        for word in "abcdef":
            await store.deferred.write(adding(word), description=word)
        called_off = asyncio.create_task(store.deferred.flush())
        others = [asyncio.create_task(store.deferred.flush()) for _ in range(3)]
        await asyncio.sleep(0)
        called_off.cancel()
        await asyncio.gather(called_off, *others, return_exceptions=True)
        assert [word for word, _ in store.deferred._waiting] == list("abcdef")
        end()
        await asyncio.gather(*(store.deferred.flush() for _ in range(3)))

    asyncio.run(work())
    assert kept(store) == list("abcdef")
