"""What was collected, as files."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.service.collect.export import export
from ringtrue.service.collect.export_formats import export_forms
from ringtrue.service.web.api.schemas.common import WITHOUT_NUL, Answering, Choosing, Name, Queue, faults
from ringtrue.service.web.api.token_auth import Reader
from ringtrue.service.web.downloads import as_download, made_in_folder, sent_file

__all__ = ["router"]

router = APIRouter(tags=["exports"])
Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
LONGEST_HEADER = 4_000
KINDS = (
    "text/plain", "text/csv", "text/tab-separated-values", "application/x-ndjson", "application/vnd.apache.parquet",
    "application/zip",
)  # fmt: skip


class ExportShown(Answering):
    """A kind of file that there is for a project."""

    key: str
    title: str
    ending: str
    media_type: str
    about: str


class WhichLabels(Choosing):
    """Which labels go into the file."""

    which: Annotated[
        Literal["every", "one"],
        Field(
            description="Every judge's, or one for each item: the verdict, else the majority's, and of ties the lower."
        ),
    ] = "every"
    judge: Annotated[str, StringConstraints(max_length=200, pattern=WITHOUT_NUL)] | None = Field(
        default=None, description="The handle of the one judge whose labels are wanted."
    )
    queue: Queue = "main"
    traps: Annotated[bool, Field(description="With the answers to traps.")] = False
    failed: Annotated[bool, Field(description="With tasks that failed their traps.")] = True


@router.get(
    "/projects/{project}/exports", summary="The kinds of files that there are",
    response_model=list[ExportShown], responses=faults(404),
)  # fmt: skip
async def list_exports(project: Name, caller: Reader) -> Any:
    """And what each is for."""
    return export_forms(await caller.project_named(project, "viewer"))


@router.get(
    "/projects/{project}/exports/{key}", summary="What was collected, as a file",
    response_class=Response, responses=faults(404) | as_download(*KINDS),
)  # fmt: skip
async def get_export(project: Name, key: Key, caller: Reader, which: Annotated[WhichLabels, Query()]) -> Response:
    """With judge ids and times; `ringtrue` reads it back without conversion.

    What is doubtful, such as ties of one label for each item, stands in the header `Ringtrue-Notes`, as a JSON list.
    """
    found = await caller.project_named(project, "viewer")

    made = await made_in_folder(
        caller.site, lambda folder: export(caller.site.store, found, key, folder, **which.model_dump())
    )
    await caller.note("export", project=found.id, key=key, rows=made.rows)
    answer = sent_file(made.path, name=made.name, media_type=made.media_type)
    if made.notes:
        answer.headers["Ringtrue-Notes"] = json.dumps(made.notes)[:LONGEST_HEADER]
    return answer
