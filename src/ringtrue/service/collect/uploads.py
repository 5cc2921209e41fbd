"""Files that somebody sent: in memory, called by the name that they were sent under."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError, NotFoundError
from ringtrue.files.byte_source import GZIP, PARQUET, ZSTD, Source
from ringtrue.files.tabular import guard_formulas, strip_guards
from ringtrue.service.store.projects import Upload, add_upload, get_upload, load_upload_contents, load_uploads

if TYPE_CHECKING:
    import polars as pl
    import zstandard
    from sqlalchemy import Connection

    from ringtrue.service.store import Store


MAX_UNPACKED_BYTES = 1_000_000_000  # of all files that are sent at once
CELL_BYTES = 16  # that a cell of a table takes at least
MAX_NAME_LENGTH = 200
PIECE_BYTES = 1 << 20
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
    """A file in memory, sent by somebody else: lists and objects in its cells, which nobody reads here, are dropped."""

    __slots__ = ()
    keeps_nested = False

    @property
    def is_stream(self) -> bool:
        """What is held in memory is not looked for on the disk."""
        return True


def open_source(file: UploadedFile) -> Source:
    """The file for the readers of `files`; `require_unpacked_size` comes first where somebody sent it.

    Examples:
        >>> open_source(UploadedFile(name="a.run", content=b"q1 Q0 d1 1 3.5 A")).display_name
        'a.run'
    """
    return _InMemorySource(path=file.name, _buffer=file.content)


def require_unpacked_size(files: Iterable[UploadedFile], *, max_bytes: int | None = None) -> None:
    """Refuse small files that would unpack to enormous ones, together; little of it is held in memory meanwhile."""
    limit = MAX_UNPACKED_BYTES if max_bytes is None else max_bytes
    unpacked_bytes = 0
    for file in files:
        if not file.content.startswith((GZIP, ZSTD, PARQUET)):
            continue  # the upload limit bounds what is not packed
        head = b""
        for piece in _unpack_in_pieces(file.content):
            head = head or piece[: len(PARQUET)]
            unpacked_bytes += len(piece)
            if unpacked_bytes > limit:
                raise _too_large(file, limit)
        if head == PARQUET:
            unpacked_bytes += _measure_parquet(file, limit - unpacked_bytes, limit)


def _unpack_in_pieces(content: bytes) -> Iterator[bytes]:
    """What is in a file; where it is damaged it ends, and whoever reads it says so."""
    raw = io.BytesIO(content)
    stream: gzip.GzipFile | io.BytesIO | zstandard.ZstdDecompressionReader = raw
    errors: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error)
    if content.startswith(GZIP):
        stream = gzip.GzipFile(fileobj=raw)
    elif content.startswith(ZSTD):
        import zstandard

        errors = (zstandard.ZstdError,)
        stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    with suppress(*errors):
        while piece := stream.read(PIECE_BYTES):
            yield piece


def _measure_parquet(file: UploadedFile, remaining: int, limit: int) -> int:
    """Bytes that the cells of a Parquet file take: a few kilobytes of it can say a billion times the same."""
    import polars as pl

    content = b"".join(_unpack_in_pieces(file.content))
    try:
        table = pl.scan_parquet(io.BytesIO(content))
        columns = table.collect_schema()
        cell_bytes = CELL_BYTES * len(columns) * int(table.select(pl.len()).collect().item())
        nested = next((name for name, dtype in columns.items() if dtype.is_nested()), None)
        if nested is not None:
            raise FormatError(
                "nested-column", f"column '{nested}' holds lists or objects; leave it out", file=file.name
            )
        if cell_bytes > remaining:
            raise _too_large(file, limit)
        sizes = table.select(pl.col(pl.String).str.len_bytes().cast(pl.UInt64).sum()).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return 0  # whoever reads it says what is wrong
    text_bytes = sum(size or 0 for size in (sizes.row(0) if sizes.width else ()))
    if cell_bytes + text_bytes > remaining:
        raise _too_large(file, limit)
    return cell_bytes + text_bytes


def _too_large(file: UploadedFile, limit: int) -> FormatError:
    return FormatError(
        "unpacks-too-large",
        f"what is sent at once may unpack to {limit / 1e6:,.0f} MB, and this is more; send less at once",
        file=file.name,
    )


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


def load_project_uploads(connection: Connection, project: int) -> list[Upload]:
    """The files that a project has, without what is in them; `size` is that of the file as it was sent."""
    return [replace(upload, size=_sent_size(upload)) for upload in load_uploads(connection, project)]


def read_upload_file(store: Store, project: int, upload_id: int) -> UploadedFile:
    """One file of a project as it was sent."""
    with store.read() as connection:
        kind, name, content = get_upload(connection, project, upload_id)
    if kind == DOCUMENTS_KIND:
        raise NotFoundError("documents-not-kept", "of documents, the texts are kept, and not the file", file=name)
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
