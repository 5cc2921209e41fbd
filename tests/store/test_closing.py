from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.store import Store
from ringtrue.store.assigning import release_expired
from ringtrue.store.closing import TrapCount, passes
from small_projects import NOW, begin, finish, judge, pairs_project, project, question, rows, say

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


@given(seen=st.integers(0, 20), needed=st.integers(0, 5))
def test_all_right_always_passes_and_one_more_right_never_hurts(seen: int, needed: int) -> None:
    verdicts = [passes(TrapCount(seen, passed), needed=needed, usual=5) for passed in range(seen + 1)]
    assert verdicts[-1]
    assert verdicts == sorted(verdicts)
