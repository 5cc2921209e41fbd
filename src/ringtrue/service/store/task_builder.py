"""Which questions make up a task: items that have room, and traps that nothing tells from them.

A trap is in the company of items of its own query, as a query that comes up once would give it away; and no judge gets
the same question as an item and as a trap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ringtrue.service.store.dialects import Prepared
from ringtrue.service.store.records import Project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

__all__ = ["Composed", "compose"]

COMPANY = 2  # items of its query that a trap has beside it
OTHERS = 8  # how many times the traps of a task are looked at, to find some in company


class _Item(NamedTuple):
    id: int
    query: int
    doc: int
    other: int | None

    @property
    def content(self) -> tuple[int, int, int | None]:
        return self.query, self.doc, self.other


class _Position(NamedTuple):
    position: float | None


COLUMNS = "SELECT i.id, i.query, i.doc, i.other FROM item i WHERE i.project = :project"
NOT_HAD = """
  AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.item = i.id AND a.account = :account AND a.state <> 'expired')
  AND NOT EXISTS (
    SELECT 1 FROM item s JOIN assignment b ON b.item = s.id
    WHERE s.project = i.project AND s.queue = :twin AND s.query = i.query AND s.doc = i.doc
      AND COALESCE(s.other, 0) = COALESCE(i.other, 0) AND b.account = :account AND b.state <> 'expired')
ORDER BY i.position"""
ROOM = f"{COLUMNS} AND i.queue = :queue AND i.given < i.wanted"
WITH_ROOM = Prepared(f"{ROOM} {NOT_HAD} LIMIT :number", _Item, postgresql="FOR UPDATE OF i SKIP LOCKED")
# Nothing is left only where nothing is left when those who are taking items just now are done.
WITH_ROOM_AT_LAST = Prepared(f"{ROOM} {NOT_HAD} LIMIT :number", _Item, postgresql="FOR UPDATE OF i")
OF_QUERY = Prepared(
    f"{ROOM} AND i.query = :query {NOT_HAD} LIMIT :number", _Item, postgresql="FOR UPDATE OF i SKIP LOCKED"
)
TRAPS = f"{COLUMNS} AND i.queue = 'trap'"
TRAPS_OF_QUERY = Prepared(f"{TRAPS} AND i.query = :query {NOT_HAD}", _Item)
TRAPS_FROM = Prepared(f"{TRAPS} AND i.position >= :start {NOT_HAD} LIMIT :number", _Item)
FIRST_TRAP, LAST_TRAP = (
    Prepared(f"SELECT {which}(position) FROM item WHERE project = :project AND queue = 'trap'", _Position)
    for which in ("MIN", "MAX")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A task to be: `items` are taken; `order` has traps too, and `flipped` says whose sides are changed."""

    items: list[int]
    order: list[int]
    flipped: list[bool]


def compose(
    connection: Connection, project: Project, account: int, *, queue: str, rng: np.random.Generator
) -> Composed:
    """The next questions for a judge: the first items that have room, and traps of their queries.

    Where the first items are of too few queries that have traps, the last of them make room for others that are.
    """
    settings = project.settings
    asked = {"project": project.id, "queue": queue, "account": account, "twin": "trap"}
    size = settings.task_size
    items = WITH_ROOM.all(connection, **asked, number=size) or WITH_ROOM_AT_LAST.all(connection, **asked, number=size)
    known = _traps(connection, project, account, items, rng) if queue == "main" and settings.traps else []
    items = items[: size - min(settings.traps, len(known))]
    wanted = min(len(known), math.ceil(settings.traps * len(items) / max(settings.task_size - settings.traps, 1)))
    items = _with_company(connection, asked, items, known, wanted)
    queries = {item.query for item in items}
    # A trap that stands alone is better than none, where no query has both.
    traps = ([trap for trap in known if trap.query in queries] or known)[:wanted]
    told = {trap.content for trap in traps}
    others = [item for item in items if item.content not in told]
    if not others:  # there is nothing but what the traps ask
        others, traps = items, []
    order = _order([*others, *traps], rng, together=settings.together)
    return Composed(items=[item.id for item in others], order=order, flipped=(rng.random(len(order)) < 0.5).tolist())


def _traps(
    connection: Connection, project: Project, account: int, items: list[_Item], rng: np.random.Generator
) -> list[_Item]:
    """Traps that this judge has not had, in random order: all of the items' queries, and some of others."""
    asked = {"project": project.id, "account": account, "twin": "main"}
    first, last = (edge.first(connection, project=project.id) for edge in (FIRST_TRAP, LAST_TRAP))
    if first is None or first.position is None or last is None or last.position is None:
        return []
    queries = dict.fromkeys(item.query for item in items)
    found = [trap for query in queries for trap in TRAPS_OF_QUERY.all(connection, **asked, query=query)]
    number = OTHERS * project.settings.traps
    for start in (rng.uniform(first.position, last.position), first.position):
        if len(found) < number:
            found += TRAPS_FROM.all(connection, **asked, start=start, number=number)
    different = list({trap.id: trap for trap in found}.values())
    return [different[at] for at in rng.permutation(len(different))]


def _with_company(
    connection: Connection, asked: dict[str, object], items: list[_Item], traps: list[_Item], wanted: int
) -> list[_Item]:
    """The items, or some of them and others, so that as many traps as are wanted have items of their query here."""
    share = max(COMPANY, len(items) // (wanted + 1))
    both = items
    company: list[_Item] = []
    for query in dict.fromkeys(trap.query for trap in traps):
        queries = {item.query for item in both}
        if sum(trap.query in queries for trap in traps) >= wanted or len(company) + share >= len(items):
            break
        found = [] if query in queries else OF_QUERY.all(connection, **asked, query=query, number=share)
        if len(found) >= COMPANY:
            company += found
            both = [*items[: len(items) - len(company)], *company]
    return both


def _order(questions: list[_Item], rng: np.random.Generator, *, together: bool) -> list[int]:
    drawn = [questions[at] for at in rng.permutation(len(questions))]
    if together:
        turn = {query: at for at, query in enumerate(dict.fromkeys(one.query for one in drawn))}
        drawn.sort(key=lambda one: turn[one.query])
    return [one.id for one in drawn]
