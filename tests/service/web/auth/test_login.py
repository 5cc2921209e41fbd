"""Logging in and out by a password, changing it, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from ringtrue.errors import UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import ATTEMPT_LIMITS, ATTEMPT_WINDOW, record_login_attempt
from ringtrue.service.web.app import create_app
from ringtrue.service.web.auth.login import (
    DUMMY_HASH,
    HASHER,
    hash_password,
    is_correct_password,
    require_strong_password,
)
from ringtrue.service.web.auth.read_only_login import EndedSessions
from ringtrue.service.web.client_presence import SCOPE_KEY, ClientPresence
from ringtrue.service.web.database_probe import check_health
from service.full_disks import make_read_only
from service.web.judge.answering import count
from service.web.pages import code_of, codes_on, has_element

PASSWORD = "lamp river seven coat"
NEW = "green stone over bread"


@pytest.fixture
def ann(web_store: Store, cheap_hasher: PasswordHasher) -> int:
    stored = cheap_hasher.hash(PASSWORD)
    return web_store.write(lambda c: create_account(c, kind="named", name="Ann", password_hash=stored, now=1.0))


def log_in(browser, handle: str = "ann", password: str = PASSWORD, **fields: str) -> httpx.Response:
    browser.get("/login")
    return browser.send("/login", handle=handle, password=password, **fields)


def test_the_right_password_opens_the_door(ann: int, nobody) -> None:
    assert nobody.get("/").headers["location"] == "/login"
    done = log_in(nobody, " Ann ")
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert "Ann" in nobody.get("/").text


def test_who_is_logged_in_already_is_not_asked_again(judge) -> None:
    assert judge.get("/login?next=/p/news/judge").headers["location"] == "/p/news/judge"


def test_after_logging_in_one_is_where_one_wanted_to_be(ann: int, nobody) -> None:
    asked = nobody.get("/p/news/judge?queue=gold")
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=%2Fp%2Fnews%2Fjudge%3Fqueue%3Dgold")
    nobody.get(asked.headers["location"])
    done = nobody.send("/login", handle="ann", password=PASSWORD)
    assert done.headers["location"] == "/p/news/judge?queue=gold"


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
     "javascript:alert(1)", "/ok\r\nSet-Cookie: a=b", "evil.example", "///evil.example", " //evil.example"],
)  # fmt: skip
def test_nobody_is_sent_to_another_site(ann: int, nobody, judge, elsewhere: str) -> None:
    assert log_in(nobody, next=elsewhere).headers["location"] == "/"
    assert judge.get("/login", params={"next": elsewhere}).headers["location"] == "/"


def test_a_wrong_password_and_a_handle_that_nobody_has_are_told_in_the_same_words(
    ann: int, web_store: Store, visit
) -> None:
    web_store.write(lambda c: create_account(c, kind="crowd", now=1.0))
    pages = [log_in(visit(), handle, "not the password") for handle in ("ann", "nobody", "worker-2")]
    assert [page.status_code for page in pages] == [401] * 3
    texts = {
        page.text.replace(handle, "…").replace(page.request.content.decode(), "")
        for page, handle in zip(pages, ("ann", "nobody", "worker-2"), strict=True)
    }
    without_words = {"".join(line for line in text.splitlines() if 'name="word"' not in line) for text in texts}
    assert len(without_words) == 1
    assert {code_of(page) for page in pages} == {"wrong-credentials"}


def test_who_guesses_is_slowed_down_even_with_the_right_password_and_locks_nobody_else_out(
    ann: int, visit, clock
) -> None:
    for _ in range(ATTEMPT_LIMITS["both"]):
        assert log_in(visit(), password="wrong").status_code == 401
    browser = visit()
    assert log_in(visit(address="198.51.100.1"), password="wrong").status_code == 401
    late = log_in(browser)
    assert (late.status_code, code_of(late)) == (429, "too-many-attempts")
    assert "wait 15 minutes" in late.text
    assert log_in(visit(address="198.51.100.1")).status_code == 303
    clock.now += ATTEMPT_WINDOW
    assert log_in(browser).status_code == 303


def test_a_forged_address_in_a_header_does_not_help_guessing(ann: int, web_store: Store, visit, clock) -> None:
    for attempt in range(ATTEMPT_LIMITS["address"]):
        web_store.write(lambda c, n=attempt: record_login_attempt(c, handle=f"h{n}", address="192.0.2.1", now=clock()))
    browser = visit(address="192.0.2.1")
    browser.get("/login")
    fields = browser.hidden() | {"handle": "ann", "password": PASSWORD}
    assert browser.post("/login", fields, headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 429
    assert log_in(visit(address="192.0.2.2")).status_code == 303


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(ann: int, nobody) -> None:
    cookie = log_in(nobody).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


def test_behind_https_the_cookie_travels_by_https_only_and_belongs_to_the_host(
    ann: int, web_store: Store, visit
) -> None:
    app = create_app(web_store, secret=b"s", base_url="https://judge.example.org")
    browser = visit(of=app)
    browser.client.base_url = httpx.URL("https://judge.example.org")
    cookie = log_in(browser).headers["set-cookie"]
    assert cookie.startswith("__Host-ringtrue=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    assert browser.get("/").status_code == 200


def test_a_cookie_that_we_did_not_sign_is_nobody(judge, app: FastAPI) -> None:
    site = app.state.server
    genuine = judge.client.cookies[site.session_cookie]
    secret, _, signature = genuine.rpartition(".")
    for forged in (secret, f"{secret}.", f"{secret}x.{signature}", f"{secret}.{signature}x", "", "ä", "." * 50):
        judge.client.cookies.clear()
        answer = judge.get("/", headers={"Cookie": f"{site.session_cookie}={forged}".encode()})
        assert answer.headers["location"] == "/login"
    for_a_form = site.sign(secret, "form")
    assert judge.get("/", headers={"Cookie": f"{site.session_cookie}={for_a_form}"}).headers["location"] == "/login"
    assert judge.get("/", headers={"Cookie": f"{site.session_cookie}={genuine}"}).status_code == 200


def test_another_site_cannot_log_its_visitors_in(ann: int, nobody, visit) -> None:
    fields = {"handle": "ann", "password": PASSWORD, "next": "/"}
    assert nobody.post("/login", fields).status_code == 403  # neither cookie nor word
    nobody.get("/login")
    assert nobody.post("/login", fields).status_code == 403  # the cookie alone
    assert nobody.post("/login", fields | {"word": "ä"}).status_code == 403
    other = visit()
    other.get("/login")
    assert nobody.post("/login", fields | {"word": other.hidden()["word"]}).status_code == 403  # another browser's word


def test_logging_in_again_ends_the_visit_before_and_changes_every_secret(ann: int, visit) -> None:
    browser = visit()
    log_in(browser)
    first = browser.client.cookies["ringtrue"]
    browser.get("/")
    word = browser.hidden()["csrf"]
    other = visit()
    other.client.cookies.set("ringtrue", first, domain="ringtrue.test")
    other.client.cookies.set("ringtrue-form", browser.client.cookies["ringtrue-form"], domain="ringtrue.test")
    other.post("/login", {"word": _word(visit, other), "handle": "ann", "password": PASSWORD})
    assert browser.get("/").headers["location"] == "/login"
    assert other.get("/").status_code == 200
    assert other.hidden()["csrf"] != word


def _word(visit, of) -> str:
    """The word of a browser's forms, as a page for nobody shows it."""
    fresh = visit()
    fresh.client.cookies.set("ringtrue-form", of.client.cookies["ringtrue-form"], domain="ringtrue.test")
    fresh.get("/login")
    return fresh.hidden()["word"]


def test_logging_out_ends_the_visit_for_whoever_kept_the_cookie(judge, visit) -> None:
    thief = visit()
    thief.client.cookies.set("ringtrue", judge.client.cookies["ringtrue"], domain="ringtrue.test")
    assert thief.get("/").status_code == 200
    judge.get("/")
    out = judge.send("/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert 'ringtrue=""' in out.headers["set-cookie"]
    assert thief.get("/").headers["location"] == "/login"


def test_logging_out_is_done_for_a_browser_that_leaves_at_once(judge, app: FastAPI, web_store: Store) -> None:
    client = ClientPresence()
    client.leave()

    async def app_without_client(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, SCOPE_KEY: client}, receive, send)

    judge.get("/")
    judge.client._transport = httpx.ASGITransport(app_without_client)
    assert judge.send("/logout").status_code == 303
    assert count(web_store, "login") == 0


def test_logging_out_on_a_full_disk_ends_the_session_at_once_and_is_written_later(
    judge, web_store: Store, app: FastAPI
) -> None:
    cookie = judge.client.cookies["ringtrue"]
    judge.get("/")
    end = make_read_only(web_store)
    out = judge.send("/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login?later=1")
    assert 'ringtrue=""' in out.headers["set-cookie"]
    assert codes_on(judge.get("/login?later=1")) == ["logged-out-here"]
    judge.client.cookies.set("ringtrue", cookie, domain="ringtrue.test")
    assert judge.get("/").headers["location"] == "/login"
    assert count(web_store, "login") == 1
    end()
    judge.runner.run(check_health(app.state.server))
    assert count(web_store, "login") == 0


def test_who_comes_by_the_address_of_that_notice_while_all_can_be_written_does_not_read_it(nobody) -> None:
    page = nobody.get("/login?later=1")
    assert page.status_code == 200
    assert codes_on(page) == []


def test_a_session_that_ended_in_memory_is_forgotten_when_it_would_have_ended_by_itself() -> None:
    ended = EndedSessions()
    ended.add("first", now=1.0, until=10.0)
    ended.add("second", now=5.0, until=20.0)
    assert ("first" in ended, "second" in ended, "third" in ended) == (True, True, False)
    ended.add("third", now=11.0, until=30.0)
    assert ("first" in ended, "second" in ended, "third" in ended) == (False, True, True)


def test_nobody_is_logged_out_by_a_link(judge) -> None:
    assert judge.get("/logout").status_code == 405
    assert judge.post("/logout").status_code == 403
    assert judge.get("/").status_code == 200


def test_a_visit_ends_with_its_time(judge, clock) -> None:
    clock.now += 3600
    assert judge.get("/").headers["location"] == "/login"


def test_logging_in_is_on_record_without_a_name(ann: int, nobody, web_store: Store) -> None:
    log_in(nobody)
    (entry,) = web_store.write(load_audit_entries)
    assert (entry.action, entry.handle, entry.detail) == ("log in", "ann", {})


def test_the_first_page_shows_what_each_may_do(
    owner, judge, gold_judge, viewer, project: Project, visit, account: Callable[..., int]
) -> None:
    assert 'href="/projects/new"' in owner.get("/").text
    assert 'href="/p/news/judge"' in judge.get("/").text
    assert 'href="/projects/new"' not in judge.page.text
    assert 'href="/p/news"' not in judge.page.text
    assert 'href="/p/news/judge?queue=gold"' in gold_judge.get("/").text
    assert 'href="/p/news"' in viewer.get("/").text
    assert "/judge" not in viewer.page.text
    stranger = visit(account("Nobody Special"))
    assert "News of 1994" not in stranger.get("/").text
    assert has_element(stranger.page, "no-projects")


@pytest.mark.slow
def test_a_password_is_known_again_and_kept_as_argon2id() -> None:
    stored = hash_password(PASSWORD)
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    assert stored != hash_password(PASSWORD)
    assert is_correct_password(PASSWORD, stored)
    assert not is_correct_password(f"{PASSWORD}s", stored)


@pytest.mark.slow
def test_what_keyboards_write_in_several_ways_is_one_password() -> None:
    assert is_correct_password("Cafe\u0301-Fluss", hash_password("Caf\u00e9-Fluss"))


def test_nobody_is_compared_with_as_much_work_as_somebody() -> None:
    assert not HASHER.check_needs_rehash(DUMMY_HASH)
    assert not is_correct_password("anything", None)


@pytest.mark.parametrize("stored", ["", "unusable", "$argon2id$v=19$m=1"])
def test_what_is_no_hash_fits_no_password(stored: str) -> None:
    assert not is_correct_password("unusable", stored)


def test_a_password_of_megabytes_costs_no_more_than_another() -> None:
    assert not is_correct_password("x" * 5_000_000, None)


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("short", "short-password"),
        ("x" * 201, "long-password"),
        ("abababababab", "repetitive-password"),
        ("olga-owner-1", "guessable-password"),
        ("Password1234", "guessable-password"),
    ],
)
def test_passwords_that_are_guessed_at_once_are_refused(password: str, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_strong_password(password, handle="olga-owner", name="Olga Owner")
    assert (refused.value.code, refused.value.parameter) == (code, "password")


def test_a_good_password_needs_no_odd_characters() -> None:
    require_strong_password("lamp river seven coat", handle="olga", name="Olga Owner")


def test_a_new_password_ends_every_other_visit(ann: int, visit) -> None:
    here, elsewhere = visit(ann), visit(ann)
    here.get("/password")
    done = here.send("/password", old=PASSWORD, password=NEW, again=NEW)
    assert (done.status_code, done.headers["location"]) == (303, "/?changed=1")
    assert has_element(here.get("/?changed=1"), "said")
    assert elsewhere.get("/").headers["location"] == "/login"
    for password, status in ((PASSWORD, 401), (NEW, 303)):
        browser = visit()
        browser.get("/login")
        assert browser.send("/login", handle="ann", password=password).status_code == status


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"old": "not the old one"}, "wrong-password"),
        ({"password": "short", "again": "short"}, "short-password"),
        ({"again": "something else"}, "passwords-differ"),
    ],
)
def test_what_cannot_be_used_is_said_on_the_form(ann: int, visit, fields: dict[str, str], code: str) -> None:
    browser = visit(ann)
    browser.get("/password")
    page = browser.send("/password", **({"old": PASSWORD, "password": NEW, "again": NEW} | fields))
    assert (page.status_code, code_of(page)) == (422, code)
    assert NEW not in page.text
    assert browser.get("/").status_code == 200


def test_the_old_password_cannot_be_guessed_here_either(ann: int, visit) -> None:
    browser = visit(ann)
    browser.get("/password")
    for _ in range(ATTEMPT_LIMITS["both"]):
        assert code_of(browser.send("/password", old="x", password=NEW, again=NEW)) == "wrong-password"
    assert code_of(browser.send("/password", old=PASSWORD, password=NEW, again=NEW)) == "too-many-attempts"


def test_who_comes_by_a_link_has_no_password_to_change(web_store: Store, visit) -> None:
    worker = visit(web_store.write(lambda c: create_account(c, kind="crowd", now=1.0)))
    assert has_element(worker.get("/password"), "no-password")
    worker.get("/")
    assert worker.send("/password", old="", password=NEW, again=NEW).status_code == 422
