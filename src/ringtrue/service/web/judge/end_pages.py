"""The pages at the end of judging: all answered, handed in, time over, nothing left, project closed.

Crowd workers find their way back on each of them, with the completion code that they earned or what is missing for it.
Nothing there tells which questions were traps, nor how many of them were passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ringtrue.formatting.phrases import format_count
from ringtrue.service.store.completion import find_mendable_shortfalls
from ringtrue.service.web.responses import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import Request, Response

    from ringtrue.service.store.completion import Completion, Shortfall
    from ringtrue.service.store.records import Project
    from ringtrue.service.web.judge.screen import JudgeScreen

PROLIFIC_RETURN_URL = "https://app.prolific.com/submissions/complete?cc="
NOTHING_LEFT = (
    "You have seen all there is for you at the moment. Thank you.",
    "New questions may come when other judges leave theirs.",
)
NOTHING_LEFT_FOR_CROWD = ("Everything is judged, or in the hands of others. Thank you for coming.",)
NOTHING_ANSWERED = (
    "There is no completion code, as you have answered nothing here: return your submission on the platform."
)
HAND_IN = "Hand them in when you are content with them; after that they stay as they are."
GO_BACK_OR_RETURN = "Go back and answer the rest, or return your submission on the platform."
GO_BACK_OR_PARTIAL = "Go back and answer the rest, or hand in what there is for the code for part of the work."
NO_CODE = "There is no completion code for this: return your submission on the platform."
REPORT_FINISHED = "Go back to the page that brought you here, and say there that you are finished."
QUALITY_NOT_MET = "Your work did not meet the quality requirements of this project."


def describe_shortfalls(missing: Iterable[Shortfall], questions: int) -> list[str]:
    """What is missing for a completion code, in words; of traps and time no more than that it is.

    Examples:
        >>> from ringtrue.service.store.completion import Shortfall
        >>> describe_shortfalls([Shortfall("answered", 12, 20)], 20)
        ['You answered 12 of 20 questions; the completion code needs 20.']
        >>> describe_shortfalls([Shortfall("traps", 1, 4), Shortfall("time", 20, 60)], 20)
        ['Your work did not meet the quality requirements of this project.']
    """
    of_all = f"of {format_count(questions, 'question')}"
    sentences = {
        "answered": "You answered {found:g} " + of_all + "; the completion code needs {needed:g}.",
        "unsure": "You chose “Can’t tell” for {found:g} " + of_all + "; at most {needed:g} of them count as answered.",
    }
    described = [
        sentences.get(shortfall.kind, QUALITY_NOT_MET).format(found=shortfall.found, needed=shortfall.needed)
        for shortfall in missing
    ]
    return list(dict.fromkeys(described))


def all_answered_page(
    request: Request, screen: JudgeScreen, completion: Completion | None, message: str | None, *, skipped: int
) -> Response:
    """No question of a task is open: it can be handed in, or what was skipped be answered after all."""
    sentences = [HAND_IN]
    if completion is not None and (missing := find_mendable_shortfalls(completion.missing)):
        what_next = GO_BACK_OR_PARTIAL if completion.offers_partial else GO_BACK_OR_RETURN
        sentences = [*describe_shortfalls(missing, completion.questions), what_next]
    return render(
        request,
        "task_done.html",
        project=screen.context.project,
        state=screen.state,
        message=message,
        skipped=skipped,
        sentences=sentences,
        reopen=skipped > 0 or sentences != [HAND_IN],
    )


def thanks_page(request: Request, screen: JudgeScreen, completion: Completion | None) -> Response:
    """A task was handed in."""
    reward = _describe_completion(completion)
    return render(
        request,
        "task_done.html",
        project=screen.context.project,
        state=screen.state,
        message=None,
        more=None if reward["code"] and not reward["partial"] else _new_task_path(screen),
        questions=format_count(screen.state.size, "question"),
        **reward,
    )


def time_over_page(
    request: Request, screen: JudgeScreen, completion: Completion | None, message: str | None
) -> Response:
    """The time of a task has ended: what was answered stays, and the rest goes to others."""
    return _no_task_page(
        request,
        screen.context.project,
        completion,
        "The time of this task is over",
        "The answers that you gave in time are kept, and count. The questions that were left go to other judges.",
        status=410,
        message=message,
        more=_new_task_path(screen),
    )


def nothing_left_page(request: Request, project: Project, completion: Completion | None) -> Response:
    """No task could be made for this judge."""
    sentences = NOTHING_LEFT if completion is None else NOTHING_LEFT_FOR_CROWD
    return _no_task_page(request, project, completion, "Nothing left to judge", *sentences)


def closed_page(request: Request, project: Project, completion: Completion | None, reason: str) -> Response:
    """The owner has closed the project."""
    return _no_task_page(
        request, project, completion, "This project is closed", f"{reason}. Thank you for your help.", status=410
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
        home=False,
        **_describe_completion(None),
    )


def _no_task_page(
    request: Request,
    project: Project,
    completion: Completion | None,
    heading: str,
    *sentences: str,
    status: int = 200,
    message: str | None = None,
    more: str | None = None,
) -> Response:
    reward = _describe_completion(completion)
    return render(
        request,
        "nothing_left.html",
        status=status,
        project=project,
        heading=heading,
        sentences=sentences,
        message=message,
        more=None if reward["code"] and not reward["partial"] else more,
        more_name="Begin another task",
        home=completion is None,
        **reward,
    )


def _describe_completion(completion: Completion | None) -> dict[str, Any]:
    """What the templates say about a completion code."""
    if completion is None:
        return {"code": None, "partial": False, "prolific": None, "missing": []}
    missing = describe_shortfalls(completion.missing, completion.questions)
    if completion.kind is None:
        missing = [*missing, NO_CODE] if completion.has_worked else [NOTHING_ANSWERED]
    elif completion.code is None:
        missing = [REPORT_FINISHED]
    url = None
    if completion.code is not None and completion.from_prolific:
        url = f"{PROLIFIC_RETURN_URL}{quote(completion.code, safe='')}"
    return {"code": completion.code, "partial": completion.kind == "partial", "prolific": url, "missing": missing}


def _new_task_path(screen: JudgeScreen) -> str:
    return f"/p/{screen.context.project.name}/judge?queue={screen.state.queue}"
