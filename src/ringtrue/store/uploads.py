"""The files that a project was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select

from ringtrue.errors import NotFoundError
from ringtrue.store.schema import upload

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Upload", "add_upload", "contents", "upload_at", "uploads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that is kept with a project; `size` is what it takes in the database."""

    id: int
    kind: str
    name: str
    size: int
    time: float


def add_upload(connection: Connection, project: int, *, kind: str, name: str, content: bytes, now: float) -> int:
    """Keep a file; answers its number."""
    new = insert(upload).values(project=project, kind=kind, name=name, content=content, time=now)
    return int(connection.execute(new.returning(upload.c.id)).scalar_one())


def uploads(connection: Connection, project: int) -> list[Upload]:
    """The files of a project, without what is in them, in the order in which they came."""
    rows = connection.execute(
        select(upload.c.id, upload.c.kind, upload.c.name, func.length(upload.c.content).label("size"), upload.c.time)
        .where(upload.c.project == project)
        .order_by(upload.c.id)
    )
    return [Upload(**row._mapping) for row in rows]


def upload_at(connection: Connection, project: int, at: int) -> tuple[str, bytes]:
    """The name of a file, and what is in it."""
    row = connection.execute(
        select(upload.c.name, upload.c.content).where(upload.c.project == project, upload.c.id == at)
    ).first()
    if row is None:
        raise NotFoundError(f"there is no file {at} in this project")
    return row.name, bytes(row.content)


def contents(connection: Connection, project: int, kind: str) -> list[tuple[str, bytes]]:
    """The names and contents of all files of a kind, in the order in which they came."""
    rows = connection.execute(
        select(upload.c.name, upload.c.content)
        .where(upload.c.project == project, upload.c.kind == kind)
        .order_by(upload.c.id)
    )
    return [(row.name, bytes(row.content)) for row in rows]
