"""What owner's pages share: tabs, notes that are shown once on the next page, and the record of what was done."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import Path

from ringtrue.formatting.phrases import format_count
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.records import MAX_ID
from ringtrue.service.web.field_spelling import as_sentence
from ringtrue.service.web.responses import render, see_other

if TYPE_CHECKING:
    from fastapi import Request, Response
    from sqlalchemy import Connection

    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.context import ServerContext

PathId: TypeAlias = Annotated[int, Path(ge=0, le=MAX_ID)]  # of something in the database

NOTES_COOKIE, NOTES_PURPOSE = "ringtrue-notes", "notes"
MAX_NOTES, MAX_NOTE_LENGTH, MAX_COOKIE_LENGTH = 8, 300, 3500  # a cookie has room for 4 kB

# The pages of a project, in the order of the work: address, name, and whether viewers see it.
PROJECT_PAGES = (
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
TAB_OF_PAGE = {"invitations": "people", "import": "files", "delete": "settings", "audit": "settings"}


def render_owner_page(
    request: Request, context: RequestContext, template: str, *, status: int = 200, **values: Any
) -> Response:
    """A page of the owner's, with what the last form had to say."""
    pages, current = _tabs(context, request.url.path)
    page = render(
        request,
        f"owner/{template}",
        status=status,
        project=context.project_or_none,
        pages=pages,
        current=current,
        notes=_read_notes(request, context.server),
        is_owner=context.person.owner,
        counted=format_count,
        **values,
    )
    if NOTES_COOKIE in request.cookies:
        page.delete_cookie(NOTES_COOKIE, path="/")
    return page


def _tabs(context: RequestContext, path: str) -> tuple[list[tuple[str, str]], str]:
    """The pages that this person sees, and the one that a path belongs to."""
    project = context.project_or_none
    if project is None:
        pages = list(SERVER_PAGES) if context.person.owner and not path.startswith("/projects/") else []
        return pages, next((page_path for page_path, _ in pages if path.startswith(page_path)), "")
    pages = [
        (f"/p/{project.name}/{name}".rstrip("/"), title)
        for name, title, for_viewers in PROJECT_PAGES
        if (for_viewers or context.person.owner) and (name != "gold" or project.scale.kind == "graded")
    ]
    part = path.removeprefix(f"/p/{project.name}").strip("/").partition("/")[0]
    return pages, f"/p/{project.name}/{TAB_OF_PAGE.get(part, part)}".rstrip("/")


def redirect_with_notes(context: RequestContext, path: str, *notes: str) -> Response:
    """The answer to a form: go and look there, where the notes are shown."""
    return add_notes(see_other(path), context, notes)


def add_notes(response: Response, context: RequestContext, notes: Sequence[str]) -> Response:
    """The same answer, with notes for the next page that is looked at: each with its code, "" for plain sentences."""
    if not notes:
        return response
    rows = [(getattr(note, "code", ""), _shorten(as_sentence(note))) for note in notes[:MAX_NOTES]]
    if len(notes) > MAX_NOTES:
        rows[-1] = ("", f"… and {len(notes) - MAX_NOTES + 1} more notes")
    while len(text := urlsafe_b64encode(json.dumps(rows, ensure_ascii=False).encode()).decode()) > MAX_COOKIE_LENGTH:
        rows.pop()
    response.set_cookie(
        NOTES_COOKIE,
        context.server.sign(text, NOTES_PURPOSE),
        httponly=True,
        secure=context.server.secure,
        samesite="lax",
        path="/",
    )
    return response


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_NOTE_LENGTH else f"{text[:MAX_NOTE_LENGTH]}…"


def _read_notes(request: Request, server: ServerContext) -> list[tuple[str, str]]:
    text = server.unsign(request.cookies.get(NOTES_COOKIE, ""), NOTES_PURPOSE)
    return [] if text is None else [(code, sentence) for code, sentence in json.loads(urlsafe_b64decode(text))]


def with_audit_record(
    context: RequestContext, action: str, work: Callable[[Connection], Any], **detail: object
) -> Callable[[Connection], Any]:
    """A piece of work that also writes down who did it."""

    def work_and_record(connection: Connection) -> Any:
        outcome = work(connection)
        _record_in_audit_log(connection, context, action, detail)
        return outcome

    return work_and_record


async def record_owner_action(
    context: RequestContext, action: str, *, project: int | None = None, **detail: object
) -> None:
    """Write down what was done by work that has its own transaction; later where the database cannot be written."""
    await context.server.store.deferred.write(
        lambda connection: _record_in_audit_log(connection, context, action, detail, project),
        description=f"account {context.person.id}: {action}",
    )


def _record_in_audit_log(
    connection: Connection, context: RequestContext, action: str, detail: dict[str, object], project: int | None = None
) -> None:
    if project is None and context.project_or_none is not None:
        project = context.project_or_none.id
    record_action(
        connection, action, now=context.now, account=context.person.id, project=project, detail=detail or None
    )
