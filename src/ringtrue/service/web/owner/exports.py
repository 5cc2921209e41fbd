"""What was collected as files, and labels from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.collect.export import (
    ExportedFile,
    LabelSelection,
    export_project,
    format_ties_note,
)
from ringtrue.service.collect.export_formats import list_export_formats, make_export_call
from ringtrue.service.collect.import_labels import import_labels, revert_import
from ringtrue.service.collect.uploads import read_upload_file
from ringtrue.service.store.adjudication import count_ties
from ringtrue.service.store.progress import load_judge_progress
from ringtrue.service.web.auth.dependencies import ProjectOwner, ProjectOwnerUpload, RequestContext, Viewer
from ringtrue.service.web.downloads import make_in_temp_folder, send_temp_file
from ringtrue.service.web.owner.forms import FIELD_LABELS, FormState, empty_file, read_uploaded_files
from ringtrue.service.web.owner.page_layout import (
    PathId,
    add_notes,
    record_owner_action,
    redirect_with_notes,
    render_owner_page,
)
from ringtrue.service.web.responses import attachment_headers

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Queue

router = APIRouter(include_in_schema=False)
EXPORT_OPTIONS = ("which", "judge", "queue", "traps", "failed")
EXPORT_LABELS = FIELD_LABELS | {"traps": "With the answers to traps"}


@router.get("/p/{project}/exports")
async def exports_page(request: Request, context: Viewer) -> Response:
    """The list of files, what each is for, and the command that reads it."""
    values = {"which": "every", "queue": "main", "failed": "on"}
    return await _render_exports_page(request, context, FormState(values=values, labels=EXPORT_LABELS))


async def _render_exports_page(
    request: Request, context: RequestContext, form: FormState, *, status: int = 200
) -> Response:
    project = context.project

    def load(connection: Connection) -> dict[str, Any]:
        judges = load_judge_progress(connection, project)
        ties = count_ties(connection, project)
        return {
            "done": sum(judge.done for judge in judges),
            "gold": sum(judge.gold for judge in judges),
            "judges": [judge.handle for judge in judges if judge.done or judge.gold],
            "ties": format_ties_note(project, ties) if ties else None,
        }

    values = await context.read(load)
    formats = list_export_formats(project)
    names = {file_format.key: f"{project.name}{file_format.ending}" for file_format in formats}
    gold = names["gold"] if values["gold"] else None
    files = [
        (
            file_format,
            file_format.use
            and context.server.spelling.call(
                make_export_call(file_format.use, project, name=names[file_format.key], traps=names["traps"], gold=gold)
            ),
        )
        for file_format in formats
    ]
    return render_owner_page(request, context, "exports.html", status=status, form=form, files=files, **values)


@router.get("/p/{project}/exports/{key}")
async def download(request: Request, context: Viewer, key: str) -> Response:
    """One of the files."""
    query = request.query_params
    form = FormState(values={name: query.get(name, "") for name in EXPORT_OPTIONS}, labels=EXPORT_LABELS)
    which = cast("LabelSelection", form["which"] or "every")
    queue = cast("Queue", form["queue"] if form["queue"] == "gold" else "main")

    def work(folder: Path) -> ExportedFile:
        return export_project(
            context.server.store,
            context.project,
            key,
            folder,
            which=which,
            judge=form["judge"] or None,
            queue=queue,
            traps=form.is_on("traps"),
            failed=form.is_on("failed") or not query,
            spelling=context.server.spelling,
        )

    try:
        exported = await make_in_temp_folder(context, work)
    except (InputError, UsageError) as error:
        form.attach_error(error)
        form.values["which"] = form["which"] or "every"
        return await _render_exports_page(request, context, form, status=422)
    await record_owner_action(context, "export", key=key, rows=exported.rows)
    return add_notes(
        send_temp_file(exported.path, name=exported.name, media_type=exported.media_type), context, exported.notes
    )


@router.get("/p/{project}/files/{upload}")
async def download_upload(context: ProjectOwner, upload: PathId) -> Response:
    """A file as it was uploaded, or the bronze labels of a draw."""
    file = await context.compute(lambda: read_upload_file(context.server.store, context.project.id, upload))
    return Response(file.content, media_type="application/octet-stream", headers=attachment_headers(file.name))


@router.get("/p/{project}/import")
async def import_page(request: Request, context: ProjectOwner) -> Response:
    """The form for labels from elsewhere."""
    return render_owner_page(request, context, "import.html", form=FormState(labels=_import_labels(context)))


@router.post("/p/{project}/import")
async def import_file(request: Request, context: ProjectOwnerUpload) -> Response:
    """Take labels from a file."""
    form = FormState(file_fields=("labels",), labels=_import_labels(context))
    files = await read_uploaded_files(context.form, "labels")
    if len(files) != 1:
        form.problems["labels"] = (
            Note("several-files", f"expected one file, found {len(files)}")
            if files
            else Note("no-files", "choose the file with the labels")
        )
    elif not files[0].content:
        form.problems["labels"] = empty_file(files[0])
    if form.problems:
        return render_owner_page(request, context, "import.html", status=422, form=form)
    try:
        imported = await context.compute(
            lambda: import_labels(
                context.server.store, context.project, files[0], now=context.now, rng=np.random.default_rng()
            )
        )
    except (InputError, UsageError) as error:
        form.attach_error(error, {"labels": files}, default_field="labels")
        return render_owner_page(request, context, "import.html", status=422, form=form)
    await record_owner_action(context, "import labels", new=imported.new, known=imported.known, judges=imported.judges)
    duplicates = f"; {imported.known:,} were there already" if imported.known else ""
    message = f"{format_count(imported.new, 'new label')} of {format_count(imported.judges, 'judge')}{duplicates}."
    return redirect_with_notes(context, f"/p/{context.project.name}", message, *imported.notes)


def _import_labels(context: RequestContext) -> dict[str, str]:
    return FIELD_LABELS | ({"labels": "Preferences"} if context.project.scale.kind == "preference" else {})


@router.get("/p/{project}/files/{upload}/take-back")
async def take_back_page(request: Request, context: ProjectOwner, upload: PathId) -> Response:
    """What taking back the labels of a file would do."""
    store, project = context.server.store, context.project
    preview = await context.compute(lambda: revert_import(store, project, upload, preview=True))
    return render_owner_page(request, context, "take_back.html", found=preview, upload=upload)


@router.post("/p/{project}/files/{upload}/take-back")
async def take_back(context: ProjectOwner, upload: PathId) -> Response:
    """Count none of the labels that came with a file."""
    reverted = await context.compute(lambda: revert_import(context.server.store, context.project, upload))
    await record_owner_action(context, "take back labels", labels=reverted.labels, items=reverted.items)
    labels, items = format_count(reverted.labels, "label"), format_count(reverted.items, "item")
    message = f"{labels} taken back, and {items} that came with them."
    return redirect_with_notes(context, f"/p/{context.project.name}/files", message)
