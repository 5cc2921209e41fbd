"""What `/healthz` says, and what owners are told."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from benchmarks.servers import PostgreSQL, Serving
from fastapi import FastAPI

from real_parts import fill_disk
from ringtrue.errors import ReadOnlyError
from ringtrue.service.store import Store
from ringtrue.service.store.migration import STEPS
from ringtrue.service.web import disk_space
from ringtrue.service.web.database_probe import PROBE, PROBE_BYTES, check_health
from ringtrue.service.web.disk_space import DiskSpace
from service.full_disks import make_read_only
from service.small_projects import rows
from service.web.owner.stories import said
from service.web.programs import server_on

LARGE = DiskSpace(total=10**12, free=5 * 10**11)


@pytest.fixture(autouse=True)
def large_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of whoever runs the tests may be nearly full."""
    monkeypatch.setattr(disk_space, "measure_disk", lambda folder: LARGE)


def look(visitor: Any, app: FastAPI) -> None:
    """What the server does by itself every few seconds."""
    visitor.runner.run(check_health(app.state.server))


def test_the_server_says_that_it_is_well(nobody: Any) -> None:
    answer = nobody.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "database": "ok",
        "disk": {"free_bytes": LARGE.free, "free_percent": 50.0},
        "schema": len(STEPS),
    }


def test_a_database_that_cannot_be_written_is_told_and_the_server_stays_in_use(
    nobody: Any, web_store: Store, app: FastAPI
) -> None:
    end = make_read_only(web_store)
    answer = nobody.get("/healthz")
    assert (answer.status_code, answer.json()["status"], answer.json()["database"]) == (200, "degraded", "read-only")
    end()
    look(nobody, app)
    assert nobody.get("/healthz").json()["database"] == "ok"


def test_owners_alone_are_told_on_every_page_that_nothing_can_be_saved(
    owner: Any, judge: Any, project: Any, web_store: Store, app: FastAPI
) -> None:
    words = "No answer can be saved: the database may not be written"
    assert words not in said(owner.get("/"))
    end = make_read_only(web_store)
    look(owner, app)
    for path in ("/", "/p/news", "/server/backup", "/nothing/here"):
        assert (words in said(owner.get(path))) == (path != "/nothing/here"), path
    assert words not in said(judge.get("/"))
    end()
    look(owner, app)
    assert words not in said(owner.get("/"))


def test_owners_are_warned_before_the_disk_is_full(
    owner: Any, judge: Any, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "measure_disk", lambda folder: DiskSpace(total=10**10, free=312 * 10**6))
    look(owner, app)
    words = "The disk of the database has 312 MB left (3.1%): make room."
    assert words in said(owner.get("/"))
    assert words in said(owner.get("/p/news"))
    assert words not in said(judge.get("/"))


def test_looking_leaves_one_row_however_often_it_is_done(nobody: Any, web_store: Store, app: FastAPI) -> None:
    for _ in range(3):
        look(nobody, app)
    names = [name for (name,) in rows(web_store, "SELECT name FROM setting")]
    assert names.count(PROBE) == 1


def written_by_look(store: Store) -> str:
    """What the last look has written."""
    ((written,),) = rows(store, "SELECT value FROM setting WHERE name = 'last written'")
    return str(written)


@pytest.mark.parametrize("disk", [DiskSpace(total=10**10, free=312 * 10**6), None])
def test_where_room_is_low_or_unknown_a_look_writes_what_takes_room_also_in_a_database_that_compresses(
    nobody: Any, web_store: Store, app: FastAPI, monkeypatch: pytest.MonkeyPatch, disk: DiskSpace | None
) -> None:
    monkeypatch.setattr(disk_space, "measure_disk", lambda folder: disk)
    look(nobody, app)
    assert len(zlib.compress(written_by_look(web_store).encode())) > 0.7 * PROBE_BYTES


def test_where_there_is_ample_room_a_look_writes_little(nobody: Any, web_store: Store, app: FastAPI) -> None:
    look(nobody, app)
    assert len(written_by_look(web_store)) < 30


def test_what_could_not_be_written_is_tried_with_a_large_row(nobody: Any, web_store: Store, app: FastAPI) -> None:
    end = make_read_only(web_store)
    look(nobody, app)
    end()
    look(nobody, app)
    assert len(written_by_look(web_store)) > PROBE_BYTES
    look(nobody, app)
    assert len(written_by_look(web_store)) < 30
    nobody.runner.run(check_health(app.state.server, was_refused=True))  # as by a quota
    assert len(written_by_look(web_store)) > PROBE_BYTES


@pytest.mark.slow
def test_a_postgresql_that_is_gone_is_told_and_comes_back(postgresql: PostgreSQL) -> None:
    name = postgresql.create("migrated")
    with Serving(postgresql.url(name)) as server:
        address = f"http://127.0.0.1:{server.port}/healthz"
        well = httpx.get(address, timeout=30)
        assert (well.status_code, well.json()["disk"]) == (200, None)
        postgresql.stop()
        try:
            gone = _wait_for(address, 503)
            assert (gone["status"], gone["database"]) == ("unavailable", "away")
        finally:
            postgresql.start()
        assert _wait_for(address, 200)["database"] == "ok"
    postgresql.drop(name)


def _wait_for(address: str, status: int) -> dict[str, Any]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        answer = httpx.get(address, timeout=30)
        if answer.status_code == status:
            found: dict[str, Any] = answer.json()
            return found
        time.sleep(0.2)
    raise AssertionError(f"{address} never answered {status}")


@pytest.mark.slow
def test_a_postgresql_whose_disk_is_full_can_be_read(postgresql: PostgreSQL, small_disk: Path) -> None:
    """A tablespace on a small disk: PostgreSQL's own log, which it cannot do without, lies elsewhere."""
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    reachable = Path(tempfile.mkdtemp(dir="/tmp"))  # the folders of tests cannot be entered by others
    subprocess.run(["mount", "--bind", str(small_disk), str(reachable)], check=True)
    try:
        folder = reachable / "space"
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        postgresql.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        postgresql.execute("CREATE DATABASE crowded TEMPLATE migrated TABLESPACE small")
        _check_full_postgresql(postgresql.url("crowded"), small_disk)
        postgresql.drop("crowded")
        postgresql.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "--lazy", str(reachable)], check=True)
        reachable.rmdir()


def _check_full_postgresql(url: str, disk: Path) -> None:
    row = "INSERT INTO attempt (what, time) SELECT string_agg(md5(random()::text), ''), 0 FROM generate_series(1, 500)"
    with Store.open(url) as store, asyncio.Runner() as runner, server_on(store, secret=b"s") as app:
        server = app.state.server
        assert runner.run(check_health(server)).database == "ok"
        filler = fill_disk(disk)

        def fill() -> None:
            for _ in range(1000):
                store.write(lambda connection: bool(connection.exec_driver_sql(row)))

        with pytest.raises(ReadOnlyError, match="the disk of the database is full"):
            fill()
        assert rows(store, "SELECT COUNT(*) FROM account") == [(0,)]
        filler.unlink()
        assert runner.run(check_health(server)).database == "ok"


def test_while_something_long_is_written_the_answer_does_not_wait_for_it(nobody: Any, web_store: Store) -> None:
    with web_store.transaction():
        started = time.monotonic()
        assert nobody.get("/healthz").json()["database"] == "ok"
        assert time.monotonic() - started < 4  # the writer waits for five seconds


def test_after_half_a_minute_without_a_write_the_database_counts_as_busy(
    nobody: Any, web_store: Store, app: FastAPI
) -> None:
    look(nobody, app)
    app.state.server.health.written -= 31
    with web_store.transaction():
        look(nobody, app)
        answer = nobody.get("/healthz")
        assert (answer.status_code, answer.json()["status"], answer.json()["database"]) == (200, "degraded", "busy")
    look(nobody, app)
    assert nobody.get("/healthz").json()["database"] == "ok"


def test_those_who_ask_at_once_share_one_look(nobody: Any, app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    from ringtrue.service.web import database_probe

    probes: list[float] = []
    write_probe = database_probe._write_probe

    def note_probe(now: float, **size: int) -> Any:
        probes.append(now)
        return write_probe(now, **size)

    monkeypatch.setattr(database_probe, "_write_probe", note_probe)

    async def ask_at_once() -> None:
        await asyncio.gather(*(check_health(app.state.server) for _ in range(10)))

    nobody.runner.run(ask_at_once())
    assert len(probes) == 1
