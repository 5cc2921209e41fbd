"""Invitations: links that make somebody an owner, a judge or a viewer, or give a new password; hashed, and revocable.

A named link is for one person, who gets an account of their own. A crowd link is for everybody who has it: each gets
an account without a name, and a worker whom the platform names gets the same account back.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from sqlalchemy import bindparam, insert, or_, select, update

from ringtrue.errors import LateError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.accounts import add_member, create_account, has_owner, set_owner, set_password
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.connections import insert_if_absent
from ringtrue.service.store.records import Role
from ringtrue.service.store.sessions import hash_secret

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

InvitationRole: TypeAlias = Literal["owner", "judge", "gold", "viewer", "reset"]
InvitationKind: TypeAlias = Literal["named", "crowd"]
FIRST_OWNER = "first owner"
WORK_KINDS = ("answer", "unsure", "late")  # work was done for each of these, whether or not it counts
LAST_CROWD_VISIT = (  # looked up with every task that is handed in
    select(schema.invitation.c.code, schema.visit.c.parameters)
    .join(schema.visit, schema.visit.c.invitation == schema.invitation.c.id)
    .where(
        schema.visit.c.account == bindparam("account"),
        schema.invitation.c.project == bindparam("project"),
        schema.invitation.c.kind == "crowd",
    )
    .order_by(schema.visit.c.id.desc())
    .limit(1)
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdWorker:
    """Somebody who came by a crowd link: its completion code, who filled it in, and whether there were answers."""

    code: str | None
    from_prolific: bool
    has_answered: bool


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
    for limit_name, limit in (("uses", uses), ("days", days)):
        if limit is not None and limit <= 0:
            raise UsageError(f"expected {limit_name} above 0, found {limit:g}")
    secret = secret or secrets.token_urlsafe(32)
    invitation_id = connection.execute(
        insert_if_absent(connection, schema.invitation, "hash")
        .values(
            project=project,
            role=role,
            kind=kind,
            hash=hash_secret(secret),
            account=account,
            note=note,
            left=uses,
            code=code or None,
            created=now,
            expires=None if days is None else now + days * 86_400,
        )
        .returning(schema.invitation.c.id)
    ).scalar()
    if invitation_id is not None and by is not None:
        detail = {"account": account} if role == "reset" else {"invitation": invitation_id, "role": role, "kind": kind}
        action = "reset password" if role == "reset" else "invite"
        record_action(connection, action, now=now, account=by, project=project, detail=detail)
    return secret


def invite_first_owner(connection: Connection, *, now: float) -> str | None:
    """A link for the first owner, in place of earlier ones; None when there is an owner already."""
    if has_owner(connection):
        return None
    _revoke_first_owner(connection, now)
    return invite(connection, role="owner", note=FIRST_OWNER, days=1, now=now)


def _revoke_first_owner(connection: Connection, now: float) -> None:
    invitation = schema.invitation
    is_unused_owner_link = (
        invitation.c.role == "owner",
        invitation.c.note == FIRST_OWNER,
        invitation.c.left > 0,
        invitation.c.revoked.is_(None),
    )
    connection.execute(update(invitation).where(*is_unused_owner_link).values(revoked=now))


def require_valid_invitation(connection: Connection, secret: str, now: float) -> Invitation:
    """What a link is for; refused when it is unknown, used up, too old or revoked.

    A crowd link that is used up still lets in those who came by it before, so it is shown; `accept_invitation` counts.
    """
    invitation = _find_invitation(connection, secret)
    if invitation.left == 0 and invitation.kind == "named":
        raise _used_up_error(invitation)
    if invitation.revoked is not None:
        raise LateError("this link was withdrawn; ask whoever sent it for a new one")
    if invitation.expires is not None and invitation.expires <= now:
        raise LateError("this link is too old; ask whoever sent it for a new one")
    return invitation


def require_uses_left(
    connection: Connection, invitation: Invitation, *, account: int | None, worker: str | None
) -> None:
    """Refuse whoever comes by a crowd link that is used up, unless they came before."""
    if invitation.left == 0 and _find_returning_account(connection, invitation, account, worker) is None:
        raise _used_up_error(invitation)


def _find_invitation(connection: Connection, secret: str) -> Invitation:
    row = connection.execute(select(schema.invitation).where(schema.invitation.c.hash == hash_secret(secret))).first()
    if row is None:
        raise NotFoundError("this link is not known here; look whether it was copied whole, or ask for a new one")
    return _invitation_from_row(row)


def _used_up_error(invitation: Invitation) -> LateError:
    if invitation.kind == "crowd":
        return LateError(
            "this link is used up: as many people came by it as may. Whoever came before opens it in the same browser, "
            "or from the platform again; for everybody else there is nothing to do here, so return the task there"
        )
    return LateError("this link was used already; log in with the name and password chosen then, or ask for a new one")


def _invitation_from_row(row: Row[Any]) -> Invitation:
    columns = {name: value for name, value in row._mapping.items() if name != "hash"}
    return Invitation(**columns)


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
    earlier_account = _find_accepted_account(connection, secret, account, password)
    if earlier_account is not None:
        return earlier_account
    invitation = require_valid_invitation(connection, secret, now)
    if invitation.role == "reset" and password is None:
        raise UsageError("a link for a new password needs one")
    if invitation.role == "reset":
        _use_invitation(connection, invitation)
        assert invitation.account is not None  # invite made sure
        assert password is not None
        set_password(connection, invitation.account, password, now=now)
        account_id: int | None = invitation.account
    else:
        account_id = _find_returning_account(connection, invitation, account, worker, lock_project=True)
        if account_id is None:
            _use_invitation(connection, invitation)
            account_id = account if worker is None else None
    if account_id is None:
        if invitation.kind == "named" and password is None:
            raise UsageError("an account needs a password")
        account_id = create_account(
            connection, kind=invitation.kind, now=now, name=name, handle=handle, password_hash=password
        )
    if invitation.role == "owner":
        set_owner(connection, account_id, owner=True, now=now)
        _revoke_first_owner(connection, now)
    if invitation.project is not None:
        add_member(connection, invitation.project, account_id, cast(Role, invitation.role), now)
    parameters_json = json.dumps(dict(parameters), ensure_ascii=False) if parameters else None
    connection.execute(
        insert(schema.visit).values(
            invitation=invitation.id, account=account_id, worker=worker, parameters=parameters_json, time=now
        )
    )
    detail = {"role": invitation.role, "invitation": invitation.id}
    record_action(
        connection, "accept invitation", now=now, account=account_id, project=invitation.project, detail=detail
    )
    return account_id


def _find_accepted_account(
    connection: Connection, secret: str, account: int | None, password: str | None
) -> int | None:
    """Who came by a named link that is used, where that was this very attempt: the hash has a salt of its own."""
    invitation = _find_invitation(connection, secret)
    if invitation.left != 0 or invitation.kind != "named" or (account is None and password is None):
        return None
    visit, person = schema.visit, schema.account
    visitors = (
        select(person.c.id).join(visit, visit.c.account == person.c.id).where(visit.c.invitation == invitation.id)
    )
    is_same_attempt = person.c.id == account if account is not None else person.c.password == password
    return connection.execute(visitors.where(is_same_attempt)).scalar()


def _use_invitation(connection: Connection, invitation: Invitation) -> None:
    table = schema.invitation
    is_usable = table.c.id == invitation.id, or_(table.c.left.is_(None), table.c.left > 0), table.c.revoked.is_(None)
    if not connection.execute(update(table).where(*is_usable).values(left=table.c.left - 1)).rowcount:
        raise _used_up_error(invitation)


def _find_returning_account(
    connection: Connection,
    invitation: Invitation,
    account: int | None,
    worker: str | None,
    *,
    lock_project: bool = False,
) -> int | None:
    """The account that a crowd worker, or whoever is logged in, has in this project already."""
    if invitation.kind == "named":
        return None
    table, visit, project = schema.invitation, schema.visit, schema.project
    if lock_project:  # two clicks at once, perhaps at two servers, must not make two judges of one worker
        connection.execute(
            select(project.c.id).where(project.c.id == invitation.project).with_for_update(key_share=True)
        )
    crowd_links = select(table.c.id).where(table.c.project == invitation.project, table.c.kind == "crowd")
    is_same_person = visit.c.worker == worker if worker is not None else visit.c.account == account
    earlier_visits = (
        select(visit.c.account).where(visit.c.invitation.in_(crowd_links), is_same_person).order_by(visit.c.id).limit(1)
    )
    return connection.execute(earlier_visits).scalar()


def find_completion_code(connection: Connection, project: int, account: int) -> str | None:
    """The code that shows a crowd platform that the work was done: of the link by which somebody came last."""
    last_visit = _find_last_crowd_visit(connection, project, account)
    return None if last_visit is None else last_visit.code


def find_crowd_worker(connection: Connection, project: int, account: int) -> CrowdWorker | None:
    """What is known of somebody who came to this project by a crowd link, the last time; None for all others."""
    last_visit = _find_last_crowd_visit(connection, project, account)
    if last_visit is None:
        return None
    task, assignment, judgment = schema.task, schema.assignment, schema.judgment
    first_answer = connection.execute(
        select(judgment.c.id)
        .join(assignment, assignment.c.id == judgment.c.assignment)
        .join(task, task.c.id == assignment.c.task)
        .where(task.c.project == project, task.c.account == account, judgment.c.kind.in_(WORK_KINDS))
        .limit(1)
    ).first()
    parameters = json.loads(last_visit.parameters) if last_visit.parameters else {}
    return CrowdWorker(
        code=last_visit.code, from_prolific="PROLIFIC_PID" in parameters, has_answered=first_answer is not None
    )


def _find_last_crowd_visit(connection: Connection, project: int, account: int) -> Row[*tuple[Any, ...]] | None:
    return connection.execute(LAST_CROWD_VISIT, {"project": project, "account": account}).first()


def revoke_invitation(
    connection: Connection, invitation: int, *, now: float, project: int | None = None, by: int | None = None
) -> None:
    """Make a link to a project, or one that belongs to none, useless from now on; those who came by it stay."""
    table = schema.invitation
    is_in_use = table.c.id == invitation, table.c.revoked.is_(None), table.c.project.is_not_distinct_from(project)
    if connection.execute(update(table).where(*is_in_use).values(revoked=now)).rowcount and by is not None:
        detail = {"invitation": invitation}
        record_action(connection, "revoke invitation", now=now, account=by, project=project, detail=detail)


def load_invitations(connection: Connection, project: int | None = None) -> list[Invitation]:
    """The links to a project, or those that belong to none, the newest first."""
    table = schema.invitation
    links = select(table).where(table.c.project.is_not_distinct_from(project)).order_by(table.c.id.desc())
    return [_invitation_from_row(row) for row in connection.execute(links)]
