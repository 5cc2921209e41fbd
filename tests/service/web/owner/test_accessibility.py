"""The owner's pages in a real browser: no violation that axe finds, nothing wider than the screen, and the script."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

from browsers import Look, comes_to, in_looks, violations
from ringtrue.messages import Note
from ringtrue.service.collect.project_setup import make_project
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.store import Scale, Settings, Store
from ringtrue.service.store.answers import submit_task
from ringtrue.service.store.completion import settle_completion
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import log_in
from ringtrue.service.web.health_record import Health
from service.small_projects import begin, question, say
from service.web.owner.stories import whole

pytestmark = pytest.mark.slow
NOW = 1_800_000_000.0
LOOKS: list[Look] = [(1200, 700, "light"), (320, 700, "dark")]
PAGES = (
    "/projects/new", "/p/sea-bees", "/p/sea-bees/people", "/p/sea-bees/quality", "/p/sea-bees/adjudicate",
    "/p/sea-bees/gold", "/p/sea-bees/exports", "/p/sea-bees/files", "/p/sea-bees/import", "/p/sea-bees/settings",
    "/p/sea-bees/delete", "/p/sea-bees/audit", "/server/people", "/server/backup", "/server/audit", "/tokens",
    "/people/2/erase", "/p/sea-bees/exports/gold",
)  # fmt: skip


@pytest.fixture
def served(app: FastAPI) -> Iterator[str]:
    """The server on a port of its own."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def made(web_store: Store) -> Project:
    """The small project, made from its files; not through a client, whose loop would stand in the browser's way."""
    given = {field: UploadedFile(name=name, content=content) for field, (name, content, _) in whole()}
    return make_project(
        web_store, name="sea-bees", title="Sea & bees", scale=Scale.graded("Not relevant", "Relevant"),
        settings=Settings(judges=2, task_size=10, traps=2, traps_needed=2), guidelines="Read.", ask=[given["ask"]],
        topics=given["topics"], documents=[given["documents"]], traps=given["trap_file"], now=NOW,
        rng=np.random.default_rng(1),
    ).project  # fmt: skip


def answer_all(store: Store, project: Project, account: int, good: str) -> None:
    """A judge answers one task, who finds these documents good."""
    task = begin(store, project, account, now=NOW)
    while (shown := question(store, task, account)) is not None:
        say(store, account, shown, "1" if shown.left.name in good else "0", now=NOW)
    store.write(lambda c: submit_task(c, account, task.id, now=NOW))


@pytest.fixture
def judged(made: Project, account: Callable[..., int], web_store: Store) -> Project:
    """The same, judged by two who differ."""
    for name, good in (("Ann", "ab"), ("Bob", "abct")):
        answer_all(web_store, made, account(name, made, "judge"), good)
    return made


@pytest.fixture
def owner(account: Callable[..., int]) -> int:
    return account("Olga Owner", owner=True)


def logged_in(browser: Browser, served: str, app: FastAPI, account: int, **look: Any) -> Page:
    site = app.state.server
    secret, _ = site.store.write(lambda c: log_in(c, account, now=site.clock(), hours=1))
    context = browser.new_context(**look)
    context.add_cookies([{"name": site.session_cookie, "value": site.sign(secret, "login"), "url": served}])
    return context.new_page()


def checked(page: Page, where: str) -> None:
    for look in in_looks(page, LOOKS):
        found = violations(page)
        assert not found, f"{where}, {look}: {found}"
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{where}, {look}: {wide} pixels wider than the screen"


def test_no_page_has_a_violation_or_is_too_wide(
    windows: Browser, served: str, app: FastAPI, owner: int, judged: Project
) -> None:
    page = logged_in(windows, served, app, owner)
    for path in PAGES:
        page.goto(served + path)
        checked(page, path)
    page.goto(f"{served}/p/sea-bees/people")
    page.fill("#whom", "Hanna\nIvan")
    page.click("text=Make links")
    comes_to(page, "The links")
    checked(page, "links")
    page.goto(f"{served}/p/sea-bees/people")
    page.click("text=Make the link")
    comes_to(page, "The link")
    checked(page, "crowd link")
    page.goto(f"{served}/p/sea-bees/adjudicate")
    page.click("text=Decide the first")
    expect(page.locator("#document-1")).to_be_visible()
    checked(page, "decision")
    page.goto(f"{served}/projects/new")
    page.fill("#title", "Wrong")
    page.set_input_files("#ask", [{"name": "bad.run", "mimeType": "text/plain", "buffer": b"junk"}])
    page.click("text=Make the project")
    expect(page.locator("#ask-problem")).to_be_visible()
    checked(page, "wrong file")


@pytest.mark.parametrize("width", [1280, 390])
def test_long_ids_make_no_table_of_people_scroll_sideways(
    windows: Browser, served: str, app: FastAPI, owner: int, made: Project, web_store: Store,
    account: Callable[..., int], width: int,
) -> None:  # fmt: skip
    account("Wolfeschlegelsteinhausenbergerdorff-of-the-very-long-name", made, "judge")
    terms: dict[str, Any] = {"code": "C" * 60, "partial_code": "H" * 60, "uses": None, "own_codes": True}

    def come(connection: Any) -> int:
        secret = invite(connection, role="judge", kind="crowd", project=made.id, now=NOW, **terms)
        return accept_invitation(connection, secret, now=NOW, worker="prolific:" + "5f0c" * 20)

    answer_all(web_store, made, web_store.write(come), "ab")
    web_store.write(lambda c: settle_completion(c, made.id, 3, now=NOW))
    page = logged_in(windows, served, app, owner, viewport={"width": width, "height": 800})
    for path in ("/p/sea-bees/people", "/server/people"):
        page.goto(served + path)
        expect(page.locator("table", has_text="wolfeschlegel")).to_be_visible()
        wide = page.evaluate(
            "[document.documentElement, ...document.querySelectorAll('.table')].map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(wide) <= 0, f"{path}: {wide}"
    page.goto(f"{served}/p/sea-bees/people")
    assert "C" * 60 in page.inner_text("table")


def test_the_warning_of_a_full_disk_and_an_error_page_have_no_violation(
    windows: Browser, served: str, app: FastAPI, owner: int, made: Project
) -> None:
    reason = Note("disk-full", "the disk of the database is full: make room on it; trying again is safe")
    health = Health(database="read-only", reason=reason, checked=time.monotonic())
    app.state.server.health.value = health
    page = logged_in(windows, served, app, owner)
    for path in ("/", "/p/sea-bees", "/server/backup"):
        page.goto(served + path)
        expect(page.locator(".warning").first).to_have_attribute("data-code", "answers-not-saved")
        checked(page, path)
    page.goto(f"{served}/p/none")
    expect(page.locator("code")).to_be_visible()
    checked(page, "error")


def test_fields_of_other_scales_are_hidden(windows: Browser, served: str, app: FastAPI, owner: int) -> None:
    page = logged_in(windows, served, app, owner)
    page.goto(f"{served}/projects/new")
    assert not page.locator("#grades").is_visible()
    page.check("#scale-graded")
    assert page.locator("#grades").is_visible()
    page.click("summary:has-text('Settings')")
    assert not page.locator("#active").is_visible()
    page.check("#scale-preference")
    assert page.locator("#active").is_visible()
    assert not page.locator("#grades").is_visible()


def test_numbers_are_brought_up_to_date_while_somebody_looks(
    windows: Browser, served: str, app: FastAPI, owner: int, made: Project, account: Callable[..., int],
    web_store: Store,
) -> None:  # fmt: skip
    page = logged_in(windows, served, app, owner)
    page.clock.install()
    page.goto(f"{served}/p/sea-bees")
    assert "0 of 16 wanted" in page.inner_text(".figures")
    answer_all(web_store, made, account("Ann", made, "judge"), "ab")
    page.clock.fast_forward(11_000)
    page.locator(".figures", has_text="8 of 16 wanted").wait_for()
