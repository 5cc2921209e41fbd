from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ringtrue.errors import LateError, NotFoundError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import set_aside_task
from ringtrue.service.store.projects import close_project, get_project_by_name
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import (
    count_tasks_by_outcome,
    find_open_task,
    find_task_of_question,
    get_or_create_task,
    get_task_state,
    load_next_question,
    load_question,
    release_expired,
)
from service.small_projects import NOW, begin, finish, judge, pairs_project, project, question, rows, say

pytestmark = pytest.mark.contract


def test_a_judge_gets_a_task_and_the_same_one_again_when_coming_back(store: Store) -> None:
    where, ann = project(store), judge(store)
    first = begin(store, where, ann)
    assert (first.size, first.open) == (4, 4)
    assert begin(store, where, ann, now=NOW + 60).id == first.id


def test_no_item_goes_to_more_judges_than_it_wants(store: Store) -> None:
    where = project(store, items=4, judges=2)
    for name in ("ann", "ben"):
        assert begin(store, where, judge(store, name)).size == 4
    cem = judge(store, "cem")
    nothing = store.write(lambda c: get_or_create_task(c, where, cem, now=NOW, rng=np.random.default_rng(1)))
    assert nothing is None
    assert rows(store, "SELECT MIN(given), MAX(given) FROM item") == [(2, 2)]


def test_what_was_begun_is_finished_first(store: Store) -> None:
    where = project(store, items=8, judges=2)
    ann, ben = judge(store), judge(store, "ben")
    begin(store, where, ann)
    begin(store, where, ben)
    assert rows(store, "SELECT given, COUNT(*) FROM item GROUP BY given ORDER BY given") == [(0, 4), (2, 4)]


def test_no_judge_sees_an_item_twice(store: Store) -> None:
    where, ann = project(store, items=6, judges=3), judge(store)
    finish(store, begin(store, where, ann), ann)
    finish(store, begin(store, where, ann, now=NOW + 3), ann)
    assert store.write(lambda c: get_or_create_task(c, where, ann, now=NOW + 9, rng=np.random.default_rng(1))) is None
    assert rows(store, "SELECT COUNT(*), COUNT(DISTINCT item) FROM assignment") == [(6, 6)]


def test_an_abandoned_task_is_given_out_again_and_what_was_answered_stays(store: Store) -> None:
    where = project(store, items=4, lease_minutes=10)
    ann, ben = judge(store), judge(store, "ben")
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    say(store, ann, shown)
    after = begin(store, where, ben, now=NOW + 601 + 1)
    assert after.size == 3
    assert rows(store, "SELECT outcome FROM task WHERE id = :task", task=task.id) == [("expired",)]
    states = "SELECT state, COUNT(*) FROM assignment WHERE task = :task GROUP BY state ORDER BY state"
    assert rows(store, states, task=task.id) == [("done", 1), ("expired", 3)]
    assert rows(store, "SELECT MIN(given), MAX(given) FROM item") == [(1, 1)]


def test_a_judge_who_was_away_gets_what_nobody_took_again(store: Store) -> None:
    where, ann = project(store, items=4, lease_minutes=10), judge(store)
    first = begin(store, where, ann)
    second = begin(store, where, ann, now=NOW + 10_000)
    assert second.id != first.id
    assert second.size == 4


def test_an_active_judge_keeps_the_lease_but_not_beyond_the_time_limit(store: Store) -> None:
    where, ann = project(store, items=4, lease_minutes=10, minutes=15), judge(store)
    task = begin(store, where, ann)
    assert (task.leased, task.deadline) == (NOW + 600, NOW + 900)
    shown = question(store, task, ann)
    assert shown is not None
    assert say(store, ann, shown, now=NOW + 540).task.leased == NOW + 900


def test_order_and_sides_differ_between_judges_and_are_kept(store: Store) -> None:
    where = pairs_project(store, items=20, judges=2, task_size=20)
    orders = []
    for seed, name in enumerate(("ann", "ben")):
        who = judge(store, name)
        task = begin(store, where, who, seed=seed)
        kept = rows(store, "SELECT item, flipped FROM assignment WHERE task = :task ORDER BY place", task=task.id)
        orders.append(kept)
        assert 0 < sum(bool(flipped) for _, flipped in kept) < 20
    assert orders[0] != orders[1]
    assert sorted(item for item, _ in orders[0]) == sorted(item for item, _ in orders[1])


def test_a_flipped_pair_shows_the_second_document_on_the_left(store: Store) -> None:
    where, ann = pairs_project(store, items=20, task_size=20), judge(store)
    task = begin(store, where, ann)
    for assignment, flipped in rows(store, "SELECT id, flipped FROM assignment WHERE task = :task", task=task.id):
        with store.read() as connection:
            shown = load_question(connection, assignment, ann)
        assert shown.right is not None
        assert (shown.left.name[0], shown.right.name[0]) == (("e", "d") if flipped else ("d", "e"))


def test_documents_of_a_query_stay_together_where_the_project_says_so(store: Store) -> None:
    where, ann = project(store, items=12, queries=3, task_size=12, together=True), judge(store)
    task = begin(store, where, ann)
    in_order = rows(
        store, "SELECT i.query FROM assignment a JOIN item i ON i.id = a.item WHERE task = :task ORDER BY place",
        task=task.id,
    )  # fmt: skip
    assert sum(one != other for one, other in pairwise(in_order)) == 2


def test_traps_are_mixed_in_and_nothing_tells_them_apart(store: Store) -> None:
    where = _trapped(store, items=15)
    ann = judge(store)
    task = begin(store, where, ann)
    kinds = """SELECT i.queue, COUNT(*) FROM assignment a JOIN item i ON i.id = a.item WHERE task = :task
               GROUP BY i.queue ORDER BY i.queue"""
    assert rows(store, kinds, task=task.id) == [("main", 15), ("trap", 5)]
    with store.read() as connection:
        shown = load_next_question(connection, task.id, ann)
    assert shown is not None
    assert not any("trap" in name for name in shown.__slots__)


def test_a_short_task_has_as_great_a_share_of_traps(store: Store) -> None:
    where, ann = _trapped(store, items=3), judge(store)
    assert begin(store, where, ann).size == 4


def test_a_judge_sees_each_trap_once_and_then_no_more(store: Store) -> None:
    where, ann = _trapped(store, items=60, traps=6), judge(store)
    sizes = []
    for turn in range(3):
        task = begin(store, where, ann, now=NOW + 10 * turn)
        sizes.append(rows(store, "SELECT COUNT(*) FROM assignment a JOIN item i ON i.id = a.item "
                          "WHERE task = :task AND queue = 'trap'", task=task.id)[0][0])  # fmt: skip
        finish(store, task, ann, now=NOW + 10 * turn + 5)
    assert sizes == [5, 1, 0]


def test_a_closed_project_gives_out_no_task_but_lets_judges_finish(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = begin(store, where, ann)
    store.write(lambda c: close_project(c, where.id, NOW + 1))
    with store.read() as connection:
        closed = get_project_by_name(connection, "small")
    assert begin(store, closed, ann).id == task.id
    with pytest.raises(LateError) as refused:
        begin(store, closed, judge(store, "ben"))
    assert refused.value.code == "project-closed"


def test_nobody_sees_another_judges_task_or_question(store: Store) -> None:
    where, ann = project(store), judge(store)
    ben = judge(store, "ben")
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    with store.read() as connection:
        assert load_next_question(connection, task.id, ben) is None
        with pytest.raises(NotFoundError):
            get_task_state(connection, task.id, ben)
        with pytest.raises(NotFoundError):
            load_question(connection, shown.assignment, ben)


def test_releasing_counts_the_tasks_and_does_nothing_twice(store: Store) -> None:
    where, ann = project(store), judge(store)
    begin(store, where, ann)
    assert store.write(lambda c: release_expired(c, where.id, NOW + 10_000)) == 1
    assert store.write(lambda c: release_expired(c, where.id, NOW + 10_000)) == 0
    assert rows(store, "SELECT SUM(given) FROM item") == [(0,)]


def _trapped(store: Store, *, items: int, traps: int = 10) -> Project:
    return project(store, items=items, known=traps, task_size=20, traps=5)


def test_the_open_task_of_a_judge_is_found_until_it_is_handed_in(store: Store) -> None:
    where = project(store, items=4)
    ann, ben = judge(store, "ann"), judge(store, "ben")
    task = begin(store, where, ann)
    with store.read() as connection:
        assert find_open_task(connection, where.id, ann, "main") == task
        assert find_open_task(connection, where.id, ann, "gold") is None
        assert find_open_task(connection, where.id, ben, "main") is None
        assert find_open_task(connection, where.id + 1, ann, "main") is None
    finish(store, task, ann)
    with store.read() as connection:
        assert find_open_task(connection, where.id, ann, "main") is None


def test_a_question_has_one_task_and_one_judge(store: Store) -> None:
    where = project(store, items=4)
    ann, ben = judge(store, "ann"), judge(store, "ben")
    task = begin(store, where, ann)
    ((first, *_), *_) = rows(store, "SELECT id FROM assignment")
    with store.read() as connection:
        assert find_task_of_question(connection, first, ann) == task.id
        with pytest.raises(NotFoundError) as refused:
            find_task_of_question(connection, first, ben)
        assert refused.value.code == "no-such-question"


def test_tasks_are_counted_by_how_they_ended(store: Store) -> None:
    where = project(store, items=12, judges=4, task_size=2, traps=0, traps_needed=0, lease_minutes=1)
    ann, ben = judge(store, "ann"), judge(store, "ben")
    for _ in range(2):
        finish(store, begin(store, where, ann), ann)
    aside = begin(store, where, ben)
    store.write(lambda c: set_aside_task(c, aside.id, now=NOW))
    begin(store, where, ben)
    with store.read() as connection:
        assert count_tasks_by_outcome(connection, where.id, NOW) == {
            ann: {"handed_in": 2}, ben: {"set_aside": 1, "open": 1},
        }  # fmt: skip
        assert count_tasks_by_outcome(connection, where.id, NOW + 999)[ben] == {"set_aside": 1, "expired": 1}
