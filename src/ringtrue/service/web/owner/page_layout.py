"""Owner's pages: what each has around it, and messages that are shown once, on the next page."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import Path

from ringtrue.formatting.phrases import counted
from ringtrue.service.store.audit_log import record
from ringtrue.service.store.records import LARGEST
from ringtrue.service.web.render import render, see_other

if TYPE_CHECKING:
    from fastapi import Request, Response
    from sqlalchemy import Connection

    from ringtrue.service.web.auth.dependencies import Here
    from ringtrue.service.web.context import Site

__all__ = ["PAGES", "Number", "and_noted", "go", "note_down", "show", "with_notes"]

Number: TypeAlias = Annotated[int, Path(ge=0, le=LARGEST)]  # of something in the database

COOKIE, PURPOSE = "ringtrue-notes", "notes"
MOST_NOTES, LONGEST_NOTE, LONGEST_COOKIE = 8, 300, 3500  # a cookie has room for 4 kB

# The pages of a project, in the order of the work: address, name, and whether viewers see it.
PAGES = (
    ("", "Progress", True),
    ("people", "People", False),
    ("quality", "Quality", True),
    ("adjudicate", "Disagreements", False),
    ("gold", "Gold", False),
    ("exports", "Export", True),
    ("files", "Files", False),
    ("settings", "Settings", False),
)
SERVER_PAGES = (
    ("/server/people", "People"),
    ("/server/backup", "Backup"),
    ("/server/audit", "Record"),
    ("/tokens", "Tokens"),
)
# Pages that have no tab, and the tab that they belong to.
WITHIN = {"invitations": "people", "import": "files", "delete": "settings", "audit": "settings"}


def show(request: Request, here: Here, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page of the owner's, with what the last form had to say."""
    pages, current = _tabs(here, request.url.path)
    page = render(
        request, f"owner/{template}", status=status, project=here.project_or_none, pages=pages, current=current,
        notes=_noted(request, here.site), is_owner=here.person.owner, counted=counted, **values,
    )  # fmt: skip
    if COOKIE in request.cookies:
        page.delete_cookie(COOKIE, path="/")
    return page


def _tabs(here: Here, path: str) -> tuple[list[tuple[str, str]], str]:
    """The pages that this person sees, and the one that a path belongs to."""
    project = here.project_or_none
    if project is None:
        pages = list(SERVER_PAGES) if here.person.owner and not path.startswith("/projects/") else []
        return pages, next((one for one, _ in pages if path.startswith(one)), "")
    pages = [
        (f"/p/{project.name}/{name}".rstrip("/"), words)
        for name, words, for_viewers in PAGES
        if (for_viewers or here.person.owner) and (name != "gold" or project.scale.kind == "graded")
    ]
    part = path.removeprefix(f"/p/{project.name}").strip("/").partition("/")[0]
    return pages, f"/p/{project.name}/{WITHIN.get(part, part)}".rstrip("/")


def go(here: Here, path: str, *notes: str) -> Response:
    """The answer to a form: go and look there, where the notes are shown."""
    return with_notes(see_other(path), here, notes)


def with_notes(answer: Response, here: Here, notes: Sequence[str]) -> Response:
    """The same answer, with notes for the next page that is looked at."""
    if not notes:
        return answer
    kept = [note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE]}…" for note in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        kept[-1] = f"… and {len(notes) - MOST_NOTES + 1} more notes"
    while len(text := urlsafe_b64encode(json.dumps(kept, ensure_ascii=False).encode()).decode()) > LONGEST_COOKIE:
        kept.pop()
    answer.set_cookie(
        COOKIE, here.site.signed(text, PURPOSE), httponly=True, secure=here.site.secure, samesite="lax", path="/"
    )
    return answer


def _noted(request: Request, site: Site) -> list[str]:
    text = site.unsigned(request.cookies.get(COOKIE, ""), PURPOSE)
    return [] if text is None else list(json.loads(urlsafe_b64decode(text)))


def and_noted(
    here: Here, action: str, work: Callable[[Connection], Any], **detail: object
) -> Callable[[Connection], Any]:
    """A piece of work that also writes down who did it."""

    def both(connection: Connection) -> Any:
        answer = work(connection)
        _record(connection, here, action, detail)
        return answer

    return both


async def note_down(here: Here, action: str, *, project: int | None = None, **detail: object) -> None:
    """Write down what was done by work that has its own transaction."""
    await here.write(lambda connection: _record(connection, here, action, detail, project))


def _record(
    connection: Connection, here: Here, action: str, detail: dict[str, object], project: int | None = None
) -> None:
    if project is None and here.project_or_none is not None:
        project = here.project_or_none.id
    record(connection, action, now=here.now, account=here.person.id, project=project, detail=detail or None)
