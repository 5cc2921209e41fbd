"""Which tasks judges had, and how they ended."""

from __future__ import annotations

import pytest

from ringtrue.errors import NotFoundError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import set_aside_task
from ringtrue.service.store.tasks import count_tasks_by_outcome, find_task_of_question, has_had_task
from service.small_projects import NOW, begin, finish, judge, project, rows


def test_who_had_a_task_has_begun(store: Store) -> None:
    where = project(store, items=4)
    ann, ben = judge(store, "ann"), judge(store, "ben")
    begin(store, where, ann)
    with store.read() as connection:
        assert has_had_task(connection, where.id, ann)
        assert not has_had_task(connection, where.id, ben)
        assert not has_had_task(connection, where.id + 1, ann)


def test_a_question_has_one_task_and_one_judge(store: Store) -> None:
    where = project(store, items=4)
    ann, ben = judge(store, "ann"), judge(store, "ben")
    task = begin(store, where, ann)
    ((first, *_), *_) = rows(store, "SELECT id FROM assignment")
    with store.read() as connection:
        assert find_task_of_question(connection, first, ann) == task.id
        with pytest.raises(NotFoundError, match="no such question"):
            find_task_of_question(connection, first, ben)


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
