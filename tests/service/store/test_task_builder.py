from __future__ import annotations

from collections import Counter

import numpy as np

from ringtrue.service.store import Store
from ringtrue.service.store.items import add_items
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project, TaskState
from ringtrue.service.store.tasks import release_expired
from service.small_projects import GRADED, NOW, begin, finish, judge, rows, settings

QUESTIONS = """SELECT i.queue, q.name, d.name FROM assignment a JOIN item i ON i.id = a.item
               JOIN query q ON q.id = i.query JOIN document d ON d.id = i.doc WHERE a.task = :task ORDER BY a.place"""


def _project(store: Store, items: list[tuple[str, str]], known: list[tuple[str, str]], **changes: object) -> Project:
    wanted = settings(**({"task_size": 20, "traps": 5, "traps_needed": 4} | changes))
    rng = np.random.default_rng(1)

    def make(c: object) -> Project:
        made = create_project(c, name="small", title="Small", scale=GRADED, settings=wanted, now=NOW)  # type: ignore[arg-type]
        asked = [{"query": query, "doc": doc} for query, doc in items]
        add_items(c, made, asked, queue="main", wanted=wanted.judges, rng=rng)  # type: ignore[arg-type]
        trapped = [{"query": query, "doc": doc, "expected": "2"} for query, doc in known]
        add_items(c, made, trapped, queue="trap", wanted=None, rng=rng)  # type: ignore[arg-type]
        return made

    return store.write(make)


def _seen(store: Store, task: TaskState) -> list[tuple[str, str, str]]:
    return [(queue, query, doc) for queue, query, doc in rows(store, QUESTIONS, task=task.id)]


def test_the_query_of_a_trap_never_comes_up_for_the_trap_alone(store: Store) -> None:
    items = [(f"q{at // 10}", f"d{at}") for at in range(300)]
    where = _project(store, items, [(f"q{at}", f"t{at}") for at in range(30)])
    for number in range(10):
        seen = _seen(store, begin(store, where, judge(store, f"judge{number}"), seed=number))
        assert Counter(queue for queue, _, _ in seen) == {"main": 15, "trap": 5}
        company = Counter(query for queue, query, _ in seen if queue == "main")
        assert all(company[query] >= 1 for queue, query, _ in seen if queue == "trap")


def test_no_judge_is_asked_the_same_as_an_item_and_as_a_trap(store: Store) -> None:
    items = [(f"q{at // 10}", f"d{at}") for at in range(60)]
    where = _project(store, items, items[::3], task_size=8, traps=2, traps_needed=1)
    ann, asked = judge(store), Counter[tuple[str, str]]()
    for turn in range(6):
        task = begin(store, where, ann, now=NOW + 10 * turn, seed=turn)
        asked.update((query, doc) for _, query, doc in _seen(store, task))
        finish(store, task, ann, "2", now=NOW + 10 * turn + 5)
    assert max(asked.values()) == 1


def test_where_there_is_nothing_but_what_traps_ask_it_is_asked_without_traps(store: Store) -> None:
    where = _project(store, [("q0", "d0")], [("q0", "d0")])
    assert {queue for queue, _, _ in _seen(store, begin(store, where, judge(store)))} == {"main"}


def test_traps_of_other_queries_are_better_than_none(store: Store) -> None:
    where = _project(store, [("q0", f"d{at}") for at in range(15)], [("q1", f"t{at}") for at in range(5)])
    assert Counter(queue for queue, _, _ in _seen(store, begin(store, where, judge(store)))) == {"main": 15, "trap": 5}


def test_a_trap_that_was_not_answered_may_come_again(store: Store) -> None:
    where = _project(
        store, [("q0", f"d{at}") for at in range(15)], [("q0", f"t{at}") for at in range(5)], lease_minutes=1
    )
    ann = judge(store)
    begin(store, where, ann)
    store.write(lambda c: release_expired(c, where.id, NOW + 1_000))
    seen = _seen(store, begin(store, where, ann, now=NOW + 1_001))
    assert Counter(queue for queue, _, _ in seen) == {"main": 15, "trap": 5}
