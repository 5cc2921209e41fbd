"""The API as an application of its own, mounted at /api/v1: its operations, its errors and its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware

from ringtrue._version import __version__
from ringtrue.service.web.api import (
    adjudication,
    administration,
    exports,
    failed_tasks,
    file_uploads,
    gold,
    people,
    progress,
    projects,
    tasks,
    whole_tasks,
)
from ringtrue.service.web.api.errors import add_api_error_handlers
from ringtrue.service.web.api.schemas.tasks import AnswersRequest

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from starlette.types import ASGIApp

    from ringtrue.service.web.context import ServerContext

PATH = "/api/v1"
ROUTERS = (  # judging first: it is asked for all the time
    tasks.router,
    whole_tasks.router,
    projects.router,
    progress.router,
    exports.router,
    adjudication.router,
    failed_tasks.router,
    gold.router,
    people.router,
    administration.router,
)
DESCRIPTION = """\
Everything that the pages do, for programs. Send a token in the header `Authorization: Bearer …`; a token never does
more than its account may. Times are ISO 8601 in UTC. What is refused comes back as
`{"error": {"kind": …, "message": …}}`; after a 503, nothing was written and sending it again is safe."""
TAGS = {
    "judging": "Get questions and answer them. Scope `judge`.",
    "projects": "Make projects and change them. Scope `manage`; to look at them, any.",
    "progress": "How a project goes. Scope `read`.",
    "exports": "What was collected, as files. Scope `read`.",
    "deciding": "Disagreements, failed tasks, gold. Scope `manage`.",
    "people": "Who takes part. Scope `manage`.",
    "server": "Tokens, the record and the backup. Scope `manage`.",
}
# Bodies that are read without FastAPI, which therefore does not describe them.
UNDESCRIBED_BODIES = (AnswersRequest, file_uploads.FilesRequest, file_uploads.ImportRequest)


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
        generate_unique_id_function=_operation_id,
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
        """What a request passes on its way to an operation."""
        return ExceptionMiddleware(AsyncExitStackMiddleware(self.router), handlers=self.exception_handlers)

    def openapi(self) -> dict[str, Any]:
        """The description, with the bodies that are read by hand."""
        if self.openapi_schema is None:
            description = super().openapi()
            schemas = description["components"]["schemas"]
            for model in UNDESCRIBED_BODIES:
                schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas |= schema.pop("$defs", {})
                schemas[model.__name__] = schema
        assert self.openapi_schema is not None
        return self.openapi_schema


def _operation_id(route: APIRoute) -> str:
    return route.name
