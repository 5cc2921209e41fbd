"""The judge's screens: the next question, the answer to it, undoing.

`judge` and `answer` are asked for all the time. Each goes to the database once, with who it is and what is wanted in
the same transaction; the address names the task, so that looking at the next question writes nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from ringtrue.errors import ConflictError, LateError, ReadOnlyError, UnavailableError, UsageError
from ringtrue.messages import Note
from ringtrue.service.store.answers import record_answer, undo_last_answer
from ringtrue.service.store.completion import load_code_offer, load_task_work
from ringtrue.service.store.records import Answer
from ringtrue.service.store.tasks import close_task, find_open_task, find_task_of_question, load_question
from ringtrue.service.web.auth.anonymous_forms import ANSWER_FIELDS
from ringtrue.service.web.auth.dependencies import JudgeAccess, Member, RequestContext, SessionJudge
from ringtrue.service.web.errors import wants_json
from ringtrue.service.web.judge.addresses import parse_number, parse_optional_number, resolve_queue, task_path
from ringtrue.service.web.judge.code_terms import describe_code_terms
from ringtrue.service.web.judge.end_pages import all_answered_page, time_over_page
from ringtrue.service.web.judge.handing_in import load_work_and_completion, settle
from ringtrue.service.web.judge.screen import (
    JudgeScreen,
    is_past_deadline,
    is_unseen,
    load_judge_screen,
    load_task,
    read_shown_time,
    require_task_role,
    round_to_hundredths,
    screen_variables,
)
from ringtrue.service.web.judge.start_page import show_start_page
from ringtrue.service.web.responses import render, see_other
from ringtrue.service.web.safe_html import render_guidelines

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import ShownQuestion, TaskState

AnswerKind: TypeAlias = Literal["answer", "unsure", "skip"]

router = APIRouter(include_in_schema=False)
FORM_FIELDS = ("csrf", *ANSWER_FIELDS)
MESSAGES = {
    "unseen": Note(
        "answer-unseen", "your answer came before this question could be seen, and was not taken. Answer it now"
    ),
    "late": Note("answer-late", "your last answer came too late: it is kept, but does not count"),
    "undone": Note("answer-undone", "your last answer is undone. Answer again"),
    "stays": Note("nothing-to-undo", "there is nothing to undo"),
    "reopened": Note("questions-reopened", "these questions are open again"),
}


@router.get("/p/{project}/judge")
async def judge(request: Request, access: SessionJudge) -> Response:
    """The next question of a task; without a task, of the one that is open. Nothing is begun by it."""
    task, queue = parse_optional_number(request.query_params.get("task")), request.query_params.get("queue")
    open_screen = await access.read(lambda connection, context: _load_screen(connection, context, task, queue))
    if open_screen is None:
        return await show_start_page(request, access, queue)
    screen = open_screen
    message = MESSAGES.get(request.query_params.get("said", ""))
    if screen.state.closed is None and is_past_deadline(screen):
        try:
            screen = await access.write(lambda connection, context: _end_task(connection, context, screen.state.id))
        except ReadOnlyError as error:  # the next visit, or the server by itself, closes it; no code is shown before
            work = await access.read(lambda connection, _: load_task_work(connection, screen.state.id)[0])
            return time_over_page(request, screen, work, None, error.note)
    if screen.state.closed is not None and screen.state.outcome != "expired":
        return see_other(f"/p/{screen.context.project.name}/done?task={screen.state.id}")
    if screen.state.closed is not None or screen.question is None:
        work, completion = await access.read(lambda c, context: load_work_and_completion(c, context, screen.state.id))
        if screen.state.closed is None:
            return all_answered_page(request, screen, work, completion, message)
        return time_over_page(request, screen, work, await settle(access, screen.state.id), message)
    return render(request, "judge.html", **screen_variables(screen), message=message)


@router.post("/p/{project}/answer")
async def answer(request: Request, access: SessionJudge) -> Response:
    """Keep an answer, and go on to the next question; one that comes before its question can be seen is asked again."""
    form = {name: value for name in FORM_FIELDS if isinstance(value := access.form.get(name), str)}
    try:
        assignment, version = parse_number(form.get("assignment")), parse_number(form.get("version"), least=0)
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
        return render(
            request,
            "resend.html",
            status=503,
            headers={"Retry-After": "2"},
            fields=form.items(),
            why=error.note,
            action=request.url.path,
        )
    next_path = task_path(request.path_params["project"], state.id, message_key)
    return JSONResponse({"next": next_path}) if wants_json(request) else see_other(next_path)


@router.post("/p/{project}/undo")
async def undo_answer(request: Request, access: SessionJudge) -> Response:
    """Open the last question again; sent twice, it is done once."""
    task, still_open = parse_number(access.form.get("task")), parse_optional_number(access.form.get("open"), least=0)

    def work(connection: Connection, context: RequestContext) -> None:
        if load_task(connection, context, task).open == still_open or still_open is None:
            undo_last_answer(connection, context.person.id, task, now=context.now)

    message_key = "undone"
    try:
        await access.write(work)
    except (ConflictError, LateError):
        message_key = "stays"
    return see_other(task_path(request.path_params["project"], task, message_key))


@router.get("/p/{project}/guidelines")
async def guidelines_page(request: Request, context: Member) -> Response:
    """The guidelines on a page of their own."""
    offer = await context.read(lambda c: load_code_offer(c, context.project.id, context.person.id))
    is_judge = context.may("judge") or context.may("gold")
    start = f"/p/{context.project.name}/judge" if is_judge else None
    guidelines_html = render_guidelines(context.project.guidelines, top=2)
    return render(
        request,
        "guidelines.html",
        project=context.project,
        guidelines=guidelines_html,
        start=start,
        code_terms=describe_code_terms(context.project.settings, offer),
    )


def _parse_answer_kind(form: dict[str, str]) -> AnswerKind:
    """What a form says by which of its buttons was used: one with an answer, one with a reason, or one to skip."""
    kind = form.get("kind") or ("unsure" if form.get("reason") and "answer" not in form else "answer")
    if kind not in get_args(AnswerKind):
        raise UsageError("unknown-answer-kind", f"expected an answer, unsure or skip, found '{kind}'", parameter="kind")
    return cast(AnswerKind, kind)


def _parse_seconds(text: str | None) -> float | None:
    """Seconds that a browser measured; None when it did not."""
    try:
        seconds = float(text or "nan")
    except ValueError:
        return None
    return round_to_hundredths(seconds) if math.isfinite(seconds) and seconds >= 0 else None


def _load_screen(
    connection: Connection, context: RequestContext, task: int | None, queue: str | None
) -> JudgeScreen | None:
    """The screen of a task, or of the one that is open; None where none is."""
    if task is None:
        open_task = find_open_task(connection, context.project.id, context.person.id, resolve_queue(context, queue))
        if open_task is None:
            return None
        task = open_task.id
    return load_judge_screen(connection, context, task)


def _end_task(connection: Connection, context: RequestContext, task: int) -> JudgeScreen:
    """Close a task whose time is over."""
    close_task(connection, task, "expired", now=context.now)
    return JudgeScreen(context=context, state=load_task(connection, context, task))


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
        more=task_path(context.project.name, state.id),
    )
