"""Files that somebody sent: in memory, told by the name that they were sent under."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError, NotFoundError
from ringtrue.files.source import GZIP, ZSTD, Source
from ringtrue.service.store.uploads import Upload, add_upload, contents, upload_at
from ringtrue.service.store.uploads import uploads as uploads_of

if TYPE_CHECKING:
    import polars as pl
    from sqlalchemy import Connection

    from ringtrue.service.store import Store

__all__ = [
    "GivenFile",
    "Upload",
    "as_table",
    "keep",
    "kept",
    "note_documents",
    "source_of",
    "upload_content",
    "uploads",
]

LARGEST = 1 << 31  # bytes, when unpacked
LONGEST_NAME = 200
PIECE = 1 << 22
PACKED = (".gz", ".zst")
DOCUMENTS = "documents"  # kind of a file whose texts are kept in their own table: of the file itself, its size


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


def as_table(name: str, frame: pl.DataFrame) -> GivenFile:
    """What was used of a file, as CSV: so that names of judges in it are not kept with it.

    Examples:
        >>> import polars as pl
        >>> as_table("nist.qrels.gz", pl.DataFrame({"query": ["q"], "doc": ["d"]}))
        GivenFile(name='nist.csv', content=b'query,doc\\nq,d\\n')
    """
    for ending in PACKED:
        name = name.removesuffix(ending)
    return GivenFile(name=f"{name.rpartition('.')[0] or name}.csv", content=frame.write_csv().encode())


def note_documents(connection: Connection, project: int, file: GivenFile, *, now: float) -> None:
    """List a file of documents among the others; the texts are kept where judges see them."""
    add_upload(connection, project, kind=DOCUMENTS, name=file.name, content=str(len(file.content)).encode(), now=now)


def kept(connection: Connection, project: int, kind: str) -> list[GivenFile]:
    """The files of a kind that a project has; they may be packed."""
    return [GivenFile(name=name, content=content) for name, content in contents(connection, project, kind)]


def uploads(store: Store, project: int) -> list[Upload]:
    """The files that a project has, without what is in them; `size` is that of the file as it was sent."""
    with store.read() as connection:
        return [replace(one, size=_size(one)) for one in uploads_of(connection, project)]


def upload_content(store: Store, project: int, at: int) -> GivenFile:
    """One file of a project as it was sent."""
    with store.read() as connection:
        kind, name, content = upload_at(connection, project, at)
    if kind == DOCUMENTS:
        raise NotFoundError(f"{name}: of documents, the texts are kept, and not the file")
    file = GivenFile(name=name, content=content)
    packed = name.endswith(PACKED)  # by whoever sent it
    return file if packed else GivenFile(name=name, content=source_of(file).whole())


def _size(one: Upload) -> int:
    if one.kind == DOCUMENTS:
        return int(one.head)
    if one.name.endswith(PACKED) or not one.head.startswith(ZSTD):
        return one.size
    import zstandard

    size = zstandard.frame_content_size(one.head)
    return one.size if size < 0 else size
