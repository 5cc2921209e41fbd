"""What was collected as files, and labels from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, cast
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from ringtrue.collecting.exporting import Exported, Which, export, export_forms
from ringtrue.collecting.importing import import_labels
from ringtrue.collecting.uploads import upload_content
from ringtrue.errors import InputError, UsageError
from ringtrue.store.progress import progress, progress_by_judge
from ringtrue.web.owning.forms import Filled, given_files, sentence
from ringtrue.web.owning.showing import Number, go, note_down, sent_file, show, with_notes
from ringtrue.web.visitors import Here, owner_of, owner_uploading_to, viewer_of
from ringtrue.wording import counted

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.store.values import Queue

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
Viewer = Annotated[Here, Depends(viewer_of)]
OPTIONS = ("which", "judge", "queue", "traps", "failed")

# The command that reads each export; NAME is the name of the file.
COMMANDS = {
    "graded": {
        "qrels": "ringtrue evaluate my.run --judgments NAME --judges average",
        "qrels-3": "ringtrue evaluate my.run --judgments NAME",
        "csv": "ringtrue agree NAME",
        "tsv": "ringtrue judges NAME",
        "jsonl": "ringtrue aggregate NAME -o labels.csv",
        "parquet": "ringtrue agree NAME",
        "gold": "ringtrue evaluate my.run --judgments bronze.csv --gold NAME",
    },
    "preference": {
        "pairs": "ringtrue rate NAME",
        "trec-prefs": "ringtrue rate NAME",
        "csv": "ringtrue agree NAME",
        "tsv": "ringtrue judges NAME",
        "jsonl": "ringtrue rate NAME",
        "parquet": "ringtrue rate NAME",
    },
}


@router.get("/p/{project}/exports")
async def exports_page(request: Request, here: Viewer) -> Response:
    """The list of files, what each is for, and the command that reads it."""
    return await _page(request, here, Filled(values={"which": "every", "queue": "main", "failed": "on"}))


async def _page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    project = here.project

    def look(connection: Connection) -> tuple[int, int, list[str]]:
        handles = [one.handle for one in progress_by_judge(connection, project) if one.done]
        return progress(connection, project.id).done, progress(connection, project.id, "gold").done, handles

    done, gold, judges = await here.read(look)
    commands = COMMANDS[project.scale.kind]
    files = [
        (one, commands.get(one.key, "").replace("NAME", f"{project.name}{one.ending}")) for one in export_forms(project)
    ]
    return show(
        request, here, "exports.html", status=status, form=form, files=files, done=done, gold=gold, judges=judges
    )


@router.get("/p/{project}/exports/{key}")
async def download(request: Request, here: Viewer, key: str) -> Response:
    """One of the files."""
    asked = request.query_params
    form = Filled(values={name: asked.get(name, "") for name in OPTIONS})
    alone = key == "qrels-3" and not form["judge"]  # it names no judge, so that several could not be told apart
    which = cast("Which", "one" if alone else form["which"] or "every")
    queue = cast("Queue", form["queue"] if form["queue"] == "gold" else "main")

    def work() -> Exported:
        folder = Path(mkdtemp(prefix="ringtrue-"))
        try:
            return export(
                here.site.store, here.project, key, folder, which=which, judge=form["judge"] or None, queue=queue,
                traps=form.is_on("traps"), failed=form.is_on("failed") or not asked,
            )  # fmt: skip
        except BaseException:
            folder.rmdir()
            raise

    try:
        made = await here.site.compute(work)
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
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", file.name)
    named = f"attachment; filename=\"{plain}\"; filename*=utf-8''{quote(file.name, safe='')}"
    return Response(file.content, media_type="application/octet-stream", headers={"content-disposition": named})


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
