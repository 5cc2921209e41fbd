"""How a project goes: progress, answers as they come in, agreement and judge quality, and all of it as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.messages import spell_all
from ringtrue.service.collect.export import export_project
from ringtrue.service.collect.export_formats import list_export_formats
from ringtrue.service.collect.quality import assess_quality
from ringtrue.service.store.label_queries import ListedAnswer, load_answers_after
from ringtrue.service.store.progress import (
    JudgeProgress,
    QueryProgress,
    load_judge_progress,
    load_progress,
    load_query_progress,
)
from ringtrue.service.store.records import MAX_ID, Progress, Queue
from ringtrue.service.web.api.schemas import (
    NO_NUL_PATTERN,
    ProjectName,
    QueryParams,
    ResponseModel,
    describe_notes,
    error_responses,
    fields_of,
)
from ringtrue.service.web.auth.token_auth import Reader
from ringtrue.service.web.downloads import make_in_temp_folder, send_temp_file
from ringtrue.service.web.field_spelling import API_SPELLING
from ringtrue.service.web.responses import describe_download

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["progress"])
exports_router = APIRouter(tags=["exports"])
ExportKey = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
MAX_HEADER_LENGTH = 4_000
MEDIA_TYPES = (
    "text/plain",
    "text/csv",
    "text/tab-separated-values",
    "application/x-ndjson",
    "application/vnd.apache.parquet",
    "application/zip",
)


@fields_of(Progress)
class ProgressResponse(ResponseModel):
    """How far a queue is: items, judgments wanted of them, done and being made."""


@fields_of(QueryProgress)
class QueryProgressResponse(ResponseModel):
    """How far one query is."""


@fields_of(JudgeProgress)
class JudgeProgressResponse(ResponseModel):
    """What one judge has done of the main queue, without traps, and of `gold`; `seconds` is the median."""


@fields_of(ListedAnswer)
class JudgmentResponse(ResponseModel):
    """One answer as it was given: `left` is the document, or the one that stood left, and `right` is there for pairs.

    `counts` tells whether it is the one that counts now; `batch` is the task. A late answer has a version below 0.
    """


class JudgmentPageResponse(ResponseModel):
    """Some answers, and what to ask `after` to get the next; null at the end."""

    judgments: list[JudgmentResponse]
    after: int | None


class QualityResponse(ResponseModel):
    """Agreement and judge quality, as `ringtrue agree` and `ringtrue judges` write them, or why there is none yet."""

    labels: int
    agreement: dict[str, Any] | None
    agreement_note: str | None
    agreement_note_code: str | None
    judges: dict[str, Any] | None
    judges_note: str | None
    judges_note_code: str | None
    notes: list[str]
    note_codes: list[str]


class ExportFormatResponse(ResponseModel):
    """A kind of file that there is for a project."""

    key: str
    title: str
    ending: str
    media_type: str
    about: str


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


class ExportParams(QueryParams):
    """Which labels go into the file."""

    which: Annotated[
        Literal["every", "one"],
        Field(
            description="Every judge's, or one for each item: the verdict, else the majority's, and of ties the lower."
        ),
    ] = "every"
    judge: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL_PATTERN)] | None = Field(
        default=None, description="The handle of the one judge whose labels are wanted."
    )
    queue: Queue = "main"
    traps: Annotated[bool, Field(description="With the answers to traps.")] = False
    failed: Annotated[bool, Field(description="With tasks that failed their traps.")] = True


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
    stored_project = await caller.fetch_project(project, "viewer")
    quality = await caller.compute(
        lambda: assess_quality(
            caller.server.store,
            stored_project,
            resamples=how.resamples,
            level=how.level,
            rng=np.random.default_rng(how.seed),
        ),
        share=("quality", stored_project.id, how.resamples, how.level, how.seed),
    )
    parts = {
        "labels": quality.labels,
        "agreement": None if quality.agreement is None else quality.agreement.as_dict(),
        "agreement_note": quality.agreement_note,
        "agreement_note_code": getattr(quality.agreement_note, "code", None),
        "judges": None if quality.judges is None else quality.judges.as_dict(),
        "judges_note": quality.judges_note,
        "judges_note_code": getattr(quality.judges_note, "code", None),
    }
    return spell_all(parts, API_SPELLING) | describe_notes(quality.notes)


@exports_router.get(
    "/projects/{project}/exports",
    summary="The kinds of files that there are",
    response_model=list[ExportFormatResponse],
    responses=error_responses(404),
)
async def list_exports(project: ProjectName, caller: Reader) -> Any:
    """And what each is for."""
    return list_export_formats(await caller.fetch_project(project, "viewer"))


@exports_router.get(
    "/projects/{project}/exports/{key}",
    summary="What was collected, as a file",
    response_class=Response,
    responses=error_responses(404) | describe_download(*MEDIA_TYPES),
)
async def get_export(
    project: ProjectName, key: ExportKey, caller: Reader, which: Annotated[ExportParams, Query()]
) -> Response:
    """With judge ids and times; `ringtrue` reads it back without conversion.

    What is doubtful, such as ties of one label for each item, stands in the header `Ringtrue-Notes`, as a JSON list,
    and the codes in `Ringtrue-Note-Codes`.
    """
    stored_project = await caller.fetch_project(project, "viewer")

    exported = await make_in_temp_folder(
        caller,
        lambda folder: export_project(
            caller.server.store, stored_project, key, folder, **which.model_dump(), spelling=caller.server.spelling
        ),
    )
    await caller.record_separately("export", project=stored_project.id, key=key, rows=exported.rows)
    response = send_temp_file(exported.path, name=exported.name, media_type=exported.media_type)
    if exported.notes:
        described = describe_notes(exported.notes)
        response.headers["Ringtrue-Notes"] = json.dumps(described["notes"])[:MAX_HEADER_LENGTH]
        response.headers["Ringtrue-Note-Codes"] = json.dumps(described["note_codes"])[:MAX_HEADER_LENGTH]
    return response
