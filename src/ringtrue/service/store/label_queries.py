"""What was collected: labels and preferences that count, the known answers, and every answer that was ever given.

Programs that follow answers as they come in get them a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl
from sqlalchemy import and_, case, func, select

from ringtrue.service.store import schema
from ringtrue.service.store.connections import FETCH_SIZE, fetch_raw_rows, without_index
from ringtrue.service.store.records import Project, Queue
from ringtrue.service.store.tasks import TrapCount, is_last_word, passes_traps
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

account, assignment, item = schema.account, schema.assignment, schema.item
judgment, query, task = schema.judgment, schema.query, schema.task
doc, named_items, other = schema.doc, schema.named_items, schema.other

ANSWER_DTYPES = {
    "id": pl.Int64,
    "item": pl.Int64,
    "account": pl.Int64,
    "answer": pl.String,
    "time": pl.Float64,
    "seconds": pl.Float64,
    "batch": pl.Int64,
    "place": pl.Int64,
    "flipped": pl.Boolean,
    "kind": pl.String,
    "counts": pl.Boolean,
}
HANDLE_DTYPES = {"account": pl.Int64, "judge": pl.String}
NAME_DTYPES = {"item": pl.Int64, "queue": pl.String, "query": pl.String, "left": pl.String, "right": pl.String}
DETAIL_COLUMNS = ("time", "seconds", "batch", "place", "queue", "kind", "trap")
TrapRows: TypeAlias = Literal["none", "labels", "all"]  # which answers to traps are wanted
NOT_JUDGED = "-1"  # a label below 0, as in TREC


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAnswer:
    """One answer as it was given: `left` is the document, or the one that stood left, and `right` is there for pairs.

    `counts` tells whether it is the one that counts now; `batch` is the task. A late answer has a version below 0.
    """

    id: int
    query: str
    left: str
    right: str | None
    judge: str
    kind: str
    answer: str | None
    reason: str | None
    counts: bool
    version: int
    time: float
    seconds: float | None
    away: float | None
    queue: str
    batch: int
    place: int


def is_current_answer() -> ColumnElement[bool]:
    """Whether a judgment is the one of its assignment that counts."""
    return and_(assignment.c.state == "done", judgment.c.version == assignment.c.version, judgment.c.kind == "answer")


def load_collected(
    connection: Connection,
    project: Project,
    *,
    queue: Queue = "main",
    traps: TrapRows = "none",
    failed: bool = True,
) -> Judgments | Preferences | None:
    """The labels or preferences that count, as the package's own tables; None while there is none."""
    if project.scale.kind == "preference":
        frame = load_preferences(connection, project, queue=queue, traps=traps, failed=failed)
        return Preferences(frame) if frame.height else None
    frame = load_judgments(connection, project, queue=queue, traps=traps, failed=failed)
    return Judgments(frame) if frame.height else None


def load_judgments(
    connection: Connection,
    project: Project,
    *,
    queue: Queue = "main",
    traps: TrapRows = "none",
    failed: bool = True,
) -> pl.DataFrame:
    """Labels that count, in the order in which they came: query, doc, judge, label, time, seconds, batch, place, queue.

    A batch is a task. `traps` adds the labels that count of questions whose answer is known, and a column that tells
    them; or all traps that judges met, in tasks that were set aside too: then the column `kind` says unsure or skip
    where a judge gave no label, and the label is −1. Of a question that a judge met both ways, the ordinary answer
    stays. Without `failed`, tasks with too few traps right are left out.
    """
    frame = _load_current_answers(connection, project, queue, traps=traps, failed=failed)
    labels = {"doc": pl.col("left"), "label": pl.col("answer").fill_null(NOT_JUDGED).cast(pl.Int32)}
    return frame.with_columns(**labels).select("query", "doc", "judge", "label", *_detail_columns(frame))


def load_preferences(
    connection: Connection,
    project: Project,
    *,
    queue: Queue = "main",
    traps: TrapRows = "none",
    failed: bool = True,
) -> pl.DataFrame:
    """Preferences that count, left and right as they were seen: query, left, right, judge, winner, time and so on.

    With all traps, the winner is `tie` where a judge gave none.
    """
    frame = _load_current_answers(connection, project, queue, traps=traps, failed=failed)
    flipped = pl.col("flipped") & pl.col("right").is_not_null()
    sides = {
        side: pl.when(flipped).then(pl.col(opposite)).otherwise(pl.col(side))
        for side, opposite in (("left", "right"), ("right", "left"))
    }
    frame = frame.with_columns(**sides, winner=pl.col("answer").fill_null("tie"))
    return frame.select("query", "left", "right", "judge", "winner", *_detail_columns(frame))


def load_known_answers(connection: Connection, project: Project) -> Judgments | Preferences | None:
    """The traps with their answers; None where there is none."""
    rows = connection.execute(
        select(query.c.name, doc.c.name, other.c.name, item.c.expected)
        .select_from(named_items)
        .where(item.c.project == project.id, item.c.queue == "trap", item.c.expected.is_not(None))
        .order_by(item.c.id)
    ).all()
    names = ("query", "left", "right", "winner")
    frame = pl.DataFrame([tuple(row) for row in rows], schema=dict.fromkeys(names, pl.String), orient="row")
    if not frame.height:
        return None
    if project.scale.kind == "preference":
        return Preferences.of(frame)
    return Judgments.of(frame.select("query", doc="left", label="winner"))


def stream_history(connection: Connection, project: Project) -> Iterator[pl.DataFrame]:
    """Every answer that was ever given, also those that do not count: undone, unsure, skipped, late, set aside.

    `counts` tells those that do; the answer stands under `label`, or under `winner` with left and right as they were
    seen. A late answer has a version below 0. The frames are fetched as they are asked for, the first may be empty.
    """
    is_pairs = project.scale.kind == "preference"
    docs = {"left": _left_name(), "right": _right_name()} if is_pairs else {"doc": doc.c.name}
    columns: dict[str, tuple[ColumnElement[Any], Any]] = {
        "query": (query.c.name, pl.String),
        **{name: (column, pl.String) for name, column in docs.items()},
        "judge": (account.c.handle, pl.String),
        "winner" if is_pairs else "label": (judgment.c.answer, pl.String),
        "counts": (is_current_answer(), pl.Boolean),
        "kind": (judgment.c.kind, pl.String),
        "version": (judgment.c.version, pl.Int64),
        "state": (assignment.c.state, pl.String),
        "time": (judgment.c.time, pl.Float64),
        "seconds": (judgment.c.seconds, pl.Float64),
        "away": (judgment.c.away, pl.Float64),
        "reason": (judgment.c.reason, pl.String),
        "queue": (item.c.queue, pl.String),
        "trap": (item.c.queue == "trap", pl.Boolean),
        "batch": (task.c.id, pl.Int64),
        "place": (assignment.c.place, pl.Int64),
        "outcome": (task.c.outcome, pl.String),
    }
    statement = (
        select(*(column.label(name) for name, (column, _) in columns.items()))
        .select_from(_joined_answers())
        .where(task.c.project == project.id)
        .order_by(judgment.c.id)
    )
    dtypes = {name: dtype for name, (_, dtype) in columns.items()}
    yield pl.DataFrame(schema=dtypes).with_columns(format_time("time"))
    for partition in connection.execute(statement.execution_options(yield_per=FETCH_SIZE)).partitions():
        rows = [tuple(row) for row in partition]
        yield pl.DataFrame(rows, schema=dtypes, orient="row", strict=False).with_columns(format_time("time"))


def load_answers_after(
    connection: Connection,
    project: Project,
    *,
    queue: str = "main",
    after: int = 0,
    limit: int = 1000,
    counting: bool = True,
) -> list[ListedAnswer]:
    """The answers of a queue with a number above `after`, by number; those that count, or every one.

    With several writers, an answer may become visible after one with a higher number.
    """
    counts = is_current_answer()
    columns = {
        "id": judgment.c.id,
        "query": query.c.name,
        "left": _left_name(),
        "right": _right_name(),
        "judge": account.c.handle,
        **{name: judgment.c[name] for name in ("kind", "answer", "reason", "version", "time", "seconds", "away")},
        "counts": counts,
        "queue": item.c.queue,
        "batch": task.c.id,
        "place": assignment.c.place,
    }
    statement = (
        select(*(column.label(name) for name, column in columns.items()))
        .select_from(_joined_answers())
        .where(without_index(connection, task.c.project) == project.id, item.c.queue == queue, judgment.c.id > after)
        .order_by(judgment.c.id)
        .limit(limit)
    )
    rows = connection.execute(statement.where(counts) if counting else statement)
    return [ListedAnswer(**row._mapping) for row in rows]


def load_verdict_frame(connection: Connection, project: Project, *, queue: Queue = "main") -> pl.DataFrame:
    """What was decided where judges disagreed, the last word on each item: query, doc, other, answer, judge, time."""
    last_verdicts = select(func.max(schema.verdict.c.id)).group_by(schema.verdict.c.item)
    rows = connection.execute(
        select(
            query.c.name,
            doc.c.name,
            other.c.name,
            schema.verdict.c.answer,
            account.c.handle,
            schema.verdict.c.time,
            schema.verdict.c.reason,
        )
        .select_from(
            named_items.join(schema.verdict, schema.verdict.c.item == item.c.id).join(
                account, account.c.id == schema.verdict.c.account
            )
        )
        .where(item.c.project == project.id, item.c.queue == queue, schema.verdict.c.id.in_(last_verdicts))
        .order_by(schema.verdict.c.id)
    ).all()
    dtypes = {
        "query": pl.String,
        "doc": pl.String,
        "other": pl.String,
        "answer": pl.String,
        "judge": pl.String,
        "time": pl.Float64,
        "reason": pl.String,
    }
    return pl.DataFrame([tuple(row) for row in rows], schema=dtypes, orient="row").with_columns(format_time("time"))


def find_failed_tasks(connection: Connection, project: Project) -> dict[int, TrapCount]:
    """The tasks that are closed and have too few traps right, with how many."""
    rows = connection.execute(
        select(task.c.id, task.c.traps, task.c.passed).where(task.c.project == project.id, task.c.traps > 0)
    )
    counts = {task_id: TrapCount(traps, passed or 0) for task_id, traps, passed in rows}
    needed, usual = project.settings.traps_needed, project.settings.traps
    return {task_id: count for task_id, count in counts.items() if not passes_traps(count, needed=needed, usual=usual)}


def fetch_frame(connection: Connection, statement: Select[Any], dtypes: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of a statement as a frame; conditions among its columns have to be integers."""
    raw_dtypes = {name: pl.Int8 if dtype == pl.Boolean else dtype for name, dtype in dtypes.items()}
    frames = [pl.DataFrame(rows, schema=raw_dtypes, orient="row") for rows in fetch_raw_rows(connection, statement)]
    return pl.concat(frames).cast(pl.Schema(dtypes)) if frames else pl.DataFrame(schema=dtypes)


def format_time(column: str) -> pl.Expr:
    """Seconds since 1970 as text that every reader of times understands: ISO 8601, UTC.

    Examples:
        >>> pl.DataFrame({"time": [1714557605.5]}).select(format_time("time")).item()
        '2024-05-01T10:00:05.500Z'
    """
    moment = pl.from_epoch((pl.col(column) * 1000).round().cast(pl.Int64), time_unit="ms")
    return moment.dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").alias(column)


def _load_current_answers(
    connection: Connection, project: Project, queue: Queue, *, traps: TrapRows, failed: bool
) -> pl.DataFrame:
    """The answers that count, `left` and `right` as the item has them, not as `flipped` shows them.

    The names of an item and of a judge are looked up once, not for every answer: that is half of the time.
    """
    answers = fetch_frame(connection, _last_words_statement(project, queue, all_traps=traps == "all"), ANSWER_DTYPES)
    names = fetch_frame(connection, _given_names_statement(project, queue), NAME_DTYPES)
    handles = fetch_frame(connection, _handles_statement(project), HANDLE_DTYPES)
    frame = answers.join(handles, on="account").join(names, on="item").with_columns(trap=pl.col("queue") == "trap")
    is_trap, counts = pl.col("trap"), pl.col("counts")
    is_wanted = {"none": ~is_trap & counts, "labels": counts, "all": is_trap | counts}
    frame = frame.filter(is_wanted[traps])
    if not failed:
        frame = frame.filter(~pl.col("batch").is_in(sorted(find_failed_tasks(connection, project))))
    if traps != "none":
        frame = _drop_traps_met_as_items(frame)
    unwanted = {"none": ["trap", "kind"], "labels": ["kind"], "all": []}
    return frame.sort("id").drop("id", "account", "item", *unwanted[traps]).with_columns(format_time("time"))


def _detail_columns(frame: pl.DataFrame) -> list[str]:
    return [name for name in DETAIL_COLUMNS if name in frame.columns]


def _drop_traps_met_as_items(frame: pl.DataFrame) -> pl.DataFrame:
    """Without a judge's answers to traps that the same judge answered as ordinary questions too."""
    ordinary, traps = frame.filter(~pl.col("trap")), frame.filter("trap")
    question = ["query", "judge", "left", "right"]
    return pl.concat([ordinary, traps.join(ordinary, on=question, how="anti", nulls_equal=True)])


def _last_words_statement(project: Project, queue: Queue, *, all_traps: bool) -> Select[Any]:
    """The answers that count of the tasks for a queue, those to traps too, by numbers of judges and items.

    With all traps it is every last word that a judge may have met a trap by, also where it does not count.
    """
    return (
        select(
            judgment.c.id,
            assignment.c.item,
            assignment.c.account,
            judgment.c.answer,
            judgment.c.time,
            judgment.c.seconds,
            task.c.id,
            assignment.c.place,
            _as_integer(assignment.c.flipped),
            judgment.c.kind,
            _as_integer(is_current_answer()),
        )
        .select_from(schema.given_questions)
        .join(judgment, judgment.c.assignment == assignment.c.id)
        .where(task.c.project == project.id, task.c.queue == queue)
        .where(is_last_word() if all_traps else is_current_answer())
    )


def _as_integer(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


def _handles_statement(project: Project) -> Select[Any]:
    """The names of those who have had a task."""
    judges = select(task.c.account).where(task.c.project == project.id)
    return select(account.c.id, account.c.handle).where(account.c.id.in_(judges))


def _given_names_statement(project: Project, queue: Queue) -> Select[Any]:
    """The names of the items that somebody has had in a task for a queue."""
    given = select(assignment.c.item).join(task, task.c.id == assignment.c.task)
    given = given.where(task.c.project == project.id, task.c.queue == queue)
    return (
        select(item.c.id, item.c.queue, query.c.name, doc.c.name, other.c.name)
        .select_from(named_items)
        .where(item.c.id.in_(given))
    )


def _joined_answers() -> Any:
    """Every judgment with its assignment, task, judge and item."""
    return (
        named_items.join(assignment, assignment.c.item == item.c.id)
        .join(task, task.c.id == assignment.c.task)
        .join(account, account.c.id == assignment.c.account)
        .join(judgment, judgment.c.assignment == assignment.c.id)
    )


def _is_flipped() -> ColumnElement[bool]:
    return and_(assignment.c.flipped, item.c.other.is_not(None))


def _left_name() -> ColumnElement[Any]:
    return case((_is_flipped(), other.c.name), else_=doc.c.name)


def _right_name() -> ColumnElement[Any]:
    return case((_is_flipped(), doc.c.name), else_=other.c.name)
