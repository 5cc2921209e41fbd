"""Deciding where judges disagree: the biggest disagreement first, votes without names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import UsageError
from ringtrue.service.store.adjudication import (
    Disagreement,
    Verdict,
    disagreement_at,
    disagreement_count,
    disagreements,
    record_verdict,
    verdicts,
)
from ringtrue.service.web.auth.dependencies import Here, owner_of
from ringtrue.service.web.highlight import query_words
from ringtrue.service.web.owner.forms import Filled, sentence
from ringtrue.service.web.owner.page_layout import Number, and_noted, go, show
from ringtrue.service.web.safe_html import reading

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
Owner = Annotated[Here, Depends(owner_of)]
SHOWN, DECIDED = 50, 50
OF_PAIRS = {"left": "First document", "right": "Second document"}  # no judge's left or right


@router.get("/p/{project}/adjudicate")
async def list_page(request: Request, here: Owner) -> Response:
    """What judges disagree about, and what was decided."""
    project = here.project

    def look(connection: Connection) -> tuple[int, list[Disagreement], list[Verdict]]:
        return (
            disagreement_count(connection, project),
            disagreements(connection, project, limit=SHOWN),
            verdicts(connection, project),
        )

    count, open_ones, decided = await here.read(look)
    return show(
        request, here, "disagreements.html", count=count, open_ones=open_ones, decided=decided[:DECIDED],
        more=max(len(decided) - DECIDED, 0), name_of=lambda answer: _name(here, answer),
    )  # fmt: skip


@router.get("/p/{project}/adjudicate/{item}")
async def item_page(request: Request, here: Owner, item: Number) -> Response:
    """One item, as judges see it, with their votes."""
    return await _item_page(request, here, item, Filled())


@router.post("/p/{project}/adjudicate/{item}")
async def decide(request: Request, here: Owner, item: Number) -> Response:
    """Keep a verdict, and go on with the next."""
    form = Filled.sent(here.form, ("answer", "reason"))

    def work(connection: Connection) -> None:
        reason = form["reason"].strip() or None
        record_verdict(connection, here.project, item, here.person.id, form["answer"], reason, here.now)

    try:
        await here.write(and_noted(here, "decide", work, item=item))
    except UsageError as error:
        form.problems[""] = sentence(str(error))
        return await _item_page(request, here, item, form, status=422)
    left = await here.read(lambda c: disagreements(c, here.project, limit=1))
    path = f"/p/{here.project.name}/adjudicate"
    if here.text("then") == "next" and left:
        return go(here, f"{path}/{left[0].item}", "Your decision is saved. This is the next one.")
    return go(here, path, "Your decision is saved." + ("" if left else " Nothing is left to decide."))


async def _item_page(request: Request, here: Here, item: int, form: Filled, *, status: int = 200) -> Response:
    project = here.project

    def look(connection: Connection) -> tuple[Disagreement, int]:
        return disagreement_at(connection, project, item), disagreement_count(connection, project)

    found, count = await here.read(look)
    query = found.query_text or found.query
    words = query_words(query) if project.settings.highlight else ()
    documents = [
        reading(one, words, html=project.settings.html) for one in (found.left, found.right) if one is not None
    ]
    votes = dict(found.votes)
    total = sum(votes.values())
    answers = [(label.value, _name(here, label.value), votes.get(label.value, 0)) for label in project.scale.labels]
    return show(
        request, here, "adjudicate.html", status=status, form=form, found=found, count=count, query=query,
        documents=documents, answers=answers, total=total, verdict=found.verdict and _name(here, found.verdict),
    )  # fmt: skip


def _name(here: Here, answer: str) -> str:
    scale = here.project.scale
    return OF_PAIRS.get(answer, scale.name_of(answer)) if scale.kind == "preference" else scale.name_of(answer)
