"""Where judging begins: looking at a page begins nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.projects import close_project
from ringtrue.service.store.records import Project
from service.web.judge.answering import columns, count, follow, heading, say
from service.web.pages import codes_on, has_element, page_name


@pytest.mark.parametrize("address", ["judge", "judge?begin=1", "judge?queue=main", "judge?begin=1&queue=main"])
def test_no_page_that_is_only_looked_at_begins_a_task(
    judge: Any, asked: Project, web_store: Store, address: str
) -> None:
    for _ in range(2):
        assert page_name(judge.get(f"/p/news/{address}")) == "start"
    assert count(web_store, "task") == 0
    assert {given for (given,) in columns(web_store, "item", "given")} == {0}


def test_the_button_begins_one_task_however_often_it_is_pressed(judge: Any, asked: Project, web_store: Store) -> None:
    judge.get("/p/news/judge")
    button = judge.hidden()
    for _ in range(2):
        assert heading(follow(judge, judge.post("/p/news/judge", button))) == "Wind power"
    assert count(web_store, "task") == 1
    assert heading(judge.get("/p/news/judge")) == "Wind power"  # what is open is shown


def test_a_task_is_begun_by_a_form_of_this_login_alone(judge: Any, asked: Project, web_store: Store) -> None:
    assert judge.post("/p/news/judge", {"csrf": "guessed"}).status_code == 403
    assert judge.post("/p/news/judge").status_code == 403
    assert count(web_store, "task") == 0


def test_another_task_is_begun_by_a_button_too(judge: Any, asked: Project, web_store: Store, clock: Any) -> None:
    judge.begin()
    say(judge, answer="1")
    judge.send("/p/news/stop")
    thanks = judge.get("/p/news/done?task=1")
    assert has_element(thanks, "another-task")
    assert heading(follow(judge, judge.send("/p/news/judge"))) == "Wind power"
    assert count(web_store, "task") == 2


def test_who_finds_nothing_left_or_a_closed_project_is_told_without_a_button(
    judge: Any, project: Project, web_store: Store, clock: Any
) -> None:
    page = judge.get("/p/news/judge")
    assert (page_name(page), has_element(page, "begin")) == ("nothing-left", False)
    assert page_name(judge.post("/p/news/judge", {"csrf": csrf_of(judge)})) == "nothing-left"
    web_store.write(lambda c: close_project(c, project.id, clock()))
    for page in (judge.get("/p/news/judge"), judge.post("/p/news/judge", {"csrf": csrf_of(judge)})):
        assert (page.status_code, page_name(page)) == (410, "closed")


def test_questions_that_a_task_holds_which_ran_out_are_not_taken_for_none(
    judge: Any, visit: Callable[..., Any], account: Callable[..., int], asked: Project, web_store: Store, clock: Any
) -> None:
    for name in ("Ann", "Bob"):
        visit(account(name, asked, "judge")).begin()
    assert page_name(judge.get("/p/news/judge")) == "nothing-left"
    clock.now += 31 * 60
    assert heading(judge.begin()) == "Wind power"


def test_a_crowd_worker_reads_what_earns_the_code_before_and_beside_the_work(
    visit: Callable[..., Any], judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    def come(connection: Any) -> int:
        secret = invite(connection, role="judge", kind="crowd", project=asked.id, code="C1", now=clock(), uses=None)
        return accept_invitation(connection, secret, now=clock(), worker="w")

    worker = visit(web_store.write(come))
    for path in ("/p/news/judge", "/p/news/guidelines"):
        assert codes_on(worker.get(path)) == ["code-terms"]
        assert "completion code" not in judge.get(path).text
    assert codes_on(worker.begin()) == ["code-terms"]
    assert "completion code" not in judge.begin().text


def csrf_of(visitor: Any) -> str:
    visitor.get("/")
    csrf: str = visitor.hidden()["csrf"]
    return csrf
