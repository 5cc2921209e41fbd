"""The tables of the database, as SQLAlchemy sees them; `migrations` makes them.

    account ─┬─ member ──── project ─┬─ query ────┐
             ├─ login, token         ├─ document ─┴─ item ─┬─ verdict
             ├─ visit ─ invitation ──┤                     │
             └─ task ────────────────┴──── assignment ─────┘
                                              └─ judgment (version 1, 2, …)

Times are seconds since 1970. What a judge says is only ever added: `judgment` is never changed, and the version that
an assignment names is the one that counts.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()


def _id_column() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)


def _foreign_key(table: str, name: str | None = None, *, optional: bool = False) -> Column[int]:
    return Column(name or table, BigInteger, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=optional)


def _text_column(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def _time_column(name: str, *, optional: bool = False) -> Column[float]:
    return Column(name, Double, nullable=optional)


def _count_column(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=optional)


def _flag_column(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


account = Table(
    "account",
    metadata,
    _id_column(),
    _text_column("handle"),  # the judge's id in every export: unique, and not personal once erased
    _text_column("name", optional=True),
    _text_column("password", optional=True),  # argon2; without one nobody logs in by password
    _text_column("kind"),  # named | crowd | imported
    _flag_column("owner"),
    _time_column("created"),
    _time_column("erased", optional=True),
)

project = Table(
    "project",
    metadata,
    _id_column(),
    _text_column("name"),  # in addresses; unique
    _text_column("title"),
    _text_column("guidelines"),
    _text_column("scale"),
    _text_column("settings"),  # JSON of `records.Scale` and `records.Settings`
    _time_column("created"),
    _time_column("closed", optional=True),
)

member = Table(
    "member",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _foreign_key("account"),
    _text_column("role"),
    _time_column("created"),
)

query = Table(
    "query",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _text_column("name"),
    _text_column("text", optional=True),
    _text_column("description", optional=True),
    _text_column("narrative", optional=True),
)

document = Table(
    "document",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _text_column("name"),
    _text_column("title", optional=True),
    _text_column("url", optional=True),
    _text_column("snippet", optional=True),
    _text_column("text", optional=True),
)

item = Table(
    "item",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _text_column("queue"),  # main | gold | trap
    _foreign_key("query"),
    _foreign_key("document", "doc"),
    _foreign_key("document", "other", optional=True),  # the second of a pair, whose name comes after the first's
    _count_column("asked", optional=True),  # how many judges the owner asks for; traps have no limit
    _count_column("wanted", optional=True),  # the same, or as many as have it where that is more
    _count_column("given"),  # assignments that are open or done: the database itself keeps it from passing `wanted`
    Column("position", Double, nullable=False),  # drawn by lot; tasks take the first that have room
    _text_column("expected", optional=True),  # the known answer of a trap, as if `doc` stood on the left
    _text_column("design", optional=True),  # how gold was drawn: this and the next two
    Column("prob", Double),
    _text_column("extra", optional=True),
)

task = Table(
    "task",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _foreign_key("account"),
    _text_column("queue"),
    _time_column("opened"),
    _time_column("leased"),  # until when its items are kept for this judge
    _time_column("deadline", optional=True),  # where there is a time limit
    _time_column("closed", optional=True),
    _text_column("outcome", optional=True),  # handed_in | expired | set_aside
    _count_column("traps", optional=True),
    _count_column("passed", optional=True),
    _text_column("code", optional=True),  # the completion code that a crowd worker was shown
)

assignment = Table(
    "assignment",
    metadata,
    _id_column(),
    _foreign_key("task"),
    _foreign_key("item"),
    _foreign_key("account"),
    _count_column("place"),
    _flag_column("flipped"),  # `other` stands on the left
    _text_column("state"),  # open | done | unsure | skipped | expired | set_aside
    _count_column("version"),  # of the judgment that counts; 0 before the first
)

judgment = Table(
    "judgment",
    metadata,
    _id_column(),
    _foreign_key("assignment"),
    _count_column("version"),
    _text_column("kind"),  # answer | unsure | skip | undo | late
    _text_column("answer", optional=True),  # a label, or left | right | tie | both_good | both_bad, as judges saw them
    _text_column("reason", optional=True),
    _time_column("time"),
    Column("seconds", Double),
    Column("away", Double),
)

verdict = Table(
    "verdict",
    metadata,
    _id_column(),
    _foreign_key("item"),
    _foreign_key("account"),
    _text_column("answer"),
    _text_column("reason", optional=True),
    _time_column("time"),
)

invitation = Table(
    "invitation",
    metadata,
    _id_column(),
    _foreign_key("project", optional=True),
    _text_column("role"),  # owner | judge | gold | viewer | reset
    _text_column("kind"),  # named: one account each · crowd: anyone with the link
    _text_column("hash"),
    _foreign_key("account", optional=True),  # whose password a reset is for
    _text_column("note", optional=True),
    _count_column("left", optional=True),  # how often it may still be used
    _text_column("code", optional=True),  # the completion code of a crowd link
    _time_column("created"),
    _time_column("expires", optional=True),
    _time_column("revoked", optional=True),
)

visit = Table(
    "visit",
    metadata,
    _id_column(),
    _foreign_key("invitation"),
    _foreign_key("account"),
    _text_column("worker", optional=True),  # the crowd platform's id of the person: personal
    _text_column("parameters", optional=True),  # JSON of what the platform put into the link: personal
    _time_column("time"),
)

login = Table(
    "login",
    metadata,
    _id_column(),
    _foreign_key("account"),
    _text_column("hash"),
    _text_column("csrf"),
    _time_column("created"),
    _time_column("expires"),
)

token = Table(
    "token",
    metadata,
    _id_column(),
    _foreign_key("account"),
    _text_column("name"),
    _text_column("hash"),
    _text_column("scopes"),
    _time_column("created"),
    _time_column("expires", optional=True),
    _time_column("revoked", optional=True),
)

# Failed log-ins, to slow down guessing.
attempt = Table("attempt", metadata, _id_column(), _text_column("what"), _time_column("time"))

audit = Table(
    "audit",
    metadata,
    _id_column(),
    _time_column("time"),
    _foreign_key("account", optional=True),
    _foreign_key("project", optional=True),
    _text_column("action"),
    _text_column("detail", optional=True),
)

upload = Table(
    "upload",
    metadata,
    _id_column(),
    _foreign_key("project"),
    _text_column("kind"),  # run | pool | topics | documents | pairs | …
    _text_column("name"),
    Column("content", LargeBinary, nullable=False),
    _time_column("time"),
)

setting = Table(
    "setting",
    metadata,
    Column("name", Text, primary_key=True),
    _text_column("value"),  # what the server keeps for itself: its signing secret
)
