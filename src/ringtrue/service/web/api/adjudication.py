"""What an owner decides: disagreements between judges, tasks that failed their traps, what gold judges should see."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.errors import NotFoundError
from ringtrue.service.collect.gold_queue import GoldDrawSummary, draw_gold
from ringtrue.service.store.adjudication import (
    DisputedItem,
    Verdict,
    count_disagreements,
    count_ties,
    load_disagreements,
    load_verdicts,
    record_verdict,
)
from ringtrue.service.store.answers import ReinstatedAnswers, reinstate_task, set_aside_task
from ringtrue.service.store.items import withdraw_gold_draw
from ringtrue.service.store.progress import FailedTask, load_failed_tasks
from ringtrue.service.store.records import MAX_ID, Queue
from ringtrue.service.store.tasks import is_task_in_project
from ringtrue.service.web.api.file_bodies import encode_file_or_none
from ringtrue.service.web.api.schemas import (
    DocumentResponse,
    FileText,
    ProjectName,
    QueryParams,
    RequestModel,
    ResponseModel,
    RowId,
    ShortText,
    describe_notes,
    error_responses,
    fields_of,
)
from ringtrue.service.web.auth.token_auth import Manager

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter(tags=["deciding"])


class DisagreementParams(QueryParams):
    """Which disagreements are wanted."""

    offset: Annotated[int, Field(ge=0, le=MAX_ID, description="How many to pass over.")] = 0
    limit: Annotated[int, Field(ge=1, le=1_000, description="How many to give at most.")] = 100
    queue: Queue = "main"
    open_only: Annotated[bool, Field(description="Those without a verdict.")] = True


class VoteCountResponse(ResponseModel):
    """How many judges gave an answer."""

    answer: str
    count: int


@fields_of(DisputedItem)
class DisagreementResponse(ResponseModel):
    """An item that judges see differently, without names; votes and verdict are as if `left` stood left."""

    left: DocumentResponse
    right: DocumentResponse | None
    votes: list[VoteCountResponse]


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


@fields_of(Verdict)
class VerdictResponse(ResponseModel):
    """What somebody decided about an item, as if `doc` stood on the left."""


@fields_of(FailedTask)
class FailedTaskResponse(ResponseModel):
    """A task with too few traps right; `answers` of it count, none where it was set aside."""


@fields_of(ReinstatedAnswers)
class RecountResponse(ResponseModel):
    """How many answers of a task count again, and how many do not, since others have taken their places."""


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


@fields_of(GoldDrawSummary)
class GoldResponse(ResponseModel):
    """What was drawn: `documents` in all, those that are `new`, and the half width of each interval to expect."""

    expected: dict[str, dict[str, float | None]]
    notes: list[str]
    note_codes: list[str]


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
async def give_verdict(project: ProjectName, caller: Manager, verdict: VerdictRequest) -> None:
    """Nothing that judges said is changed; exports of one label take the verdict."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        record_verdict(
            connection, stored_project, verdict.item, caller.person.id, verdict.answer, verdict.reason, caller.now
        )
        caller.record(connection, "decide", project=stored_project.id, item=verdict.item)

    await caller.write(work)


@router.get(
    "/projects/{project}/failed-tasks",
    summary="Tasks that failed their traps",
    response_model=list[FailedTaskResponse],
    responses=error_responses(404),
)
async def list_failed_tasks(project: ProjectName, caller: Manager) -> Any:
    """The newest first."""
    return await caller.read(lambda c: load_failed_tasks(c, caller.load_project(c, project, "owner")))


@router.post(
    "/projects/{project}/tasks/{task}/set-aside",
    summary="Count none of a task's answers",
    status_code=204,
    response_class=Response,
    responses=error_responses(404),
)
async def set_task_aside(project: ProjectName, task: RowId, caller: Manager) -> None:
    """Its items go to other judges; the answers stay in the history."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        if not is_task_in_project(connection, task, stored_project.id):
            raise NotFoundError("no-such-task", f"there is no task {task} in '{stored_project.title}'")
        set_aside_task(connection, task, now=caller.now)
        caller.record(connection, "set task aside", project=stored_project.id, task=task)

    await caller.write(work)


@router.post(
    "/projects/{project}/tasks/{task}/count-again",
    summary="Count a task's answers that were set aside",
    response_model=RecountResponse,
    responses=error_responses(404, 409),
)
async def count_task_again(project: ProjectName, task: RowId, caller: Manager) -> Any:
    """Those whose items still have room."""

    def work(connection: Connection) -> Any:
        stored_project = caller.load_project(connection, project, "owner")
        recount = reinstate_task(connection, stored_project, task)
        caller.record(connection, "count task again", project=stored_project.id, task=task)
        return recount

    return await caller.write(work)


@router.delete(
    "/projects/{project}/gold",
    summary="Withdraw a draw that nobody has judged",
    status_code=204,
    response_class=Response,
    responses=error_responses(404, 409),
)
async def withdraw_gold(project: ProjectName, caller: Manager) -> None:
    """Once a gold judge has begun, a draw can only be continued."""

    def work(connection: Connection) -> None:
        stored_project = caller.load_project(connection, project, "owner")
        withdraw_gold_draw(connection, stored_project)
        caller.record(connection, "withdraw gold", project=stored_project.id)

    await caller.write(work)


@router.post(
    "/projects/{project}/gold",
    summary="Draw what gold judges should see",
    response_model=GoldResponse,
    responses=error_responses(404, 409),
)
async def draw_gold_labels(project: ProjectName, caller: Manager, body: GoldRequest) -> Any:
    """From the runs of the project, with known probabilities, into the queue `gold`."""
    stored_project = await caller.fetch_project(project, "owner")
    bronze = encode_file_or_none(body.bronze)
    gold_draw = await caller.compute(
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
    return asdict(gold_draw) | describe_notes(gold_draw.notes)
