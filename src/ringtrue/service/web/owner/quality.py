"""How well the judges do: agreement, each judge, and tasks that failed their traps."""

from __future__ import annotations

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.formatting.phrases import format_count
from ringtrue.service.collect.quality import assess_quality
from ringtrue.service.store.answers import set_aside_task
from ringtrue.service.store.progress import load_failed_tasks
from ringtrue.service.store.revisions import reinstate_task
from ringtrue.service.web.auth.dependencies import ProjectOwner, Viewer
from ringtrue.service.web.owner.forms import as_sentence
from ringtrue.service.web.owner.page_layout import PathId, redirect_with_notes, render_owner_page, with_audit_record
from ringtrue.service.web.owner.quality_tables import (
    describe_agreement,
    list_flagged_judges,
    make_agreement_table,
    make_judge_table,
    make_pair_table,
)

router = APIRouter(include_in_schema=False)
SEED = 0  # the same labels give the same intervals, however often the page is loaded


@router.get("/p/{project}/quality")
async def quality_page(request: Request, context: Viewer) -> Response:
    """Agreement and judges as they are now; sentences where there is too little for numbers."""
    project = context.project
    quality = await context.server.compute(
        lambda: assess_quality(context.server.store, project, rng=np.random.default_rng(SEED))
    )
    failed = await context.read(lambda c: load_failed_tasks(c, project))
    agreement, judges = quality.agreement, quality.judges
    return render_owner_page(
        request,
        context,
        "quality.html",
        labels=quality.labels,
        failed=failed,
        found_notes=quality.notes,
        agreement_note=quality.agreement_note,
        judges_note=quality.judges_note,
        agreement=None if agreement is None else make_agreement_table(agreement),
        agreement_words=[] if agreement is None else describe_agreement(agreement),
        pairs=None if agreement is None else make_pair_table(agreement),
        judges=None if judges is None else make_judge_table(judges),
        flagged=[] if judges is None else list_flagged_judges(judges),
    )


@router.post("/p/{project}/tasks/{task}/set-aside")
async def set_task_aside(context: ProjectOwner, task: PathId) -> Response:
    """Count none of a failed task's answers."""
    failed = await context.read(lambda c: load_failed_tasks(c, context.project))
    if task not in {failed_task.task for failed_task in failed}:
        raise NotFoundError(f"there is no task {task} here that failed its traps")
    await context.write(
        with_audit_record(context, "set task aside", lambda c: set_aside_task(c, task, now=context.now), task=task)
    )
    message = "The task is set aside: its answers do not count, and its items go to other judges."
    return redirect_with_notes(context, f"/p/{context.project.name}/quality", message)


@router.post("/p/{project}/tasks/{task}/count-again")
async def count_task_again(context: ProjectOwner, task: PathId) -> Response:
    """Count the answers of a task that was set aside, where nobody else has taken their places."""
    address = f"/p/{context.project.name}/quality#failed"
    try:
        recount = await context.write(
            with_audit_record(
                context, "count task again", lambda c: reinstate_task(c, context.project, task), task=task
            )
        )
    except ConflictError as error:
        return redirect_with_notes(context, address, as_sentence(str(error)))
    leftover = f" {recount.not_again:,} do not: other judges have taken their places." if recount.not_again else ""
    return redirect_with_notes(
        context, address, f"{format_count(recount.again, 'answer')} of the task count again.{leftover}"
    )
