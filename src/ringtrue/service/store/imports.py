"""Labels from elsewhere: they become the finished work of judges who never log in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, insert, select, update

from ringtrue.errors import ConflictError
from ringtrue.service.store import schema
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.import_dedup import Given, Key, Work, erased_judges, turned, was_said, work_of
from ringtrue.service.store.projects import add_items
from ringtrue.service.store.records import Project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

__all__ = ["Given", "Taken", "record_imported"]

CHUNK = 2_000
BESIDE = ("", "-imported", "-imported-2", "-imported-3")  # ends the id of a judge where somebody here has the same

account, assignment, item, judgment, task = (
    schema.account, schema.assignment, schema.item, schema.judgment, schema.task,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of labels from elsewhere: new ones, those that were there, and items that nobody had asked about.

    `kept` are the new ones, each with the account of its judge and the task it is in; a new version of a label that was
    there has no task of its own. `erased` judges of the file are people here whose personal data was erased.
    """

    new: int
    known: int
    judges: int
    items: int
    kept: tuple[tuple[Given, int, int | None], ...] = ()
    erased: int = 0


def record_imported(
    connection: Connection, project: Project, rows: Sequence[Given], *, now: float, rng: np.random.Generator
) -> Taken:
    """Keep labels from elsewhere as finished work: the same ones again change nothing, another label is a new version.

    An item that has more labels than were wanted wants as many as it has. One that nobody had asked about is added, and
    wants no more than its labels. What somebody said whose personal data was erased since is known by what was said:
    the name in the file does not come back.
    """
    before = _item_ids(connection, project)
    unknown = dict.fromkeys(row.key for row in rows if row.key not in before)
    made = [dict(zip(("query", "doc", "other"), key, strict=True)) for key in unknown]
    add_items(connection, project, made, queue="main", wanted=0, rng=rng)
    items = _item_ids(connection, project) if made else before
    people = _accounts(connection, dict.fromkeys(row.judge for row in rows))
    work = work_of(connection, project)
    fresh: dict[tuple[int, int], list[Given]] = {}
    later: list[tuple[Work, Given]] = []
    kept: list[tuple[Given, int, int]] = []
    known = 0
    imported = erased_judges(connection, rows, items, people, work)
    people |= {judge: [who] for judge, who in imported.items()}
    erased = len(imported)
    for row in rows:
        at = items[row.key]
        if was_said(row, (work.get((at, who)) for who in people.get(row.judge, ()))):
            known += 1
            continue
        who = imported.get(row.judge)
        if who is None:
            who = imported[row.judge] = _imported_account(connection, row.judge, now)
        there = work.get((at, who))
        kept.append((row, at, who))
        if there is None:
            fresh.setdefault((at, who), []).append(row)
        elif there.state == "done":
            later.append((there, row))
            there.said.append((row.plain, now if row.time is None else row.time))
        else:  # set aside by somebody since
            kept.pop()
            known += 1
    tasks = _add_work(connection, project, fresh, now)
    _add_versions(connection, later, now)
    return Taken(
        new=sum(map(len, fresh.values())) + len(later), known=known, judges=len({row.judge for row in rows}),
        items=len(made), kept=tuple((row, who, tasks.get((at, who))) for row, at, who in kept), erased=erased,
    )  # fmt: skip


def _item_ids(connection: Connection, project: Project) -> dict[Key, int]:
    doc, other = schema.document.alias("doc"), schema.document.alias("other")
    rows = connection.execute(
        select(schema.query.c.name, doc.c.name, other.c.name, item.c.id)
        .select_from(item.join(schema.query, schema.query.c.id == item.c.query))
        .join(doc, doc.c.id == item.c.doc)
        .outerjoin(other, other.c.id == item.c.other)
        .where(item.c.project == project.id, item.c.queue == "main")
    )
    return {(query, one, two): at for query, one, two, at in rows}


def _accounts(connection: Connection, judges: Iterable[str]) -> dict[str, list[int]]:
    """Who may have said it before: whoever has the judge's id, and the one who was made for it."""
    wanted = {judge + ending: judge for judge in judges for ending in BESIDE}
    found: dict[str, list[int]] = {}
    handles = list(wanted)
    for low in range(0, len(handles), CHUNK):
        part = handles[low : low + CHUNK]
        for handle, at in connection.execute(select(account.c.handle, account.c.id).where(account.c.handle.in_(part))):
            found.setdefault(wanted[handle], []).append(at)
    return found


def _imported_account(connection: Connection, judge: str, now: float) -> int:
    """The account for a judge of a file: by the same id, or where somebody here has it, by one beside it."""
    for ending in BESIDE:
        handle = judge + ending
        row = connection.execute(select(account.c.id, account.c.kind).where(account.c.handle == handle)).first()
        if row is None:
            return create_account(connection, kind="imported", handle=handle, now=now)
        if row.kind == "imported":
            return int(row.id)
    raise ConflictError(f"judge '{judge}' of the file has the name of somebody here; rename the judge in the file")


def _add_work(
    connection: Connection, project: Project, fresh: dict[tuple[int, int], list[Given]], now: float
) -> dict[tuple[int, int], int]:
    """A task for each batch of a judge, an assignment for each item in it, and all that was said as its versions.

    Answers the task of each item and judge.
    """
    batches: dict[tuple[int, str | None], list[tuple[int, list[Given]]]] = {}
    for (at, who), said in fresh.items():
        batches.setdefault((who, said[-1].batch), []).append((at, said))
    assignments: list[dict[str, Any]] = []
    versions: list[list[Given]] = []
    tasks: dict[tuple[int, int], int] = {}
    for (who, _), entries in batches.items():
        times = [now if one.time is None else one.time for _, said in entries for one in said]
        number = connection.execute(
            insert(task)
            .values(
                project=project.id, account=who, queue="main", opened=min(times), leased=max(times),
                closed=max(times), outcome="imported",
            )
            .returning(task.c.id)
        ).scalar_one()  # fmt: skip
        for place, (at, said) in enumerate(entries, start=1):
            assignments.append(
                {
                    "task": number, "item": at, "account": who, "place": place, "flipped": said[0].flipped,
                    "state": "done", "version": len(said),
                }
            )  # fmt: skip
            versions.append(said)
            tasks[at, who] = number
    _make_room(connection, Counter(at for at, _ in fresh))
    for low in range(0, len(assignments), CHUNK):
        new = insert(assignment).returning(assignment.c.id, sort_by_parameter_order=True)
        ids = connection.execute(new, assignments[low : low + CHUNK]).scalars().all()
        connection.execute(
            insert(judgment),
            [
                _judgment(number, version, one, said[0].flipped, now)
                for number, said in zip(ids, versions[low : low + CHUNK], strict=True)
                for version, one in enumerate(said, start=1)
            ],
        )
    return tasks


def _add_versions(connection: Connection, later: list[tuple[Work, Given]], now: float) -> None:
    for there, row in later:
        there.version += 1
        connection.execute(insert(judgment), [_judgment(there.assignment, there.version, row, there.flipped, now)])
        connection.execute(update(assignment).where(assignment.c.id == there.assignment).values(version=there.version))


def _make_room(connection: Connection, counts: Counter[int]) -> None:
    """Count the labels as given, and want as many where that is more than was wanted."""
    total = item.c.given + bindparam("more")
    raised = (
        update(item)
        .where(item.c.id == bindparam("at"))
        .values(given=total, wanted=case((total > item.c.wanted, total), else_=item.c.wanted))
    )
    rows = [{"at": at, "more": more} for at, more in counts.items()]
    for low in range(0, len(rows), CHUNK):
        connection.execute(raised, rows[low : low + CHUNK])


def _judgment(number: int, version: int, row: Given, flipped: bool, now: float) -> dict[str, Any]:
    """A row of the history; the two sides are those of the assignment, which has one order for all its versions."""
    return {
        "assignment": number, "version": version, "kind": "answer", "answer": turned(row.plain, flipped),
        "reason": None, "time": now if row.time is None else row.time, "seconds": row.seconds, "away": None,
    }  # fmt: skip
