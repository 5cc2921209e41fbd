"""Judges who work at the same time, in threads or in processes of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.service.store import Answer, Store
from ringtrue.service.store.answers import record_answer, submit_task, undo_last_answer
from ringtrue.service.store.projects import get_project_by_name
from ringtrue.service.store.tasks import get_or_create_task, load_next_question
from service.small_projects import HELD, NOW, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """What the store said it has kept."""

    assignment: int
    version: int
    answer: str | None


def judge_until_nothing_is_left(
    store: Store, project: str, account: int, *, seed: int, leaves_after: int | None = None, now: float = NOW
) -> list[Acknowledged]:
    """Answer, skip, be unsure, undo and hand in by lot; or leave in the middle of a task for good."""
    rng = np.random.default_rng(seed)
    kept: list[Acknowledged] = []
    with store.read() as connection:
        where = get_project_by_name(connection, project)
    while True:
        task = store.write(lambda c: get_or_create_task(c, where, account, now=now, rng=rng))
        if task is None:
            return kept
        while True:
            with store.read() as connection:
                shown = load_next_question(connection, task.id, account)
            if shown is None:
                break
            kind = rng.choice(["answer", "unsure", "skip"], p=[0.9, 0.05, 0.05])
            said = Answer(kind=kind, answer=str(rng.integers(3)) if kind == "answer" else None)
            saved = store.write(
                lambda c, shown=shown, said=said: record_answer(
                    c, account, shown.assignment, shown.version, said, now=now
                )
            )
            assert not saved.late
            kept.append(Acknowledged(assignment=shown.assignment, version=shown.version + 1, answer=said.answer))
            if leaves_after is not None and len(kept) >= leaves_after:
                return kept
            if kind == "answer" and rng.random() < 0.05:
                store.write(lambda c, task=task: undo_last_answer(c, account, task.id, now=now))
        store.write(lambda c, task=task: submit_task(c, account, task.id, now=now))


def judge_in_a_process(url: str, project: str, account: int, seed: int) -> list[Acknowledged]:
    """The same by a server of its own."""
    with Store.open(url, patience=30) as store:
        return judge_until_nothing_is_left(store, project, account, seed=seed)


def check_nothing_is_lost(store: Store, kept: list[Acknowledged]) -> None:
    """All that was acknowledged is there, once; items count their judges, and none has too many or one twice."""
    there = rows(store, "SELECT assignment, version, answer FROM judgment WHERE kind IN ('answer', 'unsure', 'skip')")
    assert sorted(there, key=str) == sorted(((one.assignment, one.version, one.answer) for one in kept), key=str)
    counted = f"SELECT i.id, i.wanted, i.given, {HELD} FROM item i WHERE i.queue = 'main'"
    for item, wanted, given, held in rows(store, counted):
        assert held == given <= wanted, item
    twice = """
        SELECT item, account FROM assignment WHERE state <> 'expired' GROUP BY item, account HAVING COUNT(*) > 1"""
    assert rows(store, twice) == []
    stray = """
        SELECT a.id FROM assignment a JOIN judgment j ON j.assignment = a.id AND j.version = a.version
        WHERE (a.state = 'done') <> (j.kind = 'answer')"""
    assert rows(store, stray) == []
