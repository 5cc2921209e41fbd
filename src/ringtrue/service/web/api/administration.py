"""The server itself: who asks, tokens, what was done, and the backup."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator, Field, StringConstraints

from ringtrue.errors import ForbiddenError
from ringtrue.service.store.audit_log import AuditEntry, load_audit_entries
from ringtrue.service.store.projects import load_projects
from ringtrue.service.store.sessions import Token, issue_token, load_tokens, revoke_token
from ringtrue.service.web.api.schemas import (
    Days,
    ProjectName,
    QueryParams,
    RequestModel,
    ResponseModel,
    RowId,
    error_responses,
    fields_of,
)
from ringtrue.service.web.auth.token_auth import AccountManager, Anybody, Manager
from ringtrue.service.web.downloads import ZIP, send_backup
from ringtrue.service.web.responses import describe_download

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["server"])
Scope = Literal["judge", "read", "manage"]


class WhoamiResponse(ResponseModel):
    """The account of the token that was sent, and what both may do; `roles` by the name of the project."""

    id: int
    handle: str
    name: str | None
    owner: bool
    scopes: list[Scope]
    roles: dict[str, list[str]]


class TokenRequest(RequestModel):
    """A new token of the same account: what it is for, and what it may do, which is no more than this one may."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    days: Days | None = 90


class NewTokenResponse(ResponseModel):
    """The token, which is told once."""

    token: str


@fields_of(Token)
class TokenResponse(ResponseModel):
    """A token, all but the secret."""

    scopes: Annotated[list[Scope], BeforeValidator(sorted)]


class AuditParams(QueryParams):
    """Which part of the record is wanted."""

    project: Annotated[ProjectName | None, Field(description="Of one project alone.")] = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 200


@fields_of(AuditEntry)
class AuditEntryResponse(ResponseModel):
    """One line of the record; `handle` is the account that acted, null where nobody was logged in."""

    detail: dict[str, Any]


@router.get("/whoami", summary="Whose token this is", response_model=WhoamiResponse, responses=error_responses())
async def whoami(caller: Anybody) -> Any:
    """And what it may do."""
    names = await caller.read(lambda connection: {project.id: project.name for project in load_projects(connection)})
    person = caller.person
    roles = {
        names[project_id]: sorted(project_roles)
        for project_id, project_roles in person.roles.items()
        if project_id in names
    }
    return {
        "id": person.id,
        "handle": person.handle,
        "name": person.name,
        "owner": person.owner,
        "scopes": sorted(caller.scopes),
        "roles": roles,
    }


@router.get(
    "/tokens", summary="The tokens of the account", response_model=list[TokenResponse], responses=error_responses()
)
async def list_tokens(caller: AccountManager) -> Any:
    """The newest first."""
    return await caller.read(lambda connection: load_tokens(connection, caller.person.id))


@router.post(
    "/tokens", summary="Issue a token", status_code=201, response_model=NewTokenResponse, responses=error_responses()
)
async def make_token(caller: AccountManager, body: TokenRequest) -> Any:
    """It belongs to the same account, and may do no more than the token that asks for it."""
    missing_scopes = set(body.scopes) - caller.scopes
    if missing_scopes:
        raise ForbiddenError(
            "scope-not-held",
            f"this token has no scope '{sorted(missing_scopes)[0]}', so it cannot give it to another",
            parameter="scopes",
        )
    secret, account = secrets.token_urlsafe(32), caller.person.id

    def work(connection: Connection) -> str:
        return issue_token(
            connection,
            account,
            name=body.name,
            scopes=body.scopes,
            now=caller.now,
            days=body.days,
            secret=secret,
            by=account,
        )

    return {"token": await caller.write(work)}


@router.delete(
    "/tokens/{token}",
    summary="Revoke a token",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def revoke_a_token(token: RowId, caller: AccountManager) -> None:
    """It is useless from now on, also where it is this one."""
    await caller.write(lambda c: revoke_token(c, token, account=caller.person.id, now=caller.now))


@router.get("/audit", summary="What was done", response_model=list[AuditEntryResponse], responses=error_responses(404))
async def audit(caller: Manager, which: Annotated[AuditParams, Query()]) -> Any:
    """The newest first; nothing personal is written down."""

    def load(connection: Connection) -> Any:
        project_id = None if which.project is None else caller.load_project(connection, which.project, "owner").id
        return load_audit_entries(connection, project_id, which.limit)

    return await caller.read(load)


@router.get(
    "/backup",
    summary="The whole database in one file",
    response_class=Response,
    responses=error_responses() | describe_download(ZIP),
)
async def backup(caller: Manager) -> Response:
    """As of one moment; judges go on meanwhile. `ringtrue serve --restore` reads it into an empty database."""
    response = await send_backup(caller, name="ringtrue-backup.zip")
    await caller.record_separately("back up")
    return response
