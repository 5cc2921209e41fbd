"""Connections to the two databases: how they are made, kept and known to be alive; their errors, in our words.

At the end stands the little in which their SQL differs, and statements for many rows at a time.
"""

from __future__ import annotations

import copy
import os
import select
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    InterfaceError,
    InternalError,
    InvalidatePoolError,
    OperationalError,
    TimeoutError as PoolTimeout,
)
from sqlalchemy.pool import QueuePool, StaticPool

from ringtrue.errors import InputError, ReadOnlyError, StoreError, UnavailableError

if TYPE_CHECKING:
    from sqlalchemy import URL, Column, ColumnElement, Connection, Engine, Select, Table, TextClause

T = TypeVar("T")
CHUNK = 2_000  # rows or ids in one statement
FETCH_SIZE = 5_000  # rows that are fetched at a time

LOCKED = UnavailableError("database-locked", "the database is locked by another program; trying again is safe")
BUSY = UnavailableError("database-busy", "the database has too much to do; trying again is safe")
# Why it does not answer may name its host, and is for who opens it, not for judges.
AWAY = UnavailableError("database-away", "the database does not answer; trying again is safe")
FULL = ReadOnlyError("disk-full", "the disk of the database is full: make room on it; trying again is safe")
DISK_FAILS = ReadOnlyError("disk-fails", "the disk of the database fails; trying again is safe")
READ_ONLY = ReadOnlyError(
    "database-read-only",
    "the database may not be written: look at who may write its file and folder; trying again is safe",
)
SQLITE: dict[int, StoreError] = {  # https://www.sqlite.org/rescode.html, the lower byte
    5: LOCKED,
    6: LOCKED,
    8: READ_ONLY,
    13: FULL,
    10: DISK_FAILS,
    14: UnavailableError(
        "database-file-not-opened",
        "the file of the database cannot be opened: look at whether its folder is there and who may write it; trying "
        "again is safe",
    ),
    11: StoreError("database-damaged", "the file of the database is damaged: restore a backup"),
    26: StoreError("not-sqlite", "the file is no SQLite database"),
}
POSTGRESQL: dict[str, StoreError] = {  # https://www.postgresql.org/docs/current/errcodes-appendix.html
    "40P01": LOCKED,
    "40001": LOCKED,
    "55P03": LOCKED,
    "53100": FULL,
    "53300": BUSY,
    "25006": READ_ONLY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Where connections for writing and for reading come from; the same for SQLite."""

    writing: Engine
    reading: Engine
    in_memory: bool = False


def create_engines(url: str, *, pool_size: int, patience: float) -> Engines:
    """For a database by its URL or the path of an SQLite file; nothing is opened yet."""
    try:
        database_url = make_url(url if "://" in url else f"sqlite:///{url}")
    except ArgumentError:
        raise StoreError(
            "bad-database-url", f"expected the path of an SQLite file or postgresql://user@host/name, found '{url}'"
        ) from None
    backend = database_url.get_backend_name()
    pool_options: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": patience}
    if backend == "sqlite":
        in_memory = database_url.database in (None, "", ":memory:")
        engine = _sqlite_engine(database_url, pool_options, patience, in_memory=in_memory)
        return Engines(writing=engine, reading=engine, in_memory=in_memory)
    if backend != "postgresql":
        raise StoreError("unknown-database", f"ringtrue keeps judgments in sqlite or postgresql, found '{backend}'")
    try:
        import psycopg  # noqa: F401 - to tell what is missing
    except ModuleNotFoundError:
        raise StoreError(
            "missing-package", "PostgreSQL needs one more package: pip install 'ringtrue[postgres]'"
        ) from None
    return Engines(
        writing=_postgresql_engine(database_url, pool_options, patience, read_only=False),
        reading=_postgresql_engine(database_url, pool_options, patience, read_only=True),
    )


@contextmanager
def translate_db_errors() -> Iterator[None]:
    """Raise our own errors where the database failed; what is a fault of the program stays as it is."""
    try:
        yield
    except PoolTimeout:
        raise copy.copy(BUSY) from None
    except DataError as error:
        raise InputError(
            "not-storable", f"the database cannot keep this: {_error_text(error)}; take it out of the text or file"
        ) from error
    except DBAPIError as error:
        known_error = _classify_error(error)
        if known_error is None:
            raise
        raise copy.copy(known_error) from error


@contextmanager
def translate_opening_errors(database: str) -> Iterator[None]:
    """The same where a database is opened: the message names it."""
    try:
        yield
    except DBAPIError as error:
        known_error = _classify_error(error) or StoreError("database-not-opened", _error_text(error))
        if known_error is AWAY:
            known_error = AWAY.with_note(AWAY.note.changed(text=_error_text(error)))
        raise known_error.about(f"cannot open the database {database}") from error


def fetch_raw_rows(connection: Connection, statement: Select[Any]) -> Iterator[Sequence[Any]]:
    """Rows as the driver has them, some thousands at a time: SQLAlchemy's row objects take a third of the time.

    SQLite has no truth values: there, they are integers.
    """
    result = connection.execute(statement)
    driver_error = connection.dialect.loaded_dbapi.Error
    try:
        while rows := result.cursor.fetchmany(FETCH_SIZE):
            yield rows
    except driver_error as error:
        raise DBAPIError.instance(None, None, error, driver_error) from error
    finally:
        result.close()


def _sqlite_engine(url: URL, pool_options: dict[str, Any], patience: float, *, in_memory: bool) -> Engine:
    if not in_memory and "uri" not in url.query:
        folder = Path(str(url.database)).parent
        if not folder.is_dir():
            raise StoreError(
                "no-database-folder", f"no folder '{folder}' for the database {url.database}: make it, or name another"
            )
    engine_options: dict[str, Any] = {"poolclass": StaticPool} if in_memory else pool_options | {"poolclass": QueuePool}
    engine = create_engine(
        url, connect_args={"check_same_thread": False, "timeout": patience}, hide_parameters=True, **engine_options
    )

    @event.listens_for(engine, "do_connect")
    def create_private_file(_dialect: object, _record: object, connect_args: Any, _named: object) -> None:
        if not in_memory and "uri" not in url.query:
            _create_private_file(connect_args[0])

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        _enable_wal(connection, patience)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is erased is not left in the file
        connection.execute("PRAGMA temp_store=MEMORY")  # sorting an export must not need a disk that is full

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _create_private_file(path: str) -> None:
    """Make the file of a new database for nobody else's eyes; SQLite gives the files beside it the same mode.

    One that is there is not even opened: closing it again would take away the locks that SQLite has on it.
    """
    with suppress(OSError):  # SQLite tells better what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _enable_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Readers and the writer do not wait for each other. SQLite itself does not wait for its turn to say so."""
    give_up_at = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)
        else:
            return


def _postgresql_engine(url: URL, pool_options: dict[str, Any], patience: float, *, read_only: bool) -> Engine:
    # What is read is of one moment; writers lock the rows they change, and see what others did before.
    isolation_level = "REPEATABLE READ" if read_only else "READ COMMITTED"
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        isolation_level=isolation_level,
        hide_parameters=True,
        connect_args={"connect_timeout": max(2, round(patience))},
        **pool_options,
    )

    @event.listens_for(engine, "connect")
    def configure_session(connection: Any, record: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {max(1, round(patience * 1000))}")
        connection.autocommit = False
        connection.read_only = read_only
        record.info["fresh"] = True

    @event.listens_for(engine, "checkout")
    def require_alive(connection: Any, record: Any, _proxy: object) -> None:
        # A server that goes says so or hangs up. Both can be heard without asking it, which would take a query's time.
        if not record.info.pop("fresh", False) and (connection.closed or _has_input(connection.fileno())):
            raise InvalidatePoolError

    return engine


def _has_input(descriptor: int) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _classify_error(error: DBAPIError) -> StoreError | None:
    """What the driver says has happened; None where the database is not at fault.

    Its codes say so, not its message, which may quote what somebody wrote.
    """
    code = getattr(error.orig, "sqlite_errorcode", None)
    if isinstance(code, int):
        if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for what lies beside the file while it is open
            return FULL
        return SQLITE.get(code & 0xFF)
    state = getattr(error.orig, "sqlstate", None)
    if state in POSTGRESQL:
        return POSTGRESQL[state]
    return AWAY if isinstance(error, OperationalError | InterfaceError | InternalError) else None


def _error_text(error: DBAPIError) -> str:
    return " ".join(str(error.orig).split())


def with_row_locks(statement: str, clause: str) -> dict[str, TextClause]:
    """A statement by dialect: PostgreSQL is told which rows to lock, where SQLite has one writer."""
    return {"sqlite": text(statement), "postgresql": text(f"{statement} {clause}")}


def dialect_insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    return (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)


def insert_if_absent(connection: Connection, table: Table, *unique: str) -> Any:
    """An INSERT that does nothing where a row with the same unique columns is there, also when two insert at once."""
    return dialect_insert(connection, table).on_conflict_do_nothing(index_elements=unique)


def without_index(connection: Connection, column: Column[int]) -> ColumnElement[int]:
    """The column, so that SQLite does not take its index; PostgreSQL knows how many rows have each value.

    SQLite begins with an index wherever there is one, and sorts what it has by it for the first few rows.
    """
    return column + 0 if connection.dialect.name == "sqlite" else column


def analyze_tables(connection: Connection) -> None:
    """Let PostgreSQL look at how large its tables have become: until it has, a task takes it seconds."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE query, document, item")


def chunks(rows: Iterable[T]) -> Iterator[list[T]]:
    """The rows, as many at a time as a statement takes."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, CHUNK)):
        yield chunk
