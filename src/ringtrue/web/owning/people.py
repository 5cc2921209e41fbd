"""People: invitations, members, new passwords, and taking away what is personal."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.store.accounts import Account, add_member, erase, people, remove_member
from ringtrue.store.auditing import record
from ringtrue.store.inviting import Invitation, invitations, invite, revoke_invitation
from ringtrue.store.values import Role
from ringtrue.store.watching import worker_ids
from ringtrue.web.owning.forms import Filled
from ringtrue.web.owning.showing import Number, and_noted, go, show
from ringtrue.web.pages import local_path
from ringtrue.web.visitors import Here, owner_of, owner_only

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["account_of", "router"]

router = APIRouter(include_in_schema=False)
Owner = Annotated[Here, Depends(owner_of)]
SiteOwner = Annotated[Here, Depends(owner_only)]
ROLES = {
    "judge": "Judge",
    "gold": "Gold judge: judges what was drawn as gold",
    "viewer": "Viewer: sees progress, quality and exports",
}
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


def _first_values() -> dict[str, str]:
    return {"role": "judge", "days": "14", "crowd_days": "30", "code": ""}


async def _page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    def look(connection: Connection) -> tuple[list[Account], list[Invitation], dict[int, str]]:
        project = here.project.id
        return people(connection, project), invitations(connection, project), worker_ids(connection, project)

    there, links, workers = await here.read(look)
    return show(
        request, here, "people.html", status=status, form=form, there=there, workers=workers, roles=ROLES,
        links=[(one, _state(one, here.now)) for one in links], mine=here.person.roles.get(here.project.id, frozenset()),
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

    def work(connection: Connection) -> list[str]:
        return [
            invite(connection, role=role, project=here.project.id, note=note or None, days=days, now=here.now)  # type: ignore[arg-type]
            for note in notes
        ]

    made = await here.write(and_noted(here, "invite", work, role=role, links=len(notes)))
    links = [Link(note=note, address=_address(request, here, "welcome", secret))
             for note, secret in zip(notes, made, strict=True)]  # fmt: skip
    return show(request, here, "invited.html", links=links, role=ROLES[role].partition(":")[0], days=days, crowd=None)


async def _invite_crowd(request: Request, here: Here) -> Response:
    form = Filled.sent(here.form, ("code", "uses", "crowd_days"))
    days = form.number("crowd_days", "Good for how many days", 1, 365)
    uses = form.number("uses", "How many people at most", 1, 1_000_000, optional=True)
    code = form["code"].strip() or secrets.token_hex(4).upper()
    if len(code) > LONGEST_CODE or not code.isprintable():
        form.problems["code"] = f"A completion code has at most {LONGEST_CODE} characters."
    if form.problems or days is None:
        form.values = _first_values() | form.values
        return await _page(request, here, form, status=422)

    def work(connection: Connection) -> str:
        return invite(
            connection, role="judge", kind="crowd", project=here.project.id, uses=uses, days=days, code=code,
            now=here.now,
        )  # fmt: skip

    secret = await here.write(and_noted(here, "invite crowd", work, uses=uses))
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
        revoke_invitation(connection, invitation, now=here.now, project=here.project.id)

    await here.write(and_noted(here, "revoke invitation", work, invitation=invitation))
    return go(here, f"/p/{here.project.name}/people", "The link is withdrawn. Those who came by it stay.")


@router.post("/p/{project}/people/me")
async def take_part(here: Owner) -> Response:
    """Let the owner judge too."""
    role = here.text("role")
    if role not in get_args(Role):
        raise UsageError(f"a role is {', '.join(get_args(Role))}; found '{role}'")

    def work(connection: Connection) -> None:
        add_member(connection, here.project.id, here.person.id, role, here.now)  # type: ignore[arg-type]

    await here.write(and_noted(here, "add member", work, role=role))
    said = "You are among the judges now: the list of projects has a button to begin."
    return go(here, f"/p/{here.project.name}/people", said)


@router.post("/p/{project}/people/{account}/remove")
async def remove(here: Owner, account: Number) -> Response:
    """Take somebody's part in the project away; what was judged stays."""

    def work(connection: Connection) -> str:
        who = account_of(people(connection, here.project.id), account)
        remove_member(connection, here.project.id, account)
        return who.handle

    handle = await here.write(and_noted(here, "remove member", work, account=account))
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

    def work(connection: Connection) -> tuple[str, str]:
        who = account_of(people(connection), account)
        if who.kind != "named" or who.erased is not None:
            raise UsageError(f"{who.handle} logs in without a password, so there is none to set")
        secret = invite(connection, role="reset", account=account, days=RESET_DAYS, now=here.now)
        record(connection, "reset password", now=here.now, account=here.person.id, detail={"account": account})
        return who.handle, secret

    handle, secret = await here.write(work)
    address = here.site.address_of(request, f"/welcome/{secret}")
    return show(request, here, "reset.html", handle=handle, address=address, days=RESET_DAYS, back=_back(here))


@router.get("/people/{account}/erase")
async def erase_page(request: Request, here: SiteOwner, account: Number, back: str = "") -> Response:
    """What erasing somebody takes away, and what stays."""
    who = await here.read(lambda c: account_of(people(c), account))
    return show(request, here, "erase.html", who=who, back=local_path(back, "/server/people"))


@router.post("/people/{account}/erase")
async def erase_person(here: SiteOwner, account: Number) -> Response:
    """Take away all that is personal about somebody."""

    def work(connection: Connection) -> str:
        handle = erase(connection, account, here.now)
        # Whoever erases their own account has nobody left to be named.
        actor = None if account == here.person.id else here.person.id
        record(connection, "erase person", now=here.now, account=actor, detail={"account": account})
        return handle

    handle = await here.write(work)
    said = f"What was personal is gone. The judgments stay, under the name {handle}."
    return go(here, "/login" if account == here.person.id else _back(here), said)


def _back(here: Here) -> str:
    return local_path(here.text("back"), "/server/people")
