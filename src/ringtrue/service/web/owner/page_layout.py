"""What owner's pages share: tabs, notes that are shown once on the next page, forms, and the record of what was done.

A form is shown again as it was sent, with what is wrong beside the field where it is.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import Path
from starlette.datastructures import FormData, UploadFile

from ringtrue.formatting.phrases import format_count
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.records import MAX_ID
from ringtrue.service.web.responses import render, see_other

if TYPE_CHECKING:
    from fastapi import Request, Response
    from sqlalchemy import Connection

    from ringtrue.errors import RingtrueError
    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.context import ServerContext
    from ringtrue.service.web.owner.kept_files import KeptFile

PathId: TypeAlias = Annotated[int, Path(ge=0, le=MAX_ID)]  # of something in the database

NOTES_COOKIE, NOTES_PURPOSE = "ringtrue-notes", "notes"
MAX_NOTES, MAX_NOTE_LENGTH, MAX_COOKIE_LENGTH = 8, 300, 3500  # a cookie has room for 4 kB

FILE_NAME_PREFIX = re.compile(r"[^:]*\.\w+:")
WHOLE_FORM = ""  # the place for what is wrong with no single field

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
    """The same answer, with notes for the next page that is looked at."""
    if not notes:
        return response
    shown_notes = [note if len(note) <= MAX_NOTE_LENGTH else f"{note[:MAX_NOTE_LENGTH]}…" for note in notes[:MAX_NOTES]]
    if len(notes) > MAX_NOTES:
        shown_notes[-1] = f"… and {len(notes) - MAX_NOTES + 1} more notes"
    while (
        len(text := urlsafe_b64encode(json.dumps(shown_notes, ensure_ascii=False).encode()).decode())
        > MAX_COOKIE_LENGTH
    ):
        shown_notes.pop()
    response.set_cookie(
        NOTES_COOKIE,
        context.server.sign(text, NOTES_PURPOSE),
        httponly=True,
        secure=context.server.secure,
        samesite="lax",
        path="/",
    )
    return response


def _read_notes(request: Request, server: ServerContext) -> list[str]:
    text = server.unsign(request.cookies.get(NOTES_COOKIE, ""), NOTES_PURPOSE)
    return [] if text is None else list(json.loads(urlsafe_b64decode(text)))


@dataclass(slots=True, kw_only=True)
class FormState:
    """A form as it was sent, or as it is shown first; `problems` are sentences by the name of their field.

    `kept` are the files that need not be chosen again, by field; of them, those `refused` are not sent again by
    themselves. Each is named by its field and its own name.

    Examples:
        >>> form = FormState(values={"judges": "two"})
        >>> form.parse_number("judges", "How many judges", 1, 9), form.problems
        (None, {'judges': "How many judges: expected a whole number from 1 to 9, found 'two'"})
    """

    values: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    kept: Mapping[str, Sequence[KeptFile]] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def from_submission(cls, form: FormData, names: Iterable[str]) -> FormState:
        """The texts that a browser sent; a box that was not ticked sends nothing."""
        return cls(values={name: _clean_text(form.get(name)) for name in names})

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def is_on(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self[name] != ""

    def parse_number(self, name: str, label: str, low: int, high: int, *, optional: bool = False) -> int | None:
        """A whole number; None with a problem where it is none, or where it may be left empty and was."""
        text = self[name].strip()
        if not text and optional:
            return None
        digits = text.replace(",", "")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
        if number is None or not low <= number <= high:
            found_text = f"found '{text[:40]}'" if text else "found nothing"
            or_nothing = ", or nothing" if optional else ""
            self.problems[name] = f"{label}: expected a whole number from {low:,} to {high:,}{or_nothing}, {found_text}"
            return None
        return number

    def parse_percentage(self, name: str, label: str) -> float | None:
        """A share that was written in percent; None, with a problem, where it is none."""
        text = self[name].strip()
        percentage = float(text) if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) else None
        if percentage is None or percentage > 100:
            found_text = f"found '{text[:40]}'" if text else "found nothing"
            self.problems[name] = f"{label}: expected a number from 0 to 100, {found_text}"
            return None
        return round(percentage / 100, 8)

    def parse_choice(self, name: str, label: str, choices: Sequence[str]) -> str:
        """One of several choices; the first, with a problem, where it is none of them."""
        if self[name] in choices:
            return self[name]
        self.problems[name] = f"{label}: choose one of {', '.join(choices)}"
        return choices[0]

    def attach_error(
        self, error: RingtrueError, files: Mapping[str, Sequence[UploadedFile]], default_field: str = WHOLE_FORM
    ) -> None:
        """Put an error beside the field whose file it speaks of; the file is refused."""
        message = str(error)
        mentioned = [
            (len(file.name), field_name, file.name)
            for field_name, field_files in files.items()
            for file in field_files
            if file.name in message
        ]
        if mentioned:
            _, default_field, file_name = max(mentioned)
            self.refused.add((default_field, file_name))
        self.problems[default_field] = as_sentence(message)


def as_sentence(message: str) -> str:
    """Words of an error as they stand on a page; the name of a file stays as it is.

    Examples:
        >>> as_sentence("no such thing"), as_sentence("a.run: this file is empty")
        ('No such thing.', 'a.run: this file is empty.')
    """
    capitalised = message if FILE_NAME_PREFIX.match(message) else message[:1].upper() + message[1:]
    return capitalised if capitalised.endswith((".", "?", "!")) else f"{capitalised}."


async def read_uploaded_files(form: FormData, name: str) -> list[UploadedFile]:
    """The files of a field; one that was left empty is none."""
    uploads = [upload for upload in form.getlist(name) if isinstance(upload, UploadFile) and upload.filename]
    return [UploadedFile(name=upload.filename or "", content=await upload.read()) for upload in uploads]


def _clean_text(submitted: Any) -> str:
    # PostgreSQL keeps no NUL, and browsers send line ends as CR LF.
    return submitted.replace("\x00", "").replace("\r\n", "\n") if isinstance(submitted, str) else ""


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
