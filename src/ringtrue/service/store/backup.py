"""All of the database in one .zip, and back: from SQLite to PostgreSQL and the other way alike.

The archive has a file of JSON lines for each table, the contents of uploads as files of their own, and manifest.json,
which names each of them with its size, its rows and its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, text

from ringtrue._version import __version__
from ringtrue.errors import FileError, FormatError, StoreError
from ringtrue.formatting.phrases import counted
from ringtrue.service.store import schema
from ringtrue.service.store.migrations import version_of

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from ringtrue.service.store.store import Store

__all__ = ["Manifest", "restore_backup", "write_backup"]

FORMAT = 1
KIND = "ringtrue backup"
MANIFEST = "manifest.json"
LEFT_OUT = {"login", "attempt", "setting"}  # of this server and this hour: log-ins, failed log-ins, the signing secret
PIECE = 1_000  # rows that are read or written at a time
SMALL, MOST_TIMES = 1 << 25, 200  # a large archive that unpacks to more than so many times its size is none of ours
LONGEST = 1 << 28  # bytes of a line
LARGEST_MANIFEST = 1 << 24
UNREADABLE = (  # cut off, encrypted, or packed in a way that Python does not unpack, which it calls NotImplementedError
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)
DAMAGED = "the backup is damaged or was changed; fetch it again, or take another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds: the number of the last migration, the version that wrote it, when, and rows by table."""

    format: int
    migration: int
    ringtrue: str
    written: float
    rows: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    bytes: int
    sha256: str
    rows: int | None = None


def write_backup(store: Store, path: Path, *, now: float) -> Manifest:
    """Write all that was collected, as of one moment, while judges go on; log-ins are left out."""
    parts: dict[str, _Part] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive, store.read() as connection:
        for table in _tables():
            parts[f"{table.name}.jsonl"] = _written(archive, f"{table.name}.jsonl", _lines(connection, table))
        for number in connection.execute(select(schema.upload.c.id).order_by(schema.upload.c.id)).scalars().all():
            content = connection.execute(select(schema.upload.c.content).where(schema.upload.c.id == number)).scalar()
            parts[_upload(number)] = _written(archive, _upload(number), [bytes(content or b"")], of_rows=False)
        manifest = Manifest(
            format=FORMAT, migration=version_of(connection), ringtrue=__version__, written=now,
            rows={name.removesuffix(".jsonl"): part.rows for name, part in parts.items() if part.rows is not None},
        )  # fmt: skip
        told = {"kind": KIND, **asdict(manifest), "parts": {name: asdict(part) for name, part in parts.items()}}
        archive.writestr(MANIFEST, json.dumps(told, indent=1))
    return manifest


def restore_backup(store: Store, path: Path) -> Manifest:
    """Put a backup into an empty database; where anything is wrong with it, the database stays empty."""
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except zipfile.BadZipFile:
        raise FormatError(f"{path}: expected a backup, a .zip that ringtrue wrote, and this is none") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    with archive:
        try:
            manifest, parts = _read_manifest(archive, path)
            with store.transaction() as connection:
                _require_empty(connection)
                _require_same_step(connection, manifest, path)
                for table in _tables():
                    _restore(connection, archive, table, parts, path)
                _count_on(connection)
        except UNREADABLE as error:
            raise FormatError(f"{path}: {DAMAGED}") from error
    return manifest


def _tables() -> list[Table]:
    """The tables, each after those that it points to."""
    return [table for table in schema.metadata.sorted_tables if table.name not in LEFT_OUT]


def _upload(number: int) -> str:
    return f"upload/{number}"


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    columns = [column for column in table.c if column is not schema.upload.c.content]
    found = connection.execute(select(*columns).order_by(table.c.id).execution_options(yield_per=PIECE))
    for row in found.mappings():
        yield json.dumps(dict(row), separators=(",", ":")).encode() + b"\n"


def _written(archive: zipfile.ZipFile, name: str, pieces: Any, *, of_rows: bool = True) -> _Part:
    digest, size, rows = hashlib.sha256(), 0, 0
    with archive.open(name, "w", force_zip64=True) as stream:
        for piece in pieces:
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
            rows += 1
    return _Part(bytes=size, sha256=digest.hexdigest(), rows=rows if of_rows else None)


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> tuple[Manifest, dict[str, _Part]]:
    """What the archive says of itself; refuses what is no backup, and what would unpack to more than it should."""
    inside = {info.filename: info for info in archive.infolist()}
    if MANIFEST not in inside or inside[MANIFEST].file_size > LARGEST_MANIFEST:
        raise FormatError(f"{path}: this .zip is no backup of ringtrue: it has no {MANIFEST}")
    try:
        told = json.loads(archive.read(MANIFEST))
        if told["kind"] != KIND or told["format"] != FORMAT:
            newer = told["kind"] == KIND
            why = f"of format {told['format']}, and this ringtrue knows {FORMAT}; install the newer version"
            raise FormatError(
                f"{path}: the backup is {why}" if newer else f"{path}: this .zip is no backup of ringtrue"
            )
        parts = {str(name): _Part(**part) for name, part in told.pop("parts").items()}
        manifest = Manifest(**{name: value for name, value in told.items() if name != "kind"})
        expected = sum(part.bytes for part in parts.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError(f"{path}: {MANIFEST} is not as ringtrue writes it; {DAMAGED}") from None
    names = [info.filename for info in archive.infolist()]
    if sorted(names) != sorted([*parts, MANIFEST]) or any(f"{table.name}.jsonl" not in parts for table in _tables()):
        raise FormatError(f"{path}: the files in it are not those that its {MANIFEST} names; {DAMAGED}")
    if any(inside[name].file_size != part.bytes for name, part in parts.items()):
        raise FormatError(f"{path}: a file in it has another size than its {MANIFEST} says; {DAMAGED}")
    packed = sum(info.compress_size for info in inside.values())
    if expected > SMALL + MOST_TIMES * packed:
        raise FormatError(
            f"{path}: it would unpack to {expected / 1e9:,.1f} GB, {expected // max(packed, 1):,} times its size, as "
            f"no backup does; nothing was restored"
        )
    return manifest, parts


def _require_empty(connection: Connection) -> None:
    for table, what in ((schema.account, "account"), (schema.project, "project")):
        count = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if count:
            raise StoreError(
                f"a backup is restored into an empty database only, and this one has {counted(count, what)}; name "
                f"another one, such as --db restored.db"
            )
    for table in reversed(_tables()):  # what a server leaves that nobody ever logged in to
        connection.execute(delete(table))


def _require_same_step(connection: Connection, manifest: Manifest, path: Path) -> None:
    here = version_of(connection)
    if manifest.migration != here:
        raise StoreError(
            f"{path}: the backup is of migration {manifest.migration}, and this ringtrue has {here}: restore it with "
            f"ringtrue {manifest.ringtrue}, which wrote it, and open that database with this version"
        )


def _restore(
    connection: Connection, archive: zipfile.ZipFile, table: Table, parts: Mapping[str, _Part], path: Path
) -> None:
    name = f"{table.name}.jsonl"
    known = _types(table)
    rows: list[dict[str, Any]] = []
    count = 0
    for line in _checked(archive, name, parts[name], path):
        count += 1
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if (
            not isinstance(row, dict)
            or row.keys() != known.keys()
            or not all(type(value) in known[key] for key, value in row.items())
        ):
            raise FormatError(f"{path}: {name}:{count}: expected {', '.join(sorted(known))}; {DAMAGED}")
        if table is schema.upload:
            row["content"] = _content(archive, row["id"], parts, path)
        rows.append(_storable(connection, row))
        if len(rows) == PIECE or table is schema.upload:
            _insert(connection, table, rows, path)
            rows = []
    if rows:
        _insert(connection, table, rows, path)
    if count != parts[name].rows:
        raise FormatError(
            f"{path}: {name} has {counted(count, 'row')}, and {MANIFEST} says {parts[name].rows}; {DAMAGED}"
        )


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]], path: Path) -> None:
    from sqlalchemy.exc import DataError, IntegrityError

    try:
        connection.execute(insert(table), rows)
    except (IntegrityError, DataError, OverflowError) as error:
        raise FormatError(f"{path}: the rows of {table.name} do not fit together; {DAMAGED}") from error


def _types(table: Table) -> dict[str, set[type]]:
    """What may stand in each column, as JSON has it."""
    found: dict[str, set[type]] = {}
    for column in table.c:
        if column is not schema.upload.c.content:
            wanted = column.type.python_type
            found[column.name] = {
                wanted,
                *({int} if wanted is float else ()),
                *({type(None)} if column.nullable else ()),
            }
    return found


def _storable(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL keeps no zero byte in a text; SQLite does."""
    if connection.dialect.name == "sqlite":
        return row
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}


def _content(archive: zipfile.ZipFile, number: object, parts: Mapping[str, _Part], path: Path) -> bytes:
    name = f"upload/{number}"
    if name not in parts:
        raise FormatError(f"{path}: upload {number} has no content; {DAMAGED}")
    return b"".join(_checked(archive, name, parts[name], path, lines=False))


def _checked(archive: zipfile.ZipFile, name: str, part: _Part, path: Path, *, lines: bool = True) -> Iterator[bytes]:
    """The lines, or pieces, of a file in the archive; at its end, size and SHA-256 must be those of the manifest."""
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as stream:
        while piece := _next(stream, lines=lines):
            digest.update(piece)
            size += len(piece)
            if size > part.bytes or len(piece) >= LONGEST:
                raise FormatError(f"{path}: {name} is longer than it says; {DAMAGED}")
            yield piece
    if (size, digest.hexdigest()) != (part.bytes, part.sha256):
        raise FormatError(f"{path}: {name} is not what was written (its SHA-256 differs); {DAMAGED}")


def _next(stream: IO[bytes], *, lines: bool) -> bytes:
    return stream.readline(LONGEST) if lines else stream.read(1 << 20)


def _count_on(connection: Connection) -> None:
    """Let PostgreSQL number new rows after those that were restored; SQLite does so by itself."""
    if connection.dialect.name == "sqlite":
        return
    for table in _tables():
        name, last = table.name, "COALESCE(MAX(id), 1), MAX(id) IS NOT NULL"
        connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {last}) FROM {name}"))
