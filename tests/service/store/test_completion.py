"""Completion codes: what earns them, and that each worker has one for each link."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

from ringtrue.service.store import Settings, Store
from ringtrue.service.store.accounts import erase_account
from ringtrue.service.store.answers import (
    record_answer,
    reopen_questions,
    set_aside_task,
    submit_task,
    undo_last_answer,
)
from ringtrue.service.store.completion import (
    Completion,
    Shortfall,
    TaskWork,
    assess_completion,
    find_mendable_shortfalls,
    find_shortfalls,
    hand_in_task,
    load_granted_codes,
    load_task_work,
    settle_completion,
)
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.projects import change_project
from ringtrue.service.store.records import Answer, Project, TaskState
from ringtrue.service.store.tasks import TrapCount, release_all_expired
from service.small_projects import NOW, begin, judge, project, question, rows, say

STRICT = Settings(completion_traps=True, completion_seconds=5)


def work(answered: int, unsure: int = 0, *, questions: int = 20, **more: Any) -> TaskWork:
    skipped = questions - answered - unsure
    return TaskWork(questions=questions, answered=answered, unsure=unsure, skipped=skipped, **more)


@pytest.mark.parametrize(
    ("done", "settings", "missing"),
    [
        (work(20), Settings(), ()),
        (work(0), Settings(), (("answered", 0, 20),)),
        (work(19), Settings(), (("answered", 19, 20),)),
        (work(15, 5), Settings(), ()),
        (work(14, 6), Settings(), (("unsure", 6, 5),)),
        (work(10, 8), Settings(), (("answered", 18, 20), ("unsure", 8, 5))),
        (work(18), Settings(completion_answered=0.9), ()),
        (work(17), Settings(completion_answered=0.9), (("answered", 17, 18),)),
        (work(11), Settings(completion_answered=0.55), ()),  # though 0.55 × 20 is more than 11 for a computer
        (work(19, 1), Settings(completion_unsure=0), (("unsure", 1, 0),)),
        (work(0, 20), Settings(completion_unsure=1), ()),
        (work(2, 1, questions=3), Settings(), ()),  # one broken document of three
        (work(1, 2, questions=3), Settings(), (("unsure", 2, 1),)),
        (work(20, traps=TrapCount(5, 4), seconds=100), STRICT, ()),
        (work(20, traps=TrapCount(5, 3), seconds=99), STRICT, (("traps", 3, 4), ("time", 99, 100))),
        (work(20, traps=TrapCount(0, 0), seconds=100), STRICT, ()),
    ],
)
def test_what_earns_the_code(done: TaskWork, settings: Settings, missing: tuple[Any, ...]) -> None:
    assert find_shortfalls(done, settings) == missing


@given(
    counts=st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(lambda counts: sum(counts) > 0),
    answered=st.floats(0, 1),
    unsure=st.floats(0, 1),
)
def test_one_more_answer_never_takes_the_code_away(counts: list[int], answered: float, unsure: float) -> None:
    done, cannot_tell, skipped = counts
    settings = Settings(completion_answered=answered, completion_unsure=unsure)
    before = TaskWork(questions=sum(counts), answered=done, unsure=cannot_tell, skipped=skipped)
    if find_shortfalls(before, settings) == ():
        for less in ("unsure", "skipped"):
            if getattr(before, less):
                better = replace(before, answered=done + 1, **{less: getattr(before, less) - 1})
                assert find_shortfalls(better, settings) == ()


def test_an_open_task_tells_nothing_of_traps_and_time() -> None:
    missing = find_shortfalls(work(19, traps=TrapCount(5, 0)), STRICT)
    assert [shortfall.kind for shortfall in missing] == ["answered", "traps", "time"]
    assert find_mendable_shortfalls(missing) == (Shortfall("answered", 19, 20),)


def come(store: Store, where: Project, link: str | None = None, *, now: float = NOW, **terms: Any) -> tuple[int, str]:
    """A crowd worker, by a new link with these terms or by one that there is."""
    secret = link or store.write(
        lambda c: invite(
            c, role="judge", kind="crowd", project=where.id, uses=None, days=None, now=NOW, **({"code": "C1"} | terms)
        )
    )
    return store.write(lambda c: accept_invitation(c, secret, worker="prolific:a", now=now)), secret


def do_task(store: Store, where: Project, who: int, *kinds: str, now: float = NOW + 1) -> TaskState:
    """Say this about the questions of a task, and hand it in."""
    task = begin(store, where, who, now=now)
    for kind in kinds:
        shown = question(store, task, who)
        assert shown is not None
        say(store, who, shown, kind=kind, now=now)
    return store.write(lambda c: hand_in_task(c, who, task.id, now=now))


def settle(store: Store, where: Project, who: int, task: int | None = None) -> Completion:
    settled = store.write(lambda c: settle_completion(c, where.id, who, task, now=NOW + 9))
    assert settled is not None
    return settled


def test_all_skipped_earns_nothing_and_all_answered_the_code(store: Store) -> None:
    where = project(store, items=8)
    who, _ = come(store, where, partial_code="HALF")
    first = do_task(store, where, who, *["skip"] * 4)
    told = settle(store, where, who, first.id)
    assert (first.code, told.kind, told.code) == (None, None, None)
    assert told.work == TaskWork(questions=4, answered=0, unsure=0, skipped=4)
    assert not told.work.has_answers
    assert told.missing == (("answered", 0, 4),)
    assert rows(store, "SELECT COUNT(*) FROM completion") == [(0,)]
    second = do_task(store, where, who, *["answer"] * 4)
    assert second.code == "C1"
    assert settle(store, where, who, second.id).kind == "full"


@pytest.mark.parametrize(("partial_code", "kind"), [("HALF", "partial"), (None, None)])
def test_a_task_that_expires_with_one_answer_earns_no_more_than_the_partial_code(
    store: Store, partial_code: str | None, kind: str | None
) -> None:
    where = project(store, lease_minutes=1)
    who, _ = come(store, where, partial_code=partial_code)
    task = begin(store, where, who)
    shown = question(store, task, who)
    assert shown is not None
    say(store, who, shown)
    store.write(lambda c: release_all_expired(c, NOW + 1_000))
    told = settle(store, where, who, task.id)
    assert (told.kind, told.code, told.missing) == (kind, partial_code, (("answered", 1, 4),))


def test_a_partial_code_becomes_full_with_a_task_that_is_done(store: Store) -> None:
    where = project(store, items=8)
    who, _ = come(store, where, partial_code="HALF")
    first = do_task(store, where, who, "answer", "skip", "skip", "unsure")
    assert (first.code, settle(store, where, who, first.id).kind) == ("HALF", "partial")
    second = do_task(store, where, who, *["answer"] * 4)
    assert rows(store, "SELECT kind, code, replaced, task FROM completion") == [("full", "C1", "HALF", second.id)]
    assert settle(store, where, who, first.id).code == "C1"


def test_a_second_task_by_the_same_link_earns_no_other_code(store: Store) -> None:
    where = project(store, items=8)
    who, _ = come(store, where, own_codes=True)
    first, second = (do_task(store, where, who, *["answer"] * 4) for _ in range(2))
    assert first.code is not None
    assert re.fullmatch(r"C1-[2-9A-HJKMNP-TW-Z]{8}", first.code)
    assert settle(store, where, who, second.id).code == settle(store, where, who).code == first.code
    assert rows(store, "SELECT COUNT(*) FROM completion") == [(1,)]


def test_each_worker_has_a_code_of_their_own_where_the_link_says_so(store: Store) -> None:
    where = project(store, items=40, judges=2)
    _, secret = come(store, where, own_codes=True)
    codes = set()
    for number in range(10):
        who = store.write(lambda c, number=number: accept_invitation(c, secret, worker=f"mturk:{number}", now=NOW))
        codes.add(do_task(store, where, who, *["answer"] * 4).code)
    assert len(codes) == 10
    granted = store.write(lambda c: load_granted_codes(c, where.id))
    assert {one.code for one in granted} == codes
    assert {one.worker for one in granted} == {f"mturk:{number}" for number in range(10)}


def test_one_task_earns_the_code_of_one_link(store: Store) -> None:
    where = project(store, items=8)
    who, _ = come(store, where)
    first = do_task(store, where, who, *["answer"] * 4)
    again, _ = come(store, where, code="C2", now=NOW + 5)
    assert again == who
    assert settle(store, where, who, first.id).code == "C1"
    assert settle(store, where, who).kind is None  # nothing was done since
    assert do_task(store, where, who, *["answer"] * 4, now=NOW + 6).code == "C2"
    assert rows(store, "SELECT code FROM completion ORDER BY id") == [("C1",), ("C2",)]


def test_a_task_whose_partial_code_was_replaced_earns_none_of_another_link(store: Store) -> None:
    where = project(store, items=8)
    who, link = come(store, where, partial_code="HALF")
    _, other_link = come(store, where, code="C2", partial_code="PART2")
    come(store, where, link)
    first = do_task(store, where, who, "answer", "skip", "skip", "unsure")
    do_task(store, where, who, *["answer"] * 4)
    come(store, where, other_link, now=NOW + 5)
    assert settle(store, where, who, first.id).code == "C1"
    assert rows(store, "SELECT code FROM completion") == [("C1",)]


@pytest.mark.contract
def test_pages_that_are_looked_at_at_once_show_one_code(store: Store) -> None:
    where = project(store)
    who, _ = come(store, where, own_codes=True)
    task = do_task(store, where, who, *["answer"] * 4)
    store.write(lambda c: c.exec_driver_sql("DELETE FROM completion"))

    def look(_: int) -> str | None:
        with store.transaction() as connection:
            settled = settle_completion(connection, where.id, who, task.id, now=NOW)
            return settled.code if settled is not None else None

    with ThreadPoolExecutor(8) as pool:
        (code,) = set(pool.map(look, range(16)))
    assert rows(store, "SELECT code FROM completion") == [(code,)]


def test_traps_and_time_count_where_the_settings_say_so(store: Store) -> None:
    where = project(store, items=3, known=1, traps=1, traps_needed=1, failed_traps="set_aside", completion_traps=True)
    who, _ = come(store, where)
    task = do_task(store, where, who, *["answer"] * 4)  # "1", where a trap's answer is "2"
    assert (task.code, task.outcome) == (None, "handed_in")
    told = settle(store, where, who, task.id)
    assert (told.kind, told.missing) == (None, (("traps", 0, 1),))
    lenient = replace(where.settings, completion_traps=False, completion_seconds=1)
    store.write(lambda c: change_project(c, where.id, settings=lenient))
    assert settle(store, where, who, task.id).missing == (("time", 0, 4),)
    lenient = replace(lenient, completion_seconds=0)
    store.write(lambda c: change_project(c, where.id, settings=lenient))
    assert settle(store, where, who, task.id).code == "C1"


def test_a_task_that_lies_open_earns_no_time(store: Store) -> None:
    where = project(store, items=2, completion_seconds=3)
    who, _ = come(store, where)
    task = begin(store, where, who)

    def record(version: int, seconds: float, later: float) -> None:
        shown = question(store, task, who)
        assert shown is not None
        answer = Answer(answer="1", seconds=seconds)
        store.write(lambda c: record_answer(c, who, shown.assignment, version, answer, now=NOW + later))

    record(0, 1.0, 1)
    record(0, 2.5, 5_000)
    store.write(lambda c: undo_last_answer(c, who, task.id, now=NOW + 5_000))
    record(2, 2.0, 5_001)
    store.write(lambda c: hand_in_task(c, who, task.id, now=NOW + 5_001))
    assert settle(store, where, who, task.id).missing == (("time", 4.5, 6),)


def test_time_before_a_skip_counts_where_the_question_is_answered_in_the_end(store: Store) -> None:
    where = project(store, items=2)
    who, _ = come(store, where)
    task = begin(store, where, who)

    def measure() -> float:
        with store.read() as connection:
            return load_task_work(connection, task.id)[0].seconds

    def record(kind: Literal["answer", "unsure", "skip"], seconds: float, later: float) -> None:
        shown = question(store, task, who)
        assert shown is not None
        answer = Answer(kind=kind, answer="1" if kind == "answer" else None, seconds=seconds)
        store.write(lambda c: record_answer(c, who, shown.assignment, shown.version, answer, now=NOW + later))

    record("skip", 5.0, 10)
    assert measure() == 0.0
    record("answer", 2.0, 20)
    assert measure() == 2.0
    store.write(lambda c: reopen_questions(c, who, task.id, "skipped", now=NOW + 21))
    record("unsure", 1.5, 30)
    assert measure() == 8.5


def test_the_code_stays_when_the_task_is_set_aside_later(store: Store) -> None:
    where = project(store)
    who, _ = come(store, where)
    task = do_task(store, where, who, *["answer"] * 4)
    store.write(lambda c: set_aside_task(c, task.id, now=NOW + 9))
    assert settle(store, where, who, task.id).code == "C1"


def test_somebody_who_came_by_no_crowd_link_has_no_completion(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = do_task(store, where, ann, *["answer"] * 4)
    assert store.write(lambda c: assess_completion(c, where.id, ann, task.id)) is None


def test_an_erased_worker_leaves_no_code(store: Store) -> None:
    where = project(store)
    who, _ = come(store, where, own_codes=True)
    do_task(store, where, who, *["answer"] * 4)
    store.write(lambda c: erase_account(c, who, NOW))
    assert store.write(lambda c: load_granted_codes(c, where.id)) == []
    assert rows(store, "SELECT code FROM task") == [(None,)]


def test_skipped_questions_are_opened_again_and_kept_for_their_judge_until_the_task_is_closed(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = begin(store, where, ann)
    for kind in ("skip", "skip", "unsure", "answer"):
        shown = question(store, task, ann)
        assert shown is not None
        say(store, ann, shown, kind=kind)
    assert store.write(lambda c: reopen_questions(c, ann, task.id, "skipped", now=NOW + 3)) == 2
    assert store.write(lambda c: reopen_questions(c, ann, task.id, "skipped", now=NOW + 3)) == 0
    with store.read() as connection:
        done, _ = load_task_work(connection, task.id)
    assert (done.answered, done.unsure, done.skipped) == (1, 1, 0)
    for kind in ("answer", "skip"):
        shown = question(store, task, ann)
        assert shown is not None
        assert not say(store, ann, shown, kind=kind).late
    assert rows(store, "SELECT given, COUNT(*) FROM item GROUP BY given") == [(1, 4)]
    store.write(lambda c: submit_task(c, ann, task.id, now=NOW + 4))
    assert rows(store, "SELECT given, COUNT(*) FROM item GROUP BY given ORDER BY given") == [(0, 2), (1, 2)]
    assert begin(store, where, judge(store, "ben")).size == 2
