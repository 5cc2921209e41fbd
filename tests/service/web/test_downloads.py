"""Exports and backups from a disk that is really full."""

from __future__ import annotations

import asyncio
import io
import shutil
import tempfile
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI

from real_parts import fill_disk
from ringtrue.errors import UnavailableError
from ringtrue.service.store import Store
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.backup import restore_backup
from ringtrue.service.web import disk_space, downloads
from ringtrue.service.web.client_presence import CLIENT, ClientPresence
from ringtrue.service.web.database_probe import check_health
from ringtrue.service.web.disk_space import DiskSpace, list_temp_folders
from ringtrue.service.web.work_pools import HEAVY_PER_ACCOUNT, HEAVY_THREADS
from service.small_projects import begin, finish, judge, project as make_project
from service.web.judge.answering import columns, count
from service.web.pages import code_of, codes_on, page_name
from service.web.programs import world

EXPORTS = ("qrels", "qrels-3", "csv", "jsonl", "parquet", "history", "all")


@pytest.fixture
def sqlite_path(small_disk: Path, migrated_file: Path) -> Path:
    """The database on the small disk."""
    return Path(shutil.copy(migrated_file, small_disk / "ringtrue.db"))


@pytest.fixture
def filler(owner: Any, web_store: Store, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something was judged, then the disk became full, on which temporary files are made too."""
    where, ann = make_project(web_store), judge(web_store)
    finish(web_store, begin(web_store, where, ann), ann)
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    return fill_disk(small_disk)


def look(visitor: Any, app: FastAPI) -> None:
    visitor.runner.run(check_health(app.state.server))


def test_an_owner_gets_everything_out_and_it_is_written_down_once_there_is_room(
    owner: Any, filler: Path, app: FastAPI, web_store: Store, tmp_path: Path
) -> None:
    look(owner, app)
    assert owner.get("/healthz").json()["database"] == "read-only"
    assert codes_on(owner.get("/")) == ["answers-not-saved"]
    for key in EXPORTS:
        answer = owner.get(f"/p/small/exports/{key}")
        assert answer.status_code == 200, (key, answer.text)
        assert len(answer.content) > 20
    owner.get("/server/backup")
    backup = owner.send("/server/backup")
    assert backup.status_code == 200
    (tmp_path / "backup.zip").write_bytes(backup.content)
    with Store.open(str(tmp_path / "restored.db")) as restored:
        assert restore_backup(restored, tmp_path / "backup.zip", now=0.0).manifest.rows["judgment"] == 4
    with web_store.read() as connection:
        assert {entry.action for entry in load_audit_entries(connection)} <= {"log in"}
    filler.unlink()
    look(owner, app)
    with web_store.read() as connection:
        entries = load_audit_entries(connection)
    assert [entry.action for entry in entries] == ["back up", *["export"] * len(EXPORTS)]
    assert [entry.detail["key"] for entry in reversed(entries) if entry.action == "export"] == list(EXPORTS)
    assert owner.get("/healthz").json()["database"] == "ok"


def test_a_program_gets_everything_out_too(web_store: Store, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    with world(web_store) as here:
        owner = here.owner()
        fill_disk(small_disk)
        backup = owner("GET", "/backup")
        assert (backup.status_code, zipfile.ZipFile(io.BytesIO(backup.content)).testzip()) == (200, None)
        assert owner("GET", "/projects/news/exports/history").status_code == 200
        refused = owner("POST", "/projects/news/invitations", json={"role": "judge"})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (503, "unavailable")
    assert len(web_store.deferred) == 2


def test_a_judge_is_told_at_once_to_wait_and_the_same_answer_is_taken_once_there_is_room(
    visit: Any, account: Any, web_store: Store, small_disk: Path
) -> None:
    where = make_project(web_store)
    jan = visit(account("Jan", where, "judge"))
    jan.begin("small")
    sent = {name: value for name, value in jan.hidden().items() if name not in ("open", "kind")} | {"answer": "1"}
    filler = fill_disk(small_disk)
    refused = jan.post("/p/small/answer", sent)
    assert (refused.status_code, code_of(refused)) == (503, "disk-full")
    assert page_name(refused) == "answer-not-saved"
    assert count(web_store, "judgment") == 0
    filler.unlink()
    assert jan.post("/p/small/answer", sent).status_code == 303
    assert columns(web_store, "judgment", "answer") == [("1",)]


def test_nothing_is_left_where_files_were_made(owner: Any, filler: Path, small_disk: Path) -> None:
    before = set(disk_space.MEMORY_FOLDER.glob("ringtrue-*"))
    assert owner.get("/p/small/exports/all").status_code == 200
    owner.get("/server/backup")
    assert owner.send("/server/backup").status_code == 200
    assert not list(small_disk.glob("ringtrue-*"))
    assert not [path for path in set(disk_space.MEMORY_FOLDER.glob("ringtrue-*")) - before if list(path.glob("small*"))]


def test_a_backup_that_is_sent_as_it_is_made_is_long_work_of_its_account(
    owner: Any, filler: Path, app: FastAPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(disk_space, "MEMORY_FOLDER", tmp_path / "nowhere")
    ended, heavy = threading.Event(), app.state.server.pools.heavy
    owner.get("/server/backup")
    futures = [heavy.submit(ended.wait, account=owner.account) for _ in range(HEAVY_PER_ACCOUNT)]
    try:
        monkeypatch.setattr(downloads, "list_temp_folders", lambda _: [])
        assert owner.send("/server/backup").status_code == 429
    finally:
        ended.set()
    assert [future.result(10) for future in futures]


def test_a_backup_that_waits_for_a_thread_is_called_off_when_its_reader_leaves(
    owner: Any, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "list_temp_folders", lambda _: [])
    ended, heavy, client = threading.Event(), app.state.server.pools.heavy, ClientPresence()
    requester: Any = SimpleNamespace(server=app.state.server, person=SimpleNamespace(id=owner.account), now=0.0)

    async def read(response: Any) -> list[bytes]:
        return [piece async for piece in response.body_iterator]

    async def ask_and_leave() -> list[bytes]:
        CLIENT.set(client)
        response: Any = await downloads.send_backup(requester, name="backup.zip")
        reader = asyncio.create_task(read(response))
        while not client._callbacks:
            await asyncio.sleep(0)
        assert heavy.in_hand == HEAVY_THREADS + 1
        client.leave()
        pieces = await reader
        await response.background()
        return pieces

    futures = [heavy.submit(ended.wait) for _ in range(HEAVY_THREADS)]
    try:
        assert asyncio.run(ask_and_leave()) == []
        assert heavy.in_hand == HEAVY_THREADS
    finally:
        ended.set()
    assert [future.result(10) for future in futures]


def test_without_room_anywhere_a_backup_is_sent_as_it_is_made(
    owner: Any, filler: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(disk_space, "MEMORY_FOLDER", tmp_path / "nowhere")
    owner.get("/server/backup")
    backup = owner.send("/server/backup")
    assert backup.status_code == 200
    assert "content-length" not in backup.headers
    with zipfile.ZipFile(io.BytesIO(backup.content)) as archive:
        assert archive.testzip() is None
    (tmp_path / "backup.zip").write_bytes(backup.content)
    with Store.open(str(tmp_path / "restored.db")) as restored:
        restore_backup(restored, tmp_path / "backup.zip", now=0.0)
        assert count(restored, "judgment") == 4
    refused = owner.get("/p/small/exports/csv")
    assert (refused.status_code, codes_on(refused)[-1]) == (503, "no-room-for-file")


def test_a_server_that_is_started_on_a_full_disk_says_what_is_wrong(
    web_store: Store, sqlite_path: Path, small_disk: Path
) -> None:
    make_project(web_store)
    web_store.close()
    filler = fill_disk(small_disk)
    with pytest.raises(UnavailableError) as refused:
        Store.open(str(sqlite_path))
    assert refused.value.code == "disk-full"
    filler.unlink()
    with Store.open(str(sqlite_path)) as store:
        assert columns(store, "project", "name") == [("small",)]


def test_memory_is_taken_last_unless_the_usual_folder_is_low_and_never_for_a_large_database(
    web_store: Store, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = {
        "usual": DiskSpace(total=10**12, free=10**11),
        "memory": DiskSpace(total=10**9, free=10**9),
    }
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(disk_space, "MEMORY_FOLDER", memory)
    monkeypatch.setattr(disk_space, "measure_disk", lambda folder: space["memory" if folder == memory else "usual"])
    assert list_temp_folders(web_store) == [tmp_path, memory]
    space["usual"] = DiskSpace(total=10**12, free=10**6)
    assert list_temp_folders(web_store) == [memory, tmp_path]
    space["memory"] = DiskSpace(total=10**6, free=10**5)
    assert list_temp_folders(web_store) == [tmp_path]
