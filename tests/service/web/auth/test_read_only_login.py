"""Logging in while the database cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account, set_password
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.sessions import ATTEMPT_LIMITS, ATTEMPT_WINDOW, record_login_attempt
from ringtrue.service.web.auth.read_only_login import PREFIX, PURPOSE, SESSION_MINUTES, MemoryAttempts
from ringtrue.service.web.database_probe import check_health
from service.full_disks import make_read_only
from service.small_projects import rows
from service.web.pages import code_of
from service.web.programs import server_on

PASSWORD = "lamp river seven coat"


@pytest.fixture
def olga(web_store: Store, cheap_hasher: PasswordHasher) -> int:
    """An owner with a password who is not logged in."""
    return _person(web_store, cheap_hasher, "Olga", owner=True)


def _person(store: Store, hasher: PasswordHasher, name: str, *, owner: bool = False) -> int:
    stored = hasher.hash(PASSWORD)
    return store.write(lambda c: create_account(c, kind="named", name=name, owner=owner, password_hash=stored, now=1.0))


def log_in(visitor: Any, handle: str = "olga", password: str = PASSWORD) -> Any:
    visitor.get("/login")
    return visitor.send("/login", handle=handle, password=password)


def test_an_owner_logs_in_downloads_a_backup_and_it_is_written_down_later(
    nobody: Any, olga: int, web_store: Store, app: FastAPI
) -> None:
    end = make_read_only(web_store)
    assert log_in(nobody).status_code == 303
    nobody.get("/server/backup")
    backup = nobody.send("/server/backup")
    assert (backup.status_code, backup.headers["content-type"]) == (200, "application/zip")
    end()
    nobody.runner.run(check_health(app.state.server))
    with web_store.read() as connection:
        entries = load_audit_entries(connection)
    assert [(entry.action, entry.handle) for entry in entries] == [("back up", "olga"), ("log in", "olga")]


def test_others_are_told_that_they_cannot_log_in_now(
    nobody: Any, web_store: Store, cheap_hasher: PasswordHasher
) -> None:
    _person(web_store, cheap_hasher, "Jan")
    make_read_only(web_store)
    refused = log_in(nobody, "jan")
    assert (refused.status_code, code_of(refused)) == (503, "only-owners-now")
    assert nobody.get("/").status_code == 303


def test_a_wrong_password_stays_wrong_and_guessing_is_slowed_down(nobody: Any, olga: int, web_store: Store) -> None:
    make_read_only(web_store)
    for _ in range(ATTEMPT_LIMITS["both"]):
        assert log_in(nobody, password="a guess").status_code == 401
    assert log_in(nobody).status_code == 429


def test_attempts_from_before_count_too(nobody: Any, olga: int, web_store: Store, clock: Any) -> None:
    for _ in range(ATTEMPT_LIMITS["both"]):
        web_store.write(lambda c: record_login_attempt(c, handle="olga", address="192.0.2.1", now=clock()))
    make_read_only(web_store)
    assert log_in(nobody).status_code == 429
    clock.now += ATTEMPT_WINDOW + 1
    assert log_in(nobody).status_code == 303


def test_the_session_is_short(nobody: Any, olga: int, web_store: Store, clock: Any) -> None:
    make_read_only(web_store)
    log_in(nobody)
    clock.now += SESSION_MINUTES * 60 - 1
    assert nobody.get("/server/backup").status_code == 200
    clock.now += 1
    assert nobody.get("/server/backup").status_code == 303


@pytest.mark.parametrize("change", ["password", "owner", "erased"])
def test_the_session_ends_with_the_password_the_right_or_the_account(
    nobody: Any, olga: int, web_store: Store, cheap_hasher: PasswordHasher, change: str
) -> None:
    end = make_read_only(web_store)
    log_in(nobody)
    assert nobody.get("/server/backup").status_code == 200
    end()
    changes: dict[str, Callable[[Any], object]] = {
        "password": lambda c: set_password(c, olga, cheap_hasher.hash("another one of mine"), now=2.0),
        "owner": lambda c: c.exec_driver_sql("UPDATE account SET owner = 0"),
        "erased": lambda c: c.exec_driver_sql("UPDATE account SET erased = 2.0"),
    }
    web_store.write(lambda connection: bool(changes[change](connection)))
    make_read_only(web_store)
    assert nobody.get("/server/backup").status_code == 303


def test_what_stands_in_the_database_is_not_enough_to_make_a_session(
    nobody: Any, olga: int, web_store: Store, app: FastAPI
) -> None:
    make_read_only(web_store)
    assert log_in(nobody).status_code == 303
    server = app.state.server
    secret = server.unsign(nobody.client.cookies[server.session_cookie], "login")
    value, _, _ = secret.removeprefix(PREFIX).rpartition(".")
    for forged in (
        PREFIX + value,
        secret,
        server.sign(PREFIX + value, "login"),
        server.sign(PREFIX + server.sign(value, PURPOSE), "login"),
        server.sign(secret.removeprefix(PREFIX), "login"),
    ):
        assert_not_admitted(nobody, app, forged)


def assert_not_admitted(visitor: Any, app: FastAPI, cookie: str) -> None:
    visitor.client.cookies.clear()
    visitor.client.cookies.set(app.state.server.session_cookie, cookie, domain="ringtrue.test")
    assert visitor.get("/server/backup").status_code == 303


def test_another_process_of_the_server_knows_the_session_and_another_server_does_not(
    nobody: Any, olga: int, web_store: Store, app: FastAPI, clock: Any, visit: Any
) -> None:
    make_read_only(web_store)
    assert log_in(nobody).status_code == 303
    server = app.state.server
    cookie = nobody.client.cookies[server.session_cookie]
    for memory_secret, status in ((server.memory_secret, 200), (None, 303)):
        with server_on(web_store, secret=server.secret, memory_secret=memory_secret, clock=clock) as other:
            visitor = visit(of=other)
            visitor.client.cookies.set(server.session_cookie, cookie, domain="ringtrue.test")
            assert visitor.get("/server/backup").status_code == status


def test_the_session_ends_when_the_database_can_be_written_and_an_ordinary_one_begins(
    nobody: Any, olga: int, web_store: Store, app: FastAPI
) -> None:
    end = make_read_only(web_store)
    log_in(nobody)
    assert nobody.get("/server/backup").status_code == 200
    end()
    nobody.runner.run(check_health(app.state.server))
    ended = nobody.get("/server/backup")
    assert (ended.status_code, ended.headers["location"]) == (303, "/login?next=%2Fserver%2Fbackup")
    assert log_in(nobody).status_code == 303
    assert nobody.get("/server/backup").status_code == 200
    written = rows(web_store, "SELECT account FROM login")
    assert written == [(olga,)]


def test_who_logs_in_just_after_a_look_that_found_room_is_let_in(
    nobody: Any, olga: int, web_store: Store, app: FastAPI
) -> None:
    nobody.runner.run(check_health(app.state.server))
    make_read_only(web_store)
    log_in(nobody)
    assert nobody.get("/server/backup").status_code == 200


def test_logging_out_ends_the_session(nobody: Any, olga: int, web_store: Store, app: FastAPI) -> None:
    make_read_only(web_store)
    log_in(nobody)
    cookie = nobody.client.cookies[app.state.server.session_cookie]
    nobody.get("/server/backup")
    assert nobody.send("/logout").status_code == 303
    assert_not_admitted(nobody, app, cookie)


def test_attempts_in_memory_are_forgotten_after_a_while_and_do_not_grow_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ringtrue.service.web.auth import read_only_login

    monkeypatch.setattr(read_only_login, "MAX_KEYS", 30)
    attempts = MemoryAttempts()
    for number in range(100):
        assert not attempts.record(handle=f"h{number}", address=f"a{number}", now=number * ATTEMPT_WINDOW)
    assert len(attempts._times) < 40


def test_attempts_that_are_refused_leave_nothing_and_lock_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from ringtrue.service.web.auth import read_only_login

    monkeypatch.setattr(read_only_login, "MAX_KEYS", 30)
    attempts = MemoryAttempts()
    number = 0
    while not attempts.record(handle=f"h{number}", address="a", now=1.0):
        number += 1
    kept = len(attempts._times)
    for other in range(100):
        assert attempts.record(handle=f"other{other}", address="a", now=2.0)
    assert len(attempts._times) == kept
    assert not attempts.record(handle="olga", address="another", now=3.0)
