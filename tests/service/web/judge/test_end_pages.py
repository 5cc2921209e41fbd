"""The end of judging: who earns a completion code, and what everybody else is told."""

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
from ringtrue.service.store.projects import change_project, close_project, create_project
from ringtrue.service.store.records import Project
from service.web.judge.answering import follow, heading, rows, say

CODE = "<code>C1 &amp; MORE</code>"
RETURN = "return your submission on the platform"


def crowd_worker(store: Store, project: Project, *, worker: str = "w", prolific: bool = True, **terms: Any) -> int:
    """Somebody who came by a crowd link."""
    terms = {"code": "C1 & MORE", "project": project.id, "uses": None, "days": None} | terms
    parameters = {"PROLIFIC_PID" if prolific else "workerId": worker}

    def come(connection: Any) -> int:
        secret = invite(connection, role="judge", kind="crowd", now=1.0, **terms)
        return accept_invitation(connection, secret, now=1.0, worker=worker, parameters=parameters)

    return store.write(come)


@pytest.fixture
def come(visit: Callable[..., Any], asked: Project, web_store: Store) -> Callable[..., Any]:
    """A crowd worker with the first question on the screen."""

    def make(**terms: Any) -> Any:
        worker = visit(crowd_worker(web_store, asked, **terms))
        worker.begin()
        return worker

    return make


def answer_all(worker: Any, *kinds: str) -> Any:
    """Say this about each question; the page after the last."""
    for kind in kinds:
        say(worker, **({"answer": "1"} if kind == "answer" else {"kind": kind}))
    return worker.page


def hand_in(worker: Any) -> Any:
    return follow(worker, worker.send("/p/news/hand-in"))


@pytest.mark.parametrize("prolific", [True, False])
def test_crowd_workers_get_their_code_and_the_way_back(come: Callable[..., Any], prolific: bool) -> None:
    worker = come(prolific=prolific, id_required=True)
    answer_all(worker, *["answer"] * 4)
    page = hand_in(worker).text
    assert CODE in page
    assert ("https://app.prolific.com/submissions/complete?cc=C1%20%26%20MORE" in page) == prolific
    assert "another task" not in page


def test_whoever_skips_all_questions_is_shown_no_code(come: Callable[..., Any], web_store: Store) -> None:
    worker = come(partial_code="HALF")
    page = answer_all(worker, *["skip"] * 4)
    assert heading(page) == "0 of 4 answered"
    assert "You answered 0 of 4 questions and skipped 4; the completion code needs 4." in page.text
    page = hand_in(worker)
    assert "C1" not in page.text
    assert "HALF" not in page.text
    assert RETURN in page.text
    assert rows(web_store, "SELECT COUNT(*) FROM completion") == [(0,)]
    for path in ("/p/news/judge", "/p/news/judge?task=1", "/p/news/done?task=1", "/p/news/judge?queue=main"):
        assert "C1" not in worker.get(path, follow_redirects=True).text, path


@pytest.mark.parametrize("partial_code", [None, "HALF"])
def test_one_answer_and_a_wait_earns_no_more_than_the_partial_code(
    owner: Any, visit: Callable[..., Any], come: Callable[..., Any], clock: Any, partial_code: str | None
) -> None:
    worker = come(partial_code=partial_code)
    say(worker, answer="1")
    task = worker.hidden()["task"]
    clock.now += 31 * 60
    for _ in range(2):  # looked at again, it says the same
        page = worker.get(f"/p/news/judge?task={task}")
        assert heading(page) == "The time of this task is over"
        assert "You answered 1 of 4 questions; the completion code needs 4." in page.text
        assert CODE not in page.text
        assert ("<code>HALF</code>" in page.text, RETURN in page.text) == (bool(partial_code), not partial_code)
        assert "Begin another task" in page.text
        assert "Your projects" not in page.text
    people = visit(owner.account).get("/p/news/people").text
    assert ">1 ran out of time</td>" in people
    assert ("<code>HALF</code>" in people) == bool(partial_code)


def test_whoever_answered_nothing_in_time_is_told_to_return_the_submission(
    come: Callable[..., Any], clock: Any
) -> None:
    worker = come(partial_code="HALF")
    task = worker.hidden()["task"]
    clock.now += 31 * 60
    page = worker.get(f"/p/news/judge?task={task}").text
    assert "you have answered nothing here: return your submission on the platform" in page
    assert "HALF" not in page


def test_what_was_answered_in_time_and_not_handed_in_earns_the_code(come: Callable[..., Any], clock: Any) -> None:
    worker = come()
    answer_all(worker, *["answer"] * 4)
    task = worker.hidden()["task"]
    clock.now += 31 * 60
    page = worker.get(f"/p/news/judge?task={task}", follow_redirects=True)
    assert (heading(page), CODE in page.text) == ("Thank you", True)


def test_skipped_questions_are_answered_after_all_and_earn_the_code(come: Callable[..., Any]) -> None:
    worker = come()
    page = answer_all(worker, "answer", "skip", "answer", "skip")
    assert "You answered 2 of 4 questions and skipped 2; the completion code needs 4." in page.text
    assert "Go back and answer the rest, or return your submission on the platform." in page.text
    page = follow(worker, worker.send("/p/news/reopen"))
    assert "These questions are open again." in page.text
    assert heading(answer_all(worker, "answer", "answer")) == "All 4 answered"
    assert CODE in hand_in(worker).text


def test_too_many_cannot_tell_are_opened_again_too(come: Callable[..., Any]) -> None:
    worker = come()
    page = answer_all(worker, "unsure", "unsure", "answer", "answer").text
    assert "You answered 2 of 4 questions and chose “Can’t tell” for 2." in page
    assert "For the completion code, at most 1 “Can’t tell” counts as answered." in page
    follow(worker, worker.send("/p/news/reopen"))
    answer_all(worker, "unsure", "answer")
    assert CODE in hand_in(worker).text


def test_a_named_judge_goes_back_to_skipped_questions_and_hears_of_no_code(judge: Any, asked: Project) -> None:
    judge.begin()
    page = answer_all(judge, "skip", "unsure", "unsure", "unsure").text
    assert "Go back and answer" in page
    assert "completion code" not in page
    follow(judge, judge.send("/p/news/reopen"))
    assert heading(answer_all(judge, "answer")) == "1 of 4 answered"
    assert "You answered 1 of 4 questions and chose “Can’t tell” for 3." in judge.page.text


def test_questions_of_a_task_that_has_ended_or_of_another_judge_are_not_opened_again(
    come: Callable[..., Any], judge: Any
) -> None:
    worker = come()
    answer_all(worker, *["skip"] * 4)
    sent = worker.hidden()
    judge.begin()
    assert judge.send("/p/news/reopen", task=sent["task"]).status_code == 404
    hand_in(worker)
    page = worker.post("/p/news/reopen", sent)
    assert heading(worker.get(page.headers["location"], follow_redirects=True)) == "Handed in"


def test_the_same_code_is_shown_again_and_no_second_one(
    come: Callable[..., Any], asked: Project, web_store: Store, clock: Any
) -> None:
    worker = come(own_codes=True, code="C1")
    answer_all(worker, *["answer"] * 4)
    hand_in(worker)
    ((code,),) = rows(web_store, "SELECT code FROM completion")
    assert code.startswith("C1-")
    page = worker.get("/p/news/judge")
    assert (heading(page), f"<code>{code}</code>" in page.text) == ("You have the completion code", True)
    web_store.write(lambda c: close_project(c, asked.id, clock()))
    page = worker.get("/p/news/judge")
    assert (heading(page), f"<code>{code}</code>" in page.text) == ("This project is closed", True)
    assert rows(web_store, "SELECT code FROM completion") == [(code,)]


def test_a_worker_who_finds_nothing_left_is_told_the_way_back(
    visit: Callable[..., Any], project: Project, web_store: Store, clock: Any
) -> None:
    empty = web_store.write(
        lambda c: create_project(
            c, name="empty", title="Empty", scale=project.scale, settings=project.settings, now=clock()
        )
    )
    worker = visit(crowd_worker(web_store, empty))
    page = worker.begin("empty")
    assert heading(page) == "Nothing left to judge"
    assert RETURN in page.text
    assert "Your projects" not in page.text


def test_a_crowd_worker_without_a_code_is_sent_back_in_words(come: Callable[..., Any]) -> None:
    worker = come(code=None)
    answer_all(worker, *["answer"] * 4)
    assert "say there that you are finished" in hand_in(worker).text
    assert "say there that you are finished" in worker.get("/p/news/judge").text


@pytest.mark.parametrize("failed_traps", ["flag", "set_aside"])
@pytest.mark.parametrize("answered", [5, 4])
def test_a_worker_who_fails_traps_or_time_learns_no_more_than_that(
    come: Callable[..., Any], asked: Project, web_store: Store, clock: Any, failed_traps: Any, answered: int
) -> None:
    strict = replace(
        asked.settings, task_size=5, traps=1, traps_needed=1, failed_traps=failed_traps, completion_traps=True
    )

    def add_trap(connection: Any) -> None:
        add_documents(connection, asked.id, [{"name": "secret-id-9", "title": "Title 9", "text": "x"}])
        trap = {"query": "q1", "doc": "secret-id-9", "expected": "2"}
        add_items(connection, asked, [trap], queue="trap", wanted=None, rng=np.random.default_rng(1))
        change_project(connection, asked.id, settings=strict)

    web_store.write(add_trap)
    worker = come()
    page = answer_all(worker, *["answer"] * answered)
    task = worker.hidden()["task"]
    if answered == 5:
        assert "quality requirements" not in page.text  # not while it can be tried again
        page = hand_in(worker)
        assert heading(page) == "Thank you"
        assert "Your work did not meet the quality requirements of this project." in page.text
    else:
        clock.now += 31 * 60
        page = worker.get(f"/p/news/judge?task={task}")
        assert heading(page) == "The time of this task is over"  # whatever became of its answers
    for word in ("trap", "set aside", "C1", "flag"):
        assert word not in page.text.split("<main")[1].lower().replace("c1", "C1"), word


FIGURES: list[tuple[tuple[str, ...], str]] = [
    ((), "You answered 0 of 4 questions"),
    (("skip",) * 4, "You answered 0 of 4 questions and skipped 4"),
    (("unsure",) * 4, "You answered 0 of 4 questions and chose “Can’t tell” for 4"),
    (("answer", "unsure", "skip", "skip"), "You answered 1 of 4 questions, chose “Can’t tell” for 1 and skipped 2"),
    (("answer",) * 3 + ("skip",), "You answered 3 of 4 questions and skipped 1"),
    (("answer",) * 2, "You answered 2 of 4 questions"),
    (("answer",) * 4, "You answered 4 of 4 questions"),
]
ENDINGS = [
    (kinds, figures, ending)
    for kinds, figures in FIGURES
    for ending in ("handed in", "end of the task", "stopped", "time over")
    if len(kinds) == 4 or ending in ("stopped", "time over")  # what is open is not at its end yet
]


@pytest.mark.parametrize("crowd", [True, False])
@pytest.mark.parametrize(("kinds", "figures", "ending"), ENDINGS)
def test_heading_and_figures_agree_at_every_end(
    come: Callable[..., Any], judge: Any, clock: Any, crowd: bool, ending: str, kinds: tuple[str, ...], figures: str
) -> None:
    worker = come(id_required=True) if crowd else judge
    worker.begin()
    task = worker.hidden()["task"]
    answer_all(worker, *kinds)
    is_whole = len(kinds) == 4
    if ending == "handed in":
        hand_in(worker)
    elif ending == "stopped":
        follow(worker, worker.post("/p/news/stop", {"csrf": worker.hidden()["csrf"], "task": task}))
    elif ending == "time over":
        clock.now += 31 * 60
        worker.get(f"/p/news/judge?task={task}", follow_redirects=True)
    page = worker.page
    answered, has_answers = kinds.count("answer"), bool({"answer", "unsure"} & set(kinds))
    if ending == "end of the task":
        expected = "All 4 answered" if answered == 4 else f"{answered} of 4 answered"
    elif ending == "time over" and not is_whole:
        expected = "The time of this task is over"
    else:
        expected = "Thank you" if has_answers else "Handed in"
    assert heading(page) == expected
    assert f"<title>{expected} · News of 1994</title>" in page.text
    main = page.text.split("<main")[1]
    if expected == "All 4 answered":
        assert "You answered" not in main
    else:
        assert len(re.findall("You answered", main)) == 1
        assert re.search(re.escape(figures) + "[.;]", main)
    assert ("What you answered in time is kept." in main) == (expected.startswith("The time") and has_answers)
    assert ("questions that were left go to other judges" in main) == expected.startswith("The time")
    assert ("you have answered nothing here" in main) == (crowd and not has_answers and ending != "end of the task")
