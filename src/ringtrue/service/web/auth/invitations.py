"""Links: the first owner's, invitations, new passwords, and those that a crowd platform gives to its workers.

Looking at a link changes nothing, for browsers and chat programs look at links before people do; the button does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store.invitations import Invitation, accept_invitation, invitation_of, require_room
from ringtrue.service.store.projects import project_by_id
from ringtrue.service.web.auth.anonymous_forms import open_form, render_open, without_nul
from ringtrue.service.web.auth.dependencies import Here, public, visitor_or_none
from ringtrue.service.web.auth.login import start_visit, with_login
from ringtrue.service.web.auth.password_hashing import SHORTEST, hash_password, require_good
from ringtrue.service.web.context import Site, site_of
from ringtrue.service.web.render import see_other
from ringtrue.service.web.safe_html import guidelines_as_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection
    from starlette.datastructures import FormData

    from ringtrue.service.store.records import Project

__all__ = ["router", "worker_in"]

router = APIRouter(include_in_schema=False)
Visitor = Annotated[Here | None, Depends(visitor_or_none)]

# What Prolific and Amazon Mechanical Turk put into their links.
PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "workerId", "assignmentId", "hitId")
PREVIEW = ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")
LONGEST = 200


@router.get("/welcome/{secret}")
@public
async def welcome_page(request: Request, secret: str, here: Visitor) -> Response:
    """What an invitation is for, and the form that accepts it."""
    found, project = await _invitation(site_of(request), secret, "named")
    return _welcome(request, found, project, here)


@router.post("/welcome/{secret}")
@public
async def welcome(request: Request, secret: str, here: Visitor) -> Response:
    """Accept an invitation with a new account, or with the one that is logged in."""
    site, form = site_of(request), await open_form(request)
    found, project = await _invitation(site, secret, "named")
    known = here.person.id if here is not None and form.get("as") == "me" and found.role != "reset" else None
    name, handle, password = (_text(form, field) for field in ("name", "handle", "password"))
    try:
        stored = None
        if known is None:
            if found.role != "reset" and not name:
                raise UsageError("say your name: it is shown to the owners of the project, and to nobody else")
            require_good(password, handle=handle, name=name)
            if password != str(form.get("again", "")):
                raise UsageError("the two passwords differ; write the same one twice")
            stored = await site.compute(lambda: hash_password(password))
        account = await site.write(
            lambda c: accept_invitation(
                c, secret, now=site.clock(), account=known, name=name, handle=handle or None, password=stored
            )
        )
    except (UsageError, ConflictError) as error:
        return _welcome(request, found, project, here, problem=str(error), name=name, handle=handle)
    if known is not None:
        return see_other("/")
    visit, _ = await start_visit(request, site, account)
    return with_login(see_other("/?new=1"), site, visit)


def _welcome(
    request: Request, found: Invitation, project: Project | None, here: Here | None, *, problem: str | None = None,
    name: str = "", handle: str = "",
) -> Response:  # fmt: skip
    return render_open(
        request, "welcome.html", status=422 if problem else 200, invitation=found, project=project, problem=problem,
        name=name, handle=handle, shortest=SHORTEST, me=None if found.role == "reset" else here,
    )  # fmt: skip


@router.get("/join/{secret}")
@public
async def join_page(request: Request, secret: str, here: Visitor) -> Response:
    """What the work is, and a button that begins it."""
    site, given = site_of(request), _parameters(request.query_params)
    found, project = await _invitation(site, secret, "crowd")
    preview = given.get(PREVIEW[0]) == PREVIEW[1]
    if not preview:
        known = None if here is None else here.person.id
        await site.read(lambda c: require_room(c, found, account=known, worker=worker_in(given)))
    assert project is not None  # a crowd link belongs to one
    return render_open(
        request, "join.html", project=project, parameters=given, preview=preview, me=here,
        guidelines=guidelines_as_html(project.guidelines),
    )  # fmt: skip


@router.post("/join/{secret}")
@public
async def join(request: Request, secret: str, here: Visitor) -> Response:
    """Begin: with the account that this worker had before, or with a new one."""
    site, form = site_of(request), await open_form(request)
    _, project = await _invitation(site, secret, "crowd")
    given = _parameters(form)
    if given.get(PREVIEW[0]) == PREVIEW[1]:
        raise UsageError("this is a preview: accept the task on the platform, then begin here")
    known = None if here is None else here.person.id
    account = await site.write(
        lambda c: accept_invitation(
            c, secret, now=site.clock(), account=known, worker=worker_in(given), parameters=given
        )
    )
    visit, _ = await start_visit(request, site, account)
    assert project is not None  # a crowd link belongs to one
    return with_login(see_other(f"/p/{project.name}/judge?begin=1"), site, visit)


async def _invitation(site: Site, secret: str, kind: str) -> tuple[Invitation, Project | None]:
    def look(connection: Connection) -> tuple[Invitation, Project | None]:
        found = invitation_of(connection, secret, site.clock())
        if found.kind != kind:
            raise NotFoundError("this link is not known here; look whether it was copied whole, or ask for a new one")
        return found, None if found.project is None else project_by_id(connection, found.project)

    return await site.read(look)


def worker_in(parameters: Mapping[str, str]) -> str | None:
    """The platform's id of the person who follows a link.

    Examples:
        >>> worker_in({"PROLIFIC_PID": "5f0c", "STUDY_ID": "61"})
        'prolific:5f0c'
        >>> worker_in({"workerId": "A1B2", "hitId": "3X"})
        'mturk:A1B2'
        >>> worker_in({})
    """
    for name, platform in (("PROLIFIC_PID", "prolific"), ("workerId", "mturk")):
        if parameters.get(name):
            return f"{platform}:{parameters[name]}"
    return None


def _parameters(given: Mapping[str, object]) -> dict[str, str]:
    found = {name: given.get(name) for name in PARAMETERS}
    texts = {name: without_nul(value).strip()[:LONGEST] for name, value in found.items() if isinstance(value, str)}
    return {name: value for name, value in texts.items() if value}


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    text = without_nul(value) if isinstance(value, str) else ""
    return text if name == "password" else text.strip()
