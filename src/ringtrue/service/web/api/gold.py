"""What gold judges should see: drawn, or withdrawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from ringtrue.service.store.gold_items import withdraw_gold_draw
from ringtrue.service.web.api.file_uploads import FileText, encode_file_or_none
from ringtrue.service.web.api.schemas.common import (
    ProjectName,
    RequestModel,
    ResponseModel,
    error_responses,
)
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["deciding"])


class GoldRequest(RequestModel):
    """What gold judges should see: so many documents (`budget`) or whole queries, for these measures."""

    measures: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = Field(
        default=["P@10"], min_length=1, max_length=20
    )
    budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    queries: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    compare: bool = False
    bronze: FileText | None = Field(default=None, description="Labels of the cheap judge; without, what was collected.")
    wanted: Annotated[int, Field(ge=1, le=1_000, description="How many gold judges each document gets.")] = 1


class GoldResponse(ResponseModel):
    """What was drawn: `documents` in all, those that are `new`, and the half width of each interval to expect."""

    design: str
    documents: int
    new: int
    queries: int
    expected: dict[str, dict[str, float | None]]
    notes: list[str]


@router.delete(
    "/projects/{project}/gold",
    summary="Withdraw a draw that nobody has judged",
    status_code=204,
    response_class=Response,
    responses=error_responses(404, 409),
)
async def withdraw_gold(project: ProjectName, caller: Manager) -> Response:
    """Once a gold judge has begun, a draw can only be continued."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        withdraw_gold_draw(connection, stored_project)
        caller.record(connection, "withdraw gold", project=stored_project.id)

    await caller.write(work)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/gold",
    summary="Draw what gold judges should see",
    response_model=GoldResponse,
    responses=error_responses(404, 409),
)
async def draw_gold_labels(project: ProjectName, caller: Manager, body: GoldRequest) -> Any:
    """From the runs of the project, with known probabilities, into the queue `gold`."""
    from ringtrue.service.collect.gold_queue import draw_gold

    stored_project = await caller.fetch_project(project, "owner")
    bronze = encode_file_or_none(body.bronze)
    gold_draw = await caller.server.compute(
        lambda: draw_gold(
            caller.server.store,
            stored_project,
            measures=body.measures,
            budget=body.budget,
            queries=body.queries,
            compare=body.compare,
            bronze=bronze,
            wanted=body.wanted,
            now=caller.now,
            rng=np.random.default_rng(),
        )
    )
    await caller.record_separately(
        "draw gold", project=stored_project.id, documents=gold_draw.documents, new=gold_draw.new
    )
    return asdict(gold_draw)
