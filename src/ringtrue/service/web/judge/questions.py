"""The judge's screens: the next question, the answer to it, undoing, handing in.

`judge` and `answer` are asked for all the time. Each goes to the database once, with who it is and what is wanted in
the same transaction; the address names the task, so that looking at the next question writes nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from ringtrue.errors import ConflictError, LateError, NotFoundError, ReadOnlyError, UnavailableError, UsageError
from ringtrue.service.store.answers import record_answer, reopen_questions, undo_last_answer
from ringtrue.service.store.completion import (
    Completion,
    assess_completion,
    hand_in_task,
    load_task_work,
    settle_completion,
)
from ringtrue.service.store.records import MAX_ID, Answer, Queue
from ringtrue.service.store.tasks import (
    close_task,
    find_task_of_question,
    get_or_create_task,
    has_had_task,
    load_question,
)
from ringtrue.service.web.auth.anonymous_forms import ANSWER_FIELDS
from ringtrue.service.web.auth.dependencies import JudgeAccess, Member, RequestContext, SessionJudge
from ringtrue.service.web.errors import wants_json
from ringtrue.service.web.judge.end_pages import (
    all_answered_page,
    closed_page,
    nothing_left_page,
    thanks_page,
    time_over_page,
    waiting_page,
)
from ringtrue.service.web.judge.screen import (
    JudgeScreen,
    PairsPendingError,
    is_past_deadline,
    is_unseen,
    load_judge_screen,
    load_task,
    make_refill_job,
    read_shown_time,
    require_task_role,
    round_to_hundredths,
    screen_variables,
    wait_for_pairs,
)
from ringtrue.service.web.responses import render, see_other
from ringtrue.service.web.safe_html import render_guidelines

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, ShownQuestion, TaskState

AnswerKind: TypeAlias = Literal["answer", "unsure", "skip"]

router = APIRouter(include_in_schema=False)
FORM_FIELDS = ("csrf", *ANSWER_FIELDS)
MESSAGES = {
    "unseen": "Your answer came before this question could be seen, and was not taken. Answer it now.",
    "late": "Your last answer came too late: it is kept, but does not count.",
    "undone": "Your last answer is undone. Answer again.",
    "stays": "There is nothing to undo.",
    "reopened": "These questions are open again.",
}


@router.get("/p/{project}/judge")
async def judge(request: Request, access: SessionJudge) -> Response:
    """The next question of a task; without a task, of the one that is open or of a new one.

    The first task in a project is begun by a button, below the guidelines.
    """
    task, queue = _parse_optional_number(request.query_params.get("task")), request.query_params.get("queue")
    if task is not None:
        screen = await access.read(lambda connection, context: load_judge_screen(connection, context, task))
    elif "begin" not in request.query_params and await access.read(
        lambda c, context: _is_first_visit(c, context, queue)
    ):
        project: Project = request.state.context.project
        guidelines_html = render_guidelines(project.guidelines)
        return render(request, "start.html", project=project, queue=queue, guidelines=guidelines_html)
    else:
        try:
            opened_screen = await _open_judge_screen(access, queue)
        except LateError as error:
            return closed_page(request, request.state.context.project, await _settle(access), str(error))
        except PairsPendingError:
            return waiting_page(request, request.state.context.project)
        if opened_screen is None:
            return nothing_left_page(request, request.state.context.project, await _settle(access))
        screen = opened_screen
    message = MESSAGES.get(request.query_params.get("said", ""))
    if screen.state.closed is None and is_past_deadline(screen):
        try:
            screen = await access.write(lambda connection, context: _end_task(connection, context, screen.state.id))
        except ReadOnlyError as error:  # the next visit, or the server by itself, closes it; no code is shown before
            return time_over_page(request, screen, None, str(error))
    if screen.state.closed is not None and screen.state.outcome != "expired":
        return see_other(f"/p/{screen.context.project.name}/done?task={screen.state.id}")
    if screen.state.closed is not None:
        return time_over_page(request, screen, await _settle(access, screen.state.id), message)
    if screen.question is None:
        skipped, completion = await access.read(lambda c, context: _load_unanswered(c, context, screen.state.id))
        return all_answered_page(request, screen, completion, message, skipped=skipped)
    return render(request, "judge.html", **screen_variables(screen), message=message)


@router.post("/p/{project}/answer")
async def answer(request: Request, access: SessionJudge) -> Response:
    """Keep an answer, and go on to the next question; one that comes before its question can be seen is asked again."""
    form = {name: value for name in FORM_FIELDS if isinstance(value := access.form.get(name), str)}
    try:
        assignment, version = _parse_number(form.get("assignment")), _parse_number(form.get("version"), least=0)
        kind = _parse_answer_kind(form)
        seconds, away = _parse_seconds(form.get("seconds")), _parse_seconds(form.get("away"))

        def work(connection: Connection, context: RequestContext) -> tuple[TaskState, str | None]:
            account, now = context.person.id, context.now
            shown = read_shown_time(context.server, assignment, form.get("since", ""))
            if is_unseen(shown, now):
                task = find_task_of_question(connection, assignment, account)
                return load_task(connection, context, task), "unseen"
            given_answer = Answer(
                kind=kind,
                answer=form.get("answer") if kind == "answer" else None,
                reason=form.get("reason"),
                away=away,
                seconds=round_to_hundredths(now - shown) if seconds is None and shown is not None else seconds,
                shown=shown,
            )
            saved = record_answer(connection, account, assignment, version, given_answer, now=now)
            return require_task_role(context, saved.task), "late" if saved.late else None

        state, message_key = await access.write(work)
    except ConflictError:
        if wants_json(request):
            raise
        return await _stale_answer_page(request, access, assignment, form)
    except UnavailableError as error:
        if wants_json(request):
            raise
        message = str(error)
        return render(
            request,
            "resend.html",
            status=503,
            headers={"Retry-After": "2"},
            fields=form.items(),
            why=f"{message[:1].upper()}{message[1:]}.",
            action=request.url.path,
        )
    next_path = _task_path(request.path_params["project"], state.id, message_key)
    return JSONResponse({"next": next_path}) if wants_json(request) else see_other(next_path)


@router.post("/p/{project}/undo")
async def undo_answer(request: Request, access: SessionJudge) -> Response:
    """Open the last question again; sent twice, it is done once."""
    task, still_open = _parse_number(access.form.get("task")), _parse_optional_number(access.form.get("open"), least=0)

    def work(connection: Connection, context: RequestContext) -> None:
        if load_task(connection, context, task).open == still_open or still_open is None:
            undo_last_answer(connection, context.person.id, task, now=context.now)

    message_key = "undone"
    try:
        await access.write(work)
    except (ConflictError, LateError):
        message_key = "stays"
    return see_other(_task_path(request.path_params["project"], task, message_key))


@router.post("/p/{project}/reopen")
async def reopen(request: Request, access: SessionJudge) -> Response:
    """Open the questions again that were skipped, and those without an answer that the completion code asks for."""
    task = _parse_number(access.form.get("task"))

    def work(connection: Connection, context: RequestContext) -> int:
        load_task(connection, context, task)
        _, completion = _load_unanswered(connection, context, task)
        missing = {shortfall.kind for shortfall in completion.missing} if completion is not None else set()
        states = ("skipped", "unsure") if "unsure" in missing else ("skipped",)
        return reopen_questions(connection, context.person.id, task, *states, now=context.now)

    try:
        message_key = "reopened" if await access.write(work) else None
    except LateError:
        message_key = None
    return see_other(_task_path(request.path_params["project"], task, message_key))


@router.post("/p/{project}/hand-in")
async def hand_in(request: Request, access: SessionJudge) -> Response:
    """Close a task whose questions are all answered."""
    task = _parse_number(access.form.get("task"))

    def work(connection: Connection, context: RequestContext) -> None:
        load_task(connection, context, task)
        hand_in_task(connection, context.person.id, task, now=context.now)

    try:
        await access.write(work)
    except ConflictError:
        return see_other(_task_path(request.path_params["project"], task))
    return see_other(f"/p/{request.path_params['project']}/done?task={task}")


@router.get("/p/{project}/done")
async def done_page(request: Request, access: SessionJudge) -> Response:
    """Thanks for a task, and the code that shows a crowd platform that it was done."""
    task = _parse_number(request.query_params.get("task"))
    screen = await access.read(
        lambda connection, context: JudgeScreen(context=context, state=load_task(connection, context, task))
    )
    if screen.state.closed is None or screen.state.outcome == "expired":
        return see_other(_task_path(screen.context.project.name, task))
    return thanks_page(request, screen, await _settle(access, task))


@router.get("/p/{project}/guidelines")
async def guidelines_page(request: Request, context: Member) -> Response:
    """The guidelines on a page of their own."""
    is_judge = context.may("judge") or context.may("gold")
    start = f"/p/{context.project.name}/judge" if is_judge else None
    guidelines_html = render_guidelines(context.project.guidelines, top=2)
    return render(request, "guidelines.html", project=context.project, guidelines=guidelines_html, start=start)


async def _open_judge_screen(access: JudgeAccess, queue: str | None) -> JudgeScreen | None:
    """The open task of this judge or a new one.

    Where pairs are chosen as votes arrive, the next are chosen while this judge is at work; only who finds none left
    waits for them.
    """

    def work(connection: Connection, context: RequestContext) -> JudgeScreen | None:
        chosen_queue = _resolve_queue(context, queue)
        account, rng = context.person.id, np.random.default_rng()
        state = get_or_create_task(connection, context.project, account, queue=chosen_queue, now=context.now, rng=rng)
        return None if state is None else load_judge_screen(connection, context, state.id)

    context = await access.read(lambda _connection, context: context)
    screen = await access.write(work)
    if context.project.settings.active and context.may("judge"):
        if screen is not None:
            context.server.choose_pairs_in_background(make_refill_job(context.server, context.project))
        elif await wait_for_pairs(context.server, context.project, context.person.id):
            screen = await access.write(work)
    return screen


def _is_first_visit(connection: Connection, context: RequestContext, queue: str | None) -> bool:
    """Whether a judge is about to begin in a project: to read the guidelines comes first, and no clock runs."""
    _resolve_queue(context, queue)
    return context.project.closed is None and not has_had_task(connection, context.project.id, context.person.id)


def _resolve_queue(context: RequestContext, requested: str | None) -> str:
    if requested is None:
        return "main" if context.may("judge") else "gold"
    if requested not in get_args(Queue):
        raise NotFoundError(f"there is no queue '{requested}'; there is {' and '.join(get_args(Queue))}")
    context.require("gold" if requested == "gold" else "judge")
    return requested


def _task_path(project: str, task: int, message_key: str | None = None) -> str:
    return f"/p/{project}/judge?task={task}{'' if message_key is None else f'&said={message_key}'}"


def _parse_number(text: object, *, least: int = 1) -> int:
    """A whole number of a form or an address."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20:
        number = int(text)
        if least <= number <= MAX_ID:
            return number
    raise UsageError("this address or form is not complete; go back to your projects, and judge on from there")


def _parse_optional_number(text: object, *, least: int = 1) -> int | None:
    return None if text is None else _parse_number(text, least=least)


def _parse_answer_kind(form: dict[str, str]) -> AnswerKind:
    """What a form says by which of its buttons was used: one with an answer, one with a reason, or one to skip."""
    kind = form.get("kind") or ("unsure" if form.get("reason") and "answer" not in form else "answer")
    if kind not in get_args(AnswerKind):
        raise UsageError(f"expected an answer, unsure or skip, found '{kind}'")
    return cast(AnswerKind, kind)


def _parse_seconds(text: str | None) -> float | None:
    """Seconds that a browser measured; None when it did not."""
    try:
        seconds = float(text or "nan")
    except ValueError:
        return None
    return round_to_hundredths(seconds) if math.isfinite(seconds) and seconds >= 0 else None


async def _settle(access: JudgeAccess, task: int | None = None) -> Completion | None:
    """What a crowd worker earns by a task, or by the last one; written down before it is shown for the first time."""
    assessed = await access.read(
        lambda c, context: assess_completion(c, context.project.id, context.person.id, task),
    )
    if assessed is None or not assessed.to_grant:
        return assessed
    return await access.write(
        lambda c, context: settle_completion(c, context.project.id, context.person.id, task, now=context.now)
    )


def _end_task(connection: Connection, context: RequestContext, task: int) -> JudgeScreen:
    """Close a task whose time is over."""
    close_task(connection, task, "expired", now=context.now)
    return JudgeScreen(context=context, state=load_task(connection, context, task))


def _load_unanswered(connection: Connection, context: RequestContext, task: int) -> tuple[int, Completion | None]:
    """How many questions of a task were skipped, and how far a crowd worker is from the code."""
    work, _ = load_task_work(connection, task)
    return work.skipped, assess_completion(connection, context.project.id, context.person.id, task)


async def _stale_answer_page(request: Request, access: JudgeAccess, assignment: int, form: dict[str, str]) -> Response:
    """Another answer is saved than the one that was now chosen: both are shown, and the judge decides."""

    def work(connection: Connection, context: RequestContext) -> tuple[RequestContext, ShownQuestion, TaskState]:
        state = load_task(connection, context, find_task_of_question(connection, assignment, context.person.id))
        return context, load_question(connection, assignment, context.person.id), state

    context, question, state = await access.read(work)
    name_of = context.project.scale.name_of
    chosen_name = {"unsure": "Can’t tell", "skip": "Skip"}.get(_parse_answer_kind(form)) or name_of(
        form.get("answer", "")
    )
    documents = [("Document" if question.right is None else "Left", question.left), ("Right", question.right)]
    return render(
        request,
        "stale.html",
        status=409,
        project=context.project,
        query=question.query_text or question.query,
        chosen=chosen_name,
        documents=[
            (name, document.title or document.url or "without a title")
            for name, document in documents
            if document is not None
        ],
        saved="No answer: skipped, undone or can’t tell" if question.answer is None else name_of(question.answer),
        fields=(form | {"version": str(question.version)}).items() if state.closed is None else None,
        more=_task_path(context.project.name, state.id),
    )
