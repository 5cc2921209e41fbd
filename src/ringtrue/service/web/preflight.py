"""Whether a server could be started: `ringtrue serve --check`. Nothing is served, made or migrated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Engine, text

from ringtrue.errors import RingtrueError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note, Suggestion
from ringtrue.service.store.connections import create_engines, translate_opening_errors
from ringtrue.service.store.migration import STEPS, read_schema_version, require_known_version
from ringtrue.service.web.app import open_listener, require_one_process_on_sqlite
from ringtrue.service.web.disk_space import FULL_BYTES, list_temp_parents, measure_disk
from ringtrue.service.web.origins import is_loopback, normalise_base_url

if TYPE_CHECKING:
    from ringtrue.service.web.disk_space import DiskSpace

OPTIONAL_PACKAGES = {  # what each is for
    "uvloop": "a faster event loop",
    "psycopg": "PostgreSQL",
}
PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at: whether it is as it should be, and what was found."""

    name: str
    ok: bool
    detail: Note

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "code": self.detail.code}


class Target(NamedTuple):
    """What would be served, and where."""

    database: str
    host: str
    port: int
    base_url: str | None
    workers: int = 1


def check_server(target: Target) -> list[Check]:
    """Everything that can be looked at before starting; what fails does not stop the others."""
    checks = (
        ("database", lambda: _check_database(target.database)),
        ("workers", lambda: _check_workers(target)),
        ("disk", lambda: _check_disk(target.database)),
        ("temporary files", _check_temp_folders),
        ("address", lambda: _check_address(target)),
        ("port", lambda: _check_port(target)),
        ("packages", lambda: _check_packages(target.database)),
    )
    return [check for name, look in checks for check in _run_check(name, look)]


def _run_check(name: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    try:
        yield from look()
    except RingtrueError as error:
        detail = error.note if error.place is None else error.note.about(error.place)
        yield Check(name=name, ok=False, detail=detail)


def _check_database(database: str) -> Iterator[Check]:
    engines = create_engines(database, pool_size=1, patience=PATIENCE)
    path = _sqlite_path(engines.writing)
    if path is not None and not path.exists():
        yield _check_new_file(path)
        return
    try:
        with translate_opening_errors(engines.writing.url.render_as_string()):
            with engines.writing.connect() as connection, connection.begin():
                version = read_schema_version(connection)
            yield Check(name="database", ok=True, detail=Note("database-readable", "can be opened and read"))
            _try_to_write(engines.writing, version)
        row_written = Note("database-writable", "a row could be written; it was rolled back")
        yield Check(name="writing", ok=True, detail=row_written)
        yield _describe_migration(version, is_sqlite=path is not None)
    finally:
        engines.writing.dispose()
        engines.reading.dispose()


def _check_new_file(path: Path) -> Check:
    folder = path.absolute().parent
    if not os.access(folder, os.W_OK | os.X_OK):
        unwritable = Note("database-folder-unwritable", f"does not exist, and the folder {folder} cannot be written")
        return Check(name="database", ok=False, detail=unwritable.about(str(path)))
    new_file = Note("database-to-be-made", "does not exist yet; starting creates it", subject=str(path))
    return Check(name="database", ok=True, detail=new_file)


def _check_workers(target: Target) -> Iterator[Check]:
    require_one_process_on_sqlite(target.database, target.workers)
    yield Check(name="workers", ok=True, detail=Note("worker-processes", format_count(target.workers, "process")))


def _sqlite_path(engine: Engine) -> Path | None:
    is_file = engine.dialect.name == "sqlite" and engine.url.database not in (None, "", ":memory:")
    return Path(str(engine.url.database)) if is_file else None


def _try_to_write(engine: Engine, version: int) -> None:
    """Write a row where there are tables, else make one; both are taken back."""
    statement = (
        "INSERT INTO setting (name, value) VALUES ('check', '')" if version else "CREATE TABLE checked (id INTEGER)"
    )
    with engine.connect() as connection:
        _write_and_roll_back(connection.execution_options(writes=True), statement)


def _write_and_roll_back(connection: Connection, statement: str) -> None:
    transaction = connection.begin()
    try:
        connection.execute(text(statement))
    finally:
        transaction.rollback()


def _describe_migration(version: int, *, is_sqlite: bool) -> Check:
    require_known_version(version, STEPS)
    if version == len(STEPS):
        detail = Note("schema-up-to-date", f"step {version}, up to date")
    elif not version:
        detail = Note("schema-to-be-made", "no tables yet; starting creates them")
    else:
        missing = "; ".join(f"{number}: {what}" for number, (what, _) in enumerate(STEPS[version:], start=version + 1))
        copy = "after a copy of the file beside it" if is_sqlite else "so make a copy with pg_dump first"
        more = format_count(len(STEPS) - version, "step")
        detail = Note("schema-to-be-migrated", f"step {version}; starting takes {more} more, {copy}: {missing}")
    return Check(name="schema", ok=True, detail=detail)


def _check_disk(database: str) -> Iterator[Check]:
    engines = create_engines(database, pool_size=1, patience=PATIENCE)
    path = _sqlite_path(engines.writing)
    engines.writing.dispose()
    engines.reading.dispose()
    space = None if path is None else measure_disk(path.absolute().parent)
    if path is None:
        watched_there = Note("disk-unknown", "PostgreSQL does not report how much room it has: watch it there")
        yield Check(name="disk", ok=True, detail=watched_there)
    elif space is not None:
        free = Note(
            "disk-low" if space.is_low else "disk-space", _describe_space(space), subject=str(path.absolute().parent)
        )
        yield Check(name="disk", ok=space.free >= FULL_BYTES, detail=free)


def _describe_space(space: DiskSpace) -> str:
    return f"{space.free / 1e6:,.0f} MB free ({space.free_percent:g}%)" + (", which is little" if space.is_low else "")


def _check_temp_folders() -> Iterator[Check]:
    spaces = [(folder, measure_disk(folder)) for folder in list_temp_parents()]
    rooms = "; ".join(f"{folder}: {_describe_space(space)}" for folder, space in spaces if space is not None)
    detail = (
        Note("temporary-space", rooms) if rooms else Note("no-temporary-folder", "no folder can be written: set TMPDIR")
    )
    has_room = any(space is not None and space.free >= FULL_BYTES for _, space in spaces)
    yield Check(name="temporary files", ok=has_room, detail=detail)


def _check_address(target: Target) -> Iterator[Check]:
    address = normalise_base_url(target.base_url)
    is_https = (address or "").startswith("https://")
    if address is None and is_loopback(target.host):
        detail = Note(
            "local-address",
            "for this machine alone",
            parameter="base_url",
            suggestions=[Suggestion("opens it to others, through an HTTPS proxy before it", base_url=...)],
        )
    elif is_https:
        detail = Note("https-address", "cookies travel by https only", subject=address)
    else:
        detail = Note(
            "no-https", "without https, passwords and answers travel in plain text", subject=address or target.host
        )
    yield Check(name="address", ok=is_https or is_loopback(target.host), detail=detail)


def _check_port(target: Target) -> Iterator[Check]:
    with open_listener(target.host, target.port) as listener:
        port = listener.getsockname()[1]
    free = Note("port-free", "free", subject=f"{target.host}, port {port if target.port else 'any'}")
    yield Check(name="port", ok=True, detail=free)


def _check_packages(database: str) -> Iterator[Check]:
    missing = [name for name in OPTIONAL_PACKAGES if find_spec(name) is None]
    with suppress(ValueError):
        if not database.startswith("postgresql"):
            missing.remove("psycopg")
    listing = "; ".join(f"{name} is missing ({OPTIONAL_PACKAGES[name]})" for name in missing)
    detail = Note("missing-package", listing) if missing else Note("packages-complete", "all there")
    yield Check(name="packages", ok="psycopg" not in missing, detail=detail)
