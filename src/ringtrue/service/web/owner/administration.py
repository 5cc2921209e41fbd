"""The whole server: its people, backups, the record of what was done, and tokens of the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.service.store.access import SCOPES, issue_token, revoke_token, tokens
from ringtrue.service.store.accounts import people, set_owner
from ringtrue.service.store.audit_log import entries
from ringtrue.service.store.backup import write_backup
from ringtrue.service.store.invitations import invitations, invite, revoke_invitation
from ringtrue.service.web.auth.dependencies import Here, owner_of, owner_only, signed_in
from ringtrue.service.web.downloads import made_in_folder, sent_file
from ringtrue.service.web.owner.forms import Filled
from ringtrue.service.web.owner.page_layout import Number, go, note_down, show
from ringtrue.service.web.owner.people import account_of, once
from ringtrue.service.web.render import see_other

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
SiteOwner = Annotated[Here, Depends(owner_only)]
SignedIn = Annotated[Here, Depends(signed_in)]
SHOWN = 500
INVITATION_DAYS = 7


@router.get("/server")
async def server_page(_: SiteOwner) -> Response:
    """The first of the server's pages."""
    return see_other("/server/people")


@router.get("/server/people")
async def everybody(request: Request, here: SiteOwner) -> Response:
    """Every account, and links for owners and new passwords that are out."""
    there, links = await here.read(lambda c: (people(c), [one for one in invitations(c) if one.is_open(here.now)]))
    handles = {one.id: one.handle for one in there}
    return show(request, here, "everybody.html", there=there, links=links, handles=handles, once=once())


@router.post("/server/owners")
async def invite_owner(request: Request, here: SiteOwner) -> Response:
    """A link for one more owner; shown once."""
    note = here.text("note").replace("\x00", "").strip()[:100] or None

    secret = here.drawn("owner", note)

    def work(connection: Connection) -> str:
        return invite(
            connection, role="owner", note=note, days=INVITATION_DAYS, secret=secret, now=here.now, by=here.person.id
        )

    await here.write(work)
    address = here.site.address_of(request, f"/welcome/{secret}")
    return show(request, here, "owner_invited.html", address=address, days=INVITATION_DAYS)


@router.post("/server/invitations/{invitation}/revoke")
async def revoke(here: SiteOwner, invitation: Number) -> Response:
    """Make a link for an owner or a new password useless."""
    await here.write(lambda c: revoke_invitation(c, invitation, now=here.now, by=here.person.id))
    return go(here, "/server/people", "The link is withdrawn.")


@router.post("/people/{account}/owner")
async def change_owner(here: SiteOwner, account: Number) -> Response:
    """Make somebody an owner, or an owner somebody like the others."""
    owner = here.text("owner") == "yes"

    def work(connection: Connection) -> str:
        who = account_of(people(connection), account)
        set_owner(connection, account, owner, now=here.now, by=here.person.id)
        return who.handle

    handle = await here.write(work)
    is_now = "an owner now" if owner else "no owner any more"
    return go(here, "/server/people" if owner or account != here.person.id else "/", f"{handle} is {is_now}.")


@router.get("/server/backup")
async def backup_page(request: Request, here: SiteOwner) -> Response:
    """What a backup has, and how it is restored."""
    return show(request, here, "backup.html")


@router.post("/server/backup")
async def backup(here: SiteOwner) -> Response:
    """The whole database as one file, of one moment."""
    day = datetime.fromtimestamp(here.now, UTC).strftime("%Y-%m-%d")
    name = f"ringtrue-backup-{day}.zip"

    def work(folder: Path) -> Path:
        write_backup(here.site.store, folder / name, now=here.now)
        return folder / name

    path = await made_in_folder(here.site, work)
    await note_down(here, "back up")
    return sent_file(path, name=name, media_type="application/zip")


@router.get("/server/audit")
async def record_page(request: Request, here: SiteOwner) -> Response:
    """Who did what and when, everywhere."""
    return show(request, here, "audit.html", found=await here.read(lambda c: entries(c, limit=SHOWN)), most=SHOWN)


@router.get("/p/{project}/audit")
async def project_record_page(request: Request, here: Annotated[Here, Depends(owner_of)]) -> Response:
    """Who did what and when in a project."""
    found = await here.read(lambda c: entries(c, here.project.id, limit=SHOWN))
    return show(request, here, "audit.html", found=found, most=SHOWN)


@router.get("/tokens")
async def tokens_page(request: Request, here: SignedIn) -> Response:
    """One's own keys to the API."""
    return await _tokens(request, here, Filled(values={"days": "90", "read": "on"}))


async def _tokens(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    mine = await here.read(lambda c: tokens(c, here.person.id))
    scopes = {name: words for name, words in SCOPES.items() if name != "manage" or here.person.owner}
    return show(
        request, here, "tokens.html", status=status, form=form, tokens=mine, scopes=scopes, now=here.now,
        once=once(),
    )  # fmt: skip


@router.post("/tokens")
async def new_token(request: Request, here: SignedIn) -> Response:
    """A key to the API; shown once."""
    form = Filled.sent(here.form, ("label", "days", *SCOPES))
    scopes = [name for name in SCOPES if form.is_on(name) and (name != "manage" or here.person.owner)]
    days = form.number("days", "Good for how many days", 1, 3650)
    name = form["label"].strip()
    if not name:
        form.problems["label"] = "Say what the token is for."
    elif len(name) > 100:
        form.problems["label"] = "At most 100 characters."
    if not scopes:
        form.problems["scopes"] = "Choose at least one thing that the token may be used for."
    if days is None or form.problems:
        return await _tokens(request, here, form, status=422)

    secret, me = here.drawn("token", name, scopes, days), here.person.id

    def work(connection: Connection) -> str:
        return issue_token(connection, me, name=name, scopes=scopes, now=here.now, days=days, secret=secret, by=me)

    await here.write(work)
    address = here.site.address_of(request, "/api/v1")
    return show(request, here, "token_issued.html", secret=secret, name=name, scopes=scopes, address=address)


@router.post("/tokens/{token}/revoke")
async def revoke_my_token(here: SignedIn, token: Number) -> Response:
    """Make a token useless."""
    await here.write(lambda c: revoke_token(c, token, account=here.person.id, now=here.now))
    return go(here, "/tokens", "The token is revoked: nothing can be done with it any more.")
