"""A project of any size that is being judged, written into an empty database by the database's own SQL.

A hundred documents a query, three judges wanted, one trap a query. 50 judges have given a tenth as many answers as
there are items: the items that tasks take first are complete. Some judges could not tell, some tasks failed their
traps, some disagreements are decided, gold is drawn and waits. Every size has the same shape.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

PROJECT = "large"
JUDGES, WANTED, DOCUMENTS_PER_QUERY = 50, 3, 100
TASK_ITEMS, TASK_TRAPS = 15, 5
TASK_SIZE = TASK_ITEMS + TASK_TRAPS
ITEMS_PER_GOLD, ITEMS_PER_UNSURE, ITEMS_PER_VERDICT, TASKS_PER_FAILURE = 1_000, 100, 200, 20
STEP = 611_953  # a prime: item i has the place i · STEP modulo the number of items
SNIPPET = "The quick brown fox jumps over the lazy dog, and what it finds there is told in some words more. " * 3
TABLES = ("query", "document", "item", "task", "assignment", "judgment", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """How somebody is known to the server: a cookie and a csrf word for the pages, a token for the API."""

    cookie: str
    csrf: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeProject:
    """The people of a project, and how many answers its judges have given, those to traps apart."""

    owner: Credentials
    judges: list[Credentials]
    answers: int


def make_large_project(url: str, items: int) -> LargeProject:
    """Fill an empty database with one project and its people."""
    from sqlalchemy import text

    from ringtrue.service.store import Scale, Settings, Store
    from ringtrue.service.store.accounts import add_member, create_account
    from ringtrue.service.store.projects import create_project
    from ringtrue.service.store.sessions import get_or_create_signing_secret, issue_token, log_in
    from ringtrue.service.web.context import ServerContext

    now = time.time()
    with Store.open(url) as store, store.transaction() as connection:
        server = ServerContext(store=store, secret=get_or_create_signing_secret(connection))
        scale, settings = Scale.graded("Not relevant", "Related", "Relevant"), Settings(judges=WANTED)
        project = create_project(connection, name=PROJECT, title="Large", scale=scale, settings=settings, now=now)

        def admit(name: str, *scopes: str) -> tuple[int, Credentials]:
            account = create_account(connection, kind="named", now=now, name=name, owner="manage" in scopes)
            secret, csrf = log_in(connection, account, now=now, hours=24)
            token = issue_token(connection, account, name="load", scopes=scopes, now=now, days=1)
            cookie = f"{server.session_cookie}={server.sign(secret, 'login')}"
            return account, Credentials(cookie=cookie, csrf=csrf, token=token)

        owner_account, owner = admit("Owner", "read", "manage")
        accounts, judges = zip(*(admit(f"Judge {number}", "judge") for number in range(JUDGES)), strict=True)
        for account in accounts:
            add_member(connection, project.id, account, "judge", now)
        blocks = items // (WANTED * 10 * TASK_ITEMS)  # of items that WANTED judges have had in a task
        for statement in _statements(project.id, items, blocks, owner_account, accounts[0], now):
            connection.execute(text(statement))
        _continue_numbers(connection)
    if not url.startswith("sqlite"):
        _vacuum(url)
    return LargeProject(owner=owner, judges=list(judges), answers=blocks * TASK_ITEMS * WANTED)


def _statements(project: int, items: int, blocks: int, owner: int, judge: int, now: float) -> Iterator[str]:
    """The rows of a project, table by table; judges have accounts that are numbered from `judge` on."""
    if math.gcd(items, STEP) != 1 or items % DOCUMENTS_PER_QUERY or not blocks:
        raise ValueError(f"expected some hundreds of items, a multiple of {DOCUMENTS_PER_QUERY}; found {items}")
    queries, tasks, judged = items // DOCUMENTS_PER_QUERY, WANTED * blocks, TASK_ITEMS * blocks
    of_project = {"project": project}
    yield _insert(
        "query", queries, **of_project, id="i + 1", name="'q' || i", text="'quick fox ' || i", description="'What for?'"
    )
    texts = {"title": "'Document ' || i", "url": "'https://example.org/' || i", "snippet": f"'{SNIPPET}'"}
    yield _insert("document", items + queries, **of_project, id="i + 1", name="'d' || i", **texts)
    yield from _item_statements(project, items, queries, judged)
    opened = f"{now - 30 * 86_400} + 60 * i"
    closed = {"queue": "'main'", "opened": opened, "leased": f"{opened} + 3600", "closed": f"{opened} + 600"}
    closed |= {"outcome": "'handed_in'"}
    passed = f"CASE WHEN i % {TASKS_PER_FAILURE} = 0 THEN 2 ELSE {TASK_TRAPS} END"
    account = f"{judge} + i % {JUDGES}"
    yield _insert("task", tasks, **of_project, **closed, id="i + 1", account=account, traps=TASK_TRAPS, passed=passed)
    yield _insert(  # for what judges could not tell
        "task", JUDGES, **of_project, **closed, id=f"{tasks} + i + 1", account=account, traps=0, passed=0
    )
    yield from _answer_statements(items, queries, tasks, judged, judge)
    decided = f"i * {ITEMS_PER_VERDICT} * {pow(STEP, -1, items)} % {items} + 1"
    count = judged // ITEMS_PER_VERDICT + 1
    yield _insert("verdict", count, item=decided, account=owner, answer="'1'", time=now)


def _item_statements(project: int, items: int, queries: int, judged: int) -> Iterator[str]:
    place = f"i * {STEP} % {items}"
    yield _insert(
        "item",
        items,
        project=project,
        id="i + 1",
        queue="'main'",
        query=f"i / {DOCUMENTS_PER_QUERY} + 1",
        doc="i + 1",
        asked=WANTED,
        wanted=WANTED,
        given=f"CASE WHEN {place} < {judged} THEN {WANTED} ELSE 0 END",
        position=place,
    )
    trap = f"{items} + i + 1"
    yield _insert(
        "item",
        queries,
        project=project,
        id=trap,
        queue="'trap'",
        query="i + 1",
        doc=trap,
        given=0,
        position=f"{items} + i * {STEP} % {queries}",
        expected="'2'",
    )
    yield _insert(
        "item",
        items // ITEMS_PER_GOLD,
        project=project,
        id=f"{items + queries} + i + 1",
        queue="'gold'",
        query=f"i * {ITEMS_PER_GOLD} / {DOCUMENTS_PER_QUERY} + 1",
        doc=f"i * {ITEMS_PER_GOLD} + 1",
        asked=1,
        wanted=1,
        given=0,
        position=f"{items + queries} + i",
    )


def _answer_statements(items: int, queries: int, tasks: int, judged: int, judge: int) -> Iterator[str]:
    at_place = pow(STEP, -1, items)  # the item at place p is p · at_place modulo the number of items
    task, at = f"i / {TASK_SIZE}", f"i % {TASK_SIZE}"
    item = f"({task} / {WANTED} * {TASK_ITEMS} + {at}) * {at_place} % {items} + 1"
    trap = f"{items} + 1 + ({task} / {JUDGES} * {TASK_TRAPS} + {task} % {JUDGES} * 7 + {at} - {TASK_ITEMS}) % {queries}"
    yield _insert(
        "assignment",
        tasks * TASK_SIZE,
        task=f"{task} + 1",
        item=f"CASE WHEN {at} < {TASK_ITEMS} THEN {item} ELSE {trap} END",
        account=f"{judge} + {task} % {JUDGES}",
        place=f"{at} + 1",
        flipped="FALSE",
        state="'done'",
        version=1,
    )
    place = f"i * {ITEMS_PER_UNSURE}"
    fourth = f"({place} / {TASK_ITEMS} * {WANTED} + {WANTED}) % {JUDGES}"  # a judge who has none of the item's tasks
    yield _insert(
        "assignment",
        judged // ITEMS_PER_UNSURE + 1,
        task=f"{tasks} + {fourth} + 1",
        item=f"{place} * {at_place} % {items} + 1",
        account=f"{judge} + {fourth}",
        place="i + 1",
        flipped="FALSE",
        state="'unsure'",
        version=1,
    )
    # Seven answers of ten are the item's own label, the others any; some tasks have three traps wrong.
    label = "CASE WHEN a.id * 7919 % 10 < 7 THEN a.item % 3 ELSE a.id * 31 % 3 END"
    known = f"CASE WHEN (a.task - 1) % {TASKS_PER_FAILURE} = 0 AND a.place > {TASK_ITEMS + 2} THEN 0 ELSE 2 END"
    answer = f"CASE WHEN a.state = 'unsure' THEN NULL WHEN a.item > {items} THEN {known} ELSE {label} END"
    yield f"""
        INSERT INTO judgment (assignment, version, kind, answer, reason, time, seconds)
        SELECT a.id, 1, CASE a.state WHEN 'done' THEN 'answer' ELSE 'unsure' END, CAST({answer} AS TEXT),
          CASE a.state WHEN 'done' THEN NULL ELSE 'reason ' || a.id % 5 END, t.opened + 20 * (a.place % 30),
          3 + a.id % 37 / 2.0
        FROM assignment a JOIN task t ON t.id = a.task ORDER BY a.id"""


def _insert(table: str, count: int, **columns: object) -> str:
    """An INSERT of so many rows, with an expression of the number i of the row for each column."""
    return (
        f"WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count}) "
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(map(str, columns.values()))} FROM n "
        f"WHERE i < {count}"
    )


def _continue_numbers(connection: Connection) -> None:
    """Let PostgreSQL number the next rows after those that came with their numbers; SQLite does by itself."""
    if connection.dialect.name == "postgresql":
        for table in TABLES:
            last = f"(SELECT MAX(id) FROM {table})"
            connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {last})")


def _vacuum(url: str) -> None:
    """What PostgreSQL does by itself while judges work for days."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
