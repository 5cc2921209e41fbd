"""Who asks, and whether they may: every route takes one of these guards, or is declared public.

    @router.get("/p/{project}/progress")
    async def progress(request: Request, context: Viewer) -> Response: ...

A guard looks up who is logged in, the project that the address names and the role in it. For everything but GET it
also reads the form and compares its `csrf` with the one of the login, so a handler that runs was meant to. Handlers
take the form from `context.form`, never by FastAPI's Form(): that would read a stranger's upload before asking who
it is.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.routing import Mount

from ringtrue.errors import ForbiddenError, NotFoundError
from ringtrue.service.store.projects import get_project_by_name
from ringtrue.service.store.sessions import authenticate_login
from ringtrue.service.web.auth.read_only_login import (
    PREFIX as READ_ONLY_PREFIX,
    authenticate_read_only_login,
    has_read_only_login_ended,
)
from ringtrue.service.web.context import ServerContext, get_server_context
from ringtrue.service.web.origins import SAFE_METHODS
from ringtrue.service.web.security import allow_large_body, read_form

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Person, Project

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
GUARDS: set[Callable[..., Any]] = set()
PUBLIC: set[Callable[..., Any]] = set()


def guard(function: F) -> F:
    """Declare a dependency to be one that lets in only those who may."""
    GUARDS.add(function)
    return function


def public(endpoint: F) -> F:
    """Declare a route to be for everybody."""
    PUBLIC.add(endpoint)
    return endpoint


class SignedOutError(ForbiddenError):
    """Nobody is logged in, or not any more: the page to log in is shown, and what was sent is kept on it."""


class StaleFormError(ForbiddenError):
    """A form without the right `csrf`: of another login, or of another site."""


def make_signed_out_error() -> SignedOutError:
    """The refusal of somebody who is not logged in."""
    return SignedOutError("not-logged-in", "log in, or send a token: Authorization: Bearer …")


def make_stale_form_error() -> StaleFormError:
    """The refusal of a form of another login."""
    return StaleFormError("form-expired", "this form has expired: reload the page and submit again")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """The one who asks, and where: what a guard hands to the page."""

    server: ServerContext
    person: Person
    csrf: str
    secret: str
    now: float
    project_or_none: Project | None = None
    form: FormData = field(default_factory=FormData)

    @property
    def project(self) -> Project:
        """The project that the address names."""
        assert self.project_or_none is not None, "this guard is for addresses without a project"
        return self.project_or_none

    def may(self, role: str) -> bool:
        """Whether the person has a role in this project."""
        return self.person.may(role, self.project.id)

    def require(self, role: str) -> None:
        """Refuse a person without this role."""
        if not self.may(role):
            raise make_role_error(role, self.project.title)

    def text(self, name: str, default: str = "") -> str:
        """A field of the form that is a text."""
        submitted = self.form.get(name, default)
        return submitted if isinstance(submitted, str) else default

    def derive_secret(self, *parts: object) -> str:
        """A secret for what this form makes: the same one when the very same form is sent again, by loading it again.

        The form's field `once` was drawn by lot for the page that it is on.
        """
        form_nonce = self.text("once")
        if not form_nonce:
            return secrets.token_urlsafe(32)
        payload = json.dumps(["once", self.csrf, form_nonce, *parts]).encode()
        return urlsafe_b64encode(hmac.digest(self.server.secret, payload, "sha256")).decode().rstrip("=")

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up, without holding up those who log in or judge."""
        return await self.server.read_overview(self.person.id, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.server.write(work)

    async def compute(self, work: Callable[[], T], *, share: Hashable = None) -> T:
        """Run something that takes seconds; refused with 429 where this account has too many of them in hand."""
        return await self.server.compute(self.person.id, work, share=share)


@guard
async def require_login(request: Request) -> RequestContext:
    """Anybody who is logged in."""
    return await _admit_visitor(request)


@guard
async def require_server_owner(request: Request) -> RequestContext:
    """An owner of this server, where the address names no project."""
    return await _admit_visitor(request, "owner")


@guard
async def require_server_owner_upload(request: Request) -> RequestContext:
    """The same, for forms with files."""
    return await _admit_visitor(request, "owner", uploads=True)


@guard
async def require_project_owner(request: Request) -> RequestContext:
    """An owner, in a project."""
    return await _admit_visitor(request, "owner", in_project=True)


@guard
async def require_project_owner_upload(request: Request) -> RequestContext:
    """The same, for forms with files."""
    return await _admit_visitor(request, "owner", in_project=True, uploads=True)


@guard
async def require_viewer(request: Request) -> RequestContext:
    """Somebody who may see how a project goes: a viewer, or an owner."""
    return await _admit_visitor(request, "viewer", in_project=True)


@guard
async def require_member(request: Request) -> RequestContext:
    """Somebody with any part in a project."""
    return await _admit_visitor(request, "judge", "gold", "viewer", in_project=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAccess:
    """A judge's access to the pages asked for all the time: who it is is looked up together with what is wanted.

    The form was read already, and is believed only inside `read` and `write`: both begin with the check of login,
    role and csrf, in the same transaction as the work.
    """

    server: ServerContext
    request: Request
    secret: str
    form: FormData

    async def read(self, work: Callable[[Connection, RequestContext], T]) -> T:
        """Let in and look up."""
        return await self.server.read(lambda connection: work(connection, self._admit(connection)))

    async def write(self, work: Callable[[Connection, RequestContext], T]) -> T:
        """Let in and write, in one transaction; run again after a fault of the database, like all such work."""
        return await self.server.write(lambda connection: work(connection, self._admit(connection)))

    def _admit(self, connection: Connection) -> RequestContext:
        context = _load_context(connection, self.request, self.server, self.secret, ("judge", "gold"), in_project=True)
        return _with_checked_form(self.request, context, self.form)


@guard
async def get_judge_access(request: Request) -> JudgeAccess:
    """Somebody who judges in a project, checked inside each read and write."""
    server = get_server_context(request)
    secret = await _require_session_secret(request, server)
    form = FormData() if request.method in SAFE_METHODS else await read_form(request)
    return JudgeAccess(server=server, request=request, secret=secret, form=form)


async def get_context_or_none(request: Request) -> RequestContext | None:
    """Whoever is logged in, on pages that are public; None for nobody."""
    server = get_server_context(request)
    try:
        secret = await _require_session_secret(request, server)
        return await server.read(
            lambda connection: _load_context(connection, request, server, secret, (), in_project=False)
        )
    except SignedOutError:
        return None


SignedIn: TypeAlias = Annotated[RequestContext, Depends(require_login)]
Visitor: TypeAlias = Annotated[RequestContext | None, Depends(get_context_or_none)]
ServerOwner: TypeAlias = Annotated[RequestContext, Depends(require_server_owner)]
ServerOwnerUpload: TypeAlias = Annotated[RequestContext, Depends(require_server_owner_upload)]
ProjectOwner: TypeAlias = Annotated[RequestContext, Depends(require_project_owner)]
ProjectOwnerUpload: TypeAlias = Annotated[RequestContext, Depends(require_project_owner_upload)]
Viewer: TypeAlias = Annotated[RequestContext, Depends(require_viewer)]
Member: TypeAlias = Annotated[RequestContext, Depends(require_member)]
SessionJudge: TypeAlias = Annotated[JudgeAccess, Depends(get_judge_access)]


async def _admit_visitor(
    request: Request, *roles: str, in_project: bool = False, uploads: bool = False
) -> RequestContext:
    server = get_server_context(request)
    secret = await _require_session_secret(request, server)
    context = await server.read(
        lambda connection: _load_context(connection, request, server, secret, roles, in_project=in_project)
    )
    if request.method in SAFE_METHODS:
        return context
    if uploads:
        allow_large_body(request, server.upload_limit)
    return _with_checked_form(request, context, await read_form(request))


def read_session_secret(request: Request, server: ServerContext) -> str | None:
    """The secret in the cookie of a login, where it carries our signature."""
    cookie = request.cookies.get(server.session_cookie)
    return None if cookie is None else server.unsign(cookie, "login")


async def _require_session_secret(request: Request, server: ServerContext) -> str:
    secret = read_session_secret(request, server)
    if secret is None or secret in server.ended_sessions or await has_read_only_login_ended(server, secret):
        raise make_signed_out_error()
    return secret


def _load_context(
    connection: Connection,
    request: Request,
    server: ServerContext,
    secret: str,
    roles: tuple[str, ...],
    *,
    in_project: bool,
) -> RequestContext:
    now = server.clock()
    if secret.startswith(READ_ONLY_PREFIX):
        session = authenticate_read_only_login(connection, server, secret)
    else:
        session = authenticate_login(connection, secret, now)
    if session is None:
        raise make_signed_out_error()
    person, csrf = session
    project = load_visible_project(connection, person, request.path_params["project"]) if in_project else None
    context = RequestContext(server=server, person=person, csrf=csrf, secret=secret, now=now, project_or_none=project)
    request.state.context, request.state.account = context, person.id
    if roles and not any(person.owner if role == "owner" else project and context.may(role) for role in roles):
        raise make_role_error(roles[0], "" if project is None else project.title)
    return context


def load_visible_project(connection: Connection, person: Person, name: str) -> Project:
    """A project in which somebody has a part; to others it looks like one that does not exist."""
    project = get_project_by_name(connection, name.replace("\x00", "?"))  # which no database takes
    if not person.owner and not person.roles.get(project.id):
        raise NotFoundError(
            "no-such-project", f"there is no project '{name}'"
        )  # in the same words, so that names cannot be guessed
    return project


def make_role_error(role: str, title: str) -> ForbiddenError:
    """What somebody is told who does not have this role in a project."""
    if role == "owner":
        return ForbiddenError("owner-needed", "only an owner may do this; ask one to do it for you")
    audience = {"judge": "judges of", "gold": "gold judges of", "viewer": "viewers and owners of"}[role]
    return ForbiddenError("role-needed", f"this is for {audience} '{title}'; ask an owner for an invitation")


def _with_checked_form(request: Request, context: RequestContext, form: FormData) -> RequestContext:
    if request.method not in SAFE_METHODS:
        token = form.get("csrf") or request.headers.get("x-csrf-token", "")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), context.csrf.encode()):
            raise make_stale_form_error()
    return replace(context, form=form)


def list_unguarded_routes(app: FastAPI) -> list[str]:
    """The routes that have no guard and are not declared public: there should be none."""
    return [name for name, route in _walk_routes(app.routes) if not _is_guarded(route)]


def _walk_routes(routes: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for route in routes:
        included = getattr(route, "original_router", None)  # how FastAPI keeps a router that was included
        if included is not None:
            yield from _walk_routes(included.routes, prefix)
        elif isinstance(route, Mount) and route.routes:
            yield from _walk_routes(route.routes, prefix + route.path)
        else:
            methods = ",".join(sorted(getattr(route, "methods", None) or ()))
            yield f"{methods} {prefix}{getattr(route, 'path', route)}".strip(), route


def _is_guarded(route: Any) -> bool:
    if isinstance(route, Mount):
        return route.path == "/static"
    if getattr(route, "endpoint", None) in PUBLIC | GUARDS:
        return True
    if not isinstance(route, APIRoute):  # FastAPI's own: the description of the API
        return getattr(route, "path", None) == "/openapi.json" and getattr(route, "name", None) == "openapi"
    return any(dependency.call in GUARDS for dependency in _walk_dependencies(route.dependant))


def _walk_dependencies(dependant: Any) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency
        yield from _walk_dependencies(dependency)
