"""The little in which the two databases differ, and statements for many rows at a time."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable, Table, TextClause

T = TypeVar("T")
CHUNK = 2_000  # rows or ids in one statement


class Prepared:
    """A statement that is run for every answer: compiled once for each dialect, and then given to the driver.

    SQLAlchemy takes some 25 µs for a statement that SQLite answers in 3; what the store does for a judgment costs a
    quarter less CPU like this. Results are named tuples of what the driver answers.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._by_dialect: dict[str, tuple[str, dict[str, Any]]] = {}
        self._row: Any = None

    def all(self, connection: Connection, **parameters: object) -> list[Any]:
        """Every row."""
        with self._driver(connection) as (driver, sql, constants):
            cursor = driver.execute(sql, constants | parameters)
            self._row = self._row or namedtuple("Row", [column[0] for column in cursor.description])
            return list(map(self._row._make, cursor.fetchall()))

    def first(self, connection: Connection, **parameters: object) -> Any:
        """The first row; None where there is none."""
        return next(iter(self.all(connection, **parameters)), None)

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Change something for each of several rows of parameters."""
        with self._driver(connection) as (driver, sql, constants):
            driver.cursor().executemany(sql, [{**constants, **row} for row in rows])

    @contextmanager
    def _driver(self, connection: Connection) -> Iterator[tuple[Any, str, dict[str, Any]]]:
        """The driver's connection and the statement as it takes it; its errors come as from any other statement."""
        dialect = connection.dialect
        if dialect.name not in self._by_dialect:
            named: Any = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
            compiled: Any = self._statement.compile(dialect=named)  # type: ignore[attr-defined]
            constants = {name: value for name, value in compiled.params.items() if value is not None}
            self._by_dialect[dialect.name] = str(compiled), constants
        sql, constants = self._by_dialect[dialect.name]
        errors: Any = dialect.loaded_dbapi.Error
        try:
            yield connection.connection.driver_connection, sql, constants
        except errors as error:
            raise DBAPIError.instance(sql, None, error, errors, hide_parameters=True, dialect=dialect) from error


def with_row_locks(statement: str, clause: str) -> dict[str, TextClause]:
    """A statement by dialect: PostgreSQL is told which rows to lock, where SQLite has one writer."""
    return {"sqlite": text(statement), "postgresql": text(f"{statement} {clause}")}


def dialect_insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do with a row that is there already: `on_conflict_do_nothing`, `…_update`."""
    return (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)


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
