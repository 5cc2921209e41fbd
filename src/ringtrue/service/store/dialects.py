"""The little in which the two databases differ, and the statements that are run for every answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

__all__ = ["Prepared", "insert_or", "look_at_size"]

Row = TypeVar("Row", bound=NamedTuple)
NAMED = re.compile(r"(?<![:\w]):(\w+)")


class Prepared(Generic[Row]):
    """A statement that is run for every answer, given to the driver as it stands: `row` names what it answers.

    SQLAlchemy takes 62 µs for a statement that SQLite itself answers in 8; an answer and the next question are six.
    PostgreSQL is told which rows to lock (`postgresql` stands at the end), where SQLite has one writer. Faults of the
    driver are told by `faults.told`, like all others.
    """

    def __init__(self, statement: str, row: type[Row] | None = None, *, postgresql: str = "") -> None:
        self._row = row
        self._words = {"sqlite": statement, "postgresql": NAMED.sub(r"%(\1)s", f"{statement} {postgresql}")}

    def run(self, connection: Connection, **values: object) -> int:
        """Change something; answers how many rows were changed."""
        return int(self._executed(connection, values).rowcount)

    def first(self, connection: Connection, **values: object) -> Row | None:
        """The first row; None where there is none."""
        assert self._row is not None
        found = self._executed(connection, values).fetchone()
        return None if found is None else self._row._make(found)

    def all(self, connection: Connection, **values: object) -> list[Row]:
        """Every row."""
        assert self._row is not None
        return [self._row._make(row) for row in self._executed(connection, values).fetchall()]

    def run_all(self, connection: Connection, values: Sequence[Mapping[str, object]]) -> None:
        """Change something for each of several values."""
        driver: Any = connection.connection.driver_connection
        driver.cursor().executemany(self._words[connection.dialect.name], values)

    def _executed(self, connection: Connection, values: dict[str, object]) -> Any:
        driver: Any = connection.connection.driver_connection
        return driver.execute(self._words[connection.dialect.name], values)


def insert_or(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def look_at_size(connection: Connection) -> None:
    """Let PostgreSQL look at how large its tables have become: until it has, a task takes it seconds."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE query, document, item")
