"""The little in which the two databases differ, and the statements that are run for every answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

Row = TypeVar("Row", bound=NamedTuple)
NAMED_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


class RawStatement(Generic[Row]):
    """A statement that is run for every answer, given to the driver as it stands: `row_type` names what it answers.

    SQLAlchemy takes 62 µs for a statement that SQLite itself answers in 8; an answer and the next question are six.
    PostgreSQL is told which rows to lock (`postgresql` stands at the end), where SQLite has one writer. Faults of the
    driver are told by `db_errors.translate_db_errors`, like all others.
    """

    def __init__(self, statement: str, row_type: type[Row] | None = None, *, postgresql: str = "") -> None:
        self._row_type = row_type
        self._sql = {"sqlite": statement, "postgresql": NAMED_PARAMETER.sub(r"%(\1)s", f"{statement} {postgresql}")}

    def run(self, connection: Connection, **parameters: object) -> int:
        """Change something; answers how many rows were changed."""
        return int(self._execute(connection, parameters).rowcount)

    def first(self, connection: Connection, **parameters: object) -> Row | None:
        """The first row; None where there is none."""
        assert self._row_type is not None
        row = self._execute(connection, parameters).fetchone()
        return None if row is None else self._row_type._make(row)

    def all(self, connection: Connection, **parameters: object) -> list[Row]:
        """Every row."""
        assert self._row_type is not None
        return [self._row_type._make(row) for row in self._execute(connection, parameters).fetchall()]

    def run_all(self, connection: Connection, parameters: Sequence[Mapping[str, object]]) -> None:
        """Change something for each of several values."""
        driver: Any = connection.connection.driver_connection
        driver.cursor().executemany(self._sql[connection.dialect.name], parameters)

    def _execute(self, connection: Connection, parameters: dict[str, object]) -> Any:
        driver: Any = connection.connection.driver_connection
        return driver.execute(self._sql[connection.dialect.name], parameters)


def dialect_insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def analyze_tables(connection: Connection) -> None:
    """Let PostgreSQL look at how large its tables have become: until it has, a task takes it seconds."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE query, document, item")
