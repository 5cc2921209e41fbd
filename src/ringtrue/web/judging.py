"""The judge's screens: the next question, the answer to it, undoing, handing in.

`judge` and `answer` are asked for all the time. Each goes to the database once, with who it is and what is wanted in
the same transaction; the address names the task, so that looking at the next question writes nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from ringtrue.errors import ConflictError, LateError, UnavailableError, UsageError
from ringtrue.store.answering import hand_in, record_answer, undo
from ringtrue.store.assigning import shown_at, task_state
from ringtrue.store.completing import is_from_prolific
from ringtrue.store.inviting import completion_code
from ringtrue.store.values import Answer
from ringtrue.web.asking import seconds_between
from ringtrue.web.faults import is_api
from ringtrue.web.pages import render, see_other
from ringtrue.web.questions import Question, is_over, opened, question_of, screen, task_of
from ringtrue.web.reading import guidelines_as_html
from ringtrue.web.visitors import Gate, Here, judge_gate, member_of
from ringtrue.wording import counted

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.store.values import Saved, Shown, TaskState

__all__ = ["router"]

Kind: TypeAlias = Literal["answer", "unsure", "skip"]

router = APIRouter(include_in_schema=False)
AtGate = Annotated[Gate, Depends(judge_gate)]
LARGEST = 2**63 - 1  # a number of the database
FIELDS = ("csrf", "task", "assignment", "version", "kind", "answer", "reason", "seconds", "away", "since")
SAID = {
    "late": "Your last answer came too late: it is kept, but does not count.",
    "undone": "Your last answer is undone. Answer again.",
    "stays": "There is nothing to undo, or another judge has taken the question meanwhile.",
}
PROLIFIC = "https://app.prolific.com/submissions/complete?cc="


@router.get("/p/{project}/judge")
async def judge(request: Request, gate: AtGate) -> Response:
    """The next question of a task; without a task, of the one that is open or of a new one."""
    task = _number_or_none(request.query_params.get("task"))
    if task is not None:
        found = await gate.read(lambda connection, here: question_of(connection, here, task))
    else:
        try:
            begun = await opened(gate, request.query_params.get("queue"))
        except LateError as error:
            return _nothing(request, "This project is closed", f"{error}. Thank you for your help.", status=410)
        if begun is None:
            return _nothing(
                request, "Nothing left to judge", "You have seen all there is for you at the moment. Thank you.",
                "New questions may come when other judges leave theirs.",
            )  # fmt: skip
        found = begun
    message = SAID.get(request.query_params.get("said", ""))
    if found.state.closed is not None and found.state.outcome != "expired":
        return see_other(f"/p/{found.here.project.name}/done?task={found.state.id}")
    if found.state.closed is not None or (found.shown is not None and is_over(found)):
        return _over(request, found, message)
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
            return record_answer(connection, here.person.id, assignment, version, said, now=here.now)

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


@router.post("/p/{project}/undo")
async def take_back(request: Request, gate: AtGate) -> Response:
    """Open the last question again; sent twice, it is done once."""
    task, still_open = _number(gate.form.get("task")), _number_or_none(gate.form.get("open"), least=0)

    def work(connection: Connection, here: Here) -> None:
        if still_open is None or task_state(connection, task, here.person.id).open == still_open:
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

    def work(connection: Connection, here: Here) -> tuple[Question, str | None, bool]:
        state = task_of(connection, here, task)
        # A task that was forgotten to be handed in was closed without a code.
        code = state.code or completion_code(connection, here.project.id, here.person.id)
        prolific = is_from_prolific(connection, here.project.id, here.person.id)
        return Question(here=here, state=state), code, prolific

    found, code, from_prolific = await gate.read(work)
    if found.state.closed is None or found.state.outcome == "expired":
        return see_other(_to(found.here.project.name, task))
    return render(
        request, "task_done.html", project=found.here.project, state=found.state, message=None, code=code,
        prolific=f"{PROLIFIC}{quote(code, safe='')}" if code and from_prolific else None,
        more=None if code else _new_task(found), answered=counted(found.state.size, "question"),
    )  # fmt: skip


@router.get("/p/{project}/guidelines")
async def guidelines(request: Request, here: Annotated[Here, Depends(member_of)]) -> Response:
    """The guidelines on a page of their own."""
    judges = here.may("judge") or here.may("gold")
    start = f"/p/{here.project.name}/judge" if judges else None
    shown = guidelines_as_html(here.project.guidelines, top=2)
    return render(request, "guidelines.html", project=here.project, guidelines=shown, start=start)


def _to(project: str, task: int, said: str | None = None) -> str:
    return f"/p/{project}/judge?task={task}{'' if said is None else f'&said={said}'}"


def _new_task(found: Question) -> str:
    return f"/p/{found.here.project.name}/judge?queue={found.state.queue}"


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
    return found if math.isfinite(found) and found >= 0 else None


def _nothing(request: Request, heading: str, *sentences: str, status: int = 200) -> Response:
    here: Here = request.state.here
    return render(
        request, "nothing_left.html", status=status, project=here.project, heading=heading, sentences=sentences,
        message=None, more=None, more_name=None,
    )  # fmt: skip


def _over(request: Request, found: Question, message: str | None) -> Response:
    """The time of a task has ended: what was answered stays, and the rest goes to others."""
    return render(
        request, "nothing_left.html", status=410, project=found.here.project, heading="The time of this task is over",
        sentences=(
            "The answers that you gave in time are kept, and count. The questions that were left go to other judges.",
        ),
        message=message, more=_new_task(found), more_name="Begin another task",
    )  # fmt: skip


async def _stale(request: Request, gate: Gate, assignment: int, form: dict[str, str]) -> Response:
    """Another answer is saved than the one that was now chosen: both are shown, and the judge decides."""
    task = _number_or_none(form.get("task"))

    def work(connection: Connection, here: Here) -> tuple[Here, Shown, TaskState | None]:
        shown = shown_at(connection, assignment, here.person.id)
        return here, shown, None if task is None else task_of(connection, here, task)

    here, shown, state = await gate.read(work)
    name_of = here.project.scale.name_of
    chosen = {"unsure": "Can’t tell", "skip": "Skip"}.get(_kind(form)) or name_of(form.get("answer", ""))
    documents = [("Document" if shown.right is None else "Left", shown.left), ("Right", shown.right)]
    changeable = state is None or state.closed is None
    return render(
        request, "stale.html", status=409, project=here.project, query=shown.query_text or shown.query, chosen=chosen,
        documents=[(name, one.title or one.url or "without a title") for name, one in documents if one is not None],
        saved="No answer: skipped, undone or can’t tell" if shown.answer is None else name_of(shown.answer),
        fields=(form | {"version": str(shown.version)}).items() if changeable else None,
        more=f"/p/{here.project.name}/judge" if task is None else _to(here.project.name, task),
    )  # fmt: skip
