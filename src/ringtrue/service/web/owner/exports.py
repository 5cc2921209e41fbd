"""What was collected as files, and labels from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.export import Exported, Which, export, told_of_ties
from ringtrue.service.collect.export_formats import command_for, export_forms
from ringtrue.service.collect.import_labels import import_labels, take_back_import
from ringtrue.service.collect.uploads import upload_content
from ringtrue.service.store.adjudication import tie_count
from ringtrue.service.store.progress import progress, progress_by_judge
from ringtrue.service.web.auth.dependencies import Here, owner_of, owner_uploading_to, viewer_of
from ringtrue.service.web.downloads import attachment, made_in_folder, sent_file
from ringtrue.service.web.owner.forms import Filled, given_files, sentence
from ringtrue.service.web.owner.page_layout import Number, go, note_down, show, with_notes

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from ringtrue.service.store.records import Queue

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
Viewer = Annotated[Here, Depends(viewer_of)]
OPTIONS = ("which", "judge", "queue", "traps", "failed")


@router.get("/p/{project}/exports")
async def exports_page(request: Request, here: Viewer) -> Response:
    """The list of files, what each is for, and the command that reads it."""
    return await _page(request, here, Filled(values={"which": "every", "queue": "main", "failed": "on"}))


async def _page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    project = here.project

    def look(connection: Connection) -> tuple[int, int, list[str], int]:
        handles = [one.handle for one in progress_by_judge(connection, project) if one.done or one.gold]
        gold = progress(connection, project.id, "gold").done
        return progress(connection, project.id).done, gold, handles, tie_count(connection, project)

    done, gold, judges, tied = await here.read(look)
    names = {one.key: f"{project.name}{one.ending}" for one in export_forms(project)}
    files = [
        (one, command_for(one.command, project.settings, name=names[one.key], traps=names["traps"]))
        for one in export_forms(project)
    ]
    return show(
        request, here, "exports.html", status=status, form=form, files=files, done=done, gold=gold, judges=judges,
        ties=sentence(told_of_ties(project, tied)) if tied else "",
    )  # fmt: skip


@router.get("/p/{project}/exports/{key}")
async def download(request: Request, here: Viewer, key: str) -> Response:
    """One of the files."""
    asked = request.query_params
    form = Filled(values={name: asked.get(name, "") for name in OPTIONS})
    which = cast("Which", form["which"] or "every")
    queue = cast("Queue", form["queue"] if form["queue"] == "gold" else "main")

    def work(folder: Path) -> Exported:
        return export(
            here.site.store, here.project, key, folder, which=which, judge=form["judge"] or None, queue=queue,
            traps=form.is_on("traps"), failed=form.is_on("failed") or not asked,
        )  # fmt: skip

    try:
        made = await made_in_folder(here.site, work)
    except (InputError, UsageError) as error:
        form.problems[""] = sentence(str(error))
        form.values["which"] = form["which"] or "every"
        return await _page(request, here, form, status=422)
    await note_down(here, "export", key=key, rows=made.rows)
    return with_notes(sent_file(made.path, name=made.name, media_type=made.media_type), here, made.notes)


@router.get("/p/{project}/files/{upload}")
async def download_upload(here: Annotated[Here, Depends(owner_of)], upload: Number) -> Response:
    """A file as it was uploaded, or the bronze labels of a draw."""
    file = await here.site.compute(lambda: upload_content(here.site.store, here.project.id, upload))
    return Response(file.content, media_type="application/octet-stream", headers=attachment(file.name))


@router.get("/p/{project}/import")
async def import_page(request: Request, here: Annotated[Here, Depends(owner_of)]) -> Response:
    """The form for labels from elsewhere."""
    return show(request, here, "import.html", form=Filled())


@router.post("/p/{project}/import")
async def import_file(request: Request, here: Annotated[Here, Depends(owner_uploading_to)]) -> Response:
    """Take labels from a file."""
    form = Filled()
    files = await given_files(here.form, "labels")
    if len(files) != 1:
        form.problems["labels"] = "Choose the file with the labels." if not files else "Choose one file."
    elif not files[0].content:
        form.problems["labels"] = f"{files[0].name}: this file is empty."
    if form.problems:
        return show(request, here, "import.html", status=422, form=form)
    try:
        found = await here.site.compute(
            lambda: import_labels(here.site.store, here.project, files[0], now=here.now, rng=np.random.default_rng())
        )
    except (InputError, UsageError) as error:
        form.problems["labels"] = sentence(str(error))
        return show(request, here, "import.html", status=422, form=form)
    await note_down(here, "import labels", new=found.new, known=found.known, judges=found.judges)
    known = f"; {found.known:,} were there already" if found.known else ""
    said = f"{counted(found.new, 'new label')} of {counted(found.judges, 'judge')}{known}."
    return go(here, f"/p/{here.project.name}", said, *map(sentence, found.notes))


@router.get("/p/{project}/files/{upload}/take-back")
async def take_back_page(request: Request, here: Annotated[Here, Depends(owner_of)], upload: Number) -> Response:
    """What taking back the labels of a file would do."""
    store, project = here.site.store, here.project
    found = await here.site.compute(lambda: take_back_import(store, project, upload, only_look=True))
    return show(request, here, "take_back.html", found=found, upload=upload)


@router.post("/p/{project}/files/{upload}/take-back")
async def take_back(here: Annotated[Here, Depends(owner_of)], upload: Number) -> Response:
    """Count none of the labels that came with a file."""
    done = await here.site.compute(lambda: take_back_import(here.site.store, here.project, upload))
    await note_down(here, "take back labels", labels=done.labels, items=done.items)
    said = f"{counted(done.labels, 'label')} taken back, and {counted(done.items, 'item')} that came with them."
    return go(here, f"/p/{here.project.name}/files", said)
