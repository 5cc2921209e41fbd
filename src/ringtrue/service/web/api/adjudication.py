"""Disagreements between judges, and what an owner decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.service.store.adjudication import (
    count_disagreements,
    count_ties,
    load_disagreements,
    load_verdicts,
    record_verdict,
)
from ringtrue.service.store.records import Queue
from ringtrue.service.web.api.schemas.common import (
    PageParams,
    ProjectName,
    RequestModel,
    ResponseModel,
    RowId,
    ShortText,
    Timestamp,
    error_responses,
)
from ringtrue.service.web.api.schemas.tasks import DocumentResponse
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["deciding"])


class DisagreementParams(PageParams):
    """Which disagreements are wanted."""

    queue: Queue = "main"
    open_only: Annotated[bool, Field(description="Those without a verdict.")] = True


class VoteCountResponse(ResponseModel):
    """How many judges gave an answer."""

    answer: str
    count: int


class DisagreementResponse(ResponseModel):
    """An item that judges see differently, without names; votes and verdict are as if `left` stood left."""

    item: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: DocumentResponse
    right: DocumentResponse | None
    votes: list[VoteCountResponse]
    spread: float
    verdict: str | None


class DisagreementPageResponse(ResponseModel):
    """Some disagreements, the biggest first, and how many there are.

    `ties` of them have no answer with more votes than all others: until there is a verdict, one label is the lower.
    """

    disagreements: list[DisagreementResponse]
    count: int
    ties: int


class VerdictRequest(RequestModel):
    """What was decided about an item, as if its first document stood left."""

    item: RowId
    answer: Annotated[str, StringConstraints(max_length=40, pattern=r"^[0-9a-z_]+$")]
    reason: ShortText | None = None


class VerdictResponse(ResponseModel):
    """What somebody decided about an item, as if `doc` stood on the left."""

    item: int
    query: str
    doc: str
    other: str | None
    answer: str
    reason: str | None
    handle: str
    time: Timestamp


@router.get(
    "/projects/{project}/disagreements",
    summary="Items that judges see differently",
    response_model=DisagreementPageResponse,
    responses=error_responses(404),
)
async def list_disagreements(
    project: ProjectName, caller: Manager, which: Annotated[DisagreementParams, Query()]
) -> Any:
    """The biggest disagreement first."""

    def load(connection: Connection) -> dict[str, Any]:
        stored_project = caller.load_project(connection, project, "owner")
        disagreements = load_disagreements(
            connection,
            stored_project,
            queue=which.queue,
            open_only=which.open_only,
            limit=which.limit,
            offset=which.offset,
        )
        responses = [
            {
                **{name: getattr(disagreement, name) for name in DisagreementResponse.model_fields},
                "votes": [{"answer": answer, "count": count} for answer, count in disagreement.votes],
            }
            for disagreement in disagreements
        ]
        count = count_disagreements(connection, stored_project, queue=which.queue, open_only=which.open_only)
        ties = count_ties(connection, stored_project, queue=which.queue)
        return {"disagreements": responses, "count": count, "ties": ties}

    return await caller.read(load)


@router.get(
    "/projects/{project}/verdicts",
    summary="What was decided",
    response_model=list[VerdictResponse],
    responses=error_responses(404),
)
async def list_verdicts(project: ProjectName, caller: Manager) -> Any:
    """The newest first; the last one on an item counts."""
    return await caller.read(lambda c: load_verdicts(c, caller.load_project(c, project, "owner")))


@router.post(
    "/projects/{project}/verdicts",
    summary="Decide about an item",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def give_verdict(project: ProjectName, caller: Manager, verdict: VerdictRequest) -> Response:
    """Nothing that judges said is changed; exports of one label take the verdict."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        record_verdict(
            connection, stored_project, verdict.item, caller.person.id, verdict.answer, verdict.reason, caller.now
        )
        caller.record(connection, "decide", project=stored_project.id, item=verdict.item)

    await caller.write(work)
    return Response(status_code=204)
