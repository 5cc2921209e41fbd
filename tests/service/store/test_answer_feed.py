"""Answers a page at a time, on both databases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ringtrue.service.store import PREFERENCE, Answer, Scale, Settings, Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.answer_feed import is_task_in_project, load_answers_after
from ringtrue.service.store.answers import record_answer, undo_last_answer
from ringtrue.service.store.projects import add_items, create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import get_or_create_task, load_next_question

NOW = 1_800_000_000.0
SETTINGS = Settings(judges=1, task_size=10, traps=0, traps_needed=0)


def judged(
    connection: Any, scale: Scale, rows: list[dict[str, str]], answer: str
) -> tuple[Project, int, int, list[Any]]:
    """A project whose items were all answered alike: with the account, the task and what was shown."""
    rng = np.random.default_rng(3)
    project = create_project(connection, name="p", title="P", scale=scale, settings=SETTINGS, now=NOW)
    add_items(connection, project, rows, queue="main", wanted=1, rng=rng)
    account = create_account(connection, kind="named", name="Ann", now=NOW)
    task = get_or_create_task(connection, project, account, now=NOW, rng=rng)
    assert task is not None
    seen = []
    while (question := load_next_question(connection, task.id, account)) is not None:
        record_answer(connection, account, question.assignment, 0, Answer(answer=answer), now=NOW)
        seen.append(question)
    return project, account, task.id, seen


def test_pages_follow_each_other_without_a_gap(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": f"d{at}"} for at in range(5)]
        project, *_ = judged(connection, Scale.graded("No", "Yes"), rows, "1")
        first = load_answers_after(connection, project, limit=3)
        rest = load_answers_after(connection, project, limit=3, after=first[-1].id)
        assert (len(first), len(rest)) == (3, 2)
        assert sorted(one.left for one in first + rest) == ["d0", "d1", "d2", "d3", "d4"]
        assert {one.right for one in first + rest} == {None}


def test_sides_are_those_that_the_judge_saw(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": "a", "other": f"b{at}"} for at in range(8)]
        project, _, _, seen = judged(connection, PREFERENCE, rows, "left")
        told = [(one.left, one.right) for one in load_answers_after(connection, project)]
        assert told == [(one.left.name, one.right.name) for one in seen]
        assert {left == "a" for left, _ in told} == {True, False}


def test_what_was_taken_back_is_told_only_when_asked_for(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": f"d{at}"} for at in range(2)]
        project, account, task, _ = judged(connection, Scale.graded("No", "Yes"), rows, "1")
        undo_last_answer(connection, account, task, now=NOW)
        assert [one.counts for one in load_answers_after(connection, project)] == [True]
        every = load_answers_after(connection, project, counting=False)
        assert [(one.kind, one.counts) for one in every] == [("answer", True), ("answer", False), ("undo", False)]


@pytest.mark.parametrize("queue", ["gold", "trap"])
def test_queues_are_told_apart(store: Store, queue: str) -> None:
    with store.transaction() as connection:
        project, _, task, _ = judged(connection, Scale.graded("No", "Yes"), [{"query": "q", "doc": "d"}], "1")
        assert load_answers_after(connection, project, queue=queue) == []
        assert is_task_in_project(connection, task, project.id)
        assert not is_task_in_project(connection, task, project.id + 1)
        assert not is_task_in_project(connection, task + 1, project.id)
