"""How a project goes: progress, answers as they come in, agreement and judge quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from ringtrue.service.store.answer_feed import load_answers_after
from ringtrue.service.store.progress import load_judge_progress, load_progress, load_query_progress
from ringtrue.service.store.records import MAX_ID, Queue
from ringtrue.service.web.api.schemas.common import ProjectName, QueryParams, ResponseModel, Timestamp, error_responses
from ringtrue.service.web.api.token_auth import Reader

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["progress"])


class ProgressResponse(ResponseModel):
    """How far a queue is: items, judgments wanted of them, done and being made."""

    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int
    skipped: int
    judges: int


class QueryProgressResponse(ResponseModel):
    """How far one query is."""

    query: str
    text: str | None
    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int


class JudgeProgressResponse(ResponseModel):
    """What one judge has done of the main queue, without traps, and of `gold`; `seconds` is the median."""

    account: int
    handle: str
    kind: str
    done: int
    open: int
    unsure: int
    skipped: int
    seconds: float | None
    last_seen: Timestamp | None
    tasks: int
    traps: int
    passed: int
    failed_tasks: int
    gold: int


class JudgmentResponse(ResponseModel):
    """One answer as it was given: `left` is the document, or the one that stood left, and `right` is there for pairs.

    `counts` tells whether it is the one that counts now; `batch` is the task. A late answer has a version below 0.
    """

    id: int
    query: str
    left: str
    right: str | None
    judge: str
    kind: str
    answer: str | None
    reason: str | None
    counts: bool
    version: int
    time: Timestamp
    seconds: float | None
    away: float | None
    queue: str
    batch: int
    place: int


class JudgmentPageResponse(ResponseModel):
    """Some answers, and what to ask `after` to get the next; null at the end."""

    judgments: list[JudgmentResponse]
    after: int | None


class QualityResponse(ResponseModel):
    """Agreement and judge quality, as `ringtrue agree` and `ringtrue judges` write them, or why there is none yet."""

    labels: int
    agreement: dict[str, Any] | None
    agreement_note: str | None
    judges: dict[str, Any] | None
    judges_note: str | None
    notes: list[str]


class QueueParams(QueryParams):
    """Which queue is meant."""

    queue: Queue = "main"


class IntervalParams(QueryParams):
    """How intervals are made."""

    resamples: Annotated[int, Field(ge=0, le=1_000, description="0 for no intervals.")] = 200
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0


class JudgmentParams(QueryParams):
    """Which answers are wanted."""

    queue: Literal["main", "gold", "trap"] = "main"
    counting: Annotated[bool, Field(description="Those that count, or every one that was ever given.")] = True
    after: Annotated[int, Field(ge=0, le=MAX_ID, description="The number of the last answer of the page before.")] = 0
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000


@router.get(
    "/projects/{project}/progress",
    summary="How far a project is",
    response_model=ProgressResponse,
    responses=error_responses(404),
)
async def get_progress(project: ProjectName, caller: Reader, which: Annotated[QueueParams, Query()]) -> Any:
    """Over all."""
    return await caller.read(lambda c: load_progress(c, caller.load_project(c, project, "viewer").id, which.queue))


@router.get(
    "/projects/{project}/progress/queries",
    summary="How far each query is",
    response_model=list[QueryProgressResponse],
    responses=error_responses(404),
)
async def get_progress_by_query(project: ProjectName, caller: Reader, which: Annotated[QueueParams, Query()]) -> Any:
    """In the order in which they came."""
    return await caller.read(
        lambda c: load_query_progress(c, caller.load_project(c, project, "viewer").id, which.queue)
    )


@router.get(
    "/projects/{project}/progress/judges",
    summary="What each judge has done",
    response_model=list[JudgeProgressResponse],
    responses=error_responses(404),
)
async def get_progress_by_judge(project: ProjectName, caller: Reader) -> Any:
    """Those with the most answers first."""
    return await caller.read(lambda c: load_judge_progress(c, caller.load_project(c, project, "viewer")))


@router.get(
    "/projects/{project}/judgments",
    summary="Answers, a page at a time",
    response_model=JudgmentPageResponse,
    responses=error_responses(404),
)
async def get_judgments(project: ProjectName, caller: Reader, which: Annotated[JudgmentParams, Query()]) -> Any:
    """In the order in which they came. For all of them in one stream, take an export: jsonl, csv or history."""

    def load(connection: Connection) -> Any:
        return load_answers_after(connection, caller.load_project(connection, project, "viewer"), **which.model_dump())

    page = await caller.read(load)
    return {"judgments": page, "after": page[-1].id if len(page) == which.limit else None}


@router.get(
    "/projects/{project}/quality",
    summary="How far judges agree, and how good each is",
    response_model=QualityResponse,
    responses=error_responses(404),
)
async def get_quality(project: ProjectName, caller: Reader, how: Annotated[IntervalParams, Query()]) -> Any:
    """Of what was collected so far, with traps and gold labels as known answers."""
    from ringtrue.service.collect.quality import assess_quality

    stored_project = await caller.fetch_project(project, "viewer")
    quality = await caller.server.compute(
        lambda: assess_quality(
            caller.server.store,
            stored_project,
            resamples=how.resamples,
            level=how.level,
            rng=np.random.default_rng(how.seed),
        )
    )
    return {
        "labels": quality.labels,
        "agreement": None if quality.agreement is None else quality.agreement.as_dict(),
        "agreement_note": quality.agreement_note,
        "judges": None if quality.judges is None else quality.judges.as_dict(),
        "judges_note": quality.judges_note,
        "notes": quality.notes,
    }
