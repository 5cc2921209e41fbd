"""How a project goes: progress, answers as they come in, agreement and judge quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from ringtrue.service.store.answer_feed import answers_after
from ringtrue.service.store.progress import progress, progress_by_judge, progress_by_query
from ringtrue.service.web.api.schemas.common import LARGEST, Answering, Choosing, Moment, Name, Queue, faults
from ringtrue.service.web.api.token_auth import Reader

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(tags=["progress"])


class ProgressShown(Answering):
    """How far a queue is: items, judgments wanted of them, done and being made."""

    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int
    skipped: int
    judges: int


class QueryProgressShown(Answering):
    """How far one query is."""

    query: str
    text: str | None
    items: int
    wanted: int
    done: int
    open: int
    complete: int
    unsure: int


class JudgeProgressShown(Answering):
    """What one judge has done of the main queue, without traps, and of `gold`; `seconds` is the median."""

    account: int
    handle: str
    kind: str
    done: int
    open: int
    unsure: int
    skipped: int
    seconds: float | None
    last_seen: Moment | None
    tasks: int
    traps: int
    passed: int
    failed_tasks: int
    gold: int


class AnswerShown(Answering):
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
    time: Moment
    seconds: float | None
    away: float | None
    queue: str
    batch: int
    place: int


class AnswerPage(Answering):
    """Some answers, and what to ask `after` to get the next; null at the end."""

    judgments: list[AnswerShown]
    after: int | None


class QualityShown(Answering):
    """Agreement and judge quality, as `ringtrue agree` and `ringtrue judges` write them, or why there is none yet."""

    labels: int
    agreement: dict[str, Any] | None
    agreement_note: str | None
    judges: dict[str, Any] | None
    judges_note: str | None
    notes: list[str]


class WhichQueue(Choosing):
    """Which queue is meant."""

    queue: Queue = "main"


class HowSure(Choosing):
    """How intervals are made."""

    resamples: Annotated[int, Field(ge=0, le=1_000, description="0 for no intervals.")] = 200
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0


class WhichAnswers(Choosing):
    """Which answers are wanted."""

    queue: Literal["main", "gold", "trap"] = "main"
    counting: Annotated[bool, Field(description="Those that count, or every one that was ever given.")] = True
    after: Annotated[int, Field(ge=0, le=LARGEST, description="The number of the last answer of the page before.")] = 0
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000


@router.get(
    "/projects/{project}/progress", summary="How far a project is",
    response_model=ProgressShown, responses=faults(404),
)  # fmt: skip
async def get_progress(project: Name, caller: Reader, which: Annotated[WhichQueue, Query()]) -> Any:
    """Over all."""
    return await caller.read(lambda c: progress(c, caller.project(c, project, "viewer").id, which.queue))


@router.get(
    "/projects/{project}/progress/queries", summary="How far each query is",
    response_model=list[QueryProgressShown], responses=faults(404),
)  # fmt: skip
async def get_progress_by_query(project: Name, caller: Reader, which: Annotated[WhichQueue, Query()]) -> Any:
    """In the order in which they came."""
    return await caller.read(lambda c: progress_by_query(c, caller.project(c, project, "viewer").id, which.queue))


@router.get(
    "/projects/{project}/progress/judges", summary="What each judge has done",
    response_model=list[JudgeProgressShown], responses=faults(404),
)  # fmt: skip
async def get_progress_by_judge(project: Name, caller: Reader) -> Any:
    """Those with the most answers first."""
    return await caller.read(lambda c: progress_by_judge(c, caller.project(c, project, "viewer")))


@router.get(
    "/projects/{project}/judgments", summary="Answers, a page at a time",
    response_model=AnswerPage, responses=faults(404),
)  # fmt: skip
async def get_judgments(project: Name, caller: Reader, which: Annotated[WhichAnswers, Query()]) -> Any:
    """In the order in which they came. For all of them in one stream, take an export: jsonl, csv or history."""

    def found(connection: Connection) -> Any:
        return answers_after(connection, caller.project(connection, project, "viewer"), **which.model_dump())

    page = await caller.read(found)
    return {"judgments": page, "after": page[-1].id if len(page) == which.limit else None}


@router.get(
    "/projects/{project}/quality", summary="How far judges agree, and how good each is",
    response_model=QualityShown, responses=faults(404),
)  # fmt: skip
async def get_quality(project: Name, caller: Reader, how: Annotated[HowSure, Query()]) -> Any:
    """Of what was collected so far, with traps and gold labels as known answers."""
    from ringtrue.service.collect.quality import quality_of

    found = await caller.project_named(project, "viewer")
    made = await caller.site.compute(
        lambda: quality_of(
            caller.site.store, found, resamples=how.resamples, level=how.level, rng=np.random.default_rng(how.seed)
        )
    )
    return {
        "labels": made.labels,
        "agreement": None if made.agreement is None else made.agreement.as_dict(),
        "agreement_note": made.agreement_note,
        "judges": None if made.judges is None else made.judges.as_dict(),
        "judges_note": made.judges_note,
        "notes": made.notes,
    }  # fmt: skip
