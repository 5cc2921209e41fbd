"""Who comes in: the sessions of browsers, the tokens of programs, and a brake for those who guess passwords.

Every secret is drawn by lot, given out once, and kept as a hash only. Attempts to log in are counted by handle and by
address, which are kept as hashes too.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from ringtrue.errors import ForbiddenError, NotFoundError, UsageError, did_you_mean
from ringtrue.service.store import schema
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.connections import insert_if_absent
from ringtrue.service.store.records import Person

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Row, Select, Table


SCOPES = {
    "read": "see projects, progress and exports",
    "judge": "get questions and answer them",
    "manage": "make and change projects, people and everything else an owner may",
}
ATTEMPT_WINDOW = 15 * 60.0  # seconds in which attempts are counted
# Attempts in that time. Few by one handle from one address; many more by a handle from everywhere, or anybody could
# lock an owner out; and people of one office share an address.
ATTEMPT_LIMITS = {"both": 10, "handle": 100, "address": 50}

PERSON = [schema.account.c[name] for name in ("id", "handle", "name", "kind", "owner")]
ROLES = [schema.member.c.project, schema.member.c.role]


def _select_person(table: Table, *columns: Column[str]) -> Select[*tuple[Any, ...]]:
    """The account behind a login or token with all its roles: one statement, as it is asked at every request."""
    return (
        select(*PERSON, *columns, *ROLES)
        .join(table, table.c.account == schema.account.c.id)
        .outerjoin(schema.member, schema.member.c.account == schema.account.c.id)
        .where(table.c.hash == bindparam("hash"))
    )


LOGIN_BY_HASH = _select_person(schema.login, schema.login.c.csrf).where(schema.login.c.expires > bindparam("now"))
TOKEN_BY_HASH = _select_person(schema.token, schema.token.c.scopes).where(
    schema.token.c.revoked.is_(None),
    or_(schema.token.c.expires.is_(None), schema.token.c.expires > bindparam("now")),
    schema.account.c.erased.is_(None),
    schema.account.c.kind != "crowd",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A key to the API, as its owner sees it afterwards: all but the secret."""

    id: int
    name: str
    scopes: frozenset[str]
    created: float
    expires: float | None
    revoked: float | None


def log_in(connection: Connection, account: int, *, now: float, hours: float) -> tuple[str, str]:
    """Begin a visit: the secret for the cookie, and the word that every form has to send back."""
    login = schema.login
    connection.execute(delete(login).where(login.c.account == account, login.c.expires <= now))
    secret, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    connection.execute(
        insert(login).values(
            account=account, hash=hash_secret(secret), csrf=csrf, created=now, expires=now + hours * 3600
        )
    )
    return secret, csrf


def authenticate_login(connection: Connection, secret: str, now: float) -> tuple[Person, str] | None:
    """Who is logged in with this secret, and the word that their forms send back; None when nobody is (any more)."""
    rows = connection.execute(LOGIN_BY_HASH, {"hash": hash_secret(secret), "now": now}).all()
    return (person_from_rows(rows), rows[0].csrf) if rows else None


def log_out(connection: Connection, secret: str) -> None:
    """End one visit."""
    connection.execute(delete(schema.login).where(schema.login.c.hash == hash_secret(secret)))


def issue_token(
    connection: Connection,
    account: int,
    *,
    name: str,
    scopes: Iterable[str],
    now: float,
    days: float | None,
    secret: str | None = None,
    by: int | None = None,
) -> str:
    """A new key to the API, told once; crowd accounts have none.

    A `secret` that was drawn before makes one token however often this is run. `by` is whose deed goes into the record.
    """
    scope_names = sorted(set(scopes))
    if not scope_names:
        raise UsageError("no-scope", f"a token needs at least one scope of {', '.join(SCOPES)}", parameter="scopes")
    for scope in scope_names:
        if scope not in SCOPES:
            near = did_you_mean(scope, SCOPES) or f"; there is {', '.join(SCOPES)}"
            raise UsageError("unknown-scope", f"no scope '{scope}'{near}", parameter="scopes")
    if not name.strip():
        raise UsageError("unnamed-token", "a token needs a name that says what it is for", parameter="name")
    if days is not None and days <= 0:
        raise UsageError("not-positive", f"expected a number above 0, found {days:g}", parameter="days")
    require_token_account(connection, account)
    secret = secret or secrets.token_urlsafe(32)
    token_id = connection.execute(
        insert_if_absent(connection, schema.token, "hash")
        .values(
            account=account,
            name=name.strip(),
            hash=hash_secret(secret),
            scopes=" ".join(scope_names),
            created=now,
            expires=None if days is None else now + days * 86_400,
        )
        .returning(schema.token.c.id)
    ).scalar()
    if token_id is not None and by is not None:
        record_action(connection, "issue token", now=now, account=by, detail={"scopes": scope_names})
    return secret


def require_token_account(connection: Connection, account: int) -> None:
    """Refuse a crowd account where tokens are asked for."""
    if is_crowd_account(connection, account):
        raise ForbiddenError(
            "no-crowd-tokens", "crowd accounts have no tokens; for a program, an owner makes a judge of its own"
        )


def authenticate_token(connection: Connection, secret: str, now: float) -> tuple[Person, frozenset[str]] | None:
    """Whose token this is and what it may be used for; None when it is unknown, revoked or too old."""
    rows = connection.execute(TOKEN_BY_HASH, {"hash": hash_secret(secret), "now": now}).all()
    return (person_from_rows(rows), frozenset(rows[0].scopes.split())) if rows else None


def revoke_token(connection: Connection, token: int, *, account: int, now: float) -> None:
    """Make a token of this account useless, and write that down."""
    table = schema.token
    is_own_token = table.c.id == token, table.c.account == account
    if not connection.execute(
        update(table).where(*is_own_token).values(revoked=func.coalesce(table.c.revoked, now))
    ).rowcount:
        raise NotFoundError("no-such-token", f"there is no token {token} of yours")
    record_action(connection, "revoke token", now=now, account=account, detail={"token": token})


def load_tokens(connection: Connection, account: int) -> list[Token]:
    """The tokens of an account, the newest first."""
    columns = schema.token.c
    rows = connection.execute(
        select(columns.id, columns.name, columns.scopes, columns.created, columns.expires, columns.revoked)
        .where(columns.account == account)
        .order_by(columns.id.desc())
    )
    return [Token(**{**row._mapping, "scopes": frozenset(row.scopes.split())}) for row in rows]


def get_or_create_signing_secret(connection: Connection) -> bytes:
    """What the server signs its cookies with: drawn when it is first asked for, and the same ever after."""
    connection.execute(
        insert_if_absent(connection, schema.setting, "name").values(
            name="signing secret", value=secrets.token_urlsafe(32)
        )
    )
    statement = select(schema.setting.c.value).where(schema.setting.c.name == "signing secret")
    return str(connection.execute(statement).scalar_one()).encode()


def record_login_attempt(connection: Connection, *, handle: str, address: str, now: float) -> float:
    """Write down an attempt; answers how many seconds to wait, 0 when it may go on.

    Attempts are written before the password is looked at, so that many at once are counted too;
    `clear_login_attempts` takes them away when it was right. A handle that nobody has is counted like the others.
    """
    attempt = schema.attempt
    connection.execute(delete(attempt).where(attempt.c.time <= now - ATTEMPT_WINDOW))
    wait = find_login_wait(connection, handle=handle, address=address, now=now)
    if not wait:
        keys = attempt_keys(handle, address).values()
        connection.execute(insert(attempt), [{"what": key, "time": now} for key in keys])
    return wait


def find_login_wait(connection: Connection, *, handle: str, address: str, now: float) -> float:
    """How many seconds somebody has to wait before the next attempt, 0 when it may go on."""
    attempt, wait = schema.attempt, 0.0
    for kind, key in attempt_keys(handle, address).items():
        latest = select(attempt.c.time).where(attempt.c.what == key, attempt.c.time > now - ATTEMPT_WINDOW)
        limit = ATTEMPT_LIMITS[kind]
        times = connection.execute(latest.order_by(attempt.c.time.desc()).limit(limit)).scalars().all()
        if len(times) == limit:
            wait = max(wait, times[-1] + ATTEMPT_WINDOW - now)
    return wait


def clear_login_attempts(connection: Connection, *, handle: str, address: str) -> None:
    """Forget the attempts with this handle, and one from this address: the last was right."""
    attempt, keys = schema.attempt, attempt_keys(handle, address)
    connection.execute(delete(attempt).where(attempt.c.what.in_([keys["both"], keys["handle"]])))
    last = select(func.max(attempt.c.id)).where(attempt.c.what == keys["address"]).scalar_subquery()
    connection.execute(delete(attempt).where(attempt.c.id == last))


def hash_secret(secret: str) -> str:
    """What is stored of a secret that was drawn by lot: enough to know it again, and of no use to a thief.

    Examples:
        >>> hash_secret("abc")[:12]
        'ba7816bf8f01'
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def hash_attempt(kind: str, identifier: str) -> str:
    """How an attempt to log in is written down: not as somebody's name or address in plain words."""
    return f"{kind}:{hash_secret(identifier)[:32]}"


def person_from_rows(rows: Sequence[Row[*tuple[Any, ...]]]) -> Person:
    """Somebody by the rows of an account joined to its memberships; without any, project and role are null.

    A crowd account may judge and nothing else, whatever earlier versions wrote: who knows the link and a worker's id
    has the account.
    """
    account = rows[0]
    is_crowd = account.kind == "crowd"
    roles: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        if row.project is not None and (row.role == "judge" or not is_crowd):
            roles[row.project].add(row.role)
    return Person(
        id=account.id,
        handle=account.handle,
        name=account.name,
        kind=account.kind,
        owner=bool(account.owner) and not is_crowd,
        roles={project: frozenset(names) for project, names in roles.items()},
    )


def is_crowd_account(connection: Connection, account: int) -> bool:
    """Whether an account was made by a crowd link."""
    kind = select(schema.account.c.kind).where(schema.account.c.id == account)
    return connection.execute(kind).scalar() == "crowd"


def attempt_keys(handle: str, address: str) -> dict[str, str]:
    """What is counted of an attempt; what is about a handle begins alike, so that `erase_account` finds it."""
    handle_key, address_key = hash_attempt("handle", handle), hash_attempt("address", address)
    return {"both": f"{handle_key} {address_key}", "handle": handle_key, "address": address_key}
