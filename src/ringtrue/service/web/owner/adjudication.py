"""Deciding where judges disagree: the biggest disagreement first, votes without names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from ringtrue.errors import UsageError
from ringtrue.service.store.adjudication import (
    DisputedItem,
    count_disagreements,
    get_disagreement,
    load_disagreements,
    load_verdicts,
    record_verdict,
)
from ringtrue.service.web.auth.dependencies import ProjectOwner, RequestContext
from ringtrue.service.web.owner.page_layout import (
    FormState,
    PathId,
    as_sentence,
    redirect_with_notes,
    render_owner_page,
    with_audit_record,
)
from ringtrue.service.web.safe_html import compile_query_patterns, make_document_view

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(include_in_schema=False)
MAX_OPEN_SHOWN, MAX_DECIDED_SHOWN = 50, 50
PAIR_ANSWER_NAMES = {"left": "First document", "right": "Second document"}  # no judge's left or right


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
        form.problems[""] = as_sentence(str(error))
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
