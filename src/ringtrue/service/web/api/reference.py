"""The description of the API as a page for people: what can be asked, with what, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from ringtrue.service.web.api.application import PATH, make_api
from ringtrue.service.web.auth.dependencies import public
from ringtrue.service.web.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that is sent or comes back: a parameter, or a field of a body."""

    name: str
    where: str
    kind: str
    needed: bool
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What can be asked for at an address."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    scope: str
    sent: tuple[Part, ...]
    back: tuple[Part, ...]
    refusals: tuple[tuple[str, str], ...]


@router.get("/api/docs")
@public
async def reference(request: Request) -> Response:
    """Every operation, by what it is about."""
    return render(request, "api.html", groups=_groups(), path=PATH)


@cache
def _groups() -> tuple[tuple[str, str, tuple[Operation, ...]], ...]:
    description = make_api(None).openapi()
    schemas = description["components"]["schemas"]
    every = [
        (one["tags"][0], _operation(path, method, one, schemas))
        for path, methods in description["paths"].items()
        for method, one in methods.items()
    ]
    return tuple(
        (tag["name"], tag["description"].replace("`", ""), tuple(one for of, one in every if of == tag["name"]))
        for tag in description["tags"]
    )


def _operation(path: str, method: str, one: Mapping[str, Any], schemas: Mapping[str, Any]) -> Operation:
    parameters = [
        Part(
            name=each["name"], where="address" if each["in"] == "path" else "after ?", kind=_kind(each["schema"]),
            needed=each["required"], about=each.get("description", ""),
        )
        for each in one.get("parameters", ())
    ]  # fmt: skip
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    done = next(said for status, said in one["responses"].items() if status.startswith("2"))
    answer = done.get("content", {}).get("application/json", {}).get("schema", {})
    return Operation(
        name=one["operationId"], method=method.upper(), path=path, summary=one["summary"],
        about=one["description"].replace("`", ""), scope=", ".join(one["security"][0]["token"]) or "any",
        sent=(*parameters, *_fields(body, schemas, "body")), back=tuple(_fields(answer, schemas, "answer")),
        refusals=tuple((status, said["description"]) for status, said in one["responses"].items() if status >= "4"),
    )  # fmt: skip


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any], where: str) -> list[Part]:
    """The fields of an object, or of the objects in a list."""
    named = schema.get("items", schema).get("$ref", "").rpartition("/")[2]
    found = schemas.get(named, {})
    return [
        Part(
            name=name, where=where, kind=_kind(field), needed=name in found.get("required", ()),
            about=field.get("description", ""),
        )
        for name, field in found.get("properties", {}).items()
    ]  # fmt: skip


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a value in a few words.

    Examples:
        >>> _kind({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
        'date-time or null'
        >>> _kind({"enum": ["main", "gold"], "type": "string"}), _kind({"type": "array", "items": {"type": "string"}})
        ('main | gold', 'list of string')
    """
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or schema.get("const") or "anything")
