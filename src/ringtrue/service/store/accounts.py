"""People: accounts, what they may do in which project, and how all that is personal is taken away again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, get_args

from sqlalchemy import case, delete, exists, func, select, update

from ringtrue.errors import ConflictError, ForbiddenError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.connections import insert_if_absent
from ringtrue.service.store.projects import slugify
from ringtrue.service.store.records import AccountKind, Person, Role
from ringtrue.service.store.sessions import PERSON, ROLES, hash_attempt, is_crowd_account, person_from_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_NAME_LENGTH = 200
HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
RESERVED = re.compile(r"(worker|erased)-\d+")


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

    @property
    def is_raised_crowd(self) -> bool:
        """Whether a crowd account was given more than judging, as earlier versions did: it is let in no more."""
        return self.kind == "crowd" and (self.owner or self.has_password or not set(self.roles) <= {"judge"})


def create_account(
    connection: Connection,
    *,
    kind: AccountKind,
    now: float,
    name: str | None = None,
    handle: str | None = None,
    owner: bool = False,
    password_hash: str | None = None,
) -> int:
    """A new account, by its number. `password_hash` is the hash of its password.

    The handle is the judge's id in every export. One that is given must be free; otherwise it is made from the name,
    with a number where that is taken, and `worker-17` for the crowd.
    """
    name = (name or "").strip() or None
    if name is not None and len(name) > MAX_NAME_LENGTH:
        raise UsageError(
            "name-too-long", f"a name has at most {MAX_NAME_LENGTH} characters, found {len(name)}", parameter="name"
        )
    if kind == "crowd" and (owner or password_hash is not None):
        raise _crowd_account_error()
    columns = {"name": name, "password": password_hash, "kind": kind, "owner": owner, "created": now}
    candidates: Iterator[str]
    if kind == "crowd" and handle is None:
        first_number = connection.execute(select(func.coalesce(func.max(schema.account.c.id), 0))).scalar_one() + 1
        candidates = (f"worker-{number}" for number in count(first_number))
    elif handle is not None:
        candidates = iter([handle if kind == "imported" else _normalise_handle(handle)])
    else:
        candidates = _candidate_handles(_slugify_handle(name or "judge"))
    for candidate in candidates:
        account_id = connection.execute(
            insert_if_absent(connection, schema.account, "handle")
            .values(handle=candidate, **columns)
            .returning(schema.account.c.id)
        ).scalar()
        if account_id is not None:
            return int(account_id)
    raise ConflictError("handle-taken", f"the log-in name '{handle}' is taken; choose another one", parameter="handle")


def get_person(connection: Connection, account: int) -> Person:
    """Who has this account, with the roles in every project."""
    person, member = schema.account, schema.member
    rows = connection.execute(
        select(*PERSON, *ROLES)
        .select_from(person.outerjoin(member, member.c.account == person.c.id))
        .where(person.c.id == account, person.c.erased.is_(None))
    ).all()
    if not rows:
        raise NotFoundError("no-such-account", f"there is no account {account}")
    return person_from_rows(rows)


def find_password_hash(connection: Connection, handle: str) -> tuple[int, str] | None:
    """The account and the hash of the password of somebody who may log in with one."""
    account = schema.account
    account_row = connection.execute(
        select(account.c.id, account.c.password).where(
            account.c.handle == handle.strip().lower(), account.c.password.is_not(None), account.c.erased.is_(None)
        )
    ).first()
    return None if account_row is None else (account_row.id, account_row.password)


def set_password(connection: Connection, account: int, password_hash: str, *, now: float) -> None:
    """Keep the hash of a new password; whatever opened the account before is useless: visits, tokens, reset links."""
    require_not_crowd(connection, account)
    _update_active_account(connection, account, password=password_hash)
    connection.execute(delete(schema.login).where(schema.login.c.account == account))
    token, link = schema.token, schema.invitation
    connection.execute(update(token).where(token.c.account == account, token.c.revoked.is_(None)).values(revoked=now))
    unused = link.c.account == account, link.c.left > 0, link.c.revoked.is_(None)
    connection.execute(update(link).where(*unused).values(revoked=now))


def has_owner(connection: Connection) -> bool:
    """Whether anybody can manage this server."""
    account = schema.account
    is_owner = account.c.owner, account.c.erased.is_(None), account.c.kind != "crowd"
    statement = select(account.c.id).where(*is_owner, account.c.password.is_not(None))
    return connection.execute(statement.limit(1)).first() is not None


def set_owner(connection: Connection, account: int, owner: bool, *, now: float, by: int | None = None) -> None:
    """Make somebody an owner, or an owner somebody like the others; one owner has to stay.

    Here as in every deed on people, `by` is the account whose deed it is; it is written into the record with it.
    """
    if not owner:
        _require_another_owner(connection, account)
    else:
        require_not_crowd(connection, account)
    _update_active_account(connection, account, owner=owner)
    if by is not None:
        action = "make owner" if owner else "unmake owner"
        record_action(connection, action, now=now, account=by, detail={"account": account})


def _crowd_account_error() -> ForbiddenError:
    return ForbiddenError(
        "crowd-account",
        "this is a crowd account: it judges in the project of its link and cannot be given anything else, for whoever "
        "has the link and the worker's id can use it; invite the person by a named link, to an account of their own",
    )


def require_not_crowd(connection: Connection, account: int) -> None:
    """Refuse a crowd account where more than judging is given."""
    if is_crowd_account(connection, account):
        raise _crowd_account_error()


def _update_active_account(connection: Connection, account: int, **values: object) -> None:
    is_active_account = schema.account.c.id == account, schema.account.c.erased.is_(None)
    if not connection.execute(update(schema.account).where(*is_active_account).values(**values)).rowcount:
        raise NotFoundError("no-such-account", f"there is no account {account}")


def _require_another_owner(connection: Connection, account: int) -> None:
    is_owner = schema.account.c.owner, schema.account.c.erased.is_(None), schema.account.c.kind != "crowd"
    owners = select(schema.account.c.id).where(*is_owner)
    if set(connection.execute(owners.with_for_update()).scalars()) == {account}:
        raise ConflictError(
            "only-owner", "this is the only owner, and nobody could manage the server without; make another first"
        )


def add_member(
    connection: Connection, project: int, account: int, role: Role, now: float, *, by: int | None = None
) -> None:
    """Give a role in a project to somebody; who has it already keeps it.

    A crowd account judges in the projects whose crowd link it came by, and has no other role.
    """
    if role not in get_args(Role):
        raise UsageError("unknown-role", f"a role is {', '.join(get_args(Role))}; found '{role}'", parameter="role")
    if is_crowd_account(connection, account) and not (role == "judge" and _came_by_link(connection, project, account)):
        raise _crowd_account_error()
    connection.execute(
        insert_if_absent(connection, schema.member, "project", "account", "role").values(
            project=project, account=account, role=role, created=now
        )
    )
    if by is not None:
        detail = {"account": account, "role": role}
        record_action(connection, "add member", now=now, account=by, project=project, detail=detail)


def _came_by_link(connection: Connection, project: int, account: int) -> bool:
    link, visit = schema.invitation, schema.visit
    visits = select(visit.c.id).join(link, link.c.id == visit.c.invitation)
    crowd_visits = visits.where(visit.c.account == account, link.c.project == project, link.c.kind == "crowd")
    return connection.execute(crowd_visits.limit(1)).first() is not None


def remove_member(
    connection: Connection, project: int, account: int, role: Role | None = None, *, now: float, by: int | None = None
) -> None:
    """Take a role in a project away, or all of them; what was judged stays."""
    member = schema.member
    deletion = delete(member).where(member.c.project == project, member.c.account == account)
    connection.execute(deletion if role is None else deletion.where(member.c.role == role))
    if by is not None:
        detail = {"account": account, "role": role or "all"}
        record_action(connection, "remove member", now=now, account=by, project=project, detail=detail)


def load_accounts(connection: Connection, project: int | None = None) -> list[Account]:
    """Everybody who ever had a part in a project, or everybody, by handle."""
    account, member, task = schema.account, schema.member, schema.task
    listed = [account.c[name] for name in ("id", "handle", "name", "kind", "owner", "created", "erased")]
    accounts = select(*listed, account.c.password.is_not(None).label("has_password")).order_by(account.c.handle)
    roles = select(member.c.account, member.c.role).distinct()
    if project is not None:
        is_member = exists().where(member.c.account == account.c.id, member.c.project == project)
        has_task = exists().where(task.c.account == account.c.id, task.c.project == project)
        accounts, roles = accounts.where(is_member | has_task), roles.where(member.c.project == project)
    roles_by_account: defaultdict[int, list[str]] = defaultdict(list)
    for account_id, role in connection.execute(roles.order_by(member.c.role)):
        roles_by_account[account_id].append(role)
    return [Account(**row._mapping, roles=tuple(roles_by_account[row.id])) for row in connection.execute(accounts)]


def erase_account(connection: Connection, account: int, now: float, *, by: int | None = None) -> str:
    """Take away all that is personal about somebody and keep the labels; answers the new handle.

    Name, password, the ids that a crowd platform gave, completion codes, which it knows too, memberships, logins,
    tokens and invitations go, also failed attempts to log in and what was noted on links; those that are still open
    are withdrawn. The handle becomes `erased-17`, in later exports too.
    """
    account_row = connection.execute(select(schema.account).where(schema.account.c.id == account)).first()
    if account_row is None:
        raise NotFoundError("no-such-account", f"there is no account {account}")
    if account_row.erased is not None:
        return str(account_row.handle)
    _require_another_owner(connection, account)
    candidates = _candidate_handles(f"erased-{account}")
    handle = next(candidate for candidate in candidates if not _is_handle_taken(connection, candidate))
    link, visit, attempt = schema.invitation, schema.visit, schema.attempt
    for link_id in find_link_notes(connection, account):
        revoked_time = func.coalesce(link.c.revoked, case((link.c.left > 0, now)))
        connection.execute(update(link).where(link.c.id == link_id).values(note=None, revoked=revoked_time))
    forgotten = {"worker": None, "parameters": None, "browser": None}
    connection.execute(update(visit).where(visit.c.account == account).values(**forgotten))
    connection.execute(update(schema.task).where(schema.task.c.account == account).values(code=None))
    for table in (schema.login, schema.token, schema.member, schema.completion, link):
        connection.execute(delete(table).where(table.c.account == account))
    connection.execute(delete(attempt).where(attempt.c.what.startswith(hash_attempt("handle", account_row.handle))))
    erased_columns = {"handle": handle, "name": None, "password": None, "owner": False, "erased": now}
    connection.execute(update(schema.account).where(schema.account.c.id == account).values(**erased_columns))
    if by is not None:  # whoever erases their own account has nobody left to be named
        record_action(
            connection, "erase person", now=now, account=None if by == account else by, detail={"account": account}
        )
    return handle


def _is_handle_taken(connection: Connection, handle: str) -> bool:
    return connection.execute(select(schema.account.c.id).where(schema.account.c.handle == handle)).first() is not None


def find_link_notes(connection: Connection, account: int) -> dict[int, str]:
    """The notes on links for this person, by the link: those they came by, and those that say the same or their name.

    Notes are free text, so somebody else with the same name is found too.
    """
    is_active_account = schema.account.c.id == account, schema.account.c.erased.is_(None)
    person = connection.execute(
        select(schema.account.c.handle, schema.account.c.name).where(*is_active_account)
    ).first()
    if person is None:
        return {}
    link, visit = schema.invitation, schema.visit
    noted_links = select(link.c.id, link.c.note).where(link.c.note.is_not(None), link.c.kind == "named")
    notes = {link_id: str(remark) for link_id, remark in connection.execute(noted_links.order_by(link.c.id))}
    used_link_ids = set(connection.execute(select(visit.c.invitation).where(visit.c.account == account)).scalars())
    used_notes = {notes[link_id].casefold() for link_id in used_link_ids & notes.keys()}
    names_pattern = "|".join(re.escape(word) for word in (person.name, person.handle) if word)
    their_name = re.compile(rf"(?<!\w)({names_pattern})(?!\w)", re.IGNORECASE)
    return {
        link_id: remark
        for link_id, remark in notes.items()
        if remark.casefold() in used_notes or their_name.search(remark)
    }


def _normalise_handle(handle: str) -> str:
    """A handle that somebody chose, as it is kept."""
    handle = handle.strip().lower()
    if not HANDLE.fullmatch(handle):
        raise UsageError(
            "bad-handle",
            f"a log-in name has small letters, digits, '.', '_' and '-', 63 at most, and begins with a letter or a "
            f"digit; found '{handle}'",
            parameter="handle",
        )
    if RESERVED.fullmatch(handle):
        raise UsageError(
            "reserved-handle",
            f"log-in names such as '{handle}' are made by the server; choose another one",
            parameter="handle",
        )
    return handle


def _slugify_handle(name: str) -> str:
    """A name as a handle.

    Examples:
        >>> _slugify_handle("Zoë van der Berg")
        'zoe-van-der-berg'
        >>> _slugify_handle("李")
        'judge'
    """
    slug = slugify(name, 50)
    return "judge" if not slug or RESERVED.fullmatch(slug) else slug


def _candidate_handles(handle: str) -> Iterator[str]:
    """A handle, and those to be tried in turn where it is taken."""
    yield handle
    yield from (f"{handle}-{number}" for number in count(2))
