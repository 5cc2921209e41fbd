"""The files that a project was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select

from ringtrue.errors import NotFoundError
from ringtrue.service.store.schema import upload

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD_BYTES = 64  # bytes of a file that a list shows, to tell its size when unpacked


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that is kept with a project: how large it is in the database, and its first bytes there."""

    id: int
    kind: str
    name: str
    size: int
    head: bytes
    time: float


def add_upload(connection: Connection, project: int, *, kind: str, name: str, content: bytes, now: float) -> int:
    """Keep a file; answers its number."""
    insertion = insert(upload).values(project=project, kind=kind, name=name, content=content, time=now)
    return int(connection.execute(insertion.returning(upload.c.id)).scalar_one())


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
        raise NotFoundError(f"there is no file {upload_id} in this project")
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
