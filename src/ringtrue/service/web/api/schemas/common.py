"""What travels: how texts, numbers and times are written, and what an error looks like."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from ringtrue.service.store.records import MAX_ID

NO_NUL_PATTERN = r"^[^\x00]*$"  # PostgreSQL keeps no such character

ShortText: TypeAlias = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL_PATTERN)]
Text: TypeAlias = Annotated[str, StringConstraints(pattern=NO_NUL_PATTERN)]
ProjectName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Handle: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00/]+$")]
RowId: TypeAlias = Annotated[int, Field(ge=1, le=MAX_ID)]


def _parse_timestamp(seconds: Any) -> Any:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int | float) else seconds


Timestamp: TypeAlias = Annotated[datetime, BeforeValidator(_parse_timestamp)]


class RequestModel(BaseModel):
    """What is sent to us: nothing unknown, and every value of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ResponseModel(BaseModel):
    """What is sent back."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class QueryParams(BaseModel):
    """What stands in an address behind the question mark: nothing unknown."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class PageParams(QueryParams):
    """Which part of a long list is wanted."""

    offset: Annotated[int, Field(ge=0, le=MAX_ID, description="How many to pass over.")] = 0
    limit: Annotated[int, Field(ge=1, le=1_000, description="How many to give at most.")] = 100


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


def describe_json_body(model: type[BaseModel]) -> dict[str, Any]:
    """The body of an operation that reads it by itself, as OpenAPI tells it."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
