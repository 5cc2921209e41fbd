"""What a judge sees: the next question with its documents and buttons, and the pages at the end of judging.

Crowd workers find their way back on each of the last. Whoever has answered something is shown the completion code:
whether it is paid for is for the owner to say, who sees how each task ended.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from ringtrue.errors import NotFoundError, UnavailableError
from ringtrue.formatting.phrases import format_count
from ringtrue.service.store.tasks import get_task_state, load_next_question
from ringtrue.service.web.responses import TEMPLATES, render
from ringtrue.service.web.safe_html import DocumentView, compile_query_patterns, make_document_view, render_guidelines

if TYPE_CHECKING:
    from fastapi import Request, Response
    from sqlalchemy import Connection

    from ringtrue.service.store.invitations import CrowdWorker
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
PROLIFIC_RETURN_URL = "https://app.prolific.com/submissions/complete?cc="
NOTHING_LEFT = (
    "You have seen all there is for you at the moment. Thank you.",
    "New questions may come when other judges leave theirs.",
)
NOTHING_LEFT_FOR_CROWD = ("Everything is judged, or in the hands of others. Thank you for coming.",)
RETURN_SUBMISSION = (
    "There is no completion code, as you have answered nothing here: return your submission on the platform."
)
REPORT_FINISHED = "Go back to the page that brought you here, and say there that you are finished."


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
    """A task, and the question of it that is to be shown; None when all are answered."""

    context: RequestContext
    state: TaskState
    question: ShownQuestion | None = None
    first: DocumentView | None = None
    right: DocumentView | None = None


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
def render_answer_panel(scale: Scale, guidelines: str, *, shortcuts: bool, first: bool) -> Markup:
    """The lower part of the judge's screen; `first` when there is nothing to undo yet. It takes half a page's time."""
    html = TEMPLATES.get_template("answers.html").render(
        buttons=make_buttons(scale),
        reasons=UNSURE_REASONS,
        shortcuts=shortcuts,
        first=first,
        guidelines=render_guidelines(guidelines, top=3) if guidelines.strip() else None,
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
    while (chosen_count := await server.compute(make_refill_job(server, project, account))) is None:
        if time.monotonic() >= deadline:
            raise PairsPendingError("new pairs are being chosen; ask again in a moment")
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
        raise NotFoundError("there is no such task for you in this project")
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
    return JudgeScreen(context=context, state=state, question=question, first=first, right=right)


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
            project.scale, project.guidelines, shortcuts=project.settings.shortcuts, first=state.open == state.size
        ),
    }


def thanks_page(request: Request, screen: JudgeScreen, worker: CrowdWorker | None) -> Response:
    """A task was handed in."""
    code = screen.state.code or (worker.code if worker is not None else None)
    return render(
        request,
        "task_done.html",
        project=screen.context.project,
        state=screen.state,
        message=None,
        code=code,
        prolific=_prolific_return_url(code, worker),
        more=None if code else _new_task_path(screen),
        answered=format_count(screen.state.size, "question"),
    )


def time_over_page(request: Request, screen: JudgeScreen, worker: CrowdWorker | None, message: str | None) -> Response:
    """The time of a task has ended: what was answered stays, and the rest goes to others."""
    return _no_task_page(
        request,
        screen.context.project,
        worker,
        "The time of this task is over",
        "The answers that you gave in time are kept, and count. The questions that were left go to other judges.",
        status=410,
        message=message,
        more=_new_task_path(screen),
    )


def _no_task_page(
    request: Request,
    project: Project,
    worker: CrowdWorker | None,
    heading: str,
    *sentences: str,
    status: int = 200,
    message: str | None = None,
    more: str | None = None,
) -> Response:
    code = None
    if worker is not None:
        code = worker.code if worker.has_answered else None
        if code is None:
            sentences = (*sentences, REPORT_FINISHED if worker.has_answered else RETURN_SUBMISSION)
    return render(
        request,
        "nothing_left.html",
        status=status,
        project=project,
        heading=heading,
        sentences=sentences,
        message=message,
        more=None if code else more,
        more_name="Begin another task",
        code=code,
        prolific=_prolific_return_url(code, worker),
        home=worker is None,
    )


def nothing_left_page(request: Request, project: Project, worker: CrowdWorker | None) -> Response:
    """No task could be made for this judge."""
    sentences = NOTHING_LEFT if worker is None else NOTHING_LEFT_FOR_CROWD
    return _no_task_page(request, project, worker, "Nothing left to judge", *sentences)


def closed_page(request: Request, project: Project, worker: CrowdWorker | None, reason: str) -> Response:
    """The owner has closed the project."""
    return _no_task_page(
        request, project, worker, "This project is closed", f"{reason}. Thank you for your help.", status=410
    )


def waiting_page(request: Request, project: Project) -> Response:
    """Pairs are being chosen: the browser looks again by itself."""
    return render(
        request,
        "nothing_left.html",
        status=503,
        headers={"Retry-After": "2", "Refresh": "5"},
        project=project,
        heading="New pairs are being chosen",
        sentences=("This takes a moment. The page then goes on by itself.",),
        message=None,
        more=f"{request.url.path}?{request.url.query}",
        more_name="Look again",
        code=None,
        prolific=None,
        home=False,
    )


def _prolific_return_url(code: str | None, worker: CrowdWorker | None) -> str | None:
    return (
        f"{PROLIFIC_RETURN_URL}{quote(code, safe='')}" if code and worker is not None and worker.from_prolific else None
    )


def _new_task_path(screen: JudgeScreen) -> str:
    return f"/p/{screen.context.project.name}/judge?queue={screen.state.queue}"
