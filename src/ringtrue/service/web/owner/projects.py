"""Making a project from files, changing, closing and deleting it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import ConflictError, InputError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.project_setup import extend_project, make_project
from ringtrue.service.collect.uploads import uploads
from ringtrue.service.store.projects import change_project, close_project, delete_project
from ringtrue.service.store.records import PREFERENCE, Scale, Settings
from ringtrue.service.store.slugs import in_plain_letters
from ringtrue.service.web.auth.dependencies import Here, owner_of, owner_only, owner_uploading, owner_uploading_to
from ringtrue.service.web.owner.default_guidelines import default_guidelines
from ringtrue.service.web.owner.forms import Filled, given_files, sentence
from ringtrue.service.web.owner.page_layout import and_noted, go, note_down, show
from ringtrue.service.web.owner.settings_form import BINARY, NAMES, SCALES, scale_in, settings_in, shown_settings

if TYPE_CHECKING:
    from ringtrue.service.collect.project_setup import Made
    from ringtrue.service.collect.uploads import GivenFile

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
Owner = Annotated[Here, Depends(owner_of)]
FILES = ("ask", "topics", "documents", "trap_file")
GRADES = ("Not relevant", "Somewhat relevant", "Relevant", "Highly relevant")
LONGEST_TITLE, LONGEST_GUIDELINES = 200, 200_000
DEEPEST = 1000


@router.get("/projects/new")
async def new_page(request: Request, here: Annotated[Here, Depends(owner_only)]) -> Response:
    """The form for a new project."""
    values = shown_settings(Settings()) | {"scale": "binary", "grades": "\n".join(GRADES), "depth": "10"}
    return _new(request, here, Filled(values=values))


@router.post("/projects/new")
async def new(request: Request, here: Annotated[Here, Depends(owner_uploading)]) -> Response:
    """Make a project, or say beside each field what is wrong; nothing is made then."""
    form = Filled.sent(here.form, ("title", "name", "scale", "grades", "guidelines", "depth", *NAMES))
    title, name = _titles(form)
    scale, settings = scale_in(form), settings_in(form)
    depth = form.number("depth", "Depth of the pool", 1, DEEPEST)
    if settings is not None and settings.active and scale is not None and scale.kind != "preference":
        form.problems["active"] = "Only pairs can be chosen as votes arrive."
    files = await _files(here, form)
    if not files["ask"]:
        form.problems["ask"] = "Choose the runs, the pool or the pairs that are to be judged."
    if scale is None or settings is None or depth is None or form.problems:
        return _new(request, here, form, status=422)
    try:
        made = await here.site.compute(
            lambda: make_project(
                here.site.store, name=name, title=title, scale=scale, settings=settings,
                guidelines=form["guidelines"].strip() or default_guidelines(scale), ask=files["ask"],
                topics=_one(files["topics"]), documents=files["documents"], traps=_one(files["trap_file"]),
                depth=depth, now=here.now, rng=np.random.default_rng(),
            )
        )  # fmt: skip
    except ConflictError as error:
        form.problems["name"] = sentence(str(error))
        return _new(request, here, form, status=409)
    except (InputError, UsageError) as error:
        form.blame(error, files, "ask" if isinstance(error, InputError) else "")
        return _new(request, here, form, status=422)
    await note_down(here, "make project", project=made.project.id, items=made.items, scale=scale.kind)
    return go(here, f"/p/{made.project.name}", f"The project is made: {_counts(made)}.", *map(sentence, made.notes))


def _new(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    defaults = {
        "binary": default_guidelines(Scale.graded(*BINARY)),
        "graded": default_guidelines(Scale.graded(*GRADES)),
        "preference": default_guidelines(PREFERENCE),
    }
    return show(
        request, here, "new.html", status=status, form=form, scales=SCALES, defaults=defaults,
        megabytes=here.site.upload_limit // 1_000_000,
    )  # fmt: skip


def _titles(form: Filled) -> tuple[str, str]:
    """The title, and the name in addresses, which is made from the title where none is given."""
    title, name = form["title"].strip(), form["name"].strip().lower()
    if not title:
        form.problems["title"] = "A project needs a title: judges see it."
    elif len(title) > LONGEST_TITLE:
        form.problems["title"] = f"A title has at most {LONGEST_TITLE} characters, found {len(title)}."
    if not name:
        name = in_plain_letters(title, 60)
        if title and not name:
            form.problems["name"] = "No address can be made from this title: write one, of small letters and digits."
    elif not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name):
        form.problems["name"] = f"An address has small letters, digits and hyphens, 63 at most; found '{name[:80]}'."
    if len(form["guidelines"]) > LONGEST_GUIDELINES:
        form.problems["guidelines"] = f"Guidelines have at most {LONGEST_GUIDELINES:,} characters."
    return title, name


async def _files(here: Here, form: Filled) -> dict[str, list[GivenFile]]:
    """The files by field; an empty one, or two where one is wanted, is a problem."""
    found = {name: await given_files(here.form, name) for name in FILES}
    for name, some in found.items():
        if name in ("topics", "trap_file") and len(some) > 1:
            form.problems[name] = f"Expected one file, found {len(some)}."
        for one in some:
            if not one.content:
                form.problems[name] = f"{one.name}: this file is empty."
    return found


def _one(files: list[GivenFile]) -> GivenFile | None:
    return files[0] if files else None


def _counts(made: Made) -> str:
    what = "pair" if made.project.scale.kind == "preference" else "item"
    parts = [f"{counted(made.items, what)} to judge", counted(made.queries, "query text"),
             counted(made.documents, "document text"), counted(made.traps, "trap")]  # fmt: skip
    return ", ".join(parts)


@router.get("/p/{project}/files")
async def files_page(request: Request, here: Owner) -> Response:
    """What was uploaded, and the form for more."""
    return await _files_page(request, here, Filled(values={"depth": "10"}))


@router.post("/p/{project}/files")
async def add_files(request: Request, here: Annotated[Here, Depends(owner_uploading_to)]) -> Response:
    """Add items, texts or traps from more files."""
    form = Filled.sent(here.form, ("depth",))
    depth = form.number("depth", "Depth of the pool", 1, DEEPEST)
    files = await _files(here, form)
    if not any(files.values()):
        form.problems[""] = "Choose at least one file."
    if depth is None or form.problems:
        return await _files_page(request, here, form, status=422)
    try:
        made = await here.site.compute(
            lambda: extend_project(
                here.site.store, here.project, ask=files["ask"], topics=_one(files["topics"]),
                documents=files["documents"], traps=_one(files["trap_file"]), depth=depth, now=here.now,
                rng=np.random.default_rng(),
            )
        )  # fmt: skip
    except (InputError, UsageError) as error:
        form.blame(error, files)
        return await _files_page(request, here, form, status=422)
    await note_down(here, "add files", items=made.items, queries=made.queries, documents=made.documents,
                    traps=made.traps)  # fmt: skip
    said = f"New in this project: {_counts(made)}."
    return go(here, f"/p/{here.project.name}/files", said, *map(sentence, made.notes))


async def _files_page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    there = await here.site.compute(lambda: uploads(here.site.store, here.project.id))
    return show(
        request, here, "files.html", status=status, form=form, uploads=there, told_size=_size,
        megabytes=here.site.upload_limit // 1_000_000,
    )  # fmt: skip


def _size(size: int) -> str:
    """The size of a file in words."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return counted(size, "byte")


@router.get("/p/{project}/settings")
async def settings_page(request: Request, here: Owner) -> Response:
    """How the project is judged, to be changed."""
    project = here.project
    values = shown_settings(project.settings) | {"title": project.title, "guidelines": project.guidelines}
    return show(request, here, "settings.html", form=Filled(values=values))


@router.post("/p/{project}/settings")
async def change_settings(request: Request, here: Owner) -> Response:
    """Change title, guidelines and settings."""
    form = Filled.sent(here.form, ("title", "guidelines", *NAMES))
    form.values |= {"name": here.project.name, "active": "on" if here.project.settings.active else ""}
    title, _ = _titles(form)
    settings = settings_in(form)
    if settings is None or form.problems:
        return show(request, here, "settings.html", status=422, form=form)
    guidelines = form["guidelines"].strip()
    await here.write(
        and_noted(
            here, "change settings",
            lambda c: change_project(c, here.project.id, title=title, guidelines=guidelines, settings=settings),
        )
    )  # fmt: skip
    return go(here, f"/p/{here.project.name}/settings", "The settings are saved. They hold for tasks from now on.")


@router.post("/p/{project}/close")
async def close(here: Owner) -> Response:
    """Give out no more tasks."""
    await here.write(and_noted(here, "close project", lambda c: close_project(c, here.project.id, here.now)))
    said = "The project is closed: judges get no new tasks, and what was collected stays."
    return go(here, f"/p/{here.project.name}/settings", said)


@router.post("/p/{project}/open")
async def open_again(here: Owner) -> Response:
    """Give out tasks again."""
    await here.write(and_noted(here, "open project", lambda c: close_project(c, here.project.id, None)))
    return go(here, f"/p/{here.project.name}/settings", "The project is open: judges get tasks again.")


@router.get("/p/{project}/delete")
async def delete_page(request: Request, here: Owner) -> Response:
    """What deleting would take away."""
    return show(request, here, "delete.html", form=Filled())


@router.post("/p/{project}/delete")
async def delete(request: Request, here: Owner) -> Response:
    """Delete a project whose name was typed."""
    form = Filled.sent(here.form, ("typed",))
    name = here.project.name
    if form["typed"].strip() != name:
        form.problems["typed"] = f"To delete the project, type its name: {name}"
        return show(request, here, "delete.html", status=422, form=form)
    await here.site.compute(lambda: _deleted(here))
    return go(here, "/")


def _deleted(here: Here) -> None:
    from ringtrue.service.store.audit_log import record

    with here.site.store.transaction() as connection:
        delete_project(connection, here.project.id)
        record(connection, "delete project", now=here.now, account=here.person.id, detail={"name": here.project.name})
