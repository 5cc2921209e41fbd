"""Disagreements between judges, and what an owner decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.service.store.adjudication import disagreement_count, disagreements, record_verdict, tie_count, verdicts
from ringtrue.service.web.api.schemas.common import (
    Answering,
    Asking,
    Moment,
    Name,
    Number,
    Page,
    Queue,
    Sentence,
    faults,
)
from ringtrue.service.web.api.schemas.tasks import DocumentShown
from ringtrue.service.web.api.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(tags=["deciding"])


class WhichDisagreements(Page):
    """Which disagreements are wanted."""

    queue: Queue = "main"
    open_only: Annotated[bool, Field(description="Those without a verdict.")] = True


class Vote(Answering):
    """How many judges gave an answer."""

    answer: str
    count: int


class DisagreementShown(Answering):
    """An item that judges see differently, without names; votes and verdict are as if `left` stood left."""

    item: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: DocumentShown
    right: DocumentShown | None
    votes: list[Vote]
    spread: float
    verdict: str | None


class DisagreementPage(Answering):
    """Some disagreements, the biggest first, and how many there are.

    `ties` of them have no answer with more votes than all others: until there is a verdict, one label is the lower.
    """

    disagreements: list[DisagreementShown]
    count: int
    ties: int


class VerdictRequest(Asking):
    """What was decided about an item, as if its first document stood left."""

    item: Number
    answer: Annotated[str, StringConstraints(max_length=40, pattern=r"^[0-9a-z_]+$")]
    reason: Sentence | None = None


class VerdictShown(Answering):
    """What somebody decided about an item, as if `doc` stood on the left."""

    item: int
    query: str
    doc: str
    other: str | None
    answer: str
    reason: str | None
    handle: str
    time: Moment


@router.get(
    "/projects/{project}/disagreements", summary="Items that judges see differently",
    response_model=DisagreementPage, responses=faults(404),
)  # fmt: skip
async def list_disagreements(project: Name, caller: Manager, which: Annotated[WhichDisagreements, Query()]) -> Any:
    """The biggest disagreement first."""

    def found(connection: Connection) -> dict[str, Any]:
        there = caller.project(connection, project, "owner")
        some = disagreements(
            connection, there, queue=which.queue, open_only=which.open_only, limit=which.limit, offset=which.offset
        )
        shown = [
            {**{name: getattr(one, name) for name in DisagreementShown.model_fields},
             "votes": [{"answer": answer, "count": count} for answer, count in one.votes]}
            for one in some
        ]  # fmt: skip
        count = disagreement_count(connection, there, queue=which.queue, open_only=which.open_only)
        ties = tie_count(connection, there, queue=which.queue)
        return {"disagreements": shown, "count": count, "ties": ties}

    return await caller.read(found)


@router.get(
    "/projects/{project}/verdicts", summary="What was decided", response_model=list[VerdictShown], responses=faults(404)
)
async def list_verdicts(project: Name, caller: Manager) -> Any:
    """The newest first; the last one on an item counts."""
    return await caller.read(lambda c: verdicts(c, caller.project(c, project, "owner")))


@router.post(
    "/projects/{project}/verdicts", summary="Decide about an item",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def give_verdict(project: Name, caller: Manager, said: VerdictRequest) -> Response:
    """Nothing that judges said is changed; exports of one label take the verdict."""

    def decided(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        record_verdict(connection, found, said.item, caller.person.id, said.answer, said.reason, caller.now)
        caller.record(connection, "decide", project=found.id, item=said.item)

    await caller.write(decided)
    return Response(status_code=204)
