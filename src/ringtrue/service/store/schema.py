"""The tables of the database. A new one is created from what stands here; `migration` brings older ones up to it.

    account ─┬─ member ──── project ─┬─ query ────┐
             ├─ login, token         ├─ document ─┴─ item ─┬─ verdict
             ├─ visit ─ invitation ──┤                     │
             ├─ completion ──┘       │                     │
             └─ task ────────────────┴──── assignment ─────┘
                                              └─ judgment (version 1, 2, …)

Times are seconds since 1970. What a judge says is only ever added: `judgment` is never changed, and the version that
an assignment names is the one that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    DOUBLE_PRECISION,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    and_,
    func,
    select,
    text,
)

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.schema import SchemaItem


metadata = MetaData()


def _table(name: str, *columns: SchemaItem) -> Table:
    """A table whose rows are numbered; no number is given twice, even after a row was deleted."""
    row_number = BigInteger().with_variant(Integer(), "sqlite")
    return Table(
        name, metadata, Column("id", row_number, Identity(), primary_key=True), *columns, sqlite_autoincrement=True
    )


def _text(name: str, *, optional: bool = False, unique: bool | None = None) -> Column[str]:
    return Column(name, Text, nullable=optional, unique=unique)


def _number(name: str, *, optional: bool = False) -> Column[float]:
    return Column(name, DOUBLE_PRECISION, nullable=optional)


def _count(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=optional)


def _flag(name: str, *, default: str | None = None) -> Column[bool]:
    """Yes or no; `default` is what rows have that were there before the column."""
    return Column(name, Boolean, nullable=False, server_default=None if default is None else text(default))


def _reference(table: str, name: str | None = None, *, optional: bool = False) -> Column[int]:
    return Column(name or table, BigInteger, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=optional)


def _index(name: str, *columns: Any, where: str | None = None, unique: bool = False) -> Index:
    condition = None if where is None else text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


account = _table(
    "account",
    _text("handle", unique=True),  # the judge's id in every export, and not personal once erased
    _text("name", optional=True),
    _text("password", optional=True),  # argon2; without one nobody logs in by password
    _text("kind"),  # named | crowd | imported
    _flag("owner"),
    _number("created"),
    _number("erased", optional=True),
)

project = _table(
    "project",
    _text("name", unique=True),  # in addresses
    _text("title"),
    _text("guidelines"),
    _text("scale"),
    _text("settings"),  # JSON of `records.Scale` and `records.Settings`
    _number("created"),
    _number("closed", optional=True),
)

member = _table(
    "member",
    _reference("project"),
    _reference("account"),
    _text("role"),
    _number("created"),
    UniqueConstraint("project", "account", "role"),
)

query = _table(
    "query",
    _reference("project"),
    _text("name"),
    _text("text", optional=True),
    _text("description", optional=True),
    _text("narrative", optional=True),
    UniqueConstraint("project", "name"),
)

document = _table(
    "document",
    _reference("project"),
    _text("name"),
    _text("title", optional=True),
    _text("url", optional=True),
    _text("snippet", optional=True),
    _text("text", optional=True),
    UniqueConstraint("project", "name"),
)

item = _table(
    "item",
    _reference("project"),
    _text("queue"),  # main | gold | trap
    _reference("query"),
    _reference("document", "doc"),
    _reference("document", "other", optional=True),  # the second of a pair, whose name comes after the first's
    _count("asked", optional=True),  # how many judges the owner asks for; traps have no limit
    _count("wanted", optional=True),  # the same, or as many as have it where that is more
    _count("given"),  # assignments that are done, and all of tasks that are open
    _number("position"),  # drawn by lot; tasks take the first that have room
    _text("expected", optional=True),  # the known answer of a trap, as if `doc` stood on the left
    _text("design", optional=True),  # how gold was drawn: this and the next two
    _number("prob", optional=True),
    _text("extra", optional=True),
    CheckConstraint("given >= 0 AND given <= wanted"),
)

task = _table(
    "task",
    _reference("project"),
    _reference("account"),
    _text("queue"),
    _number("opened"),
    _number("leased"),  # until when its items are kept for this judge
    _number("deadline", optional=True),  # where there is a time limit
    _number("closed", optional=True),
    _text("outcome", optional=True),  # handed_in | expired | set_aside
    _count("traps", optional=True),
    _count("passed", optional=True),
    _text("code", optional=True),  # the completion code that a crowd worker was shown for it
)

assignment = _table(
    "assignment",
    _reference("task"),
    _reference("item"),
    _reference("account"),
    _count("place"),
    _flag("flipped"),  # `other` stands on the left
    _text("state"),  # open | done | unsure | skipped | expired | set_aside
    _count("version"),  # of the judgment that counts; 0 before the first
)

judgment = _table(
    "judgment",
    _reference("assignment"),
    _count("version"),
    _text("kind"),  # answer | unsure | skip | undo | late
    _text("answer", optional=True),  # a label, or left | right | tie | both_good | both_bad, as judges saw them
    _text("reason", optional=True),
    _number("time"),
    _number("seconds", optional=True),
    _number("away", optional=True),
    UniqueConstraint("assignment", "version"),
)

verdict = _table(
    "verdict",
    _reference("item"),
    _reference("account"),
    _text("answer"),
    _text("reason", optional=True),
    _number("time"),
)

invitation = _table(
    "invitation",
    _reference("project", optional=True),
    _text("role"),  # owner | judge | gold | viewer | reset
    _text("kind"),  # named: one account each · crowd: anyone with the link
    _text("hash", unique=True),
    _reference("account", optional=True),  # whose password a reset is for
    _text("note", optional=True),
    _count("left", optional=True),  # how often it may still be used
    _text("code", optional=True),  # the completion code of a crowd link
    _number("created"),
    _number("expires", optional=True),
    _number("revoked", optional=True),
    _text("partial_code", optional=True),  # what part of the work earns; this and the rest are of crowd links
    _flag("own_codes", default="FALSE"),  # each worker gets a code of their own, which begins with the link's
    _flag("id_required", default="FALSE"),  # nobody comes in without an id of the platform
    _flag("one_account", default="FALSE"),  # a browser works under one id of the platform
    CheckConstraint('"left" >= 0'),
)

visit = _table(
    "visit",
    _reference("invitation"),
    _reference("account"),
    _text("worker", optional=True),  # the crowd platform's id of the person: personal
    _text("parameters", optional=True),  # JSON of what the platform put into the link: personal
    _number("time"),
    _text("browser", optional=True),  # hash of the cookie that the browser had: personal
)

# The completion code of a worker: one for each link, which a later task may turn from partial into full.
completion = _table(
    "completion",
    _reference("invitation"),
    _reference("account"),
    _text("kind"),  # full | partial
    _text("code"),
    _reference("task"),
    _number("time"),
    _text("replaced", optional=True),  # the partial code that was shown before the full one
    UniqueConstraint("invitation", "account"),
)

login = _table(
    "login", _reference("account"), _text("hash", unique=True), _text("csrf"), _number("created"), _number("expires")
)

token = _table(
    "token",
    _reference("account"),
    _text("name"),
    _text("hash", unique=True),
    _text("scopes"),
    _number("created"),
    _number("expires", optional=True),
    _number("revoked", optional=True),
)

attempt = _table("attempt", _text("what"), _number("time"))  # failed log-ins, to slow down guessing

audit = _table(
    "audit",
    _number("time"),
    _reference("account", optional=True),
    _reference("project", optional=True),
    _text("action"),
    _text("detail", optional=True),
)

upload = _table(
    "upload",
    _reference("project"),
    _text("kind"),  # run | pool | topics | documents | pairs | …
    _text("name"),
    Column("content", LargeBinary, nullable=False),
    _number("time"),
)

# What the server keeps for itself: its signing secret, and locks.
setting = Table("setting", metadata, Column("name", Text, primary_key=True), _text("value"))

# Items with the names of what they are about: a query, and a document or the two of a pair.
doc, other = document.alias("doc"), document.alias("other")
named_items = (
    item.join(query, query.c.id == item.c.query)
    .join(doc, doc.c.id == item.c.doc)
    .outerjoin(other, other.c.id == item.c.other)
)

# What judges were given, beginning with the tasks of a project: items that nobody has had are not looked at.
given_questions = task.join(assignment, assignment.c.task == task.c.id)
given_items = given_questions.join(item, item.c.id == assignment.c.item)

INDEXES = (
    _index("member_account", member.c.account),
    _index(
        "item_once",
        *(item.c.project, item.c.queue, item.c.query, item.c.doc, func.coalesce(item.c.other, 0)),
        unique=True,
    ),
    _index("item_with_room", item.c.project, item.c.queue, item.c.position, where="given < wanted"),
    _index("item_of_query_with_room", item.c.query, item.c.queue, item.c.position, where="given < wanted"),
    _index("item_queue", item.c.project, item.c.queue),
    _index("item_trap", item.c.project, item.c.position, where="queue = 'trap'"),
    _index("item_query", item.c.query),
    _index("item_doc", item.c.doc),
    _index("item_other", item.c.other, where="other IS NOT NULL"),
    _index("task_open", task.c.project, task.c.account, task.c.queue, where="closed IS NULL", unique=True),
    _index("task_project", task.c.project, task.c.account),
    _index("task_lease", task.c.project, task.c.leased, where="closed IS NULL"),
    _index("assignment_once", assignment.c.item, assignment.c.account, where="state <> 'expired'", unique=True),
    _index("assignment_place", assignment.c.task, assignment.c.place, unique=True),
    _index("assignment_item", assignment.c.item, assignment.c.account),
    _index("verdict_item", verdict.c.item),
    _index("visit_worker", visit.c.invitation, visit.c.worker),
    _index("visit_account", visit.c.account),
    _index("attempt_what", attempt.c.what, attempt.c.time),
)


def is_given_for(project: int, queue: str) -> ColumnElement[bool]:
    """Whether an assignment is for the queue of its task and no trap; traps are few, and its item is not looked up."""
    traps = select(item.c.id).where(item.c.project == project, item.c.queue == "trap")
    return and_(task.c.queue == queue, assignment.c.item.not_in(traps))
