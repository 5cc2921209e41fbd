"""Small projects to judge in: made in a store, with people who answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import insert, text

from ringtrue.service.store import PREFERENCE, Answer, Scale, Settings, Store, schema
from ringtrue.service.store.answers import record_answer, submit_task
from ringtrue.service.store.items import add_items
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project, SavedAnswer, ShownQuestion, TaskState
from ringtrue.service.store.tasks import get_or_create_task, load_next_question

NOW = 1_000_000.0
# How many judges an item `i` is in the hands of: those who answered it, and those in whose open task it is.
HELD = """(SELECT COUNT(*) FROM assignment a JOIN task t ON t.id = a.task
  WHERE a.item = i.id AND (a.state = 'done' OR t.closed IS NULL))"""
GRADED = Scale.graded("Not relevant", "Related", "Relevant")


def settings(**changes: Any) -> Settings:
    """Settings without traps and time limit, but for what is said."""
    return Settings(**({"judges": 1, "task_size": 4, "traps": 0, "traps_needed": 0, "minutes": None} | changes))


def project(
    store: Store, *, items: int = 4, known: int = 0, queries: int = 1, scale: Scale = GRADED, **changes: Any
) -> Project:
    """Items of d0, d1, …, and `known` traps t0, t1, … whose answer is the best label, or the left document."""
    wanted = settings(**changes)
    pair = scale.kind == "preference"

    def make(connection: Any) -> Project:
        made = create_project(connection, name="small", title="Small", scale=scale, settings=wanted, now=NOW)
        rng = np.random.default_rng(1)
        rows = [{"query": f"q{at % queries}", "doc": f"d{at}", "other": f"e{at}" if pair else None}
                for at in range(items)]  # fmt: skip
        add_items(connection, made, rows, queue="main", wanted=wanted.judges, rng=rng)
        best = "left" if pair else scale.labels[-1].value
        trapped = [{"query": f"q{at % queries}", "doc": f"t{at}", "other": f"u{at}" if pair else None, "expected": best}
                   for at in range(known)]  # fmt: skip
        add_items(connection, made, trapped, queue="trap", wanted=None, rng=rng)
        return made

    return store.write(make)


def pairs_project(store: Store, **changes: Any) -> Project:
    """A project of pairs: the query q0, d0 against e0, and so on."""
    return project(store, scale=PREFERENCE, **changes)


def judge(store: Store, handle: str = "ann") -> int:
    """A person who judges."""
    new = insert(schema.account).values(handle=handle, kind="named", owner=False, created=NOW)
    return int(store.write(lambda connection: connection.execute(new.returning(schema.account.c.id)).scalar_one()))


def begin(store: Store, where: Project, who: int, *, now: float = NOW, seed: int = 1, queue: str = "main") -> TaskState:
    """The task this judge is in."""
    rng = np.random.default_rng(seed)
    task = store.write(lambda connection: get_or_create_task(connection, where, who, queue=queue, now=now, rng=rng))
    assert task is not None
    return task


def question(store: Store, task: TaskState, who: int) -> ShownQuestion | None:
    """The next question."""
    with store.read() as connection:
        return load_next_question(connection, task.id, who)


def say(
    store: Store, who: int, shown: ShownQuestion, answer: str | None = "1", *, kind: Any = "answer",
    now: float = NOW + 1, version: int | None = None, reason: str | None = None,
) -> SavedAnswer:  # fmt: skip
    """Answer a question."""
    at = shown.version if version is None else version
    said = Answer(kind=kind, answer=answer if kind == "answer" else None, reason=reason, seconds=1.0)
    return store.write(lambda connection: record_answer(connection, who, shown.assignment, at, said, now=now))


def finish(store: Store, task: TaskState, who: int, answer: str = "1", *, now: float = NOW + 2) -> TaskState:
    """Answer all that is open alike, and hand in."""
    while (shown := question(store, task, who)) is not None:
        say(store, who, shown, answer, now=now)
    return store.write(lambda connection: submit_task(connection, who, task.id, now=now))


def rows(store: Store, statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """What the database itself says."""
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement), values)]
