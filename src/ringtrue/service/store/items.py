"""What is to be judged: queries, documents, and the items of the main queue, of traps and of gold.

Gold is drawn for trusted judges, with how probable each document was to be drawn. Pairs may be chosen as votes arrive:
how many are left to give out, and whose turn it is to choose more, is asked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlalchemy import Double, case, cast, delete, exists, func, insert, select, text, update

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.connections import CHUNK, analyze_tables, chunks, dialect_insert
from ringtrue.service.store.projects import delete_uploads
from ringtrue.service.store.records import Project, Queue, swap_sides

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection, Table

Rows = Iterable[Mapping[str, Any]]
DRAW_COLUMNS = {"stratum": pl.String, "drawn": pl.Int64, "drawn_from": pl.String, "drawn_for": pl.String}
UNSURE_REASON, SKIPPED_REASON = "can't tell", "skipped"
UNDECIDED_STATES = ("unsure", "skipped")  # states of what a judge saw and did not decide
assignment, item, query = schema.assignment, schema.item, schema.query
setting, task = schema.setting, schema.task
doc, named_items = schema.doc, schema.named_items


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCapacity:
    """How many answers can still be given out, to anybody and to one judge, and how many tasks are open."""

    total: int
    for_judge: int
    open_tasks: int


def add_queries(connection: Connection, project: int, rows: Rows) -> int:
    """Queries by name, with text, description and narrative; one that is there is brought up to date."""
    return _upsert_rows(connection, query, project, rows, ("text", "description", "narrative"))


def add_documents(connection: Connection, project: int, rows: Rows) -> int:
    """Documents by name, with title, url, snippet and text; one that is there is brought up to date."""
    return _upsert_rows(connection, schema.document, project, rows, ("title", "url", "snippet", "text"))


def add_items(
    connection: Connection,
    project: Project,
    rows: Rows,
    *,
    queue: Queue | str,
    wanted: int | None,
    rng: np.random.Generator,
) -> int:
    """What is to be judged: a query and a doc each, and an `other` for pairs; answers how many are new.

    A query or document that is not there is made without text; an item that is there keeps its answers. The order is
    drawn by lot, with the documents of a query together where the project says so. `expected` is a trap's answer.
    """
    items = _resolve_items(connection, project, rows, queue)
    count_items = select(func.count(), func.max(item.c.position)).where(item.c.project == project.id)
    before, last_position = connection.execute(count_items).one()
    for place, row in enumerate(_shuffle_items(items, rng, together=project.settings.together)):
        row |= {"asked": wanted, "wanted": wanted, "given": 0, "position": (last_position or 0.0) + 1.0 + place}
    insertion = dialect_insert(connection, item)
    for chunk in chunks(items):
        connection.execute(insertion.on_conflict_do_nothing(), chunk)
    if len(items) >= CHUNK:
        analyze_tables(connection)
    after, _ = connection.execute(count_items).one()
    return int(after - before)


def request_votes(connection: Connection, project: Project, rows: Rows, *, rng: np.random.Generator) -> int:
    """One more judge for each pair: a new item, or one more wanted of one that is there."""
    pairs = _resolve_items(connection, project, rows, "main")
    last_position = connection.execute(
        select(func.max(item.c.position)).where(item.c.project == project.id)
    ).scalar_one()
    for place, pair in enumerate(_shuffle_items(pairs, rng, together=project.settings.together)):
        increment = connection.execute(
            update(item)
            .where(
                item.c.project == project.id,
                item.c.queue == "main",
                item.c.query == pair["query"],
                item.c.doc == pair["doc"],
                item.c.other == pair["other"],
            )
            .values(asked=item.c.asked + 1, wanted=item.c.wanted + 1)
        )
        if not increment.rowcount:
            connection.execute(
                insert(item).values(**pair, asked=1, wanted=1, given=0, position=(last_position or 0.0) + 1.0 + place)
            )
    return len(pairs)


def record_gold_draw(
    connection: Connection, project: Project, frame: pl.DataFrame, *, wanted: int, rng: np.random.Generator
) -> int:
    """Put a draw into the gold queue: query, doc, prob, design and how it was drawn; answers how many are new.

    Where a draw continues an earlier one, its probabilities hold for both, and take the place of those before.
    """
    extra_columns = [name for name in DRAW_COLUMNS if name in frame.columns]
    rows = [
        {name: row[name] for name in ("query", "doc", "design", "prob")}
        | {"extra": json.dumps({name: row[name] for name in extra_columns})}
        for row in frame.iter_rows(named=True)
    ]
    new = add_items(connection, project, rows, queue="gold", wanted=wanted, rng=rng)
    gold_items = load_gold_items(connection, project)
    ids = dict(zip(gold_items.select("query", "doc").rows(), gold_items["item"], strict=True))
    set_draw = text("UPDATE item SET design = :design, prob = :prob, extra = :extra WHERE id = :item")
    for chunk in chunks({**row, "item": ids[row["query"], row["doc"]]} for row in rows):
        connection.execute(set_draw, chunk)
    return new


def withdraw_gold_draw(connection: Connection, project: Project) -> int:
    """Take a draw back that nobody has said anything about yet; answers how many documents it had."""
    in_gold_queue = (item.c.project == project.id, item.c.queue == "gold")
    gold_ids = select(item.c.id).where(*in_gold_queue)
    has_answers = exists().where(schema.judgment.c.assignment == assignment.c.id, assignment.c.item.in_(gold_ids))
    has_verdicts = exists().where(schema.verdict.c.item.in_(gold_ids))
    if connection.execute(select(has_answers | has_verdicts)).scalar():
        raise ConflictError(
            "gold-begun", "gold judges have begun with what was drawn: it cannot be withdrawn, only continued"
        )
    connection.execute(delete(task).where(task.c.project == project.id, task.c.queue == "gold"))
    deleted = connection.execute(delete(item).where(*in_gold_queue)).rowcount
    if not deleted:
        raise NotFoundError("no-gold-drawn", f"no gold was drawn in '{project.title}': there is nothing to withdraw")
    delete_uploads(connection, project.id, "bronze", "frame")
    return deleted


def load_undecided_gold(connection: Connection, project: Project) -> list[tuple[int, str, str]]:
    """What gold judges saw, and none of them or an owner has decided: item, query and document."""
    was_passed_over = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(UNDECIDED_STATES))
    is_judged = exists().where(assignment.c.item == item.c.id, assignment.c.state.in_(("done", "open")))
    is_decided = exists().where(schema.verdict.c.item == item.c.id)
    rows = connection.execute(
        select(item.c.id, query.c.name, doc.c.name)
        .select_from(named_items)
        .where(item.c.project == project.id, item.c.queue == "gold", was_passed_over, ~is_judged, ~is_decided)
        .order_by(item.c.id)
    )
    return [(item_id, query_name, doc_name) for item_id, query_name, doc_name in rows]


def load_gold_items(connection: Connection, project: Project) -> pl.DataFrame:
    """What is in the gold queue: item, query, doc, design, prob, how it was drawn, and why it is undecided.

    Undecided is what a judge saw and could not tell or skipped; null is what is not. Columns that say nothing are left
    out.
    """
    undecided_count = func.count(case((assignment.c.state.in_(UNDECIDED_STATES), 1))).label("undecided")
    unsure_count = func.count(case((assignment.c.state == "unsure", 1))).label("unsure")
    names = item.c.id.label("item"), query.c.name.label("query"), doc.c.name.label("doc")
    rows = connection.execute(
        select(*names, item.c.design, item.c.prob, item.c.extra, undecided_count, unsure_count)
        .select_from(named_items.outerjoin(assignment, assignment.c.item == item.c.id))
        .where(item.c.project == project.id, item.c.queue == "gold")
        .group_by(item.c.id, query.c.name, doc.c.name)
        .order_by(item.c.id)
    )
    no_draw = dict.fromkeys(DRAW_COLUMNS)
    records = [
        {
            **row._mapping,
            **no_draw,
            **json.loads(row.extra or "{}"),
            "undecided": (UNSURE_REASON if row.unsure else SKIPPED_REASON) if row.undecided else None,
        }
        for row in rows
    ]
    dtypes = {
        "item": pl.Int64,
        "query": pl.String,
        "doc": pl.String,
        "design": pl.String,
        "prob": pl.Float64,
        **DRAW_COLUMNS,
        "undecided": pl.String,
    }
    frame = pl.DataFrame([{name: record[name] for name in dtypes} for record in records], schema=dtypes)
    return frame.drop(name for name in ("design", "prob", *DRAW_COLUMNS) if frame[name].null_count() == frame.height)


def load_queue_capacity(connection: Connection, project: int, account: int | None = None) -> QueueCapacity:
    """How many answers the main queue still has room for."""
    has_room = (item.c.project == project, item.c.queue == "main", item.c.given < item.c.wanted)
    total = connection.execute(
        select(func.coalesce(func.sum(item.c.wanted - item.c.given), 0)).where(*has_room)
    ).scalar_one()
    for_judge = total
    if account is not None:
        already_seen = exists().where(
            assignment.c.item == item.c.id, assignment.c.account == account, assignment.c.state != "expired"
        )
        for_judge = connection.execute(
            select(func.count()).select_from(item).where(*has_room, ~already_seen)
        ).scalar_one()
    open_tasks = connection.execute(
        select(func.count()).select_from(task).where(task.c.project == project, task.c.closed.is_(None))
    ).scalar_one()
    return QueueCapacity(total=int(total), for_judge=int(for_judge), open_tasks=int(open_tasks))


def find_seen_pairs(connection: Connection, project: int, account: int) -> set[tuple[str, str, str]]:
    """The pairs that a judge had before, as query, first and second name."""
    rows = connection.execute(
        select(query.c.name, doc.c.name, schema.other.c.name)
        .select_from(named_items.join(assignment, assignment.c.item == item.c.id))
        .where(
            item.c.project == project,
            item.c.queue == "main",
            assignment.c.account == account,
            assignment.c.state != "expired",
            item.c.other.is_not(None),
        )
    )
    return {(topic, first, second) for topic, first, second in rows}


def acquire_lock(connection: Connection, project: int, *, now: float, until: float) -> bool:
    """Whether it is the caller's turn to choose pairs; it ends by itself, should the caller not come back."""
    name = _lock_name(project)
    connection.execute(dialect_insert(connection, setting).values(name=name, value="0").on_conflict_do_nothing())
    acquisition = connection.execute(
        update(setting).where(setting.c.name == name, cast(setting.c.value, Double) < now).values(value=repr(until))
    )
    return acquisition.rowcount == 1


def release_lock(connection: Connection, project: int, *, until: float) -> None:
    """Let others have a turn, unless this one ended before."""
    connection.execute(delete(setting).where(setting.c.name == _lock_name(project), setting.c.value == repr(until)))


def _lock_name(project: int) -> str:
    return f"choosing pairs of project {project}"


def _resolve_items(connection: Connection, project: Project, rows: Rows, queue: str) -> list[dict[str, Any]]:
    """The rows with numbers for names, and the documents of a pair in the order of their names."""
    items = [dict(row) for row in rows]
    for row in items:
        if (row.get("other") is None) != (project.scale.kind == "graded"):
            expected_docs = "one document" if project.scale.kind == "graded" else "two documents"
            raise UsageError(
                "documents-per-item",
                f"an item of this project has {expected_docs}; found query '{row['query']}', doc '{row['doc']}'",
            )
        if row.get("expected") is not None:
            project.scale.require_answer(str(row["expected"]))
        if row.get("other") is not None and row["doc"] > row["other"]:
            row["doc"], row["other"] = row["other"], row["doc"]
            row["expected"] = row.get("expected") and swap_sides(row["expected"], flipped=True)
        if row["doc"] == row.get("other"):
            raise UsageError(
                "self-comparison",
                f"a pair needs two different documents; query '{row['query']}' has '{row['doc']}' twice",
            )
    queries = _get_or_create_ids(connection, query, project.id, (row["query"] for row in items))
    docs = _get_or_create_ids(
        connection,
        schema.document,
        project.id,
        (name for row in items for name in (row["doc"], row.get("other")) if name is not None),
    )
    return [
        {
            "project": project.id,
            "queue": queue,
            "query": queries[row["query"]],
            "doc": docs[row["doc"]],
            "other": None if row.get("other") is None else docs[row["other"]],
            **{name: row.get(name) for name in ("expected", "design", "prob", "extra")},
        }
        for row in items
    ]


def _shuffle_items(items: list[dict[str, Any]], rng: np.random.Generator, *, together: bool) -> list[dict[str, Any]]:
    shuffled = [items[index] for index in rng.permutation(len(items))]
    if not together:
        return shuffled
    query_order = {query: index for index, query in enumerate(dict.fromkeys(row["query"] for row in shuffled))}
    return sorted(shuffled, key=lambda row: query_order[row["query"]])


def _get_or_create_ids(connection: Connection, table: Table, project: int, names: Iterable[str]) -> dict[str, int]:
    """The number of each name; a name that is not there is added."""
    distinct_names = dict.fromkeys(names)
    ids = _load_ids(connection, table, project)
    missing = [{"project": project, "name": name} for name in distinct_names if name not in ids]
    for chunk in chunks(missing):
        connection.execute(insert(table), chunk)
    return _load_ids(connection, table, project) if missing else ids


def _load_ids(connection: Connection, table: Table, project: int) -> dict[str, int]:
    rows = connection.execute(select(table.c.name, table.c.id).where(table.c.project == project))
    return {row[0]: row[1] for row in rows}


def _upsert_rows(connection: Connection, table: Table, project: int, rows: Rows, columns: tuple[str, ...]) -> int:
    insertion = dialect_insert(connection, table)
    upsert = insertion.on_conflict_do_update(
        index_elements=["project", "name"], set_={name: getattr(insertion.excluded, name) for name in columns}
    )
    count = 0
    for chunk in chunks(rows):
        columns_by_name = {row["name"]: {name: row.get(name) for name in columns} for row in chunk}
        connection.execute(
            upsert, [{"project": project, "name": name, **values} for name, values in columns_by_name.items()]
        )
        count += len(chunk)
    return count
