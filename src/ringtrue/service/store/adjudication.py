"""What judges disagree about, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Double, Integer, and_, case, cast, func, insert, literal, select

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.connections import without_index
from ringtrue.service.store.records import FLIPPED, Project, Queue, ShownDocument

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Subquery

assignment, item = schema.assignment, schema.item
judgment, verdict = schema.judgment, schema.verdict
REASON_LENGTH = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedItem:
    """An item that judges see differently: how many gave each answer, without names.

    `left` is the document, or the first of a pair; votes and verdict are as if it stood on the left. `spread` is the
    variance of the answers: of labels, or of 1 for the left, −1 for the right, 0 for neither.
    """

    item: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: ShownDocument
    right: ShownDocument | None
    votes: tuple[tuple[str, int], ...]
    spread: float
    verdict: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What somebody decided about an item, as if `doc` stood on the left."""

    item: int
    query: str
    doc: str
    other: str | None
    answer: str
    reason: str | None
    handle: str
    time: float


def load_disagreements(
    connection: Connection,
    project: Project,
    *,
    queue: Queue = "main",
    open_only: bool = True,
    limit: int = 50,
    offset: int = 0,
) -> list[DisputedItem]:
    """Items that got different answers, the biggest disagreement first; with `open_only`, those without a verdict."""
    disputed = _disputed_items(project, queue, open_only=open_only).subquery()
    rows = connection.execute(
        select(disputed.c.item, disputed.c.spread)
        .order_by(disputed.c.spread.desc(), disputed.c.item)
        .limit(limit)
        .offset(offset)
    ).all()
    return [_load_disagreement(connection, project, row.item, float(row.spread)) for row in rows]


def count_disagreements(
    connection: Connection, project: Project, *, queue: Queue = "main", open_only: bool = True
) -> int:
    """How many items got different answers."""
    disputed = _disputed_items(project, queue, open_only=open_only).with_only_columns(literal(1)).subquery()
    return int(connection.execute(select(func.count()).select_from(disputed)).scalar_one())


def count_ties(connection: Connection, project: Project, *, queue: Queue = "main") -> int:
    """How many items without a verdict have no answer that most judges gave; of a pair, ties of any kind are one."""
    votes = _votes(project).where(schema.is_given_for(project.id, queue)).subquery()
    counts = select(votes.c.item, func.count().label("n")).group_by(votes.c.item, votes.c.number).subquery()
    ranked = select(counts.c.item, func.rank().over(partition_by=counts.c.item, order_by=counts.c.n.desc()).label("at"))
    ranks = ranked.subquery()
    tied = (
        select(ranks.c.item)
        .where(ranks.c.at == 1, ranks.c.item.not_in(select(verdict.c.item)))
        .group_by(ranks.c.item)
        .having(func.count() > 1)
    )
    return int(connection.execute(select(func.count()).select_from(tied.subquery())).scalar_one())


def get_disagreement(connection: Connection, project: Project, item_id: int) -> DisputedItem:
    """What judges said about one item, whether they disagree or not."""
    _require_item(connection, project, item_id)
    votes = _votes(project).where(assignment.c.item == item_id).subquery()
    spread = connection.execute(select(_answer_variance(votes))).scalar()
    return _load_disagreement(connection, project, item_id, float(spread or 0.0))


def record_verdict(
    connection: Connection, project: Project, item_id: int, account: int, answer: str, reason: str | None, now: float
) -> None:
    """Keep what was decided about an item, as if its first document stood on the left; the last verdict counts."""
    _require_item(connection, project, item_id)
    project.scale.require_answer(answer)
    reason = (reason or "").strip()[:REASON_LENGTH] or None
    connection.execute(insert(verdict).values(item=item_id, account=account, answer=answer, reason=reason, time=now))


def load_verdicts(connection: Connection, project: Project) -> list[Verdict]:
    """Every verdict, the newest first."""
    rows = connection.execute(
        select(
            verdict.c.item,
            schema.query.c.name.label("query"),
            schema.doc.c.name.label("doc"),
            schema.other.c.name.label("other"),
            verdict.c.answer,
            verdict.c.reason,
            schema.account.c.handle,
            verdict.c.time,
        )
        .select_from(schema.named_items)
        .join(verdict, verdict.c.item == item.c.id)
        .join(schema.account, schema.account.c.id == verdict.c.account)
        .where(without_index(connection, item.c.project) == project.id)  # it begins with the verdicts, which are few
        .order_by(verdict.c.id.desc())
    )
    return [Verdict(**row._mapping) for row in rows]


def _votes(project: Project) -> Select[Any]:
    """A row for each answer that counts: the item, the answer as if its first document stood left, and its number."""
    unflipped_answer = case(
        *(
            (and_(assignment.c.flipped, judgment.c.answer == shown_side), stored_side)
            for shown_side, stored_side in FLIPPED.items()
        ),
        else_=judgment.c.answer,
    )
    numeric_answer = (
        cast(judgment.c.answer, Integer)
        if project.scale.kind == "graded"
        else case((unflipped_answer == "left", 1), (unflipped_answer == "right", -1), else_=0)
    )
    return (
        select(assignment.c.item, unflipped_answer.label("answer"), cast(numeric_answer, Double).label("number"))
        .select_from(schema.given_questions)
        .join(judgment, and_(judgment.c.assignment == assignment.c.id, judgment.c.version == assignment.c.version))
        .where(schema.task.c.project == project.id, assignment.c.state == "done", judgment.c.kind == "answer")
    )


def _answer_variance(votes: Subquery) -> ColumnElement[Any]:
    mean = func.avg(votes.c.number)
    return (func.avg(votes.c.number * votes.c.number) - mean * mean).label("spread")


def _disputed_items(project: Project, queue: str, *, open_only: bool) -> Select[Any]:
    votes = _votes(project).where(schema.is_given_for(project.id, queue)).subquery()
    disputed = (
        select(votes.c.item, _answer_variance(votes))
        .group_by(votes.c.item)
        .having(func.min(votes.c.answer) != func.max(votes.c.answer))
    )
    decided = select(verdict.c.item)
    return disputed.where(votes.c.item.not_in(decided)) if open_only else disputed


def _load_disagreement(connection: Connection, project: Project, item_id: int, spread: float) -> DisputedItem:
    row = connection.execute(
        select(
            schema.query.c.name,
            schema.query.c.text.label("query_text"),
            schema.query.c.description,
            schema.query.c.narrative,
            item.c.doc,
            item.c.other,
        )
        .join(schema.query, schema.query.c.id == item.c.query)
        .where(item.c.id == item_id)
    ).one()
    votes = _votes(project).where(assignment.c.item == item_id).subquery()
    counts = {
        answer: int(count)
        for answer, count in connection.execute(select(votes.c.answer, func.count()).group_by(votes.c.answer))
    }
    order = {label.value: place for place, label in enumerate(project.scale.labels)}
    last_verdict = connection.execute(
        select(verdict.c.answer).where(verdict.c.item == item_id).order_by(verdict.c.id.desc()).limit(1)
    ).scalar()
    return DisputedItem(
        item=item_id,
        query=row.name,
        query_text=row.query_text,
        description=row.description,
        narrative=row.narrative,
        left=_load_document(connection, row.doc),
        right=None if row.other is None else _load_document(connection, row.other),
        votes=tuple(sorted(counts.items(), key=lambda pair: order.get(pair[0], len(order)))),
        spread=max(spread, 0.0),
        verdict=last_verdict,
    )


def _load_document(connection: Connection, document_id: int) -> ShownDocument:
    columns = schema.document.c
    row = connection.execute(
        select(columns.name, columns.title, columns.url, columns.snippet, columns.text).where(columns.id == document_id)
    ).one()
    return ShownDocument(**row._mapping)


def _require_item(connection: Connection, project: Project, item_id: int) -> None:
    queue = connection.execute(select(item.c.queue).where(item.c.id == item_id, item.c.project == project.id)).scalar()
    if queue is None:
        raise NotFoundError("no-such-item", f"there is no item {item_id} in '{project.title}'")
    if queue == "trap":
        raise UsageError("item-is-trap", f"item {item_id} is a trap: its answer is known, and nothing is to be decided")
