"""What needs somebody who is trusted: verdicts where judges disagree, and gold drawn with known probabilities.

The biggest disagreement comes first, and its votes have no names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, InputError, MeasureError, UsageError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Argument, Call
from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.uploads import load_project_uploads
from ringtrue.service.store.accounts import load_accounts
from ringtrue.service.store.adjudication import (
    DisputedItem,
    count_disagreements,
    get_disagreement,
    load_disagreements,
    load_verdicts,
    record_verdict,
)
from ringtrue.service.store.items import load_undecided_gold, withdraw_gold_draw
from ringtrue.service.store.progress import load_progress
from ringtrue.service.web.auth.dependencies import ProjectOwner, ProjectOwnerUpload, RequestContext
from ringtrue.service.web.owner.forms import WHOLE_FORM, FormState, empty_file
from ringtrue.service.web.owner.kept_files import forget_form_files, keep_form_files, read_form_files
from ringtrue.service.web.owner.page_layout import (
    PathId,
    record_owner_action,
    redirect_with_notes,
    render_owner_page,
    with_audit_record,
)
from ringtrue.service.web.safe_html import compile_query_patterns, make_document_view

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.collect.gold_queue import GoldDrawSummary

router = APIRouter(include_in_schema=False)
MAX_OPEN_SHOWN, MAX_DECIDED_SHOWN = 50, 50
PAIR_ANSWER_NAMES = {"left": "First document", "right": "Second document"}  # no judge's left or right
MAX_DRAW = 100_000  # documents or queries of gold
FIELD_BY_PARAMETER = {"budget": "number", "queries": "number", "measure": "measures"}  # of `draw_gold`
MAX_RUNS_NAMED = 3  # in the command that corrects scores
MAX_WIDTHS_LISTED = 6  # runs and measures in the sentence about what to expect


@router.get("/p/{project}/adjudicate")
async def list_page(request: Request, context: ProjectOwner) -> Response:
    """What judges disagree about, and what was decided."""
    project = context.project

    def load(connection: Connection) -> dict[str, Any]:
        decided = load_verdicts(connection, project)
        return {
            "count": count_disagreements(connection, project),
            "open_ones": load_disagreements(connection, project, limit=MAX_OPEN_SHOWN),
            "decided": decided[:MAX_DECIDED_SHOWN],
            "more": max(len(decided) - MAX_DECIDED_SHOWN, 0),
        }

    return render_owner_page(
        request,
        context,
        "disagreements.html",
        name_of=lambda answer: _answer_name(context, answer),
        **await context.read(load),
    )


@router.get("/p/{project}/adjudicate/{item}")
async def item_page(request: Request, context: ProjectOwner, item: PathId) -> Response:
    """One item, as judges see it, with their votes."""
    return await _render_item_page(request, context, item, FormState())


@router.post("/p/{project}/adjudicate/{item}")
async def decide(request: Request, context: ProjectOwner, item: PathId) -> Response:
    """Keep a verdict, and go on with the next."""
    form = FormState.from_submission(context.form, ("answer", "reason"))

    def work(connection: Connection) -> None:
        reason = form["reason"].strip() or None
        record_verdict(connection, context.project, item, context.person.id, form["answer"], reason, context.now)

    try:
        await context.write(with_audit_record(context, "decide", work, item=item))
    except UsageError as error:
        form.attach_error(error)
        return await _render_item_page(request, context, item, form, status=422)
    remaining = await context.read(lambda c: load_disagreements(c, context.project, limit=1))
    path = f"/p/{context.project.name}/adjudicate"
    if context.text("then") == "next" and remaining:
        return redirect_with_notes(
            context, f"{path}/{remaining[0].item}", "Your decision is saved. This is the next one."
        )
    return redirect_with_notes(
        context, path, "Your decision is saved." + ("" if remaining else " Nothing is left to decide.")
    )


@router.get("/p/{project}/gold")
async def gold_page(request: Request, context: ProjectOwner) -> Response:
    """How far gold is, and the form that draws it."""
    values = {"how": "documents", "number": "100", "measures": "P@10", "wanted": "1"}
    return await _render_gold_page(request, context, FormState(values=values))


@router.post("/p/{project}/gold")
async def draw_gold_queue(request: Request, context: ProjectOwnerUpload) -> Response:
    """Draw documents into the queue of the gold judges."""
    form = FormState.from_submission(
        context.form, ("how", "number", "measures", "compare", "wanted"), file_fields=("bronze",)
    )
    how = form.parse_choice("how", ("documents", "queries"))
    number = form.parse_number("number", 1, MAX_DRAW)
    wanted = form.parse_number("wanted", 1, 100)
    measures = [name for line in form["measures"].splitlines() for name in line.split()] or ["P@10"]
    files = await read_form_files(context, form)
    if any(not file.content for file in files["bronze"]):
        form.problems["bronze"] = empty_file(files["bronze"][0])
    if number is None or wanted is None or form.problems:
        await keep_form_files(context, form, files)
        return await _render_gold_page(request, context, form, status=422)
    try:
        gold_draw = await context.compute(
            lambda: draw_gold(
                context.server.store,
                context.project,
                measures=measures,
                budget=number if how == "documents" else None,
                queries=number if how == "queries" else None,
                compare=form.is_on("compare"),
                bronze=files["bronze"][0] if files["bronze"] else None,
                wanted=wanted,
                now=context.now,
                rng=np.random.default_rng(),
            )
        )
    except (InputError, UsageError, ConflictError) as error:
        default_field = "measures" if isinstance(error, MeasureError) else WHOLE_FORM
        form.attach_error(error, files, fields=FIELD_BY_PARAMETER, default_field=default_field)
        await keep_form_files(context, form, files)
        return await _render_gold_page(request, context, form, status=422)
    await forget_form_files(context)
    await record_owner_action(
        context, "draw gold", documents=gold_draw.documents, new=gold_draw.new, design=gold_draw.design
    )
    message = (
        f"{format_count(gold_draw.new, 'document')} of {format_count(gold_draw.queries, 'query')} wait for gold judges."
    )
    return redirect_with_notes(
        context,
        f"/p/{context.project.name}/gold",
        message,
        *_expected_width_notes(gold_draw),
        *gold_draw.notes,
    )


@router.post("/p/{project}/gold/withdraw")
async def withdraw_gold_queue(context: ProjectOwner) -> Response:
    """Take a draw back that nobody has judged."""
    address = f"/p/{context.project.name}/gold"
    try:
        withdrawn = await context.write(
            with_audit_record(context, "withdraw gold", lambda c: withdraw_gold_draw(c, context.project))
        )
    except ConflictError as error:
        return redirect_with_notes(context, address, error.note)
    return redirect_with_notes(
        context, address, f"The draw is withdrawn: {format_count(withdrawn, 'document')} wait for gold no longer."
    )


async def _render_item_page(
    request: Request, context: RequestContext, item: int, form: FormState, *, status: int = 200
) -> Response:
    project = context.project

    def load(connection: Connection) -> tuple[DisputedItem, int]:
        return get_disagreement(connection, project, item), count_disagreements(connection, project)

    disagreement, count = await context.read(load)
    query = disagreement.query_text or disagreement.query
    patterns = compile_query_patterns(query) if project.settings.highlight else ()
    documents = [
        make_document_view(document, patterns, html=project.settings.html)
        for document in (disagreement.left, disagreement.right)
        if document is not None
    ]
    votes = dict(disagreement.votes)
    total = sum(votes.values())
    answers = [
        (label.value, _answer_name(context, label.value), votes.get(label.value, 0)) for label in project.scale.labels
    ]
    return render_owner_page(
        request,
        context,
        "adjudicate.html",
        status=status,
        form=form,
        found=disagreement,
        count=count,
        query=query,
        documents=documents,
        answers=answers,
        total=total,
        verdict=disagreement.verdict and _answer_name(context, disagreement.verdict),
    )


def _answer_name(context: RequestContext, answer: str) -> str:
    scale = context.project.scale
    return PAIR_ANSWER_NAMES.get(answer, scale.name_of(answer)) if scale.kind == "preference" else scale.name_of(answer)


async def _render_gold_page(
    request: Request, context: RequestContext, form: FormState, *, status: int = 200
) -> Response:
    project = context.project

    def load(connection: Connection) -> dict[str, Any]:
        members = load_accounts(connection, project.id)
        return {
            "found": load_progress(connection, project.id, "gold"),
            "bronze": load_progress(connection, project.id).done,
            "trusted": [account.handle for account in members if "gold" in account.roles],
            "unclear": load_undecided_gold(connection, project),
        }

    files = await context.read(lambda connection: load_project_uploads(connection, project.id))
    runs = [upload for upload in files if upload.kind == "run"]
    labels: dict[str, Argument] = {"judgments": "bronze.csv", "gold": f"{project.name}.gold.csv"}
    return render_owner_page(
        request,
        context,
        "gold.html",
        status=status,
        form=form,
        runs=runs,
        correction=context.server.spelling.call(Call("evaluate", [run.name for run in runs[:MAX_RUNS_NAMED]], labels)),
        drawn_from=[upload for upload in files if upload.kind == "bronze"],
        frames=[upload for upload in files if upload.kind == "frame"],
        **await context.read(load),
    )


def _expected_width_notes(gold_draw: GoldDrawSummary) -> list[str]:
    widths = [(run, measure, half) for run, row in gold_draw.expected.items() for measure, half in row.items()]
    if not widths:
        return []
    listing = ", ".join(f"{run} {measure} ±{half:.3f}" for run, measure, half in widths[:MAX_WIDTHS_LISTED])
    more = f" and {len(widths) - MAX_WIDTHS_LISTED:,} more" if len(widths) > MAX_WIDTHS_LISTED else ""
    return [f"When all of it is judged, intervals of about this size are to be expected: {listing}{more}."]
