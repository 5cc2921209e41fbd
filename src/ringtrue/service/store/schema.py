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

__all__ = [
    "account",
    "assignment",
    "attempt",
    "audit",
    "document",
    "invitation",
    "item",
    "judgment",
    "login",
    "member",
    "metadata",
    "project",
    "query",
    "setting",
    "task",
    "token",
    "upload",
    "verdict",
    "visit",
]

metadata = MetaData()


def _key() -> Column[int]:
    return Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)


def _to(table: str, name: str | None = None, *, optional: bool = False) -> Column[int]:
    return Column(name or table, BigInteger, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=optional)


def _text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def _time(name: str, *, optional: bool = False) -> Column[float]:
    return Column(name, Double, nullable=optional)


def _count(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=optional)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


account = Table(
    "account", metadata, _key(),
    _text("handle"),  # the judge's id in every export: unique, and not personal once erased
    _text("name", optional=True),
    _text("password", optional=True),  # argon2; without one nobody logs in by password
    _text("kind"),  # named | crowd | imported
    _flag("owner"),
    _time("created"), _time("erased", optional=True),
)  # fmt: skip

project = Table(
    "project", metadata, _key(),
    _text("name"),  # in addresses; unique
    _text("title"), _text("guidelines"),
    _text("scale"), _text("settings"),  # JSON of `values.Scale` and `values.Settings`
    _time("created"), _time("closed", optional=True),
)  # fmt: skip

member = Table("member", metadata, _key(), _to("project"), _to("account"), _text("role"), _time("created"))

query = Table(
    "query", metadata, _key(), _to("project"), _text("name"),
    _text("text", optional=True), _text("description", optional=True), _text("narrative", optional=True),
)  # fmt: skip

document = Table(
    "document", metadata, _key(), _to("project"), _text("name"), _text("title", optional=True),
    _text("url", optional=True), _text("snippet", optional=True), _text("text", optional=True),
)  # fmt: skip

item = Table(
    "item", metadata, _key(), _to("project"),
    _text("queue"),  # main | gold | trap
    _to("query"), _to("document", "doc"),
    _to("document", "other", optional=True),  # the second of a pair, whose name comes after the first's
    _count("asked", optional=True),  # how many judges the owner asks for; traps have no limit
    _count("wanted", optional=True),  # the same, or as many as have it where that is more
    _count("given"),  # assignments that are open or done: the database itself keeps it from passing `wanted`
    Column("position", Double, nullable=False),  # drawn by lot; tasks take the first that have room
    _text("expected", optional=True),  # the known answer of a trap, as if `doc` stood on the left
    _text("design", optional=True), Column("prob", Double), _text("extra", optional=True),  # how gold was drawn
)  # fmt: skip

task = Table(
    "task", metadata, _key(), _to("project"), _to("account"), _text("queue"),
    _time("opened"),
    _time("leased"),  # until when its items are kept for this judge
    _time("deadline", optional=True),  # where there is a time limit
    _time("closed", optional=True),
    _text("outcome", optional=True),  # handed_in | expired | set_aside
    _count("traps", optional=True), _count("passed", optional=True),
    _text("code", optional=True),  # the completion code that a crowd worker was shown
)  # fmt: skip

assignment = Table(
    "assignment", metadata, _key(), _to("task"), _to("item"), _to("account"), _count("place"),
    _flag("flipped"),  # `other` stands on the left
    _text("state"),  # open | done | unsure | skipped | expired | set_aside
    _count("version"),  # of the judgment that counts; 0 before the first
)  # fmt: skip

judgment = Table(
    "judgment", metadata, _key(), _to("assignment"), _count("version"),
    _text("kind"),  # answer | unsure | skip | undo | late
    _text("answer", optional=True),  # a label, or left | right | tie | both_good | both_bad as the judge saw them
    _text("reason", optional=True),
    _time("time"), Column("seconds", Double), Column("away", Double),
)  # fmt: skip

verdict = Table(
    "verdict", metadata, _key(), _to("item"), _to("account"), _text("answer"), _text("reason", optional=True),
    _time("time"),
)  # fmt: skip

invitation = Table(
    "invitation", metadata, _key(), _to("project", optional=True),
    _text("role"),  # owner | judge | gold | viewer | reset
    _text("kind"),  # named: one account each · crowd: anyone with the link
    _text("hash"),
    _to("account", optional=True),  # whose password a reset is for
    _text("note", optional=True),
    _count("left", optional=True),  # how often it may still be used
    _text("code", optional=True),  # the completion code of a crowd link
    _time("created"), _time("expires", optional=True), _time("revoked", optional=True),
)  # fmt: skip

visit = Table(
    "visit", metadata, _key(), _to("invitation"), _to("account"),
    _text("worker", optional=True),  # the crowd platform's id of the person: personal
    _text("parameters", optional=True),  # JSON of what the platform put into the link: personal
    _time("time"),
)  # fmt: skip

login = Table(
    "login", metadata, _key(), _to("account"), _text("hash"), _text("csrf"), _time("created"), _time("expires"),
)  # fmt: skip

token = Table(
    "token", metadata, _key(), _to("account"), _text("name"), _text("hash"), _text("scopes"),
    _time("created"), _time("expires", optional=True), _time("revoked", optional=True),
)  # fmt: skip

attempt = Table("attempt", metadata, _key(), _text("what"), _time("time"))  # failed log-ins, to slow down guessing

audit = Table(
    "audit", metadata, _key(), _time("time"), _to("account", optional=True), _to("project", optional=True),
    _text("action"), _text("detail", optional=True),
)  # fmt: skip

upload = Table(
    "upload", metadata, _key(), _to("project"), _text("kind"),  # run | pool | topics | documents | pairs | …
    _text("name"), Column("content", LargeBinary, nullable=False), _time("time"),
)  # fmt: skip

setting = Table(
    "setting", metadata,
    Column("name", Text, primary_key=True), _text("value"),  # what the server keeps for itself: its signing secret
)  # fmt: skip
