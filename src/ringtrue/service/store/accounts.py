"""People: accounts, what they may do in which project, and how all that is personal is taken away again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sqlalchemy import case, delete, exists, func, select, update

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.audit_log import record
from ringtrue.service.store.dialects import insert_or
from ringtrue.service.store.hashing import attempted
from ringtrue.service.store.pseudonyms import checked_handle, numbered, slug_of
from ringtrue.service.store.records import Person, Role

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

__all__ = [
    "Account",
    "AccountKind",
    "add_member",
    "create_account",
    "erase",
    "has_owner",
    "noted_for",
    "people",
    "person",
    "remove_member",
    "secret_of",
    "set_owner",
    "set_password",
]

AccountKind: TypeAlias = Literal["named", "crowd", "imported"]
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Somebody on the list of people; `roles` are those in the project that was asked about, or in any."""

    id: int
    handle: str
    name: str | None
    kind: str
    owner: bool
    created: float
    erased: float | None
    has_password: bool
    roles: tuple[str, ...]


def create_account(
    connection: Connection,
    *,
    kind: AccountKind,
    now: float,
    name: str | None = None,
    handle: str | None = None,
    owner: bool = False,
    password: str | None = None,
) -> int:
    """A new account, by its number. `password` is the hash of one.

    The handle is the judge's id in every export. One that is given must be free; otherwise it is made from the name,
    with a number where that is taken, and `worker-17` for the crowd.
    """
    name = (name or "").strip() or None
    if name is not None and len(name) > LONGEST_NAME:
        raise UsageError(f"a name has at most {LONGEST_NAME} characters, found {len(name)}")
    values = {"name": name, "password": password, "kind": kind, "owner": owner, "created": now}
    wishes: Iterator[str]
    if kind == "crowd" and handle is None:
        at = connection.execute(select(func.coalesce(func.max(schema.account.c.id), 0))).scalar_one() + 1
        wishes = (f"worker-{number}" for number in count(at))
    elif handle is not None:
        wishes = iter([handle if kind == "imported" else checked_handle(handle)])
    else:
        wishes = numbered(slug_of(name or "judge"))
    for wish in wishes:
        made = connection.execute(
            insert_unless_there(connection, schema.account, "handle")
            .values(handle=wish, **values)
            .returning(schema.account.c.id)
        ).scalar()
        if made is not None:
            return int(made)
    raise ConflictError(f"the log-in name '{handle}' is taken; choose another one")


def insert_unless_there(connection: Connection, table: Table, *unique: str) -> Any:
    """An INSERT that does nothing where a row with the same unique columns is there, also when two insert at once."""
    return insert_or(connection, table).on_conflict_do_nothing(index_elements=unique)


def person(connection: Connection, account: int) -> Person:
    """Who has this account, with the roles in every project."""
    found = connection.execute(
        select(schema.account.c.handle, schema.account.c.name, schema.account.c.owner, schema.account.c.erased).where(
            schema.account.c.id == account
        )
    ).first()
    if found is None or found.erased is not None:
        raise NotFoundError(f"there is no account {account}")
    member = schema.member
    rows = connection.execute(select(member.c.project, member.c.role).where(member.c.account == account))
    return Person(
        id=account,
        handle=found.handle,
        name=found.name,
        owner=found.owner,
        roles=roles_of((row.project, row.role) for row in rows),
    )


def roles_of(rows: Iterable[tuple[int | None, str | None]]) -> dict[int, frozenset[str]]:
    """Rows of (project, role) as project → roles; rows of nothing, as an outer join makes them, are left out."""
    roles: defaultdict[int, set[str]] = defaultdict(set)
    for project, role in rows:
        if project is not None and role is not None:
            roles[project].add(role)
    return {project: frozenset(those) for project, those in roles.items()}


def secret_of(connection: Connection, handle: str) -> tuple[int, str] | None:
    """The account and the hash of the password of somebody who may log in with one."""
    account = schema.account
    found = connection.execute(
        select(account.c.id, account.c.password).where(
            account.c.handle == handle.strip().lower(), account.c.password.is_not(None), account.c.erased.is_(None)
        )
    ).first()
    return None if found is None else (found.id, found.password)


def set_password(connection: Connection, account: int, password: str, *, now: float) -> None:
    """Keep the hash of a new password; whatever opened the account before is useless: visits, tokens, reset links."""
    there = schema.account.c.id == account, schema.account.c.erased.is_(None)
    if not connection.execute(update(schema.account).where(*there).values(password=password)).rowcount:
        raise NotFoundError(f"there is no account {account}")
    connection.execute(delete(schema.login).where(schema.login.c.account == account))
    token, link = schema.token, schema.invitation
    connection.execute(update(token).where(token.c.account == account, token.c.revoked.is_(None)).values(revoked=now))
    unused = link.c.account == account, link.c.left > 0, link.c.revoked.is_(None)
    connection.execute(update(link).where(*unused).values(revoked=now))


def has_owner(connection: Connection) -> bool:
    """Whether anybody can manage this server."""
    account = schema.account
    wanted = select(account.c.id).where(account.c.owner, account.c.erased.is_(None), account.c.password.is_not(None))
    return connection.execute(wanted.limit(1)).first() is not None


def set_owner(connection: Connection, account: int, owner: bool, *, now: float, by: int | None = None) -> None:
    """Make somebody an owner, or an owner somebody like the others; one owner has to stay.

    Here as in every deed on people, `by` is the account whose deed it is; it is written into the record with it.
    """
    if not owner:
        _keep_an_owner(connection, account)
    there = schema.account.c.id == account, schema.account.c.erased.is_(None)
    if not connection.execute(update(schema.account).where(*there).values(owner=owner)).rowcount:
        raise NotFoundError(f"there is no account {account}")
    if by is not None:
        action = "make owner" if owner else "unmake owner"
        record(connection, action, now=now, account=by, detail={"account": account})


def _keep_an_owner(connection: Connection, account: int) -> None:
    owners = select(schema.account.c.id).where(schema.account.c.owner, schema.account.c.erased.is_(None))
    if set(connection.execute(owners.with_for_update()).scalars()) == {account}:
        raise ConflictError("this is the only owner, and nobody could manage the server without; make another first")


def add_member(
    connection: Connection, project: int, account: int, role: Role, now: float, *, by: int | None = None
) -> None:
    """Give a role in a project to somebody; who has it already keeps it."""
    if role not in get_args(Role):
        raise UsageError(f"a role is {', '.join(get_args(Role))}; found '{role}'")
    connection.execute(
        insert_unless_there(connection, schema.member, "project", "account", "role").values(
            project=project, account=account, role=role, created=now
        )
    )
    if by is not None:
        detail = {"account": account, "role": role}
        record(connection, "add member", now=now, account=by, project=project, detail=detail)


def remove_member(
    connection: Connection, project: int, account: int, role: Role | None = None, *, now: float, by: int | None = None
) -> None:
    """Take a role in a project away, or all of them; what was judged stays."""
    member = schema.member
    gone = delete(member).where(member.c.project == project, member.c.account == account)
    connection.execute(gone if role is None else gone.where(member.c.role == role))
    if by is not None:
        detail = {"account": account, "role": role or "all"}
        record(connection, "remove member", now=now, account=by, project=project, detail=detail)


def people(connection: Connection, project: int | None = None) -> list[Account]:
    """Everybody who ever had a part in a project, or everybody, by handle."""
    account, member, task = schema.account, schema.member, schema.task
    wanted, roles = select(account).order_by(account.c.handle), select(member.c.account, member.c.role).distinct()
    if project is not None:
        belongs = exists().where(member.c.account == account.c.id, member.c.project == project)
        judged = exists().where(task.c.account == account.c.id, task.c.project == project)
        wanted, roles = wanted.where(belongs | judged), roles.where(member.c.project == project)
    of: defaultdict[int, list[str]] = defaultdict(list)
    for who, role in connection.execute(roles.order_by(member.c.role)):
        of[who].append(role)
    return [
        Account(
            id=row.id, handle=row.handle, name=row.name, kind=row.kind, owner=row.owner, created=row.created,
            erased=row.erased, has_password=row.password is not None, roles=tuple(of[row.id]),
        )
        for row in connection.execute(wanted)
    ]  # fmt: skip


def erase(connection: Connection, account: int, now: float, *, by: int | None = None) -> str:
    """Take away all that is personal about somebody and keep the labels; answers the new handle.

    Name, password, the ids that a crowd platform gave, memberships, logins, tokens and invitations go, also failed
    attempts to log in and what was noted on links; those that are still open are withdrawn. The handle becomes
    `erased-17`, in later exports too.
    """
    found = connection.execute(select(schema.account).where(schema.account.c.id == account)).first()
    if found is None:
        raise NotFoundError(f"there is no account {account}")
    if found.erased is not None:
        return str(found.handle)
    _keep_an_owner(connection, account)
    handle = next(one for one in numbered(f"erased-{account}") if not _is_taken(connection, one))
    link, visit, attempt = schema.invitation, schema.visit, schema.attempt
    for number in noted_for(connection, account):
        closed = func.coalesce(link.c.revoked, case((link.c.left > 0, now)))
        connection.execute(update(link).where(link.c.id == number).values(note=None, revoked=closed))
    connection.execute(update(visit).where(visit.c.account == account).values(worker=None, parameters=None))
    for table in (schema.login, schema.token, schema.member, link):
        connection.execute(delete(table).where(table.c.account == account))
    connection.execute(delete(attempt).where(attempt.c.what.startswith(attempted("handle", found.handle))))
    gone = {"handle": handle, "name": None, "password": None, "owner": False, "erased": now}
    connection.execute(update(schema.account).where(schema.account.c.id == account).values(**gone))
    if by is not None:  # whoever erases their own account has nobody left to be named
        record(connection, "erase person", now=now, account=None if by == account else by, detail={"account": account})
    return handle


def _is_taken(connection: Connection, handle: str) -> bool:
    return connection.execute(select(schema.account.c.id).where(schema.account.c.handle == handle)).first() is not None


def noted_for(connection: Connection, account: int) -> dict[int, str]:
    """The notes on links for this person, by the link: those they came by, and those that say the same or their name.

    Notes are free text, so somebody else with the same name is found too.
    """
    who = schema.account
    named = connection.execute(select(who.c.handle, who.c.name, who.c.erased).where(who.c.id == account)).first()
    if named is None or named.erased is not None:
        return {}
    link, visit = schema.invitation, schema.visit
    noted = select(link.c.id, link.c.note).where(link.c.note.is_not(None), link.c.kind == "named")
    notes = {number: str(note) for number, note in connection.execute(noted.order_by(link.c.id))}
    came = set(connection.execute(select(visit.c.invitation).where(visit.c.account == account)).scalars())
    said = {notes[number].casefold() for number in came & notes.keys()}
    words = "|".join(re.escape(word) for word in (named.name, named.handle) if word)
    their_name = re.compile(rf"(?<!\w)({words})(?!\w)", re.IGNORECASE)
    return {number: note for number, note in notes.items() if note.casefold() in said or their_name.search(note)}
