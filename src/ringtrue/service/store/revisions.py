"""Second thoughts: imported labels are taken back, and a task that was set aside counts again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, case, delete, exists, select, update

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.service.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project

__all__ = ["TAKEN_BACK", "Counted", "TakenBack", "count_again", "take_back", "would_take_back"]

TAKEN_BACK = "taken_back"  # outcome of a task whose labels were imported, and taken back
CHUNK = 2_000
assignment, item, judgment, task, verdict = (
    schema.assignment, schema.item, schema.judgment, schema.task, schema.verdict,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """How many labels are taken back, and how many items go with them, which nobody else had asked about or judged."""

    labels: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many answers count again, and how many do not: others have taken their places."""

    again: int
    not_again: int


def would_take_back(connection: Connection, project: Project, tasks: Collection[int]) -> TakenBack:
    """What `take_back` would do."""
    counts = _labels(connection, project, tasks)
    return TakenBack(labels=sum(counts.values()), items=len(_only_here(connection, counts, tasks)))


def take_back(connection: Connection, project: Project, tasks: Collection[int]) -> TakenBack:
    """Count none of the labels of imported tasks; they stay in the history, and may be imported again.

    Items that were made for these labels alone are deleted with them.
    """
    counts = _labels(connection, project, tasks)
    gone = _only_here(connection, counts, tasks)
    left = item.c.given - bindparam("less")
    less = (
        update(item)
        .where(item.c.id == bindparam("at"))
        .values(given=left, wanted=case((left > item.c.asked, left), else_=item.c.asked))
    )
    if counts:
        connection.execute(less, [{"at": at, "less": many} for at, many in sorted(counts.items())])
    for part in _chunks(tasks):
        imported = select(task.c.id).where(task.c.project == project.id, task.c.id.in_(part))
        imported = imported.where(task.c.outcome == "imported")
        ended = update(assignment).where(assignment.c.task.in_(imported), assignment.c.state == "done")
        connection.execute(ended.values(state="expired"))
        connection.execute(update(task).where(task.c.id.in_(imported)).values(outcome=TAKEN_BACK))
    for part in _chunks(gone):
        connection.execute(delete(item).where(item.c.id.in_(part)))
    return TakenBack(labels=sum(counts.values()), items=len(gone))


def count_again(connection: Connection, project: Project, number: int) -> Counted:
    """Count the answers of a task that was set aside, where their items still have room for them."""
    mine = (task.c.id == number, task.c.project == project.id)
    if connection.execute(select(task.c.id).where(*mine)).first() is None:
        raise NotFoundError(f"there is no task {number} in '{project.title}'")
    back = update(task).where(*mine, task.c.outcome == "set_aside").values(outcome="handed_in")
    if not connection.execute(back).rowcount:
        raise ConflictError("this task is not set aside: what was answered in it counts already")
    rows = connection.execute(
        select(assignment.c.id, assignment.c.item, item.c.wanted)
        .join(item, item.c.id == assignment.c.item)
        .join(judgment, and_(judgment.c.assignment == assignment.c.id, judgment.c.version == assignment.c.version))
        .where(assignment.c.task == number, assignment.c.state == "set_aside", judgment.c.kind == "answer")
        .order_by(item.c.id)
    ).all()
    again = ordinary = 0
    for row in rows:
        if row.wanted is not None:
            ordinary += 1
            room = update(item).where(item.c.id == row.item, item.c.given < item.c.wanted)
            if not connection.execute(room.values(given=item.c.given + 1)).rowcount:
                continue
            again += 1
        connection.execute(update(assignment).where(assignment.c.id == row.id).values(state="done"))
    if ordinary and not again:
        raise ConflictError("other judges have answered all its questions since: there is no room for these answers")
    return Counted(again=again, not_again=ordinary - again)


def _labels(connection: Connection, project: Project, tasks: Collection[int]) -> Counter[int]:
    """How many labels each item has from these tasks."""
    counts: Counter[int] = Counter()
    for part in _chunks(tasks):
        counts.update(
            connection.execute(
                select(assignment.c.item)
                .join(task, task.c.id == assignment.c.task)
                .where(task.c.project == project.id, task.c.id.in_(part), task.c.outcome == "imported",
                       assignment.c.state == "done")
            ).scalars()
        )  # fmt: skip
    return counts


def _only_here(connection: Connection, counts: Counter[int], tasks: Collection[int]) -> list[int]:
    """The items that are there for these labels alone: nobody asks about them, judged or decided them."""
    found: list[int] = []
    known = set(tasks)
    for part in _chunks(list(counts)):
        decided = exists().where(verdict.c.item == item.c.id)
        alone = select(item.c.id).where(item.c.id.in_(part), item.c.asked == 0, ~decided)
        others = select(assignment.c.item, assignment.c.task).where(
            assignment.c.item.in_(part), assignment.c.state != "expired"
        )
        judged = {at for at, by in connection.execute(others) if by not in known}
        found += [at for at in connection.execute(alone).scalars() if at not in judged]
    return found


def _chunks(numbers: Collection[int]) -> list[list[int]]:
    every = sorted(numbers)
    return [every[low : low + CHUNK] for low in range(0, len(every), CHUNK)]
