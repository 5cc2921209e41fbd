"""The little in which the two databases differ, and statements for many rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table, TextClause

T = TypeVar("T")
CHUNK = 2_000  # rows or ids in one statement


def with_row_locks(statement: str, clause: str) -> dict[str, TextClause]:
    """A statement by dialect: PostgreSQL is told which rows to lock, where SQLite has one writer."""
    return {"sqlite": text(statement), "postgresql": text(f"{statement} {clause}")}


def dialect_insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def insert_if_absent(connection: Connection, table: Table, *unique: str) -> Any:
    """An INSERT that does nothing where a row with the same unique columns is there, also when two insert at once."""
    return dialect_insert(connection, table).on_conflict_do_nothing(index_elements=unique)


def analyze_tables(connection: Connection) -> None:
    """Let PostgreSQL look at how large its tables have become: until it has, a task takes it seconds."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE query, document, item")


def chunks(rows: Iterable[T]) -> Iterator[list[T]]:
    """The rows, as many at a time as a statement takes."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, CHUNK)):
        yield chunk
