"""Files that somebody sent: in memory, told by the name that they were sent under."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError
from ringtrue.files.source import GZIP, ZSTD, Source
from ringtrue.store.uploads import Upload, add_upload, contents, upload_at
from ringtrue.store.uploads import uploads as uploads_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.store import Store

__all__ = ["GivenFile", "Upload", "keep", "kept", "source_of", "upload_content", "uploads"]

LARGEST = 1 << 31  # bytes, when unpacked
LONGEST_NAME = 200
PIECE = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFile:
    """A file as a browser sends it: its name, without a folder, and what is in it; .gz and .zst are understood.

    Examples:
        >>> GivenFile(name="C:\\\\runs\\\\bm25.run", content=b"q1 Q0 d1 1 3.5 BM25").name
        'bm25.run'
    """

    name: str
    content: bytes

    def __post_init__(self) -> None:
        name = re.sub(r"[\x00-\x1f\x7f]", "", self.name).replace("\\", "/").rsplit("/", 1)[-1].strip()
        object.__setattr__(self, "name", name[-LONGEST_NAME:].removeprefix("-") or "file")


class _Held(Source):
    """A file in memory."""

    __slots__ = ()

    @property
    def is_stream(self) -> bool:
        """What is held in memory is not looked for on the disk."""
        return True


def source_of(file: GivenFile, *, largest: int = LARGEST) -> Source:
    """The file for the readers of `files`; refuses a small one that would unpack to an enormous one.

    Examples:
        >>> source_of(GivenFile(name="a.run", content=b"q1 Q0 d1 1 3.5 A")).shown
        'a.run'
    """
    source = _Held(path=file.name, _kept=file.content)
    if file.content.startswith((GZIP, ZSTD)):
        size = 0
        for piece in source.pieces(PIECE):
            size += len(piece)
            if size > largest:
                raise FormatError(f"{file.name}: it unpacks to more than {largest >> 20:,} MB; give a smaller file")
    return source


def keep(connection: Connection, project: int, file: GivenFile, *, kind: str, now: float) -> None:
    """Keep a file with a project, packed."""
    packed = file.content
    if not packed.startswith((GZIP, ZSTD)):
        import zstandard

        packed = zstandard.ZstdCompressor().compress(packed)
    add_upload(connection, project, kind=kind, name=file.name, content=packed, now=now)


def kept(connection: Connection, project: int, kind: str) -> list[GivenFile]:
    """The files of a kind that a project has; they may be packed."""
    return [GivenFile(name=name, content=content) for name, content in contents(connection, project, kind)]


def uploads(store: Store, project: int) -> list[Upload]:
    """The files that a project has, without what is in them."""
    with store.read() as connection:
        return uploads_of(connection, project)


def upload_content(store: Store, project: int, at: int) -> GivenFile:
    """One file of a project as it was sent."""
    with store.read() as connection:
        name, content = upload_at(connection, project, at)
    file = GivenFile(name=name, content=content)
    packed = name.endswith((".gz", ".zst"))  # by whoever sent it
    return file if packed else GivenFile(name=name, content=source_of(file).whole())
