"""The whole server: backups, the record of what was done, and tokens of the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.messages import Note
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.sessions import SCOPES, issue_token, load_tokens, require_token_account, revoke_token
from ringtrue.service.web.auth.dependencies import ProjectOwner, RequestContext, ServerOwner, SignedIn
from ringtrue.service.web.downloads import send_backup
from ringtrue.service.web.owner.forms import FIELD_LABELS, FormState
from ringtrue.service.web.owner.page_layout import (
    PathId,
    record_owner_action,
    redirect_with_notes,
    render_owner_page,
)
from ringtrue.service.web.owner.people import new_form_nonce
from ringtrue.service.web.responses import see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
MAX_ENTRIES_SHOWN = 500


@router.get("/server")
async def server_page(_: ServerOwner) -> Response:
    """The first of the server's pages."""
    return see_other("/server/people")


@router.get("/server/backup")
async def backup_page(request: Request, context: ServerOwner) -> Response:
    """What a backup has, and how it is restored."""
    return render_owner_page(request, context, "backup.html")


@router.post("/server/backup")
async def backup(context: ServerOwner) -> Response:
    """The whole database as one file, of one moment."""
    day = datetime.fromtimestamp(context.now, UTC).strftime("%Y-%m-%d")
    response = await send_backup(context, name=f"ringtrue-backup-{day}.zip")
    await record_owner_action(context, "back up")
    return response


@router.get("/server/audit")
async def audit_page(request: Request, context: ServerOwner) -> Response:
    """Who did what and when, everywhere."""
    return render_owner_page(
        request,
        context,
        "audit.html",
        found=await context.read(lambda c: load_audit_entries(c, limit=MAX_ENTRIES_SHOWN)),
        most=MAX_ENTRIES_SHOWN,
    )


@router.get("/p/{project}/audit")
async def project_audit_page(request: Request, context: ProjectOwner) -> Response:
    """Who did what and when in a project."""
    audit_entries = await context.read(lambda c: load_audit_entries(c, context.project.id, limit=MAX_ENTRIES_SHOWN))
    return render_owner_page(request, context, "audit.html", found=audit_entries, most=MAX_ENTRIES_SHOWN)


@router.get("/tokens")
async def tokens_page(request: Request, context: SignedIn) -> Response:
    """One's own keys to the API."""
    await context.read(lambda c: require_token_account(c, context.person.id))
    return await _render_tokens_page(request, context, FormState(values={"days": "90", "read": "on"}))


async def _render_tokens_page(
    request: Request, context: RequestContext, form: FormState, *, status: int = 200
) -> Response:
    own_tokens = await context.read(lambda c: load_tokens(c, context.person.id))
    scopes = [name for name in SCOPES if name != "manage" or context.person.owner]
    form.labels = FIELD_LABELS | {name: f"{name}: {meaning}" for name, meaning in SCOPES.items()}
    return render_owner_page(
        request,
        context,
        "tokens.html",
        status=status,
        form=form,
        tokens=own_tokens,
        scopes=scopes,
        now=context.now,
        once=new_form_nonce(),
    )


@router.post("/tokens")
async def new_token(request: Request, context: SignedIn) -> Response:
    """A key to the API; shown once."""
    form = FormState.from_submission(context.form, ("label", "days", *SCOPES))
    scopes = [name for name in SCOPES if form.is_on(name) and (name != "manage" or context.person.owner)]
    days = form.parse_number("days", 1, 3650)
    name = form["label"].strip()
    if not name:
        form.problems["label"] = Note("unnamed-token", "enter what the token is for")
    elif len(name) > 100:
        form.problems["label"] = Note("long-token-name", "at most 100 characters")
    if not scopes:
        form.problems["scopes"] = Note("no-scope", "choose at least one thing that the token may be used for")
    if days is None or form.problems:
        return await _render_tokens_page(request, context, form, status=422)

    secret, account = context.derive_secret("token", name, scopes, days), context.person.id

    def work(connection: Connection) -> str:
        return issue_token(
            connection, account, name=name, scopes=scopes, now=context.now, days=days, secret=secret, by=account
        )

    await context.write(work)
    address = context.server.absolute_url(request, "/api/v1")
    return render_owner_page(
        request, context, "token_issued.html", secret=secret, name=name, scopes=scopes, address=address
    )


@router.post("/tokens/{token}/revoke")
async def revoke_my_token(context: SignedIn, token: PathId) -> Response:
    """Make a token useless."""
    await context.write(lambda c: revoke_token(c, token, account=context.person.id, now=context.now))
    return redirect_with_notes(context, "/tokens", "The token is revoked: nothing can be done with it any more.")
