"""Coming in and going out by a password, and the first page after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.service.store.access import forgive, log_in, log_out, try_to_log_in
from ringtrue.service.store.accounts import person, secret_of
from ringtrue.service.store.audit_log import record
from ringtrue.service.store.projects import projects
from ringtrue.service.store.records import Project
from ringtrue.service.web.auth.anonymous_forms import open_form, render_open, set_cookie, without_nul
from ringtrue.service.web.auth.dependencies import Here, public, secret_in, signed_in, visitor_or_none
from ringtrue.service.web.auth.password_hashing import is_right
from ringtrue.service.web.context import Site, site_of
from ringtrue.service.web.judge.resubmit import PREFIX, is_answer, kept_answer, resend_page
from ringtrue.service.web.render import local_path, render, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["SESSION_HOURS", "address_of", "router", "start_visit", "too_many", "with_login"]

router = APIRouter(include_in_schema=False)
SESSION_HOURS = 7 * 24.0
SAID = {
    "new": "Welcome. Your log-in name is {handle}; with it and your password you come back.",
    "changed": "Your password is changed.",
}
WRONG = "The log-in name or the password is wrong."
NOT_YET = "You are not logged in yet: open your link in another tab, begin there, then come back to this one."


@router.get("/")
async def home(request: Request, here: Annotated[Here, Depends(signed_in)]) -> Response:
    """The projects in which somebody has a part."""
    who = here.person
    everything = await here.read(projects)
    mine = [(project, _parts(here, project)) for project in everything if who.owner or project.id in who.roles]
    said = SAID.get(next(iter(request.query_params), ""), "")
    return render(request, "home.html", projects=mine, said=said.format(handle=who.handle))


def _parts(here: Here, project: Project) -> frozenset[str]:
    roles = here.person.roles.get(project.id, frozenset())
    return roles | {"viewer", "owner"} if here.person.owner else roles


@router.get("/login")
@public
async def login_page(
    request: Request,
    here: Annotated[Here | None, Depends(visitor_or_none)],
    next: str = "/",  # noqa: A002
) -> Response:
    """The form to log in."""
    if here is not None:
        return see_other(next)
    return render_open(request, "login.html", next=local_path(next), kept={}, problem=None, handle="")


@router.post("/login")
@public
async def login(request: Request, here: Annotated[Here | None, Depends(visitor_or_none)]) -> Response:
    """Log in; who sent an answer after their login had ended sends it again."""
    site, form = site_of(request), await open_form(request)
    handle, password, next_path = (without_nul(str(form.get(name, ""))) for name in ("handle", "password", "next"))
    handle, next_path = handle.strip().lower()[:200], local_path(next_path)
    kept = kept_answer(next_path, form, PREFIX)
    next_path = "/" if is_answer(next_path) and not kept else next_path

    def not_in(status: int, problem: str) -> Response:
        return render_open(
            request, "login.html", status=status, next=next_path, kept=kept, problem=problem, handle=handle
        )

    if kept and form.get("resume"):
        return not_in(401, NOT_YET) if here is None else resend_page(request, next_path, kept)
    address, now = address_of(request), site.clock()
    wait = await site.write(lambda c: try_to_log_in(c, handle=handle, address=address, now=now))
    if wait:
        return not_in(429, f"{too_many(wait)}.".capitalize())
    found = await site.read(lambda c: secret_of(c, handle))
    right = await site.compute(lambda: is_right(password, found[1] if found else None))
    if found is None or not right:
        return not_in(401, WRONG)
    await site.write(lambda c: forgive(c, handle=handle, address=address))
    secret, here = await start_visit(request, site, found[0])
    if kept:
        request.state.here = here
        return with_login(resend_page(request, next_path, kept), site, secret)
    return with_login(see_other(next_path), site, secret)


def address_of(request: Request) -> str:
    """Where a request came from; by a proxy's word only where the server was told that there is one."""
    return request.client.host if request.client else ""


def too_many(wait: float) -> str:
    """What somebody is told who has to wait."""
    minutes = math.ceil(wait / 60)
    return f"too many attempts; wait {minutes} {'minute' if minutes == 1 else 'minutes'}, then try again"


async def start_visit(request: Request, site: Site, account: int) -> tuple[str, Here]:
    """Log somebody in whose right to it was checked; the visit that their browser had before ends."""
    now, before = site.clock(), secret_in(request, site)

    def work(connection: Connection) -> tuple[str, Here]:
        if before is not None:
            log_out(connection, before)
        secret, csrf = log_in(connection, account, now=now, hours=SESSION_HOURS)
        who = person(connection, account)
        record(connection, "log in", now=now, account=account)
        return secret, Here(site=site, person=who, csrf=csrf, secret=secret, now=now)

    return await site.write(work)


def with_login(response: Response, site: Site, secret: str) -> Response:
    """The same answer, with the cookie of who is logged in now."""
    set_cookie(response, site, site.cookie, site.signed(secret, "login"), seconds=int(SESSION_HOURS * 3600))
    return response


@router.post("/logout")
async def logout(here: Annotated[Here, Depends(signed_in)]) -> Response:
    """End this visit."""
    await here.write(lambda c: log_out(c, here.secret))
    answer = see_other("/login")
    answer.delete_cookie(here.site.cookie, path="/", secure=here.site.secure, httponly=True, samesite="lax")
    return answer


@router.get("/healthz")
@public
async def healthz(request: Request) -> dict[str, str]:
    """Whether the server and its database answer."""
    from sqlalchemy import text

    await site_of(request).read(lambda c: c.execute(text("SELECT 1")).scalar_one())
    return {"status": "ok"}
