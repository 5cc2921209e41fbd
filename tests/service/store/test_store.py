from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from ringtrue.errors import ForbiddenError, StoreError, UnavailableError
from ringtrue.service.store import Store

ADD = text("INSERT INTO attempt (what, time) VALUES (:what, 0)")


def adding(what: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(ADD, {"what": what})
        return what

    return work


def refused(connection: Connection) -> None:
    connection.execute(ADD, {"what": "refused"})
    raise ForbiddenError("crowd-account", "no")


def faulty(connection: Connection) -> None:
    connection.execute(ADD, {"what": "faulty"})
    connection.execute(text("INSERT INTO attempt (what, time) VALUES (NULL, 0)"))


def kept(store: Store) -> list[str]:
    with store.read() as connection:
        return list(connection.execute(text("SELECT what FROM attempt ORDER BY id")).scalars())


@contextmanager
def held_back(store: Store) -> Iterator[None]:
    """Let the writing thread wait, so that all that is handed in meanwhile is committed together."""
    began, go_on = threading.Event(), threading.Event()

    def wait(_: Connection) -> None:
        began.set()
        go_on.wait()

    first = store.submit(wait)
    began.wait()
    try:
        yield
    finally:
        go_on.set()
        first.result()


def test_an_answer_is_given_only_when_another_connection_can_see_the_work(store: Store) -> None:
    seen: list[list[str]] = []
    done: list[Future[str]] = []
    with held_back(store):
        for what in "abc":
            done.append(store.submit(adding(what)))
            done[-1].add_done_callback(lambda _: seen.append(kept(store)))
        assert kept(store) == []
        assert not any(future.done() for future in done)
    assert [future.result() for future in done] == ["a", "b", "c"]
    store.write(lambda _: None)  # the callbacks ran before
    assert seen == [["a", "b", "c"]] * 3


def test_writes_that_wait_share_a_commit(store: Store) -> None:
    commits: list[object] = []
    event.listen(store.engine, "commit", commits.append)
    with held_back(store):
        done = [store.submit(adding(str(number))) for number in range(50)]
    assert [future.result() for future in done] == kept(store) == [str(number) for number in range(50)]
    assert len(commits) <= 3  # of the one that waited, of the fifty, and of the reading


def test_a_refused_piece_takes_nothing_of_the_others_with_it(store: Store) -> None:
    with held_back(store):
        good = [store.submit(adding("a"))]
        bad = [store.submit(refused), store.submit(refused)]
        good.append(store.submit(adding("b")))
    for future in bad:
        with pytest.raises(ForbiddenError) as kept_out:
            future.result()
        assert kept_out.value.code == "crowd-account"
    assert [future.result() for future in good] == kept(store) == ["a", "b"]


def test_a_faulty_piece_takes_nothing_of_the_others_with_it(store: Store) -> None:
    with held_back(store):
        good = [store.submit(adding("a"))]
        bad, worse = store.submit(faulty), store.submit(lambda _: 1 // 0)
        good.append(store.submit(adding("b")))
    with pytest.raises(Exception, match=r"NOT NULL|not-null"):
        bad.result()
    with pytest.raises(ZeroDivisionError):
        worse.result()
    assert [future.result() for future in good] == kept(store) == ["a", "b"]


def test_a_piece_that_is_refused_alone_leaves_nothing(store: Store) -> None:
    with pytest.raises(ForbiddenError):
        store.write(refused)
    assert kept(store) == []


def test_the_thread_goes_on_after_a_piece_that_wants_to_end_the_program(store: Store) -> None:
    def end(_: Connection) -> None:
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        store.write(end)
    assert store.write(adding("after")) == "after"


def test_a_request_that_is_called_off_is_still_saved(store: Store) -> None:
    async def leave() -> None:
        waiting = asyncio.ensure_future(store.write_async(adding("left")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with held_back(store):
        asyncio.run(leave())
    assert store.write(adding("after")) == "after"
    assert kept(store) == ["left", "after"]


class CountingLoop(asyncio.SelectorEventLoop):
    """A loop that counts how often another thread wakes it."""

    woken = 0

    def call_soon_threadsafe(self, *given: Any, **more: Any) -> asyncio.Handle:
        self.woken += 1
        return super().call_soon_threadsafe(*given, **more)


def test_coroutines_whose_work_is_committed_together_are_woken_together(store: Store) -> None:
    async def all_of_them() -> list[Any]:
        with held_back(store):
            works: list[Callable[[Connection], Any]] = [adding("a"), refused, adding("b")]
            waiting = [asyncio.ensure_future(store.write_async(work)) for work in works]
            await asyncio.sleep(0)
        return await asyncio.gather(*waiting, return_exceptions=True)

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        first, second, third = runner.run(all_of_them())
        loop = runner.get_loop()
        assert isinstance(loop, CountingLoop)
        assert loop.woken == 1
    assert (first, str(second), third) == ("a", "no", "b")
    assert kept(store) == ["a", "b"]


def test_a_coroutine_whose_work_ends_in_stop_iteration_does_not_wait_for_ever(store: Store) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(store.write_async(lambda _: next(iter(()))))


def test_a_loop_that_is_closed_meanwhile_takes_nothing_with_it(store: Store) -> None:
    loop = asyncio.new_event_loop()
    with held_back(store):
        waiting = loop.create_task(store.write_async(adding("left")))
        loop.run_until_complete(asyncio.sleep(0))
        waiting.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    assert store.write(adding("after")) == "after"
    assert kept(store) == ["left", "after"]


def test_many_threads_write_and_read_at_once(store: Store) -> None:
    def busy(thread: int) -> int:
        for number in range(20):
            store.write(adding(f"{thread}-{number}"))
            assert f"{thread}-{number}" in kept(store)
        return thread

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(busy, range(8))) == list(range(8))
    assert sorted(kept(store)) == sorted(f"{thread}-{number}" for thread in range(8) for number in range(20))


def test_a_database_in_memory_can_be_read_while_it_is_written() -> None:
    with Store.open("sqlite://") as store, ThreadPoolExecutor(4) as pool:
        pool.map(lambda number: store.write(adding(str(number))), range(50))
        assert all(list(pool.map(lambda _: len(kept(store)) <= 50, range(50))))


def test_all_that_is_read_is_of_one_moment(store: Store) -> None:
    with store.read() as connection:
        count = text("SELECT COUNT(*) FROM attempt")
        before = connection.execute(count).scalar_one()
        store.write(adding("meanwhile"))
        assert connection.execute(count).scalar_one() == before
    assert kept(store) == ["meanwhile"]


def test_a_longer_piece_is_saved_as_a_whole_or_not_at_all(store: Store) -> None:
    with pytest.raises(ForbiddenError), store.transaction() as connection:
        refused(connection)
    with store.transaction() as connection:
        adding("a")(connection)
        assert kept(store) == []
        adding("b")(connection)
    assert kept(store) == ["a", "b"]


def test_closing_finishes_what_was_handed_in_and_takes_no_more(store_url: str) -> None:
    store = Store.open(store_url)
    with held_back(store):
        done = [store.submit(adding(str(number))) for number in range(200)]
        closing = threading.Thread(target=store.close)
        closing.start()
    closing.join()
    assert [future.result() for future in done] == [str(number) for number in range(200)]
    with pytest.raises(UnavailableError) as refused:
        store.submit(adding("late"))
    assert refused.value.code == "server-stopping"
    store.close()
    with Store.open(store_url) as again:
        assert len(kept(again)) == 200


def test_what_is_handed_in_while_the_store_closes_is_done_or_refused_and_never_forgotten(store_url: str) -> None:
    store = Store.open(store_url)
    start = threading.Barrier(5)
    accepted: list[Future[str]] = []

    def hand_in(_: int) -> None:
        start.wait()
        try:
            while True:
                accepted.append(store.submit(adding("x")))
        except UnavailableError:
            return

    with ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(hand_in, number) for number in range(4)]
        start.wait()
        store.close()
        for thread in threads:
            thread.result()
    assert all(future.result(timeout=10) == "x" for future in accepted)
    with Store.open(store_url) as again:
        assert len(kept(again)) == len(accepted)


def test_sqlite_writes_ahead_waits_for_the_disk_and_checks_references(tmp_path: Path) -> None:
    names = ("journal_mode", "synchronous", "foreign_keys")
    with Store.open(str(tmp_path / "a.db"), pool_size=3) as store, ExitStack() as open_ones:
        for _ in range(3):
            connection = open_ones.enter_context(store.engine.connect())
            found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]
            assert found == ["wal", 2, 1]


def test_what_refers_to_nothing_is_refused(store: Store) -> None:
    with pytest.raises(Exception, match=r"FOREIGN KEY|foreign key"):
        store.write(
            lambda c: c.execute(text("INSERT INTO member (project, account, role, created) VALUES (7,7,'x',0)"))
        )


@pytest.mark.parametrize(
    ("url", "code", "named"),
    [
        ("mysql://localhost/x", "unknown-database", "'mysql'"),
        ("postgresql//oops", "no-database-folder", "'postgresql'"),
        ("://", "bad-database-url", "'://'"),
    ],
)
def test_an_address_of_no_database_is_refused(url: str, code: str, named: str) -> None:
    with pytest.raises(StoreError) as refused:
        Store.open(url)
    assert refused.value.code == code
    assert named in refused.value.text


def test_a_write_does_not_wait_longer_than_its_patience_for_a_long_one(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "ringtrue.db"), patience=0.2) as store:
        begun, go = threading.Event(), threading.Event()

        def long() -> None:
            with store.transaction():
                begun.set()
                go.wait(20)

        thread = threading.Thread(target=long)
        thread.start()
        begun.wait(20)
        with pytest.raises(UnavailableError) as refused:
            store.write(lambda _: None)
        assert refused.value.code == "long-write"
        go.set()
        thread.join(20)
        store.write(lambda _: None)


def test_without_the_packages_of_the_web_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['sqlalchemy'] = None; import ringtrue.service.store"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "StoreError: " in ran.stderr
    assert "pip install 'ringtrue[web]'" in ran.stderr
