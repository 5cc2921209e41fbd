"""The pages at the end of judging: thanks, nothing left, the time is over. Crowd workers find their way back on each.

Whoever has answered something is shown the completion code: whether it is paid for is for the owner to say, who sees
how each task ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from ringtrue.formatting.phrases import format_count
from ringtrue.service.web.responses import render

if TYPE_CHECKING:
    from fastapi import Request, Response

    from ringtrue.service.store.crowd_workers import CrowdWorker
    from ringtrue.service.store.records import Project
    from ringtrue.service.web.judge.screen import JudgeScreen

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
