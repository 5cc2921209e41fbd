"""Who asks: the token in the header, whose it is, and what both may do.

A token never does more than its account may: its scope opens a door, and the account's role has to open the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ringtrue.errors import ForbiddenError
from ringtrue.service.store.audit_log import record_action
from ringtrue.service.store.sessions import SCOPES, authenticate_token
from ringtrue.service.web.auth.dependencies import guard, load_visible_project, make_role_error
from ringtrue.service.web.context import ServerContext, get_server_context

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Person, Project

T = TypeVar("T")
SCHEME = HTTPBearer(
    scheme_name="token",
    description="A token of the API, made on the page 'Tokens' or by `issue_token`. Its scopes: "
    + "; ".join(f"`{name}`: {meaning}" for name, meaning in SCOPES.items()),
    auto_error=False,
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(SCHEME)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose token it is, and what it may be used for."""

    server: ServerContext
    person: Person
    scopes: frozenset[str]
    now: float

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up, without holding up those who log in or judge."""
        return await self.server.read_overview(self.person.id, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.server.write(work)

    async def compute(self, work: Callable[[], T], *, share: Hashable = None) -> T:
        """Run something that takes seconds; refused with 429 where this account has too many of them in hand."""
        return await self.server.compute(self.person.id, work, share=share)

    def load_project(self, connection: Connection, name: str, *roles: str) -> Project:
        """A project, for somebody with one of these roles in it, or with any part in it where none is named."""
        project = load_visible_project(connection, self.person, name)
        if roles and not any(self.person.may(role, project.id) for role in roles):
            raise make_role_error(roles[0], project.title)
        return project

    def record(self, connection: Connection, action: str, *, project: int | None = None, **detail: object) -> None:
        """Write down that this account did something."""
        record_action(connection, action, now=self.now, account=self.person.id, project=project, detail=detail or None)

    async def record_separately(self, action: str, *, project: int | None = None, **detail: object) -> None:
        """The same, after work that has its own transaction; later where the database cannot be written."""
        await self.server.store.deferred.write(
            lambda connection: self.record(connection, action, project=project, **detail),
            description=f"account {self.person.id}: {action}",
        )

    async def fetch_project(self, name: str, *roles: str) -> Project:
        """The same, looked up by itself."""
        return await self.read(lambda connection: self.load_project(connection, name, *roles))


class UnknownTokenError(ForbiddenError):
    """Nobody is known by this header."""


def make_unknown_token_error() -> UnknownTokenError:
    """The refusal of a request without a token that is known."""
    return UnknownTokenError(
        "unknown-token",
        "expected a known token in the header 'Authorization: Bearer …'; it may be revoked or expired",
    )


def _authorise_token(connection: Connection, server: ServerContext, secret: str, scope: str | None) -> Caller:
    """Whose token this is; refused when nobody's, or when it may not be used for this."""
    now = server.clock()
    token_owner = authenticate_token(connection, secret, now)
    if token_owner is None:
        raise make_unknown_token_error()
    person, scopes = token_owner
    if scope is not None and scope not in scopes:
        raise ForbiddenError(
            "scope-needed",
            f"this token may not do this: it needs the scope '{scope}', and has {', '.join(sorted(scopes))}",
        )
    return Caller(server=server, person=person, scopes=scopes, now=now)


def _require_secret(credentials: HTTPAuthorizationCredentials | None) -> str:
    if credentials is None:
        raise make_unknown_token_error()
    return credentials.credentials


async def _require_caller(
    request: Request, credentials: HTTPAuthorizationCredentials | None, scope: str | None
) -> Caller:
    server, secret = get_server_context(request), _require_secret(credentials)
    caller = await server.read(lambda connection: _authorise_token(connection, server, secret, scope))
    request.state.account = caller.person.id
    return caller


@guard
async def require_token(request: Request, credentials: Credentials) -> Caller:
    """Anybody with a token."""
    return await _require_caller(request, credentials, None)


@guard
async def require_read_token(request: Request, credentials: Credentials) -> Caller:
    """Somebody whose token may read."""
    return await _require_caller(request, credentials, "read")


@guard
async def require_manage_token(request: Request, credentials: Credentials) -> Caller:
    """Somebody whose token may manage what is their own."""
    return await _require_caller(request, credentials, "manage")


@guard
async def require_owner_token(request: Request, credentials: Credentials) -> Caller:
    """An owner whose token may manage."""
    caller = await _require_caller(request, credentials, "manage")
    if not caller.person.owner:
        raise make_role_error("owner", "")
    return caller


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAccess:
    """A judge's token for the operations that are called all the time: looked up together with what is wanted."""

    server: ServerContext
    secret: str
    request: Request

    async def read(self, work: Callable[[Connection, Caller], T]) -> T:
        """Let in and look up."""
        return await self.server.read(lambda connection: work(connection, self._admit(connection)))

    async def write(self, work: Callable[[Connection, Caller], T]) -> T:
        """Let in and write, in one transaction; run again after a fault of the database, like all such work."""
        return await self.server.write(lambda connection: work(connection, self._admit(connection)))

    def _admit(self, connection: Connection) -> Caller:
        caller = _authorise_token(connection, self.server, self.secret, "judge")
        self.request.state.account = caller.person.id
        return caller


@guard
async def get_token_access(request: Request, credentials: Credentials) -> TokenAccess:
    """Somebody whose token may judge, checked inside each read and write."""
    return TokenAccess(server=get_server_context(request), secret=_require_secret(credentials), request=request)


Anybody = Annotated[Caller, Depends(require_token)]
Reader = Annotated[Caller, Security(require_read_token, scopes=["read"])]
AccountManager = Annotated[Caller, Security(require_manage_token, scopes=["manage"])]
Manager = Annotated[Caller, Security(require_owner_token, scopes=["manage"])]
TokenJudge = Annotated[TokenAccess, Security(get_token_access, scopes=["judge"])]
