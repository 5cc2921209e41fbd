from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import text

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account, erase_account


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
