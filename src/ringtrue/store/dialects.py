"""The little in which the two databases differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table, TextClause

__all__ = ["for_both", "insert_or"]


def for_both(statement: str, *, postgresql: str) -> dict[str, TextClause]:
    """A statement by the name of the dialect: PostgreSQL is told which rows to lock, and SQLite has one writer."""
    return {"sqlite": text(statement), "postgresql": text(f"{statement} {postgresql}")}


def insert_or(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
