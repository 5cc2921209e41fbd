"""The question that a judge sees next: its task, its documents made ready, its buttons, and the time spent on it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from markupsafe import Markup

from ringtrue.errors import NotFoundError, UnavailableError
from ringtrue.service.store.records import Queue
from ringtrue.service.store.tasks import has_begun, next_shown, open_task, task_state
from ringtrue.service.web.highlight import query_words
from ringtrue.service.web.render import TEMPLATES
from ringtrue.service.web.safe_html import Reading, guidelines_as_html, reading

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Scale, Shown, TaskState
    from ringtrue.service.web.auth.dependencies import Gate, Here
    from ringtrue.service.web.context import Site

__all__ = [
    "REASONS",
    "Button",
    "ChoosingError",
    "Question",
    "answers_of",
    "buttons_of",
    "is_first",
    "is_over",
    "more_pairs",
    "opened",
    "question_of",
    "refilling",
    "require_part",
    "screen",
    "seconds_between",
    "seconds_from",
    "task_of",
    "time_left",
    "to_hundredths",
]

REASONS = (
    "The document is broken, empty or not readable",
    "I do not understand what was asked",
    "It is in a language that I do not read",
    "It takes knowledge that I do not have",
)
# Up and down stay free: they scroll the documents.
PAIR_KEYS = {
    "left": ("1", "ArrowLeft"), "right": ("2", "ArrowRight"), "both_good": ("3",), "both_bad": ("4",),
}  # fmt: skip
DRAWN = {"ArrowLeft": "←", "ArrowRight": "→"}
PURPOSE = "since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An answer on the screen: `keys` as browsers name them, `shown` as people know them."""

    value: str
    name: str
    hint: str
    keys: tuple[str, ...]
    shown: tuple[str, ...]


@lru_cache(maxsize=256)
def buttons_of(scale: Scale) -> tuple[Button, ...]:
    """The answers of a scale with the keys that give them.

    Labels of one digit are their own keys; others are counted from 1.

    Examples:
        >>> from ringtrue.service.store import PREFERENCE, Scale
        >>> [button.keys for button in buttons_of(Scale.graded("No", "Yes"))]
        [('0',), ('1',)]
        >>> buttons_of(PREFERENCE)[0].shown
        ('1', '←')
    """
    digits = all(len(label.value) == 1 for label in scale.labels)
    made = []
    for at, label in enumerate(scale.labels, start=1):
        if scale.kind == "preference":
            keys = PAIR_KEYS[label.value]
        else:
            keys = (label.value,) if digits else (str(at),) if at < 10 else ()
        shown = tuple(DRAWN.get(key, key) for key in keys)
        made.append(Button(value=label.value, name=label.name, hint=label.hint, keys=keys, shown=shown))
    return tuple(made)


@lru_cache(maxsize=256)
def answers_of(scale: Scale, guidelines: str, *, shortcuts: bool, first: bool) -> Markup:
    """The lower part of the judge's screen; `first` when there is nothing to undo yet. It takes half a page's time."""
    page = TEMPLATES.get_template("answers.html").render(
        buttons=buttons_of(scale), reasons=REASONS, shortcuts=shortcuts, first=first,
        guidelines=guidelines_as_html(guidelines, top=3) if guidelines.strip() else None,
    )  # fmt: skip
    return Markup(page)


def time_left(seconds: float) -> str:
    """The time that is left, as people say it.

    Examples:
        >>> time_left(1799.5), time_left(59), time_left(-1)
        ('29 min left', '59 s left', 'Time is up')
    """
    if seconds <= 0:
        return "Time is up"
    return f"{int(seconds // 60)} min left" if seconds >= 60 else f"{math.ceil(seconds)} s left"


def seconds_from(site: Site, assignment: int, now: float) -> str:
    """The time at which a question was shown, signed, to come back with the answer."""
    return site.signed(f"{assignment}:{now:.2f}", PURPOSE)


def seconds_between(site: Site, assignment: int, since: str, now: float) -> float | None:
    """How long ago a question was shown; None when the form does not say it in our hand."""
    said = site.unsigned(since, PURPOSE)
    if said is None:
        return None
    number, _, time = said.partition(":")
    return to_hundredths(max(now - float(time), 0.0)) if number == str(assignment) else None


def to_hundredths(seconds: float) -> float:
    """Seconds as they are kept: no browser measures more finely.

    Examples:
        >>> to_hundredths(12.34567)
        12.35
    """
    return round(seconds, 2)


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
    from ringtrue.service.collect.active_pairs import refill

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
