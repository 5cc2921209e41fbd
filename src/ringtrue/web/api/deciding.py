"""What an owner decides: disagreements, tasks that failed their traps, and what gold judges should see."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from ringtrue.errors import NotFoundError
from ringtrue.store.adjudicating import disagreement_count, disagreements, record_verdict, tie_count, verdicts
from ringtrue.store.answering import set_aside
from ringtrue.store.gold import withdraw_draw
from ringtrue.store.listing import task_is_in
from ringtrue.store.progress import failed_tasks
from ringtrue.store.reconsidering import count_again
from ringtrue.web.api.files import FileText, given_or_none
from ringtrue.web.api.judging_shapes import DocumentShown
from ringtrue.web.api.tokens import Manager
from ringtrue.web.api.wire import Answering, Asking, Moment, Name, Number, Page, Queue, Sentence, faults

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


class FailedTaskShown(Answering):
    """A task with too few traps right; `answers` of it count, none where it was set aside."""

    task: int
    account: int
    handle: str
    traps: int
    passed: int
    closed: Moment
    outcome: str
    answers: int


class CountedAgain(Answering):
    """How many answers of a task count again, and how many do not, since others have taken their places."""

    again: int
    not_again: int


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


@router.get(
    "/projects/{project}/failed-tasks", summary="Tasks that failed their traps",
    response_model=list[FailedTaskShown], responses=faults(404),
)  # fmt: skip
async def list_failed_tasks(project: Name, caller: Manager) -> Any:
    """The newest first."""
    return await caller.read(lambda c: failed_tasks(c, caller.project(c, project, "owner")))


@router.post(
    "/projects/{project}/tasks/{task}/set-aside", summary="Count none of a task's answers",
    status_code=204, response_class=Response, responses=faults(404),
)  # fmt: skip
async def set_task_aside(project: Name, task: Number, caller: Manager) -> Response:
    """Its items go to other judges; the answers stay in the history."""

    def aside(connection: Connection) -> None:
        found = caller.project(connection, project, "owner")
        if not task_is_in(connection, task, found.id):
            raise NotFoundError(f"there is no task {task} in '{found.title}'")
        set_aside(connection, task, now=caller.now)
        caller.record(connection, "set task aside", project=found.id, task=task)

    await caller.write(aside)
    return Response(status_code=204)


@router.post(
    "/projects/{project}/tasks/{task}/count-again", summary="Count a task's answers that were set aside",
    response_model=CountedAgain, responses=faults(404, 409),
)  # fmt: skip
async def count_task_again(project: Name, task: Number, caller: Manager) -> Any:
    """Those whose items still have room."""

    def again(connection: Connection) -> Any:
        found = caller.project(connection, project, "owner")
        counted = count_again(connection, found, task)
        caller.record(connection, "count task again", project=found.id, task=task)
        return counted

    return await caller.write(again)


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
    from ringtrue.collecting.golding import draw_gold

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
