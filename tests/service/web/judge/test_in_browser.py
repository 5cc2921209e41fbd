"""The judge's screen in a real browser: keys, time, and answers that outlive a crash of the server."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.servers import Serving
from playwright.sync_api import Browser, Page, expect

from browsers import Look, comes_to, in_looks, shows, violations
from ringtrue.service.store import PREFERENCE, Scale, Settings, Store
from ringtrue.service.store.accounts import add_member, create_account
from ringtrue.service.store.invitations import invite
from ringtrue.service.store.items import add_documents, add_items, add_queries
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.sessions import get_or_create_signing_secret, log_in
from ringtrue.service.web.context import ServerContext

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("windows")]
LOOKS: list[Look] = [(1280, 800, "light"), (360, 740, "dark"), (320, 256, "light")]  # the last is a page at 400 %
LINE = "The wind gives power, and water gives power too. " * 20
NASTY = "<script>document.title = 'hacked'</script><img src=x onerror=\"document.title='hacked'\"> wind"


class Place:
    """A server with a graded project and one of pairs, and judges who come with browsers of their own."""

    def __init__(self, server: Serving, browser: Browser, path: Path) -> None:
        self.server, self.browser, self.path = server, browser, path
        self.address = f"http://127.0.0.1:{server.port}"
        self.account = 0

    def judge(self, name: str, **options: Any) -> Page:
        """Somebody new who judges in all projects."""
        with Store.open(str(self.path)) as store:

            def work(connection: Any) -> tuple[int, bytes, str]:
                made = create_account(connection, kind="named", name=name, password_hash="unusable", now=time.time())
                for project in (1, 2, 3):
                    add_member(connection, project, made, "judge", time.time())
                return (
                    made,
                    get_or_create_signing_secret(connection),
                    log_in(connection, made, now=time.time(), hours=1)[0],
                )

            self.account, secret, login = store.write(work)
            site = ServerContext(store=store, secret=secret)
            cookie = {"name": site.session_cookie, "value": site.sign(login, "login"), "url": self.address}
            site.close()
        context = self.browser.new_context(base_url=self.address, **options)
        context.add_cookies([cookie])  # type: ignore[list-item]
        return context.new_page()

    def judgments(self) -> list[tuple[Any, ...]]:
        """What was saved so far of the judge who came last."""
        said = """SELECT j.kind, j.answer, j.seconds, j.away FROM judgment j JOIN assignment a ON a.id = j.assignment
                  WHERE a.account = ? ORDER BY j.id"""
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(said, (self.account,)).fetchall()


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    path = tmp_path_factory.mktemp("judged") / "judged.db"
    with Store.open(str(path)) as store:
        store.write(_projects)
    with Serving(str(path)) as server:
        yield Place(server, browser, path)


def _projects(connection: Any) -> None:
    graded = Scale.graded("Not relevant", "Related", "Relevant")
    _project(connection, "graded", graded, [NASTY, LINE * 20, LINE, None], [("d0",), ("d1",), ("d2",), ("d3",)])
    _project(
        connection, "pairs", PREFERENCE, [NASTY, LINE * 20, LINE, None], [("d0", "d1"), ("d0", "d2"), ("d0", "d3")]
    )
    _project(connection, "huge", graded, ["\n".join([LINE] * 5_000)], [("d0",)])


def _project(connection: Any, name: str, scale: Scale, texts: list[str | None], items: list[tuple[str, ...]]) -> None:
    settings = Settings(judges=99, task_size=4, traps=0, traps_needed=0)
    made = create_project(
        connection, name=name, title=name.title(), scale=scale, settings=settings, guidelines="# Read\n*all*", now=1.0
    )  # fmt: skip
    query = {"name": "q", "text": "wind power", "description": "How much?", "narrative": "Numbers count."}
    add_queries(connection, made.id, [query])
    docs = [{"name": f"d{at}", "title": text and f"T{at}", "text": text} for at, text in enumerate(texts)]
    add_documents(connection, made.id, docs)
    rows = [dict(zip(("query", "doc", "other"), ("q", *item), strict=False)) for item in items]
    add_items(connection, made, rows, queue="main", wanted=99, rng=np.random.default_rng(1))


def begin(page: Page, project: str) -> None:
    """Look at the page of a judge, and press its button where no task is open yet."""
    page.goto(f"/p/{project}/judge")
    button = page.get_by_role("button", name="Begin", exact=True)
    if button.count():
        button.click()
        page.wait_for_url("**/judge?task=*")


def test_single_keys_answer_skip_undo_and_open_panels(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    shows(page, "1 of 4")
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("2")
    shows(page, "2 of 4")
    page.keyboard.press("s")
    shows(page, "3 of 4")
    page.keyboard.press("u")
    shows(page, "2 of 4")
    expect(page.get_by_role("status")).to_have_attribute("data-code", "answer-undone")
    page.keyboard.press("c")
    expect(page.get_by_role("button", name="The document is broken")).to_be_focused()
    page.get_by_label("Another reason").fill("2 much to read, s")
    page.keyboard.press("Enter")
    shows(page, "3 of 4")
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Read")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Read")).to_be_hidden()
    page.keyboard.press("Control+1")
    shows(page, "3 of 4")
    assert [row[:2] for row in place.judgments()] == [
        ("answer", "2"), ("skip", None), ("undo", None), ("unsure", None),
    ]  # fmt: skip


PRESSED_TOO_SOON = """
document.addEventListener("DOMContentLoaded", () => {
  for (const milliseconds of [0, 20, 60, 150]) {
    setTimeout(() => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
      document.querySelector("button.label").click();
      document.body.dataset.pressed = milliseconds;
    }, milliseconds);
  }
});"""


# When a question that is in view has long taken answers.
MARK_LATER = """
window.addEventListener("load", () => setTimeout(() => { document.body.dataset.later = ""; }, 400));"""


def test_a_key_pressed_twice_does_not_answer_the_question_that_comes_next(place: Place) -> None:
    page = place.judge("Ann")
    page.add_init_script(PRESSED_TOO_SOON)  # on every page, as soon as it listens to keys
    begin(page, "graded")
    for far in ("1 of 4", "2 of 4", "3 of 4"):
        shows(page, far)
        expect(page.locator("body[data-pressed='150']")).to_be_attached()
        page.keyboard.press("2")
    shows(page, "4 of 4")
    assert [row[1] for row in place.judgments()] == ["2", "2", "2"]


def test_a_key_that_is_held_down_answers_one_question(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    shows(page, "1 of 4")
    page.keyboard.down("2")
    shows(page, "2 of 4")
    expect(page.locator("#judging[data-seen]")).to_be_attached()  # from now on it takes an answer
    for _ in range(3):
        page.keyboard.down("2")  # what a keyboard sends again and again
    assert page.locator("#judging[aria-busy]").count() == 0  # which is there as soon as an answer is on its way
    shows(page, "2 of 4")
    page.keyboard.up("2")
    page.keyboard.press("1")
    shows(page, "3 of 4")
    assert [row[1] for row in place.judgments()] == ["2", "1"]


def test_a_question_in_a_tab_that_was_never_in_view_takes_no_answer(place: Place) -> None:
    page = place.judge("Ann")
    page.add_init_script("window.requestAnimationFrame = () => 0")  # as in a hidden tab: no frame is painted
    page.add_init_script(MARK_LATER)
    begin(page, "graded")
    expect(page.locator("body[data-later]")).to_be_attached()
    page.keyboard.press("2")
    assert page.locator("#judging[aria-busy]").count() == 0
    expect(page.locator("#far")).to_have_text("1 of 4")
    assert place.judgments() == []


def test_arrows_choose_a_side_and_up_and_down_still_scroll(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "pairs")
    shows(page, "1 of 3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    shows(page, "1 of 3")
    page.keyboard.press("ArrowLeft")
    shows(page, "2 of 3")
    page.keyboard.press("ArrowRight")
    shows(page, "3 of 3")
    page.keyboard.press("3")
    comes_to(page, "All 3 answered")
    assert [row[1] for row in place.judgments()] == ["left", "right", "both_good"]


def test_a_judge_switches_single_keys_off_for_good(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    shows(page, "1 of 4")
    page.keyboard.press("?")
    page.get_by_label("Answer with single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.reload()
    shows(page, "1 of 4")
    expect(page.locator(".label kbd").first).to_be_hidden()
    page.keyboard.press("1")
    page.get_by_role("button", name="Relevant", exact=True).click()
    shows(page, "2 of 4")
    assert [row[1] for row in place.judgments()] == ["2"]


def test_time_in_view_and_time_away_are_kept(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    page.evaluate("new Promise((done) => setTimeout(done, 350))")
    page.evaluate("window.dispatchEvent(new Event('blur')); new Promise((done) => setTimeout(done, 450))")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.keyboard.press("1")
    shows(page, "2 of 4")
    ((_, _, seconds, away),) = place.judgments()
    assert seconds >= 0.3
    assert away >= 0.4


def test_an_answer_given_while_the_server_is_down_is_sent_when_it_is_back(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    shows(page, "1 of 4")
    place.server.kill()
    page.keyboard.press("1")
    expect(page.get_by_role("status")).to_contain_text("Not saved yet")
    page.keyboard.press("2")  # one answer is on its way already
    place.server.start()
    shows(page, "2 of 4")
    assert [row[1] for row in place.judgments()] == ["1"]


def test_an_answer_outlives_the_tab_that_gave_it(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    shows(page, "1 of 4")
    place.server.kill()
    page.keyboard.press("1")
    expect(page.get_by_role("status")).to_contain_text("Not saved yet")
    context = page.context
    page.close()
    place.server.start()
    again = context.new_page()
    begin(again, "graded")
    shows(again, "2 of 4")
    assert [row[1] for row in place.judgments()] == ["1"]


def waiting(page: Page) -> dict[str, Any]:
    """What the browser still keeps to be sent, by its entry."""
    kept: dict[str, Any] = page.evaluate(
        "Object.fromEntries(Object.entries(localStorage).filter(([name]) => name.startsWith('ringtrue.pending.')))"
    )
    return kept


def entry(page: Page) -> str:
    """Where the browser keeps the answer to the question on the page."""
    name: str = page.evaluate(
        "(({judge, assignment}) => `ringtrue.pending.${judge}.${assignment}`)"
        "(document.getElementById('judging').dataset)"
    )
    return name


@pytest.mark.parametrize(
    "reply",
    [
        {"status": 200, "content_type": "text/html", "body": "<h1>Wireless of the hotel: log in</h1>"},
        {"status": 200, "content_type": "application/json", "body": "{}"},
        {"status": 429, "body": "slow down"},
        {"status": 404, "content_type": "text/html", "body": "a proxy that has lost its server"},
        {"status": 500, "content_type": "application/json", "body": "{}"},
    ],
)  # fmt: skip
def test_an_answer_is_kept_until_the_server_itself_says_that_it_has_it(place: Place, reply: dict[str, Any]) -> None:
    page = place.judge("Ann")
    page.route("**/answer", lambda route: route.fulfill(**reply))  # before the page: later, a request may slip by
    begin(page, "graded")
    shows(page, "1 of 4")
    name = entry(page)
    page.keyboard.press("1")
    expect(page.get_by_role("status")).to_contain_text("Not saved yet")
    assert list(waiting(page)) == [name]
    page.unroute("**/answer")
    shows(page, "2 of 4")
    assert waiting(page) == {}
    assert [row[1] for row in place.judgments()] == ["1"]


def test_an_answer_that_is_refused_for_good_is_let_go_and_the_judge_is_told(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    gone = entry(page).rpartition(".")[0] + ".99999"
    sent = '[["csrf","old"],["assignment","99999"],["version","0"],["answer","1"]]'
    page.evaluate("([name, sent]) => localStorage.setItem(name, sent)", [gone, sent])
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("not taken")
    assert waiting(page) == {}


def test_answers_waiting_in_two_tabs_do_not_wipe_each_other(place: Place) -> None:
    page = place.judge("Ann")
    page.route("**/answer", lambda route: route.abort())  # before the page: later, a request may slip by
    begin(page, "graded")
    shows(page, "1 of 4")
    first = entry(page)
    page.keyboard.press("1")
    expect(page.get_by_role("status")).to_contain_text("Not saved yet")
    other = page.context.new_page()
    other.route("**/answer", lambda route: route.abort() if f"assignment={first.rpartition('.')[2]}&" in
                (route.request.post_data or "") else route.continue_())  # fmt: skip
    begin(other, "pairs")
    shows(other, "1 of 3")
    other.keyboard.press("1")
    shows(other, "2 of 3")
    assert list(waiting(other)) == [first]
    page.unroute("**/answer")
    shows(page, "2 of 4")
    assert waiting(page) == {}


def test_nobody_sends_what_another_account_left_in_the_browser(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    project, account, number = entry(page).removeprefix("ringtrue.pending.").split(".")
    others = f"ringtrue.pending.{project}.{account}1.{number}"
    sent = f'[["csrf","old"],["assignment","{number}"],["version","0"],["answer","1"]]'
    page.evaluate("([name, sent]) => localStorage.setItem(name, sent)", [others, sent])
    page.reload()
    shows(page, "1 of 4")
    page.keyboard.press("2")
    shows(page, "2 of 4")
    assert list(waiting(page)) == [others]
    assert [row[1] for row in place.judgments()] == ["2"]


def test_on_a_phone_there_are_no_key_caps_and_what_counts_is_open(place: Place) -> None:
    page = place.judge("Ann", viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    begin(page, "graded")
    expect(page.locator(".label kbd").first).to_be_hidden()
    expect(page.get_by_text("Numbers count.")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 120})
    page.reload()
    expect(page.get_by_text("Numbers count.")).to_be_hidden()  # it would take a good part of what there is


def test_the_first_task_is_begun_by_a_button_without_a_script(place: Place) -> None:
    page = place.judge("Ann", java_script_enabled=False)
    page.goto("/p/graded/judge")
    expect(page.get_by_role("heading", name="Read")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    shows(page, "1 of 4")


@pytest.mark.parametrize("script", [True, False])
def test_an_answer_that_met_a_locked_database_is_sent_again_from_its_page(place: Place, script: bool) -> None:
    page = place.judge("Ann", java_script_enabled=script)
    begin(page, "graded")
    shows(page, "1 of 4")
    with closing(sqlite3.connect(place.path, isolation_level=None)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        if script:  # past our own script, as a browser would that could not run it in time
            page.evaluate(
                "() => { const field = document.createElement('input'); [field.name, field.value] = ['answer', '1'];"
                " const form = document.getElementById('answer'); form.append(field); form.submit(); }"
            )
        else:
            page.get_by_role("button", name="Related").click()
        comes_to(page, "Your answer is not saved yet")
        assert not violations(page) if script else True
    if not script:
        page.get_by_role("button", name="Send again").click()
    shows(page, "2 of 4")
    assert [row[1] for row in place.judgments()] == ["1"]


def test_everything_works_without_a_script(place: Place) -> None:
    page = place.judge("Ann", java_script_enabled=False)
    begin(page, "graded")
    shows(page, "1 of 4")
    page.get_by_role("button", name="Related").click()
    shows(page, "2 of 4")
    page.locator("#unsure summary").click()
    page.get_by_role("button", name="I do not understand what was asked").click()
    shows(page, "3 of 4")
    page.get_by_role("button", name="Undo").click()
    shows(page, "2 of 4")
    for far in ("3 of 4", "4 of 4"):
        page.get_by_role("button", name="Skip").click()
        shows(page, far)
    page.get_by_role("button", name="Relevant", exact=True).click()
    page.get_by_role("button", name="Hand in").click()
    comes_to(page, "Thank you")


def test_documents_run_nothing(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "graded")
    for far in range(1, 5):
        shows(page, f"{far} of 4")
        assert page.title().startswith(f"{far} of 4")
        page.keyboard.press("1")
    comes_to(page, "All 4 answered")


def test_a_document_of_five_megabytes_is_whole_and_answered(place: Place) -> None:
    page = place.judge("Ann")
    begin(page, "huge")
    assert page.evaluate("document.getElementById('first').textContent.length") > 4_800_000
    shows(page, "1 of 1")
    page.keyboard.press("1")
    comes_to(page, "1 of 1 answered")


def is_fine(page: Page, what: str, looks: list[Look] = LOOKS) -> None:
    """Check that axe finds nothing in any look, and that nothing is wider than the window."""
    for look in in_looks(page, looks):
        found = violations(page)
        assert not found, f"{what}, {look}: {found}"
        narrow = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert narrow, f"{what}, {look}: too wide"


def test_a_crowd_worker_is_shut_out_of_no_page_and_goes_back_to_skipped_questions(place: Place) -> None:
    terms: dict[str, Any] = {"code": "C1", "partial_code": "HALF", "id_required": True, "one_account": True}
    with Store.open(str(place.path)) as store:
        link = store.write(
            lambda c: invite(c, role="judge", kind="crowd", project=1, uses=None, now=time.time(), **terms)
        )
    page = place.browser.new_context(base_url=place.address).new_page()
    page.goto(f"/join/{link}")
    is_fine(page, "no id")
    page.goto(f"/join/{link}?PROLIFIC_PID=5f0c")
    is_fine(page, "join")
    page.get_by_role("button", name="Begin").click()
    for far in range(1, 5):
        shows(page, f"{far} of 4")
        if far == 4:
            page.get_by_role("button", name="Stop").click()
            comes_to(page, "Stop here?")
            is_fine(page, "stop")
            page.get_by_role("link", name="Go on judging").click()
            shows(page, "4 of 4")
        page.get_by_role("button", name="Related" if far == 1 else "Skip").click()
    comes_to(page, "1 of 4 answered")
    is_fine(page, "skipped")
    page.get_by_role("button", name="Go back and answer").click()
    for far in range(2, 5):
        shows(page, f"{far} of 4")
        page.get_by_role("button", name="Related" if far < 4 else "Skip").click()
    comes_to(page, "3 of 4 answered")
    page.get_by_role("button", name="Hand in").click()
    comes_to(page, "Thank you")
    expect(page.locator("code")).to_have_text("HALF")
    is_fine(page, "partial code")
    page.goto(f"/join/{link}?PROLIFIC_PID=5f0c")
    page.get_by_role("button", name="Begin").click()
    comes_to(page, "You have the code for part of the work")
    is_fine(page, "code again")


def test_nobody_is_shut_out_of_any_page(place: Place) -> None:
    page = place.judge("Ann")
    for path in ("/p/graded/judge", "/p/graded/guidelines"):
        page.goto(path)
        is_fine(page, path)
    for project in ("pairs", "graded"):
        page.set_viewport_size({"width": 1280, "height": 800})
        begin(page, project)
        is_fine(page, project)
        page.reload()  # what is open at first depends on the height
        is_fine(page, project, LOOKS[-1:])
    for panel in ("unsure", "guidelines", "keys"):
        page.locator(f"#{panel} summary").click()
        is_fine(page, panel)
    page.keyboard.press("Escape")
    stale = page.context.new_page()
    begin(stale, "graded")
    for far in range(1, 5):
        shows(page, f"{far} of 4")
        page.get_by_role("button", name="Related").click()
    comes_to(page, "All 4 answered")
    is_fine(page, "all answered")
    page.get_by_role("button", name="Hand in").click()
    comes_to(page, "Thank you")
    is_fine(page, "thanks")
    begin(page, "graded")
    is_fine(page, "nothing left")
    page = stale
    page.get_by_role("button", name="Not relevant").click()
    comes_to(page, "This question was answered already")
    is_fine(page, "stale")
