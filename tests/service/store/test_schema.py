from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from ringtrue.errors import StoreError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import submit_task
from ringtrue.service.store.completion import settle_completion
from ringtrue.service.store.invitations import accept_invitation, invite, load_invitations
from ringtrue.service.store.migration import BYTES, KEY, STEPS, migrate, read_schema_version
from ringtrue.service.store.projects import get_project_by_name
from ringtrue.service.store.records import Project
from ringtrue.service.store.schema import metadata
from service.small_projects import HELD, NOW, begin, judge, project as make_project, question, rows, say

pytestmark = pytest.mark.contract
TOGETHER = 6
RELEASED = Path(__file__).with_name("released_schema.sql").read_text()  # the tables of step 1, as they were released
# What the first version kept of two workers who were shown a code, one of them twice, and of one who was not.
DATA = """
INSERT INTO account (handle, kind, owner, created) VALUES ('worker-1', 'crowd', FALSE, 1),
  ('worker-2', 'crowd', FALSE, 1), ('worker-3', 'crowd', FALSE, 1);
INSERT INTO project (name, title, guidelines, scale, settings, created) VALUES ('old', 'Old', '',
  '{"kind": "graded", "labels": [{"value": "0", "name": "No", "hint": ""}, {"value": "1", "name": "Yes", "hint": ""}]}',
  '{"judges": 2, "traps": 0, "traps_needed": 0}', 1);
INSERT INTO member (project, account, role, created) VALUES (1, 1, 'judge', 1), (1, 2, 'judge', 1), (1, 3, 'judge', 1);
INSERT INTO query (project, name) VALUES (1, 'q1');
INSERT INTO document (project, name) VALUES (1, 'd1'), (1, 'd2');
INSERT INTO item (project, queue, query, doc, asked, wanted, given, position) VALUES (1, 'main', 1, 1, 2, 2, 2, 0.1),
  (1, 'main', 1, 2, 2, 2, 0, 0.2);
INSERT INTO task (project, account, queue, opened, leased, closed, outcome, traps, passed, code) VALUES
  (1, 1, 'main', 10, 90, 20, 'handed_in', 0, 0, 'C1'), (1, 1, 'main', 21, 90, 30, 'handed_in', 0, 0, 'C1'),
  (1, 2, 'main', 31, 90, 40, 'handed_in', 0, 0, 'C2'), (1, 3, 'main', 31, 39, 40, 'expired', 0, 0, NULL);
INSERT INTO assignment (task, item, account, place, flipped, state, version) VALUES (1, 1, 1, 1, FALSE, 'done', 1),
  (4, 1, 3, 1, FALSE, 'done', 1), (4, 2, 3, 2, FALSE, 'expired', 0);
INSERT INTO judgment (assignment, version, kind, answer, time) VALUES (1, 1, 'answer', '1', 15),
  (2, 1, 'answer', '0', 35);
INSERT INTO invitation (project, role, kind, hash, code, created) VALUES (1, 'judge', 'crowd', 'h1', 'C1', 5),
  (1, 'judge', 'crowd', 'h2', 'C2', 5), (NULL, 'owner', 'named', 'h3', NULL, 5);
INSERT INTO visit (invitation, account, worker, time) VALUES (1, 1, 'prolific:a', 9), (1, 2, 'prolific:b', 9),
  (2, 2, 'prolific:b', 30), (1, 1, 'prolific:a', 31), (2, 3, 'prolific:c', 30);
INSERT INTO audit (time, account, project, action) VALUES (20, 1, 1, 'accept invitation');
"""
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
        _make_released(connection)
        assert migrate(connection) == len(STEPS) - 1
    assert _describe(store) == new


def test_a_released_database_with_data_loses_nothing_and_its_codes_still_show(store: Store) -> None:
    with store.transaction() as connection:
        _make_released(connection)
        for statement in DATA.strip().split(";\n"):
            connection.exec_driver_sql(statement)
        before = _contents(connection)
        migrate(connection)
        after = _contents(connection)
        for table, released_rows in before.items():
            assert [row[: len(released_rows[0])] for row in after[table]] == released_rows, table
        assert connection.exec_driver_sql(
            "SELECT invitation, account, kind, code, task, time FROM completion ORDER BY id"
        ).all() == [(1, 1, "full", "C1", 1, 20.0), (2, 2, "full", "C2", 3, 40.0)]
        assert connection.exec_driver_sql("SELECT DISTINCT partial_code FROM invitation").all() == [(None,)]
        for flag in ("own_codes", "id_required", "one_account"):
            assert not connection.execute(text(f"SELECT id FROM invitation WHERE {flag}")).all()
    with store.transaction() as connection:
        settings = get_project_by_name(connection, "old").settings
        assert (settings.judges, settings.completion_answered, settings.completion_unsure) == (2, 1.0, 0.25)
        for account, task, code in ((1, 1, "C1"), (1, 2, "C1"), (2, 3, "C2")):
            shown = settle_completion(connection, 1, account, task, now=50.0)
            assert shown is not None
            assert (shown.kind, shown.code) == ("full", code)
        unfinished = settle_completion(connection, 1, 3, 4, now=50.0)  # whose time ran out with one answer
        assert unfinished is not None
        assert (unfinished.kind, unfinished.missing) == (None, (("answered", 1, 2),))
        (invitation,) = [link for link in load_invitations(connection, 1) if link.code == "C2"]
        secret = invite(connection, role="judge", kind="crowd", project=1, code="C3", now=50.0)
        assert accept_invitation(connection, secret, worker="prolific:b", now=51.0) == 2
        assert not invitation.id_required


def test_items_that_were_skipped_in_open_tasks_are_kept_for_their_judges_after_the_migration(store: Store) -> None:
    where, ann, ben = make_project(store, items=3, task_size=3), judge(store), judge(store, "ben")
    task = begin(store, where, ann)
    for kind in ("skip", "unsure", "answer"):
        shown = question(store, task, ann)
        assert shown is not None
        say(store, ann, shown, kind=kind)
    undecided = "SELECT item FROM assignment WHERE state IN ('skipped', 'unsure')"
    with store.transaction() as connection:  # as step 2 had it: one of them was taken by another judge meanwhile
        connection.exec_driver_sql(f"UPDATE item SET given = 0 WHERE id IN ({undecided})")
    begin(store, make_smaller(store, where), ben)
    with store.transaction() as connection:
        connection.exec_driver_sql("DELETE FROM migration WHERE number > 2")
        assert migrate(connection) == len(STEPS) - 2
    counted = rows(store, f"SELECT given, wanted, {HELD} FROM item i ORDER BY given")
    assert counted == [(1, 1, 1), (1, 1, 1), (2, 2, 2)]
    store.write(lambda c: submit_task(c, ann, task.id, now=NOW + 3))
    assert rows(store, "SELECT given, wanted FROM item ORDER BY given") == [(0, 1), (1, 1), (1, 1)]


def make_smaller(store: Store, where: Project) -> Project:
    """The same project, whose tasks have one question."""
    return replace(where, settings=replace(where.settings, task_size=1))


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
    with pytest.raises(StoreError) as refused:
        Store.open(store_url)
    assert refused.value.code == "newer-database"
    assert re.findall(r"\d+", refused.value.text) == ["99", str(len(STEPS))]


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


def _make_released(connection: Connection) -> None:
    """Make the tables of the first version, with nothing in them."""
    dialect = connection.dialect.name
    for table in reversed(metadata.sorted_tables):
        connection.exec_driver_sql(f"DROP TABLE {table.name}")
    for statement in RELEASED.format(key=KEY[dialect], bytes=BYTES[dialect]).strip().split(";\n"):
        connection.exec_driver_sql(statement)
    connection.execute(text("DELETE FROM migration WHERE number > 1"))


def _contents(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every table that has any."""
    tables = inspect(connection).get_table_names()
    contents = {
        table: [tuple(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{table}" ORDER BY 1')]
        for table in tables
        if table != "migration"
    }
    return {table: found for table, found in contents.items() if found}


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
