from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from benchmarks.servers import PostgreSQL, free_port
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, OperationalError

from ringtrue.errors import StoreError, UnavailableError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account, erase_account
from ringtrue.service.store.connections import fetch_raw_rows


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_new_file_is_for_nobody_elses_eyes_and_so_are_those_beside_it(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "new.db"
    with Store.open(f"{prefix}{path}") as store:
        store.write(lambda c: create_account(c, kind="crowd", now=1.0))
        assert {one.name: mode(one) for one in tmp_path.iterdir()} == dict.fromkeys(
            ("new.db", "new.db-wal", "new.db-shm"), 0o600
        )


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.touch()
    path.chmod(0o640)
    with Store.open(str(path)) as store:
        store.write(lambda c: create_account(c, kind="crowd", now=1.0))
    assert mode(path) == 0o640


def test_what_was_erased_is_not_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    with Store.open(str(path)) as store:
        who = store.write(
            lambda c: create_account(c, kind="named", name="Zebedee Quack", password_hash="a hash", now=1.0)
        )
        with store.read() as connection:
            assert connection.execute(text("PRAGMA secure_delete")).scalar_one() == 1
        store.write(lambda c: erase_account(c, who, 2.0))
    content = path.read_bytes()
    assert not [word for word in (b"Zebedee", b"zebedee", b"a hash") if word in content]


BRIEF = 0.2  # seconds of patience, so that tests need none
HOLD = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print(flush=True); input()"


def adding(what: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(text("INSERT INTO attempt (what, time) VALUES (:what, 0)"), {"what": what})
        return what

    return work


def kept(store: Store) -> list[str]:
    with store.read() as connection:
        return list(connection.execute(text("SELECT what FROM attempt ORDER BY id")).scalars())


@contextmanager
def locked_by_another_program(path: Path) -> Iterator[None]:
    words = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield
        other.communicate(b"\n")


@pytest.fixture
def server(postgresql: PostgreSQL) -> Iterator[tuple[PostgreSQL, str]]:
    """PostgreSQL and a database of it, for tests that stop and start it."""
    name = postgresql.create("migrated")
    yield postgresql, postgresql.url(name)
    postgresql.drop(name)


@pytest.mark.slow
def test_a_locked_file_is_said_in_words_and_can_be_read_and_later_written(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db"), patience=BRIEF) as store:
        store.write(adding("before"))
        with locked_by_another_program(tmp_path / "a.db"):
            with pytest.raises(UnavailableError) as refused:
                store.write(adding("now"))
            assert refused.value.code == "database-locked"
            with pytest.raises(UnavailableError) as refused, store.transaction():
                pass
            assert refused.value.code == "database-locked"
            assert kept(store) == ["before"]
        assert store.write(adding("later")) == "later"
        assert kept(store) == ["before", "later"]


def test_a_short_lock_is_waited_for(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        with locked_by_another_program(tmp_path / "a.db"):
            done = [store.submit(adding(what)) for what in "abc"]
            time.sleep(0.1)
            assert not any(future.done() for future in done)
        assert [future.result() for future in done] == kept(store) == ["a", "b", "c"]


def test_rows_that_another_program_holds_are_waited_for_and_then_said_in_words(
    server: tuple[PostgreSQL, str],
) -> None:
    import psycopg

    def change(connection: Connection) -> None:
        connection.execute(text("UPDATE attempt SET what = 'changed'"))

    with Store.open(server[1], patience=BRIEF) as store:
        store.write(adding("a"))
        with psycopg.connect(server[1]) as other:
            other.execute("SELECT * FROM attempt FOR UPDATE")
            with pytest.raises(UnavailableError) as refused:
                store.write(change)
            assert refused.value.code == "database-locked"
            assert kept(store) == ["a"]
        store.write(change)
        assert kept(store) == ["changed"]


def test_two_writers_who_wait_for_each_other_are_told_apart_and_both_end(server: tuple[PostgreSQL, str]) -> None:
    _, url = server
    both = threading.Barrier(2)

    def touch(connection: Connection, what: str) -> None:
        connection.execute(text("UPDATE attempt SET time = time + 1 WHERE what = :what"), {"what": what})

    def crosswise(connection: Connection, first: str, second: str) -> None:
        touch(connection, first)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        touch(connection, second)

    with Store.open(url) as store, Store.open(url) as other, ThreadPoolExecutor(2) as pool:
        store.write(adding("a"))
        store.write(adding("b"))
        one = pool.submit(store.write, lambda connection: crosswise(connection, "a", "b"))
        two = pool.submit(other.write, lambda connection: crosswise(connection, "b", "a"))
        one.result()
        two.result()  # the one that was stopped was tried again
        with store.read() as connection:
            assert list(connection.execute(text("SELECT time FROM attempt")).scalars()) == [2, 2]


@pytest.mark.slow
def test_a_full_disk_is_said_in_words_and_loses_nothing(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db"), pool_size=1, patience=BRIEF) as store:
        with store.read() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
        saved: list[str] = []

        def fill() -> None:
            while True:
                saved.append(store.write(adding("x" * 1000)))

        with pytest.raises(UnavailableError) as refused:
            fill()
        assert refused.value.code == "disk-full"
        assert saved
        assert kept(store) == saved
        with store.read() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 100000")
        assert store.write(adding("again")) == "again"
        assert kept(store) == [*saved, "again"]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("53100", "disk-full"),
        ("53300", "database-busy"),
        ("25006", "database-read-only"),
        ("40P01", "database-locked"),
        ("58030", "database-away"),
        ("XX000", "database-away"),
    ],
)
def test_what_postgresql_says_is_told_by_its_codes(server: tuple[PostgreSQL, str], state: str, code: str) -> None:
    fail = f"DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '{state}'; END $$"
    with Store.open(server[1], patience=BRIEF) as store:
        with pytest.raises(UnavailableError) as refused, store.transaction() as connection:
            connection.exec_driver_sql(fail)
        assert refused.value.code == code
        assert store.write(adding("after")) == "after"


def test_words_that_somebody_wrote_are_not_taken_for_a_fault(store: Store) -> None:
    name = text("INSERT INTO account (handle, kind, owner, created) VALUES ('disk full, locked', 'named', false, 0)")
    store.write(lambda connection: connection.execute(name).rowcount)
    with pytest.raises(IntegrityError):
        store.write(lambda connection: connection.execute(name).rowcount)


@pytest.mark.slow
def test_a_file_that_may_only_be_read_is_said_in_words(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db"), pool_size=1, patience=BRIEF) as store:
        with store.read() as connection:
            connection.exec_driver_sql("PRAGMA query_only = ON")
        with pytest.raises(UnavailableError) as refused:
            store.write(adding("a"))
        assert refused.value.code == "database-read-only"


def test_a_server_that_goes_and_comes_back_loses_nothing_that_was_acknowledged(
    server: tuple[PostgreSQL, str],
) -> None:
    postgresql, url = server
    stop, saved = threading.Event(), []

    def keep_writing(thread: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            saved.append(store.write(adding(f"{thread}-{number}")))

    with Store.open(url, patience=20) as store, ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(keep_writing, thread) for thread in range(4)]
        for how in (signal.SIGINT, signal.SIGQUIT):  # at leisure, and as in a crash
            time.sleep(0.1)
            postgresql.stop(how)
            postgresql.start()
            kept(store)  # the connections that died are not handed out
        time.sleep(0.1)
        stop.set()
        for thread in threads:
            thread.result()
        found = kept(store)
    assert set(saved) <= set(found)


def test_while_the_server_is_away_that_is_said_in_words(server: tuple[PostgreSQL, str]) -> None:
    postgresql, url = server
    with Store.open(url, patience=BRIEF) as store:
        store.write(adding("before"))
        postgresql.stop()
        try:
            with pytest.raises(UnavailableError) as refused:
                store.write(adding("now"))
            assert refused.value.code == "database-away"
            with pytest.raises(UnavailableError) as refused:
                kept(store)
            assert refused.value.code == "database-away"
            with pytest.raises(UnavailableError) as refused:
                Store.open(url)
            assert refused.value.code == "database-away"
        finally:
            postgresql.start()
        assert kept(store) == ["before"]
        assert store.write(adding("later")) == "later"


def test_a_read_that_loses_its_server_is_told_so(server: tuple[PostgreSQL, str]) -> None:
    postgresql, url = server
    with Store.open(url, patience=BRIEF) as store:

        def read_on() -> None:
            with store.read() as connection:
                connection.execute(text("SELECT 1"))
                postgresql.stop(signal.SIGQUIT)
                postgresql.start()
                connection.execute(text("SELECT 1"))

        with pytest.raises(UnavailableError) as refused:
            read_on()
        assert refused.value.code == "database-away"
        assert kept(store) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        Store.open(str(tmp_path / "none" / "a.db"))
    assert refused.value.code == "no-database-folder"
    assert f"'{tmp_path}/none'" in refused.value.text


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        Store.open(str(tmp_path))
    assert refused.value.code == "database-file-not-opened"


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("query,doc,label\n" * 1000)
    with pytest.raises(StoreError) as refused:
        Store.open(str(path))
    assert refused.value.code == "not-sqlite"
    assert str(path) in str(refused.value)
    assert path.read_text() == "query,doc,label\n" * 1000


def test_a_damaged_file_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(str(path)) as store:
        for number in range(50):
            store.write(adding(f"{number}" * 500))
    content = bytearray(path.read_bytes())
    content[4096 * 8 :] = b"\xa5" * (len(content) - 4096 * 8)
    path.write_bytes(content)
    with pytest.raises(StoreError) as refused, Store.open(str(path)) as store:
        kept(store)
    assert refused.value.code == "database-damaged"


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE account (id INTEGER PRIMARY KEY)")
    other.close()
    with pytest.raises(StoreError) as refused:
        Store.open(str(path))
    assert refused.value.code == "database-not-opened"
    with sqlite3.connect(path) as other:
        assert [row[0] for row in other.execute("SELECT name FROM sqlite_master")] == ["account"]
    other.close()


def test_a_server_or_database_that_is_not_there_is_named_without_its_password(postgresql: PostgreSQL) -> None:
    with pytest.raises(UnavailableError) as away:
        Store.open(f"postgresql://ringtrue:secret@127.0.0.1:{free_port()}/a")
    assert away.value.code == "database-away"
    assert "ringtrue:***@127.0.0.1" in str(away.value)
    with pytest.raises(StoreError) as refused:
        Store.open(postgresql.url("nowhere"))
    assert refused.value.code == "database-away"
    assert '"nowhere"' in refused.value.text
    assert "secret" not in str(away.value)


def test_a_read_that_fails_between_its_rows_raises_what_others_raise(tmp_path: Path) -> None:
    numbers = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n")
    with Store.open(f"sqlite:///{tmp_path / 'new.db'}") as store, store.read() as connection:
        assert sum(map(len, fetch_raw_rows(connection, numbers))) == 100_000
        batches = fetch_raw_rows(connection, numbers)
        next(batches)
        connection.connection.driver_connection.set_progress_handler(lambda: 1, 1000)
        with pytest.raises(OperationalError, match="interrupted"):
            next(batches)
