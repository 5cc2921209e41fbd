"""The judge's screens: the next question, the answer to it, undoing, handing in.

`judge` and `answer` are asked for all the time. Each goes to the database once, with who it is and what is wanted in
the same transaction; the address names the task, so that looking at the next question writes nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast, get_args

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from ringtrue.errors import ConflictError, LateError, UnavailableError, UsageError
from ringtrue.service.store.answers import hand_in, record_answer, undo
from ringtrue.service.store.crowd_workers import Worker, worker_of
from ringtrue.service.store.invitations import completion_code
from ringtrue.service.store.records import LARGEST, Answer
from ringtrue.service.store.tasks import shown_at, task_with
from ringtrue.service.web.auth.dependencies import Gate, Here, guard, judge_gate, member_of
from ringtrue.service.web.errors import is_api
from ringtrue.service.web.judge.end_pages import closed, nothing_left, soon, thanks, time_over
from ringtrue.service.web.judge.screen import (
    ChoosingError,
    Question,
    is_first,
    is_over,
    opened,
    question_of,
    require_part,
    screen,
    seconds_between,
    task_of,
    to_hundredths,
)
from ringtrue.service.web.render import render, see_other
from ringtrue.service.web.safe_html import guidelines_as_html

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project, Saved, Shown, TaskState

__all__ = ["STRAIGHT", "router"]

Kind: TypeAlias = Literal["answer", "unsure", "skip"]

router = APIRouter(include_in_schema=False)
AtGate = Annotated[Gate, Depends(judge_gate)]
FIELDS = ("csrf", "task", "assignment", "version", "kind", "answer", "reason", "seconds", "away", "since")
SAID = {
    "late": "Your last answer came too late: it is kept, but does not count.",
    "undone": "Your last answer is undone. Answer again.",
    "stays": "There is nothing to undo, or another judge has taken the question meanwhile.",
}


@router.get("/p/{project}/judge")
async def judge(request: Request, gate: AtGate) -> Response:
    """The next question of a task; without a task, of the one that is open or of a new one.

    The first task in a project is begun by a button, below the guidelines.
    """
    task, queue = _number_or_none(request.query_params.get("task")), request.query_params.get("queue")
    if task is not None:
        found = await gate.read(lambda connection, here: question_of(connection, here, task))
    elif "begin" not in request.query_params and await gate.read(lambda c, here: is_first(c, here, queue)):
        return _start(request, queue)
    else:
        try:
            begun = await opened(gate, queue)
        except LateError as error:
            return closed(request, request.state.here.project, await gate.read(_worker), str(error))
        except ChoosingError:
            return soon(request, request.state.here.project)
        if begun is None:
            return nothing_left(request, request.state.here.project, await gate.read(_worker))
        found = begun
    message = SAID.get(request.query_params.get("said", ""))
    if found.state.closed is not None and found.state.outcome != "expired":
        return see_other(f"/p/{found.here.project.name}/done?task={found.state.id}")
    if found.state.closed is not None or (found.shown is not None and is_over(found)):
        return time_over(request, found, await gate.read(_worker), message)
    if found.shown is None:
        return render(request, "task_done.html", project=found.here.project, state=found.state, message=message)
    return render(request, "judge.html", **screen(found), message=message)


@router.post("/p/{project}/answer")
async def answer(request: Request, gate: AtGate) -> Response:
    """Keep an answer, and go on to the next question."""
    form = {name: value for name in FIELDS if isinstance(value := gate.form.get(name), str)}
    try:
        assignment, version = _number(form.get("assignment")), _number(form.get("version"), least=0)
        kind = _kind(form)
        seconds, away = _measured(form.get("seconds")), _measured(form.get("away"))

        def work(connection: Connection, here: Here) -> Saved:
            passed = seconds_between(here.site, assignment, form.get("since", ""), here.now)
            said = Answer(
                kind=kind, answer=form.get("answer") if kind == "answer" else None,
                reason=form.get("reason"), away=away,
                seconds=passed if seconds is None else seconds if passed is None else min(seconds, passed),
            )  # fmt: skip
            saved = record_answer(connection, here.person.id, assignment, version, said, now=here.now)
            require_part(here, saved.task)
            return saved

        saved = await gate.write(work)
    except ConflictError:
        if is_api(request):
            raise
        return await _stale(request, gate, assignment, form)
    except UnavailableError as error:
        if is_api(request):
            raise
        words = str(error)
        return render(
            request, "resend.html", status=503, headers={"Retry-After": "2"}, fields=form.items(),
            why=f"{words[:1].upper()}{words[1:]}.", action=request.url.path,
        )  # fmt: skip
    there = _to(request.path_params["project"], saved.task.id, "late" if saved.late else None)
    return JSONResponse({"next": there}) if is_api(request) else see_other(there)


@guard
async def _judge_straight(request: Request) -> Response:
    return await judge(request, await judge_gate(request))


@guard
async def _answer_straight(request: Request) -> Response:
    return await answer(request, await judge_gate(request))


# For lanes, as these two are asked for all the time.
STRAIGHT = {("GET", "/p/{project}/judge"): _judge_straight, ("POST", "/p/{project}/answer"): _answer_straight}


@router.post("/p/{project}/undo")
async def take_back(request: Request, gate: AtGate) -> Response:
    """Open the last question again; sent twice, it is done once."""
    task, still_open = _number(gate.form.get("task")), _number_or_none(gate.form.get("open"), least=0)

    def work(connection: Connection, here: Here) -> None:
        if task_of(connection, here, task).open == still_open or still_open is None:
            undo(connection, here.person.id, task, now=here.now)

    said = "undone"
    try:
        await gate.write(work)
    except (ConflictError, LateError):
        said = "stays"
    return see_other(_to(request.path_params["project"], task, said))


@router.post("/p/{project}/hand-in")
async def give_in(request: Request, gate: AtGate) -> Response:
    """Close a task whose questions are all answered."""
    task = _number(gate.form.get("task"))

    def work(connection: Connection, here: Here) -> None:
        task_of(connection, here, task)
        code = completion_code(connection, here.project.id, here.person.id)
        hand_in(connection, here.person.id, task, now=here.now, code=code)

    try:
        await gate.write(work)
    except ConflictError:
        return see_other(_to(request.path_params["project"], task))
    return see_other(f"/p/{request.path_params['project']}/done?task={task}")


@router.get("/p/{project}/done")
async def done(request: Request, gate: AtGate) -> Response:
    """Thanks for a task, and the code that shows a crowd platform that it was done."""
    task = _number(request.query_params.get("task"))

    def work(connection: Connection, here: Here) -> tuple[Question, Worker | None]:
        return Question(here=here, state=task_of(connection, here, task)), _worker(connection, here)

    found, worker = await gate.read(work)
    if found.state.closed is None or found.state.outcome == "expired":
        return see_other(_to(found.here.project.name, task))
    return thanks(request, found, worker)


@router.get("/p/{project}/guidelines")
async def guidelines(request: Request, here: Annotated[Here, Depends(member_of)]) -> Response:
    """The guidelines on a page of their own."""
    judges = here.may("judge") or here.may("gold")
    start = f"/p/{here.project.name}/judge" if judges else None
    shown = guidelines_as_html(here.project.guidelines, top=2)
    return render(request, "guidelines.html", project=here.project, guidelines=shown, start=start)


def _to(project: str, task: int, said: str | None = None) -> str:
    return f"/p/{project}/judge?task={task}{'' if said is None else f'&said={said}'}"


def _number(text: object, *, least: int = 1) -> int:
    """A whole number of a form or an address."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20:
        number = int(text)
        if least <= number <= LARGEST:
            return number
    raise UsageError("this address or form is not complete; go back to your projects, and judge on from there")


def _number_or_none(text: object, *, least: int = 1) -> int | None:
    return None if text is None else _number(text, least=least)


def _kind(form: dict[str, str]) -> Kind:
    """What a form says by which of its buttons was used: one with an answer, one with a reason, or one to skip."""
    said = form.get("kind") or ("unsure" if form.get("reason") and "answer" not in form else "answer")
    if said not in get_args(Kind):
        raise UsageError(f"expected an answer, unsure or skip, found '{said}'")
    return cast(Kind, said)


def _measured(text: str | None) -> float | None:
    """Seconds that a browser measured; None when it did not."""
    try:
        found = float(text or "nan")
    except ValueError:
        return None
    return to_hundredths(found) if math.isfinite(found) and found >= 0 else None


def _start(request: Request, queue: str | None) -> Response:
    """What the work is, before the first task."""
    project: Project = request.state.here.project
    shown = guidelines_as_html(project.guidelines)
    return render(request, "start.html", project=project, queue=queue, guidelines=shown)


def _worker(connection: Connection, here: Here) -> Worker | None:
    return worker_of(connection, here.project.id, here.person.id)


async def _stale(request: Request, gate: Gate, assignment: int, form: dict[str, str]) -> Response:
    """Another answer is saved than the one that was now chosen: both are shown, and the judge decides."""

    def work(connection: Connection, here: Here) -> tuple[Here, Shown, TaskState]:
        state = task_of(connection, here, task_with(connection, assignment, here.person.id))
        return here, shown_at(connection, assignment, here.person.id), state

    here, shown, state = await gate.read(work)
    name_of = here.project.scale.name_of
    chosen = {"unsure": "Can’t tell", "skip": "Skip"}.get(_kind(form)) or name_of(form.get("answer", ""))
    documents = [("Document" if shown.right is None else "Left", shown.left), ("Right", shown.right)]
    return render(
        request, "stale.html", status=409, project=here.project, query=shown.query_text or shown.query, chosen=chosen,
        documents=[(name, one.title or one.url or "without a title") for name, one in documents if one is not None],
        saved="No answer: skipped, undone or can’t tell" if shown.answer is None else name_of(shown.answer),
        fields=(form | {"version": str(shown.version)}).items() if state.closed is None else None,
        more=_to(here.project.name, state.id),
    )  # fmt: skip
