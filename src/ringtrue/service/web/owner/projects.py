"""Making a project from files, changing, closing and deleting it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, InputError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.collect.project_setup import extend_project, make_project
from ringtrue.service.collect.uploads import load_project_uploads
from ringtrue.service.store.projects import change_project, close_project, delete_project, slugify
from ringtrue.service.store.records import PREFERENCE, Scale, Settings
from ringtrue.service.web.auth.dependencies import (
    ProjectOwner,
    ProjectOwnerUpload,
    RequestContext,
    ServerOwner,
    ServerOwnerUpload,
)
from ringtrue.service.web.owner.forms import FIELD_LABELS, WHOLE_FORM, FormState, empty_file
from ringtrue.service.web.owner.kept_files import forget_form_files, keep_form_files, read_form_files
from ringtrue.service.web.owner.page_layout import (
    record_owner_action,
    redirect_with_notes,
    render_owner_page,
    with_audit_record,
)
from ringtrue.service.web.owner.project_form import (
    BINARY_GRADES,
    SCALE_NAMES,
    SETTING_FIELDS,
    default_guidelines,
    format_settings,
    parse_scale,
    parse_settings,
)

if TYPE_CHECKING:
    from ringtrue.service.collect.project_setup import ProjectSetup
    from ringtrue.service.collect.uploads import UploadedFile

router = APIRouter(include_in_schema=False)
FILE_FIELDS = ("ask", "topics", "documents", "trap_file")
FIELD_BY_PARAMETER = {"traps": "trap_file"}  # of the functions that make and extend a project
DEFAULT_GRADES = ("Not relevant", "Somewhat relevant", "Relevant", "Highly relevant")
MAX_TITLE_LENGTH, MAX_GUIDELINES_LENGTH = 200, 200_000
MAX_DEPTH = 1000


@router.get("/projects/new")
async def new_page(request: Request, context: ServerOwner) -> Response:
    """The form for a new project."""
    values = format_settings(Settings()) | {"scale": "binary", "grades": "\n".join(DEFAULT_GRADES), "depth": "10"}
    return _render_new_page(request, context, FormState(values=values))


@router.post("/projects/new")
async def create(request: Request, context: ServerOwnerUpload) -> Response:
    """Make a project, or say beside each field what is wrong; nothing is made then."""
    form = FormState.from_submission(
        context.form,
        ("title", "name", "scale", "grades", "guidelines", "depth", *SETTING_FIELDS),
        file_fields=FILE_FIELDS,
    )
    title, name = _parse_title_and_name(form)
    scale, settings = parse_scale(form), parse_settings(form)
    depth = form.parse_number("depth", 1, MAX_DEPTH)
    if settings is not None and settings.active and scale is not None and scale.kind != "preference":
        form.problems["active"] = Note("active-needs-pairs", "only pairs can be chosen as votes arrive")
    files = await _read_project_files(context, form)
    if not files["ask"]:
        nothing_chosen = Note("no-files", "choose the runs, the pool or the pairs that are to be judged")
        form.problems.setdefault("ask", nothing_chosen)
    if scale is None or settings is None or depth is None or form.problems:
        await keep_form_files(context, form, files)
        return _render_new_page(request, context, form, status=422)
    try:
        created = await context.compute(
            lambda: make_project(
                context.server.store,
                name=name,
                title=title,
                scale=scale,
                settings=settings,
                guidelines=form["guidelines"].strip() or default_guidelines(scale),
                ask=files["ask"],
                topics=_first_or_none(files["topics"]),
                documents=files["documents"],
                traps=_first_or_none(files["trap_file"]),
                depth=depth,
                now=context.now,
                rng=np.random.default_rng(),
            )
        )
    except ConflictError as error:
        form.attach_error(error, default_field="name")
        await keep_form_files(context, form, files)
        return _render_new_page(request, context, form, status=409)
    except (InputError, UsageError) as error:
        default_field = "ask" if isinstance(error, InputError) else WHOLE_FORM
        form.attach_error(error, files, fields=FIELD_BY_PARAMETER, default_field=default_field)
        await keep_form_files(context, form, files)
        return _render_new_page(request, context, form, status=422)
    await forget_form_files(context)
    await record_owner_action(
        context, "make project", project=created.project.id, items=created.items, scale=scale.kind
    )
    return redirect_with_notes(
        context,
        f"/p/{created.project.name}",
        f"The project is made: {_describe_counts(created)}.",
        *created.notes,
    )


def _render_new_page(request: Request, context: RequestContext, form: FormState, *, status: int = 200) -> Response:
    defaults = {
        "binary": default_guidelines(Scale.graded(*BINARY_GRADES)),
        "graded": default_guidelines(Scale.graded(*DEFAULT_GRADES)),
        "preference": default_guidelines(PREFERENCE),
    }
    return render_owner_page(
        request,
        context,
        "new.html",
        status=status,
        form=form,
        scales=SCALE_NAMES,
        defaults=defaults,
        megabytes=context.server.upload_limit // 1_000_000,
    )


def _parse_title_and_name(form: FormState) -> tuple[str, str]:
    """The title, and the name in addresses, which is made from the title where none is given."""
    title, name = form["title"].strip(), form["name"].strip().lower()
    if not title:
        form.problems["title"] = Note("missing-title", "a project needs a title: judges see it")
    elif len(title) > MAX_TITLE_LENGTH:
        form.problems["title"] = Note(
            "long-title", f"a title has at most {MAX_TITLE_LENGTH} characters, found {len(title)}"
        )
    if not name:
        name = slugify(title, 60)
        if title and not name:
            form.problems["name"] = Note(
                "no-name-from-title",
                "no address can be made from this title: enter one, of small letters and digits",
            )
    elif not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name):
        form.problems["name"] = Note(
            "bad-project-name", f"an address has small letters, digits and hyphens, 63 at most; found '{name[:80]}'"
        )
    if len(form["guidelines"]) > MAX_GUIDELINES_LENGTH:
        form.problems["guidelines"] = Note(
            "long-guidelines", f"guidelines have at most {MAX_GUIDELINES_LENGTH:,} characters"
        )
    return title, name


async def _read_project_files(context: RequestContext, form: FormState) -> dict[str, list[UploadedFile]]:
    """The files by field; an empty one, or two where one is wanted, is a problem."""
    files_by_field = await read_form_files(context, form, many=("ask", "documents"))
    for name, field_files in files_by_field.items():
        if name in ("topics", "trap_file") and len(field_files) > 1:
            form.problems[name] = Note("several-files", f"expected one file, found {len(field_files)}")
        for file in field_files:
            if not file.content:
                form.problems[name] = empty_file(file)
    return files_by_field


def _first_or_none(files: list[UploadedFile]) -> UploadedFile | None:
    return files[0] if files else None


def _describe_counts(created: ProjectSetup) -> str:
    unit = "pair" if created.project.scale.kind == "preference" else "item"
    parts = [
        f"{format_count(created.items, unit)} to judge",
        format_count(created.queries, "query text"),
        format_count(created.documents, "document text"),
        format_count(created.traps, "trap"),
    ]
    return ", ".join(parts)


@router.get("/p/{project}/files")
async def files_page(request: Request, context: ProjectOwner) -> Response:
    """What was uploaded, and the form for more."""
    return await _render_files_page(request, context, FormState(values={"depth": "10"}))


@router.post("/p/{project}/files")
async def add_files(request: Request, context: ProjectOwnerUpload) -> Response:
    """Add items, texts or traps from more files."""
    form = FormState.from_submission(context.form, ("depth",), file_fields=FILE_FIELDS)
    depth = form.parse_number("depth", 1, MAX_DEPTH)
    files = await _read_project_files(context, form)
    if not any(files.values()):
        form.problems[WHOLE_FORM] = Note("no-files", "choose at least one file")
    if depth is None or form.problems:
        await keep_form_files(context, form, files)
        return await _render_files_page(request, context, form, status=422)
    try:
        created = await context.compute(
            lambda: extend_project(
                context.server.store,
                context.project,
                ask=files["ask"],
                topics=_first_or_none(files["topics"]),
                documents=files["documents"],
                traps=_first_or_none(files["trap_file"]),
                depth=depth,
                now=context.now,
                rng=np.random.default_rng(),
            )
        )
    except (InputError, UsageError) as error:
        form.attach_error(error, files, fields=FIELD_BY_PARAMETER)
        await keep_form_files(context, form, files)
        return await _render_files_page(request, context, form, status=422)
    await forget_form_files(context)
    await record_owner_action(
        context,
        "add files",
        items=created.items,
        queries=created.queries,
        documents=created.documents,
        traps=created.traps,
    )
    message = f"New in this project: {_describe_counts(created)}."
    return redirect_with_notes(context, f"/p/{context.project.name}/files", message, *created.notes)


async def _render_files_page(
    request: Request, context: RequestContext, form: FormState, *, status: int = 200
) -> Response:
    project_uploads = await context.read(lambda connection: load_project_uploads(connection, context.project.id))
    return render_owner_page(
        request,
        context,
        "files.html",
        status=status,
        form=form,
        uploads=project_uploads,
        told_size=_format_size,
        megabytes=context.server.upload_limit // 1_000_000,
    )


def _format_size(size: int) -> str:
    """The size of a file in words."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return format_count(size, "byte")


@router.get("/p/{project}/settings")
async def settings_page(request: Request, context: ProjectOwner) -> Response:
    """How the project is judged, to be changed."""
    project = context.project
    values = format_settings(project.settings) | {"title": project.title, "guidelines": project.guidelines}
    return render_owner_page(request, context, "settings.html", form=FormState(values=values))


@router.post("/p/{project}/settings")
async def change_settings(request: Request, context: ProjectOwner) -> Response:
    """Change title, guidelines and settings."""
    form = FormState.from_submission(context.form, ("title", "guidelines", *SETTING_FIELDS))
    form.values |= {"name": context.project.name, "active": "on" if context.project.settings.active else ""}
    title, _ = _parse_title_and_name(form)
    settings = parse_settings(form)
    if settings is None or form.problems:
        return render_owner_page(request, context, "settings.html", status=422, form=form)
    guidelines = form["guidelines"].strip()
    await context.write(
        with_audit_record(
            context,
            "change settings",
            lambda c: change_project(c, context.project.id, title=title, guidelines=guidelines, settings=settings),
        )
    )
    return redirect_with_notes(
        context, f"/p/{context.project.name}/settings", "The settings are saved. They hold for tasks from now on."
    )


@router.post("/p/{project}/close")
async def close(context: ProjectOwner) -> Response:
    """Give out no more tasks."""
    await context.write(
        with_audit_record(context, "close project", lambda c: close_project(c, context.project.id, context.now))
    )
    message = "The project is closed: judges get no new tasks, and what was collected stays."
    return redirect_with_notes(context, f"/p/{context.project.name}/settings", message)


@router.post("/p/{project}/open")
async def open_again(context: ProjectOwner) -> Response:
    """Give out tasks again."""
    await context.write(
        with_audit_record(context, "open project", lambda c: close_project(c, context.project.id, None))
    )
    return redirect_with_notes(
        context, f"/p/{context.project.name}/settings", "The project is open: judges get tasks again."
    )


@router.get("/p/{project}/delete")
async def delete_page(request: Request, context: ProjectOwner) -> Response:
    """What deleting would take away."""
    return render_owner_page(request, context, "delete.html", form=FormState(labels=_deletion_labels(context)))


@router.post("/p/{project}/delete")
async def delete(request: Request, context: ProjectOwner) -> Response:
    """Delete a project whose name was typed."""
    form = FormState.from_submission(context.form, ("typed",))
    form.labels = _deletion_labels(context)
    name = context.project.name
    if form["typed"].strip() != name:
        form.problems["typed"] = Note("unconfirmed-deletion", f"to delete the project, type its name: '{name}'")
        return render_owner_page(request, context, "delete.html", status=422, form=form)
    await context.compute(lambda: _delete_and_record(context))
    return redirect_with_notes(context, "/")


def _deletion_labels(context: RequestContext) -> dict[str, str]:
    return FIELD_LABELS | {"typed": f"Type the name of the project: {context.project.name}"}


def _delete_and_record(context: RequestContext) -> None:
    from ringtrue.service.store.audit_log import record_action

    with context.server.store.transaction() as connection:
        delete_project(connection, context.project.id)
        record_action(
            connection,
            "delete project",
            now=context.now,
            account=context.person.id,
            detail={"name": context.project.name},
        )
