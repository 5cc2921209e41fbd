"""Stopping before the end of a task: what it means is said before, and what it earns after."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.items import add_documents, add_items
from ringtrue.service.store.projects import change_project
from ringtrue.service.store.records import Project
from service.web.judge.answering import columns, follow, heading, rows, say
from service.web.pages import codes_on, page_name, words_of

WITHOUT_CODE, WITH_PARTIAL, ENOUGH = "stop-without-code", "stop-with-partial-code", "stop-with-code"


@pytest.fixture
def come(visit: Callable[..., Any], asked: Project, web_store: Store) -> Callable[..., Any]:
    """A crowd worker with the first question on the screen."""

    def make(**terms: Any) -> Any:
        def work(connection: Any) -> int:
            link = {"code": "C1", "project": asked.id, "uses": None, "days": None} | terms
            secret = invite(connection, role="judge", kind="crowd", now=1.0, **link)
            return accept_invitation(connection, secret, now=1.0, worker="w")

        worker = visit(web_store.write(work))
        worker.begin()
        return worker

    return make


def ask_to_stop(worker: Any) -> Any:
    """Press the button beside the question."""
    assert '<button form="stop"' in worker.page.text
    return worker.get("/p/news/stop", params={"task": worker.hidden()["task"]})


@pytest.mark.parametrize(
    ("partial_code", "answered", "share", "told", "code"),
    [
        (None, 0, 1.0, WITHOUT_CODE, None),
        (None, 1, 1.0, WITHOUT_CODE, None),
        ("HALF", 0, 1.0, WITHOUT_CODE, None),
        ("HALF", 1, 1.0, WITH_PARTIAL, "HALF"),
        ("HALF", 2, 0.5, ENOUGH, "C1"),
    ],
)
def test_stopping_says_what_it_means_for_the_code_and_keeps_its_word(
    come: Callable[..., Any], asked: Project, web_store: Store,
    partial_code: str | None, answered: int, share: float, told: str, code: str | None,
) -> None:  # fmt: skip
    web_store.write(lambda c: change_project(c, asked.id, settings=replace(asked.settings, completion_answered=share)))
    worker = come(partial_code=partial_code)
    for _ in range(answered):
        say(worker, answer="1")
    page = ask_to_stop(worker)
    assert (page_name(page), codes_on(page)[-2:]) == ("stop", [told, "stop-is-final"])
    assert f"{answered} of 4" in words_of(page, codes_on(page)[0])
    assert columns(web_store, "task", "closed") == [(None,)]  # it was only looked at
    page = follow(worker, worker.send("/p/news/stop"))
    assert heading(page) == ("Thank you" if answered else "Handed in")
    figures = {"work-done", "code-needs-answers"} & set(codes_on(page))
    assert all(f"{answered} of 4" in words_of(page, code) for code in figures)
    assert re.findall("<code>(.*?)</code>", page.text) == ([code] if code else [])


def test_what_was_answered_counts_and_the_rest_goes_to_others(
    judge: Any, visit: Callable[..., Any], account: Callable[..., int], asked: Project, web_store: Store
) -> None:
    judge.begin()
    say(judge, answer="1")
    page = ask_to_stop(judge)
    assert "completion code" not in page.text
    assert codes_on(page) == ["work-done", "stop-is-final"]
    page = follow(judge, judge.send("/p/news/stop"))
    assert "1 of 4" in words_of(page, "work-done")
    assert columns(web_store, "task", "outcome") == [("handed_in",)]
    assert sum(given for (given,) in columns(web_store, "item", "given")) == 1
    say_again = judge.post("/p/news/stop", judge.hidden() | {"task": "1"})
    assert heading(follow(judge, say_again)) == "Thank you"  # twice is once
    other = visit(account("Other", asked, "judge"))
    other.begin()
    assert other.post("/p/news/stop", {"csrf": other.hidden()["csrf"], "task": "1"}).status_code == 404


def test_where_all_is_answered_or_the_task_is_over_there_is_nothing_to_stop(
    judge: Any, asked: Project, clock: Any
) -> None:
    judge.begin()
    task = judge.hidden()["task"]
    for _ in range(4):
        say(judge, answer="1")
    assert heading(judge.get(f"/p/news/stop?task={task}", follow_redirects=True)) == "All 4 answered"
    judge.send("/p/news/hand-in")
    assert heading(judge.get(f"/p/news/stop?task={task}", follow_redirects=True)) == "Thank you"


@pytest.mark.parametrize("minutes", [5, 31])
@pytest.mark.parametrize("failed_traps", ["flag", "set_aside"])
def test_whoever_stops_learns_nothing_of_traps_by_it(
    come: Callable[..., Any], asked: Project, web_store: Store, clock: Any, failed_traps: Any, minutes: int
) -> None:
    """Whether the task was set aside makes no difference to what is said, in time and after it."""
    strict = replace(asked.settings, task_size=5, traps=4, traps_needed=4, failed_traps=failed_traps)

    def add_traps(connection: Any) -> None:
        docs = [{"name": f"secret-id-{at}", "title": f"Title {at}", "text": "x"} for at in range(5, 9)]
        add_documents(connection, asked.id, docs)
        traps = [{"query": "q1", "doc": doc["name"], "expected": "2"} for doc in docs]
        add_items(connection, asked, traps, queue="trap", wanted=None, rng=np.random.default_rng(1))
        change_project(connection, asked.id, settings=strict)

    web_store.write(add_traps)
    worker = come(partial_code="HALF")
    for _ in range(2):
        say(worker, answer="1")
    ask_to_stop(worker)
    clock.now += 60 * minutes
    page = worker.send("/p/news/stop")
    while page.status_code == 303:
        page = worker.get(page.headers["location"])
    assert page_name(page) == ("handed-in" if minutes == 5 else "time-over")
    assert re.findall(r"\d", words_of(page, "code-needs-answers")) == ["2", "5", "5"]
    assert "<code>HALF</code>" in page.text
    ((outcome,),) = rows(web_store, "SELECT outcome FROM task")
    assert outcome == ("set_aside" if failed_traps == "set_aside" else "handed_in" if minutes == 5 else "expired")
