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

TAKEN_BACK = "taken_back"  # outcome of a task whose labels were imported, and taken back
CHUNK = 2_000
assignment, item, judgment, task, verdict = (
    schema.assignment,
    schema.item,
    schema.judgment,
    schema.task,
    schema.verdict,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedImport:
    """How many labels are taken back, and how many items go with them, which nobody else had asked about or judged."""

    labels: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinstatedAnswers:
    """How many answers count again, and how many do not: others have taken their places."""

    again: int
    not_again: int


def preview_revert(connection: Connection, project: Project, tasks: Collection[int]) -> RevertedImport:
    """What `revert_imported_tasks` would do."""
    counts = _count_labels_by_item(connection, project, tasks)
    return RevertedImport(labels=sum(counts.values()), items=len(_find_orphaned_items(connection, counts, tasks)))


def revert_imported_tasks(connection: Connection, project: Project, tasks: Collection[int]) -> RevertedImport:
    """Count none of the labels of imported tasks; they stay in the history, and may be imported again.

    Items that were made for these labels alone are deleted with them.
    """
    counts = _count_labels_by_item(connection, project, tasks)
    orphans = _find_orphaned_items(connection, counts, tasks)
    remaining = item.c.given - bindparam("fewer")
    lower_counts = (
        update(item)
        .where(item.c.id == bindparam("item_id"))
        .values(given=remaining, wanted=case((remaining > item.c.asked, remaining), else_=item.c.asked))
    )
    if counts:
        connection.execute(
            lower_counts, [{"item_id": item_id, "fewer": count} for item_id, count in sorted(counts.items())]
        )
    for chunk in _chunks(tasks):
        imported = select(task.c.id).where(task.c.project == project.id, task.c.id.in_(chunk))
        imported = imported.where(task.c.outcome == "imported")
        expire = update(assignment).where(assignment.c.task.in_(imported), assignment.c.state == "done")
        connection.execute(expire.values(state="expired"))
        connection.execute(update(task).where(task.c.id.in_(imported)).values(outcome=TAKEN_BACK))
    for chunk in _chunks(orphans):
        connection.execute(delete(item).where(item.c.id.in_(chunk)))
    return RevertedImport(labels=sum(counts.values()), items=len(orphans))


def reinstate_task(connection: Connection, project: Project, task_id: int) -> ReinstatedAnswers:
    """Count the answers of a task that was set aside, where their items still have room for them."""
    is_this_task = (task.c.id == task_id, task.c.project == project.id)
    if connection.execute(select(task.c.id).where(*is_this_task)).first() is None:
        raise NotFoundError(f"there is no task {task_id} in '{project.title}'")
    reinstatement = update(task).where(*is_this_task, task.c.outcome == "set_aside").values(outcome="handed_in")
    if not connection.execute(reinstatement).rowcount:
        raise ConflictError("this task is not set aside: what was answered in it counts already")
    rows = connection.execute(
        select(assignment.c.id, assignment.c.item, item.c.wanted)
        .join(item, item.c.id == assignment.c.item)
        .join(judgment, and_(judgment.c.assignment == assignment.c.id, judgment.c.version == assignment.c.version))
        .where(assignment.c.task == task_id, assignment.c.state == "set_aside", judgment.c.kind == "answer")
        .order_by(item.c.id)
    ).all()
    reinstated = ordinary = 0
    for row in rows:
        if row.wanted is not None:
            ordinary += 1
            free_item = update(item).where(item.c.id == row.item, item.c.given < item.c.wanted)
            if not connection.execute(free_item.values(given=item.c.given + 1)).rowcount:
                continue
            reinstated += 1
        connection.execute(update(assignment).where(assignment.c.id == row.id).values(state="done"))
    if ordinary and not reinstated:
        raise ConflictError("other judges have answered all its questions since: there is no room for these answers")
    return ReinstatedAnswers(again=reinstated, not_again=ordinary - reinstated)


def _count_labels_by_item(connection: Connection, project: Project, tasks: Collection[int]) -> Counter[int]:
    """How many labels each item has from these tasks."""
    counts: Counter[int] = Counter()
    for chunk in _chunks(tasks):
        counts.update(
            connection.execute(
                select(assignment.c.item)
                .join(task, task.c.id == assignment.c.task)
                .where(
                    task.c.project == project.id,
                    task.c.id.in_(chunk),
                    task.c.outcome == "imported",
                    assignment.c.state == "done",
                )
            ).scalars()
        )
    return counts


def _find_orphaned_items(connection: Connection, counts: Counter[int], tasks: Collection[int]) -> list[int]:
    """The items that are there for these labels alone: nobody asks about them, judged or decided them."""
    orphans: list[int] = []
    imported_tasks = set(tasks)
    for chunk in _chunks(list(counts)):
        has_verdict = exists().where(verdict.c.item == item.c.id)
        unrequested = select(item.c.id).where(item.c.id.in_(chunk), item.c.asked == 0, ~has_verdict)
        assignments = select(assignment.c.item, assignment.c.task).where(
            assignment.c.item.in_(chunk), assignment.c.state != "expired"
        )
        judged_elsewhere = {
            item_id for item_id, task_id in connection.execute(assignments) if task_id not in imported_tasks
        }
        orphans += [item_id for item_id in connection.execute(unrequested).scalars() if item_id not in judged_elsewhere]
    return orphans


def _chunks(ids: Collection[int]) -> list[list[int]]:
    ordered = sorted(ids)
    return [ordered[low : low + CHUNK] for low in range(0, len(ordered), CHUNK)]
