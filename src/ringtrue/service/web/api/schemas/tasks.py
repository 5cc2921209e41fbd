"""What travels when a program judges: tasks, questions and answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ringtrue.service.web.api.schemas.common import Answering, Asking, Choosing, Moment, Number, Queue, Sentence

__all__ = [
    "AnswerRequest",
    "Answered",
    "AnsweredAll",
    "AnswersRequest",
    "DocumentShown",
    "Question",
    "Step",
    "Task",
    "TaskRequest",
    "WhichUndo",
    "WholeTask",
]

DAY = 86_400.0
MOST = 1_000  # answers in one request; no task has more
Seconds = Annotated[float, Field(ge=0, le=DAY)]


class TaskRequest(Asking):
    """Which queue to judge in; `gold` is for gold judges."""

    queue: Queue = "main"


class AnswerRequest(Asking):
    """What a judge says about a question: an answer of the scale, or `unsure` with a reason, or `skip`.

    `version` is the one of the question; it tells an answer that is sent again from another one.
    """

    assignment: Number
    version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    kind: Literal["answer", "unsure", "skip"] = "answer"
    answer: Sentence | None = None
    reason: Sentence | None = None
    seconds: Annotated[Seconds | None, Field(description="How long it was looked at.")] = None
    away: Annotated[Seconds | None, Field(description="How long the judge was elsewhere meanwhile.")] = None


class WhichUndo(Choosing):
    """Which answer is to be taken back."""

    open: int | None = Field(
        default=None, ge=0, le=1_000,
        description="How many questions are open now: given, it is done once, however often it is sent.",
    )  # fmt: skip


class DocumentShown(Answering):
    """A document as a judge sees it: no rank, no system, no score."""

    name: str
    title: str | None
    url: str | None
    snippet: str | None
    text: str | None


class Question(Answering):
    """One question; `right` is there for pairs. Nothing tells a trap from the others."""

    assignment: int
    version: int
    place: int
    query: str
    query_text: str | None
    description: str | None
    narrative: str | None
    left: DocumentShown
    right: DocumentShown | None
    answer: str | None = Field(description="The answer that counts now, where there is one.")


class Task(Answering):
    """How far a task is: `open` questions are left of `size`."""

    id: int
    queue: str
    size: int
    open: int
    opened: Moment
    leased: Moment = Field(description="Until when its items are kept for a judge who does nothing more.")
    deadline: Moment | None
    closed: Moment | None
    outcome: str | None
    code: str | None = Field(description="The completion code, for workers of a crowd platform.")


class Step(Answering):
    """Where a judge is: the task, none when nothing is left; and its next question, none when all are answered."""

    task: Task | None
    question: Question | None


class Answered(Answering):
    """What became of an answer, and the next question.

    A `late` one came after its time: it is kept, and does not count. A `repeated` one was there already.
    """

    late: bool
    repeated: bool
    task: Task
    question: Question | None


class WholeTask(Answering):
    """A task with all its open questions; null and none when nothing is left for this judge."""

    task: Task | None
    questions: list[Question]


class AnswersRequest(Asking):
    """Answers to several questions of a task, in any order."""

    answers: Annotated[list[AnswerRequest], Field(min_length=1, max_length=MOST)]
    hand_in: Annotated[bool, Field(description="Hand the task in when no question of it is open any more.")] = True


class AnsweredAll(Answering):
    """What became of the answers, by the numbers of their questions.

    `late` ones came after their time: they are kept, and do not count. `repeated` ones were there already.
    """

    late: list[int]
    repeated: list[int]
    task: Task
