"""What travels: how texts, numbers and times are written, what responses take from the store, and errors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
)

from ringtrue.service.store.records import MAX_ID, ShownDocument

NO_NUL_PATTERN = r"^[^\x00]*$"  # PostgreSQL keeps no such character

ShortText: TypeAlias = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL_PATTERN)]
ProjectName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
RowId: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ID)]
Days: TypeAlias = Annotated[float, Field(gt=0, le=3_650)]


def _parse_timestamp(seconds: Any) -> Any:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int | float) else seconds


Timestamp: TypeAlias = Annotated[datetime, BeforeValidator(_parse_timestamp)]
# Numbers of the store that are moments, not durations.
TIME_FIELDS = frozenset(
    ("created", "closed", "deadline", "erased", "expires", "last_seen", "leased", "opened", "revoked", "time")
)


class RequestModel(BaseModel):
    """What is sent to us: nothing unknown, and every value of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ResponseModel(BaseModel):
    """What is sent back."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class QueryParams(BaseModel):
    """What stands in an address behind the question mark: nothing unknown."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


R = TypeVar("R", bound=ResponseModel)


def fields_of(record: type, *, omit: Collection[str] = ()) -> Callable[[type[R]], type[R]]:
    """Give a response the fields of a record of the store, times as ISO 8601; what the class declares itself wins."""
    inherited: dict[str, Any] = {
        name: ((Timestamp if hint is float else Timestamp | None) if name in TIME_FIELDS else hint, ...)
        for name, hint in get_type_hints(record).items()
        if name not in omit
    }

    def derive(model: type[R]) -> type[R]:
        declared = {name: (field.annotation, field) for name, field in model.model_fields.items()}
        fields = inherited | declared
        derived = create_model(
            model.__name__, __base__=ResponseModel, __doc__=model.__doc__, __module__=model.__module__, **fields
        )
        return cast(type[R], derived)

    return derive


@fields_of(ShownDocument)
class DocumentResponse(ResponseModel):
    """A document as a judge sees it: no rank, no system, no score."""


class ErrorDetail(BaseModel):
    """Why something was refused: a kind for programs, and a sentence for people."""

    kind: Literal[
        "malformed",
        "unauthorized",
        "forbidden",
        "not_found",
        "not_allowed",
        "conflict",
        "late",
        "too_large",
        "media_type",
        "invalid",
        "fault",
        "unavailable",
    ]
    message: str


class ErrorResponse(BaseModel):
    """Every answer that is not what was asked for."""

    error: ErrorDetail


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
    503: "The database cannot do it now. Nothing was written, and sending it again is safe.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of an operation, as OpenAPI tells them; those that every operation can have are added."""
    return {
        status: {"model": ErrorResponse, "description": ERROR_DESCRIPTIONS[status]}
        for status in sorted({400, 401, 403, 413, 422, 503, *statuses})
    }
