"""Changing one's own password."""

from __future__ import annotations

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.login_attempts import ATTEMPT_LIMITS
from ringtrue.service.web.auth.password_hashing import hash_password

OLD, NEW = "lamp river seven coat", "green stone over bread"
HASH = hash_password(OLD)


@pytest.fixture
def ann(web_store: Store) -> int:
    return web_store.write(lambda c: create_account(c, kind="named", name="Ann", password_hash=HASH, now=1.0))


def test_a_new_password_ends_every_other_visit(ann: int, visit) -> None:
    here, elsewhere = visit(ann), visit(ann)
    here.get("/password")
    done = here.send("/password", old=OLD, password=NEW, again=NEW)
    assert (done.status_code, done.headers["location"]) == (303, "/?changed=1")
    assert "Your password is changed." in here.get("/?changed=1").text
    assert elsewhere.get("/").headers["location"] == "/login"
    for password, status in ((OLD, 401), (NEW, 303)):
        browser = visit()
        browser.get("/login")
        assert browser.send("/login", handle="ann", password=password).status_code == status


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"old": "not the old one"}, "The old password is wrong"),
        ({"password": "short", "again": "short"}, "at least 10 characters"),
        ({"again": "something else"}, "two new passwords differ"),
    ],
)
def test_what_cannot_be_used_is_said_on_the_form(ann: int, visit, fields: dict[str, str], says: str) -> None:
    browser = visit(ann)
    browser.get("/password")
    page = browser.send("/password", **({"old": OLD, "password": NEW, "again": NEW} | fields))
    assert page.status_code == 422
    assert says in page.text
    assert NEW not in page.text
    assert browser.get("/").status_code == 200


def test_the_old_password_cannot_be_guessed_here_either(ann: int, visit) -> None:
    browser = visit(ann)
    browser.get("/password")
    for _ in range(ATTEMPT_LIMITS["both"]):
        assert "old password is wrong" in browser.send("/password", old="x", password=NEW, again=NEW).text
    assert "Too many attempts" in browser.send("/password", old=OLD, password=NEW, again=NEW).text


def test_who_comes_by_a_link_has_no_password_to_change(web_store: Store, visit) -> None:
    worker = visit(web_store.write(lambda c: create_account(c, kind="crowd", now=1.0)))
    assert "You have no password" in worker.get("/password").text
    worker.get("/")
    assert worker.send("/password", old="", password=NEW, again=NEW).status_code == 422
