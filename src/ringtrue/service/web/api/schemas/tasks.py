"""What travels when a program judges: tasks, questions and answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ringtrue.service.store.records import Queue
from ringtrue.service.web.api.schemas.common import (
    QueryParams,
    RequestModel,
    ResponseModel,
    RowId,
    ShortText,
    Timestamp,
)

DAY_SECONDS = 86_400.0
MAX_ANSWERS = 1_000  # answers in one request; no task has more
Seconds = Annotated[float, Field(ge=0, le=DAY_SECONDS)]


class TaskRequest(RequestModel):
    """Which queue to judge in; `gold` is for gold judges."""

    queue: Queue = "main"


class AnswerRequest(RequestModel):
    """What a judge says about a question: an answer of the scale, or `unsure` with a reason, or `skip`.

    `version` is the one of the question; it tells an answer that is sent again from another one.
    """

    assignment: RowId
    version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    kind: Literal["answer", "unsure", "skip"] = "answer"
    answer: ShortText | None = None
    reason: ShortText | None = None
    seconds: Annotated[Seconds | None, Field(description="How long it was looked at.")] = None
    away: Annotated[Seconds | None, Field(description="How long the judge was elsewhere meanwhile.")] = None


class UndoParams(QueryParams):
    """Which answer is to be taken back."""

    open: int | None = Field(
        default=None,
        ge=0,
        le=1_000,
        description="How many questions are open now: given, it is done once, however often it is sent.",
    )


class DocumentResponse(ResponseModel):
    """A document as a judge sees it: no rank, no system, no score."""

    name: str
    title: str | None
    url: str | None
    snippet: str | None
    text: str | None


class QuestionResponse(ResponseModel):
    """One question; `right` is there for pairs. Nothing tells a trap from the others."""

    assignment: int
    version: int
    place: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: DocumentResponse
    right: DocumentResponse | None
    answer: str | None = Field(description="The answer that counts now, where there is one.")


class TaskResponse(ResponseModel):
    """How far a task is: `open` questions are left of `size`."""

    id: int
    queue: str
    size: int
    open: int
    opened: Timestamp
    leased: Timestamp = Field(description="Until when its items are kept for a judge who does nothing more.")
    deadline: Timestamp | None
    closed: Timestamp | None
    outcome: str | None
    code: str | None = Field(description="The completion code, for workers of a crowd platform.")


class StepResponse(ResponseModel):
    """Where a judge is: the task, none when nothing is left; and its next question, none when all are answered."""

    task: TaskResponse | None
    question: QuestionResponse | None


class AnswerReceipt(ResponseModel):
    """What became of an answer, and the next question.

    A `late` one came after its time: it is kept, and does not count. A `repeated` one was there already.
    """

    late: bool
    repeated: bool
    task: TaskResponse
    question: QuestionResponse | None


class WholeTaskResponse(ResponseModel):
    """A task with all its open questions; null and none when nothing is left for this judge."""

    task: TaskResponse | None
    questions: list[QuestionResponse]


class AnswersRequest(RequestModel):
    """Answers to several questions of a task, in any order."""

    answers: Annotated[list[AnswerRequest], Field(min_length=1, max_length=MAX_ANSWERS)]
    hand_in: Annotated[bool, Field(description="Hand the task in when no question of it is open any more.")] = True


class AnswersReceipt(ResponseModel):
    """What became of the answers, by the numbers of their questions.

    `late` ones came after their time: they are kept, and do not count. `repeated` ones were there already.
    """

    late: list[int]
    repeated: list[int]
    task: TaskResponse
