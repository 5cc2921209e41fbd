from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import Connection

from ringtrue.errors import ConflictError, UnavailableError
from ringtrue.service.store import Answer, Store
from ringtrue.service.store.answers import record_answer, set_aside_task, submit_task
from ringtrue.service.store.tasks import (
    TrapCount,
    has_questions_left,
    passes_traps,
    release_all_expired,
    release_expired,
)
from service.small_projects import HELD, NOW, begin, finish, judge, pairs_project, project, question, rows, say

COUNTS = "SELECT outcome, traps, passed FROM task"
LEFT_OF_BOTH = {False: "left", True: "right"}


def test_a_judge_who_knows_the_answers_passes_all_traps(store: Store) -> None:
    where, ann = project(store, items=15, known=5, task_size=20, traps=5, traps_needed=4), judge(store)
    finish(store, begin(store, where, ann), ann, "2")
    assert rows(store, COUNTS) == [("handed_in", 5, 5)]


def test_sides_that_were_changed_are_changed_back_before_a_trap_is_marked(store: Store) -> None:
    where, ann = pairs_project(store, items=15, known=5, task_size=20, traps=5, traps_needed=4), judge(store)
    task = begin(store, where, ann)
    flipped = dict(rows(store, "SELECT id, flipped FROM assignment"))
    while (shown := question(store, task, ann)) is not None:
        say(store, ann, shown, LEFT_OF_BOTH[bool(flipped[shown.assignment])])
    finish(store, task, ann)
    assert rows(store, COUNTS) == [("handed_in", 5, 5)]


def test_a_trap_that_was_skipped_or_not_decided_is_not_passed(store: Store) -> None:
    where, ann = project(store, items=3, known=1, task_size=4, traps=1, traps_needed=1), judge(store)
    task = begin(store, where, ann)
    while (shown := question(store, task, ann)) is not None:
        say(store, ann, shown, kind="unsure")
    finish(store, task, ann)
    assert rows(store, COUNTS) == [("handed_in", 1, 0)]


@pytest.mark.parametrize(("policy", "outcome", "given"), [("flag", "handed_in", 15), ("set_aside", "set_aside", 0)])
def test_a_task_that_fails_its_traps_is_flagged_or_set_aside(
    store: Store, policy: str, outcome: str, given: int
) -> None:
    where = project(store, items=15, known=5, task_size=20, traps=5, traps_needed=4, failed_traps=policy)
    ann = judge(store)
    finish(store, begin(store, where, ann), ann, "0")
    assert rows(store, COUNTS) == [(outcome, 5, 0)]
    assert rows(store, "SELECT SUM(given) FROM item") == [(given,)]


def test_traps_of_a_task_that_ran_out_are_counted_as_far_as_they_were_answered(store: Store) -> None:
    where, ann = project(store, items=15, known=5, task_size=20, traps=5, lease_minutes=1), judge(store)
    task = begin(store, where, ann)
    while (shown := question(store, task, ann)) is not None and shown.place <= 10:
        say(store, ann, shown, "2")
    begin(store, where, judge(store, "ben"), now=NOW + 1_000)
    (outcome, seen, passed), *_ = rows(store, COUNTS + " WHERE id = :id", id=task.id)
    met = rows(store, "SELECT COUNT(*) FROM assignment a JOIN item i ON i.id = a.item "
               "WHERE a.task = :id AND queue = 'trap' AND place <= 10", id=task.id)[0][0]  # fmt: skip
    assert (outcome, seen, passed) == ("expired", met, met)


def test_a_task_that_was_answered_and_forgotten_is_handed_in_when_its_lease_ends(store: Store) -> None:
    where, ann = project(store, items=2, lease_minutes=1), judge(store)
    task = begin(store, where, ann)
    while (shown := question(store, task, ann)) is not None:
        say(store, ann, shown)
    store.write(lambda c: release_expired(c, where.id, NOW + 1_000))
    assert rows(store, "SELECT outcome FROM task") == [("handed_in",)]


@pytest.mark.parametrize("failed_traps", ["flag", "set_aside"])
@pytest.mark.parametrize(("later", "told"), [(60, "handed_in"), (3600, "expired")])
def test_a_task_that_is_stopped_gives_back_what_is_open_and_tells_its_judge_nothing_of_traps(
    store: Store, failed_traps: str, later: int, told: str
) -> None:
    where = project(store, known=4, task_size=5, traps=4, traps_needed=4, failed_traps=failed_traps, lease_minutes=30)
    ann, bob = judge(store), judge(store, "bob")
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    say(store, ann, shown, "0")
    with pytest.raises(ConflictError) as refused:
        store.write(lambda c: submit_task(c, ann, task.id, now=NOW + later))
    assert refused.value.code == "open-questions"
    assert "4 questions" in refused.value.text
    for _ in range(2):  # sent again, it changes nothing
        state = store.write(lambda c: submit_task(c, ann, task.id, now=NOW + later, early=True))
        assert (state.outcome, state.open, state.closed) == (told, 0, NOW + later)
    ((outcome,),) = rows(store, "SELECT outcome FROM task")
    assert outcome == ("set_aside" if failed_traps == "set_aside" else told)
    assert begin(store, where, bob).size > 0


def test_whether_questions_are_left_is_told_without_taking_any(store: Store) -> None:
    where = project(store, items=2, task_size=2, judges=1)
    ann, bob = judge(store), judge(store, "bob")

    def left(account: int, now: float = NOW) -> bool:
        with store.read() as connection:
            return has_questions_left(connection, where.id, account, queue="main", now=now)

    assert (left(ann), left(bob)) == (True, True)
    task = begin(store, where, ann)
    assert left(bob) is False
    assert left(bob, now=task.leased + 1) is True  # what ran out is given out again
    finish(store, task, ann)
    assert (left(ann), left(bob)) == (False, False)
    assert rows(store, "SELECT COUNT(*) FROM task") == [(1,)]


@given(seen=st.integers(0, 20), needed=st.integers(0, 5))
def test_all_right_always_passes_and_one_more_right_never_hurts(seen: int, needed: int) -> None:
    verdicts = [passes_traps(TrapCount(seen, passed), needed=needed, usual=5) for passed in range(seen + 1)]
    assert verdicts[-1]
    assert verdicts == sorted(verdicts)


def test_a_task_that_was_abandoned_does_not_escape_its_traps(store: Store) -> None:
    where = project(
        store, items=15, known=5, task_size=20, traps=5, traps_needed=4, failed_traps="set_aside", lease_minutes=1
    )
    ann = judge(store)
    task = begin(store, where, ann)
    while (shown := question(store, task, ann)) is not None and shown.place < 20:
        say(store, ann, shown, "0")
    assert store.write(lambda c: release_all_expired(c, NOW + 1_000)) == 1
    assert rows(store, "SELECT outcome FROM task") == [("set_aside",)]
    assert rows(store, "SELECT SUM(given) FROM item") == [(0,)]


COUNTED = f"SELECT i.wanted, i.given, {HELD} FROM item i WHERE i.queue = 'main'"


def _both_at_once(store: Store, one: Callable[[Connection], object], other: Callable[[Connection], object]) -> None:
    """Two servers: the second begins while the first has not committed yet."""
    begun, go = threading.Event(), threading.Event()

    def first() -> None:
        with store.transaction() as connection:
            one(connection)
            begun.set()
            go.wait(10)

    def second() -> None:
        begun.wait(10)
        with suppress(UnavailableError), store.transaction() as connection:
            other(connection)

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    threads[1].join(0.3)  # it waits for the first, or is done
    go.set()
    for thread in threads:
        thread.join(20)


@pytest.mark.slow
@pytest.mark.parametrize("rival", ["hand in", "release", "set aside"])
def test_two_servers_that_close_a_task_at_once_give_its_items_back_once(store: Store, rival: str) -> None:
    where = project(
        store, items=2, known=2, judges=2, task_size=4, traps=2, traps_needed=2, failed_traps="set_aside",
        lease_minutes=1,
    )  # fmt: skip
    ann, ben = judge(store), judge(store, "ben")
    task = begin(store, where, ann)
    finish(store, begin(store, where, ben), ben, "2")
    while (shown := question(store, task, ann)) is not None:
        say(store, ann, shown, "0")
    others: dict[str, Callable[[Connection], object]] = {
        "hand in": lambda c: submit_task(c, ann, task.id, now=NOW + 999),
        "release": lambda c: release_expired(c, where.id, NOW + 999),
        "set aside": lambda c: set_aside_task(c, task.id, now=NOW + 999),
    }
    _both_at_once(store, lambda c: submit_task(c, ann, task.id, now=NOW + 999), others[rival])
    assert all(held == given <= wanted for wanted, given, held in rows(store, COUNTED))


@pytest.mark.slow
def test_two_servers_one_setting_aside_what_the_other_sees_skipped(store: Store) -> None:
    where, ann = project(store, items=2, judges=2, task_size=2), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    skip = Answer(kind="skip")
    _both_at_once(
        store, lambda c: record_answer(c, ann, shown.assignment, shown.version, skip, now=NOW + 1),
        lambda c: set_aside_task(c, task.id, now=NOW + 2),
    )  # fmt: skip
    assert all(held == given <= wanted for wanted, given, held in rows(store, COUNTED))
