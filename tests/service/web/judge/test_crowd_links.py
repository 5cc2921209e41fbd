"""Crowd links: who comes in by one, as whom, and what begins then."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import get_person
from ringtrue.service.store.invitations import invite
from ringtrue.service.store.projects import change_project, close_project
from ringtrue.service.store.records import Project
from service.web.judge.answering import columns, count, follow, heading, rows, say
from service.web.pages import code_of, codes_on, has_element, page_name

PASSWORD = {"password": "lamp river seven coat", "again": "lamp river seven coat"}


@pytest.fixture
def crowd_link(web_store: Store, project: Project, clock) -> str:
    secret = web_store.write(
        lambda c: invite(c, role="judge", kind="crowd", project=project.id, uses=None, code="C0DE", now=clock())
    )
    return f"/join/{secret}"


def test_a_crowd_link_is_no_named_one_and_the_other_way_round(
    web_store: Store, project: Project, nobody, crowd_link: str, clock
) -> None:
    named = web_store.write(lambda c: invite(c, role="judge", project=project.id, now=clock()))
    assert nobody.get(f"/join/{named}").status_code == 404
    assert nobody.get(crowd_link.replace("/join/", "/welcome/")).status_code == 404


def test_a_crowd_link_that_is_used_up_says_so_at_once_and_lets_in_who_came_before(
    web_store: Store, project: Project, visit, clock
) -> None:
    secret = web_store.write(lambda c: invite(c, role="judge", kind="crowd", project=project.id, uses=2, now=clock()))
    worker, anonymous = visit(), visit()
    for browser, more in ((worker, "?PROLIFIC_PID=5f0c"), (anonymous, "")):
        browser.get(f"/join/{secret}{more}")
        assert browser.send(f"/join/{secret}").status_code == 303
    late = visit().get(f"/join/{secret}?PROLIFIC_PID=77aa")
    assert (late.status_code, code_of(late), has_element(late, "begin")) == (410, "crowd-link-full", False)
    assert "log in" not in late.text.split("<main")[1].lower()
    assert has_element(visit().get(f"/join/{secret}?PROLIFIC_PID=5f0c"), "begin")
    assert has_element(anonymous.get(f"/join/{secret}"), "begin")


def test_looking_at_a_link_makes_no_account(web_store: Store, nobody, crowd_link: str) -> None:
    page = nobody.get(f"{crowd_link}?PROLIFIC_PID=5f0c")
    assert page.status_code == 200
    assert has_element(page, "begin")
    assert count(web_store, "account") == 0
    assert count(web_store, "visit") == 0


def test_a_worker_begins_and_what_the_platform_said_is_kept(web_store: Store, nobody, crowd_link: str) -> None:
    nobody.get(f"{crowd_link}?PROLIFIC_PID=5f0c&STUDY_ID=61&SESSION_ID=7&evil=1")
    done = nobody.send(crowd_link)
    assert (done.status_code, done.headers["location"]) == (303, "/p/news/judge")
    assert columns(web_store, "account", "handle", "name", "kind") == [("worker-1", None, "crowd")]
    ((worker, parameters),) = rows(web_store, "SELECT worker, parameters FROM visit")
    assert worker == "prolific:5f0c"
    assert json.loads(parameters) == {"PROLIFIC_PID": "5f0c", "STUDY_ID": "61", "SESSION_ID": "7"}
    assert "worker-1" in nobody.get("/").text


def test_the_same_worker_is_the_same_judge_on_another_machine(web_store: Store, visit, crowd_link: str) -> None:
    for _ in range(2):
        browser = visit()
        browser.get(f"{crowd_link}?workerId=A1B2&assignmentId=3X&hitId=3H")
        browser.send(crowd_link)
        assert "worker-1" in browser.get("/").text
    assert count(web_store, "account") == 1
    assert columns(web_store, "visit", "worker") == [("mturk:A1B2",), ("mturk:A1B2",)]


def test_two_workers_at_one_machine_are_two_judges(web_store: Store, nobody, crowd_link: str) -> None:
    for worker in ("a", "b"):
        nobody.get(f"{crowd_link}?PROLIFIC_PID={worker}")
        nobody.send(crowd_link)
    assert count(web_store, "account") == 2


def test_without_parameters_a_browser_stays_one_judge(web_store: Store, nobody, visit, crowd_link: str) -> None:
    for browser in (nobody, nobody, visit()):
        browser.get(crowd_link)
        browser.send(crowd_link)
    assert count(web_store, "account") == 2


def test_a_preview_shows_the_guidelines_and_makes_no_account(web_store: Store, nobody, crowd_link: str) -> None:
    page = nobody.get(f"{crowd_link}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3H")
    assert has_element(page, "preview")
    assert "<strong>all</strong>" in page.text
    assert not has_element(page, "begin")
    nobody.get(crowd_link)
    refused = nobody.send(crowd_link, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")
    assert (refused.status_code, code_of(refused)) == (422, "platform-preview")
    assert count(web_store, "account") == 0


def test_another_site_cannot_make_its_visitors_join(web_store: Store, nobody, crowd_link: str) -> None:
    assert nobody.post(crowd_link, {"PROLIFIC_PID": "5f0c"}).status_code == 403
    nobody.get(crowd_link)
    assert nobody.post(crowd_link, {"PROLIFIC_PID": "5f0c", "word": "x"}).status_code == 403
    assert count(web_store, "account") == 0


def test_odd_parameters_are_cut_and_shown_as_text(web_store: Store, nobody, crowd_link: str) -> None:
    page = nobody.get(crowd_link, params={"PROLIFIC_PID": '"><script>' + "x" * 5000, "STUDY_ID": " "})
    assert "<script>x" not in page.text
    nobody.send(crowd_link)
    ((parameters,),) = rows(web_store, "SELECT parameters FROM visit")
    found = json.loads(parameters)
    assert list(found) == ["PROLIFIC_PID"]
    assert len(found["PROLIFIC_PID"]) == 200


def test_a_closed_project_has_no_button_to_begin(
    web_store: Store, project: Project, nobody, crowd_link: str, clock
) -> None:
    web_store.write(lambda c: close_project(c, project.id, clock()))
    page = nobody.get(crowd_link)
    assert has_element(page, "closed")
    assert not has_element(page, "begin")


@pytest.mark.parametrize("role", ["owner", "viewer", "gold", "judge"])
def test_a_link_for_somebody_named_is_not_accepted_in_a_crowd_workers_browser(
    web_store: Store, project: Project, nobody, visit, crowd_link: str, clock, role: Any
) -> None:
    join(nobody, crowd_link, "PROLIFIC_PID=5f0c")
    where = None if role == "owner" else project.id
    secret = web_store.write(lambda c: invite(c, role=role, project=where, now=clock()))
    page = nobody.get(f"/welcome/{secret}")
    assert (has_element(page, "accept"), has_element(page, "crowd-account")) == (False, True)
    word = nobody.hidden()["word"]
    refused = nobody.post(f"/welcome/{secret}", {"word": word, "as": "me"})
    assert (refused.status_code, code_of(refused)) == (422, "crowd-account")
    worker = web_store.write(lambda c: get_person(c, 1))
    assert (worker.owner, worker.roles) == (False, {project.id: {"judge"}})
    assert nobody.get("/projects/new").status_code == 403
    nobody.get(f"/welcome/{secret}")
    assert nobody.send(f"/welcome/{secret}", name="Ann", **PASSWORD).status_code == 303
    assert "Ann" in nobody.get("/").text  # the crowd account is logged out
    assert web_store.write(lambda c: get_person(c, 2)).owner == (role == "owner")
    thief = visit()  # who knows the crowd link and the worker's id is still a worker
    join(thief, crowd_link, "PROLIFIC_PID=5f0c")
    assert "worker-1" in thief.get("/").text
    assert thief.get("/p/news/people").status_code == 403


def test_a_crowd_account_that_was_raised_earlier_is_not_opened_and_the_owner_sees_it(
    web_store: Store, project: Project, owner, nobody, visit, crowd_link: str
) -> None:
    join(nobody, crowd_link, "PROLIFIC_PID=5f0c")
    web_store.write(lambda c: c.execute(text("UPDATE account SET owner = TRUE WHERE kind = 'crowd'")))
    web_store.write(lambda c: c.execute(text("UPDATE member SET role = 'viewer'")))
    assert nobody.get("/projects/new").status_code == 403
    assert nobody.get("/p/news/quality").status_code == 404
    page = visit().get(f"{crowd_link}?PROLIFIC_PID=5f0c")
    assert (page.status_code, code_of(page)) == (403, "raised-crowd-account")
    for path in ("/p/news/people", "/server/people"):
        assert re.search('data-raised="worker-[0-9]"', owner.get(path).text)
    number = int(rows(web_store, "SELECT id FROM account WHERE kind = 'crowd'")[0][0])
    owner.send(f"/people/{number}/owner", owner="no")
    owner.get("/p/news/people")
    owner.send(f"/p/news/people/{number}/remove")
    assert has_element(visit().get(f"{crowd_link}?PROLIFIC_PID=5f0c"), "begin")
    assert "data-raised" not in owner.get("/p/news/people").text


def test_no_page_raises_a_crowd_account_or_gives_it_a_token(
    web_store: Store, project: Project, owner, nobody, crowd_link: str
) -> None:
    join(nobody, crowd_link, "PROLIFIC_PID=5f0c")
    number = rows(web_store, "SELECT id FROM account WHERE kind = 'crowd'")[0][0]
    owner.get("/server/people")
    assert owner.send(f"/people/{number}/owner", owner="yes").status_code == 403
    assert owner.send(f"/people/{number}/reset").status_code == 422
    assert "/tokens" not in nobody.get("/").text
    for answer in (nobody.get("/tokens"), nobody.post("/tokens", nobody_form(nobody))):
        assert (answer.status_code, code_of(answer)) == (403, "no-crowd-tokens")
    assert count(web_store, "token") == 0


def test_a_visitor_without_an_id_of_the_platform_is_refused_before_any_account_is_made(
    web_store: Store, project: Project, nobody, clock
) -> None:
    link = strict_link(web_store, project, clock)
    for more in ("", "?PROLIFIC_PID=", "?STUDY_ID=61", "?workerId=%20"):
        page = nobody.get(f"{link}{more}")
        assert (page.status_code, code_of(page), has_element(page, "begin")) == (403, "no-worker-id", False)
    nobody.get(f"{link}?PROLIFIC_PID=5f0c")
    word = nobody.hidden()["word"]
    assert nobody.post(link, {"word": word, "STUDY_ID": "61"}).status_code == 403
    assert count(web_store, "account") == 0
    assert nobody.post(link, {"word": word, "PROLIFIC_PID": "5f0c"}).status_code == 303


def test_two_ids_in_one_browser_are_refused_also_after_logging_out(
    web_store: Store, project: Project, nobody, visit, clock
) -> None:
    link = strict_link(web_store, project, clock)
    join(nobody, link, "PROLIFIC_PID=a")
    for log_out_first in (False, True):
        if log_out_first:
            nobody.get("/")
            nobody.send("/logout")
        page = nobody.get(f"{link}?PROLIFIC_PID=b")
        assert (page.status_code, code_of(page)) == (403, "other-worker-id")
        nobody.get(f"{link}?PROLIFIC_PID=a")
        assert nobody.post(link, {"word": nobody.hidden()["word"], "PROLIFIC_PID": "b"}).status_code == 403
        join(nobody, link, "PROLIFIC_PID=a")
        assert "worker-1" in nobody.get("/").text
    join(visit(), link, "PROLIFIC_PID=b")
    assert count(web_store, "account") == 2


def test_an_owner_who_tries_a_crowd_link_stays_no_judge(web_store: Store, owner, crowd_link: str) -> None:
    assert has_element(owner.get(crowd_link), "logged-in")
    owner.send(crowd_link)
    kinds = rows(web_store, "SELECT a.kind FROM member m JOIN account a ON a.id = m.account")
    assert kinds == [("crowd",)]
    assert owner.get("/server/people").status_code == 403


def strict_link(store: Store, project: Project, clock, **codes: str) -> str:
    terms: dict[str, Any] = {"id_required": True, "one_account": True, "uses": None, **codes}
    secret = store.write(lambda c: invite(c, role="judge", kind="crowd", project=project.id, now=clock(), **terms))
    return f"/join/{secret}"


def join(browser, link: str, parameters: str) -> None:
    browser.get(f"{link}?{parameters}")
    assert browser.send(link).status_code == 303


def nobody_form(browser) -> dict[str, str]:
    """The form for a token, with the word of the login."""
    browser.get("/")
    return browser.hidden() | {"label": "x", "days": "5", "judge": "on"}


def test_beginning_by_a_crowd_link_begins_a_task_and_looking_at_it_does_not(
    web_store: Store, asked: Project, nobody, crowd_link: str
) -> None:
    for _ in range(2):
        assert has_element(nobody.get(f"{crowd_link}?PROLIFIC_PID=5f0c"), "begin")
    assert count(web_store, "task") == 0
    done = nobody.send(crowd_link)
    assert (done.status_code, done.headers["location"]) == (303, "/p/news/judge?task=1")
    assert heading(nobody.get("/p/news/judge?task=1")) == "Wind power"


def test_a_crowd_link_tells_before_any_work_what_earns_its_codes(
    web_store: Store, asked: Project, nobody, visit, crowd_link: str, clock
) -> None:
    assert codes_on(nobody.get(crowd_link)) == ["code-terms"]
    partial = {"code": "C1", "partial_code": "HALF", "uses": None}
    secret = web_store.write(lambda c: invite(c, role="judge", kind="crowd", project=asked.id, now=clock(), **partial))
    page = visit().get(f"/join/{secret}")
    assert codes_on(page) == ["code-terms", "partial-code-terms"]
    assert "HALF" not in page.text
    without = web_store.write(lambda c: invite(c, role="judge", kind="crowd", project=asked.id, now=clock()))
    assert codes_on(visit().get(f"/join/{without}")) == []


def test_a_worker_who_has_the_code_opens_the_link_again_and_sees_the_code(
    web_store: Store, asked: Project, visit, clock
) -> None:
    web_store.write(lambda c: change_project(c, asked.id, settings=replace(asked.settings, task_size=2)))
    link = strict_link(web_store, asked, clock, code="C1")
    worker = visit()
    join(worker, link, "PROLIFIC_PID=5f0c")
    worker.begin()
    answer_task(worker)
    assert "<code>C1</code>" in worker.page.text
    browser = visit()
    for page in (worker, browser):
        page.get(f"{link}?PROLIFIC_PID=5f0c")
        shown = follow(page, page.send(link))
        assert (page_name(shown), "<code>C1</code>" in shown.text) == ("code", True)
        assert not has_element(shown, "another-task")
    assert page_name(browser.post("/p/news/judge", browser.hidden())) == "code"
    assert count(web_store, "task") == 1


def test_whoever_came_by_a_link_without_platform_ids_may_go_on_with_the_code(
    web_store: Store, asked: Project, nobody, crowd_link: str
) -> None:
    web_store.write(lambda c: change_project(c, asked.id, settings=replace(asked.settings, task_size=2)))
    nobody.get(crowd_link)
    follow(nobody, nobody.send(crowd_link))
    answer_task(nobody)
    nobody.get(crowd_link)
    page = follow(nobody, nobody.send(crowd_link))
    assert (page_name(page), "no-further-code" in codes_on(page)) == ("code", True)
    assert heading(follow(nobody, nobody.send("/p/news/judge"))) == "Wind power"
    answer_task(nobody)
    page = nobody.get("/p/news/judge")
    assert (page_name(page), "<code>C0DE</code>" in page.text) == ("code", True)
    assert not has_element(page, "another-task")  # as nothing is left


def test_a_worker_with_the_code_for_a_part_is_shown_it_and_may_try_again(
    web_store: Store, asked: Project, visit, clock
) -> None:
    web_store.write(lambda c: change_project(c, asked.id, settings=replace(asked.settings, task_size=2)))
    link = strict_link(web_store, asked, clock, code="C1", partial_code="HALF")
    worker = visit()
    join(worker, link, "PROLIFIC_PID=5f0c")
    worker.begin()
    say(worker, answer="1")
    worker.send("/p/news/stop")
    join(worker, link, "PROLIFIC_PID=5f0c")
    page = worker.get("/p/news/judge")
    assert (page_name(page), "<code>HALF</code>" in page.text) == ("code", True)
    assert "code-for-whole-task" in codes_on(page)
    follow(worker, worker.send("/p/news/judge"))
    answer_task(worker)
    assert "<code>C1</code>" in worker.get("/p/news/judge").text


def answer_task(worker) -> None:
    """Answer all questions of the task on the screen, and hand it in."""
    while 'name="assignment"' in worker.page.text:
        say(worker, answer="1")
    follow(worker, worker.send("/p/news/hand-in"))
