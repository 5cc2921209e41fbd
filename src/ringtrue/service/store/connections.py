"""Connections to the two databases: how they are made, kept and known to be alive."""

from __future__ import annotations

import os
import select
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtrue.errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

__all__ = ["Engines", "engines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Where connections for writing and for reading come from; the same for SQLite."""

    writing: Engine
    reading: Engine
    in_memory: bool = False


def engines(url: str, *, pool_size: int, patience: float) -> Engines:
    """For a database by its URL or the path of an SQLite file; nothing is opened yet."""
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        raise StoreError("collecting judgments needs more packages: pip install 'ringtrue[web]'") from None
    try:
        found = make_url(url if "://" in url else f"sqlite:///{url}")
    except ArgumentError:
        raise StoreError(f"expected the path of an SQLite file or postgresql://user@host/name, found '{url}'") from None
    kind = found.get_backend_name()
    pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": patience}
    if kind == "sqlite":
        in_memory = found.database in (None, "", ":memory:")
        one = _sqlite(found, pool, patience, in_memory=in_memory)
        return Engines(writing=one, reading=one, in_memory=in_memory)
    if kind != "postgresql":
        raise StoreError(f"ringtrue keeps judgments in sqlite or postgresql, found '{kind}'")
    try:
        import psycopg  # noqa: F401 - to tell what is missing
    except ModuleNotFoundError:
        raise StoreError("PostgreSQL needs one more package: pip install 'ringtrue[postgres]'") from None
    return Engines(
        writing=_postgresql(found, pool, patience, reads=False), reading=_postgresql(found, pool, patience, reads=True)
    )


def _sqlite(url: URL, pool: dict[str, Any], patience: float, *, in_memory: bool) -> Engine:
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import QueuePool, StaticPool

    if not in_memory and "uri" not in url.query:
        folder = Path(str(url.database)).parent
        if not folder.is_dir():
            raise StoreError(f"no folder '{folder}' for the database {url.database}: make it, or name another")
    kept: dict[str, Any] = {"poolclass": StaticPool} if in_memory else pool | {"poolclass": QueuePool}
    engine = create_engine(
        url, connect_args={"check_same_thread": False, "timeout": patience}, hide_parameters=True, **kept
    )

    @event.listens_for(engine, "do_connect")
    def make(_dialect: object, _record: object, words: Any, _named: object) -> None:
        if not in_memory and "uri" not in url.query:
            _make_private(words[0])

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        _write_ahead(connection, patience)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is erased is not left in the file

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_private(path: str) -> None:
    """Make the file of a new database for nobody else's eyes; SQLite gives the files beside it the same mode.

    One that is there is not even opened: closing it again would take away the locks that SQLite has on it.
    """
    with suppress(OSError):  # SQLite tells better what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Readers and the writer do not wait for each other. SQLite itself does not wait for its turn to say so."""
    end = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _postgresql(url: URL, pool: dict[str, Any], patience: float, *, reads: bool) -> Engine:
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import InvalidatePoolError

    # What is read is of one moment; writers lock the rows they change, and see what others did before.
    level = "REPEATABLE READ" if reads else "READ COMMITTED"
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"), isolation_level=level, hide_parameters=True,
        connect_args={"connect_timeout": max(2, round(patience))}, **pool,
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout = {max(1, round(patience * 1000))}")
        connection.autocommit = False
        connection.read_only = reads
        record.info["fresh"] = True

    @event.listens_for(engine, "checkout")
    def still_there(connection: Any, record: Any, _proxy: object) -> None:
        # A server that goes says so or hangs up. Both can be heard without asking it, which would take a query's time.
        if not record.info.pop("fresh", False) and (connection.closed or _is_heard(connection.fileno())):
            raise InvalidatePoolError

    return engine


def _is_heard(file: int) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([file], [], [], 0)[0])
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))
