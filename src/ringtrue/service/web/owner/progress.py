"""How far a project is, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.service.store.accounts import people
from ringtrue.service.store.adjudication import disagreement_count
from ringtrue.service.store.invitations import invitations
from ringtrue.service.store.progress import (
    JudgeProgress,
    QueryProgress,
    Unsure,
    failed_tasks,
    judges_at_work,
    progress,
    progress_by_judge,
    progress_by_query,
    unsure_reasons,
)
from ringtrue.service.web.auth.dependencies import Here, member_of
from ringtrue.service.web.owner.page_layout import show
from ringtrue.service.web.owner.quality_tables import seconds_told
from ringtrue.service.web.render import see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Progress

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
SHOWN_QUERIES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows, of one moment."""

    main: Progress
    gold: Progress
    queries: list[QueryProgress]
    judges: list[JudgeProgress]
    reasons: list[Unsure]
    at_work: int
    invited: bool
    failed: int
    disagreements: int

    @property
    def gold_waits(self) -> bool:
        """Whether gold is drawn, and not all of it judged."""
        return self.gold.done < self.gold.wanted


@router.get("/p/{project}")
async def progress_page(request: Request, here: Annotated[Here, Depends(member_of)]) -> Response:
    """The first page of a project for owners and viewers; judges go to their work."""
    project = here.project
    if not here.may("viewer"):
        gold = "" if here.may("judge") else "?queue=gold"
        return see_other(f"/p/{project.name}/judge{gold}")

    def look(connection: Connection) -> Overview:
        joined = [one for one in people(connection, project.id) if {"judge", "gold"} & set(one.roles)]
        links = [one for one in invitations(connection, project.id) if one.is_open(here.now)]
        return Overview(
            main=progress(connection, project.id),
            gold=progress(connection, project.id, "gold"),
            queries=progress_by_query(connection, project.id),
            judges=progress_by_judge(connection, project),
            reasons=unsure_reasons(connection, project.id),
            at_work=judges_at_work(connection, project.id, here.now),
            invited=bool(joined or links),
            failed=sum(one.outcome != "set_aside" for one in failed_tasks(connection, project)),
            disagreements=disagreement_count(connection, project),
        )

    found = await here.read(look)
    return show(
        request, here, "progress.html", found=found, now=here.now, most=SHOWN_QUERIES, seconds_told=seconds_told
    )
