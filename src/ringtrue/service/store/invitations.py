"""Invitations: links that make somebody an owner, a judge or a viewer, or give a new password; hashed, and revocable.

A named link is for one person, who gets an account of their own. A crowd link is for everybody who has it: each gets
an account without a name, and a worker whom the platform names gets the same account back. Such an account judges and
nothing else: whoever has the link and knows the worker's id can use it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from sqlalchemy import exists, insert, or_, select, update

from ringtrue.errors import ForbiddenError, LateError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.accounts import (
    add_member,
    create_account,
    has_owner,
    require_not_crowd,
    set_owner,
    set_password,
)
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.connections import insert_if_absent
from ringtrue.service.store.records import Role
from ringtrue.service.store.sessions import hash_secret, is_crowd_account

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

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
    partial_code: str | None
    own_codes: bool
    id_required: bool
    one_account: bool

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
    partial_code: str | None = None,
    own_codes: bool = False,
    id_required: bool = False,
    one_account: bool = False,
    secret: str | None = None,
    by: int | None = None,
) -> str:
    """A new invitation: its secret, told once.

    A crowd worker is shown `code` for a task that was done, and `partial_code` for a part of it; with `own_codes`
    each worker's has an ending of its own. With `id_required`, nobody comes in without an id of the platform; with
    `one_account`, a browser works under one such id.

    A `secret` that was drawn before makes one link however often this is run. `by` is whose deed goes into the record.
    """
    if role not in get_args(InvitationRole) or kind not in get_args(InvitationKind):
        raise UsageError(
            "bad-invitation",
            f"an invitation is for {', '.join(get_args(InvitationRole))}; found '{role}' ({kind})",
            parameter="role",
        )
    if (project is None) != (role in ("owner", "reset")):
        raise UsageError(
            "invitation-project",
            "judges and viewers are invited to a project; owners, and new passwords, belong to none",
            parameter="project",
        )
    if (account is None) == (role == "reset"):
        raise UsageError(
            "invitation-account",
            "a link for a new password is for one account, and no other link is",
            parameter="account",
        )
    if kind == "crowd" and role != "judge":
        raise UsageError(
            "crowd-link-role",
            f"a crowd link is for judges, found {role}: everybody who has the link could come in",
            parameter="role",
        )
    if kind != "crowd" and (code or partial_code or own_codes or id_required or one_account):
        raise UsageError(
            "no-crowd-link",
            "completion codes and platform ids belong to crowd links; a named link has none",
            parameter="kind",
        )
    if (partial_code or own_codes) and not code:
        raise UsageError(
            "no-completion-code",
            "a partial code, and a code of its own for each worker, need a completion code",
            parameter="code",
        )
    if partial_code and partial_code == code:
        raise UsageError(
            "same-completion-codes",
            "the partial code is the completion code; nobody could tell part of the work from all of it",
            parameter="partial_code",
        )
    for limit_name, limit in (("uses", uses), ("days", days)):
        if limit is not None and limit <= 0:
            raise UsageError("not-positive", f"expected a number above 0, found {limit:g}", parameter=limit_name)
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
            partial_code=partial_code or None,
            own_codes=own_codes,
            id_required=id_required,
            one_account=one_account,
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
        raise LateError("link-withdrawn", "this link was withdrawn; ask whoever sent it for a new one")
    if invitation.expires is not None and invitation.expires <= now:
        raise LateError("link-expired", "this link is too old; ask whoever sent it for a new one")
    return invitation


def require_admission(
    connection: Connection,
    invitation: Invitation,
    *,
    account: int | None,
    worker: str | None,
    browser: str | None = None,
) -> None:
    """Refuse those a crowd link does not admit, before any account is made: `accept_invitation` asks the same."""
    if _find_crowd_account(connection, invitation, account, worker, browser) is None and invitation.left == 0:
        raise _used_up_error(invitation)


def _find_invitation(connection: Connection, secret: str) -> Invitation:
    row = connection.execute(select(schema.invitation).where(schema.invitation.c.hash == hash_secret(secret))).first()
    if row is None:
        raise NotFoundError(
            "unknown-link", "this link is not known here; look whether it was copied whole, or ask for a new one"
        )
    return _invitation_from_row(row)


def _used_up_error(invitation: Invitation) -> LateError:
    if invitation.kind == "crowd":
        return LateError(
            "crowd-link-full",
            "this link is used up: as many people came by it as may. Whoever came before opens it in the same browser, "
            "or from the platform again; for everybody else there is nothing to do here, so return the task there",
        )
    return LateError(
        "link-used", "this link was used already; log in with the name and password chosen then, or ask for a new one"
    )


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
    browser: str | None = None,
) -> int:
    """Come in by a link, as the account that is given or as a new one; answers the account.

    `password` is a hash. A named link is not for crowd accounts, and a crowd link for no others: who is logged in
    with a name gets a crowd account beside it. `worker` is the crowd platform's id of the person; the same one gets the
    same account back in every crowd link of the project, whoever is logged in, and uses nothing up. `browser` is what
    tells one browser from another. Run twice, as after a commit whose answer got lost, it answers the same account;
    only a crowd worker without id or login gets a second one.
    """
    earlier_account = _find_accepted_account(connection, secret, account, password)
    if earlier_account is not None:
        return earlier_account
    invitation = require_valid_invitation(connection, secret, now)
    if invitation.role == "reset" and password is None:
        raise UsageError("no-password", "a link for a new password needs one", parameter="password")
    if invitation.role == "reset":
        _use_invitation(connection, invitation)
        assert invitation.account is not None  # invite made sure
        assert password is not None
        set_password(connection, invitation.account, password, now=now)
        account_id: int | None = invitation.account
    elif invitation.kind == "crowd":
        # Two clicks at once, perhaps at two servers, must not make two judges of one worker.
        project = schema.project
        connection.execute(
            select(project.c.id).where(project.c.id == invitation.project).with_for_update(key_share=True)
        )
        account_id = _find_crowd_account(connection, invitation, account, worker, browser)
        if account_id is None:
            _use_invitation(connection, invitation)
    else:
        if account is not None:
            require_not_crowd(connection, account)
        _use_invitation(connection, invitation)
        account_id = account
    if account_id is None:
        if invitation.kind == "named" and password is None:
            raise UsageError("no-password", "an account needs a password", parameter="password")
        account_id = create_account(
            connection, kind=invitation.kind, now=now, name=name, handle=handle, password_hash=password
        )
    if invitation.role == "owner":
        set_owner(connection, account_id, owner=True, now=now)
        _revoke_first_owner(connection, now)
    visit = {
        "worker": worker,
        "parameters": json.dumps(dict(parameters), ensure_ascii=False) if parameters else None,
        "browser": None if browser is None else hash_secret(browser),
        "time": now,
    }
    connection.execute(insert(schema.visit).values(invitation=invitation.id, account=account_id, **visit))
    if invitation.project is not None:
        add_member(connection, invitation.project, account_id, cast(Role, invitation.role), now)
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


def _find_crowd_account(
    connection: Connection, invitation: Invitation, account: int | None, worker: str | None, browser: str | None
) -> int | None:
    """The account that a crowd worker has in this project already; refused where the link does not let them in."""
    if worker is None and invitation.id_required:
        raise ForbiddenError(
            "no-worker-id",
            "this link works only from the page of a crowd platform, which adds the worker's id to it (PROLIFIC_PID or "
            "workerId), and none came along; go back to the platform, and open the study from there",
        )
    link, visit = schema.invitation, schema.visit
    crowd_links = select(link.c.id).where(link.c.project == invitation.project, link.c.kind == "crowd")
    visits = select(visit.c.account).where(visit.c.invitation.in_(crowd_links)).order_by(visit.c.id).limit(1)
    known_account = None
    if worker is not None:
        if invitation.one_account:
            is_same_browser = visit.c.account == account
            if browser is not None:
                is_same_browser |= visit.c.browser == hash_secret(browser)
            if connection.execute(visits.where(is_same_browser, visit.c.worker != worker)).first() is not None:
                raise ForbiddenError(
                    "other-worker-id",
                    "this browser was used here under another id of the platform, and each person has one account; "
                    "open the study with the id that was used first",
                )
        known_account = connection.execute(visits.where(visit.c.worker == worker)).scalar()
    is_new_id = known_account is None and (worker is None or invitation.one_account)
    if is_new_id and account is not None and is_crowd_account(connection, account):
        known_account = connection.execute(visits.where(visit.c.account == account)).scalar()
    if known_account is not None:
        _require_plain_crowd_account(connection, known_account)
    return known_account


def _require_plain_crowd_account(connection: Connection, account: int) -> None:
    """Let nobody in by a crowd link to an account that may do more than judge: earlier versions made such ones."""
    person, member = schema.account, schema.member
    has_other_role = exists().where(member.c.account == person.c.id, member.c.role != "judge")
    may_do_more = or_(person.c.kind != "crowd", person.c.owner, person.c.password.is_not(None), has_other_role)
    if connection.execute(select(person.c.id).where(person.c.id == account, may_do_more)).first() is not None:
        raise ForbiddenError(
            "raised-crowd-account",
            "this worker's account was given rights that no crowd account may have, so that no link opens it; write to "
            "whoever runs the study, who finds it under People and can take them away",
        )


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
