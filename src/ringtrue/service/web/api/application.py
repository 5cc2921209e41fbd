"""The API as an application of its own, mounted at /api/v1, and its description as a page for people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware

from ringtrue._version import __version__
from ringtrue.service.web.api import adjudication, administration, people, progress, projects, tasks
from ringtrue.service.web.auth.dependencies import public
from ringtrue.service.web.auth.token_gate import TokenGate
from ringtrue.service.web.errors import add_api_error_handlers
from ringtrue.service.web.responses import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from ringtrue.service.web.context import ServerContext

PATH = "/api/v1"
ROUTERS = (  # judging first: it is asked for all the time
    tasks.router,
    projects.router,
    progress.router,
    progress.exports_router,
    adjudication.router,
    people.router,
    administration.router,
)
DESCRIPTION = """\
Everything that the pages do, for programs. Send a token in the header `Authorization: Bearer …`; a token never does
more than its account may. Times are ISO 8601 in UTC. What is refused comes back as
`{"error": {"kind": …, "code": …, "message": …, "parameter": …, "request_id": …}}`; after a 503, nothing was written
and sending it again is safe."""
TAGS = {
    "judging": "Get questions and answer them. Scope `judge`.",
    "projects": "Make projects and change them. Scope `manage`; to look at them, any.",
    "progress": "How a project goes. Scope `read`.",
    "exports": "What was collected, as files. Scope `read`.",
    "deciding": "Disagreements, failed tasks, gold. Scope `manage`.",
    "people": "Who takes part. Scope `manage`.",
    "server": "Tokens, the record and the backup. Scope `manage`.",
}
router = APIRouter(include_in_schema=False)  # of the page


def make_api(server: ServerContext | None) -> FastAPI:
    """The API of a site; without one, it can only be described."""
    api = _ApiApp(
        title="ringtrue",
        version=__version__,
        summary="Collect relevance judgments.",
        description=DESCRIPTION,
        openapi_tags=[{"name": name, "description": about} for name, about in TAGS.items()],
        docs_url=None,
        redoc_url=None,
        servers=[{"url": PATH}],
        root_path_in_servers=False,
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    api.state.server = server
    add_api_error_handlers(api)
    for router in ROUTERS:
        api.include_router(router)
    return api


class _ApiApp(FastAPI):
    """Without the outermost layer of its own, as the server around it answers for faults."""

    def build_middleware_stack(self) -> ASGIApp:
        """What a request passes on its way to an operation: the token first, before its body is read."""
        gate = TokenGate(AsyncExitStackMiddleware(self.router), str(self.openapi_url))
        return ExceptionMiddleware(gate, handlers=self.exception_handlers)


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
    schema = schema.get("items", schema)
    object_schema = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
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
