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
from service.web.judge.answering import columns, count, follow, heading, rows, say
from service.web.pages import codes_on, has_element, page_name, visible_text, words_of

CODE = "<code>C1 &amp; MORE</code>"


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
    assert (page_name(page), heading(page)) == ("all-answered", "0 of 4 answered")
    assert re.findall(r"\d", words_of(page, "code-needs-answers")) == ["0", "4", "4", "4"]
    page = hand_in(worker)
    assert "C1" not in page.text
    assert "HALF" not in page.text
    assert "nothing-answered" in codes_on(page)
    assert count(web_store, "completion") == 0
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
        assert page_name(page) == "time-over"
        assert re.findall(r"\d", words_of(page, "code-needs-answers")) == ["1", "4", "4"]
        assert CODE not in page.text
        is_sent_back = "no-code-earned" in codes_on(page)
        assert ("<code>HALF</code>" in page.text, is_sent_back) == (bool(partial_code), not partial_code)
        assert (has_element(page, "another-task"), has_element(page, "home")) == (True, False)
    people = visit(owner.account).get("/p/news/people").text
    assert re.search(r">1 \w[\w ]*</td>", people)
    assert ("<code>HALF</code>" in people) == bool(partial_code)


def test_whoever_answered_nothing_in_time_is_told_to_return_the_submission(
    come: Callable[..., Any], clock: Any
) -> None:
    worker = come(partial_code="HALF")
    task = worker.hidden()["task"]
    clock.now += 31 * 60
    page = worker.get(f"/p/news/judge?task={task}")
    assert "nothing-answered" in codes_on(page)
    assert "HALF" not in page.text


def test_what_was_answered_in_time_and_not_handed_in_earns_the_code(come: Callable[..., Any], clock: Any) -> None:
    worker = come()
    answer_all(worker, *["answer"] * 4)
    task = worker.hidden()["task"]
    clock.now += 31 * 60
    page = worker.get(f"/p/news/judge?task={task}", follow_redirects=True)
    assert (page_name(page), CODE in page.text) == ("handed-in", True)


def test_skipped_questions_are_answered_after_all_and_earn_the_code(come: Callable[..., Any]) -> None:
    worker = come()
    page = answer_all(worker, "answer", "skip", "answer", "skip")
    assert re.findall(r"\d", words_of(page, "code-needs-answers")) == ["2", "4", "2", "4"]
    assert codes_on(page) == ["code-needs-answers", "go-back-or-return"]
    page = follow(worker, worker.send("/p/news/reopen"))
    assert "questions-reopened" in codes_on(page)
    assert heading(answer_all(worker, "answer", "answer")) == "All 4 answered"
    assert CODE in hand_in(worker).text


def test_too_many_cannot_tell_are_opened_again_too(come: Callable[..., Any]) -> None:
    worker = come()
    page = answer_all(worker, "unsure", "unsure", "answer", "answer")
    assert re.findall(r"\d", words_of(page, "work-done")) == ["2", "4", "2"]
    assert re.findall(r"\d", words_of(page, "too-many-unsure")) == ["1"]
    follow(worker, worker.send("/p/news/reopen"))
    answer_all(worker, "unsure", "answer")
    assert CODE in hand_in(worker).text


def test_a_named_judge_goes_back_to_skipped_questions_and_hears_of_no_code(judge: Any, asked: Project) -> None:
    judge.begin()
    page = answer_all(judge, "skip", "unsure", "unsure", "unsure")
    assert has_element(page, "reopen")
    assert "completion code" not in page.text
    follow(judge, judge.send("/p/news/reopen"))
    assert heading(answer_all(judge, "answer")) == "1 of 4 answered"
    assert re.findall(r"\d", words_of(judge.page, "work-done")) == ["1", "4", "3"]


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
    assert (page_name(page), f"<code>{code}</code>" in page.text) == ("code", True)
    web_store.write(lambda c: close_project(c, asked.id, clock()))
    page = worker.get("/p/news/judge")
    assert (page_name(page), f"<code>{code}</code>" in page.text) == ("closed", True)
    assert columns(web_store, "completion", "code") == [(code,)]


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
    assert page_name(page) == "nothing-left"
    assert "nothing-answered" in codes_on(page)
    assert not has_element(page, "home")


def test_a_crowd_worker_without_a_code_is_sent_back_in_words(come: Callable[..., Any]) -> None:
    worker = come(code=None)
    answer_all(worker, *["answer"] * 4)
    for page in (hand_in(worker), worker.get("/p/news/judge")):
        assert "report-finished" in codes_on(page)


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
        assert "quality-not-met" not in codes_on(page)  # not while it can be tried again
        page = hand_in(worker)
        assert page_name(page) == "handed-in"
        assert "quality-not-met" in codes_on(page)
    else:
        clock.now += 31 * 60
        page = worker.get(f"/p/news/judge?task={task}")
        assert page_name(page) == "time-over"  # whatever became of its answers
    for word in ("trap", "set aside", "C1", "flag"):
        assert word not in visible_text(page.text.split("<main")[1]).lower().replace("c1", "C1"), word


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
    expected_page = "time-over" if ending == "time over" and not is_whole else "handed-in"
    if ending == "end of the task":
        expected_page = "all-answered"
        expected = "All 4 answered" if answered == 4 else f"{answered} of 4 answered"
    elif ending == "time over" and not is_whole:
        expected = "The time of this task is over"
    else:
        expected = "Thank you" if has_answers else "Handed in"
    assert (page_name(page), heading(page)) == (expected_page, expected)
    assert f"<title>{expected} ·" in page.text
    codes = codes_on(page)
    of_work = [code for code in codes if code in ("work-done", "code-needs-answers")]
    if expected == "All 4 answered":
        assert of_work == []
    else:
        (code,) = of_work
        assert words_of(page, code).startswith((f"{figures}.", f"{figures};"))
    assert ("answers-kept" in codes) == (expected_page == "time-over" and has_answers)
    assert ("rest-goes-on" in codes) == (expected_page == "time-over")
    is_over = expected_page != "all-answered"
    assert ("nothing-answered" in codes) == (crowd and not has_answers and is_over)
