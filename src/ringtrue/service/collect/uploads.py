"""Files that somebody sent: in memory, told by the name that they were sent under.

Whoever sent them has a page before them: what is wrong is said without options of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError, NotFoundError, RingtrueError
from ringtrue.files.byte_source import GZIP, ZSTD, Source
from ringtrue.files.tabular import guard_formulas, strip_guards
from ringtrue.service.store.projects import Upload, add_upload, get_upload, load_upload_contents, load_uploads

if TYPE_CHECKING:
    import polars as pl
    from sqlalchemy import Connection

    from ringtrue.service.store import Store


MAX_UNPACKED_BYTES = 1 << 31  # bytes, when unpacked
MAX_NAME_LENGTH = 200
PIECE_BYTES = 1 << 22
PACKED_SUFFIXES = (".gz", ".zst")
DOCUMENTS_KIND = "documents"  # kind of a file whose texts are kept in their own table: of the file itself, its size


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file as a browser sends it: its name, without a folder, and what is in it; .gz and .zst are understood.

    Examples:
        >>> UploadedFile(name="C:\\\\runs\\\\bm25.run", content=b"q1 Q0 d1 1 3.5 BM25").name
        'bm25.run'
    """

    name: str
    content: bytes

    def __post_init__(self) -> None:
        name = re.sub(r"[\x00-\x1f\x7f]", "", self.name).replace("\\", "/").rsplit("/", 1)[-1].strip()
        object.__setattr__(self, "name", name[-MAX_NAME_LENGTH:].removeprefix("-") or "file")


class _InMemorySource(Source):
    """A file in memory."""

    __slots__ = ()

    @property
    def is_stream(self) -> bool:
        """What is held in memory is not looked for on the disk."""
        return True


def open_source(file: UploadedFile, *, max_bytes: int = MAX_UNPACKED_BYTES) -> Source:
    """The file for the readers of `files`; refuses a small one that would unpack to an enormous one.

    Examples:
        >>> open_source(UploadedFile(name="a.run", content=b"q1 Q0 d1 1 3.5 A")).display_name
        'a.run'
    """
    source = _InMemorySource(path=file.name, _buffer=file.content)
    if file.content.startswith((GZIP, ZSTD)):
        size = 0
        for piece in source.chunks(PIECE_BYTES):
            size += len(piece)
            if size > max_bytes:
                raise FormatError(f"{file.name}: it unpacks to more than {max_bytes >> 20:,} MB; give a smaller file")
    return source


def store_file(connection: Connection, project: int, file: UploadedFile, *, kind: str, now: float) -> None:
    """Keep a file with a project, packed."""
    packed = file.content
    if not packed.startswith((GZIP, ZSTD)):
        import zstandard

        packed = zstandard.ZstdCompressor().compress(packed)
    add_upload(connection, project, kind=kind, name=file.name, content=packed, now=now)


def as_csv_file(name: str, frame: pl.DataFrame) -> UploadedFile:
    """What was used of a file, as CSV: so that names of judges in it are not kept with it; safe in a spreadsheet.

    Examples:
        >>> import polars as pl
        >>> as_csv_file("nist.qrels.gz", pl.DataFrame({"query": ["q"], "doc": ["d"]}))
        UploadedFile(name='nist.csv', content=b'query,doc\\nq,d\\n')
    """
    for suffix in PACKED_SUFFIXES:
        name = name.removesuffix(suffix)
    name = f"{name.rpartition('.')[0] or name}.csv"
    return UploadedFile(name=name, content=guard_formulas(frame).write_csv().encode())


def read_own_csv(file: UploadedFile) -> pl.DataFrame:
    """A table that `as_csv_file` wrote, every cell as text."""
    import polars as pl

    return strip_guards(pl.read_csv(open_source(file).read_all(), infer_schema=False))


def register_documents_file(connection: Connection, project: int, file: UploadedFile, *, now: float) -> None:
    """List a file of documents among the others; the texts are kept where judges see them."""
    add_upload(
        connection, project, kind=DOCUMENTS_KIND, name=file.name, content=str(len(file.content)).encode(), now=now
    )


def load_files(connection: Connection, project: int, kind: str) -> list[UploadedFile]:
    """The files of a kind that a project has; they may be packed."""
    return [
        UploadedFile(name=name, content=content) for name, content in load_upload_contents(connection, project, kind)
    ]


def load_project_uploads(store: Store, project: int) -> list[Upload]:
    """The files that a project has, without what is in them; `size` is that of the file as it was sent."""
    with store.read() as connection:
        return [replace(upload, size=_sent_size(upload)) for upload in load_uploads(connection, project)]


def read_upload_file(store: Store, project: int, upload_id: int) -> UploadedFile:
    """One file of a project as it was sent."""
    with store.read() as connection:
        kind, name, content = get_upload(connection, project, upload_id)
    if kind == DOCUMENTS_KIND:
        raise NotFoundError(f"{name}: of documents, the texts are kept, and not the file")
    file = UploadedFile(name=name, content=content)
    sent_packed = name.endswith(PACKED_SUFFIXES)  # by whoever sent it
    return file if sent_packed else UploadedFile(name=name, content=open_source(file).read_all())


def _sent_size(upload: Upload) -> int:
    if upload.kind == DOCUMENTS_KIND:
        return int(upload.head)
    if upload.name.endswith(PACKED_SUFFIXES) or not upload.head.startswith(ZSTD):
        return upload.size
    import zstandard

    size = zstandard.frame_content_size(upload.head)
    return upload.size if size < 0 else size


def without_options(text: str) -> str:
    """A sentence without what only the command line understands.

    Examples:
        >>> without_options("12 labels repeat; the last one counts (--repeats all counts each)")
        '12 labels repeat; the last one counts'
    """
    text = re.sub(r" ?\([^()]*--[^()]*\)", "", text)
    return re.sub(r"[;,:] [^;,:]*--[a-z][^;]*", "", text)


@contextmanager
def plainly() -> Iterator[None]:
    """Errors from inside are told without options of the command line."""
    try:
        yield
    except RingtrueError as error:
        error.args = (without_options(str(error)), *error.args[1:])
        raise
