"""How well the judges do: agreement, each judge, and tasks that failed their traps."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.quality import quality_of
from ringtrue.service.store.answers import set_aside
from ringtrue.service.store.progress import failed_tasks
from ringtrue.service.store.revisions import count_again
from ringtrue.service.web.auth.dependencies import Here, owner_of, viewer_of
from ringtrue.service.web.owner.forms import sentence
from ringtrue.service.web.owner.page_layout import Number, and_noted, go, show
from ringtrue.service.web.owner.quality_tables import (
    agreement_in_words,
    agreement_table,
    flagged,
    judge_table,
    pair_table,
)

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
SEED = 0  # the same labels give the same intervals, however often the page is loaded


@router.get("/p/{project}/quality")
async def quality_page(request: Request, here: Annotated[Here, Depends(viewer_of)]) -> Response:
    """Agreement and judges as they are now; sentences where there is too little for numbers."""
    project = here.project
    found = await here.site.compute(lambda: quality_of(here.site.store, project, rng=np.random.default_rng(SEED)))
    failed = await here.read(lambda c: failed_tasks(c, project))
    agreement, judges = found.agreement, found.judges
    return show(
        request, here, "quality.html", labels=found.labels, failed=failed, found_notes=found.notes,
        agreement_note=found.agreement_note, judges_note=found.judges_note,
        agreement=None if agreement is None else agreement_table(agreement),
        agreement_words=[] if agreement is None else agreement_in_words(agreement),
        pairs=None if agreement is None else pair_table(agreement),
        judges=None if judges is None else judge_table(judges),
        flagged=[] if judges is None else flagged(judges),
    )  # fmt: skip


@router.post("/p/{project}/tasks/{task}/set-aside")
async def set_task_aside(here: Annotated[Here, Depends(owner_of)], task: Number) -> Response:
    """Count none of a failed task's answers."""
    failed = await here.read(lambda c: failed_tasks(c, here.project))
    if task not in {one.task for one in failed}:
        raise NotFoundError(f"there is no task {task} here that failed its traps")
    await here.write(and_noted(here, "set task aside", lambda c: set_aside(c, task, now=here.now), task=task))
    said = "The task is set aside: its answers do not count, and its items go to other judges."
    return go(here, f"/p/{here.project.name}/quality", said)


@router.post("/p/{project}/tasks/{task}/count-again")
async def count_task_again(here: Annotated[Here, Depends(owner_of)], task: Number) -> Response:
    """Count the answers of a task that was set aside, where nobody else has taken their places."""
    address = f"/p/{here.project.name}/quality#failed"
    try:
        found = await here.write(
            and_noted(here, "count task again", lambda c: count_again(c, here.project, task), task=task)
        )
    except ConflictError as error:
        return go(here, address, sentence(str(error)))
    left = f" {found.not_again:,} do not: other judges have taken their places." if found.not_again else ""
    return go(here, address, f"{counted(found.again, 'answer')} of the task count again.{left}")
