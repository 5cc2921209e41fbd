"""Projects: list, make, change, close, delete, and the files that they are made from."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from ringtrue.errors import UsageError
from ringtrue.service.collect.import_labels import LabelImportSummary, import_labels, revert_import
from ringtrue.service.collect.project_setup import ProjectSetup, extend_project, make_project
from ringtrue.service.collect.uploads import load_project_uploads, read_upload_file
from ringtrue.service.store.imports import RevertedImport
from ringtrue.service.store.projects import (
    Upload,
    change_project,
    close_project,
    delete_project,
    get_project_by_id,
    load_projects,
)
from ringtrue.service.store.records import TRAP_SETTINGS, FailedTraps, Label, Project, Scale, Settings
from ringtrue.service.web.api.file_bodies import describe_upload_body, encode_file, encode_file_or_none, read_upload
from ringtrue.service.web.api.schemas import (
    FilesRequest,
    ImportRequest,
    ProjectChangeRequest,
    ProjectName,
    ProjectRequest,
    QueryParams,
    ResponseModel,
    RowId,
    describe_notes,
    error_responses,
    fields_of,
    make_scale,
)
from ringtrue.service.web.auth.token_auth import Anybody, Caller, Manager
from ringtrue.service.web.owner.project_form import default_guidelines
from ringtrue.service.web.responses import attachment_headers, describe_download

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["projects"])


class DeletionParams(QueryParams):
    """That it is meant."""

    confirm: Annotated[ProjectName, Field(description="The name of the project once more.")]


@fields_of(Label)
class LabelResponse(ResponseModel):
    """One of the answers."""


@fields_of(Scale)
class ScaleResponse(ResponseModel):
    """Which answers there are."""

    labels: list[LabelResponse]


@fields_of(Settings)
class SettingsResponse(ResponseModel):
    """How a project is judged; what is about traps is null for judges."""

    traps: int | None
    traps_needed: int | None
    failed_traps: FailedTraps | None
    completion_traps: bool | None


@fields_of(Project, omit=("id",))
class ProjectResponse(ResponseModel):
    """A set of queries and documents to be judged on one scale; `roles` are those of whoever asks."""

    scale: ScaleResponse
    settings: SettingsResponse
    roles: list[str]


class ProjectFilesResponse(ResponseModel):
    """What files brought into a project: new items and traps, queries and documents with texts, and every doubt."""

    project: ProjectResponse
    items: int
    queries: int
    documents: int
    traps: int
    notes: list[str]
    note_codes: list[str]


@fields_of(LabelImportSummary)
class ImportResponse(ResponseModel):
    """What was imported: labels that are new, that were there already, and by how many judges."""

    notes: list[str]
    note_codes: list[str]


@fields_of(RevertedImport)
class RevertedImportResponse(ResponseModel):
    """How many labels were taken back, and how many items that were there for them alone."""


@fields_of(Upload, omit=("head",))
class UploadResponse(ResponseModel):
    """A file of a project; `size` is that of the file when it was sent, in bytes."""


@router.get(
    "/projects",
    summary="The projects that the account sees",
    response_model=list[ProjectResponse],
    responses=error_responses(),
)
async def list_projects(caller: Anybody) -> Any:
    """All of them for an owner, the newest first; for others, those in which they have a role."""

    def work(connection: Connection) -> list[dict[str, Any]]:
        all_projects = load_projects(connection)
        return [
            _make_project_response(project, caller)
            for project in all_projects
            if caller.person.owner or caller.person.roles.get(project.id)
        ]

    return await caller.read(work)


@router.post(
    "/projects",
    summary="Make a project",
    status_code=201,
    response_model=ProjectFilesResponse,
    responses=error_responses(409),
)
async def make_a_project(caller: Manager, body: ProjectRequest) -> Any:
    """Small files can come along as texts; others are sent to `/projects/{project}/files` afterwards."""
    scale = make_scale(body.scale)
    settings = Settings(**body.settings.model_dump())
    ask, documents = list(map(encode_file, body.ask)), list(map(encode_file, body.documents))
    topics, traps = encode_file_or_none(body.topics), encode_file_or_none(body.traps)
    created = await caller.compute(
        lambda: make_project(
            caller.server.store,
            name=body.name,
            title=body.title,
            scale=scale,
            settings=settings,
            guidelines=body.guidelines or default_guidelines(scale),
            ask=ask,
            topics=topics,
            documents=documents,
            traps=traps,
            depth=body.depth,
            now=caller.now,
            rng=np.random.default_rng(),
        )
    )
    await caller.record_separately("make project", project=created.project.id, items=created.items, scale=scale.kind)
    return _make_project_files_response(created, caller)


@router.get(
    "/projects/{project}", summary="One project", response_model=ProjectResponse, responses=error_responses(404)
)
async def get_project(project: ProjectName, caller: Anybody) -> Any:
    """Its guidelines, scale and settings."""
    return _make_project_response(await caller.fetch_project(project), caller)


@router.patch(
    "/projects/{project}",
    summary="Change, close or open a project",
    response_model=ProjectResponse,
    responses=error_responses(404),
)
async def change_a_project(project: ProjectName, caller: Manager, change: ProjectChangeRequest) -> Any:
    """A closed project gives out no more tasks; what was collected stays."""

    def work(connection: Connection) -> Project:
        stored_project = caller.load_project(connection, project, "owner")
        settings = None
        if change.settings is not None:
            settings = replace(stored_project.settings, **change.settings.model_dump(exclude_unset=True))
        changed_project = change_project(
            connection, stored_project.id, title=change.title, guidelines=change.guidelines, settings=settings
        )
        if change.closed is not None and change.closed != (stored_project.closed is not None):
            close_project(connection, stored_project.id, caller.now if change.closed else None)
            caller.record(connection, "close project" if change.closed else "open project", project=stored_project.id)
        if {"title", "guidelines", "settings"} & change.model_fields_set:
            caller.record(connection, "change settings", project=stored_project.id)
        return get_project_by_id(connection, changed_project.id)

    return _make_project_response(await caller.write(work), caller)


@router.delete(
    "/projects/{project}",
    summary="Delete a project and all that was collected in it",
    status_code=204,
    responses=error_responses(404),
    response_class=Response,
)
async def delete_a_project(project: ProjectName, caller: Manager, sure: Annotated[DeletionParams, Query()]) -> None:
    """There is no way back but a backup."""
    if sure.confirm != project:
        raise UsageError(
            "unconfirmed-deletion",
            f"to delete the project, give its name once more: expected '{project}', found '{sure.confirm}'",
            parameter="confirm",
        )
    stored_project = await caller.fetch_project(project, "owner")

    def delete_and_record() -> None:
        with caller.server.store.transaction() as connection:
            delete_project(connection, stored_project.id)
            caller.record(connection, "delete project", name=stored_project.name)

    await caller.compute(delete_and_record)


@router.get(
    "/projects/{project}/files",
    summary="The files that a project was made from",
    response_model=list[UploadResponse],
    responses=error_responses(404),
)
async def list_files(project: ProjectName, caller: Manager) -> Any:
    """Runs, pools and topics are kept; of labels, pairs and traps what was used; of documents, their texts."""
    stored_project = await caller.fetch_project(project, "owner")
    return await caller.read(lambda connection: load_project_uploads(connection, stored_project.id))


@router.post(
    "/projects/{project}/files",
    summary="Add items, texts or traps from files",
    response_model=ProjectFilesResponse,
    responses=error_responses(404, 415),
    openapi_extra=describe_upload_body(FilesRequest),
)
async def add_files(project: ProjectName, request: Request, caller: Manager) -> Any:
    """As a form with files, which may be packed (.gz, .zst), or small ones as texts in JSON.

    What is there already keeps its answers, and texts are brought up to date.
    """
    stored_project = await caller.fetch_project(project, "owner")
    body, files = await read_upload(request, caller.server, FilesRequest)
    if not any(files.values()):
        raise UsageError("no-files", f"expected at least one file in {', '.join(files)}")
    created = await caller.compute(
        lambda: extend_project(
            caller.server.store,
            stored_project,
            ask=files["ask"],
            topics=next(iter(files["topics"]), None),
            documents=files["documents"],
            traps=next(iter(files["traps"]), None),
            depth=body.depth,
            now=caller.now,
            rng=np.random.default_rng(),
        )
    )
    counts = {
        "items": created.items,
        "queries": created.queries,
        "documents": created.documents,
        "traps": created.traps,
    }
    await caller.record_separately("add files", project=stored_project.id, **counts)
    return _make_project_files_response(created, caller)


@router.get(
    "/projects/{project}/files/{file}",
    summary="One file",
    response_class=Response,
    responses=error_responses(404) | describe_download("application/octet-stream"),
)
async def get_file(project: ProjectName, file: RowId, caller: Manager) -> Response:
    """As it was sent, but for names of judges."""
    stored_project = await caller.fetch_project(project, "owner")
    upload = await caller.compute(lambda: read_upload_file(caller.server.store, stored_project.id, file))
    return Response(upload.content, media_type="application/octet-stream", headers=attachment_headers(upload.name))


@router.post(
    "/projects/{project}/imports",
    summary="Import labels that exist already",
    response_model=ImportResponse,
    responses=error_responses(404, 409, 415),
    openapi_extra=describe_upload_body(ImportRequest),
)
async def import_existing(project: ProjectName, request: Request, caller: Manager) -> Any:
    """Labels or preferences with the names of their judges; the same file twice changes nothing."""
    stored_project = await caller.fetch_project(project, "owner")
    _, files = await read_upload(request, caller.server, ImportRequest)
    (file,) = files["file"]
    imported = await caller.compute(
        lambda: import_labels(caller.server.store, stored_project, file, now=caller.now, rng=np.random.default_rng())
    )
    await caller.record_separately("import labels", project=stored_project.id, new=imported.new, known=imported.known)
    return asdict(imported) | describe_notes(imported.notes)


@router.post(
    "/projects/{project}/files/{file}/take-back",
    summary="Take back the labels that were imported from a file",
    response_model=RevertedImportResponse,
    responses=error_responses(404),
)
async def take_back(project: ProjectName, file: RowId, caller: Manager) -> Any:
    """They count no more; items that were there for them alone are deleted."""
    stored_project = await caller.fetch_project(project, "owner")
    reverted = await caller.compute(lambda: revert_import(caller.server.store, stored_project, file))
    await caller.record_separately(
        "take back labels", project=stored_project.id, labels=reverted.labels, items=reverted.items
    )
    return reverted


def _make_project_response(project: Project, caller: Caller) -> dict[str, Any]:
    """A project as whoever asks sees it: traps are shown to viewers and owners, by a token that reads or manages."""
    roles = caller.person.roles.get(project.id, frozenset()) | ({"owner"} if caller.person.owner else set())
    settings = asdict(project.settings)
    if not caller.person.may("viewer", project.id) or caller.scopes <= {"judge"}:
        settings |= dict.fromkeys(TRAP_SETTINGS)
    project_fields = {field.name: getattr(project, field.name) for field in fields(project)}
    return project_fields | {"settings": settings, "roles": sorted(roles)}


def _make_project_files_response(created: ProjectSetup, caller: Caller) -> dict[str, Any]:
    """What files brought, as it is sent back."""
    counts = {field.name: getattr(created, field.name) for field in fields(created)}
    return counts | {"project": _make_project_response(created.project, caller)} | describe_notes(created.notes)
