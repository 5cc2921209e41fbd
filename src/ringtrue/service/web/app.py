"""The whole server as one application: its pages, its answers to faults, and what guards them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from ringtrue._version import __version__
from ringtrue.errors import RingtrueError, UsageError
from ringtrue.service.store.tasks import release_all_expired
from ringtrue.service.web import owner
from ringtrue.service.web.api import application as api
from ringtrue.service.web.auth import invitations, login
from ringtrue.service.web.context import ServerContext
from ringtrue.service.web.errors import add_page_error_handlers, handle_unexpected_error
from ringtrue.service.web.judge import questions
from ringtrue.service.web.security import SecurityMiddleware

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

    from ringtrue.service.store import Store

RELEASE_INTERVAL_SECONDS = 30.0
UPLOAD_LIMIT = 1_000_000_000  # bytes of all files of one form
ROUTERS = (login.router, invitations.router, questions.router, owner.router, api.router)


def create_app(
    store: Store,
    *,
    secret: bytes,
    base_url: str | None = None,
    secure_cookies: bool | None = None,
    upload_limit: int = UPLOAD_LIMIT,
    clock: Callable[[], float] = time.time,
    owns_store: bool = False,
) -> FastAPI:
    """The server on a store, which it closes at its end where it owns it.

    `base_url` is where people reach it; with https there, cookies travel by https only.
    """
    public_url = normalise_base_url(base_url)
    secure = (public_url or "").startswith("https://") if secure_cookies is None else secure_cookies
    server = ServerContext(
        store=store, secret=secret, base_url=public_url, secure=secure, upload_limit=upload_limit, clock=clock
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        release_loop = asyncio.create_task(_release_expired_tasks(server))
        yield
        release_loop.cancel()
        server.readers.shutdown(cancel_futures=True)
        if owns_store:
            store.close()

    app = FastAPI(
        title="ringtrue",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.server = server
    app.add_middleware(SecurityMiddleware, on_error=handle_unexpected_error)
    add_page_error_handlers(app)
    app.mount(api.PATH, api.make_api(server))  # first, so that no request of it is compared with every page
    for router in ROUTERS:
        app.include_router(router)
    app.mount(
        "/static", _CachedStaticFiles(directory=str(files("ringtrue.service.web").joinpath("static"))), name="static"
    )
    return app


async def _release_expired_tasks(server: ServerContext) -> None:
    """Close tasks whose lease has ended, also where nobody asks for the next one."""
    while True:
        with suppress(RingtrueError):
            await server.write(lambda connection: release_all_expired(connection, server.clock()))
        await asyncio.sleep(RELEASE_INTERVAL_SECONDS)


def normalise_base_url(url: str | None) -> str | None:
    """An address without a path, such as https://judge.example.org, without its last slash.

    Examples:
        >>> normalise_base_url("https://judge.example.org/")
        'https://judge.example.org'
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise UsageError(f"expected an address without a path, such as https://judge.example.org, found '{url}'")
    return f"{parts.scheme}://{parts.netloc}"


class _CachedStaticFiles(StaticFiles):
    """Style sheets and scripts, kept by browsers for as long as their address stays the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            cache_control = "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"
            response.headers["cache-control"] = cache_control
        return response
