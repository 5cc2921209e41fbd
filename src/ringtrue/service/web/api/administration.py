"""The server itself: who asks, tokens, what was done, and the backup."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.errors import ForbiddenError
from ringtrue.service.store.access import issue_token, revoke_token, tokens
from ringtrue.service.store.audit_log import entries
from ringtrue.service.store.projects import projects
from ringtrue.service.web.api.people import Days
from ringtrue.service.web.api.schemas.common import Answering, Asking, Choosing, Moment, Name, Number, faults
from ringtrue.service.web.api.token_auth import Anybody, Keeper, Manager
from ringtrue.service.web.downloads import as_download, made_in_folder, sent_file

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(tags=["server"])
Scope = Literal["judge", "read", "manage"]
ZIP = "application/zip"


class Whoami(Answering):
    """The account of the token that was sent, and what both may do; `roles` by the name of the project."""

    id: int
    handle: str
    name: str | None
    owner: bool
    scopes: list[Scope]
    roles: dict[str, list[str]]


class TokenRequest(Asking):
    """A new token of the same account: what it is for, and what it may do, which is no more than this one may."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    days: Days | None = 90


class TokenMade(Answering):
    """The token, which is told once."""

    token: str


class TokenShown(Answering):
    """A token, all but the secret."""

    id: int
    name: str
    scopes: list[Scope]
    created: Moment
    expires: Moment | None
    revoked: Moment | None


class WhichEntries(Choosing):
    """Which part of the record is wanted."""

    project: Annotated[Name | None, Field(description="Of one project alone.")] = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 200


class AuditEntry(Answering):
    """One line of the record; `handle` is the account that acted, null where nobody was logged in."""

    time: Moment
    action: str
    handle: str | None
    project: str | None
    detail: dict[str, Any]


@router.get("/whoami", summary="Whose token this is", response_model=Whoami, responses=faults())
async def whoami(caller: Anybody) -> Any:
    """And what it may do."""
    names = await caller.read(lambda connection: {one.id: one.name for one in projects(connection)})
    person = caller.person
    roles = {names[at]: sorted(some) for at, some in person.roles.items() if at in names}
    return {
        "id": person.id, "handle": person.handle, "name": person.name, "owner": person.owner,
        "scopes": sorted(caller.scopes), "roles": roles,
    }  # fmt: skip


@router.get("/tokens", summary="The tokens of the account", response_model=list[TokenShown], responses=faults())
async def list_tokens(caller: Keeper) -> Any:
    """The newest first."""
    found = await caller.read(lambda connection: tokens(connection, caller.person.id))
    return [
        {
            "id": one.id, "name": one.name, "scopes": sorted(one.scopes), "created": one.created,
            "expires": one.expires, "revoked": one.revoked,
        }
        for one in found
    ]  # fmt: skip


@router.post("/tokens", summary="Issue a token", status_code=201, response_model=TokenMade, responses=faults())
async def make_token(caller: Keeper, wanted: TokenRequest) -> Any:
    """It belongs to the same account, and may do no more than the token that asks for it."""
    more = set(wanted.scopes) - caller.scopes
    if more:
        raise ForbiddenError(f"this token has no scope '{sorted(more)[0]}', so it cannot give it to another")
    secret, me = secrets.token_urlsafe(32), caller.person.id

    def issued(connection: Connection) -> str:
        return issue_token(
            connection, me, name=wanted.name, scopes=wanted.scopes, now=caller.now, days=wanted.days, secret=secret,
            by=me,
        )  # fmt: skip

    return {"token": await caller.write(issued)}


@router.delete(
    "/tokens/{token}", summary="Revoke a token", status_code=204, response_class=Response, responses=faults(404)
)
async def revoke_a_token(token: Number, caller: Keeper) -> Response:
    """It is useless from now on, also where it is this one."""
    await caller.write(lambda c: revoke_token(c, token, account=caller.person.id, now=caller.now))
    return Response(status_code=204)


@router.get("/audit", summary="What was done", response_model=list[AuditEntry], responses=faults(404))
async def audit(caller: Manager, which: Annotated[WhichEntries, Query()]) -> Any:
    """The newest first; nothing personal is written down."""

    def found(connection: Connection) -> Any:
        at = None if which.project is None else caller.project(connection, which.project, "owner").id
        return entries(connection, at, which.limit)

    return await caller.read(found)


@router.get("/backup", summary="The whole database in one file", response_class=Response,
            responses=faults() | as_download(ZIP))  # fmt: skip
async def backup(caller: Manager) -> Response:
    """As of one moment; judges go on meanwhile. `ringtrue serve --restore` reads it into an empty database."""
    from ringtrue.service.store.backup import write_backup

    def made(folder: Path) -> Path:
        path = folder / "ringtrue-backup.zip"
        write_backup(caller.site.store, path, now=caller.now)
        return path

    path = await made_in_folder(caller.site, made)
    await caller.note("back up")
    return sent_file(path, name=path.name, media_type=ZIP)
