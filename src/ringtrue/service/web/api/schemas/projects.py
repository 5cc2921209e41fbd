"""What is said about projects: how one is asked for, and how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ringtrue.errors import UsageError
from ringtrue.service.store.records import PREFERENCE, FailedTraps, Label, Scale
from ringtrue.service.web.api.file_uploads import FilesRequest
from ringtrue.service.web.api.schemas.common import (
    NO_NUL_PATTERN,
    ProjectName,
    QueryParams,
    RequestModel,
    ResponseModel,
    Timestamp,
)

if TYPE_CHECKING:
    from ringtrue.service.collect.project_setup import ProjectSetup
    from ringtrue.service.store.records import Project
    from ringtrue.service.web.api.token_auth import Caller

Title = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL_PATTERN)]
Guidelines = Annotated[str, StringConstraints(max_length=200_000, pattern=NO_NUL_PATTERN)]
ButtonName = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=NO_NUL_PATTERN)]
PREFERENCE_ANSWERS = ("left", "right", "tie", "both_good", "both_bad")


class LabelRequest(RequestModel):
    """One of the answers. A label's value is its place, from 0, unless it is given; the worst comes first."""

    value: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,4}|left|right|tie|both_good|both_bad)$")] | None = None
    name: ButtonName
    hint: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL_PATTERN)] = ""


class ScaleRequest(RequestModel):
    """How it is judged: `graded` labels with names, or which of two documents is better."""

    kind: Literal["graded", "preference"]
    labels: Annotated[list[LabelRequest], Field(min_length=2, max_length=10)] | None = None


class SettingsRequest(RequestModel):
    """How a project is judged; what is left out stays as it is."""

    judges: Annotated[int, Field(ge=1, le=1_000, description="How many judges each item gets.")] = 3
    task_size: Annotated[int, Field(ge=1, le=500)] = 20
    traps: Annotated[int, Field(ge=0, le=499)] = 5
    traps_needed: Annotated[int, Field(ge=0, le=499)] = 4
    failed_traps: FailedTraps = "flag"
    minutes: Annotated[int, Field(ge=1, le=1_440)] | None = 30
    lease_minutes: Annotated[int, Field(ge=1, le=43_200)] = 30
    shortcuts: bool = True
    highlight: bool = True
    html: bool = False
    together: bool = True
    active: bool = False


class ProjectRequest(FilesRequest):
    """A new project, with the files that it is made from; more can be added later."""

    name: ProjectName
    title: Title
    scale: ScaleRequest
    settings: SettingsRequest = SettingsRequest()
    guidelines: Guidelines = ""


class ProjectChangeRequest(RequestModel):
    """What to change; what is left out stays."""

    title: Title | None = None
    guidelines: Guidelines | None = None
    settings: SettingsRequest | None = None
    closed: bool | None = None


class DeletionParams(QueryParams):
    """That it is meant."""

    confirm: Annotated[ProjectName, Field(description="The name of the project once more.")]


class LabelResponse(ResponseModel):
    """One of the answers."""

    value: str
    name: str
    hint: str


class ScaleResponse(ResponseModel):
    """Which answers there are."""

    kind: Literal["graded", "preference"]
    labels: list[LabelResponse]


class SettingsResponse(ResponseModel):
    """How a project is judged."""

    judges: int
    task_size: int
    traps: int
    traps_needed: int
    failed_traps: FailedTraps
    minutes: int | None
    lease_minutes: int
    shortcuts: bool
    highlight: bool
    html: bool
    together: bool
    active: bool


class ProjectResponse(ResponseModel):
    """A set of queries and documents to be judged on one scale; `roles` are those of whoever asks."""

    name: str
    title: str
    guidelines: str
    scale: ScaleResponse
    settings: SettingsResponse
    created: Timestamp
    closed: Timestamp | None
    roles: list[str]


class ProjectFilesResponse(ResponseModel):
    """What files brought into a project: new items and traps, queries and documents with texts, and every doubt."""

    project: ProjectResponse
    items: int
    queries: int
    documents: int
    traps: int
    notes: list[str]


class ImportResponse(ResponseModel):
    """What was imported: labels that are new, that were there already, and by how many judges."""

    new: int
    known: int
    judges: int
    notes: list[str]


class RevertedImportResponse(ResponseModel):
    """How many labels were taken back, and how many items that were there for them alone."""

    labels: int
    items: int


class UploadResponse(ResponseModel):
    """A file of a project; `size` is that of the file when it was sent, in bytes."""

    id: int
    kind: str
    name: str
    size: int
    time: Timestamp


def make_project_response(project: Project, caller: Caller) -> dict[str, Any]:
    """A project as whoever asks sees it."""
    roles = sorted(caller.person.roles.get(project.id, frozenset()) | ({"owner"} if caller.person.owner else set()))
    return {
        "name": project.name,
        "title": project.title,
        "guidelines": project.guidelines,
        "scale": project.scale,
        "settings": project.settings,
        "created": project.created,
        "closed": project.closed,
        "roles": roles,
    }


def make_project_files_response(created: ProjectSetup, caller: Caller) -> dict[str, Any]:
    """What files brought, as it is sent back."""
    return {
        "project": make_project_response(created.project, caller),
        "items": created.items,
        "queries": created.queries,
        "documents": created.documents,
        "traps": created.traps,
        "notes": created.notes,
    }


def make_scale(requested: ScaleRequest) -> Scale:
    """The scale that was asked for."""
    if requested.labels is None:
        if requested.kind == "graded":
            raise UsageError("a graded scale needs labels, the worst first: [{'name': 'Not relevant'}, …]")
        return PREFERENCE
    values = [label.value or str(position) for position, label in enumerate(requested.labels)]
    if requested.kind == "preference" and not {"left", "right"} <= set(values) <= set(PREFERENCE_ANSWERS):
        raise UsageError(f"answers about two documents are left, right, tie, both_good, both_bad; found {values}")
    return Scale(
        kind=requested.kind,
        labels=tuple(
            Label(value=value, name=label.name, hint=label.hint)
            for value, label in zip(values, requested.labels, strict=True)
        ),
    )
