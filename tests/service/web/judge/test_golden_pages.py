"""The words of the pages of judges and of crowd workers, in their main states."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from sqlite3 import connect
from typing import Any

import numpy as np
import pytest

from ringtrue.service.store import PREFERENCE, Settings, Store
from ringtrue.service.store.accounts import add_member
from ringtrue.service.store.invitations import invite
from ringtrue.service.store.items import add_documents, add_items
from ringtrue.service.store.projects import change_project, close_project, create_project
from ringtrue.service.store.records import Project
from service.web.judge.answering import fields, follow, say
from service.web.pages import words_on


@pytest.fixture
def hold(golden: Callable[[str, str], None]) -> Callable[[str, Any], None]:
    """Holds the words of a page against their file."""
    return lambda name, page: golden(f"pages/{name}.txt", words_on(page))


def test_golden_pages_of_judging(
    hold: Callable[[str, Any], None], judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    hold("judge/start", judge.get("/p/news/judge"))
    hold("judge/guidelines", judge.get("/p/news/guidelines"))
    hold("judge/question", judge.begin())
    tab = fields(judge, answer="0")
    say(judge, answer="1")
    hold("judge/answered_already", judge.post("/p/news/answer", tab))
    judge.begin()
    hold("judge/undone", follow(judge, judge.send("/p/news/undo")))
    hold("judge/stop", judge.get("/p/news/stop", params={"task": judge.hidden()["task"]}))
    judge.begin()
    sent = fields(judge, answer="1")
    with closing(connect(str(web_store.engine.url.database), isolation_level=None)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        hold("judge/answer_not_saved", judge.post("/p/news/answer", sent))
    judge.begin()
    for kinds in ({"answer": "1"}, {"kind": "skip"}, {"reason": "Broken"}, {"answer": "2"}):
        page = say(judge, **kinds)
    hold("judge/all_answered", page)
    hold("judge/handed_in", follow(judge, judge.send("/p/news/hand-in")))
    web_store.write(lambda c: close_project(c, asked.id, clock()))
    hold("judge/closed", judge.get("/p/news/judge"))


def test_golden_pages_of_the_end_of_time(
    hold: Callable[[str, Any], None], judge: Any, gold_judge: Any, asked: Project, clock: Any
) -> None:
    judge.begin()
    say(judge, answer="1")
    late = fields(judge, answer="2")
    clock.now += 31 * 60
    hold("judge/time_over", follow(judge, judge.post("/p/news/answer", late)))
    hold("judge/nothing_left", gold_judge.begin())
    hold("judge/no_such_task", judge.get("/p/news/judge?task=77"))


def test_golden_pages_of_pairs(hold: Callable[[str, Any], None], judge: Any, web_store: Store, clock: Any) -> None:
    def make(connection: Any) -> None:
        settings = Settings(judges=1, task_size=4, traps=0, traps_needed=0, minutes=None)
        made = create_project(connection, name="pairs", title="Pairs", scale=PREFERENCE, settings=settings, now=1.0)
        add_documents(connection, made.id, [{"name": name, "text": f"Text of {name}"} for name in ("doc-a", "doc-b")])
        item = {"query": "q", "doc": "doc-a", "other": "doc-b"}
        add_items(connection, made, [item], queue="main", wanted=1, rng=np.random.default_rng(1))
        add_member(connection, made.id, judge.account, "judge", clock())

    web_store.write(make)
    hold("judge/pair_start", judge.get("/p/pairs/judge"))
    hold("judge/pair", judge.begin("pairs"))


def test_golden_pages_of_crowd_workers(
    hold: Callable[[str, Any], None], visit: Callable[..., Any], asked: Project, web_store: Store, clock: Any
) -> None:
    terms = {"id_required": True, "one_account": True, "uses": None, "code": "C1", "partial_code": "HALF"}
    secret = web_store.write(
        lambda c: invite(c, role="judge", kind="crowd", project=asked.id, now=clock(), **terms)  # type: ignore[arg-type]
    )
    link = f"/join/{secret}"
    hold("crowd/preview", visit().get(f"{link}?workerId=A&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"))
    hold("crowd/without_id", visit().get(link))
    worker = visit()
    hold("crowd/join", worker.get(f"{link}?PROLIFIC_PID=5f0c"))
    hold("crowd/question", follow(worker, worker.send(link)))
    say(worker, answer="1")
    hold("crowd/stop", worker.get("/p/news/stop", params={"task": worker.hidden()["task"]}))
    hold("crowd/handed_in_early", follow(worker, worker.send("/p/news/stop")))
    hold("crowd/partial_code", worker.get("/p/news/judge"))
    follow(worker, worker.send("/p/news/judge"))
    for _ in range(3):
        page = say(worker, kind="skip")
    hold("crowd/all_skipped", page)
    follow(worker, worker.send("/p/news/reopen"))
    for _ in range(3):
        say(worker, answer="1")
    hold("crowd/done", follow(worker, worker.send("/p/news/hand-in")))
    hold("crowd/code", worker.get("/p/news/judge"))
    clock.now += 31 * 60
    late = visit()
    late.get(f"{link}?PROLIFIC_PID=77aa")
    task = follow(late, late.send(link)) and late.hidden()["task"]
    clock.now += 31 * 60
    hold("crowd/time_over", late.get(f"/p/news/judge?task={task}"))
    web_store.write(lambda c: change_project(c, asked.id, settings=replace(asked.settings, judges=1)))
    web_store.write(lambda c: close_project(c, asked.id, clock()))
    hold("crowd/closed", visit().get(f"{link}?PROLIFIC_PID=99"))
