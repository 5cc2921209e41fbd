"""People of a project and of the server: invitations, roles, new passwords, and taking away what is personal."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

import polars as pl
from fastapi import APIRouter, Request, Response

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.files.tabular import guard_formulas
from ringtrue.messages import Note
from ringtrue.service.store.accounts import (
    Account,
    add_member,
    erase_account,
    find_link_notes,
    load_accounts,
    remove_member,
    set_owner,
)
from ringtrue.service.store.completion import GrantedCode, load_granted_codes
from ringtrue.service.store.invitations import Invitation, invite, load_invitations, revoke_invitation
from ringtrue.service.store.progress import load_worker_ids
from ringtrue.service.store.records import Role
from ringtrue.service.store.sessions import hash_secret
from ringtrue.service.store.tasks import count_tasks_by_outcome
from ringtrue.service.web.auth.dependencies import ProjectOwner, RequestContext, ServerOwner
from ringtrue.service.web.auth.invitations import RESET_DAYS, invite_to_reset_password
from ringtrue.service.web.judge.end_pages import PROLIFIC_RETURN_URL
from ringtrue.service.web.owner.forms import FormState
from ringtrue.service.web.owner.page_layout import (
    PathId,
    record_owner_action,
    redirect_with_notes,
    render_owner_page,
)
from ringtrue.service.web.responses import attachment_headers, local_path, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
ROLE_NAMES = {
    "judge": "Judge",
    "gold": "Gold judge: judges what was drawn as gold",
    "viewer": "Viewer: sees progress, quality and exports",
}
OUTCOME_NAMES = {"handed_in": "handed in", "expired": "ran out of time", "set_aside": "set aside", "open": "open"}
MAX_LINKS, MAX_NOTE_LENGTH, MAX_CODE_LENGTH = 50, 100, 60
OWNER_LINK_DAYS = 7
CODE_COLUMNS = {
    "judge": pl.String,
    "worker": pl.String,
    "code": pl.String,
    "kind": pl.String,
    "replaced": pl.String,
    "task": pl.Int64,
    "time": pl.String,
}
CROWD_FLAGS = {"own_codes": "own codes", "id_required": "id required", "one_account": "one account"}
INITIAL_VALUES = {"role": "judge", "days": "14", "crowd_days": "30"}
INITIAL_BOXES = {"id_required": "on", "one_account": "on"}

# What Prolific replaces in a study's link, and what a template of Mechanical Turk is to fill in.
PROLIFIC_QUERY = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
MTURK_QUERY = "workerId=WORKER_ID&assignmentId=ASSIGNMENT_ID&hitId=HIT_ID"


@router.get("/p/{project}/people")
async def people_page(request: Request, context: ProjectOwner) -> Response:
    """Who has a part in the project, and the links that are out."""
    return await _render_people_page(request, context, FormState(values=INITIAL_VALUES | INITIAL_BOXES))


def new_form_nonce() -> str:
    """What a form carries that makes links: the same form sent twice makes them once."""
    return secrets.token_urlsafe(16)


async def _render_people_page(
    request: Request, context: RequestContext, form: FormState, *, status: int = 200
) -> Response:
    project, now = context.project.id, context.now

    def load(connection: Connection) -> dict[str, Any]:
        links = [(link, _link_state(link, now)) for link in load_invitations(connection, project)]
        return {
            "there": load_accounts(connection, project),
            "links": links,
            "workers": load_worker_ids(connection, project),
            "codes": {granted.account: granted for granted in reversed(load_granted_codes(connection, project))},
            "tasks": count_tasks_by_outcome(connection, project, now),
        }

    return render_owner_page(
        request,
        context,
        "people.html",
        status=status,
        form=form,
        roles=ROLE_NAMES,
        once=new_form_nonce(),
        outcomes=OUTCOME_NAMES,
        crowd_flags=CROWD_FLAGS,
        mine=context.person.roles.get(project, frozenset()),
        **await context.read(load),
    )


def _link_state(link: Invitation, now: float) -> str:
    if link.revoked is not None:
        return "withdrawn"
    if link.expires is not None and link.expires <= now:
        return "too old"
    return "used" if link.left == 0 else "open"


@router.post("/p/{project}/invitations")
async def invite_people(request: Request, context: ProjectOwner) -> Response:
    """Links for named accounts, one for each person, or one link for a crowd; shown once."""
    if context.text("kind") == "crowd":
        return await _invite_crowd(request, context)
    form = FormState.from_submission(context.form, ("role", "days", "whom"))
    role = form.parse_choice("role", tuple(ROLE_NAMES))
    days = form.parse_number("days", 1, 365)
    notes = [line.strip()[:MAX_NOTE_LENGTH] for line in form["whom"].splitlines() if line.strip()] or [""]
    if len(notes) > MAX_LINKS:
        form.problems["whom"] = Note(
            "too-many-links", f"at most {MAX_LINKS} people at once, one in a line; found {len(notes)}"
        )
    if days is None or form.problems:
        form.values = INITIAL_VALUES | INITIAL_BOXES | form.values
        return await _render_people_page(request, context, form, status=422)

    project = context.project.id
    secrets_by_note = [
        (note, context.derive_secret("invite", project, role, days, position, note))
        for position, note in enumerate(notes)
    ]

    def work(connection: Connection) -> None:
        for note, secret in secrets_by_note:
            _invite(connection, context, role=role, project=project, note=note or None, days=days, secret=secret)

    await context.write(work)
    links = [
        {"note": note, "address": context.server.absolute_url(request, f"/welcome/{secret}")}
        for note, secret in secrets_by_note
    ]
    return render_owner_page(
        request, context, "invited.html", links=links, role=ROLE_NAMES[role].partition(":")[0], days=days, crowd=None
    )


async def _invite_crowd(request: Request, context: RequestContext) -> Response:
    form = FormState.from_submission(context.form, ("code", "partial_code", "uses", "crowd_days", *CROWD_FLAGS))
    days = form.parse_number("crowd_days", 1, 365)
    uses = form.parse_number("uses", 1, 1_000_000, optional=True)
    flags = {name: form.is_on(name) for name in CROWD_FLAGS}
    form_key = (context.project.id, form["code"], form["partial_code"], uses, days, sorted(flags.items()))
    code = form["code"].strip() or hash_secret(context.derive_secret("code", *form_key))[:8].upper()
    partial_code = form["partial_code"].strip() or None
    secret = context.derive_secret("crowd", *form_key)
    for name, text in (("code", code), ("partial_code", partial_code or "")):
        if len(text) > MAX_CODE_LENGTH or not text.isprintable():
            form.problems[name] = Note(
                "bad-completion-code", f"a completion code has at most {MAX_CODE_LENGTH} characters that can be seen"
            )
    if partial_code == code:
        form.problems["partial_code"] = Note(
            "same-completion-codes", "choose another code for part of the work than for all of it"
        )
    if form.problems or days is None:
        form.values = INITIAL_VALUES | form.values
        return await _render_people_page(request, context, form, status=422)

    terms = {"kind": "crowd", "project": context.project.id, "uses": uses, "days": days}
    terms |= {"code": code, "partial_code": partial_code, **flags}
    await context.write(lambda c: _invite(c, context, role="judge", secret=secret, **terms))
    address = context.server.absolute_url(request, f"/join/{secret}")
    crowd = {
        "address": address,
        "code": code,
        "partial_code": partial_code,
        "uses": uses,
        "mturk": f"{address}?{MTURK_QUERY}",
        "prolific": f"{address}?{PROLIFIC_QUERY}",
        "prolific_done": f"{PROLIFIC_RETURN_URL}{quote(code, safe='')}",
        **flags,
    }
    return render_owner_page(request, context, "invited.html", links=[], role="Judge", days=days, crowd=crowd)


def _invite(connection: Connection, context: RequestContext, **terms: Any) -> str:
    return invite(connection, now=context.now, by=context.person.id, **terms)


@router.get("/p/{project}/people/codes.csv")
async def codes_table(context: ProjectOwner) -> Response:
    """Who got which completion code, to be held against what workers pasted into the platform's page."""
    granted_codes = await context.read(lambda c: load_granted_codes(c, context.project.id))
    await record_owner_action(context, "export", key="codes", rows=len(granted_codes))
    headers = attachment_headers(f"{context.project.name}.codes.csv")
    return Response(_format_codes(granted_codes), media_type="text/csv; charset=utf-8", headers=headers)


def _format_codes(granted_codes: list[GrantedCode]) -> str:
    """A table for spreadsheets, in which no id or code is taken for a formula."""
    rows = [
        (
            granted.handle,
            granted.worker,
            granted.code,
            granted.kind,
            granted.replaced,
            granted.task,
            datetime.fromtimestamp(granted.time, UTC).isoformat(timespec="seconds"),
        )
        for granted in granted_codes
    ]
    return guard_formulas(pl.DataFrame(rows, schema=CODE_COLUMNS, orient="row")).write_csv()


@router.post("/p/{project}/invitations/{invitation}/revoke")
async def revoke(context: ProjectOwner, invitation: PathId) -> Response:
    """Make a link useless."""

    def work(connection: Connection) -> None:
        revoke_invitation(connection, invitation, now=context.now, project=context.project.id, by=context.person.id)

    await context.write(work)
    return redirect_with_notes(
        context, f"/p/{context.project.name}/people", "The link is withdrawn. Those who came by it stay."
    )


@router.post("/p/{project}/people/me")
async def take_part(context: ProjectOwner) -> Response:
    """Let the owner judge too, beginning now."""
    role = context.text("role")
    if role not in get_args(Role):
        raise UsageError("unknown-role", f"a role is {', '.join(get_args(Role))}; found '{role}'", parameter="role")

    def work(connection: Connection) -> None:
        add_member(connection, context.project.id, context.person.id, role, context.now, by=context.person.id)  # type: ignore[arg-type]

    await context.write(work)
    pages = {"judge": "judge", "gold": "judge?queue=gold", "viewer": "people"}
    return see_other(f"/p/{context.project.name}/{pages[role]}")


@router.post("/p/{project}/people/{account}/remove")
async def remove(context: ProjectOwner, account: PathId) -> Response:
    """Take somebody's part in the project away; what was judged stays."""

    def work(connection: Connection) -> str:
        removed_account = _find_account(load_accounts(connection, context.project.id), account)
        remove_member(connection, context.project.id, account, now=context.now, by=context.person.id)
        return removed_account.handle

    handle = await context.write(work)
    message = f"{handle} has no part in this project any more. What was judged stays, and counts."
    return redirect_with_notes(context, f"/p/{context.project.name}/people", message)


def _find_account(accounts: list[Account], account: int) -> Account:
    """One of these people."""
    match = next((candidate for candidate in accounts if candidate.id == account), None)
    if match is None:
        raise NotFoundError("no-such-account", f"there is no account {account} here")
    return match


@router.get("/server/people")
async def accounts_page(request: Request, context: ServerOwner) -> Response:
    """Every account, and links for owners and new passwords that are out."""
    accounts, open_invitations = await context.read(
        lambda c: (
            load_accounts(c),
            [invitation for invitation in load_invitations(c) if invitation.is_open(context.now)],
        )
    )
    handles = {account.id: account.handle for account in accounts}
    return render_owner_page(
        request,
        context,
        "everybody.html",
        there=accounts,
        links=open_invitations,
        handles=handles,
        once=new_form_nonce(),
    )


@router.post("/server/owners")
async def invite_owner(request: Request, context: ServerOwner) -> Response:
    """A link for one more owner; shown once."""
    note = context.text("note").replace("\x00", "").strip()[:MAX_NOTE_LENGTH] or None
    secret = context.derive_secret("owner", note)
    await context.write(lambda c: _invite(c, context, role="owner", note=note, days=OWNER_LINK_DAYS, secret=secret))
    address = context.server.absolute_url(request, f"/welcome/{secret}")
    return render_owner_page(request, context, "owner_invited.html", address=address, days=OWNER_LINK_DAYS)


@router.post("/server/invitations/{invitation}/revoke")
async def revoke_server_link(context: ServerOwner, invitation: PathId) -> Response:
    """Make a link for an owner or a new password useless."""
    await context.write(lambda c: revoke_invitation(c, invitation, now=context.now, by=context.person.id))
    return redirect_with_notes(context, "/server/people", "The link is withdrawn.")


@router.post("/people/{account}/owner")
async def change_owner(context: ServerOwner, account: PathId) -> Response:
    """Make somebody an owner, or an owner somebody like the others."""
    owner = context.text("owner") == "yes"

    def work(connection: Connection) -> str:
        changed_account = _find_account(load_accounts(connection), account)
        set_owner(connection, account, owner, now=context.now, by=context.person.id)
        return changed_account.handle

    handle = await context.write(work)
    standing = "an owner now" if owner else "no owner any more"
    return redirect_with_notes(
        context, "/server/people" if owner or account != context.person.id else "/", f"{handle} is {standing}."
    )


@router.post("/people/{account}/reset")
async def reset(request: Request, context: ServerOwner, account: PathId) -> Response:
    """A link with which somebody sets a new password; shown once."""
    secret = context.derive_secret("reset", account)

    def work(connection: Connection) -> str:
        reset_account = _find_account(load_accounts(connection), account)
        invite_to_reset_password(connection, reset_account, secret=secret, now=context.now, by=context.person.id)
        return reset_account.handle

    handle = await context.write(work)
    address = context.server.absolute_url(request, f"/welcome/{secret}")
    return render_owner_page(
        request, context, "reset.html", handle=handle, address=address, days=RESET_DAYS, back=_return_path(context)
    )


@router.get("/people/{account}/erase")
async def erase_page(request: Request, context: ServerOwner, account: PathId, back: str = "") -> Response:
    """What erasing somebody takes away, and what stays."""
    erased_account, invitation_notes = await context.read(
        lambda c: (_find_account(load_accounts(c), account), find_link_notes(c, account))
    )
    notes = list(dict.fromkeys(invitation_notes.values()))
    return render_owner_page(
        request, context, "erase.html", who=erased_account, noted=notes, back=local_path(back, "/server/people")
    )


@router.post("/people/{account}/erase")
async def erase_person(context: ServerOwner, account: PathId) -> Response:
    """Take away all that is personal about somebody."""
    handle = await context.write(lambda c: erase_account(c, account, context.now, by=context.person.id))
    message = f"What was personal is gone. The judgments stay, under the name {handle}."
    return redirect_with_notes(context, "/login" if account == context.person.id else _return_path(context), message)


def _return_path(context: RequestContext) -> str:
    return local_path(context.text("back"), "/server/people")
