"""What gold judges should see: drawn, or withdrawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from ringtrue.service.store.gold_items import withdraw_draw
from ringtrue.service.web.api.file_uploads import FileText, given_or_none
from ringtrue.service.web.api.schemas.common import (
    Answering,
    Asking,
    Name,
    faults,
)
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(tags=["deciding"])


class GoldRequest(Asking):
    """What gold judges should see: so many documents (`budget`) or whole queries, for these measures."""

    measures: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = Field(
        default=["P@10"], min_length=1, max_length=20
    )
    budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    queries: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    compare: bool = False
    bronze: FileText | None = Field(default=None, description="Labels of the cheap judge; without, what was collected.")
    wanted: Annotated[int, Field(ge=1, le=1_000, description="How many gold judges each document gets.")] = 1


class GoldDrawn(Answering):
    """What was drawn: `documents` in all, those that are `new`, and the half width of each interval to expect."""

    design: str
    documents: int
    new: int
    queries: int
    expected: dict[str, dict[str, float | None]]
    notes: list[str]


@router.delete(
    "/projects/{project}/gold", summary="Withdraw a draw that nobody has judged", status_code=204,
    response_class=Response, responses=faults(404, 409),
)  # fmt: skip
async def withdraw_gold(project: Name, caller: Manager) -> Response:
    """Once a gold judge has begun, a draw can only be continued."""

    def gone(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        withdraw_draw(connection, found)
        caller.record(connection, "withdraw gold", project=found.id)

    await caller.write(gone)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/gold", summary="Draw what gold judges should see",
    response_model=GoldDrawn, responses=faults(404, 409),
)  # fmt: skip
async def draw_gold_labels(project: Name, caller: Manager, wanted: GoldRequest) -> Any:
    """From the runs of the project, with known probabilities, into the queue `gold`."""
    from ringtrue.service.collect.gold_queue import draw_gold

    found = await caller.project_named(project, "owner")
    bronze = given_or_none(wanted.bronze)
    drawn = await caller.site.compute(
        lambda: draw_gold(
            caller.site.store, found, measures=wanted.measures, budget=wanted.budget, queries=wanted.queries,
            compare=wanted.compare, bronze=bronze, wanted=wanted.wanted, now=caller.now, rng=np.random.default_rng(),
        )
    )  # fmt: skip
    await caller.note("draw gold", project=found.id, documents=drawn.documents, new=drawn.new)
    return asdict(drawn)
