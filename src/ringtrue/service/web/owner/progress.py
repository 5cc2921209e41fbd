"""How far a project is, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from ringtrue.service.store.accounts import load_accounts
from ringtrue.service.store.adjudication import count_disagreements
from ringtrue.service.store.invitations import load_invitations
from ringtrue.service.store.progress import (
    JudgeProgress,
    QueryProgress,
    UnsureReason,
    count_active_judges,
    load_failed_tasks,
    load_judge_progress,
    load_progress,
    load_query_progress,
    load_unsure_reasons,
)
from ringtrue.service.web.auth.dependencies import Member
from ringtrue.service.web.owner.page_layout import render_owner_page
from ringtrue.service.web.owner.quality_tables import format_seconds
from ringtrue.service.web.responses import see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Progress

router = APIRouter(include_in_schema=False)
MAX_QUERIES_SHOWN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows, of one moment."""

    main: Progress
    gold: Progress
    queries: list[QueryProgress]
    judges: list[JudgeProgress]
    reasons: list[UnsureReason]
    at_work: int
    invited: bool
    failed: int
    disagreements: int

    @property
    def gold_waits(self) -> bool:
        """Whether gold is drawn, and not all of it judged."""
        return self.gold.done < self.gold.wanted


@router.get("/p/{project}")
async def progress_page(request: Request, context: Member) -> Response:
    """The first page of a project for owners and viewers; judges go to their work."""
    project = context.project
    if not context.may("viewer"):
        gold_query = "" if context.may("judge") else "?queue=gold"
        return see_other(f"/p/{project.name}/judge{gold_query}")

    def load(connection: Connection) -> Overview:
        members = [
            account for account in load_accounts(connection, project.id) if {"judge", "gold"} & set(account.roles)
        ]
        open_invitations = [
            invitation for invitation in load_invitations(connection, project.id) if invitation.is_open(context.now)
        ]
        return Overview(
            main=load_progress(connection, project.id),
            gold=load_progress(connection, project.id, "gold"),
            queries=load_query_progress(connection, project.id),
            judges=load_judge_progress(connection, project),
            reasons=load_unsure_reasons(connection, project.id),
            at_work=count_active_judges(connection, project.id, context.now),
            invited=bool(members or open_invitations),
            failed=sum(task.outcome != "set_aside" for task in load_failed_tasks(connection, project)),
            disagreements=count_disagreements(connection, project),
        )

    overview = await context.read(load)
    return render_owner_page(
        request,
        context,
        "progress.html",
        found=overview,
        now=context.now,
        most=MAX_QUERIES_SHOWN,
        seconds_told=format_seconds,
    )
