"""Invitations: links that make somebody an owner, a judge or a viewer, or give a new password; hashed, and revocable.

A named link is for one person, who gets an account of their own. A crowd link is for everybody who has it: each gets
an account without a name, and a worker whom the platform names gets the same account back.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from sqlalchemy import insert, or_, select, update

from ringtrue.errors import LateError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.accounts import (
    add_member,
    create_account,
    has_owner,
    insert_unless_there,
    set_owner,
    set_password,
)
from ringtrue.service.store.audit_log import record
from ringtrue.service.store.hashing import hashed
from ringtrue.service.store.records import Role

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

__all__ = [
    "Invitation",
    "InvitationKind",
    "InvitationRole",
    "accept_invitation",
    "completion_code",
    "invitation_of",
    "invitations",
    "invite",
    "invite_first_owner",
    "require_room",
    "revoke_invitation",
]

InvitationRole: TypeAlias = Literal["owner", "judge", "gold", "viewer", "reset"]
InvitationKind: TypeAlias = Literal["named", "crowd"]
FIRST_OWNER = "first owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A link that was given out; `left` is how often it can still be used, None for as often as one likes."""

    id: int
    project: int | None
    role: InvitationRole
    kind: InvitationKind
    account: int | None
    note: str | None
    left: int | None
    code: str | None
    created: float
    expires: float | None
    revoked: float | None

    def is_open(self, now: float) -> bool:
        """Whether somebody could still come in by it."""
        return self.revoked is None and (self.expires is None or self.expires > now) and self.left != 0


def invite(
    connection: Connection,
    *,
    role: InvitationRole,
    now: float,
    kind: InvitationKind = "named",
    project: int | None = None,
    account: int | None = None,
    note: str | None = None,
    uses: int | None = 1,
    days: float | None = 14,
    code: str | None = None,
    secret: str | None = None,
    by: int | None = None,
) -> str:
    """A new invitation: its secret, told once. `code` is what a crowd worker is shown at the end of a task.

    A `secret` that was drawn before makes one link however often this is run. `by` is whose deed goes into the record.
    """
    if role not in get_args(InvitationRole) or kind not in get_args(InvitationKind):
        raise UsageError(f"an invitation is for {', '.join(get_args(InvitationRole))}; found '{role}' ({kind})")
    if (project is None) != (role in ("owner", "reset")):
        raise UsageError("judges and viewers are invited to a project; owners, and new passwords, belong to none")
    if (account is None) == (role == "reset"):
        raise UsageError("a link for a new password is for one account, and no other link is")
    if kind == "crowd" and role != "judge":
        raise UsageError(f"a crowd link is for judges, found {role}: everybody who has the link could come in")
    for what, number in (("uses", uses), ("days", days)):
        if number is not None and number <= 0:
            raise UsageError(f"expected {what} above 0, found {number:g}")
    secret = secret or secrets.token_urlsafe(32)
    made = connection.execute(
        insert_unless_there(connection, schema.invitation, "hash").values(
            project=project, role=role, kind=kind, hash=hashed(secret), account=account, note=note, left=uses,
            code=code or None, created=now, expires=None if days is None else now + days * 86_400,
        ).returning(schema.invitation.c.id)
    ).scalar()  # fmt: skip
    if made is not None and by is not None:
        detail = {"account": account} if role == "reset" else {"invitation": made, "role": role, "kind": kind}
        action = "reset password" if role == "reset" else "invite"
        record(connection, action, now=now, account=by, project=project, detail=detail)
    return secret


def invite_first_owner(connection: Connection, *, now: float) -> str | None:
    """A link for the first owner, in place of earlier ones; None when there is an owner already."""
    if has_owner(connection):
        return None
    _revoke_first_owner(connection, now)
    return invite(connection, role="owner", note=FIRST_OWNER, days=1, now=now)


def _revoke_first_owner(connection: Connection, now: float) -> None:
    of = schema.invitation
    earlier = of.c.role == "owner", of.c.note == FIRST_OWNER, of.c.left > 0, of.c.revoked.is_(None)
    connection.execute(update(of).where(*earlier).values(revoked=now))


def invitation_of(connection: Connection, secret: str, now: float) -> Invitation:
    """What a link is for; refused when it is unknown, used up, too old or revoked.

    A crowd link that is used up still lets in those who came by it before, so it is shown; `accept_invitation` counts.
    """
    found = _given_out(connection, secret)
    if found.left == 0 and found.kind == "named":
        raise _used_up(found)
    if found.revoked is not None:
        raise LateError("this link was withdrawn; ask whoever sent it for a new one")
    if found.expires is not None and found.expires <= now:
        raise LateError("this link is too old; ask whoever sent it for a new one")
    return found


def require_room(connection: Connection, found: Invitation, *, account: int | None, worker: str | None) -> None:
    """Refuse whoever comes by a crowd link that is used up, unless they came before."""
    if found.left == 0 and _came_before(connection, found, account, worker) is None:
        raise _used_up(found)


def _given_out(connection: Connection, secret: str) -> Invitation:
    row = connection.execute(select(schema.invitation).where(schema.invitation.c.hash == hashed(secret))).first()
    if row is None:
        raise NotFoundError("this link is not known here; look whether it was copied whole, or ask for a new one")
    return _invitation(row)


def _used_up(found: Invitation) -> LateError:
    if found.kind == "crowd":
        return LateError(
            "this link is used up: as many people came by it as may. Whoever came before opens it in the same browser, "
            "or from the platform again; for everybody else there is nothing to do here, so return the task there"
        )
    return LateError("this link was used already; log in with the name and password chosen then, or ask for a new one")


def _invitation(row: Row[tuple[object, ...]]) -> Invitation:
    kept = {name: value for name, value in row._mapping.items() if name != "hash"}
    return Invitation(**kept)


def accept_invitation(
    connection: Connection,
    secret: str,
    *,
    now: float,
    account: int | None = None,
    name: str | None = None,
    handle: str | None = None,
    password: str | None = None,
    worker: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> int:
    """Come in by a link, as the account that is given or as a new one; answers the account.

    `password` is a hash. `worker` is the crowd platform's id of the person; the same one gets the same account back in
    every crowd link of the project, whoever is logged in, and uses nothing up. Run twice, as after a commit whose
    answer got lost, it answers the same account; only a crowd worker without id or login gets a second one.
    """
    again = _accepted_before(connection, secret, account, password)
    if again is not None:
        return again
    found = invitation_of(connection, secret, now)
    if found.role == "reset" and password is None:
        raise UsageError("a link for a new password needs one")
    if found.role == "reset":
        _use(connection, found)
        assert found.account is not None  # invite made sure
        assert password is not None
        set_password(connection, found.account, password, now=now)
        who: int | None = found.account
    else:
        who = _came_before(connection, found, account, worker, alone=True)
        if who is None:
            _use(connection, found)
            who = account if worker is None else None
    if who is None:
        if found.kind == "named" and password is None:
            raise UsageError("an account needs a password")
        who = create_account(connection, kind=found.kind, now=now, name=name, handle=handle, password=password)
    if found.role == "owner":
        set_owner(connection, who, owner=True, now=now)
        _revoke_first_owner(connection, now)
    if found.project is not None:
        add_member(connection, found.project, who, cast(Role, found.role), now)
    kept = json.dumps(dict(parameters), ensure_ascii=False) if parameters else None
    connection.execute(
        insert(schema.visit).values(invitation=found.id, account=who, worker=worker, parameters=kept, time=now)
    )
    detail = {"role": found.role, "invitation": found.id}
    record(connection, "accept invitation", now=now, account=who, project=found.project, detail=detail)
    return who


def _accepted_before(connection: Connection, secret: str, account: int | None, password: str | None) -> int | None:
    """Who came by a named link that is used, where that was this very attempt: the hash has a salt of its own."""
    found = _given_out(connection, secret)
    if found.left != 0 or found.kind != "named" or (account is None and password is None):
        return None
    visit, person = schema.visit, schema.account
    came = select(person.c.id).join(visit, visit.c.account == person.c.id).where(visit.c.invitation == found.id)
    same = person.c.id == account if account is not None else person.c.password == password
    return connection.execute(came.where(same)).scalar()


def _use(connection: Connection, found: Invitation) -> None:
    of = schema.invitation
    still = of.c.id == found.id, or_(of.c.left.is_(None), of.c.left > 0), of.c.revoked.is_(None)
    if not connection.execute(update(of).where(*still).values(left=of.c.left - 1)).rowcount:
        raise _used_up(found)


def _came_before(
    connection: Connection, found: Invitation, account: int | None, worker: str | None, *, alone: bool = False
) -> int | None:
    """The account that a crowd worker, or whoever is logged in, has in this project already."""
    if found.kind == "named":
        return None
    of, visit, project = schema.invitation, schema.visit, schema.project
    if alone:  # two clicks at once, perhaps at two servers, must not make two judges of one worker
        connection.execute(select(project.c.id).where(project.c.id == found.project).with_for_update(key_share=True))
    links = select(of.c.id).where(of.c.project == found.project, of.c.kind == "crowd")
    who = visit.c.worker == worker if worker is not None else visit.c.account == account
    came = select(visit.c.account).where(visit.c.invitation.in_(links), who).order_by(visit.c.id).limit(1)
    return connection.execute(came).scalar()


def completion_code(connection: Connection, project: int, account: int) -> str | None:
    """The code that shows a crowd platform that the work was done: of the link by which somebody came last."""
    of, visit = schema.invitation, schema.visit
    return connection.execute(
        select(of.c.code)
        .select_from(visit.join(of, of.c.id == visit.c.invitation))
        .where(visit.c.account == account, of.c.project == project, of.c.kind == "crowd")
        .order_by(visit.c.id.desc())
        .limit(1)
    ).scalar()


def revoke_invitation(
    connection: Connection, invitation: int, *, now: float, project: int | None = None, by: int | None = None
) -> None:
    """Make a link to a project, or one that belongs to none, useless from now on; those who came by it stay."""
    of = schema.invitation
    belongs = of.c.project.is_(None) if project is None else of.c.project == project
    this = update(of).where(of.c.id == invitation, of.c.revoked.is_(None), belongs).values(revoked=now)
    if connection.execute(this).rowcount and by is not None:
        detail = {"invitation": invitation}
        record(connection, "revoke invitation", now=now, account=by, project=project, detail=detail)


def invitations(connection: Connection, project: int | None = None) -> list[Invitation]:
    """The links to a project, or those that belong to none, the newest first."""
    of = schema.invitation
    belongs = of.c.project.is_(None) if project is None else of.c.project == project
    return [_invitation(row) for row in connection.execute(select(of).where(belongs).order_by(of.c.id.desc()))]
