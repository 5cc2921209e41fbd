"""What was collected, as files."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.service.collect.export import export_project
from ringtrue.service.collect.export_formats import list_export_formats
from ringtrue.service.store.records import Queue
from ringtrue.service.web.api.schemas.common import (
    NO_NUL_PATTERN,
    ProjectName,
    QueryParams,
    ResponseModel,
    error_responses,
)
from ringtrue.service.web.api.token_auth import Reader
from ringtrue.service.web.downloads import describe_download, make_in_temp_folder, send_temp_file

router = APIRouter(tags=["exports"])
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


class ExportFormatResponse(ResponseModel):
    """A kind of file that there is for a project."""

    key: str
    title: str
    ending: str
    media_type: str
    about: str


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
    "/projects/{project}/exports",
    summary="The kinds of files that there are",
    response_model=list[ExportFormatResponse],
    responses=error_responses(404),
)
async def list_exports(project: ProjectName, caller: Reader) -> Any:
    """And what each is for."""
    return list_export_formats(await caller.fetch_project(project, "viewer"))


@router.get(
    "/projects/{project}/exports/{key}",
    summary="What was collected, as a file",
    response_class=Response,
    responses=error_responses(404) | describe_download(*MEDIA_TYPES),
)
async def get_export(
    project: ProjectName, key: ExportKey, caller: Reader, which: Annotated[ExportParams, Query()]
) -> Response:
    """With judge ids and times; `ringtrue` reads it back without conversion.

    What is doubtful, such as ties of one label for each item, stands in the header `Ringtrue-Notes`, as a JSON list.
    """
    stored_project = await caller.fetch_project(project, "viewer")

    exported = await make_in_temp_folder(
        caller.server,
        lambda folder: export_project(caller.server.store, stored_project, key, folder, **which.model_dump()),
    )
    await caller.record_separately("export", project=stored_project.id, key=key, rows=exported.rows)
    response = send_temp_file(exported.path, name=exported.name, media_type=exported.media_type)
    if exported.notes:
        response.headers["Ringtrue-Notes"] = json.dumps(exported.notes)[:MAX_HEADER_LENGTH]
    return response
