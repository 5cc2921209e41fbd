"""The question that a judge sees next: its task, its documents made ready, and what stands around it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ringtrue.errors import NotFoundError, UnavailableError
from ringtrue.store.assigning import next_shown, open_task, task_state
from ringtrue.store.begun import has_begun
from ringtrue.store.values import Queue
from ringtrue.web.asking import answers_of, seconds_from, time_left
from ringtrue.web.marking import query_words
from ringtrue.web.reading import Reading, reading

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.store.values import Project, Shown, TaskState
    from ringtrue.web.site import Site
    from ringtrue.web.visitors import Gate, Here

__all__ = [
    "ChoosingError",
    "Question",
    "is_first",
    "is_over",
    "more_pairs",
    "opened",
    "question_of",
    "refilling",
    "require_part",
    "screen",
    "task_of",
]

PATIENCE, GLANCE = 10.0, 0.5  # seconds for which a judge without a pair waits for another's choice, and between looks


class ChoosingError(UnavailableError):
    """Pairs are being chosen, and this judge has to wait for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A task, and the question of it that is to be shown; None when all are answered."""

    here: Here
    state: TaskState
    shown: Shown | None = None
    first: Reading | None = None
    right: Reading | None = None


async def opened(gate: Gate, queue: str | None) -> Question | None:
    """The open task of this judge or a new one.

    Where pairs are chosen as votes arrive, the next are chosen while this judge is at work; only who finds none left
    waits for them.
    """

    def work(connection: Connection, here: Here) -> Question | None:
        chosen = _queue(here, queue)
        state = open_task(
            connection, here.project, here.person.id, queue=chosen, now=here.now, rng=np.random.default_rng()
        )
        return None if state is None else question_of(connection, here, state.id)

    here = await gate.read(lambda _connection, here: here)
    found = await gate.write(work)
    if here.project.settings.active and here.may("judge"):
        if found is not None:
            here.site.later(refilling(here.site, here.project))
        elif await more_pairs(here.site, here.project, here.person.id):
            found = await gate.write(work)
    return found


def is_first(connection: Connection, here: Here, queue: str | None) -> bool:
    """Whether a judge is about to begin in a project: to read the guidelines comes first, and no clock runs."""
    _queue(here, queue)
    return here.project.closed is None and not has_begun(connection, here.project.id, here.person.id)


async def more_pairs(site: Site, project: Project, account: int) -> bool:
    """Have pairs chosen for a judge who finds none left, or wait while another does; no thread is held meanwhile."""
    patience = time.monotonic() + PATIENCE
    while (chosen := await site.compute(refilling(site, project, account))) is None:
        if time.monotonic() >= patience:
            raise ChoosingError("new pairs are being chosen; ask again in a moment")
        await asyncio.sleep(GLANCE)
    return chosen > 0


def refilling(site: Site, project: Project, account: int | None = None) -> Callable[[], int | None]:
    """Choosing the next pairs of a project, or those for one judge, as a piece of work for another thread."""
    from ringtrue.collecting.pairing import refill

    return lambda: refill(site.store, project, now=site.clock(), rng=np.random.default_rng(), account=account)


def _queue(here: Here, wanted: str | None) -> str:
    if wanted is None:
        return "main" if here.may("judge") else "gold"
    if wanted not in get_args(Queue):
        raise NotFoundError(f"there is no queue '{wanted}'; there is {' and '.join(get_args(Queue))}")
    here.require("gold" if wanted == "gold" else "judge")
    return wanted


def task_of(connection: Connection, here: Here, task: int) -> TaskState:
    """A task of this judge in this project."""
    return require_part(here, task_state(connection, task, here.person.id))


def require_part(here: Here, state: TaskState) -> TaskState:
    """Refuse a task of another project, or of a queue where this person does not judge any more.

    Asked after a write, in the same piece of work, it takes back what was written.
    """
    if state.project != here.project.id:
        raise NotFoundError("there is no such task for you in this project")
    here.require("gold" if state.queue == "gold" else "judge")
    return state


def question_of(connection: Connection, here: Here, task: int) -> Question:
    """The next question of a task, with its documents made ready."""
    state = task_of(connection, here, task)
    shown = next_shown(connection, task, here.person.id) if state.closed is None and state.open else None
    if shown is None:
        return Question(here=here, state=state)
    settings = here.project.settings
    words = query_words(shown.query_text or shown.query) if settings.highlight else ()
    right = None if shown.right is None else reading(shown.right, words, html=settings.html)
    first = reading(shown.left, words, html=settings.html)
    return Question(here=here, state=state, shown=shown, first=first, right=right)


def is_over(found: Question) -> bool:
    """Whether the time limit of the task has passed."""
    return found.state.deadline is not None and found.here.now > found.state.deadline


def screen(found: Question) -> dict[str, Any]:
    """What the template of the judge's screen needs."""
    here, state, shown = found.here, found.state, found.shown
    assert shown is not None
    project = here.project
    left = None if state.deadline is None else max(state.deadline - here.now, 0.0)
    return {
        "project": project, "state": state, "shown": shown, "first": found.first, "right": found.right,
        "query": shown.query_text or shown.query, "number": state.size - state.open + 1,
        "left": None if left is None else round(left), "time_left": "" if left is None else time_left(left),
        "since": seconds_from(here.site, shown.assignment, here.now), "answers": answers_of(
            project.scale, project.guidelines, shortcuts=project.settings.shortcuts, first=state.open == state.size
        ),
    }  # fmt: skip
