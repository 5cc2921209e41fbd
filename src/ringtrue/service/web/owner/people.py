"""People: invitations, members, new passwords, and taking away what is personal."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store.accounts import Account, add_member, erase, noted_for, people, remove_member
from ringtrue.service.store.hashing import hashed
from ringtrue.service.store.invitations import Invitation, invitations, invite, revoke_invitation
from ringtrue.service.store.progress import worker_ids
from ringtrue.service.store.records import Role
from ringtrue.service.store.tasks import tasks_by_outcome
from ringtrue.service.web.auth.dependencies import Here, owner_of, owner_only
from ringtrue.service.web.owner.forms import Filled
from ringtrue.service.web.owner.page_layout import Number, go, show
from ringtrue.service.web.render import local_path, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["account_of", "once", "router"]

router = APIRouter(include_in_schema=False)
Owner = Annotated[Here, Depends(owner_of)]
SiteOwner = Annotated[Here, Depends(owner_only)]
ROLES = {
    "judge": "Judge",
    "gold": "Gold judge: judges what was drawn as gold",
    "viewer": "Viewer: sees progress, quality and exports",
}
OUTCOMES = {"handed_in": "handed in", "expired": "ran out of time", "set_aside": "set aside", "open": "open"}
MOST_LINKS, LONGEST_NOTE, LONGEST_CODE = 50, 100, 60
RESET_DAYS = 3

# What Prolific replaces in a study's link, and what a template of Mechanical Turk is to fill in.
PROLIFIC = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
MTURK = "workerId=WORKER_ID&assignmentId=ASSIGNMENT_ID&hitId=HIT_ID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link that is shown once, and whom it is for."""

    note: str
    address: str


@router.get("/p/{project}/people")
async def people_page(request: Request, here: Owner) -> Response:
    """Who has a part in the project, and the links that are out."""
    return await _page(request, here, Filled(values=_first_values()))


def once() -> str:
    """What a form carries that makes links: the same form sent twice makes them once."""
    return secrets.token_urlsafe(16)


def _first_values() -> dict[str, str]:
    return {"role": "judge", "days": "14", "crowd_days": "30", "code": ""}


async def _page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    def look(
        connection: Connection,
    ) -> tuple[list[Account], list[Invitation], dict[int, str], dict[int, dict[str, int]]]:
        project = here.project.id
        tasks = tasks_by_outcome(connection, project, here.now)
        return people(connection, project), invitations(connection, project), worker_ids(connection, project), tasks

    there, links, workers, tasks = await here.read(look)
    return show(
        request, here, "people.html", status=status, form=form, there=there, workers=workers, roles=ROLES, once=once(),
        tasks=tasks, outcomes=OUTCOMES, links=[(one, _state(one, here.now)) for one in links],
        mine=here.person.roles.get(here.project.id, frozenset()),
    )  # fmt: skip


def _state(link: Invitation, now: float) -> str:
    if link.revoked is not None:
        return "withdrawn"
    if link.expires is not None and link.expires <= now:
        return "too old"
    return "used" if link.left == 0 else "open"


@router.post("/p/{project}/invitations")
async def invite_people(request: Request, here: Owner) -> Response:
    """Links for named accounts, one for each person, or one link for a crowd; shown once."""
    if here.text("kind") == "crowd":
        return await _invite_crowd(request, here)
    form = Filled.sent(here.form, ("role", "days", "whom"))
    role = form.one_of("role", "As what", tuple(ROLES))
    days = form.number("days", "Good for how many days", 1, 365)
    notes = [line.strip()[:LONGEST_NOTE] for line in form["whom"].splitlines() if line.strip()] or [""]
    if len(notes) > MOST_LINKS:
        form.problems["whom"] = f"At most {MOST_LINKS} people at once, one in a line; found {len(notes)}."
    if days is None or form.problems:
        form.values = _first_values() | form.values
        return await _page(request, here, form, status=422)

    project = here.project.id
    made = [(note, here.drawn("invite", project, role, days, at, note)) for at, note in enumerate(notes)]

    def work(connection: Connection) -> None:
        for note, secret in made:
            invite(
                connection, role=role, project=project, note=note or None, days=days, secret=secret, now=here.now,  # type: ignore[arg-type]
                by=here.person.id,
            )  # fmt: skip

    await here.write(work)
    links = [Link(note=note, address=_address(request, here, "welcome", secret)) for note, secret in made]
    return show(request, here, "invited.html", links=links, role=ROLES[role].partition(":")[0], days=days, crowd=None)


async def _invite_crowd(request: Request, here: Here) -> Response:
    form = Filled.sent(here.form, ("code", "uses", "crowd_days"))
    days = form.number("crowd_days", "Good for how many days", 1, 365)
    uses = form.number("uses", "How many people at most", 1, 1_000_000, optional=True)
    which = (here.project.id, form["code"], uses, days)
    code = form["code"].strip() or hashed(here.drawn("code", *which))[:8].upper()
    secret = here.drawn("crowd", *which)
    if len(code) > LONGEST_CODE or not code.isprintable():
        form.problems["code"] = f"A completion code has at most {LONGEST_CODE} characters."
    if form.problems or days is None:
        form.values = _first_values() | form.values
        return await _page(request, here, form, status=422)

    def work(connection: Connection) -> str:
        return invite(
            connection, role="judge", kind="crowd", project=here.project.id, uses=uses, days=days, code=code,
            secret=secret, now=here.now, by=here.person.id,
        )  # fmt: skip

    await here.write(work)
    address = _address(request, here, "join", secret)
    crowd = {
        "address": address, "code": code, "uses": uses, "mturk": f"{address}?{MTURK}",
        "prolific": f"{address}?{PROLIFIC}",
        "prolific_done": f"https://app.prolific.com/submissions/complete?cc={quote(code, safe='')}",
    }  # fmt: skip
    return show(request, here, "invited.html", links=[], role="Judge", days=days, crowd=crowd)


def _address(request: Request, here: Here, path: str, secret: str) -> str:
    return here.site.address_of(request, f"/{path}/{secret}")


@router.post("/p/{project}/invitations/{invitation}/revoke")
async def revoke(here: Owner, invitation: Number) -> Response:
    """Make a link useless."""

    def work(connection: Connection) -> None:
        revoke_invitation(connection, invitation, now=here.now, project=here.project.id, by=here.person.id)

    await here.write(work)
    return go(here, f"/p/{here.project.name}/people", "The link is withdrawn. Those who came by it stay.")


@router.post("/p/{project}/people/me")
async def take_part(here: Owner) -> Response:
    """Let the owner judge too, beginning now."""
    role = here.text("role")
    if role not in get_args(Role):
        raise UsageError(f"a role is {', '.join(get_args(Role))}; found '{role}'")

    def work(connection: Connection) -> None:
        add_member(connection, here.project.id, here.person.id, role, here.now, by=here.person.id)  # type: ignore[arg-type]

    await here.write(work)
    pages = {"judge": "judge", "gold": "judge?queue=gold", "viewer": "people"}
    return see_other(f"/p/{here.project.name}/{pages[role]}")


@router.post("/p/{project}/people/{account}/remove")
async def remove(here: Owner, account: Number) -> Response:
    """Take somebody's part in the project away; what was judged stays."""

    def work(connection: Connection) -> str:
        who = account_of(people(connection, here.project.id), account)
        remove_member(connection, here.project.id, account, now=here.now, by=here.person.id)
        return who.handle

    handle = await here.write(work)
    said = f"{handle} has no part in this project any more. What was judged stays, and counts."
    return go(here, f"/p/{here.project.name}/people", said)


def account_of(there: list[Account], account: int) -> Account:
    """One of these people."""
    found = next((one for one in there if one.id == account), None)
    if found is None:
        raise NotFoundError(f"there is no account {account} here")
    return found


@router.post("/people/{account}/reset")
async def reset(request: Request, here: SiteOwner, account: Number) -> Response:
    """A link with which somebody sets a new password; shown once."""
    secret = here.drawn("reset", account)

    def work(connection: Connection) -> str:
        who = account_of(people(connection), account)
        if who.kind != "named" or who.erased is not None:
            raise UsageError(f"{who.handle} logs in without a password, so there is none to set")
        invite(
            connection, role="reset", account=account, days=RESET_DAYS, secret=secret, now=here.now, by=here.person.id
        )
        return who.handle

    handle = await here.write(work)
    address = here.site.address_of(request, f"/welcome/{secret}")
    return show(request, here, "reset.html", handle=handle, address=address, days=RESET_DAYS, back=_back(here))


@router.get("/people/{account}/erase")
async def erase_page(request: Request, here: SiteOwner, account: Number, back: str = "") -> Response:
    """What erasing somebody takes away, and what stays."""
    who, noted = await here.read(lambda c: (account_of(people(c), account), noted_for(c, account)))
    notes = list(dict.fromkeys(noted.values()))
    return show(request, here, "erase.html", who=who, noted=notes, back=local_path(back, "/server/people"))


@router.post("/people/{account}/erase")
async def erase_person(here: SiteOwner, account: Number) -> Response:
    """Take away all that is personal about somebody."""
    handle = await here.write(lambda c: erase(c, account, here.now, by=here.person.id))
    said = f"What was personal is gone. The judgments stay, under the name {handle}."
    return go(here, "/login" if account == here.person.id else _back(here), said)


def _back(here: Here) -> str:
    return local_path(here.text("back"), "/server/people")
