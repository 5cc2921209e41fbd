"""How far a project is: over all, by query, by judge; who is at work, and which tasks failed their traps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, distinct, func, select, union

from ringtrue.service.store import schema
from ringtrue.service.store.imports import TAKEN_BACK
from ringtrue.service.store.label_queries import find_failed_tasks
from ringtrue.service.store.records import Progress, Project, Queue
from ringtrue.service.store.tasks import NO_TRAPS, count_traps

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Row, Select, Subquery

account, assignment, item = schema.account, schema.assignment, schema.item
judgment, task = schema.judgment, schema.task
NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProgress:
    """How far one query is, counted as `Progress` is."""

    query: str
    text: str | None
    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeProgress:
    """What one judge has done of the main queue, without traps; `gold` answers beside; `seconds` is the median."""

    account: int
    handle: str
    kind: str
    done: int
    open: int
    unsure: int
    skipped: int
    seconds: float | None
    last_seen: float | None
    tasks: int
    traps: int
    passed: int
    failed_tasks: int
    gold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTask:
    """A task with too few traps right; `answers` of it count, none where it was set aside."""

    task: int
    account: int
    handle: str
    traps: int
    passed: int
    closed: float
    outcome: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTexts:
    """How many of the queries and documents that are asked about have nothing to read."""

    queries: int
    all_queries: int
    documents: int
    all_documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsureReason:
    """Why judges could not tell, and how often."""

    reason: str
    count: int


def load_progress(connection: Connection, project: int, queue: Queue = "main") -> Progress:
    """How far a queue of a project is."""
    tally = _item_tally(project, queue).subquery()
    sums = connection.execute(select(*_tally_sums(tally))).one()
    judges = connection.execute(
        select(func.count(distinct(assignment.c.account)))
        .join(item, item.c.id == assignment.c.item)
        .where(item.c.project == project, item.c.queue == queue, assignment.c.state == "done")
    ).scalar_one()
    return Progress(**_progress_counts(sums), skipped=int(sums.skipped or 0), judges=judges)


def load_query_progress(connection: Connection, project: int, queue: Queue = "main") -> list[QueryProgress]:
    """How far each query is, in the order in which they came."""
    tally = _item_tally(project, queue).subquery()
    rows = connection.execute(
        select(schema.query.c.name, schema.query.c.text, *_tally_sums(tally))
        .join(schema.query, schema.query.c.id == tally.c.query)
        .group_by(schema.query.c.id, schema.query.c.name, schema.query.c.text)
        .order_by(schema.query.c.id)
    )
    return [QueryProgress(query=row.name, text=row.text, **_progress_counts(row)) for row in rows]


def load_judge_progress(connection: Connection, project: Project) -> list[JudgeProgress]:
    """What each judge has done, those with the most answers first."""
    main = item.c.queue == "main"
    states = {
        name: func.count(case((and_(main, assignment.c.state == name), 1))).label(name)
        for name in ("done", "open", "unsure", "skipped")
    }
    states["gold"] = func.count(case((and_(item.c.queue == "gold", assignment.c.state == "done"), 1))).label("gold")
    assignments = {
        row.account: row
        for row in connection.execute(
            select(assignment.c.account, *states.values())
            .join(item, item.c.id == assignment.c.item)
            .where(item.c.project == project.id)
            .group_by(assignment.c.account)
        )
    }
    tasks = {
        row.account: row
        for row in connection.execute(
            select(
                task.c.account,
                account.c.handle,
                account.c.kind,
                func.count().label("tasks"),
                func.coalesce(func.sum(task.c.traps), 0).label("traps"),
                func.coalesce(func.sum(task.c.passed), 0).label("passed"),
            )
            .join(account, account.c.id == task.c.account)
            .where(task.c.project == project.id, func.coalesce(task.c.outcome, "") != TAKEN_BACK)
            .group_by(task.c.account, account.c.handle, account.c.kind)
        )
    }
    # A task keeps its count when it is closed; to count all of them anew would take seconds in large projects.
    open_traps = count_traps(connection, task.c.account, task.c.project == project.id, task.c.closed.is_(None))
    seconds, last_seen = _median_seconds(connection, project.id), _last_seen(connection, project.id)
    failed_accounts = [failed_task.account for failed_task in load_failed_tasks(connection, project)]
    judges = [
        JudgeProgress(
            account=account_id,
            handle=row.handle,
            kind=row.kind,
            **{name: getattr(assignments.get(account_id), name, 0) for name in states},
            seconds=seconds.get(account_id),
            last_seen=last_seen.get(account_id),
            tasks=row.tasks,
            traps=int(row.traps) + open_traps.get(account_id, NO_TRAPS).seen,
            passed=int(row.passed) + open_traps.get(account_id, NO_TRAPS).passed,
            failed_tasks=failed_accounts.count(account_id),
        )
        for account_id, row in tasks.items()
    ]
    return sorted(judges, key=lambda judge: (-judge.done, judge.handle))


def load_failed_tasks(connection: Connection, project: Project) -> list[FailedTask]:
    """The tasks with too few traps right, the newest first."""
    failed = find_failed_tasks(connection, project)
    if not failed:
        return []
    rows = connection.execute(
        select(
            task.c.id,
            task.c.account,
            account.c.handle,
            task.c.closed,
            task.c.outcome,
            func.count(case((and_(assignment.c.state == "done", item.c.queue != "trap"), 1))).label("answers"),
        )
        .join(account, account.c.id == task.c.account)
        .join(assignment, assignment.c.task == task.c.id)
        .join(item, item.c.id == assignment.c.item)
        .where(task.c.project == project.id, task.c.traps > 0)
        .group_by(task.c.id, account.c.handle)
        .order_by(task.c.id.desc())
    )
    return [
        FailedTask(
            task=row.id,
            traps=failed[row.id].seen,
            passed=failed[row.id].passed,
            **{name: value for name, value in row._mapping.items() if name != "id"},
        )
        for row in rows
        if row.id in failed
    ]


def count_missing_texts(connection: Connection, project: int) -> MissingTexts:
    """How many of the queries and documents in a project's items a judge cannot read."""
    query, document = schema.query, schema.document
    query_ids = select(item.c.query).where(item.c.project == project)
    document_ids = union(
        select(item.c.doc).where(item.c.project == project),
        select(item.c.other).where(item.c.project == project, item.c.other.is_not(None)),
    )
    is_empty_query = and_(query.c.text.is_(None), query.c.description.is_(None), query.c.narrative.is_(None))
    is_empty_document = and_(*(document.c[name].is_(None) for name in ("title", "url", "snippet", "text")))
    counts: list[int] = []
    for table, ids, is_empty in ((query, query_ids, is_empty_query), (document, document_ids, is_empty_document)):
        texts = select(func.count(), func.count(case((is_empty, 1)))).select_from(table)
        counts += connection.execute(texts.where(table.c.id.in_(ids))).one()
    all_queries, queries, all_documents, documents = counts
    return MissingTexts(queries=queries, all_queries=all_queries, documents=documents, all_documents=all_documents)


def count_active_judges(connection: Connection, project: int, now: float) -> int:
    """How many judges have a task open whose lease has not ended."""
    is_at_work = task.c.project == project, task.c.closed.is_(None), task.c.leased > now
    return int(connection.execute(select(func.count(distinct(task.c.account))).where(*is_at_work)).scalar_one())


def load_unsure_reasons(connection: Connection, project: int, *, limit: int = 20) -> list[UnsureReason]:
    """The reasons why judges could not tell, the most frequent first; traps, gold and what was undone do not count."""
    reason = judgment.c.reason
    rows = connection.execute(
        select(reason, func.count())
        .join(assignment, and_(assignment.c.id == judgment.c.assignment, assignment.c.version == judgment.c.version))
        .join(item, item.c.id == assignment.c.item)
        .where(item.c.project == project, item.c.queue == "main", assignment.c.state == "unsure")
        .group_by(reason)
        .order_by(func.count().desc(), reason)
        .limit(limit)
    )
    return [UnsureReason(reason=reason_text or NO_REASON, count=count) for reason_text, count in rows]


def load_worker_ids(connection: Connection, project: int) -> dict[int, str]:
    """The ids that a crowd platform gave to those who came by a link of this project, by account; they are personal."""
    visit, invitation = schema.visit, schema.invitation
    rows = connection.execute(
        select(visit.c.account, visit.c.worker)
        .join(invitation, invitation.c.id == visit.c.invitation)
        .where(invitation.c.project == project, visit.c.worker.is_not(None))
        .order_by(visit.c.id)
    )
    return {row.account: row.worker for row in rows}


def _item_tally(project: int, queue: str) -> Select[Any]:
    """A row for each item: how many assignments of it are in each state."""
    states = [
        func.count(case((assignment.c.state == name, 1))).label(name) for name in ("done", "open", "unsure", "skipped")
    ]
    return (
        select(item.c.id, item.c.query, item.c.wanted, *states)
        .outerjoin(assignment, assignment.c.item == item.c.id)
        .where(item.c.project == project, item.c.queue == queue)
        .group_by(item.c.id, item.c.query, item.c.wanted)
    )


def _tally_sums(tally: Subquery) -> list[ColumnElement[Any]]:
    return [
        func.count(tally.c.id).label("items"),
        *(func.sum(tally.c[name]).label(name) for name in ("wanted", "done", "open", "unsure", "skipped")),
        func.count(case((tally.c.done >= tally.c.wanted, 1))).label("complete"),
    ]


def _progress_counts(row: Row[Any]) -> dict[str, int]:
    return {name: int(getattr(row, name) or 0) for name in ("items", "wanted", "done", "open", "complete", "unsure")}


def _median_seconds(connection: Connection, project: int) -> dict[int, float]:
    """The median of the seconds that each judge took for an answer that counts."""
    ranked = (
        select(
            assignment.c.account,
            judgment.c.seconds,
            func.row_number().over(partition_by=assignment.c.account, order_by=judgment.c.seconds).label("place"),
            func.count().over(partition_by=assignment.c.account).label("size"),
        )
        .join(judgment, and_(judgment.c.assignment == assignment.c.id, judgment.c.version == assignment.c.version))
        .join(task, task.c.id == assignment.c.task)
        .where(task.c.project == project, assignment.c.state == "done", judgment.c.seconds.is_not(None))
        .subquery()
    )
    is_middle = (2 * ranked.c.place - ranked.c.size).between(0, 2)
    rows = connection.execute(
        select(ranked.c.account, func.avg(ranked.c.seconds)).where(is_middle).group_by(ranked.c.account)
    )
    return {account_id: float(seconds) for account_id, seconds in rows}


def _last_seen(connection: Connection, project: int) -> dict[int, float]:
    rows = connection.execute(
        select(assignment.c.account, func.max(judgment.c.time))
        .join(judgment, judgment.c.assignment == assignment.c.id)
        .join(task, task.c.id == assignment.c.task)
        .where(task.c.project == project)
        .group_by(assignment.c.account)
    )
    return {account_id: float(time) for account_id, time in rows}
