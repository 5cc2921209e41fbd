"""Labels from elsewhere: they become the finished work of judges who never log in, and may be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, delete, exists, insert, select, update

from ringtrue.errors import ConflictError
from ringtrue.service.store import schema
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.connections import chunks
from ringtrue.service.store.import_dedup import (
    ExistingAssignment,
    ImportedLabel,
    ItemKey,
    is_duplicate_label,
    load_existing_assignments,
    match_erased_judges,
)
from ringtrue.service.store.items import add_items
from ringtrue.service.store.records import Project, swap_sides

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

TAKEN_BACK = "taken_back"  # outcome of a task whose labels were imported, and taken back
# Ends the id of a judge where somebody here has the same.
HANDLE_SUFFIXES = ("", "-imported", "-imported-2", "-imported-3")

account, assignment, item = schema.account, schema.assignment, schema.item
judgment, task, verdict = schema.judgment, schema.task, schema.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedImport:
    """What became of labels from elsewhere: new ones, those that were there, and items that nobody had asked about.

    `labels` are the new ones, each with the account of its judge and the task it is in; a new version of a label that
    was there has no task of its own. `erased` judges of the file are people here whose personal data was erased.
    """

    new: int
    duplicates: int
    judges: int
    items: int
    labels: tuple[tuple[ImportedLabel, int, int | None], ...] = ()
    erased: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertedImport:
    """How many labels are taken back, and how many items go with them, which nobody else had asked about or judged."""

    labels: int
    items: int


def record_imported_labels(
    connection: Connection, project: Project, labels: Sequence[ImportedLabel], *, now: float, rng: np.random.Generator
) -> RecordedImport:
    """Keep labels from elsewhere as finished work: the same ones again change nothing, another label is a new version.

    An item that has more labels than were wanted wants as many as it has. One that nobody had asked about is added, and
    wants no more than its labels. What somebody said whose personal data was erased since is known by what was said:
    the name in the file does not come back.
    """
    items_before = _load_item_ids(connection, project)
    new_keys = dict.fromkeys(label.key for label in labels if label.key not in items_before)
    new_items = [dict(zip(("query", "doc", "other"), key, strict=True)) for key in new_keys]
    add_items(connection, project, new_items, queue="main", wanted=0, rng=rng)
    items = _load_item_ids(connection, project) if new_items else items_before
    accounts_by_judge = _find_judge_accounts(connection, dict.fromkeys(label.judge for label in labels))
    assignments = load_existing_assignments(connection, project)
    new_labels: dict[tuple[int, int], list[ImportedLabel]] = {}
    new_versions: list[tuple[ExistingAssignment, ImportedLabel]] = []
    recorded: list[tuple[ImportedLabel, int, int]] = []
    duplicates = 0
    account_by_judge = match_erased_judges(connection, labels, items, accounts_by_judge, assignments)
    accounts_by_judge |= {judge: [account_id] for judge, account_id in account_by_judge.items()}
    erased_count = len(account_by_judge)
    for label in labels:
        item_id = items[label.key]
        if is_duplicate_label(
            label, (assignments.get((item_id, account_id)) for account_id in accounts_by_judge.get(label.judge, ()))
        ):
            duplicates += 1
            continue
        account_id = account_by_judge.get(label.judge)
        if account_id is None:
            account_id = account_by_judge[label.judge] = _get_or_create_judge_account(connection, label.judge, now)
        existing = assignments.get((item_id, account_id))
        recorded.append((label, item_id, account_id))
        if existing is None:
            new_labels.setdefault((item_id, account_id), []).append(label)
        elif existing.state == "done":
            new_versions.append((existing, label))
            existing.answers.append((label.unflipped_answer, now if label.time is None else label.time))
        else:  # set aside by somebody since
            recorded.pop()
            duplicates += 1
    tasks = _add_imported_tasks(connection, project, new_labels, now)
    _add_label_versions(connection, new_versions, now)
    return RecordedImport(
        new=sum(map(len, new_labels.values())) + len(new_versions),
        duplicates=duplicates,
        judges=len({label.judge for label in labels}),
        items=len(new_items),
        labels=tuple((label, account_id, tasks.get((item_id, account_id))) for label, item_id, account_id in recorded),
        erased=erased_count,
    )


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
    for chunk in chunks(sorted(tasks)):
        imported = select(task.c.id).where(task.c.project == project.id, task.c.id.in_(chunk))
        imported = imported.where(task.c.outcome == "imported")
        expire = update(assignment).where(assignment.c.task.in_(imported), assignment.c.state == "done")
        connection.execute(expire.values(state="expired"))
        connection.execute(update(task).where(task.c.id.in_(imported)).values(outcome=TAKEN_BACK))
    for chunk in chunks(orphans):
        connection.execute(delete(item).where(item.c.id.in_(chunk)))
    return RevertedImport(labels=sum(counts.values()), items=len(orphans))


def _load_item_ids(connection: Connection, project: Project) -> dict[ItemKey, int]:
    rows = connection.execute(
        select(schema.query.c.name, schema.doc.c.name, schema.other.c.name, item.c.id)
        .select_from(schema.named_items)
        .where(item.c.project == project.id, item.c.queue == "main")
    )
    return {(query, first, second): item_id for query, first, second, item_id in rows}


def _find_judge_accounts(connection: Connection, judges: Iterable[str]) -> dict[str, list[int]]:
    """Who may have said it before: whoever has the judge's id, and the one who was made for it."""
    judge_by_handle = {judge + suffix: judge for judge in judges for suffix in HANDLE_SUFFIXES}
    accounts_by_judge: dict[str, list[int]] = {}
    for chunk in chunks(judge_by_handle):
        accounts = select(account.c.handle, account.c.id).where(account.c.handle.in_(chunk))
        for handle, account_id in connection.execute(accounts):
            accounts_by_judge.setdefault(judge_by_handle[handle], []).append(account_id)
    return accounts_by_judge


def _get_or_create_judge_account(connection: Connection, judge: str, now: float) -> int:
    """The account for a judge of a file: by the same id, or where somebody here has it, by one beside it."""
    for suffix in HANDLE_SUFFIXES:
        handle = judge + suffix
        row = connection.execute(select(account.c.id, account.c.kind).where(account.c.handle == handle)).first()
        if row is None:
            return create_account(connection, kind="imported", handle=handle, now=now)
        if row.kind == "imported":
            return int(row.id)
    raise ConflictError(
        "judge-name-taken",
        f"judge '{judge}' of the file has the name of somebody here; rename the judge in the file",
    )


def _add_imported_tasks(
    connection: Connection, project: Project, new_labels: dict[tuple[int, int], list[ImportedLabel]], now: float
) -> dict[tuple[int, int], int]:
    """A task for each batch of a judge, an assignment for each item in it, and all that was said as its versions.

    Answers the task of each item and judge.
    """
    batches: dict[tuple[int, str | None], list[tuple[int, list[ImportedLabel]]]] = {}
    for (item_id, account_id), labels in new_labels.items():
        batches.setdefault((account_id, labels[-1].batch), []).append((item_id, labels))
    assignments: list[tuple[dict[str, Any], list[ImportedLabel]]] = []
    tasks: dict[tuple[int, int], int] = {}
    for (account_id, _), labels_by_item in batches.items():
        times = [now if label.time is None else label.time for _, labels in labels_by_item for label in labels]
        task_id = connection.execute(
            insert(task)
            .values(
                project=project.id,
                account=account_id,
                queue="main",
                opened=min(times),
                leased=max(times),
                closed=max(times),
                outcome="imported",
            )
            .returning(task.c.id)
        ).scalar_one()
        for place, (item_id, labels) in enumerate(labels_by_item, start=1):
            whose = {"task": task_id, "item": item_id, "account": account_id, "place": place}
            state = {"flipped": labels[0].flipped, "state": "done", "version": len(labels)}
            assignments.append((whose | state, labels))
            tasks[item_id, account_id] = task_id
    _count_as_given(connection, Counter(item_id for item_id, _ in new_labels))
    insertion = insert(assignment).returning(assignment.c.id, sort_by_parameter_order=True)
    for chunk in chunks(assignments):
        ids = connection.execute(insertion, [row for row, _ in chunk]).scalars()
        connection.execute(
            insert(judgment),
            [
                _judgment_row(assignment_id, version, label, labels[0].flipped, now)
                for assignment_id, (_, labels) in zip(ids, chunk, strict=True)
                for version, label in enumerate(labels, start=1)
            ],
        )
    return tasks


def _add_label_versions(
    connection: Connection, new_versions: list[tuple[ExistingAssignment, ImportedLabel]], now: float
) -> None:
    for existing, label in new_versions:
        existing.version += 1
        connection.execute(
            insert(judgment), [_judgment_row(existing.assignment, existing.version, label, existing.flipped, now)]
        )
        connection.execute(
            update(assignment).where(assignment.c.id == existing.assignment).values(version=existing.version)
        )


def _count_as_given(connection: Connection, counts: Counter[int]) -> None:
    """Count the labels as given, and want as many where that is more than was wanted."""
    total = item.c.given + bindparam("more")
    raise_limits = (
        update(item)
        .where(item.c.id == bindparam("item_id"))
        .values(given=total, wanted=case((total > item.c.wanted, total), else_=item.c.wanted))
    )
    for chunk in chunks({"item_id": item_id, "more": more} for item_id, more in counts.items()):
        connection.execute(raise_limits, chunk)


def _judgment_row(assignment_id: int, version: int, label: ImportedLabel, flipped: bool, now: float) -> dict[str, Any]:
    """A row of the history; the two sides are those of the assignment, which has one order for all its versions."""
    return {
        "assignment": assignment_id,
        "version": version,
        "kind": "answer",
        "answer": swap_sides(label.unflipped_answer, flipped),
        "reason": None,
        "time": now if label.time is None else label.time,
        "seconds": label.seconds,
        "away": None,
    }


def _count_labels_by_item(connection: Connection, project: Project, tasks: Collection[int]) -> Counter[int]:
    """How many labels each item has from these tasks."""
    counts: Counter[int] = Counter()
    for chunk in chunks(sorted(tasks)):
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
    for chunk in chunks(sorted(counts)):
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
