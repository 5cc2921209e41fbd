from __future__ import annotations

import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from real_parts import fill_disk
from ringtrue.errors import StoreError
from ringtrue.service.store import Store, migration
from ringtrue.service.store.migration import STEPS, migrate_with_copy
from service.small_projects import judge, rows

NEXT = len(STEPS) + 1
MORE = (*STEPS, ("one more", "CREATE TABLE more (id {key});\nALTER TABLE account ADD COLUMN more TEXT"))
BROKEN = (*STEPS, ("broken", "CREATE TABLE half (id {key});\nALTER TABLE account ADD COLUMN more TEXT;\nNONSENSE"))


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_an_sqlite_file_is_copied_before_it_is_migrated_with_what_is_in_its_log(
    sqlite_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store.open(str(sqlite_path)) as store:
        judge(store, "ann")  # still in the write-ahead log
        with store.transaction() as connection:
            copy = migrate_with_copy(connection, store.path, MORE)
        assert copy == sqlite_path.with_name(f"ringtrue.db.before-step-{NEXT}")
        assert rows(store, "SELECT MAX(number) FROM migration") == [(NEXT,)]
    assert "more" in tables(sqlite_path) - tables(copy)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT handle FROM account").fetchall() == [("ann",)]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [record.args for record in caplog.records] == [(NEXT - 1, NEXT, copy)]


def test_the_copy_can_be_put_back_and_served(sqlite_path: Path) -> None:
    with Store.open(str(sqlite_path)) as store, store.transaction() as connection:
        judge_row = "INSERT INTO account (handle, kind, owner, created) VALUES ('ann', 'named', false, 0)"
        connection.execute(text(judge_row))
    with Store.open(str(sqlite_path)) as store, store.transaction() as connection:
        copy = migrate_with_copy(connection, store.path, MORE)
    with pytest.raises(StoreError) as refused:
        Store.open(str(sqlite_path))
    assert refused.value.code == "newer-database"
    assert copy is not None
    with Store.open(str(copy)) as store:
        assert rows(store, "SELECT handle FROM account") == [("ann",)]


def test_a_database_that_is_up_to_date_or_new_is_not_copied(tmp_path: Path, sqlite_path: Path) -> None:
    for path in (tmp_path / "new.db", sqlite_path):
        Store.open(str(path)).close()
        assert not list(path.parent.glob("*before*"))


def test_a_migration_that_fails_midway_leaves_the_old_database_whole(sqlite_path: Path) -> None:
    with Store.open(str(sqlite_path)) as store:
        judge(store, "ann")
        with pytest.raises(Exception, match="NONSENSE"), store.transaction() as connection:
            migrate_with_copy(connection, store.path, BROKEN)
        assert rows(store, "SELECT MAX(number) FROM migration") == [(NEXT - 1,)]
        assert rows(store, "SELECT * FROM account") != []
    assert "half" not in tables(sqlite_path)
    with Store.open(str(sqlite_path)) as store:  # and the next version, which is mended, migrates it
        with store.transaction() as connection:
            assert migrate_with_copy(connection, store.path, MORE) is not None
        assert rows(store, "SELECT handle, more FROM account") == [("ann", None)]


def test_without_room_for_a_copy_nothing_is_migrated(sqlite_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "SPARE_BYTES", 10**18)
    with Store.open(str(sqlite_path)) as store:
        with (
            pytest.raises(StoreError) as refused,
            store.transaction() as connection,
        ):
            migrate_with_copy(connection, store.path, MORE)
        assert refused.value.code == "no-room-for-copy"
        assert rows(store, "SELECT MAX(number) FROM migration") == [(NEXT - 1,)]


def test_a_disk_that_gets_full_while_copying_leaves_no_half_copy(
    small_disk: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_disk / "ringtrue.db"
    path.write_bytes(migrated_file.read_bytes())
    monkeypatch.setattr(migration, "SPARE_BYTES", -(10**9))
    with Store.open(str(path)) as store:
        judge(store, "ann")
        fill_disk(small_disk)
        with (
            pytest.raises(StoreError) as refused,
            store.transaction() as connection,
        ):
            migrate_with_copy(connection, store.path, MORE)
        assert refused.value.code == "copy-failed"
        assert rows(store, "SELECT handle FROM account") == [("ann",)]
    assert not list(small_disk.glob("*before*"))


def test_of_servers_that_start_together_one_copies_and_migrates(sqlite_path: Path) -> None:
    together = 4
    start = threading.Barrier(together)

    def migrate(_: int) -> Path | None:
        with Store.open(str(sqlite_path), pool_size=2) as store:
            start.wait()
            with store.transaction() as connection:
                return migrate_with_copy(connection, store.path, MORE)

    with ThreadPoolExecutor(together) as pool:
        copies = list(pool.map(migrate, range(together)))
    assert sorted(copy is not None for copy in copies) == [False] * (together - 1) + [True]
    assert "more" not in tables(next(copy for copy in copies if copy is not None))
