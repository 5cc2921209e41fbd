"""All of it in one file, and back into either database."""

from __future__ import annotations

import hashlib
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert, select

from ringtrue.errors import FileError, FormatError, StoreError
from ringtrue.service.store import Store, schema
from ringtrue.service.store.adjudication import record_verdict
from ringtrue.service.store.backup import EXCLUDED_TABLES, restore_backup, write_backup
from ringtrue.service.store.projects import add_upload
from ringtrue.service.store.sessions import authenticate_token, issue_token
from service.small_projects import NOW, begin, finish, judge, pairs_project, project, question, rows, say

Open = Callable[[str], Store]
Change = Callable[[dict[str, bytes], dict[str, Any]], object]


@pytest.fixture
def empty(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens an empty database of the kind that is named."""
    opened: list[Store] = []

    def make(kind: str) -> Store:
        if kind == "sqlite":
            url = f"sqlite:///{tmp_path / f'empty{len(opened)}.db'}"
        else:
            server = request.getfixturevalue("postgresql")
            url = server.url(server.create("migrated"))
        opened.append(Store.open(url))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def full(store: Store) -> Store:
    """A store with something in every table that is kept, and in those that are not."""
    where = project(store, items=3, known=1, judges=2, task_size=4, traps=1, traps_needed=1)
    ann = judge(store, "ann")
    task = begin(store, where, ann)
    say(store, ann, question(store, task, ann), kind="unsure", reason='Ümläut "quoted"\n\u2028 new line')
    finish(store, task, ann, "2")

    def more(connection: Any) -> None:
        add_upload(connection, where.id, kind="run", name="a.run", content=bytes(range(256)) * 9, now=NOW)
        item = connection.execute(select(schema.item.c.id).where(schema.item.c.queue == "main")).scalars().first()
        record_verdict(connection, where, item, ann, "1", "so", NOW)
        link = {"project": where.id, "role": "judge", "kind": "crowd", "hash": "h", "left": 5, "created": NOW}
        at = connection.execute(insert(schema.invitation).values(link).returning(schema.invitation.c.id)).scalar_one()
        connection.execute(insert(schema.visit).values(invitation=at, account=ann, worker="W", time=0.1 + 0.2))
        code = {"kind": "full", "code": "C1", "task": task.id, "time": NOW}
        connection.execute(insert(schema.completion).values(invitation=at, account=ann, **code))
        connection.execute(insert(schema.member).values(project=where.id, account=ann, role="judge", created=NOW))
        connection.execute(insert(schema.token).values(account=ann, name="t", hash="x", scopes="read", created=NOW))
        connection.execute(insert(schema.audit).values(time=NOW, account=ann, project=where.id, action="made"))
        connection.execute(insert(schema.login).values(account=ann, hash="s", csrf="c", created=NOW, expires=NOW))
        connection.execute(insert(schema.attempt).values(what="ann", time=NOW))
        connection.execute(insert(schema.setting).values(name="signing secret", value="sesame"))

    store.write(more)
    return store


def everything(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    with store.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in schema.metadata.sorted_tables
        }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_comes_back_is_what_was_there_but_for_log_ins(full: Store, empty: Open, kind: str, tmp_path: Path) -> None:
    written = write_backup(full, tmp_path / "all.zip", now=NOW)
    target = empty(kind)
    assert restore_backup(target, tmp_path / "all.zip", now=NOW).manifest == written
    before, after = everything(full), everything(target)
    kept = before.keys() - EXCLUDED_TABLES
    same = kept - {"token", "audit"}  # what restoring revokes, and that it does
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert after["audit"][:-1] == before["audit"]
    assert all(before[name] and not after[name] for name in EXCLUDED_TABLES)
    assert all(before[name] for name in kept)
    assert written.rows == {name: len(before[name]) for name in kept}


@pytest.mark.slow
def test_work_goes_on_after_restoring_and_new_rows_have_new_numbers(full: Store, empty: Open, tmp_path: Path) -> None:
    write_backup(full, tmp_path / "all.zip", now=NOW)
    for kind in ("sqlite", "postgresql"):
        target = empty(kind)
        restore_backup(target, tmp_path / "all.zip", now=NOW)
        bob = judge(target, "bob")
        assert bob > max(number for (number,) in rows(full, "SELECT id FROM account"))
        with target.read() as connection:
            from ringtrue.service.store.projects import get_project_by_name

            where = get_project_by_name(connection, "small")
        assert finish(target, begin(target, where, bob), bob, "2").outcome == "handed_in"
        assert rows(target, "SELECT COUNT(*) FROM item WHERE given > wanted") == [(0,)]


def test_a_restored_database_has_no_live_token_login_or_invitation_but_for_crowd_links(
    full: Store, empty: Open, tmp_path: Path
) -> None:
    def more(connection: Any) -> str:
        ann = connection.execute(select(schema.account.c.id)).scalars().first()
        token = issue_token(connection, ann, name="n", scopes=["read"], now=NOW, days=None)
        common = {"left": 1, "created": NOW}
        kinds = [("owner", "named"), ("judge", "named"), ("reset", "named"), ("judge", "crowd")]
        links = [
            {
                "role": role,
                "kind": kind,
                "hash": f"{role} {kind}",
                "account": ann if role == "reset" else None,
                **common,
            }
            for role, kind in kinds
        ]
        connection.execute(insert(schema.invitation), links)
        return token

    token = full.write(more)
    with full.read() as connection:
        assert authenticate_token(connection, token, NOW) is not None
    write_backup(full, tmp_path / "all.zip", now=NOW)
    target = empty("sqlite")
    restored = restore_backup(target, tmp_path / "all.zip", now=NOW + 5)
    assert (restored.tokens, restored.invitations) == (2, 3)
    with target.read() as connection:
        assert authenticate_token(connection, token, NOW) is None
    assert rows(target, "SELECT COUNT(*) FROM token WHERE revoked IS NULL") == [(0,)]
    assert rows(target, "SELECT COUNT(*) FROM login") == [(0,)]
    live = "SELECT hash FROM invitation WHERE revoked IS NULL ORDER BY hash"
    assert rows(target, live) == [("h",), ("judge crowd",)]
    assert rows(target, "SELECT action FROM audit ORDER BY id DESC LIMIT 1") == [("restore",)]


def test_secrets_and_log_ins_of_the_hour_are_not_in_the_file(full: Store, tmp_path: Path) -> None:
    write_backup(full, tmp_path / "all.zip", now=NOW)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        inside = b"".join(archive.read(name) for name in archive.namelist())
        assert not {f"{name}.jsonl" for name in EXCLUDED_TABLES} & set(archive.namelist())
    assert b"sesame" not in inside


def test_a_backup_is_restored_into_an_empty_database_only(full: Store, tmp_path: Path) -> None:
    write_backup(full, tmp_path / "all.zip", now=NOW)
    before = everything(full)
    with pytest.raises(StoreError) as refused:
        restore_backup(full, tmp_path / "all.zip", now=NOW)
    assert refused.value.code == "database-not-empty"
    assert "1 account" in refused.value.text
    assert everything(full) == before


def test_the_link_of_a_first_owner_who_never_came_is_no_hindrance(full: Store, empty: Open, tmp_path: Path) -> None:
    write_backup(full, tmp_path / "all.zip", now=NOW)
    target = empty("sqlite")
    link = {"role": "owner", "kind": "named", "hash": "first", "created": NOW}
    target.write(lambda connection: connection.execute(insert(schema.invitation).values(link)))
    restore_backup(target, tmp_path / "all.zip", now=NOW)
    assert rows(target, "SELECT hash FROM invitation") == [("h",)]


@pytest.mark.slow
def test_a_backup_holds_one_moment_while_judges_go_on(store: Store, empty: Open, tmp_path: Path) -> None:
    where, ann = project(store, items=120, task_size=120), judge(store)
    task = begin(store, where, ann)
    work = threading.Thread(target=finish, args=(store, task, ann, "1"))
    work.start()
    paths = []
    while work.is_alive() or not paths:
        paths.append(tmp_path / f"{len(paths)}.zip")
        write_backup(store, paths[-1], now=NOW)
    work.join()
    for path in paths[:3]:
        target = empty("sqlite")
        restore_backup(target, path, now=NOW)
        ((done, said, mismatched),) = rows(target, """
            SELECT (SELECT COUNT(*) FROM assignment WHERE state = 'done'), (SELECT COUNT(*) FROM judgment),
              (SELECT COUNT(*) FROM assignment a WHERE a.version <> (
                 SELECT COUNT(*) FROM judgment j WHERE j.assignment = a.id))""")  # fmt: skip
        assert (done, mismatched) == (said, 0)


@pytest.fixture
def good(store: Store, tmp_path: Path) -> Path:
    """A small backup in order."""
    pairs_project(store, items=3)
    write_backup(store, tmp_path / "good.zip", now=NOW)
    return tmp_path / "good.zip"


def changed(good: Path, change: Change) -> Path:
    """The backup with other files in it, or another manifest."""
    with zipfile.ZipFile(good) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    change(files, manifest)
    bad = good.with_name("bad.zip")
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, content)
    return bad


def honest(files: dict[str, bytes], manifest: dict[str, Any], name: str, content: bytes) -> None:
    """Put something into a backup, and say so."""
    files[name] = content
    told = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "rows": content.count(b"\n")}
    manifest["parts"][name] = told


ROW = b'{"id":1,"project":1,"name":"q","text":null,"description":null,"narrative":null}\n'
FAULTS: dict[str, tuple[Change, str, str]] = {
    "a file is missing": (lambda files, _: files.pop("item.jsonl"), "backup-files-differ", ""),
    "a file too many": (lambda files, _: files.update({"more.txt": b""}), "backup-files-differ", ""),
    "a table is not named": (
        lambda files, manifest: [part.pop("item.jsonl") for part in (files, manifest["parts"])],
        "backup-table-missing", "item",
    ),
    "another size": (lambda files, _: files.update({"item.jsonl": b"{}\n"}), "backup-size-differs", ""),
    "another content": (
        lambda files, _: files.update({"item.jsonl": files["item.jsonl"].replace(b"main", b"gold")}),
        "backup-checksum", "item.jsonl",
    ),
    "a row too few": (lambda _, manifest: manifest["parts"]["item.jsonl"].update(rows=7), "backup-row-count", "3 rows"),
    "no JSON": (
        lambda files, manifest: honest(files, manifest, "query.jsonl", b"what\n"), "bad-backup-row", "query.jsonl:1",
    ),
    "other columns": (
        lambda files, manifest: honest(files, manifest, "query.jsonl", b'{"id":1}\n'), "bad-backup-row", "description",
    ),
    "twice the same number": (
        lambda files, manifest: honest(files, manifest, "query.jsonl", ROW + ROW), "backup-rows-conflict", "query",
    ),
    "words for numbers": (
        lambda files, manifest: honest(files, manifest, "query.jsonl", ROW.replace(b'"id":1', b'"id":[1]')),
        "bad-backup-row", "query.jsonl:1",
    ),
    "another kind": (lambda _, manifest: manifest.update(kind="holiday pictures"), "no-backup", ""),
    "a newer format": (lambda _, manifest: manifest.update(format=2), "newer-backup", "2"),
    "parts of another shape": (lambda _, manifest: manifest.update(parts=[1]), "bad-manifest", "manifest.json"),
    "an enormous promise": (
        lambda files, manifest: honest(files, manifest, "query.jsonl", b" " * (1 << 27)), "backup-too-large", "0.1 GB",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_backup_with_a_fault_is_refused_in_words_and_nothing_is_restored(
    good: Path, empty: Open, store: Store, fault: str
) -> None:
    change, code, named = FAULTS[fault]
    target = empty(store.engine.dialect.name)
    with pytest.raises(FormatError) as refused:
        restore_backup(target, changed(good, change), now=NOW)
    assert (refused.value.code, refused.value.file) == (code, str(good.with_name("bad.zip")))
    assert named in refused.value.note
    assert rows(target, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM document)") == [(0,)]
    restore_backup(target, good, now=NOW)


def test_what_is_no_backup_at_all_is_refused(good: Path, empty: Open, tmp_path: Path) -> None:
    target, foreign, text = empty("sqlite"), tmp_path / "foreign.zip", tmp_path / "text.zip"
    text.write_text("hello")
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("a.txt", "hello")
    cut = tmp_path / "cut.zip"
    cut.write_bytes(good.read_bytes()[:-30])
    for path, code in ((text, "no-backup"), (foreign, "no-manifest"), (cut, "no-backup")):
        with pytest.raises(FormatError) as refused:
            restore_backup(target, path, now=NOW)
        assert (refused.value.code, refused.value.file) == (code, str(path))
    with pytest.raises(FileError) as refused:
        restore_backup(target, tmp_path / "nowhere.zip", now=NOW)
    assert refused.value.code == "no-such-file"
    with pytest.raises(FileError) as refused:
        restore_backup(target, tmp_path, now=NOW)
    assert refused.value.code == "unreadable-file"


def test_bytes_that_changed_on_the_disk_are_found(good: Path, empty: Open) -> None:
    target = empty("sqlite")
    content = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        info = archive.getinfo("item.jsonl")
    start = info.header_offset + 30 + len("item.jsonl") + 20
    content[start : start + 40] = bytes(40)
    good.write_bytes(content)
    with pytest.raises(FormatError) as refused:
        restore_backup(target, good, now=NOW)
    assert refused.value.code == "backup-damaged"


def test_a_backup_of_another_step_says_which_version_restores_it(good: Path, empty: Open) -> None:
    bad = changed(good, lambda _, manifest: manifest.update(migration=99, ringtrue="9.9"))
    with pytest.raises(StoreError) as refused:
        restore_backup(empty("sqlite"), bad, now=NOW)
    assert refused.value.code == "other-migration"
    assert "ringtrue 9.9" in refused.value.text


def test_numbers_keep_every_digit(store: Store, empty: Open, tmp_path: Path) -> None:
    where, ann = project(store), judge(store)
    times = np.random.default_rng(1).random(20) * 1e9
    store.write(lambda c: c.execute(insert(schema.audit), [{"time": float(t), "action": "x"} for t in times]))
    write_backup(store, tmp_path / "all.zip", now=NOW)
    target = empty("sqlite")
    restore_backup(target, tmp_path / "all.zip", now=NOW)
    assert [time for (time,) in rows(target, "SELECT time FROM audit WHERE action = 'x' ORDER BY id")] == times.tolist()
    assert (where.id, ann) == (1, 1)
