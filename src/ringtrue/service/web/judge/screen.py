"""What a judge sees: the next question of a task with its documents and buttons."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ringtrue.errors import NotFoundError, UnavailableError
from ringtrue.messages import Note
from ringtrue.service.store.completion import load_code_offer
from ringtrue.service.store.tasks import get_task_state, load_next_question
from ringtrue.service.web.judge.code_terms import describe_code_terms
from ringtrue.service.web.responses import TEMPLATES
from ringtrue.service.web.safe_html import DocumentView, compile_query_patterns, make_document_view, render_guidelines

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Scale, ShownQuestion, TaskState
    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.context import ServerContext

UNSURE_REASONS = (
    "The document is broken, empty or not readable",
    "I do not understand what was asked",
    "It is in a language that I do not read",
    "It takes knowledge that I do not have",
)
# Up and down stay free: they scroll the documents.
PAIR_KEYS = {
    "left": ("1", "ArrowLeft"),
    "right": ("2", "ArrowRight"),
    "both_good": ("3",),
    "both_bad": ("4",),
}
KEY_SYMBOLS = {"ArrowLeft": "←", "ArrowRight": "→"}
SHOWN_TIME_PURPOSE = "since"
MIN_SEEN_SECONDS = 0.06  # from the moment a page is made; judge.js waits longer, from the moment it is painted
PAIR_WAIT_SECONDS = 10.0  # for which a judge without a pair waits for another's choice
PAIR_POLL_SECONDS = 0.5  # between looks meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An answer on the screen: `keys` as browsers name them, `shown` as people know them."""

    value: str
    name: str
    hint: str
    keys: tuple[str, ...]
    shown: tuple[str, ...]


class PairsPendingError(UnavailableError):
    """Pairs are being chosen, and this judge has to wait for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScreen:
    """A task, and the question of it that is to be shown; None when all are answered.

    `code_terms` is what earns a crowd worker the completion code.
    """

    context: RequestContext
    state: TaskState
    question: ShownQuestion | None = None
    first: DocumentView | None = None
    right: DocumentView | None = None
    code_terms: tuple[Note, ...] = ()


@lru_cache(maxsize=256)
def make_buttons(scale: Scale) -> tuple[Button, ...]:
    """The answers of a scale with the keys that give them.

    Labels of one digit are their own keys; others are counted from 1.

    Examples:
        >>> from ringtrue.service.store import PREFERENCE, Scale
        >>> [button.keys for button in make_buttons(Scale.graded("No", "Yes"))]
        [('0',), ('1',)]
        >>> make_buttons(PREFERENCE)[0].shown
        ('1', '←')
    """
    all_single_digits = all(len(label.value) == 1 for label in scale.labels)
    buttons = []
    for position, label in enumerate(scale.labels, start=1):
        if scale.kind == "preference":
            keys = PAIR_KEYS[label.value]
        else:
            keys = (label.value,) if all_single_digits else (str(position),) if position < 10 else ()
        key_labels = tuple(KEY_SYMBOLS.get(key, key) for key in keys)
        buttons.append(Button(value=label.value, name=label.name, hint=label.hint, keys=keys, shown=key_labels))
    return tuple(buttons)


@lru_cache(maxsize=256)
def render_answer_panel(
    scale: Scale, guidelines: str, *, shortcuts: bool, first: bool, code_terms: tuple[Note, ...] = ()
) -> Markup:
    """The lower part of the judge's screen; `first` when there is nothing to undo yet. It takes half a page's time."""
    html = TEMPLATES.get_template("answers.html").render(
        buttons=make_buttons(scale),
        reasons=UNSURE_REASONS,
        shortcuts=shortcuts,
        first=first,
        guidelines=render_guidelines(guidelines, top=3) if guidelines.strip() else None,
        code_terms=code_terms,
    )
    return Markup(html)


def format_time_left(seconds: float) -> str:
    """The time that is left, as people say it.

    Examples:
        >>> format_time_left(1799.5), format_time_left(59), format_time_left(-1)
        ('29 min left', '59 s left', 'Time is up')
    """
    if seconds <= 0:
        return "Time is up"
    return f"{int(seconds // 60)} min left" if seconds >= 60 else f"{math.ceil(seconds)} s left"


def sign_shown_time(server: ServerContext, assignment: int, now: float) -> str:
    """The time at which a question was shown, signed, to come back with the answer."""
    return server.sign(f"{assignment}:{now:.6f}", SHOWN_TIME_PURPOSE)


def read_shown_time(server: ServerContext, assignment: int, since: str) -> float | None:
    """When a question was shown; None when the form does not say it in our hand."""
    shown_at = server.unsign(since, SHOWN_TIME_PURPOSE)
    if shown_at is None:
        return None
    assignment_text, _, time_text = shown_at.partition(":")
    return float(time_text) if assignment_text == str(assignment) else None


def is_unseen(shown: float | None, now: float) -> bool:
    """Whether an answer comes so soon after its question was sent that nobody can have seen it.

    It was meant for the question before: a key or a button that was pressed twice. A clock that stands still or was
    set back tells nothing.

    Examples:
        >>> is_unseen(100.0, 100.05), is_unseen(100.0, 100.1), is_unseen(100.0, 99.0), is_unseen(None, 100.0)
        (True, False, False, False)
    """
    return shown is not None and 0 < now - shown < MIN_SEEN_SECONDS


def round_to_hundredths(seconds: float) -> float:
    """Seconds as they are kept: no browser measures more finely.

    Examples:
        >>> round_to_hundredths(12.34567)
        12.35
    """
    return round(seconds, 2)


async def wait_for_pairs(server: ServerContext, project: Project, account: int) -> bool:
    """Have pairs chosen for a judge who finds none left, or wait while another does; no thread is held meanwhile."""
    deadline = time.monotonic() + PAIR_WAIT_SECONDS
    while (chosen_count := await server.choose_pairs(make_refill_job(server, project, account))) is None:
        if time.monotonic() >= deadline:
            raise PairsPendingError("pairs-pending", "new pairs are being chosen; ask again in a moment")
        await asyncio.sleep(PAIR_POLL_SECONDS)
    return chosen_count > 0


def make_refill_job(server: ServerContext, project: Project, account: int | None = None) -> Callable[[], int | None]:
    """Choosing the next pairs of a project, or those for one judge, as a piece of work for another thread."""
    from ringtrue.service.collect.active_pairs import refill_pairs

    return lambda: refill_pairs(server.store, project, now=server.clock(), rng=np.random.default_rng(), account=account)


def load_task(connection: Connection, context: RequestContext, task: int) -> TaskState:
    """A task of this judge in this project."""
    return require_task_role(context, get_task_state(connection, task, context.person.id))


def require_task_role(context: RequestContext, state: TaskState) -> TaskState:
    """Refuse a task of another project, or of a queue where this person does not judge any more.

    Asked after a write, in the same piece of work, it takes back what was written.
    """
    if state.project != context.project.id:
        raise NotFoundError("no-such-task", "there is no such task for you in this project")
    context.require("gold" if state.queue == "gold" else "judge")
    return state


def load_judge_screen(connection: Connection, context: RequestContext, task: int) -> JudgeScreen:
    """The next question of a task, with its documents made ready."""
    state = load_task(connection, context, task)
    question = load_next_question(connection, task, context.person.id) if state.closed is None and state.open else None
    if question is None:
        return JudgeScreen(context=context, state=state)
    settings = context.project.settings
    patterns = compile_query_patterns(question.query_text or question.query) if settings.highlight else ()
    right = None if question.right is None else make_document_view(question.right, patterns, html=settings.html)
    first = make_document_view(question.left, patterns, html=settings.html)
    code_terms: tuple[Note, ...] = ()
    if context.person.kind == "crowd":
        code_terms = tuple(
            describe_code_terms(settings, load_code_offer(connection, context.project.id, context.person.id))
        )
    return JudgeScreen(context=context, state=state, question=question, first=first, right=right, code_terms=code_terms)


def is_past_deadline(screen: JudgeScreen) -> bool:
    """Whether the time limit of the task has passed."""
    return screen.state.deadline is not None and screen.context.now > screen.state.deadline


def screen_variables(judge_screen: JudgeScreen) -> dict[str, Any]:
    """What the template of the judge's screen needs."""
    context, state, question = judge_screen.context, judge_screen.state, judge_screen.question
    assert question is not None
    project = context.project
    seconds_left = None if state.deadline is None else max(state.deadline - context.now, 0.0)
    return {
        "project": project,
        "state": state,
        "shown": question,
        "first": judge_screen.first,
        "right": judge_screen.right,
        "query": question.query_text or question.query,
        "number": state.size - state.open + 1,
        "left": None if seconds_left is None else round(seconds_left),
        "time_left": "" if seconds_left is None else format_time_left(seconds_left),
        "since": sign_shown_time(context.server, question.assignment, context.now),
        "answers": render_answer_panel(
            project.scale,
            project.guidelines,
            shortcuts=project.settings.shortcuts,
            first=state.open == state.size,
            code_terms=judge_screen.code_terms,
        ),
    }
