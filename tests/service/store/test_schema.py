from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from ringtrue.errors import StoreError
from ringtrue.service.store import Store
from ringtrue.service.store.schema import BYTES, KEY, STEPS, metadata, migrate, read_schema_version

pytestmark = pytest.mark.contract
TOGETHER = 6
RELEASED = Path(__file__).with_name("released_schema.sql").read_text()  # the tables of step 1, as they were released
POSTGRESQL_CATALOGUE = (
    """SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default, is_identity,
    identity_generation FROM information_schema.columns WHERE table_schema = 'public'""",
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
)


def test_the_migrations_make_the_tables_that_the_schema_describes(store: Store) -> None:
    found = inspect(store.engine)
    assert set(found.get_table_names()) == {*metadata.tables, "migration"}
    for name, table in metadata.tables.items():
        columns = {column["name"]: column for column in found.get_columns(name)}
        assert list(columns) == [column.name for column in table.columns], name
        for column in table.columns:
            made = columns[column.name]
            described = column.type.dialect_impl(store.engine.dialect)
            where = f"{name}.{column.name}"
            assert made["type"]._type_affinity is described._type_affinity, where
            assert made["nullable"] == column.nullable or column.primary_key, where
        assert found.get_pk_constraint(name)["constrained_columns"] == [column.name for column in table.primary_key]


def test_each_reference_goes_where_the_schema_says_and_is_deleted_with_it(store: Store) -> None:
    for name, table in metadata.tables.items():
        described = {(key.parent.name, key.column.table.name, str(key.ondelete)) for key in table.foreign_keys}
        assert _references(store, name) == described, name


def test_a_released_database_is_brought_to_the_tables_of_a_new_one(store: Store) -> None:
    new = _describe(store)
    with store.transaction() as connection:
        dialect = connection.dialect.name
        for table in reversed(metadata.sorted_tables):
            connection.exec_driver_sql(f"DROP TABLE {table.name}")
        for statement in RELEASED.format(key=KEY[dialect], bytes=BYTES[dialect]).strip().split(";\n"):
            connection.exec_driver_sql(statement)
        connection.execute(text("DELETE FROM migration WHERE number > 1"))
        assert migrate(connection) == len(STEPS) - 1
    assert _describe(store) == new


def test_a_database_that_is_up_to_date_stays_as_it_is(store: Store) -> None:
    with store.transaction() as connection:
        assert migrate(connection) == 0
        assert read_schema_version(connection) == len(STEPS)


def test_only_the_steps_that_are_missing_are_taken(store: Store) -> None:
    more = (*STEPS, ("one more", "CREATE TABLE more (id {key}, content {bytes});\nCREATE INDEX m ON more (content);"))
    with store.transaction() as connection:
        assert migrate(connection, more) == 1
    with store.transaction() as connection:
        assert migrate(connection, more) == 0
        named = connection.execute(text("SELECT number, what FROM migration ORDER BY number")).all()
    assert [tuple(row) for row in named] == [(at, what) for at, (what, _) in enumerate(more, start=1)]


def test_a_step_that_fails_leaves_nothing_behind(store: Store) -> None:
    broken = (*STEPS, ("broken", "CREATE TABLE half (id {key});\nCREATE TABLE account (id {key});"))
    with pytest.raises(Exception, match="account"), store.transaction() as connection:
        migrate(connection, broken)
    assert not inspect(store.engine).has_table("half")
    with store.read() as connection:
        assert read_schema_version(connection) == len(STEPS)


def test_a_database_of_a_newer_version_is_refused(store_url: str) -> None:
    with Store.open(store_url) as store, store.transaction() as connection:
        connection.execute(text("INSERT INTO migration (number, what, time) VALUES (99, 'from the future', 0)"))
    with pytest.raises(StoreError, match=f"newer ringtrue: it has step 99, and this one knows {len(STEPS)}"):
        Store.open(store_url)


def test_servers_that_start_together_migrate_once(store_url: str) -> None:
    start = threading.Barrier(TOGETHER)

    def server(_: int) -> int:
        start.wait()
        with Store.open(store_url, pool_size=2) as store, store.read() as connection:
            return read_schema_version(connection)

    with ThreadPoolExecutor(TOGETHER) as pool:
        assert list(pool.map(server, range(TOGETHER))) == [len(STEPS)] * TOGETHER
    with Store.open(store_url) as store, store.read() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM migration")).scalar_one() == len(STEPS)


def _references(store: Store, table: str) -> set[tuple[str, str, str]]:
    """Column, table and what follows a deletion; SQLAlchemy does not tell the last of SQLite's columns."""
    if store.engine.dialect.name == "sqlite":
        with store.read() as connection:
            rows = connection.exec_driver_sql(f"PRAGMA foreign_key_list({table})").mappings().all()
        return {(row["from"], row["table"], row["on_delete"]) for row in rows}
    keys = inspect(store.engine).get_foreign_keys(table)
    return {(key["constrained_columns"][0], key["referred_table"], str(key["options"]["ondelete"])) for key in keys}


def _describe(store: Store) -> set[tuple[object, ...]]:
    """Every column, key, constraint and index of a database, as the database itself tells it."""
    with store.read() as connection:
        if store.engine.dialect.name == "postgresql":
            return {tuple(row) for statement in POSTGRESQL_CATALOGUE for row in connection.execute(text(statement))}
        described: set[tuple[object, ...]] = set()
        for table, statement in connection.execute(
            text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        ).all():
            described |= {(table, "check", check) for check in re.findall(r"CHECK \(.*?\)", statement)}
            described |= {(table, "autoincrement")} if "AUTOINCREMENT" in statement else set()
            for _, name, kind, required, default, key, _ in _pragma(connection, "table_xinfo", table):
                described.add((table, name, kind, bool(required or key), default, key))
            described |= {(table, *reference[2:]) for reference in _pragma(connection, "foreign_key_list", table)}
            for _, index, unique, origin, partial in _pragma(connection, "index_list", table):
                columns = tuple(row[:5] for row in _pragma(connection, "index_xinfo", index))
                described.add((table, index, unique, origin, partial, columns))
        indexes = connection.execute(text("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
        return described | {(sql.replace('"', "").lower(),) for sql in indexes.scalars()}


def _pragma(connection: Connection, name: str, about: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.exec_driver_sql(f"PRAGMA {name}('{about}')")]
