"""Which questions make up a task: items that have room, and traps that nothing tells from them.

A trap is in the company of items of its own query, as a query that comes up once would give it away; and no judge gets
the same question as an item and as a trap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, text

from ringtrue.service.store.connections import with_row_locks
from ringtrue.service.store.records import Project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection, TextClause

COMPANIONS = 2  # items of its query that a trap has beside it
TRAP_CANDIDATES_PER_TRAP = 8  # how many times the traps of a task are looked at, to find some in company
SELECT_ITEMS = "SELECT i.id, i.query, i.doc, i.other FROM item i WHERE i.project = :project"
NOT_SEEN = """
  AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.item = i.id AND a.account = :account AND a.state <> 'expired')
  AND NOT EXISTS (
    SELECT 1 FROM item s JOIN assignment b ON b.item = s.id
    WHERE s.project = i.project AND s.queue = :twin AND s.query = i.query AND s.doc = i.doc
      AND COALESCE(s.other, 0) = COALESCE(i.other, 0) AND b.account = :account AND b.state <> 'expired')"""
IN_ORDER = "ORDER BY i.position LIMIT :number"
ITEMS_WITH_ROOM = f"{SELECT_ITEMS} AND i.queue = :queue AND i.given < i.wanted"
ITEMS_LEFT = text(f"{ITEMS_WITH_ROOM} {NOT_SEEN} {IN_ORDER}")
SKIP_LOCKED = "FOR UPDATE OF i SKIP LOCKED"
TAKE_FREE_ITEMS = with_row_locks(f"{ITEMS_WITH_ROOM} {NOT_SEEN} {IN_ORDER}", SKIP_LOCKED)
# Nothing is left only where nothing is left when those who are taking items just now are done.
WAIT_FOR_ITEMS = with_row_locks(f"{ITEMS_WITH_ROOM} {NOT_SEEN} {IN_ORDER}", "FOR UPDATE OF i")
TAKE_ITEMS_OF_QUERY = with_row_locks(f"{ITEMS_WITH_ROOM} AND i.query = :query {NOT_SEEN} {IN_ORDER}", SKIP_LOCKED)
TRAPS = f"{SELECT_ITEMS} AND i.queue = 'trap'"
# In no order: to have them in that of their positions, SQLite would go through all traps of the project.
TRAPS_OF_QUERIES = text(f"{TRAPS} AND i.query IN :queries {NOT_SEEN}").bindparams(bindparam("queries", expanding=True))
TRAPS_FROM = text(f"{TRAPS} AND i.position >= :start {NOT_SEEN} {IN_ORDER}")
# Two subqueries, as an index answers each of them at once.
FIRST_AND_LAST_TRAP = text("""
SELECT (SELECT MIN(position) FROM item WHERE project = :project AND queue = 'trap'),
       (SELECT MAX(position) FROM item WHERE project = :project AND queue = 'trap')""")


class _Item(NamedTuple):
    id: int
    query: int
    doc: int
    other: int | None

    @property
    def content(self) -> tuple[int, int, int | None]:
        return self.query, self.doc, self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """A task to be: `items` are taken; `order` has traps too, and `flipped` says whose sides are changed."""

    items: list[int]
    order: list[int]
    flipped: list[bool]


def has_items_left(connection: Connection, project: int, account: int, *, queue: str) -> bool:
    """Whether an item has room for this judge; nothing is locked."""
    parameters = {"project": project, "queue": queue, "account": account, "twin": "trap", "number": 1}
    return connection.execute(ITEMS_LEFT, parameters).first() is not None


def plan_task(
    connection: Connection, project: Project, account: int, *, queue: str, rng: np.random.Generator
) -> TaskPlan:
    """The next questions for a judge: the first items that have room, and traps of their queries.

    Where the first items are of too few queries that have traps, the last of them make room for others that are.
    """
    settings = project.settings
    parameters: dict[str, Any] = {"project": project.id, "queue": queue, "account": account, "twin": "trap"}
    size, dialect = settings.task_size, connection.dialect.name
    items = _load_items(connection, TAKE_FREE_ITEMS[dialect], parameters, number=size) or _load_items(
        connection, WAIT_FOR_ITEMS[dialect], parameters, number=size
    )
    candidates = (
        _draw_trap_candidates(connection, project, account, items, rng) if queue == "main" and settings.traps else []
    )
    items = items[: size - min(settings.traps, len(candidates))]
    trap_count = min(
        len(candidates), math.ceil(settings.traps * len(items) / max(settings.task_size - settings.traps, 1))
    )
    items = _add_companions(connection, parameters, items, candidates, trap_count)
    queries = {item.query for item in items}
    # A trap that stands alone is better than none, where no query has both.
    traps = ([trap for trap in candidates if trap.query in queries] or candidates)[:trap_count]
    trap_contents = {trap.content for trap in traps}
    ordinary = [item for item in items if item.content not in trap_contents]
    if not ordinary:  # there is nothing but what the traps ask
        ordinary, traps = items, []
    order = _order_questions([*ordinary, *traps], rng, together=settings.together)
    return TaskPlan(items=[item.id for item in ordinary], order=order, flipped=(rng.random(len(order)) < 0.5).tolist())


def _draw_trap_candidates(
    connection: Connection, project: Project, account: int, items: list[_Item], rng: np.random.Generator
) -> list[_Item]:
    """Traps that this judge has not had, in random order: all of the items' queries, and some of others."""
    parameters: dict[str, Any] = {"project": project.id, "account": account, "twin": "main"}
    first, last = connection.execute(FIRST_AND_LAST_TRAP, parameters).one()
    if first is None:
        return []
    queries = sorted({item.query for item in items})
    traps = sorted(_load_items(connection, TRAPS_OF_QUERIES, parameters, queries=queries))
    enough = TRAP_CANDIDATES_PER_TRAP * project.settings.traps
    for start in (rng.uniform(first, last), first):
        if len(traps) < enough:
            traps += _load_items(connection, TRAPS_FROM, parameters, start=start, number=enough)
    distinct = list({trap.id: trap for trap in traps}.values())
    return [distinct[index] for index in rng.permutation(len(distinct))]


def _add_companions(
    connection: Connection, parameters: dict[str, Any], items: list[_Item], traps: list[_Item], trap_count: int
) -> list[_Item]:
    """The items, or some of them and others, so that as many traps as are wanted have items of their query here."""
    share = max(COMPANIONS, len(items) // (trap_count + 1))
    take_items = TAKE_ITEMS_OF_QUERY[connection.dialect.name]
    combined = items
    companions: list[_Item] = []
    for query in dict.fromkeys(trap.query for trap in traps):
        queries = {item.query for item in combined}
        if sum(trap.query in queries for trap in traps) >= trap_count or len(companions) + share >= len(items):
            break
        same_query = (
            [] if query in queries else _load_items(connection, take_items, parameters, query=query, number=share)
        )
        if len(same_query) >= COMPANIONS:
            companions += same_query
            combined = [*items[: len(items) - len(companions)], *companions]
    return combined


def _load_items(
    connection: Connection, statement: TextClause, parameters: dict[str, Any], **more: object
) -> list[_Item]:
    return [_Item._make(row) for row in connection.execute(statement, parameters | more)]


def _order_questions(questions: list[_Item], rng: np.random.Generator, *, together: bool) -> list[int]:
    shuffled = [questions[index] for index in rng.permutation(len(questions))]
    if together:
        query_order = {
            query: index for index, query in enumerate(dict.fromkeys(question.query for question in shuffled))
        }
        shuffled.sort(key=lambda question: query_order[question.query])
    return [question.id for question in shuffled]
