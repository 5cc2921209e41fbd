"""The pages at the end of judging: all answered, handed in, time over, nothing left, project closed.

Crowd workers find their way back on each of them, with the completion code that they earned or what is missing for it.
Nothing there tells which questions were traps, nor how many of them were passed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.store.completion import find_mendable_shortfalls
from ringtrue.service.web.responses import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import Request, Response

    from ringtrue.service.store.completion import Completion, Shortfall, TaskWork
    from ringtrue.service.store.records import Project
    from ringtrue.service.web.judge.screen import JudgeScreen

PROLIFIC_RETURN_URL = "https://app.prolific.com/submissions/complete?cc="
NOTHING_LEFT = (
    Note("all-seen", "you have seen all there is for you at the moment. Thank you"),
    Note("may-come-back", "new questions may come when other judges leave theirs"),
)
NOTHING_LEFT_FOR_CROWD = (Note("all-taken", "everything is judged, or in the hands of others. Thank you for coming"),)
NOTHING_ANSWERED = Note(
    "nothing-answered",
    "there is no completion code, as you have answered nothing here: return your submission on the platform",
)
HAND_IN = Note("ready-to-hand-in", "hand them in when you are content with them; after that they stay as they are")
GO_BACK_OR_RETURN = Note("go-back-or-return", "go back and answer the rest, or return your submission on the platform")
GO_BACK_OR_PARTIAL = Note(
    "go-back-or-partial-code",
    "go back and answer the rest, or hand in what there is for the code for part of the work",
)
NO_CODE = Note("no-code-earned", "there is no completion code for this: return your submission on the platform")
REPORT_FINISHED = Note(
    "report-finished", "go back to the page that brought you here, and report there that you are finished"
)
QUALITY_NOT_MET = Note("quality-not-met", "your work did not meet the quality requirements of this project")
STOP_MEANS = Note(
    "stop-is-final",
    "what you answered is kept, and cannot be changed any more. The questions that are open go to other judges",
)
STOP_WITHOUT_CODE = Note("stop-without-code", "if you hand in now, there is no completion code for this task")
STOP_WITH_PARTIAL = Note(
    "stop-with-partial-code",
    "if you hand in now, you get the code for part of the work, and not the completion code",
)
STOP_WITH_ENOUGH = Note("stop-with-code", "these are enough answers for the completion code")
STOP_KEEPS_CODE = Note("stop-keeps-code", "you keep the completion code that you have")
HANDED_IN = Note("task-handed-in", "your task is handed in")
KEPT_IN_TIME = Note("answers-kept", "what you answered in time is kept")
REST_GOES_ON = Note("rest-goes-on", "the questions that were left go to other judges")
THANKS = Note("thanks", "thank you for your help")
ONE_CODE_EACH = Note("one-code-each", "your work is done: each worker has one code, and this is yours")
CODE_FOR_WHOLE_TASK = Note(
    "code-for-whole-task", "another task, done as a whole, brings the completion code in its place"
)
MORE_WITHOUT_CODE = Note("no-further-code", "you may go on with further tasks. They bring no other code")
MOMENT = Note("takes-a-moment", "this takes a moment")
LOOK_AGAIN_SECONDS = 5  # after which a page that waits for pairs asks again by itself


def describe_work(work: TaskWork) -> Note:
    """What was done of a task.

    Examples:
        >>> from ringtrue.service.store.completion import TaskWork
        >>> print(describe_work(TaskWork(questions=20, answered=12, unsure=2, skipped=6)))
        you answered 12 of 20 questions, chose “Can’t tell” for 2 and skipped 6
        >>> print(describe_work(TaskWork(questions=1, answered=1, unsure=0, skipped=0)))
        you answered 1 of 1 question
    """
    parts = [f"answered {work.answered} of {format_count(work.questions, 'question')}"]
    parts += [f"chose “Can’t tell” for {work.unsure}"] if work.unsure else []
    parts += [f"skipped {work.skipped}"] if work.skipped else []
    return Note("work-done", f"you {' and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))}")


def describe_shortfalls(missing: Iterable[Shortfall], work: TaskWork) -> list[Note]:
    """What was done, and what is missing for a completion code, in words; of traps and time no more than that it is.

    Examples:
        >>> from ringtrue.service.store.completion import Shortfall, TaskWork
        >>> done = TaskWork(questions=20, answered=12, unsure=0, skipped=0)
        >>> print(*describe_shortfalls([Shortfall("answered", 12, 20)], done))
        you answered 12 of 20 questions; the completion code needs 20
        >>> done = TaskWork(questions=20, answered=20, unsure=0, skipped=0)
        >>> [note.code for note in describe_shortfalls([Shortfall("traps", 1, 4), Shortfall("time", 20, 60)], done)]
        ['work-done', 'quality-not-met']
    """
    shortfalls = {shortfall.kind: shortfall for shortfall in missing}
    notes = [describe_work(work)]
    if "answered" in shortfalls:
        counted = ", “Can’t tell” included" if work.unsure else ""
        needed = f"{shortfalls['answered'].needed:g}{counted}"
        notes = [Note("code-needs-answers", f"{notes[0].text}; the completion code needs {needed}")]
    if "unsure" in shortfalls:
        most = shortfalls["unsure"].needed
        count = "counts" if most == 1 else "count"
        notes.append(
            Note("too-many-unsure", f"for the completion code, at most {most:g} “Can’t tell” {count} as answered")
        )
    if shortfalls.keys() & {"traps", "time"}:
        notes.append(QUALITY_NOT_MET)
    return notes


def all_answered_page(
    request: Request, screen: JudgeScreen, work: TaskWork, completion: Completion | None, message: Note | None
) -> Response:
    """No question of a task is open: it can be handed in, or what was skipped be answered after all."""
    missing = () if completion is None else find_mendable_shortfalls(completion.missing)
    what_next = HAND_IN
    if completion is not None and missing:
        what_next = GO_BACK_OR_PARTIAL if completion.offers_partial else GO_BACK_OR_RETURN
    is_all_answered = work.answered == work.questions
    heading = f"All {work.questions} answered" if is_all_answered and work.questions > 1 else None
    return render(
        request,
        "all_answered.html",
        project=screen.context.project,
        state=screen.state,
        message=message,
        page="all-answered",
        heading=heading or f"{work.answered} of {work.questions} answered",
        sentences=[*([] if is_all_answered else describe_shortfalls(missing, work)), what_next],
        reopen=work.skipped > 0 or bool(missing),
    )


def stop_page(request: Request, screen: JudgeScreen, work: TaskWork, completion: Completion | None) -> Response:
    """Some questions of a task are open: what it means to hand it in as it is."""
    sentences = [describe_work(work)]
    if completion is not None:
        missing = find_mendable_shortfalls(completion.missing)
        sentences = describe_shortfalls(missing, work)
        if completion.kind == "full":
            sentences.append(STOP_KEEPS_CODE)
        elif missing:
            gets_partial = completion.offers_partial or completion.kind == "partial"
            sentences.append(STOP_WITH_PARTIAL if gets_partial else STOP_WITHOUT_CODE)
        else:
            sentences.append(STOP_WITH_ENOUGH)
    return render(
        request, "stop.html", project=screen.context.project, state=screen.state, sentences=[*sentences, STOP_MEANS]
    )


def thanks_page(request: Request, screen: JudgeScreen, work: TaskWork, completion: Completion | None) -> Response:
    """A task was handed in, whole or early."""
    return _end_page(
        request,
        screen.context.project,
        completion,
        "Thank you" if work.has_answers else "Handed in",
        HANDED_IN,
        page="handed-in",
        work=work,
        more=screen.state.queue,
        more_name="Go on with another task",
    )


def time_over_page(
    request: Request, screen: JudgeScreen, work: TaskWork, completion: Completion | None, message: Note | None
) -> Response:
    """The time of a task has ended: what was answered stays, and the rest goes to others."""
    sentences = [KEPT_IN_TIME] if work.has_answers else []
    if work.answered + work.unsure + work.skipped < work.questions:
        sentences.append(REST_GOES_ON)
    return _end_page(
        request,
        screen.context.project,
        completion,
        "The time of this task is over",
        *sentences,
        page="time-over",
        work=work,
        status=410,
        message=message,
        more=screen.state.queue,
    )


def code_page(request: Request, project: Project, completion: Completion, *, is_anything_left: bool) -> Response:
    """A worker who has a code comes back: the code is shown, and no task is begun."""
    heading, sentences = "Your work is done", list[Note]()
    if completion.kind == "partial":
        heading, sentences = "You have the code for part of the work", [CODE_FOR_WHOLE_TASK]
    elif completion.code:
        heading, sentences = "You have the completion code", [ONE_CODE_EACH]
    more = "main" if is_anything_left else None
    return _end_page(request, project, replace(completion, missing=()), heading, *sentences, page="code", more=more)


def nothing_left_page(request: Request, project: Project, completion: Completion | None) -> Response:
    """No task could be made for this judge."""
    sentences = NOTHING_LEFT if completion is None else NOTHING_LEFT_FOR_CROWD
    return _end_page(request, project, completion, "Nothing left to judge", *sentences, page="nothing-left")


def closed_page(request: Request, project: Project, completion: Completion | None) -> Response:
    """The owner has closed the project."""
    reason = Note("project-closed", f"'{project.title}' is closed: there is nothing more to judge")
    heading = "This project is closed"
    return _end_page(request, project, completion, heading, reason, THANKS, page="closed", status=410)


def waiting_page(request: Request, project: Project) -> Response:
    """Pairs are being chosen: the browser looks again by itself."""
    return render(
        request,
        "end.html",
        status=503,
        headers={"Retry-After": "2"},
        project=project,
        page="choosing-pairs",
        heading="New pairs are being chosen",
        sentences=[MOMENT],
        message=None,
        more="main",
        more_name="Look again",
        again_after=LOOK_AGAIN_SECONDS,
        home=False,
        **_describe_code(None),
    )


def _end_page(
    request: Request,
    project: Project,
    completion: Completion | None,
    heading: str,
    *sentences: Note,
    page: str,
    work: TaskWork | None = None,
    status: int = 200,
    message: Note | None = None,
    more: str | None = None,
    more_name: str = "Begin another task",
) -> Response:
    """`more` is the queue of another task that is offered, where a worker may have one."""
    more = more if completion is None or completion.may_go_on else None
    has_all = completion is not None and completion.kind == "full" and more is not None
    return render(
        request,
        "end.html",
        status=status,
        project=project,
        page=page,
        heading=heading,
        sentences=[*sentences, *_describe_end(completion, work), *([MORE_WITHOUT_CODE] if has_all else [])],
        message=message,
        more=more,
        more_name=more_name,
        again_after=None,
        home=completion is None,
        **_describe_code(completion),
    )


def _describe_end(completion: Completion | None, work: TaskWork | None) -> list[Note]:
    """What was done of a task, and what a crowd worker without a code is told."""
    if completion is None:
        return [] if work is None else [describe_work(work)]
    work = work or completion.work
    sentences = [] if work is None else describe_shortfalls(completion.missing, work)
    if completion.kind is None:
        sentences.append(NO_CODE if work is not None and work.has_answers else NOTHING_ANSWERED)
    elif completion.code is None:
        sentences.append(REPORT_FINISHED)
    return sentences


def _describe_code(completion: Completion | None) -> dict[str, Any]:
    """What the templates say about a completion code."""
    if completion is None or completion.code is None:
        return {"code": None, "partial": False, "prolific": None}
    url = f"{PROLIFIC_RETURN_URL}{quote(completion.code, safe='')}" if completion.from_prolific else None
    return {"code": completion.code, "partial": completion.kind == "partial", "prolific": url}
