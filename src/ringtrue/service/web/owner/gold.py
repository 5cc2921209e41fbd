"""Gold: documents drawn with known probabilities, as a queue for judges who are trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import ConflictError, InputError, MeasureError, UsageError
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.uploads import Upload, uploads
from ringtrue.service.store.accounts import people
from ringtrue.service.store.gold_items import undecided, withdraw_draw
from ringtrue.service.store.progress import progress
from ringtrue.service.web.auth.dependencies import Here, owner_of, owner_uploading_to
from ringtrue.service.web.owner.forms import Filled, given_files, sentence
from ringtrue.service.web.owner.page_layout import and_noted, go, note_down, show

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.collect.gold_queue import Golded
    from ringtrue.service.store.records import Progress

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
MOST = 100_000
TOLD = 6  # runs and measures in the sentence about what to expect


@router.get("/p/{project}/gold")
async def gold_page(request: Request, here: Annotated[Here, Depends(owner_of)]) -> Response:
    """How far gold is, and the form that draws it."""
    values = {"how": "documents", "number": "100", "measures": "P@10", "wanted": "1"}
    return await _page(request, here, Filled(values=values))


async def _page(request: Request, here: Here, form: Filled, *, status: int = 200) -> Response:
    def look(connection: Connection) -> tuple[Progress, int, list[str], list[tuple[int, str, str]]]:
        there = people(connection, here.project.id)
        trusted = [one.handle for one in there if "gold" in one.roles]
        bronze = progress(connection, here.project.id).done
        return progress(connection, here.project.id, "gold"), bronze, trusted, undecided(connection, here.project)

    found, bronze, trusted, unclear = await here.read(look)
    files: list[Upload] = await here.site.compute(lambda: uploads(here.site.store, here.project.id))
    return show(
        request, here, "gold.html", status=status, form=form, found=found, bronze=bronze, trusted=trusted,
        unclear=unclear, runs=[one for one in files if one.kind == "run"],
        drawn_from=[one for one in files if one.kind == "bronze"],
    )  # fmt: skip


@router.post("/p/{project}/gold")
async def draw(request: Request, here: Annotated[Here, Depends(owner_uploading_to)]) -> Response:
    """Draw documents into the queue of the gold judges."""
    form = Filled.sent(here.form, ("how", "number", "measures", "compare", "wanted"))
    how = form.one_of("how", "What is drawn", ("documents", "queries"))
    number = form.number("number", "How many", 1, MOST)
    wanted = form.number("wanted", "Gold judges for each document", 1, 100)
    measures = [name for line in form["measures"].splitlines() for name in line.split()] or ["P@10"]
    files = {"bronze": await given_files(here.form, "bronze")}
    if any(not one.content for one in files["bronze"]):
        form.problems["bronze"] = f"{files['bronze'][0].name}: this file is empty."
    if number is None or wanted is None or form.problems:
        return await _page(request, here, form, status=422)
    try:
        found = await here.site.compute(
            lambda: draw_gold(
                here.site.store, here.project, measures=measures, budget=number if how == "documents" else None,
                queries=number if how == "queries" else None, compare=form.is_on("compare"),
                bronze=files["bronze"][0] if files["bronze"] else None, wanted=wanted, now=here.now,
                rng=np.random.default_rng(),
            )
        )  # fmt: skip
    except MeasureError as error:
        form.problems["measures"] = sentence(str(error))
        return await _page(request, here, form, status=422)
    except (InputError, UsageError, ConflictError) as error:
        form.blame(error, files)
        return await _page(request, here, form, status=422)
    await note_down(here, "draw gold", documents=found.documents, new=found.new, design=found.design)
    said = f"{counted(found.new, 'document')} of {counted(found.queries, 'query')} wait for gold judges."
    return go(here, f"/p/{here.project.name}/gold", said, *_expected(found), *map(sentence, found.notes))


@router.post("/p/{project}/gold/withdraw")
async def withdraw(here: Annotated[Here, Depends(owner_of)]) -> Response:
    """Take a draw back that nobody has judged."""
    address = f"/p/{here.project.name}/gold"
    try:
        gone = await here.write(and_noted(here, "withdraw gold", lambda c: withdraw_draw(c, here.project)))
    except ConflictError as error:
        return go(here, address, sentence(str(error)))
    return go(here, address, f"The draw is withdrawn: {counted(gone, 'document')} wait for gold no longer.")


def _expected(found: Golded) -> list[str]:
    widths = [(run, measure, half) for run, row in found.expected.items() for measure, half in row.items()]
    if not widths:
        return []
    told = ", ".join(f"{run} {measure} ±{half:.3f}" for run, measure, half in widths[:TOLD])
    more = f" and {len(widths) - TOLD:,} more" if len(widths) > TOLD else ""
    return [f"When all of it is judged, intervals of about this size are to be expected: {told}{more}."]
