"""People: who takes part, invitations, judges that are programs, new passwords, and taking away what is personal."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field, StringConstraints

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store.access import issue_token
from ringtrue.service.store.accounts import (
    Account,
    add_member,
    create_account,
    erase,
    people,
    person,
    remove_member,
    set_owner,
)
from ringtrue.service.store.invitations import InvitationKind, InvitationRole, invitations, invite, revoke_invitation
from ringtrue.service.web.api.schemas.common import WITHOUT_NUL, Answering, Asking, Moment, Name, Number, Role, faults
from ringtrue.service.web.api.token_auth import Caller, Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Days", "router"]

router = APIRouter(tags=["people"])
Days = Annotated[float, Field(gt=0, le=3_650)]
Note = Annotated[str, StringConstraints(max_length=100, pattern=WITHOUT_NUL)]
Called = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=WITHOUT_NUL)]
Code = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]
RESET_DAYS = 3


class PersonShown(Answering):
    """Somebody; `roles` are those in the project that was asked about, or in any."""

    id: int
    handle: str = Field(description="The judge's id in every export.")
    name: str | None
    kind: str
    owner: bool
    created: Moment
    erased: Moment | None
    roles: list[str]


class InvitationRequest(Asking):
    """Whom a link is for: `named`, one account of their own; `crowd`, everybody who has it, with a completion code."""

    role: Role = "judge"
    kind: InvitationKind = "named"
    note: Note | None = None
    uses: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="How often it can be used; a named link once, a crowd link as often as one likes."
    )
    days: Days | None = 14
    code: Code | None = None


class OwnerInvitationRequest(Asking):
    """A link for one more owner of the server."""

    note: Note | None = None
    days: Days = 14


class InvitationShown(Answering):
    """A link that was given out; `left` is how often it can still be used, null for as often as one likes."""

    id: int
    role: InvitationRole
    kind: InvitationKind
    note: str | None
    left: int | None
    code: str | None
    created: Moment
    expires: Moment | None
    revoked: Moment | None


class Link(Answering):
    """An address to be sent to somebody. It is told once: what is kept of it is a hash."""

    link: str


class ProgramRequest(Asking):
    """A judge that is a program: an account of its own, which nobody can log in to."""

    name: Called
    role: Literal["judge", "gold"] = "judge"
    days: Annotated[Days | None, Field(description="For how long its token is good.")] = 365


class ProgramMade(Answering):
    """The account of a program, and its token, which is told once."""

    id: int
    handle: str
    token: str


class Erased(Answering):
    """Under which name the judgments of somebody stay."""

    handle: str


def _address(caller: Caller, request: Request, path: str) -> str:
    here = f"{request.url.scheme}://{request.url.netloc}"  # not base_url, which has our own path in it
    return f"{caller.site.base_url or here}{path}"


def _one(there: list[Account], account: int) -> Account:
    found = next((one for one in there if one.id == account), None)
    if found is None:
        raise NotFoundError(f"there is no account {account}")
    return found


@router.get("/people", summary="Everybody on this server", response_model=list[PersonShown], responses=faults())
async def list_people(caller: Manager) -> Any:
    """With the roles that they have in any project."""
    return await caller.read(people)


@router.delete(
    "/people/{account}", summary="Take away all that is personal about somebody",
    response_model=Erased, responses=faults(404, 409),
)  # fmt: skip
async def erase_person(account: Number, caller: Manager) -> Any:
    """Name, password, worker ids, tokens and memberships go; the judgments stay, under a name that tells nothing."""
    return {"handle": await caller.write(lambda c: erase(c, account, caller.now, by=caller.person.id))}


@router.put(
    "/people/{account}/owner", summary="Make somebody an owner",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def make_owner(account: Number, caller: Manager) -> Response:
    """An owner makes projects, and sees and manages everything."""
    await caller.write(lambda c: set_owner(c, account, owner=True, now=caller.now, by=caller.person.id))
    return Response(status_code=204)


@router.delete(
    "/people/{account}/owner", summary="Make an owner somebody like the others",
    status_code=204, response_class=Response, responses=faults(404, 409),
)  # fmt: skip
async def unmake_owner(account: Number, caller: Manager) -> Response:
    """One owner has to stay."""
    await caller.write(lambda c: set_owner(c, account, owner=False, now=caller.now, by=caller.person.id))
    return Response(status_code=204)


@router.post(
    "/people/{account}/reset", summary="A link with which somebody sets a new password",
    status_code=201, response_model=Link, responses=faults(404),
)  # fmt: skip
async def reset_password(account: Number, request: Request, caller: Manager) -> Any:
    """Good for three days, and once."""
    secret = secrets.token_urlsafe(32)

    def reset(connection: Connection) -> str:
        who = _one(people(connection), account)
        if who.kind != "named" or who.erased is not None:
            raise UsageError(f"{who.handle} logs in without a password, so there is none to set")
        return invite(
            connection, role="reset", account=account, days=RESET_DAYS, secret=secret, now=caller.now,
            by=caller.person.id,
        )  # fmt: skip

    return {"link": _address(caller, request, f"/welcome/{await caller.write(reset)}")}


@router.get(
    "/projects/{project}/people", summary="Everybody who has or had a part in a project",
    response_model=list[PersonShown], responses=faults(404),
)  # fmt: skip
async def list_members(project: Name, caller: Manager) -> Any:
    """With their roles in it; whoever has none judged earlier."""
    return await caller.read(lambda c: people(c, caller.project(c, project, "owner").id))


@router.put(
    "/projects/{project}/people/{account}/roles/{role}", summary="Give somebody a role in a project",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def give_role(project: Name, account: Number, role: Role, caller: Manager) -> Response:
    """Who has it already keeps it."""

    def given(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        person(connection, account)
        add_member(connection, found.id, account, role, caller.now, by=caller.person.id)

    await caller.write(given)
    return Response(status_code=204)


@router.delete(
    "/projects/{project}/people/{account}/roles/{role}", summary="Take a role in a project away",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def take_role(project: Name, account: Number, role: Role, caller: Manager) -> Response:
    """What was judged stays, and counts."""

    def taken(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        if role not in _one(people(connection, found.id), account).roles:
            raise NotFoundError(f"account {account} has no role '{role}' in '{found.title}'")
        remove_member(connection, found.id, account, role, now=caller.now, by=caller.person.id)

    await caller.write(taken)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/programs", summary="Make a judge that is a program, with a token",
    status_code=201, response_model=ProgramMade, responses=faults(404),
)  # fmt: skip
async def make_program(project: Name, caller: Manager, wanted: ProgramRequest) -> Any:
    """Its answers stand under its own name, as those of people do. Its token has the scope `judge` alone."""

    def made(connection: Connection) -> dict[str, object]:
        found = caller.project(connection, project, "owner")
        account = create_account(connection, kind="named", name=wanted.name, now=caller.now)
        add_member(connection, found.id, account, wanted.role, caller.now)
        token = issue_token(connection, account, name=wanted.name, scopes=["judge"], now=caller.now, days=wanted.days)
        caller.record(connection, "make program", project=found.id, account=account, role=wanted.role)
        return {"id": account, "handle": person(connection, account).handle, "token": token}

    return await caller.write(made)


@router.get(
    "/projects/{project}/invitations", summary="The links to a project",
    response_model=list[InvitationShown], responses=faults(404),
)  # fmt: skip
async def list_invitations(project: Name, caller: Manager) -> Any:
    """All but the links themselves, of which only hashes are kept; the newest first."""
    return await caller.read(lambda c: invitations(c, caller.project(c, project, "owner").id))


@router.post(
    "/projects/{project}/invitations", summary="Invite judges or viewers by a link",
    status_code=201, response_model=Link, responses=faults(404),
)  # fmt: skip
async def invite_to_project(project: Name, request: Request, caller: Manager, wanted: InvitationRequest) -> Any:
    """Give a crowd link the parameters of the platform, such as `?PROLIFIC_PID={{%PROLIFIC_PID%}}`."""
    secret = secrets.token_urlsafe(32)

    def invited(connection: Connection) -> str:
        found = caller.project(connection, project, "owner")
        uses = wanted.uses or (1 if wanted.kind == "named" else None)
        if wanted.kind == "named" and (uses != 1 or wanted.code is not None):
            raise UsageError("a named link is for one person, and has no completion code; a crowd link can have both")
        return invite(
            connection, role=wanted.role, kind=wanted.kind, project=found.id, note=wanted.note, uses=uses,
            days=wanted.days, code=wanted.code, secret=secret, now=caller.now, by=caller.person.id,
        )  # fmt: skip

    page = "join" if wanted.kind == "crowd" else "welcome"
    return {"link": _address(caller, request, f"/{page}/{await caller.write(invited)}")}


@router.delete(
    "/projects/{project}/invitations/{invitation}", summary="Withdraw a link",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def withdraw_invitation(project: Name, invitation: Number, caller: Manager) -> Response:
    """Those who came by it stay."""

    def withdrawn(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        if invitation not in {one.id for one in invitations(connection, found.id)}:
            raise NotFoundError(f"there is no invitation {invitation} to '{found.title}'")
        revoke_invitation(connection, invitation, now=caller.now, project=found.id, by=caller.person.id)

    await caller.write(withdrawn)
    return Response(status_code=204)


@router.post("/invitations", summary="Invite one more owner", status_code=201, response_model=Link, responses=faults())
async def invite_owner(request: Request, caller: Manager, wanted: OwnerInvitationRequest) -> Any:
    """An owner makes projects, and sees and manages everything."""
    secret = secrets.token_urlsafe(32)

    def invited(connection: Connection) -> str:
        return invite(
            connection, role="owner", note=wanted.note, days=wanted.days, secret=secret, now=caller.now,
            by=caller.person.id,
        )  # fmt: skip

    return {"link": _address(caller, request, f"/welcome/{await caller.write(invited)}")}
