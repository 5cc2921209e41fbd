"""People: who takes part, invitations, judges that are programs, new passwords, and taking away what is personal."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field, StringConstraints

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store.accounts import (
    Account,
    add_member,
    create_account,
    erase_account,
    get_person,
    load_accounts,
    remove_member,
    set_owner,
)
from ringtrue.service.store.completion import GrantedCode, load_granted_codes
from ringtrue.service.store.invitations import (
    Invitation,
    InvitationKind,
    invite,
    load_invitations,
    revoke_invitation,
)
from ringtrue.service.store.records import Role
from ringtrue.service.store.sessions import issue_token
from ringtrue.service.web.api.schemas import (
    NO_NUL_PATTERN,
    Days,
    ProjectName,
    RequestModel,
    ResponseModel,
    RowId,
    error_responses,
    fields_of,
)
from ringtrue.service.web.auth.invitations import invite_to_reset_password
from ringtrue.service.web.auth.token_auth import Caller, Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["people"])
Note = Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL_PATTERN)]
DisplayName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL_PATTERN)]
Code = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]


@fields_of(Account, omit=("has_password",))
class PersonResponse(ResponseModel):
    """Somebody; `roles` are those in the project that was asked about, or in any."""

    handle: str = Field(description="The judge's id in every export.")


class InvitationRequest(RequestModel):
    """Whom a link is for: `named`, one account of their own; `crowd`, everybody who has it, with a completion code."""

    role: Role = "judge"
    kind: InvitationKind = "named"
    note: Note | None = None
    uses: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="How often it can be used; a named link once, a crowd link as often as one likes."
    )
    days: Days | None = 14
    code: Annotated[Code | None, Field(description="What a task that was done earns.")] = None
    partial_code: Annotated[Code | None, Field(description="What a part of it earns; none by default.")] = None
    own_codes: Annotated[bool, Field(description="Each worker gets a code of their own, `CODE-7F3K9Q2M`.")] = False
    id_required: Annotated[
        bool | None, Field(description="Nobody comes in by a crowd link without an id of the platform; default true.")
    ] = None
    one_account: Annotated[
        bool | None, Field(description="A browser works under one id of the platform; default true for crowd links.")
    ] = None


class OwnerInvitationRequest(RequestModel):
    """A link for one more owner of the server."""

    note: Note | None = None
    days: Days = 14


@fields_of(Invitation, omit=("project", "account"))
class InvitationResponse(ResponseModel):
    """A link that was given out; `left` is how often it can still be used, null for as often as one likes."""


@fields_of(GrantedCode)
class CompletionResponse(ResponseModel):
    """The code that a crowd worker got by a link, `full` or `partial`, for a task; `worker` is the platform's id.

    `replaced` is the partial code that the worker was shown before the full one.
    """


class LinkResponse(ResponseModel):
    """An address to be sent to somebody. It is told once: what is kept of it is a hash."""

    link: str


class ProgramRequest(RequestModel):
    """A judge that is a program: an account of its own, which nobody can log in to."""

    name: DisplayName
    role: Literal["judge", "gold"] = "judge"
    days: Annotated[Days | None, Field(description="For how long its token is good.")] = 365


class ProgramResponse(ResponseModel):
    """The account of a program, and its token, which is told once."""

    id: int
    handle: str
    token: str


class ErasureResponse(ResponseModel):
    """Under which name the judgments of somebody stay."""

    handle: str


def _inviting(caller: Caller) -> Callable[..., str]:
    """`invite` in the name of whoever asks: one secret, however often the piece of work is run."""
    return partial(invite, secret=secrets.token_urlsafe(32), now=caller.now, by=caller.person.id)


def _link_response(caller: Caller, request: Request, page: str, secret: str) -> dict[str, str]:
    return {"link": caller.server.absolute_url(request, f"/{page}/{secret}")}


def _find_account_or_404(accounts: list[Account], account: int) -> Account:
    match = next((candidate for candidate in accounts if candidate.id == account), None)
    if match is None:
        raise NotFoundError("no-such-account", f"there is no account {account}")
    return match


@router.get(
    "/people", summary="Everybody on this server", response_model=list[PersonResponse], responses=error_responses()
)
async def list_people(caller: Manager) -> Any:
    """With the roles that they have in any project."""
    return await caller.read(load_accounts)


@router.delete(
    "/people/{account}",
    summary="Take away all that is personal about somebody",
    response_model=ErasureResponse,
    responses=error_responses(404, 409),
)
async def erase_person(account: RowId, caller: Manager) -> Any:
    """Name, password, worker ids, tokens and memberships go; the judgments stay, under a name that tells nothing."""
    return {"handle": await caller.write(lambda c: erase_account(c, account, caller.now, by=caller.person.id))}


@router.put(
    "/people/{account}/owner",
    summary="Make somebody an owner",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def make_owner(account: RowId, caller: Manager) -> None:
    """An owner makes projects, and sees and manages everything."""
    await caller.write(lambda c: set_owner(c, account, owner=True, now=caller.now, by=caller.person.id))


@router.delete(
    "/people/{account}/owner",
    summary="Make an owner somebody like the others",
    status_code=204,
    response_class=Response,
    responses=error_responses(404, 409),
)
async def unmake_owner(account: RowId, caller: Manager) -> None:
    """One owner has to stay."""
    await caller.write(lambda c: set_owner(c, account, owner=False, now=caller.now, by=caller.person.id))


@router.post(
    "/people/{account}/reset",
    summary="A link with which somebody sets a new password",
    status_code=201,
    response_model=LinkResponse,
    responses=error_responses(404),
)
async def reset_password(account: RowId, request: Request, caller: Manager) -> Any:
    """Good for three days, and once."""
    secret = secrets.token_urlsafe(32)

    def work(connection: Connection) -> str:
        reset_account = _find_account_or_404(load_accounts(connection), account)
        return invite_to_reset_password(connection, reset_account, secret=secret, now=caller.now, by=caller.person.id)

    return _link_response(caller, request, "welcome", await caller.write(work))


@router.get(
    "/projects/{project}/people",
    summary="Everybody who has or had a part in a project",
    response_model=list[PersonResponse],
    responses=error_responses(404),
)
async def list_members(project: ProjectName, caller: Manager) -> Any:
    """With their roles in it; whoever has none judged earlier."""
    return await caller.read(lambda c: load_accounts(c, caller.load_project(c, project, "owner").id))


@router.put(
    "/projects/{project}/people/{account}/roles/{role}",
    summary="Give somebody a role in a project",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def give_role(project: ProjectName, account: RowId, role: Role, caller: Manager) -> None:
    """Who has it already keeps it."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        get_person(connection, account)
        add_member(connection, stored_project.id, account, role, caller.now, by=caller.person.id)

    await caller.write(work)


@router.delete(
    "/projects/{project}/people/{account}/roles/{role}",
    summary="Take a role in a project away",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def take_role(project: ProjectName, account: RowId, role: Role, caller: Manager) -> None:
    """What was judged stays, and counts."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        if role not in _find_account_or_404(load_accounts(connection, stored_project.id), account).roles:
            raise NotFoundError("role-not-held", f"account {account} has no role '{role}' in '{stored_project.title}'")
        remove_member(connection, stored_project.id, account, role, now=caller.now, by=caller.person.id)

    await caller.write(work)


@router.post(
    "/projects/{project}/programs",
    summary="Make a judge that is a program, with a token",
    status_code=201,
    response_model=ProgramResponse,
    responses=error_responses(404),
)
async def make_program(project: ProjectName, caller: Manager, body: ProgramRequest) -> Any:
    """Its answers stand under its own name, as those of people do. Its token has the scope `judge` alone."""

    def work(connection: Connection) -> dict[str, object]:
        stored_project = caller.load_project(connection, project, "owner")
        account = create_account(connection, kind="named", name=body.name, now=caller.now)
        add_member(connection, stored_project.id, account, body.role, caller.now)
        token = issue_token(connection, account, name=body.name, scopes=["judge"], now=caller.now, days=body.days)
        caller.record(connection, "make program", project=stored_project.id, account=account, role=body.role)
        return {"id": account, "handle": get_person(connection, account).handle, "token": token}

    return await caller.write(work)


@router.get(
    "/projects/{project}/invitations",
    summary="The links to a project",
    response_model=list[InvitationResponse],
    responses=error_responses(404),
)
async def list_invitations(project: ProjectName, caller: Manager) -> Any:
    """All but the links themselves, of which only hashes are kept; the newest first."""
    return await caller.read(lambda c: load_invitations(c, caller.load_project(c, project, "owner").id))


@router.post(
    "/projects/{project}/invitations",
    summary="Invite judges or viewers by a link",
    status_code=201,
    response_model=LinkResponse,
    responses=error_responses(404),
)
async def invite_to_project(project: ProjectName, request: Request, caller: Manager, body: InvitationRequest) -> Any:
    """Give a crowd link the parameters of the platform, such as `?PROLIFIC_PID={{%PROLIFIC_PID%}}`."""
    invite_by_caller = _inviting(caller)

    def work(connection: Connection) -> str:
        stored_project = caller.load_project(connection, project, "owner")
        is_crowd = body.kind == "crowd"
        uses = body.uses or (None if is_crowd else 1)
        if not is_crowd and uses != 1:
            raise UsageError(
                "named-link-uses",
                "a named link is for one person; a crowd link can be used by several",
                parameter="uses",
            )
        terms = body.model_dump() | {"project": stored_project.id, "uses": uses}
        for name in ("id_required", "one_account"):
            terms[name] = is_crowd if terms[name] is None else terms[name]
        return invite_by_caller(connection, **terms)

    page = "join" if body.kind == "crowd" else "welcome"
    return _link_response(caller, request, page, await caller.write(work))


@router.get(
    "/projects/{project}/completions",
    summary="Who got which completion code",
    response_model=list[CompletionResponse],
    responses=error_responses(404),
)
async def list_completions(project: ProjectName, caller: Manager) -> Any:
    """The newest first: a code that a worker pasted into a platform's page can be looked up here."""
    return await caller.read(lambda c: load_granted_codes(c, caller.load_project(c, project, "owner").id))


@router.delete(
    "/projects/{project}/invitations/{invitation}",
    summary="Withdraw a link",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def withdraw_invitation(project: ProjectName, invitation: RowId, caller: Manager) -> None:
    """Those who came by it stay."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        if invitation not in {link.id for link in load_invitations(connection, stored_project.id)}:
            raise NotFoundError(
                "no-such-invitation", f"there is no invitation {invitation} to '{stored_project.title}'"
            )
        revoke_invitation(connection, invitation, now=caller.now, project=stored_project.id, by=caller.person.id)

    await caller.write(work)


@router.post(
    "/invitations",
    summary="Invite one more owner",
    status_code=201,
    response_model=LinkResponse,
    responses=error_responses(),
)
async def invite_owner(request: Request, caller: Manager, body: OwnerInvitationRequest) -> Any:
    """An owner makes projects, and sees and manages everything."""
    secret = await caller.write(partial(_inviting(caller), role="owner", **body.model_dump()))
    return _link_response(caller, request, "welcome", secret)
