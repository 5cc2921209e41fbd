"""Labels from elsewhere are taken back, and a task that was set aside counts again where nobody has its places."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import reinstate_task, set_aside_task
from ringtrue.service.store.import_dedup import ImportedLabel
from ringtrue.service.store.imports import RevertedImport, preview_revert, record_imported_labels, revert_imported_tasks
from ringtrue.service.store.label_queries import load_judgments
from ringtrue.service.store.progress import load_progress
from ringtrue.service.store.records import Project
from service.small_projects import HELD, NOW, begin, finish, judge, project, rows


def held(store: Store) -> None:
    """What is given out is what is held, and no more than was wanted."""
    for given, wanted, there in rows(store, f"SELECT i.given, i.wanted, {HELD} FROM item i WHERE i.queue <> 'trap'"):
        assert given == there <= wanted


def labels(store: Store, where: Project) -> int:
    with store.read() as connection:
        return load_judgments(connection, where).height


def test_a_task_that_was_set_aside_counts_again(store: Store) -> None:
    where, ann = project(store, items=4, known=1, task_size=5, traps=1, traps_needed=1), judge(store)
    task = finish(store, begin(store, where, ann), ann, "0")
    store.write(lambda c: set_aside_task(c, task.id, now=NOW))
    assert labels(store, where) == 0
    found = store.write(lambda c: reinstate_task(c, where, task.id))
    assert (found.again, found.not_again, labels(store, where)) == (4, 0, 4)
    assert rows(store, "SELECT outcome FROM task") == [("handed_in",)]
    held(store)
    with pytest.raises(ConflictError) as refused:
        store.write(lambda c: reinstate_task(c, where, task.id))
    assert refused.value.code == "not-set-aside"


def test_answers_whose_places_are_taken_do_not_count_again(store: Store) -> None:
    where, ann, bob = project(store, items=4, task_size=2), judge(store), judge(store, "bob")
    first = finish(store, begin(store, where, ann), ann)
    second = finish(store, begin(store, where, ann), ann)
    for task in (first, second):
        store.write(lambda c, task=task: set_aside_task(c, task.id, now=NOW))
    finish(store, begin(store, where, bob), bob)  # of the four items, one task's worth has no room any more
    took = {at for (at,) in rows(store, "SELECT item FROM assignment WHERE account = :who", who=bob)}
    for task in (first, second):
        mine = {at for (at,) in rows(store, "SELECT item FROM assignment WHERE task = :task", task=task.id)}
        if mine <= took:
            with pytest.raises(ConflictError) as refused:
                store.write(lambda c, task=task: reinstate_task(c, where, task.id))
            assert refused.value.code == "no-room-for-answers"
            continue
        found = store.write(lambda c, task=task: reinstate_task(c, where, task.id))
        assert (found.again, found.not_again) == (len(mine - took), len(mine & took))
    assert labels(store, where) == 4
    held(store)
    with pytest.raises(NotFoundError) as refused:
        store.write(lambda c: reinstate_task(c, where, 999))
    assert refused.value.code == "no-such-task"


def test_imported_labels_are_taken_back_and_may_come_again(store: Store) -> None:
    where, ann = project(store, items=2, judges=2), judge(store)
    rng = np.random.default_rng(1)
    given = [
        ImportedLabel(query="q0", doc=doc, judge=who, answer="1") for doc in ("d0", "new") for who in ("x", "y", "z")
    ]

    def bring() -> list[int]:
        taken = store.write(lambda c: record_imported_labels(c, where, given, now=NOW, rng=rng))
        assert (taken.new, taken.duplicates, taken.items) == (6, 0, 1)
        return sorted({task for _, _, task in taken.labels if task is not None})

    tasks = bring()
    assert labels(store, where) == 6
    with store.read() as connection:
        assert preview_revert(connection, where, tasks) == RevertedImport(labels=6, items=1)
        before = load_progress(connection, where.id)
    assert store.write(lambda c: revert_imported_tasks(c, where, tasks)) == RevertedImport(labels=6, items=1)
    assert labels(store, where) == 0
    assert rows(store, "SELECT COUNT(*), SUM(wanted), SUM(given) FROM item") == [(2, 4, 0)]
    assert rows(store, "SELECT COUNT(*) FROM judgment") == [(3,)]  # the history of what is still asked about
    held(store)
    bring()
    with store.read() as connection:
        assert load_progress(connection, where.id) == before
    held(store)
    finish(store, begin(store, where, ann), ann)


def test_an_item_that_somebody_else_labelled_stays(store: Store) -> None:
    where = project(store, items=1)
    rng = np.random.default_rng(1)

    def bring(who: str) -> list[int]:
        row = [ImportedLabel(query="q0", doc="new", judge=who, answer="1")]
        taken = store.write(lambda c: record_imported_labels(c, where, row, now=NOW, rng=rng))
        return [task for _, _, task in taken.labels if task is not None]

    first, second = bring("x"), bring("y")
    assert store.write(lambda c: revert_imported_tasks(c, where, first)) == RevertedImport(labels=1, items=0)
    assert labels(store, where) == 1
    assert store.write(lambda c: revert_imported_tasks(c, where, first)) == RevertedImport(
        labels=0, items=0
    )  # twice is once
    assert store.write(lambda c: revert_imported_tasks(c, where, second)) == RevertedImport(labels=1, items=1)
    held(store)
