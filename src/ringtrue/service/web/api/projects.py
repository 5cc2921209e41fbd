"""Projects: list, make, change, close, delete, and the files that they are made from."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from ringtrue.errors import UsageError
from ringtrue.service.collect.import_labels import import_labels, take_back_import
from ringtrue.service.collect.project_setup import extend_project, make_project
from ringtrue.service.collect.uploads import upload_content, uploads
from ringtrue.service.store.projects import change_project, close_project, delete_project, project_by_id, projects
from ringtrue.service.store.records import Settings
from ringtrue.service.web.api.file_uploads import FilesRequest, ImportRequest, body_of, files_of, given, given_or_none
from ringtrue.service.web.api.schemas.common import Name, Number, faults
from ringtrue.service.web.api.schemas.projects import (
    Confirmation,
    FileShown,
    Imported,
    ProjectChange,
    ProjectMade,
    ProjectRequest,
    ProjectShown,
    TakenBack,
    made_of,
    scale_of,
    shown,
)
from ringtrue.service.web.api.token_auth import Anybody, Manager
from ringtrue.service.web.downloads import as_download, attachment
from ringtrue.service.web.owner.default_guidelines import default_guidelines

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Project

__all__ = ["router"]

router = APIRouter(tags=["projects"])


@router.get(
    "/projects", summary="The projects that the account sees", response_model=list[ProjectShown], responses=faults()
)
async def list_projects(caller: Anybody) -> Any:
    """All of them for an owner, the newest first; for others, those in which they have a role."""

    def seen(connection: Connection) -> list[dict[str, Any]]:
        every = projects(connection)
        return [shown(one, caller) for one in every if caller.person.owner or caller.person.roles.get(one.id)]

    return await caller.read(seen)


@router.post("/projects", summary="Make a project", status_code=201, response_model=ProjectMade, responses=faults(409))
async def make_a_project(caller: Manager, wanted: ProjectRequest) -> Any:
    """Small files can come along as texts; others are sent to `/projects/{project}/files` afterwards."""
    scale = scale_of(wanted.scale)
    settings = Settings(**wanted.settings.model_dump())
    ask, documents = list(map(given, wanted.ask)), list(map(given, wanted.documents))
    topics, traps = given_or_none(wanted.topics), given_or_none(wanted.traps)
    made = await caller.site.compute(
        lambda: make_project(
            caller.site.store, name=wanted.name, title=wanted.title, scale=scale, settings=settings,
            guidelines=wanted.guidelines or default_guidelines(scale), ask=ask, topics=topics, documents=documents,
            traps=traps, depth=wanted.depth, now=caller.now, rng=np.random.default_rng(),
        )
    )  # fmt: skip
    await caller.note("make project", project=made.project.id, items=made.items, scale=scale.kind)
    return made_of(made, caller)


@router.get("/projects/{project}", summary="One project", response_model=ProjectShown, responses=faults(404))
async def get_project(project: Name, caller: Anybody) -> Any:
    """Its guidelines, scale and settings."""
    return shown(await caller.project_named(project), caller)


@router.patch(
    "/projects/{project}", summary="Change, close or open a project",
    response_model=ProjectShown, responses=faults(404),
)  # fmt: skip
async def change_a_project(project: Name, caller: Manager, change: ProjectChange) -> Any:
    """A closed project gives out no more tasks; what was collected stays."""

    def changed(connection: Connection) -> Project:
        found = caller.project(connection, project, "owner")
        settings = None
        if change.settings is not None:
            settings = replace(found.settings, **change.settings.model_dump(exclude_unset=True))
        after = change_project(
            connection, found.id, title=change.title, guidelines=change.guidelines, settings=settings
        )
        if change.closed is not None and change.closed != (found.closed is not None):
            close_project(connection, found.id, caller.now if change.closed else None)
            caller.record(connection, "close project" if change.closed else "open project", project=found.id)
        if {"title", "guidelines", "settings"} & change.model_fields_set:
            caller.record(connection, "change settings", project=found.id)
        return project_by_id(connection, after.id)

    return shown(await caller.write(changed), caller)


@router.delete(
    "/projects/{project}", summary="Delete a project and all that was collected in it", status_code=204,
    responses=faults(404), response_class=Response,
)  # fmt: skip
async def delete_a_project(project: Name, caller: Manager, sure: Annotated[Confirmation, Query()]) -> Response:
    """There is no way back but a backup."""
    if sure.confirm != project:
        raise UsageError(f"to delete the project '{project}', say its name once more: ?confirm={project}")
    found = await caller.project_named(project, "owner")

    def deleted() -> None:
        with caller.site.store.transaction() as connection:
            delete_project(connection, found.id)
            caller.record(connection, "delete project", name=found.name)

    await caller.site.compute(deleted)
    return Response(status_code=204)


@router.get(
    "/projects/{project}/files", summary="The files that a project was made from",
    response_model=list[FileShown], responses=faults(404),
)  # fmt: skip
async def list_files(project: Name, caller: Manager) -> Any:
    """Runs, pools and topics are kept; of labels, pairs and traps what was used; of documents, their texts."""
    found = await caller.project_named(project, "owner")
    return await caller.site.compute(lambda: uploads(caller.site.store, found.id))


@router.post(
    "/projects/{project}/files", summary="Add items, texts or traps from files",
    response_model=ProjectMade, responses=faults(404, 415), openapi_extra=body_of(FilesRequest),
)  # fmt: skip
async def add_files(project: Name, request: Request, caller: Manager) -> Any:
    """As a form with files, which may be packed (.gz, .zst), or small ones as texts in JSON.

    What is there already keeps its answers, and texts are brought up to date.
    """
    found = await caller.project_named(project, "owner")
    sent, files = await files_of(request, caller.site, FilesRequest)
    if not any(files.values()):
        raise UsageError(f"expected at least one file in {', '.join(files)}")
    made = await caller.site.compute(
        lambda: extend_project(
            caller.site.store, found, ask=files["ask"], topics=next(iter(files["topics"]), None),
            documents=files["documents"], traps=next(iter(files["traps"]), None), depth=sent.depth, now=caller.now,
            rng=np.random.default_rng(),
        )
    )  # fmt: skip
    counts = {"items": made.items, "queries": made.queries, "documents": made.documents, "traps": made.traps}
    await caller.note("add files", project=found.id, **counts)
    return made_of(made, caller)


@router.get(
    "/projects/{project}/files/{file}", summary="One file",
    response_class=Response, responses=faults(404) | as_download("application/octet-stream"),
)  # fmt: skip
async def get_file(project: Name, file: Number, caller: Manager) -> Response:
    """As it was sent, but for names of judges."""
    found = await caller.project_named(project, "owner")
    sent = await caller.site.compute(lambda: upload_content(caller.site.store, found.id, file))
    return Response(sent.content, media_type="application/octet-stream", headers=attachment(sent.name))


@router.post(
    "/projects/{project}/imports", summary="Import labels that exist already",
    response_model=Imported, responses=faults(404, 409, 415), openapi_extra=body_of(ImportRequest),
)  # fmt: skip
async def import_existing(project: Name, request: Request, caller: Manager) -> Any:
    """Labels or preferences with the names of their judges; the same file twice changes nothing."""
    found = await caller.project_named(project, "owner")
    _, files = await files_of(request, caller.site, ImportRequest)
    (file,) = files["file"]
    done = await caller.site.compute(
        lambda: import_labels(caller.site.store, found, file, now=caller.now, rng=np.random.default_rng())
    )
    await caller.note("import labels", project=found.id, new=done.new, known=done.known)
    return asdict(done)


@router.post(
    "/projects/{project}/files/{file}/take-back", summary="Take back the labels that were imported from a file",
    response_model=TakenBack, responses=faults(404),
)  # fmt: skip
async def take_back(project: Name, file: Number, caller: Manager) -> Any:
    """They count no more; items that were there for them alone are deleted."""
    found = await caller.project_named(project, "owner")
    done = await caller.site.compute(lambda: take_back_import(caller.site.store, found, file))
    await caller.note("take back labels", project=found.id, labels=done.labels, items=done.items)
    return done
