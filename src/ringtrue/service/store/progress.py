"""How far a project is: over all, by query, by judge; who is at work, and which tasks failed their traps."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlalchemy import and_, case, distinct, exists, func, select, union

from ringtrue.service.store import schema
from ringtrue.service.store.connections import chunks
from ringtrue.service.store.imports import TAKEN_BACK
from ringtrue.service.store.label_queries import fetch_frame, find_failed_tasks
from ringtrue.service.store.records import Progress, Project, Queue
from ringtrue.service.store.tasks import NO_TRAPS, count_traps

if TYPE_CHECKING:
    from sqlalchemy import Connection

account, assignment, item = schema.account, schema.assignment, schema.item
judgment, task = schema.judgment, schema.task
NO_REASON = "no reason given"
ANSWER_COUNTS = ("done", "unsure", "skipped", "gold")
NO_ANSWERS: dict[str, Any] = dict.fromkeys(ANSWER_COUNTS, 0) | {"seconds": None, "last_seen": None}


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
    return load_progress_by_query(connection, project, queue)[0]


def load_query_progress(connection: Connection, project: int, queue: Queue = "main") -> list[QueryProgress]:
    """How far each query is, in the order in which they came."""
    return load_progress_by_query(connection, project, queue)[1]


def load_progress_by_query(
    connection: Connection, project: int, queue: Queue = "main"
) -> tuple[Progress, list[QueryProgress]]:
    """How far a queue of a project is, and each query in it, in the order in which they came.

    An item counts who has it, so that most is summed over items. Assignments are looked at that are not done: those
    of open tasks have an item in hand, and it is not complete before they are done.
    """
    query = schema.query
    of_queue = item.c.project == project, item.c.queue == queue
    sums = (
        select(
            item.c.query,
            func.count().label("items"),
            func.sum(item.c.wanted).label("wanted"),
            func.sum(item.c.given).label("held"),
            func.count(case((item.c.given >= item.c.wanted, 1))).label("full"),
        )
        .where(*of_queue)
        .group_by(item.c.query)
        .subquery()
    )
    rows = connection.execute(
        select(query.c.name, query.c.text, sums).join(query, query.c.id == sums.c.query).order_by(query.c.id)
    ).all()
    undone = _count_undone(connection, project, queue)
    queries = []
    for row in rows:
        counts = undone[row.query]
        queries.append(
            QueryProgress(
                query=row.name,
                text=row.text,
                items=row.items,
                wanted=int(row.wanted or 0),
                done=int(row.held) - counts["kept"],
                open=counts["open"],
                complete=row.full - counts["full"],
                unsure=counts["unsure"],
            )
        )
    totals = {
        name: sum(getattr(row, name) for row in queries)
        for name in ("items", "wanted", "done", "open", "complete", "unsure")
    }
    skipped = sum(counts["skipped"] for counts in undone.values())
    judges = _count_judges(connection, project, queue) if totals["done"] else 0
    return Progress(**totals, skipped=skipped, judges=judges), queries


def load_judge_progress(connection: Connection, project: Project) -> list[JudgeProgress]:
    """What each judge has done, those with the most answers first."""
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
    # A task keeps its count when it is closed; counting all of them again would take seconds in large projects.
    open_traps = count_traps(connection, task.c.account, task.c.project == project.id, task.c.closed.is_(None))
    open_questions = _count_open_questions(connection, project.id)
    answers = _load_answer_counts(connection, project.id)
    failed_tasks = Counter(failed_task.account for failed_task in load_failed_tasks(connection, project))
    judges = [
        JudgeProgress(
            account=account_id,
            handle=row.handle,
            kind=row.kind,
            open=open_questions.get(account_id, 0),
            **answers.get(account_id, NO_ANSWERS),
            tasks=row.tasks,
            traps=int(row.traps) + open_traps.get(account_id, NO_TRAPS).seen,
            passed=int(row.passed) + open_traps.get(account_id, NO_TRAPS).passed,
            failed_tasks=failed_tasks[account_id],
        )
        for account_id, row in tasks.items()
    ]
    return sorted(judges, key=lambda judge: (-judge.done, judge.handle))


def load_failed_tasks(connection: Connection, project: Project) -> list[FailedTask]:
    """The tasks with too few traps right, the newest first."""
    failed = find_failed_tasks(connection, project)
    statement = (
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
        for failed_ids in chunks(sorted(failed, reverse=True))
        for row in connection.execute(statement.where(task.c.id.in_(failed_ids)))
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
        .select_from(schema.given_items)
        .join(judgment, and_(judgment.c.assignment == assignment.c.id, judgment.c.version == assignment.c.version))
        .where(task.c.project == project, item.c.queue == "main", assignment.c.state == "unsure")
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


def _count_undone(connection: Connection, project: int, queue: str) -> defaultdict[int, Counter[str]]:
    """How many assignments of each query are open, unsure and skipped.

    Those that are `kept` are of open tasks; `full` are items that have no room, and wait for these only.

    It begins with the tasks: items that nobody has had yet, most of a large project, are not looked at.
    """
    rows = connection.execute(
        select(
            item.c.query,
            item.c.id,
            assignment.c.state,
            task.c.closed.is_(None).label("is_kept"),
            (item.c.given >= item.c.wanted).label("is_full"),
        )
        .select_from(schema.given_items)
        .where(task.c.project == project, item.c.queue == queue)
        .where(assignment.c.state.in_(("open", "unsure", "skipped")))
    )
    undone: defaultdict[int, Counter[str]] = defaultdict(Counter)
    waiting: set[int] = set()
    for query_id, item_id, state, is_kept, is_full in rows:
        undone[query_id][state] += 1
        undone[query_id]["kept"] += is_kept
        if is_kept and is_full and item_id not in waiting:
            waiting.add(item_id)
            undone[query_id]["full"] += 1
    return undone


def _count_judges(connection: Connection, project: int, queue: str) -> int:
    """How many judges have an answer in a queue that counts."""
    judges = select(task.c.account).where(task.c.project == project).distinct().subquery()
    has_answer = (
        exists()
        .select_from(schema.given_items)
        .where(task.c.project == project, task.c.account == judges.c.account)
        .where(item.c.queue == queue, assignment.c.state == "done")
    )
    return int(connection.execute(select(func.count()).select_from(judges).where(has_answer)).scalar_one())


def _count_open_questions(connection: Connection, project: int) -> dict[int, int]:
    """By judge, the questions of the main queue that are open, without traps; only open tasks have any."""
    rows = connection.execute(
        select(task.c.account, func.count().label("open"))
        .select_from(schema.given_questions)
        .where(task.c.project == project, task.c.closed.is_(None), assignment.c.state == "open")
        .where(schema.is_given_for(project, "main"))
        .group_by(task.c.account)
    )
    return {row.account: row.open for row in rows}


def _load_answer_counts(connection: Connection, project: int) -> dict[int, dict[str, Any]]:
    """By judge, what `NO_ANSWERS` lists: answers of each kind, the median of the seconds of those that count, and when
    the last one came. All of it from one scan of the answers, which takes most of the time in a large project.
    """
    is_current = judgment.c.version == assignment.c.version
    is_done = and_(is_current, assignment.c.state == "done")
    count = case(
        (and_(is_current, schema.is_given_for(project, "main")), assignment.c.state),
        (and_(is_done, task.c.queue == "gold"), "gold"),
    )
    statement = (
        select(task.c.account, count, case((is_done, judgment.c.seconds)), judgment.c.time)
        .select_from(schema.given_questions)
        .join(judgment, judgment.c.assignment == assignment.c.id)
        .where(task.c.project == project)
    )
    dtypes = {"account": pl.Int64, "count": pl.String, "seconds": pl.Float64, "time": pl.Float64}
    frame = fetch_frame(connection, statement, dtypes)
    answers = frame.group_by("account").agg(
        *((pl.col("count") == name).sum().alias(name) for name in ANSWER_COUNTS),
        pl.col("seconds").median(),
        last_seen=pl.col("time").max(),
    )
    return {row.pop("account"): row for row in answers.iter_rows(named=True)}
