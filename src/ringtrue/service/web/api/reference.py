"""The description of the API as a page for people: what can be asked, with what, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from ringtrue.service.web.api.application import PATH, make_api
from ringtrue.service.web.auth.route_guards import public
from ringtrue.service.web.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDoc:
    """Something that is sent or comes back: a parameter, or a field of a body."""

    name: str
    where: str
    kind: str
    needed: bool
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationDoc:
    """What can be asked for at an address."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    scope: str
    sent: tuple[FieldDoc, ...]
    back: tuple[FieldDoc, ...]
    refusals: tuple[tuple[str, str], ...]


@router.get("/api/docs")
@public
async def reference(request: Request) -> Response:
    """Every operation, by what it is about."""
    return render(request, "api.html", groups=_group_operations(), path=PATH)


@cache
def _group_operations() -> tuple[tuple[str, str, tuple[OperationDoc, ...]], ...]:
    description = make_api(None).openapi()
    schemas = description["components"]["schemas"]
    tagged_operations = [
        (operation["tags"][0], _describe_operation(path, method, operation, schemas))
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    return tuple(
        (
            tag["name"],
            tag["description"].replace("`", ""),
            tuple(operation for tag_name, operation in tagged_operations if tag_name == tag["name"]),
        )
        for tag in description["tags"]
    )


def _describe_operation(
    path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> OperationDoc:
    parameters = [
        FieldDoc(
            name=parameter["name"],
            where="address" if parameter["in"] == "path" else "after ?",
            kind=_type_name(parameter["schema"]),
            needed=parameter["required"],
            about=parameter.get("description", ""),
        )
        for parameter in operation.get("parameters", ())
    ]
    body_schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
    response_schema = success.get("content", {}).get("application/json", {}).get("schema", {})
    return OperationDoc(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        about=operation["description"].replace("`", ""),
        scope=", ".join(operation["security"][0]["token"]) or "any",
        sent=(*parameters, *_describe_fields(body_schema, schemas, "body")),
        back=tuple(_describe_fields(response_schema, schemas, "answer")),
        refusals=tuple(
            (status, response["description"]) for status, response in operation["responses"].items() if status >= "4"
        ),
    )


def _describe_fields(schema: Mapping[str, Any], schemas: Mapping[str, Any], where: str) -> list[FieldDoc]:
    """The fields of an object, or of the objects in a list."""
    schema_name = schema.get("items", schema).get("$ref", "").rpartition("/")[2]
    object_schema = schemas.get(schema_name, {})
    return [
        FieldDoc(
            name=name,
            where=where,
            kind=_type_name(field),
            needed=name in object_schema.get("required", ()),
            about=field.get("description", ""),
        )
        for name, field in object_schema.get("properties", {}).items()
    ]


def _type_name(schema: Mapping[str, Any]) -> str:
    """The type of a value in a few words.

    Examples:
        >>> _type_name({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
        'date-time or null'
        >>> _type_name({"enum": ["main", "gold"], "type": "string"})
        'main | gold'
        >>> _type_name({"type": "array", "items": {"type": "string"}})
        'list of string'
    """
    if "anyOf" in schema:
        return " or ".join(_type_name(variant) for variant in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_type_name(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or schema.get("const") or "anything")
