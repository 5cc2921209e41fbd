"""`ringtrue serve --check`."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from real_parts import fill_disk
from ringtrue.service.store import Store
from ringtrue.service.store.migration import STEPS
from ringtrue.service.web import preflight
from ringtrue.service.web.disk_space import DiskSpace
from ringtrue.service.web.preflight import Check, Target, check_server
from service.small_projects import rows


@pytest.fixture(autouse=True)
def large_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "measure_disk", lambda folder: DiskSpace(total=10**12, free=5 * 10**11))


def checked(database: str, *, host: str = "127.0.0.1", port: int = 0, base_url: str | None = None) -> dict[str, Check]:
    return {check.name: check for check in check_server(Target(database, host, port, base_url))}


def setting_names(store: Store) -> list[tuple[str]]:
    return rows(store, "SELECT name FROM setting")


def test_a_database_that_is_up_to_date_is_fine_and_stays_as_it_is(store: Store) -> None:
    before = setting_names(store)
    found = checked(store.engine.url.render_as_string(hide_password=False))
    assert all(check.ok for check in found.values()), found
    assert {name: check.detail.code for name, check in found.items()} == {
        "database": "database-readable",
        "writing": "database-writable",
        "schema": "schema-up-to-date",
        "workers": "worker-processes",
        "disk": "disk-space" if store.path else "disk-unknown",
        "temporary files": "temporary-space",
        "address": "local-address",
        "port": "port-free",
        "packages": "packages-complete",
    }
    assert setting_names(store) == before


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = checked(str(tmp_path / "new.db"))
    assert found["database"] == Check(name="database", ok=True, detail=found["database"].detail)
    assert found["database"].detail.code == "database-to-be-made"
    assert not list(tmp_path.iterdir())


def test_what_a_migration_would_do_is_said_and_not_done(sqlite_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = len(STEPS) + 1
    monkeypatch.setattr(preflight, "STEPS", (*STEPS, ("codes for work", "CREATE TABLE x (id {key})")))
    found = checked(str(sqlite_path))
    assert found["schema"].ok
    assert found["schema"].detail.code == "schema-to-be-migrated"
    assert f"{number}: codes" in found["schema"].detail
    with Store.open(str(sqlite_path)) as store:
        ((last,),) = rows(store, "SELECT MAX(number) FROM migration")
        assert last == len(STEPS)


def test_a_database_of_a_newer_version_is_no_good(sqlite_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "STEPS", ())
    found = checked(str(sqlite_path))["database"]
    assert not found.ok
    assert found.detail.code == "newer-database"


def test_a_file_that_is_no_database_and_a_folder_that_is_not_there_are_no_good(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes and no database" * 100)
    assert checked(str(tmp_path / "notes.txt"))["database"].detail.code == "not-sqlite"
    found = checked(str(tmp_path / "none" / "a.db"))["database"]
    assert (found.ok, found.detail.code) == (False, "no-database-folder")


def test_a_postgresql_that_does_not_answer_is_no_good() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = checked(f"postgresql://ringtrue:s3cret@127.0.0.1:{port}/none")
    assert not found["database"].ok
    assert "s3cret" not in found["database"].detail


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a disk that is mounted for the test")
def test_a_disk_that_is_full_is_no_good(small_disk: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    path = small_disk / "ringtrue.db"
    path.write_bytes(migrated_file.read_bytes())
    fill_disk(small_disk)
    found = checked(str(path))
    assert not found["database"].ok
    assert found["database"].detail.code == "disk-full"
    assert (found["disk"].ok, found["disk"].detail.code) == (False, "disk-low")
    assert "0 MB" in found["disk"].detail


@pytest.mark.parametrize(
    ("base_url", "host", "ok", "code"),
    [
        (None, "127.0.0.1", True, "local-address"),
        ("https://judge.example.org", "127.0.0.1", True, "https-address"),
        ("https://judge.example.org/path", "127.0.0.1", False, "bad-base-url"),
        ("https://judge example", "127.0.0.1", False, "bad-base-url"),
        (None, "0.0.0.0", False, "no-https"),
    ],
)
def test_the_address_is_looked_at(sqlite_path: Path, base_url: str | None, host: str, ok: bool, code: str) -> None:
    found = checked(str(sqlite_path), base_url=base_url, host=host)["address"]
    assert (found.ok, found.detail.code) == (ok, code), found


def test_a_port_that_is_taken_is_no_good(sqlite_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = checked(str(sqlite_path), port=taken.getsockname()[1])["port"]
    assert (found.ok, found.detail.code, found.detail.parameter) == (False, "port-taken", "port")


def test_packages_that_are_missing_are_named_and_only_the_driver_is_needed(
    sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "find_spec", lambda _name: None)
    found = checked(str(sqlite_path))["packages"]
    assert (found.ok, found.detail.code) == (True, "missing-package")
    assert "uvloop" in found.detail
    assert "psycopg" not in found.detail


def test_the_command_ends_with_1_where_something_is_wrong_and_serves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from click.testing import CliRunner

    from ringtrue.cli.commands.serve import command

    monkeypatch.chdir(tmp_path)
    run: Callable[..., Any] = CliRunner().invoke
    fine = run(command, ["--check", "--db", "new.db", "--port", "0", "--json"])
    assert fine.exit_code == 0, fine.output
    assert '"ok": true' in fine.output
    bad = run(command, ["--check", "--db", "none/new.db", "--port", "0"])
    assert bad.exit_code == 1
    assert "FAILS" in bad.output
    assert not list(tmp_path.iterdir())


def test_several_processes_on_sqlite_are_no_good(sqlite_path: Path) -> None:
    found = {check.name: check for check in check_server(Target(str(sqlite_path), "127.0.0.1", 0, None, 4))}["workers"]
    assert (found.ok, found.detail.code, found.detail.parameter) == (False, "sqlite-one-process", "workers")


def test_a_folder_that_may_not_be_written_is_no_good_for_a_new_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests as root may write everywhere
    found = checked(str(tmp_path / "new.db"))["database"]
    assert (found.ok, found.detail.code) == (False, "database-folder-unwritable")
