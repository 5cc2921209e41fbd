"""The judge's screens without any script: forms, and what happens when they are sent late, twice or from two tabs."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import text

from ringtrue.service.collect.project_setup import make_project
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.store import PREFERENCE, Label, Scale, Settings, Store
from ringtrue.service.store.accounts import add_member, remove_member
from ringtrue.service.store.answers import record_answer
from ringtrue.service.store.items import acquire_lock, add_documents, add_items
from ringtrue.service.store.projects import change_project, close_project, create_project
from ringtrue.service.store.records import Answer, Project
from ringtrue.service.store.tasks import get_or_create_task
from ringtrue.service.web.judge import screen
from ringtrue.service.web.judge.screen import render_answer_panel
from ringtrue.service.web.owner.project_form import default_guidelines
from service.full_disks import make_read_only
from service.web.judge.answering import columns, count, fields, follow, heading, rows, say
from service.web.pages import code_of, codes_on, element_text, has_element, page_name

JSON = {"accept": "application/json"}


def other_project(store: Store, *, scale: Scale = PREFERENCE, pair: bool = True, **changes: Any) -> Project:
    """A project `other` with one item about one query."""

    def work(connection: Any) -> Project:
        settings = Settings(**({"judges": 1, "task_size": 4, "traps": 0, "traps_needed": 0, "minutes": None} | changes))
        made = create_project(connection, name="other", title="Other", scale=scale, settings=settings, now=1.0)
        docs = [{"name": name, "text": f"Text of {name}"} for name in ("doc-a", "doc-b")]
        add_documents(connection, made.id, docs)
        item = {"query": "q", "doc": "doc-a", "other": "doc-b" if pair else None}
        add_items(connection, made, [item], queue="main", wanted=1, rng=np.random.default_rng(1))
        return made

    return store.write(work)


def judgments(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT kind, answer FROM judgment ORDER BY id")


def progress(page: httpx.Response) -> str:
    found = re.search(r"<title>(\d+ of \d+)", page.text)
    assert found is not None, heading(page)
    return found[1]


def test_the_first_time_a_judge_reads_the_guidelines_before_any_clock_runs(
    judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    page = judge.get("/p/news/judge")
    assert (page.status_code, page_name(page)) == (200, "start")
    assert has_element(page, "begin")
    for wanted in ("<strong>all</strong>", "4 questions", "30 minutes"):
        assert wanted in page.text
    assert count(web_store, "task") == 0
    clock.now += 600
    page = judge.begin()
    assert progress(page) == "1 of 4"
    assert "30 min left" in page.text
    assert progress(judge.get("/p/news/judge")) == "1 of 4"  # a task is there: straight to it, now and later


def test_the_page_before_the_first_task_keeps_to_the_queue_that_was_asked_for(
    gold_judge: Any, asked: Project, web_store: Store
) -> None:
    items = [{"query": "q1", "doc": "secret-id-0"}]
    web_store.write(lambda c: add_items(c, asked, items, queue="gold", wanted=1, rng=np.random.default_rng(1)))
    gold_judge.get("/p/news/judge?queue=gold")
    assert gold_judge.hidden()["queue"] == "gold"
    web_store.write(
        lambda c: change_project(c, asked.id, settings=Settings(task_size=1, traps=0, traps_needed=0, minutes=None))
    )
    page = gold_judge.get("/p/news/judge").text
    assert "queue" not in gold_judge.hidden()
    assert re.search(r"\b1 question\b", page)
    assert "minute" not in page


def test_a_judge_sees_the_query_the_document_and_the_answers(judge: Any, asked: Project) -> None:
    page = judge.begin()
    assert (page.status_code, heading(page), progress(page)) == (200, "Wind power", "1 of 4")
    for wanted in (
        "How much of it?", "Numbers count.", "The wind &lt;blows&gt;", "30 min left", "Not relevant",
        "<strong>all</strong>", 'rel="noopener noreferrer nofollow"', 'aria-keyshortcuts="2"',
    ):  # fmt: skip
        assert wanted in page.text


def test_nothing_tells_ids_others_votes_or_traps(judge: Any, asked: Project, web_store: Store) -> None:
    def trap(connection: Any) -> None:
        row = {"query": "q1", "doc": "secret-id-9", "expected": "2"}
        docs = [{"name": "secret-id-9", "title": "Title 9", "text": "x"}]
        add_documents(connection, asked.id, docs)
        add_items(connection, asked, [row], queue="trap", wanted=None, rng=np.random.default_rng(1))
        change_project(connection, asked.id, settings=Settings(judges=2, task_size=5, traps=1, traps_needed=1))

    web_store.write(trap)
    judge.begin()
    for _ in range(5):
        assert judge.page is not None
        shape = re.sub(r"Title \d|[\w.:-]{20,}|\d+", "", judge.page.text)
        assert "secret-id" not in judge.page.text
        assert "trap" not in shape
        assert "expected" not in shape
        say(judge, answer="1")
    assert heading(judge.page) == "All 5 answered"


def test_answers_lead_through_the_task_to_handing_in_and_thanks(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    assert progress(say(judge, answer="2")) == "2 of 4"
    assert progress(say(judge, kind="skip")) == "3 of 4"
    assert progress(say(judge, reason="Broken")) == "4 of 4"
    assert heading(say(judge, answer="0")) == "2 of 4 answered"
    thanks = follow(judge, judge.send("/p/news/hand-in"))
    assert heading(thanks) == "Thank you"
    assert "completion code" not in thanks.text
    assert columns(web_store, "judgment", "kind", "answer", "reason") == [
        ("answer", "2", None), ("skip", None, None), ("unsure", None, "Broken"), ("answer", "0", None),
    ]  # fmt: skip


def test_can_t_tell_takes_the_judge_s_own_words(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    assert progress(say(judge, kind="unsure", reason="Half missing")) == "2 of 4"
    assert columns(web_store, "judgment", "kind", "reason") == [("unsure", "Half missing")]


def test_undo_opens_the_last_question_again_and_is_done_once(judge: Any, asked: Project, web_store: Store) -> None:
    first = judge.begin().text
    assert re.search('form="undo"[^>]* disabled>', first)
    say(judge, answer="2")
    say(judge, answer="1")
    sent = judge.hidden()
    page = follow(judge, judge.post("/p/news/undo", sent))
    assert progress(page) == "2 of 4"
    assert "answer-undone" in codes_on(page)
    assert progress(follow(judge, judge.post("/p/news/undo", sent))) == "2 of 4"
    assert [kind for kind, _ in judgments(web_store)] == ["answer", "answer", "undo"]


def test_undo_of_nothing_is_told(judge: Any, asked: Project) -> None:
    judge.begin()
    assert codes_on(follow(judge, judge.send("/p/news/undo"))) == ["nothing-to-undo"]


def test_the_last_answer_can_be_undone_before_handing_in(judge: Any, asked: Project) -> None:
    judge.begin()
    for _ in range(4):
        say(judge, answer="1")
    assert progress(follow(judge, judge.send("/p/news/undo"))) == "4 of 4"


def test_a_task_with_open_questions_is_not_handed_in(judge: Any, asked: Project) -> None:
    judge.begin()
    assert progress(follow(judge, judge.send("/p/news/hand-in"))) == "1 of 4"


def test_handing_in_twice_thanks_twice(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    for _ in range(4):
        say(judge, answer="1")
    sent = judge.hidden()
    assert page_name(follow(judge, judge.post("/p/news/hand-in", sent))) == "handed-in"
    assert page_name(follow(judge, judge.post("/p/news/hand-in", sent))) == "handed-in"
    assert page_name(follow(judge, judge.get(f"/p/news/judge?task={sent['task']}"))) == "handed-in"
    assert page_name(judge.begin()) == "nothing-left"


def test_a_double_click_is_one_answer(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    sent = fields(judge, answer="1")
    assert progress(follow(judge, judge.post("/p/news/answer", sent))) == "2 of 4"
    assert progress(follow(judge, judge.post("/p/news/answer", sent))) == "2 of 4"
    assert judgments(web_store) == [("answer", "1")]


def test_another_answer_from_a_second_tab_shows_both_and_changes_nothing_unseen(
    judge: Any, asked: Project, web_store: Store
) -> None:
    judge.begin()
    tab = fields(judge, answer="0")
    say(judge, answer="2")
    page = judge.post("/p/news/answer", tab)
    assert (page.status_code, page_name(page)) == (409, "answered-already")
    assert (element_text(page, "saved"), element_text(page, "chosen")) == ("Relevant", "Not relevant")
    assert judgments(web_store) == [("answer", "2")]
    assert progress(follow(judge, judge.send("/p/news/answer"))) == "2 of 4"
    assert judgments(web_store) == [("answer", "2"), ("answer", "0")]


def test_after_undoing_elsewhere_the_old_tab_is_told_so(judge: Any, asked: Project) -> None:
    judge.begin()
    tab = fields(judge, answer="0")
    say(judge, answer="2")
    judge.send("/p/news/undo")
    page = judge.post("/p/news/answer", tab)
    assert (page.status_code, element_text(page, "saved").partition(":")[0]) == (409, "No answer")


def test_a_task_that_was_handed_in_cannot_be_changed_by_the_back_button(judge: Any, asked: Project) -> None:
    judge.begin()
    tab = fields(judge, answer="0")
    for _ in range(4):
        say(judge, answer="1")
    judge.send("/p/news/hand-in")
    page = judge.post("/p/news/answer", tab)
    assert page.status_code == 409
    assert 'name="assignment"' not in page.text


def test_the_time_limit_ends_the_task_and_keeps_what_was_answered(
    judge: Any, asked: Project, clock: Any, web_store: Store
) -> None:
    judge.begin()
    say(judge, answer="1")
    late = fields(judge, answer="2")
    clock.now += 31 * 60
    page = follow(judge, judge.post("/p/news/answer", late))
    assert (page.status_code, page_name(page)) == (410, "time-over")
    assert "answer-late" in codes_on(page)
    assert judgments(web_store) == [("answer", "1"), ("late", "2")]
    assert progress(judge.begin(queue="main")) == "1 of 3"


def test_a_judge_who_comes_back_after_the_lease_goes_on_where_nobody_took_the_place(
    judge: Any, web_store: Store, visit: Callable[..., Any], account: Callable[..., int], clock: Any
) -> None:
    where = other_project(web_store, lease_minutes=1)
    judge.account and web_store.write(lambda c: add_member(c, where.id, judge.account, "judge", clock()))
    judge.begin("other")
    mine = fields(judge, answer="left")
    clock.now += 120
    assert judge.get(f"/p/other/judge?task={mine['task']}").status_code == 200
    other = visit(account("Other", where, "judge"))
    other.begin("other")
    say(other, where="other", answer="right")
    page = follow(judge, judge.post("/p/other/answer", mine))
    assert (page.status_code, page_name(page)) == (410, "time-over")
    assert judgments(web_store) == [("answer", "right"), ("late", "left")]


def test_a_closed_project_says_so(judge: Any, asked: Project, web_store: Store, clock: Any) -> None:
    web_store.write(lambda c: close_project(c, asked.id, clock()))
    page = judge.begin()
    assert (page.status_code, page_name(page)) == (410, "closed")


def test_nothing_left_is_a_page_of_its_own(judge: Any, project: Project) -> None:
    assert page_name(judge.begin()) == "nothing-left"


@pytest.mark.slow
def test_an_answer_is_kept_on_the_page_when_the_database_is_away(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    sent = fields(judge, answer="1", reason='"quoted" <b>')
    with closing(sqlite3.connect(str(web_store.engine.url.database), isolation_level=None)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        page = judge.post("/p/news/answer", sent)
        reply = judge.post("/p/news/answer", sent, headers=JSON)
    assert (page.status_code, page.headers["retry-after"]) == (503, "2")
    assert page_name(page) == "answer-not-saved"
    assert (reply.status_code, code_of(reply)) == (503, "database-locked")
    judge.page = page
    assert judge.hidden() == sent
    assert progress(follow(judge, judge.send("/p/news/answer"))) == "2 of 4"
    assert judgments(web_store) == [("answer", "1")]


def test_the_script_is_answered_in_json(judge: Any, asked: Project) -> None:
    judge.begin()
    sent = fields(judge, answer="1")
    reply = judge.post("/p/news/answer", sent, headers=JSON)
    assert (reply.status_code, reply.json()) == (200, {"next": f"/p/news/judge?task={sent['task']}"})
    assert judge.post("/p/news/answer", sent | {"answer": "0"}, headers=JSON).status_code == 409


@pytest.mark.parametrize(
    "changes",
    [
        {"assignment": "x"}, {"assignment": ""}, {"assignment": "9" * 30}, {"version": "-1"}, {"version": "²"},
        {"answer": "7"}, {"answer": ""}, {"kind": "nonsense"}, {"assignment": "99999999999999999999"},
    ],
)  # fmt: skip
def test_a_form_that_makes_no_sense_is_refused_in_words(
    judge: Any, asked: Project, web_store: Store, changes: dict[str, str]
) -> None:
    judge.begin()
    page = judge.post("/p/news/answer", fields(judge, **({"answer": "1"} | changes)))
    assert page.status_code == 422
    assert judgments(web_store) == []


@pytest.mark.parametrize("address", ["judge?task=x", "judge?task=99999999999999999999", "done", "done?task=-1"])
def test_an_address_that_makes_no_sense_is_refused_in_words(judge: Any, asked: Project, address: str) -> None:
    assert judge.get(f"/p/news/{address}").status_code == 422


@pytest.mark.parametrize("address", ["judge?task=77", "done?task=77", "judge?queue=trap"])
def test_unknown_tasks_and_queues_are_not_found(judge: Any, asked: Project, address: str) -> None:
    assert judge.get(f"/p/news/{address}").status_code == 404


def test_tasks_and_questions_of_others_are_not_found(
    judge: Any, asked: Project, visit: Callable[..., Any], account: Callable[..., int], web_store: Store
) -> None:
    judge.begin()
    mine = fields(judge, answer="1")
    other = visit(account("Other", asked, "judge"))
    other.begin()
    foreign = other.hidden()["csrf"]
    assert other.get(f"/p/news/judge?task={mine['task']}").status_code == 404
    for what in ("answer", "undo", "hand-in"):
        assert other.post(f"/p/news/{what}", mine | {"csrf": foreign}).status_code == 404
    assert judgments(web_store) == []


def test_a_task_is_shown_in_its_own_project_only(judge: Any, asked: Project, web_store: Store, clock: Any) -> None:
    where = other_project(web_store)
    web_store.write(lambda c: add_member(c, where.id, judge.account, "judge", clock()))
    judge.begin()
    assert judge.get(f"/p/other/judge?task={judge.hidden()['task']}").status_code == 404


def test_who_was_removed_from_a_project_changes_nothing_there_by_the_address_of_another(
    judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    where = other_project(web_store)
    web_store.write(lambda c: add_member(c, where.id, judge.account, "judge", clock()))
    judge.begin()
    say(judge, answer="1")
    mine = fields(judge, answer="2")
    web_store.write(lambda c: remove_member(c, asked.id, judge.account, now=clock()))
    for what in ("answer", "undo", "hand-in"):
        assert judge.post(f"/p/other/{what}", mine).status_code == 404
    taken = mine | {"assignment": rows(web_store, "SELECT assignment FROM judgment")[0][0], "version": "0"}
    assert judge.post("/p/other/answer", taken).status_code == 404  # nor is it shown what was said there
    assert judge.get(f"/p/other/done?task={mine['task']}").status_code == 404
    assert judgments(web_store) == [("answer", "1")]


def test_who_is_no_gold_judge_any_more_changes_no_gold(
    judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    items = [{"query": "q1", "doc": f"secret-id-{at}"} for at in range(2)]
    rng = np.random.default_rng(1)
    web_store.write(lambda c: add_items(c, asked, items, queue="gold", wanted=1, rng=rng))
    web_store.write(lambda c: add_member(c, asked.id, judge.account, "gold", clock()))
    judge.begin(queue="gold")
    say(judge, answer="1")
    mine = fields(judge, answer="2")
    web_store.write(lambda c: remove_member(c, asked.id, judge.account, "gold", now=clock()))
    for what in ("answer", "undo", "hand-in"):
        assert judge.post(f"/p/news/{what}", mine).status_code == 403
    assert judge.get(f"/p/news/judge?task={mine['task']}").status_code == 403
    assert judgments(web_store) == [("answer", "1")]


def test_the_gold_queue_is_for_gold_judges(judge: Any, gold_judge: Any, asked: Project, web_store: Store) -> None:
    item = {"query": "q1", "doc": "secret-id-0"}
    rng = np.random.default_rng(1)
    web_store.write(lambda c: add_items(c, asked, [item], queue="gold", wanted=1, rng=rng))
    assert judge.get("/p/news/judge?queue=gold").status_code == 403
    assert gold_judge.get("/p/news/judge?queue=main").status_code == 403
    assert progress(gold_judge.begin(queue="gold")) == "1 of 1"
    assert progress(gold_judge.begin()) == "1 of 1"


@pytest.mark.parametrize("what", ["answer", "undo", "hand-in"])
def test_a_form_without_the_word_of_the_login_changes_nothing(
    judge: Any, asked: Project, web_store: Store, what: str
) -> None:
    judge.begin()
    assert judge.post(f"/p/news/{what}", fields(judge, answer="1", csrf="guessed")).status_code == 403
    assert judgments(web_store) == []


def test_without_a_script_the_server_measures_the_time(
    judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    judge.begin()
    clock.now += 12.3456
    say(judge, answer="1")
    assert columns(web_store, "judgment", "seconds", "away") == [(12.34, None)]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"seconds": "7.25", "away": "2.5"}, (7.25, 2.5)),
        ({"seconds": "7.25", "away": "3"}, (7.25, 2.75)),
        ({"seconds": "7.12345", "away": "0.98765"}, (7.12, 0.99)),
        ({"seconds": "9000", "away": "9000"}, (10.0, 0.0)),  # longer than the question was there
        ({"seconds": "nan", "away": "inf"}, (10.0, None)),
        ({"seconds": "-4", "away": "x"}, (10.0, None)),
        ({"seconds": "7", "since": "forged"}, (7.0, None)),
        ({"seconds": "9000", "away": "86400", "since": "forged"}, (30.0, 0.0)),  # longer than the task was open
        ({"seconds": "9000", "since": ""}, (30.0, None)),
        ({"since": "1:0.0.forged"}, (None, None)),
    ],
)
def test_times_of_the_script_are_believed_within_reason(
    judge: Any,
    asked: Project,
    web_store: Store,
    clock: Any,
    sent: dict[str, str],
    kept: tuple[float | None, float | None],
) -> None:
    judge.begin()
    clock.now += 20
    judge.get("/p/news/judge")
    clock.now += 10
    say(judge, answer="1", **sent)
    assert columns(web_store, "judgment", "seconds", "away") == [kept]


def test_the_time_of_another_question_is_not_taken(judge: Any, asked: Project, web_store: Store) -> None:
    judge.begin()
    old = judge.hidden()["since"]
    say(judge, answer="1")
    say(judge, answer="1", since=old)
    assert columns(web_store, "judgment", "seconds")[-1] == (None,)


@pytest.mark.parametrize("headers", [{}, JSON])
def test_an_answer_before_its_question_can_be_seen_is_asked_again(
    judge: Any, asked: Project, web_store: Store, clock: Any, headers: dict[str, str]
) -> None:
    judge.begin()
    clock.now += 0.05
    reply = judge.post("/p/news/answer", fields(judge, answer="1"), headers=headers)
    page = judge.get(reply.json()["next"] if headers else reply.headers["location"])
    assert progress(page) == "1 of 4"
    assert "answer-unseen" in codes_on(page)
    assert judgments(web_store) == []
    clock.now += 0.125
    assert progress(say(judge, answer="1")) == "2 of 4"
    assert columns(web_store, "judgment", "answer", "seconds") == [("1", 0.12)]


def test_nobody_learns_of_a_question_of_another_by_answering_too_soon(
    judge: Any, gold_judge: Any, asked: Project, clock: Any
) -> None:
    judge.begin()
    sent = fields(judge, answer="1")
    gold_judge.get("/p/news/guidelines")
    clock.now += 0.05
    stranger = gold_judge.post("/p/news/answer", sent | {"csrf": gold_judge.hidden().get("csrf", "")})
    assert stranger.status_code == 404


def test_pairs_are_shown_side_by_side_and_kept_as_seen(judge: Any, web_store: Store, clock: Any) -> None:
    where = other_project(web_store)
    web_store.write(lambda c: add_member(c, where.id, judge.account, "judge", clock()))
    page = judge.begin("other").text
    for shown in ("Equally good", "Equally bad", "doc-a", "doc-b", "←"):
        assert shown in page
    assert re.findall('class="side"[^>]*>(.*?)<', page) == ["Left", "Right"]
    ((flipped,),) = rows(web_store, "SELECT flipped FROM assignment")
    assert (page.index("doc-b") < page.index("doc-a")) == bool(flipped)
    say(judge, where="other", answer="left")
    assert judgments(web_store) == [("answer", "left")]


def test_shortcuts_and_highlights_are_settings_of_the_project(judge: Any, web_store: Store, clock: Any) -> None:
    where = other_project(web_store, shortcuts=False)
    web_store.write(lambda c: add_member(c, where.id, judge.account, "judge", clock()))
    page = judge.begin("other").text
    assert "<kbd" not in page
    assert "data-keys" not in page
    assert "<mark>" not in page


def test_words_of_the_query_are_marked_only_where_the_owner_asks_for_it(
    judge: Any, asked: Project, web_store: Store
) -> None:
    assert "<mark>" not in judge.begin().text
    marked = replace(asked.settings, highlight=True)
    web_store.write(lambda c: change_project(c, asked.id, settings=marked))
    assert "<mark>wind</mark>" in judge.get("/p/news/judge").text


def test_answers_show_hints_and_keys_of_long_scales() -> None:
    labels = tuple(Label(value=str(at * 5), name=f"N{at}", hint="<i>" if at == 3 else "") for at in range(12))
    shown = render_answer_panel(Scale(kind="graded", labels=labels), "", shortcuts=True, first=False)
    values_and_keys = re.findall(r'value="(\d+)" data-keys="(.)"', shown)
    assert values_and_keys[:3] == [("0", "1"), ("5", "2"), ("10", "3")]
    assert len(re.findall('class="label"', shown)) == 12
    assert "<small>&lt;i&gt;</small>" in shown
    assert "Guidelines</summary>" not in shown


def test_guidelines_have_a_page_for_everybody_with_a_part_in_the_project(
    judge: Any, viewer: Any, nobody: Any, visit: Callable[..., Any], account: Callable[..., int], project: Project
) -> None:
    assert "<strong>all</strong>" in judge.get("/p/news/guidelines").text
    assert 'href="/p/news/judge"' in judge.page.text
    assert 'href="/p/news/judge"' not in viewer.get("/p/news/guidelines").text
    assert nobody.get("/p/news/guidelines").status_code == 303
    assert visit(account("Stranger")).get("/p/news/guidelines").status_code == 404


def test_viewers_do_not_judge(viewer: Any, asked: Project) -> None:
    assert viewer.begin().status_code == 403


def test_an_answer_given_by_other_means_is_not_asked_again(
    judge: Any, asked: Project, web_store: Store, clock: Any
) -> None:
    def work(connection: Any) -> None:
        state = get_or_create_task(connection, asked, judge.account, now=clock(), rng=np.random.default_rng(1))
        assert state is not None
        record_answer(connection, judge.account, 1, 0, Answer(answer="1"), now=clock())

    web_store.write(work)
    assert progress(judge.begin()) == "2 of 4"


@pytest.mark.slow
def test_pairs_are_chosen_as_votes_arrive_when_a_task_is_begun(judge: Any, web_store: Store, clock: Any) -> None:
    lines = "".join(f"q1 Q0 d{at} {at + 1} {20 - at} bm25\n" for at in range(8))
    settings = Settings(judges=1, task_size=3, traps=0, traps_needed=0, active=True)
    made = make_project(
        web_store, name="live", title="Live", scale=PREFERENCE, settings=settings,
        ask=[UploadedFile(name="bm25.run", content=lines.encode())], now=clock(), rng=np.random.default_rng(1),
    )  # fmt: skip
    web_store.write(lambda c: add_member(c, made.project.id, judge.account, "judge", clock()))
    for _ in range(made.items // 3 + 2):
        judge.begin("live")
        while 'name="assignment"' in judge.page.text:
            say(judge, where="live", answer="left")
        assert heading(follow(judge, judge.send("/p/live/hand-in"))) == "Thank you"
    ((asked_for,),) = rows(web_store, "SELECT SUM(wanted) FROM item")
    assert asked_for > made.items


def active_project(store: Store, judge: int) -> Project:
    """A project `live` whose pairs are chosen as votes arrive, with none left."""
    lines = "".join(f"q1 Q0 d{at} {at + 1} {20 - at} bm25\n" for at in range(8))
    made = make_project(
        store, name="live", title="Live", scale=PREFERENCE, now=1.0, rng=np.random.default_rng(1),
        settings=Settings(judges=1, task_size=3, traps=0, traps_needed=0, active=True),
        ask=[UploadedFile(name="bm25.run", content=lines.encode())],
    ).project  # fmt: skip
    store.write(lambda c: add_member(c, made.id, judge, "judge", 1.0))
    store.write(lambda c: c.execute(text("UPDATE item SET wanted = given")))
    return made


@pytest.mark.slow
def test_judges_who_wait_for_pairs_hold_up_nobody(
    judge: Any, nobody: Any, web_store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than there are threads, while a server that died had the turn to choose."""
    monkeypatch.setattr(screen, "PAIR_WAIT_SECONDS", 2.0)
    where = active_project(web_store, judge.account)
    web_store.write(lambda c: acquire_lock(c, where.id, now=clock(), until=clock() + 120))
    nobody.get("/login")
    sent = nobody.hidden() | {"handle": "nobody", "password": "x" * 12}
    judge.get("/p/live/judge")
    button, order = judge.hidden(), list[str]()

    async def ask(what: str, work: Any) -> httpx.Response:
        answer: httpx.Response = await work
        order.append(what)
        return answer

    async def all_at_once() -> list[httpx.Response]:
        waiting = [ask("pair", judge.client.post("/p/live/judge", data=button)) for _ in range(40)]
        return await asyncio.gather(*waiting, ask("login", nobody.client.post("/login", data=sent)))

    *waited, login = judge.runner.run(all_at_once())
    assert (order[0], login.status_code) == ("login", 401)
    assert {answer.status_code for answer in waited} == {503}
    assert page_name(waited[0]) == "choosing-pairs"
    assert 'data-again-after="5"' in waited[0].text


@pytest.mark.slow
def test_a_judge_who_waits_gets_pairs_when_the_turn_of_a_server_that_died_has_ended(
    judge: Any, web_store: Store, clock: Any
) -> None:
    where = active_project(web_store, judge.account)
    web_store.write(lambda c: acquire_lock(c, where.id, now=clock(), until=clock() + 120))

    judge.get("/p/live/judge")
    button = judge.hidden()

    async def wait() -> httpx.Response:
        asked = asyncio.create_task(judge.client.post("/p/live/judge", data=button))
        while not asked.done():
            await asyncio.sleep(0.2)
            clock.now += 100
        return await asked

    assert progress(follow(judge, judge.runner.run(wait()))) == "1 of 3"


@pytest.mark.parametrize("scale", [PREFERENCE, Scale.graded("No", "Yes")])
def test_the_usual_guidelines_tell_nobody_of_traps(scale: Scale) -> None:
    words = default_guidelines(scale).lower()
    assert not [word for word in ("known", "trap", "check", "test") if word in words]


def test_on_a_full_disk_the_time_limit_is_told_all_the_same(
    judge: Any, asked: Project, clock: Any, web_store: Store
) -> None:
    judge.begin()
    (task,) = rows(web_store, "SELECT id FROM task")[0]
    clock.now += 31 * 60
    make_read_only(web_store)
    page = judge.get(f"/p/news/judge?task={task}")
    assert (page.status_code, page_name(page)) == (410, "time-over")
    assert "database-read-only" in codes_on(page)
