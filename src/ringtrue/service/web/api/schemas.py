"""What is sent and what comes back: how texts, numbers and times are written, requests, responses and errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    model_validator,
)

from ringtrue.errors import UsageError
from ringtrue.messages import Note, notes_as_dict, spell_all
from ringtrue.service.store.records import MAX_ID, PREFERENCE, SETTING_LIMITS, FailedTraps, Label, Scale, ShownDocument
from ringtrue.service.web.field_spelling import API_SPELLING

NO_NUL_PATTERN = r"^[^\x00]*$"  # PostgreSQL keeps no such character
PREFERENCE_ANSWERS = ("left", "right", "tie", "both_good", "both_bad")
MAX_FILES = 50  # files at once
MAX_NAMES = 100  # names in one object; none has as many fields
# Numbers of the store that are moments, not durations.
TIME_FIELDS = frozenset(
    ("created", "closed", "deadline", "erased", "expires", "last_seen", "leased", "opened", "revoked", "time")
)
ERROR_DESCRIPTIONS: dict[int, str] = {
    400: "What was sent is no JSON, or no form.",
    401: "There is no token, or it is unknown, revoked or too old.",
    403: "The token or its account may not do this.",
    404: "There is no such thing, or not for this account.",
    409: "Something else was said or done meanwhile.",
    410: "The time for this is over.",
    413: "Too much was sent at once.",
    415: "What was sent is neither of the kinds that are expected here.",
    422: "What was sent cannot be used as it is: the message says what was expected.",
    429: "This account has too many long requests in hand: wait as `Retry-After` says.",
    503: "The database cannot do it now, or too many wait. Nothing was written, and sending it again is safe.",
}

ShortText: TypeAlias = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL_PATTERN)]
Title: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL_PATTERN)]
Guidelines: TypeAlias = Annotated[str, StringConstraints(max_length=200_000, pattern=NO_NUL_PATTERN)]
ButtonName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=NO_NUL_PATTERN)]
ProjectName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
RowId: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ID)]
Days: TypeAlias = Annotated[float, Field(gt=0, le=3_650)]
Depth: TypeAlias = Annotated[int, Field(ge=1, le=1_000, description="How deep runs are pooled.")]
ResponseT = TypeVar("ResponseT", bound="ResponseModel")


def _parse_timestamp(seconds: Any) -> Any:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int | float) else seconds


Timestamp: TypeAlias = Annotated[datetime, BeforeValidator(_parse_timestamp)]


class RequestModel(BaseModel):
    """What is sent to us: nothing unknown, and every value of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_many_names(cls, submitted: Any) -> Any:
        """One error for thousands of unknown names, which would take seconds and much memory to tell one by one."""
        if isinstance(submitted, dict) and len(submitted) > MAX_NAMES:
            raise ValueError(f"expected at most {MAX_NAMES} names in one object, found {len(submitted):,}")
        return submitted


class ResponseModel(BaseModel):
    """What is sent back."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class QueryParams(BaseModel):
    """What stands in an address behind the question mark: nothing unknown."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def fields_of(record: type, *, omit: Collection[str] = ()) -> Callable[[type[ResponseT]], type[ResponseT]]:
    """Give a response the fields of a record of the store, times as ISO 8601; what the class declares itself wins."""
    inherited: dict[str, Any] = {
        name: ((Timestamp if hint is float else Timestamp | None) if name in TIME_FIELDS else hint, ...)
        for name, hint in get_type_hints(record).items()
        if name not in omit
    }

    def derive(model: type[ResponseT]) -> type[ResponseT]:
        declared = {name: (field.annotation, field) for name, field in model.model_fields.items()}
        fields = inherited | declared
        derived = create_model(
            model.__name__, __base__=ResponseModel, __doc__=model.__doc__, __module__=model.__module__, **fields
        )
        return cast(type[ResponseT], derived)

    return derive


@fields_of(ShownDocument)
class DocumentResponse(ResponseModel):
    """A document as a judge sees it: no rank, no system, no score."""


class ErrorDetail(BaseModel):
    """Why something was refused: a message for people; for programs a kind, which goes with the status, and a code of
    `docs/reference/errors.md`; and what the log calls the request."""

    kind: Literal[
        "malformed",
        "unauthorized",
        "forbidden",
        "not_found",
        "not_allowed",
        "conflict",
        "late",
        "too_slow",
        "too_large",
        "media_type",
        "invalid",
        "too_many",
        "fault",
        "unavailable",
    ]
    code: Annotated[str, Field(description="What is the matter, as one word: it stays when the message gets better.")]
    message: str
    parameter: Annotated[str | None, Field(description="The field or parameter that is meant, where it is one.")]
    request_id: str


class ErrorResponse(BaseModel):
    """Every answer that is not what was asked for."""

    error: ErrorDetail


def describe_notes(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Notes as they are sent back: `notes`, and beside them as many codes."""
    listed = notes_as_dict(notes)
    return listed | {"notes": spell_all(listed["notes"], API_SPELLING)}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of an operation, as OpenAPI tells them; those that every operation can have are added."""
    return {
        status: {"model": ErrorResponse, "description": ERROR_DESCRIPTIONS[status]}
        for status in sorted({400, 401, 403, 413, 422, 429, 503, *statuses})
    }


class FileText(RequestModel):
    """A small file: its name, and its text."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
    text: str


class FilesRequest(RequestModel):
    """What is to be judged (`ask`: runs, a pool, a judged table, pairs), texts of queries and documents, and traps."""

    ask: list[FileText] = Field(default=[], max_length=MAX_FILES)
    topics: FileText | None = None
    documents: list[FileText] = Field(default=[], max_length=MAX_FILES)
    traps: FileText | None = None
    depth: Depth = 10


class ImportRequest(RequestModel):
    """Labels or preferences that exist already, with the names of their judges."""

    file: FileText


class LabelRequest(RequestModel):
    """One of the answers. A label's value is its place, from 0, unless it is given; the worst comes first."""

    value: Annotated[str, StringConstraints(pattern=rf"^([0-9]{{1,4}}|{'|'.join(PREFERENCE_ANSWERS)})$")] | None = None
    name: ButtonName
    hint: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL_PATTERN)] = ""


class ScaleRequest(RequestModel):
    """How it is judged: `graded` labels with names, or which of two documents is better."""

    kind: Literal["graded", "preference"]
    labels: Annotated[list[LabelRequest], Field(min_length=2, max_length=10)] | None = None


def _limited(name: str, description: str | None = None) -> Any:
    """A field for a number of `Settings`, with its limits."""
    low, high = SETTING_LIMITS[name]
    return Field(ge=low, le=high, description=description)


class SettingsRequest(RequestModel):
    """How a project is judged; what is left out stays as it is."""

    judges: Annotated[int, _limited("judges", description="How many judges each item gets.")] = 3
    task_size: Annotated[int, _limited("task_size")] = 20
    traps: Annotated[int, _limited("traps")] = 5
    traps_needed: Annotated[int, _limited("traps_needed")] = 4
    failed_traps: FailedTraps = "flag"
    minutes: Annotated[int, _limited("minutes")] | None = 30
    lease_minutes: Annotated[int, _limited("lease_minutes")] = 30
    shortcuts: bool = True
    highlight: Annotated[
        bool,
        Field(description="Mark the words of the query in the documents; marks lead judges to word overlap."),
    ] = False
    html: bool = False
    together: bool = True
    active: bool = False
    completion_answered: Annotated[
        float, Field(ge=0, le=1, description="The share of a task's questions that earns the completion code.")
    ] = 1.0
    completion_unsure: Annotated[
        float, Field(ge=0, le=1, description="Up to which share of them “can't tell” counts as answered.")
    ] = 0.25
    completion_traps: Annotated[bool, Field(description="Whether it takes `traps_needed` too.")] = False
    completion_seconds: Annotated[
        int, _limited("completion_seconds", description="The least time for a task, in recorded seconds a question.")
    ] = 0


class ProjectRequest(FilesRequest):
    """A new project, with the files that it is made from; more can be added later."""

    name: ProjectName
    title: Title
    scale: ScaleRequest
    settings: SettingsRequest = SettingsRequest()
    guidelines: Guidelines = ""


class ProjectChangeRequest(RequestModel):
    """What to change; what is left out stays."""

    title: Title | None = None
    guidelines: Guidelines | None = None
    settings: SettingsRequest | None = None
    closed: bool | None = None


def make_scale(requested: ScaleRequest) -> Scale:
    """The scale that was asked for."""
    if requested.labels is None:
        if requested.kind == "graded":
            raise UsageError(
                "scale-without-labels",
                "a graded scale needs labels, the worst first: [{'name': 'Not relevant'}, …]",
                parameter="labels",
            )
        return PREFERENCE
    values = [label.value or str(position) for position, label in enumerate(requested.labels)]
    if requested.kind == "preference" and not {"left", "right"} <= set(values) <= set(PREFERENCE_ANSWERS):
        raise UsageError(
            "bad-preference-answers",
            f"answers about two documents are {', '.join(PREFERENCE_ANSWERS)}; found {', '.join(values)}",
            parameter="labels",
        )
    return Scale(
        kind=requested.kind,
        labels=tuple(
            Label(value=value, name=label.name, hint=label.hint)
            for value, label in zip(values, requested.labels, strict=True)
        ),
    )
