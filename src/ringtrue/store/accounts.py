"""People: accounts, what they may do in which project, and how all that is personal is taken away again."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sqlalchemy import delete, exists, func, select, update

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.store import schema
from ringtrue.store.dialects import insert_or
from ringtrue.store.hashing import attempted
from ringtrue.store.values import Person, Role

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

__all__ = [
    "Account",
    "AccountKind",
    "add_member",
    "create_account",
    "erase",
    "has_owner",
    "people",
    "person",
    "person_by_handle",
    "remove_member",
    "secret_of",
    "set_owner",
    "set_password",
]

AccountKind: TypeAlias = Literal["named", "crowd", "imported"]
HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
RESERVED = re.compile(r"(worker|erased)-\d+")
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
        wishes = iter([handle if kind == "imported" else _checked(handle)])
    else:
        wishes = _numbered(_slug(name or "judge"))
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


def _checked(handle: str) -> str:
    handle = handle.strip().lower()
    if not HANDLE.fullmatch(handle):
        raise UsageError(
            f"a log-in name has small letters, digits, '.', '_' and '-', 63 at most, and begins with a letter or a "
            f"digit; found '{handle}'"
        )
    if RESERVED.fullmatch(handle):
        raise UsageError(f"log-in names such as '{handle}' are made by the server; choose another one")
    return handle


def _slug(name: str) -> str:
    """A name as a handle.

    Examples:
        >>> _slug("Zoë van der Berg")
        'zoe-van-der-berg'
        >>> _slug("李")
        'judge'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].rstrip("-")
    return "judge" if not slug or RESERVED.fullmatch(slug) else slug


def _numbered(slug: str) -> Iterator[str]:
    yield slug
    yield from (f"{slug}-{number}" for number in count(2))


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


def person_by_handle(connection: Connection, handle: str) -> Person:
    """Who has this handle."""
    found = connection.execute(select(schema.account.c.id).where(schema.account.c.handle == handle)).scalar()
    if found is None:
        raise NotFoundError(f"there is nobody with the log-in name '{handle}'")
    return person(connection, found)


def secret_of(connection: Connection, handle: str) -> tuple[int, str] | None:
    """The account and the hash of the password of somebody who may log in with one."""
    account = schema.account
    found = connection.execute(
        select(account.c.id, account.c.password).where(
            account.c.handle == handle.strip().lower(), account.c.password.is_not(None), account.c.erased.is_(None)
        )
    ).first()
    return None if found is None else (found.id, found.password)


def set_password(connection: Connection, account: int, password: str) -> None:
    """Keep the hash of a new password; whoever is logged in with the old one is logged out everywhere."""
    there = schema.account.c.id == account, schema.account.c.erased.is_(None)
    if not connection.execute(update(schema.account).where(*there).values(password=password)).rowcount:
        raise NotFoundError(f"there is no account {account}")
    connection.execute(delete(schema.login).where(schema.login.c.account == account))


def has_owner(connection: Connection) -> bool:
    """Whether anybody can manage this server."""
    account = schema.account
    wanted = select(account.c.id).where(account.c.owner, account.c.erased.is_(None), account.c.password.is_not(None))
    return connection.execute(wanted.limit(1)).first() is not None


def set_owner(connection: Connection, account: int, owner: bool) -> None:
    """Make somebody an owner, or an owner somebody like the others; one owner has to stay."""
    if not owner:
        _keep_an_owner(connection, account)
    there = schema.account.c.id == account, schema.account.c.erased.is_(None)
    if not connection.execute(update(schema.account).where(*there).values(owner=owner)).rowcount:
        raise NotFoundError(f"there is no account {account}")


def _keep_an_owner(connection: Connection, account: int) -> None:
    owners = select(schema.account.c.id).where(schema.account.c.owner, schema.account.c.erased.is_(None))
    if set(connection.execute(owners.with_for_update()).scalars()) == {account}:
        raise ConflictError("this is the only owner, and nobody could manage the server without; make another first")


def add_member(connection: Connection, project: int, account: int, role: Role, now: float) -> None:
    """Give a role in a project to somebody; who has it already keeps it."""
    if role not in get_args(Role):
        raise UsageError(f"a role is {', '.join(get_args(Role))}; found '{role}'")
    connection.execute(
        insert_unless_there(connection, schema.member, "project", "account", "role").values(
            project=project, account=account, role=role, created=now
        )
    )


def remove_member(connection: Connection, project: int, account: int, role: Role | None = None) -> None:
    """Take a role in a project away, or all of them; what was judged stays."""
    member = schema.member
    gone = delete(member).where(member.c.project == project, member.c.account == account)
    connection.execute(gone if role is None else gone.where(member.c.role == role))


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


def erase(connection: Connection, account: int, now: float) -> str:
    """Take away all that is personal about somebody and keep the labels; answers the new handle.

    Name, password, the ids that a crowd platform gave, memberships, logins, tokens and invitations go, also failed
    attempts to log in. The handle becomes `erased-17`, in later exports too.
    """
    found = connection.execute(
        select(schema.account.c.handle, schema.account.c.erased).where(schema.account.c.id == account)
    ).first()
    if found is None:
        raise NotFoundError(f"there is no account {account}")
    if found.erased is not None:
        return str(found.handle)
    _keep_an_owner(connection, account)
    invitation, visit = schema.invitation, schema.visit
    theirs = select(visit.c.invitation).where(visit.c.account == account)
    connection.execute(
        update(invitation).where(invitation.c.id.in_(theirs), invitation.c.kind == "named").values(note=None)
    )
    connection.execute(update(visit).where(visit.c.account == account).values(worker=None, parameters=None))
    for table in (schema.login, schema.token, schema.member, invitation):
        connection.execute(delete(table).where(table.c.account == account))
    connection.execute(delete(schema.attempt).where(schema.attempt.c.what == attempted("handle", found.handle)))
    gone = {"handle": f"erased-{account}", "name": None, "password": None, "owner": False, "erased": now}
    connection.execute(update(schema.account).where(schema.account.c.id == account).values(**gone))
    return f"erased-{account}"
