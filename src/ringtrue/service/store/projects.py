"""Projects: how they are made, found and changed, and the files that they were made from."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, delete, func, insert, select, update

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.records import Project, Scale, Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

PROJECT_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
# Letters that Unicode does not take apart into a plain one and a mark.
TRANSLITERATIONS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h", "ŋ": "n"}
)
HEAD_BYTES = 64  # bytes of a file that a list shows, to tell its size when unpacked
parse_scale = lru_cache(maxsize=256)(Scale.from_json)
parse_settings = lru_cache(maxsize=256)(Settings.from_json)
upload = schema.upload

# Asked at every request: made once.
PROJECT_BY_NAME = select(schema.project).where(schema.project.c.name == bindparam("project_name"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that is kept with a project: how large it is in the database, and its first bytes there."""

    id: int
    kind: str
    name: str
    size: int
    head: bytes
    time: float


def create_project(
    connection: Connection, *, name: str, title: str, scale: Scale, settings: Settings, guidelines: str = "", now: float
) -> Project:
    """A new project without items; its name stands in addresses and must be new."""
    if not PROJECT_NAME.fullmatch(name):
        raise UsageError(
            "bad-project-name",
            f"a project's name has small letters, digits and hyphens, 63 at most; found '{name}'",
            parameter="name",
        )
    if connection.execute(select(schema.project.c.id).where(schema.project.c.name == name)).first():
        raise ConflictError(
            "project-name-taken", f"there is a project '{name}' already; choose another name", parameter="name"
        )
    if settings.active and scale.kind != "preference":
        raise UsageError(
            "active-needs-pairs",
            "only pairs can be chosen as votes arrive; choose the preference scale, or switch it off",
            parameter="active",
        )
    row = connection.execute(
        insert(schema.project)
        .values(
            name=name,
            title=title.strip() or name,
            guidelines=guidelines,
            scale=scale.to_json(),
            settings=settings.to_json(),
            created=now,
        )
        .returning(*schema.project.c)
    ).one()
    return _project_from_row(row)


def load_projects(connection: Connection) -> list[Project]:
    """All projects, the newest first."""
    newest_first = select(schema.project).order_by(schema.project.c.id.desc())
    return [_project_from_row(row) for row in connection.execute(newest_first)]


def get_project_by_name(connection: Connection, name: str) -> Project:
    """The project with this name."""
    row = connection.execute(PROJECT_BY_NAME, {"project_name": name}).first()
    if row is None:
        raise NotFoundError("no-such-project", f"there is no project '{name}'")
    return _project_from_row(row)


def get_project_by_id(connection: Connection, project: int) -> Project:
    """The project with this number."""
    row = connection.execute(select(schema.project).where(schema.project.c.id == project)).first()
    if row is None:
        raise NotFoundError("no-such-project", f"there is no project {project}")
    return _project_from_row(row)


def change_project(
    connection: Connection,
    project: int,
    *,
    title: str | None = None,
    guidelines: str | None = None,
    settings: Settings | None = None,
) -> Project:
    """Change what is given; a new number of judges holds for every item, but takes no answer away."""
    before = get_project_by_id(connection, project)
    changes: dict[str, Any] = {}
    if title is not None:
        changes["title"] = title.strip() or before.name
    if guidelines is not None:
        changes["guidelines"] = guidelines
    if settings is not None:
        if settings.active != before.settings.active:
            raise UsageError(
                "active-is-fixed",
                "whether pairs are chosen as votes arrive is decided when a project is made",
                parameter="active",
            )
        changes["settings"] = settings.to_json()
        if settings.judges != before.settings.judges and not settings.active:
            _set_wanted_judges(connection, project, before.settings.judges, settings.judges)
    if changes:
        connection.execute(update(schema.project).where(schema.project.c.id == project).values(**changes))
    return get_project_by_id(connection, project)


def close_project(connection: Connection, project: int, closed: float | None) -> None:
    """Give out no more tasks from this time on, or open the project again."""
    connection.execute(update(schema.project).where(schema.project.c.id == project).values(closed=closed))


def delete_project(connection: Connection, project: int) -> None:
    """Delete a project and all that was collected in it."""
    get_project_by_id(connection, project)
    connection.execute(delete(schema.project).where(schema.project.c.id == project))


def add_upload(connection: Connection, project: int, *, kind: str, name: str, content: bytes, now: float) -> int:
    """Keep a file; answers its number."""
    insertion = insert(upload).values(project=project, kind=kind, name=name, content=content, time=now)
    return int(connection.execute(insertion.returning(upload.c.id)).scalar_one())


def delete_uploads(connection: Connection, project: int, *kinds: str) -> None:
    """Forget the files of these kinds."""
    connection.execute(delete(upload).where(upload.c.project == project, upload.c.kind.in_(kinds)))


def load_uploads(connection: Connection, project: int) -> list[Upload]:
    """The files of a project, without what is in them, in the order in which they came."""
    rows = connection.execute(
        select(
            upload.c.id,
            upload.c.kind,
            upload.c.name,
            func.length(upload.c.content).label("size"),
            func.substr(upload.c.content, 1, HEAD_BYTES).label("head"),
            upload.c.time,
        )
        .where(upload.c.project == project)
        .order_by(upload.c.id)
    )
    return [Upload(**{**row._mapping, "head": bytes(row.head)}) for row in rows]


def get_upload(connection: Connection, project: int, upload_id: int) -> tuple[str, str, bytes]:
    """The kind and the name of a file, and what is in it."""
    row = connection.execute(
        select(upload.c.kind, upload.c.name, upload.c.content).where(
            upload.c.project == project, upload.c.id == upload_id
        )
    ).first()
    if row is None:
        raise NotFoundError("no-such-upload", f"there is no file {upload_id} in this project")
    return row.kind, row.name, bytes(row.content)


def delete_upload(connection: Connection, project: int, upload_id: int) -> None:
    """Keep a file no longer."""
    connection.execute(delete(upload).where(upload.c.project == project, upload.c.id == upload_id))


def load_upload_contents(connection: Connection, project: int, kind: str) -> list[tuple[str, bytes]]:
    """The names and contents of all files of a kind, in the order in which they came."""
    rows = connection.execute(
        select(upload.c.name, upload.c.content)
        .where(upload.c.project == project, upload.c.kind == kind)
        .order_by(upload.c.id)
    )
    return [(row.name, bytes(row.content)) for row in rows]


def slugify(text: str, max_length: int) -> str:
    """A text in small letters a to z, digits and hyphens; nothing where it has none of them.

    Examples:
        >>> slugify("Smørrebrød & Größe", 60), slugify("李", 60)
        ('smorrebrod-grosse', '')
    """
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(TRANSLITERATIONS))
    ascii_text = decomposed.encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:max_length].rstrip("-")


def _set_wanted_judges(connection: Connection, project: int, before: int, judges: int) -> None:
    """Ask for another number of judges; who has an item keeps it, and `wanted` falls when it is given back."""
    item = schema.item
    connection.execute(
        update(item)
        .where(item.c.project == project, item.c.queue == "main", item.c.asked == before)
        .values(asked=judges, wanted=case((item.c.given > judges, item.c.given), else_=judges))
    )


def _project_from_row(row: Row[Any]) -> Project:
    return Project(**{**row._mapping, "scale": parse_scale(row.scale), "settings": parse_settings(row.settings)})
