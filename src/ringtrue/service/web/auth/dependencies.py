"""Who asks, and whether they may: every route takes one of these guards, or is declared public.

    @router.get("/p/{project}/progress")
    async def progress(request: Request, here: Annotated[Here, Depends(viewer_of)]) -> Response: ...

A guard looks up who is logged in, the project that the address names and the role in it. For everything but GET it
also reads the form and compares its `csrf` with the one of the login, so a handler that runs was meant to. Handlers
take the form from `here.form`, never by FastAPI's Form(): that would read a stranger's upload before asking who it is.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from fastapi import Request
from starlette.datastructures import FormData

from ringtrue.errors import ForbiddenError, NotFoundError
from ringtrue.service.store.access import visitor
from ringtrue.service.store.projects import project_named
from ringtrue.service.web.auth.route_guards import guard, public, unguarded
from ringtrue.service.web.context import Site, site_of
from ringtrue.service.web.security import allow, form_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Person, Project

__all__ = [
    "Gate",
    "Here",
    "SignedOutError",
    "StaleFormError",
    "guard",
    "judge_gate",
    "member_of",
    "owner_of",
    "owner_only",
    "owner_uploading",
    "owner_uploading_to",
    "public",
    "secret_in",
    "signed_in",
    "unguarded",
    "viewer_of",
    "visitor_or_none",
]

T = TypeVar("T")
SAFE = ("GET", "HEAD", "OPTIONS")


class SignedOutError(ForbiddenError):
    """Nobody is logged in, or not any more: the page to log in is shown, and what was sent is kept on it."""

    def __init__(self) -> None:
        super().__init__("you are not logged in, or not any more; log in first")


class StaleFormError(ForbiddenError):
    """A form without the right `csrf`: of another login, or of another site."""

    def __init__(self) -> None:
        super().__init__("this form is of an earlier visit; load the page again, and send it once more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The one who asks, and where: what a guard hands to the page."""

    site: Site
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
            raise ForbiddenError(_needs(role, self.project))

    def text(self, name: str, default: str = "") -> str:
        """A field of the form that is a text."""
        value = self.form.get(name, default)
        return value if isinstance(value, str) else default

    def drawn(self, *what: object) -> str:
        """A secret for what this form makes: the same one when the very same form is sent again, by loading it again.

        The form's field `once` was drawn by lot for the page that it is on.
        """
        once = self.text("once")
        if not once:
            return secrets.token_urlsafe(32)
        words = json.dumps(["once", self.csrf, once, *what]).encode()
        return urlsafe_b64encode(hmac.digest(self.site.secret, words, "sha256")).decode().rstrip("=")

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up, without holding up anybody else."""
        return await self.site.read(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return await self.site.write(work)


@guard
async def signed_in(request: Request) -> Here:
    """Anybody who is logged in."""
    return await _admitted(request)


@guard
async def owner_only(request: Request) -> Here:
    """An owner of this server, where the address names no project."""
    return await _admitted(request, "owner")


@guard
async def owner_uploading(request: Request) -> Here:
    """The same, for forms with files."""
    return await _admitted(request, "owner", uploads=True)


@guard
async def owner_of(request: Request) -> Here:
    """An owner, in a project."""
    return await _admitted(request, "owner", in_project=True)


@guard
async def owner_uploading_to(request: Request) -> Here:
    """The same, for forms with files."""
    return await _admitted(request, "owner", in_project=True, uploads=True)


@guard
async def viewer_of(request: Request) -> Here:
    """Somebody who may see how a project goes: a viewer, or an owner."""
    return await _admitted(request, "viewer", in_project=True)


@guard
async def member_of(request: Request) -> Here:
    """Somebody with any part in a project."""
    return await _admitted(request, "judge", "gold", "viewer", in_project=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A judge's, for the pages that are asked for all the time: who it is is looked up together with what is wanted.

    The form was read already, and is believed only inside `read` and `write`: both begin with the check of login,
    role and csrf, in the same transaction as the work.
    """

    site: Site
    request: Request
    secret: str
    form: FormData

    async def read(self, work: Callable[[Connection, Here], T]) -> T:
        """Let in and look up."""
        return await self.site.read(lambda connection: work(connection, self._admit(connection)))

    async def write(self, work: Callable[[Connection, Here], T]) -> T:
        """Let in and write, in one transaction; run again after a fault of the database, like all such work."""
        return await self.site.write(lambda connection: work(connection, self._admit(connection)))

    def _admit(self, connection: Connection) -> Here:
        here = _found(connection, self.request, self.site, self.secret, ("judge", "gold"), in_project=True)
        return _checked(self.request, here, self.form)


@guard
async def judge_gate(request: Request) -> Gate:
    """Somebody who judges in a project, asked at the gate."""
    site = site_of(request)
    secret = _secret(request, site)
    form = FormData() if request.method in SAFE else await form_of(request)
    return Gate(site=site, request=request, secret=secret, form=form)


async def visitor_or_none(request: Request) -> Here | None:
    """Whoever is logged in, on pages that are public; None for nobody."""
    site = site_of(request)
    try:
        secret = _secret(request, site)
        return await site.read(lambda connection: _found(connection, request, site, secret, (), in_project=False))
    except SignedOutError:
        return None


async def _admitted(request: Request, *roles: str, in_project: bool = False, uploads: bool = False) -> Here:
    site = site_of(request)
    secret = _secret(request, site)
    here = await site.read(lambda connection: _found(connection, request, site, secret, roles, in_project=in_project))
    if request.method in SAFE:
        return here
    if uploads:
        allow(request, site.upload_limit)
    return _checked(request, here, await form_of(request))


def secret_in(request: Request, site: Site) -> str | None:
    """The secret in the cookie of a login, where it carries our signature."""
    cookie = request.cookies.get(site.cookie)
    return None if cookie is None else site.unsigned(cookie, "login")


def _secret(request: Request, site: Site) -> str:
    secret = secret_in(request, site)
    if secret is None:
        raise SignedOutError
    return secret


def _found(
    connection: Connection, request: Request, site: Site, secret: str, roles: tuple[str, ...], *, in_project: bool
) -> Here:
    now = site.clock()
    found = visitor(connection, secret, now)
    if found is None:
        raise SignedOutError
    person, csrf = found
    project = None
    if in_project:
        name = request.path_params["project"]
        project = project_named(connection, name.replace("\x00", "?"))  # which no database takes
        if not person.owner and not person.roles.get(project.id):
            raise NotFoundError(f"there is no project '{name}'")  # in the same words, so that names cannot be guessed
    here = Here(site=site, person=person, csrf=csrf, secret=secret, now=now, project_or_none=project)
    request.state.here = here
    if roles and not any(person.owner if role == "owner" else project and here.may(role) for role in roles):
        raise ForbiddenError(_needs(roles[0], project))
    return here


def _needs(role: str, project: Project | None) -> str:
    if role == "owner":
        return "only an owner may do this; ask one to do it for you"
    who = {"judge": "judges of", "gold": "gold judges of", "viewer": "viewers and owners of"}[role]
    where = "this project" if project is None else f"'{project.title}'"
    return f"this is for {who} {where}; ask an owner for an invitation"


def _checked(request: Request, here: Here, form: FormData) -> Here:
    if request.method not in SAFE:
        sent = form.get("csrf") or request.headers.get("x-csrf-token", "")
        if not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), here.csrf.encode()):
            raise StaleFormError
    return Here(
        site=here.site, person=here.person, csrf=here.csrf, secret=here.secret, now=here.now,
        project_or_none=here.project_or_none, form=form,
    )  # fmt: skip
