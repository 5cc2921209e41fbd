"""Who asks: the token in the header, whose it is, and what both may do.

A token never does more than its account may: its scope opens a door, and the account's role has to open the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ringtrue.errors import ForbiddenError, NotFoundError
from ringtrue.service.store.access import SCOPES, bearer
from ringtrue.service.store.audit_log import record
from ringtrue.service.store.projects import project_named
from ringtrue.service.web.auth.dependencies import guard
from ringtrue.service.web.context import Site, site_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Person, Project

__all__ = [
    "Anybody",
    "Caller",
    "JudgeGate",
    "Keeper",
    "Manager",
    "Reader",
    "TokenGate",
    "UnknownTokenError",
    "admitted",
    "judge_token",
    "not_for_you",
]

T = TypeVar("T")
SCHEME = HTTPBearer(
    scheme_name="token",
    description="A token of the API, made on the page 'Tokens' or by `issue_token`. Its scopes: "
    + "; ".join(f"`{name}`: {what}" for name, what in SCOPES.items()),
    auto_error=False,
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(SCHEME)]
ROLES = {"judge": "judges of", "gold": "gold judges of", "viewer": "viewers and owners of"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose token it is, and what it may be used for."""

    site: Site
    person: Person
    scopes: frozenset[str]
    now: float

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up, without holding up anybody else."""
        return await self.site.read(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.site.write(work)

    def project(self, connection: Connection, name: str, *roles: str) -> Project:
        """A project, for somebody with one of these roles in it, or with any part in it where none is named."""
        found = project_named(connection, name)
        if not self.person.owner and not self.person.roles.get(found.id):
            raise NotFoundError(f"there is no project '{name}'")  # in the same words, so that names cannot be guessed
        if roles and not any(self.person.may(role, found.id) for role in roles):
            raise not_for_you(roles[0], found.title)
        return found

    def record(self, connection: Connection, action: str, *, project: int | None = None, **detail: object) -> None:
        """Write down that this account did something."""
        record(connection, action, now=self.now, account=self.person.id, project=project, detail=detail or None)

    async def note(self, action: str, *, project: int | None = None, **detail: object) -> None:
        """The same, after work that has its own transaction."""
        await self.write(lambda connection: self.record(connection, action, project=project, **detail))

    async def project_named(self, name: str, *roles: str) -> Project:
        """The same, looked up by itself."""
        return await self.read(lambda connection: self.project(connection, name, *roles))


def not_for_you(role: str, title: str) -> ForbiddenError:
    """What somebody is told who does not have this role."""
    if role == "owner":
        return ForbiddenError("only an owner may do this; ask one to do it for you")
    return ForbiddenError(f"this is for {ROLES[role]} '{title}'; ask an owner for an invitation")


class UnknownTokenError(ForbiddenError):
    """Nobody is known by this header."""

    def __init__(self) -> None:
        super().__init__(
            "expected a token that is known here, in the header 'Authorization: Bearer …'; it may be revoked or too old"
        )


def admitted(connection: Connection, site: Site, secret: str, scope: str | None) -> Caller:
    """Whose token this is; refused when nobody's, or when it may not be used for this."""
    now = site.clock()
    found = bearer(connection, secret, now)
    if found is None:
        raise UnknownTokenError
    person, scopes = found
    if scope is not None and scope not in scopes:
        raise ForbiddenError(
            f"this token may not do this: it needs the scope '{scope}', and has {', '.join(sorted(scopes))}"
        )
    return Caller(site=site, person=person, scopes=scopes, now=now)


async def _asked(request: Request, credentials: HTTPAuthorizationCredentials | None, scope: str | None) -> Caller:
    if credentials is None:
        raise UnknownTokenError
    site, secret = site_of(request), credentials.credentials
    return await site.read(lambda connection: admitted(connection, site, secret, scope))


@guard
async def any_token(request: Request, credentials: Credentials) -> Caller:
    """Anybody with a token."""
    return await _asked(request, credentials, None)


@guard
async def read_token(request: Request, credentials: Credentials) -> Caller:
    """Somebody whose token may read."""
    return await _asked(request, credentials, "read")


@guard
async def keeper_token(request: Request, credentials: Credentials) -> Caller:
    """Somebody whose token may manage what is their own."""
    return await _asked(request, credentials, "manage")


@guard
async def owner_token(request: Request, credentials: Credentials) -> Caller:
    """An owner whose token may manage."""
    caller = await _asked(request, credentials, "manage")
    if not caller.person.owner:
        raise not_for_you("owner", "")
    return caller


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGate:
    """A judge's token for the operations that are called all the time: looked up together with what is wanted."""

    site: Site
    secret: str

    async def read(self, work: Callable[[Connection, Caller], T]) -> T:
        """Let in and look up."""
        return await self.site.read(lambda connection: work(connection, self._admit(connection)))

    async def write(self, work: Callable[[Connection, Caller], T]) -> T:
        """Let in and write, in one transaction; run again after a fault of the database, like all such work."""
        return await self.site.write(lambda connection: work(connection, self._admit(connection)))

    def _admit(self, connection: Connection) -> Caller:
        return admitted(connection, self.site, self.secret, "judge")


@guard
async def judge_token(request: Request) -> TokenGate:
    """Somebody whose token may judge, asked at the gate."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret:
        raise UnknownTokenError
    return TokenGate(site=site_of(request), secret=secret.strip())


Anybody = Annotated[Caller, Depends(any_token)]
Reader = Annotated[Caller, Security(read_token, scopes=["read"])]
Keeper = Annotated[Caller, Security(keeper_token, scopes=["manage"])]
Manager = Annotated[Caller, Security(owner_token, scopes=["manage"])]
JudgeGate = Annotated[TokenGate, Depends(judge_token)]
