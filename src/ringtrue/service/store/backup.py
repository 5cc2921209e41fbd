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

from sqlalchemy import delete, func, insert, or_, select, text, update

from ringtrue._version import __version__
from ringtrue.errors import FileError, FormatError, StoreError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Suggestion
from ringtrue.service.store import schema
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.migration import read_schema_version

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from ringtrue.service.store.store import Store

FORMAT = 1
KIND = "ringtrue backup"
MANIFEST = "manifest.json"
# Of this server and this hour: log-ins, failed log-ins, the signing secret.
EXCLUDED_TABLES = {"login", "attempt", "setting"}
BATCH_ROWS = 1_000  # rows that are read or written at a time
# A large archive that unpacks to more than so many times its size is none of ours.
SMALL_ARCHIVE_BYTES, MAX_COMPRESSION_RATIO = 1 << 25, 200
MAX_LINE_BYTES = 1 << 28  # bytes of a line
MAX_MANIFEST_BYTES = 1 << 24
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
class Restoration:
    """What was restored, and how many tokens and invitations were revoked by it."""

    manifest: Manifest
    tokens: int
    invitations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    bytes: int
    sha256: str
    rows: int | None = None


def write_backup(store: Store, file: Path | IO[bytes], *, now: float) -> Manifest:
    """Write all that was collected, as of one moment, while judges go on; log-ins are left out.

    A stream need not be able to go back: the file is written from its beginning to its end.
    """
    parts: dict[str, _Part] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive, store.read() as connection:
        for table in _tables_in_order():
            parts[f"{table.name}.jsonl"] = _write_part(archive, f"{table.name}.jsonl", _table_lines(connection, table))
        for upload_id in connection.execute(select(schema.upload.c.id).order_by(schema.upload.c.id)).scalars().all():
            content = connection.execute(
                select(schema.upload.c.content).where(schema.upload.c.id == upload_id)
            ).scalar()
            parts[_upload_part_name(upload_id)] = _write_part(
                archive, _upload_part_name(upload_id), [bytes(content or b"")], has_rows=False
            )
        manifest = Manifest(
            format=FORMAT,
            migration=read_schema_version(connection),
            ringtrue=__version__,
            written=now,
            rows={name.removesuffix(".jsonl"): part.rows for name, part in parts.items() if part.rows is not None},
        )
        manifest_fields = {
            "kind": KIND,
            **asdict(manifest),
            "parts": {name: asdict(part) for name, part in parts.items()},
        }
        archive.writestr(MANIFEST, json.dumps(manifest_fields, indent=1))
    return manifest


def restore_backup(store: Store, path: Path, *, now: float) -> Restoration:
    """Put a backup into an empty database; where anything is wrong with it, the database stays empty.

    What opened an account at that time may have been revoked or used up since: tokens, invitations and links for a new
    password are revoked. Links for crowd platforms go on: whoever has one may judge, and nothing else.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise FileError("no-such-file", "no such file", file=str(path)) from None
    except zipfile.BadZipFile:
        raise FormatError(
            "no-backup", "expected a backup, a .zip that ringtrue wrote, and this is none", file=str(path)
        ) from None
    except OSError as error:
        raise FileError("unreadable-file", f"cannot be read ({error.strerror or error})", file=str(path)) from error
    with archive:
        try:
            manifest, parts = _read_manifest(archive, path)
            with store.transaction() as connection:
                _require_empty_database(connection)
                _require_same_migration(connection, manifest, path)
                _require_every_table(parts, path)
                for table in _tables_in_order():
                    _restore_table(connection, archive, table, parts, path)
                _reset_sequences(connection)
                tokens, invitations = _revoke_access(connection, now)
        except UNREADABLE as error:
            raise FormatError("backup-damaged", DAMAGED, file=str(path)) from error
    return Restoration(manifest=manifest, tokens=tokens, invitations=invitations)


def _revoke_access(connection: Connection, now: float) -> tuple[int, int]:
    """Make useless what lets somebody in but a password; how many tokens and invitations that were."""
    token, invitation = schema.token, schema.invitation
    tokens = connection.execute(update(token).where(token.c.revoked.is_(None)).values(revoked=now)).rowcount
    is_open = invitation.c.revoked.is_(None), or_(invitation.c.left.is_(None), invitation.c.left > 0)
    opens_account = invitation.c.kind != "crowd"
    invitations = connection.execute(update(invitation).where(*is_open, opens_account).values(revoked=now)).rowcount
    record_action(connection, "restore", now=now, detail={"tokens": tokens, "invitations": invitations})
    return tokens, invitations


def _tables_in_order() -> list[Table]:
    """The tables, each after those that it points to."""
    return [table for table in schema.metadata.sorted_tables if table.name not in EXCLUDED_TABLES]


def _upload_part_name(upload_id: int) -> str:
    return f"upload/{upload_id}"


def _table_lines(connection: Connection, table: Table) -> Iterator[bytes]:
    columns = [column for column in table.c if column is not schema.upload.c.content]
    cursor = connection.execute(select(*columns).order_by(table.c.id).execution_options(yield_per=BATCH_ROWS))
    for row in cursor.mappings():
        yield json.dumps(dict(row), separators=(",", ":")).encode() + b"\n"


def _write_part(archive: zipfile.ZipFile, name: str, pieces: Any, *, has_rows: bool = True) -> _Part:
    digest, size, rows = hashlib.sha256(), 0, 0
    with archive.open(name, "w", force_zip64=True) as stream:
        for piece in pieces:
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
            rows += 1
    return _Part(bytes=size, sha256=digest.hexdigest(), rows=rows if has_rows else None)


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> tuple[Manifest, dict[str, _Part]]:
    """What the archive says of itself; refuses what is no backup, and what would unpack to more than it should."""
    entries = {info.filename: info for info in archive.infolist()}
    if MANIFEST not in entries or entries[MANIFEST].file_size > MAX_MANIFEST_BYTES:
        raise FormatError("no-manifest", f"this .zip is no backup of ringtrue: it has no {MANIFEST}", file=str(path))
    try:
        manifest_fields = json.loads(archive.read(MANIFEST))
        if manifest_fields["kind"] != KIND:
            raise FormatError("no-backup", "this .zip is no backup of ringtrue", file=str(path))
        if manifest_fields["format"] != FORMAT:
            raise FormatError(
                "newer-backup",
                f"the backup is of format {manifest_fields['format']}, and this ringtrue knows {FORMAT}; install the "
                f"newer version",
                file=str(path),
            )
        parts = {str(name): _Part(**part) for name, part in manifest_fields.pop("parts").items()}
        manifest = Manifest(**{name: value for name, value in manifest_fields.items() if name != "kind"})
        unpacked_size = sum(part.bytes for part in parts.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError(
            "bad-manifest", f"{MANIFEST} is not as ringtrue writes it; {DAMAGED}", file=str(path)
        ) from None
    names = [info.filename for info in archive.infolist()]
    if sorted(names) != sorted([*parts, MANIFEST]):
        raise FormatError(
            "backup-files-differ",
            f"the files in it are not those that its {MANIFEST} names; {DAMAGED}",
            file=str(path),
        )
    if any(entries[name].file_size != part.bytes for name, part in parts.items()):
        raise FormatError(
            "backup-size-differs",
            f"a file in it has another size than its {MANIFEST} says; {DAMAGED}",
            file=str(path),
        )
    packed_size = sum(info.compress_size for info in entries.values())
    if unpacked_size > SMALL_ARCHIVE_BYTES + MAX_COMPRESSION_RATIO * packed_size:
        raise FormatError(
            "backup-too-large",
            f"it would unpack to {unpacked_size / 1e9:,.1f} GB, {unpacked_size // max(packed_size, 1):,} times "
            f"its size, as no backup does; nothing was restored",
            file=str(path),
        )
    return manifest, parts


def _require_empty_database(connection: Connection) -> None:
    for table, noun in ((schema.account, "account"), (schema.project, "project")):
        count = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if count:
            raise StoreError(
                "database-not-empty",
                f"a backup is restored into an empty database only, and this one has {format_count(count, noun)}",
                suggestions=[Suggestion("restores it into another one", database="restored.db")],
            )
    for table in reversed(_tables_in_order()):  # what a server leaves that nobody ever logged in to
        connection.execute(delete(table))


def _require_same_migration(connection: Connection, manifest: Manifest, path: Path) -> None:
    migration = read_schema_version(connection)
    if manifest.migration != migration:
        raise StoreError(
            "other-migration",
            f"the backup is of migration {manifest.migration}, and this ringtrue has {migration}: restore it "
            f"with ringtrue {manifest.ringtrue}, which wrote it, and open that database with this version",
            file=str(path),
        )


def _require_every_table(parts: Mapping[str, _Part], path: Path) -> None:
    missing = [table.name for table in _tables_in_order() if f"{table.name}.jsonl" not in parts]
    if missing:
        raise FormatError("backup-table-missing", f"it has no table {', '.join(missing)}; {DAMAGED}", file=str(path))


def _restore_table(
    connection: Connection, archive: zipfile.ZipFile, table: Table, parts: Mapping[str, _Part], path: Path
) -> None:
    name = f"{table.name}.jsonl"
    column_types = _json_types(table)
    rows: list[dict[str, Any]] = []
    row_count = 0
    for line in _read_part(archive, name, parts[name], path):
        row_count += 1
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if (
            not isinstance(row, dict)
            or row.keys() != column_types.keys()
            or not all(type(value) in column_types[key] for key, value in row.items())
        ):
            raise FormatError(
                "bad-backup-row",
                f"expected {', '.join(sorted(column_types))}; {DAMAGED}",
                subject=f"{name}:{row_count}",
                file=str(path),
            )
        if table is schema.upload:
            row["content"] = _read_upload_content(archive, row["id"], parts, path)
        rows.append(_replace_null_characters(connection, row))
        if len(rows) == BATCH_ROWS or table is schema.upload:
            _insert_rows(connection, table, rows, path)
            rows = []
    if rows:
        _insert_rows(connection, table, rows, path)
    if row_count != parts[name].rows:
        raise FormatError(
            "backup-row-count",
            f"{name} has {format_count(row_count, 'row')}, and {MANIFEST} says {parts[name].rows}; {DAMAGED}",
            file=str(path),
        )


def _insert_rows(connection: Connection, table: Table, rows: list[dict[str, Any]], path: Path) -> None:
    from sqlalchemy.exc import DataError, IntegrityError

    try:
        connection.execute(insert(table), rows)
    except (IntegrityError, DataError, OverflowError) as error:
        raise FormatError(
            "backup-rows-conflict", f"the rows of {table.name} do not fit together; {DAMAGED}", file=str(path)
        ) from error


def _json_types(table: Table) -> dict[str, set[type]]:
    """What may stand in each column, as JSON has it."""
    column_types: dict[str, set[type]] = {}
    for column in table.c:
        if column is not schema.upload.c.content:
            python_type = column.type.python_type
            column_types[column.name] = {
                python_type,
                *({int} if python_type is float else ()),
                *({type(None)} if column.nullable else ()),
            }
    return column_types


def _replace_null_characters(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL keeps no zero byte in a text; SQLite does."""
    if connection.dialect.name == "sqlite":
        return row
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}


def _read_upload_content(archive: zipfile.ZipFile, upload_id: object, parts: Mapping[str, _Part], path: Path) -> bytes:
    name = f"upload/{upload_id}"
    if name not in parts:
        raise FormatError("backup-upload-missing", f"upload {upload_id} has no content; {DAMAGED}", file=str(path))
    return b"".join(_read_part(archive, name, parts[name], path, lines=False))


def _read_part(archive: zipfile.ZipFile, name: str, part: _Part, path: Path, *, lines: bool = True) -> Iterator[bytes]:
    """The lines, or pieces, of a file in the archive; at its end, size and SHA-256 must be those of the manifest."""
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as stream:
        while piece := _next_piece(stream, lines=lines):
            digest.update(piece)
            size += len(piece)
            if size > part.bytes or len(piece) >= MAX_LINE_BYTES:
                raise FormatError("backup-file-too-long", f"{name} is longer than it says; {DAMAGED}", file=str(path))
            yield piece
    if (size, digest.hexdigest()) != (part.bytes, part.sha256):
        raise FormatError(
            "backup-checksum", f"{name} is not what was written (its SHA-256 differs); {DAMAGED}", file=str(path)
        )


def _next_piece(stream: IO[bytes], *, lines: bool) -> bytes:
    return stream.readline(MAX_LINE_BYTES) if lines else stream.read(1 << 20)


def _reset_sequences(connection: Connection) -> None:
    """Let PostgreSQL number new rows after those that were restored; SQLite does so by itself."""
    if connection.dialect.name == "sqlite":
        return
    for table in _tables_in_order():
        name, last = table.name, "COALESCE(MAX(id), 1), MAX(id) IS NOT NULL"
        connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {last}) FROM {name}"))
