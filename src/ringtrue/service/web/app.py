"""The whole server as one application: its pages, its answers to faults, and what guards them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.staticfiles import StaticFiles

from ringtrue._version import __version__
from ringtrue.errors import RingtrueError, UsageError
from ringtrue.service.store.tasks import release_all_expired
from ringtrue.service.web import api, owner
from ringtrue.service.web.auth import invitations, login, password
from ringtrue.service.web.context import Site
from ringtrue.service.web.errors import add_faults
from ringtrue.service.web.fast_path import Lane, Server
from ringtrue.service.web.judge import questions

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response
    from starlette.types import Scope

    from ringtrue.service.store import Store

__all__ = ["UPLOAD_LIMIT", "checked_base_url", "create_app"]

TIDY_SECONDS = 30.0
UPLOAD_LIMIT = 1_000_000_000  # bytes of all files of one form
ROUTERS = (login.router, invitations.router, password.router, questions.router, owner.router, api.router)


def create_app(
    store: Store,
    *,
    secret: bytes,
    base_url: str | None = None,
    secure_cookies: bool | None = None,
    upload_limit: int = UPLOAD_LIMIT,
    clock: Callable[[], float] = time.time,
    owns_store: bool = False,
) -> Server:
    """The server on a store, which it closes at its end where it owns it.

    `base_url` is where people reach it; with https there, cookies travel by https only.
    """
    address = checked_base_url(base_url)
    secure = (address or "").startswith("https://") if secure_cookies is None else secure_cookies
    site = Site(store=store, secret=secret, base_url=address, secure=secure, upload_limit=upload_limit, clock=clock)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(site))
        yield
        tidying.cancel()
        site.readers.shutdown(cancel_futures=True)
        if owns_store:
            store.close()

    app = Server(
        title="ringtrue", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, lifespan=running,
    )  # fmt: skip
    app.state.site = site
    add_faults(app)
    programs = api.make_api(site)
    app.mount(api.PATH, programs)  # first, so that no request of it is compared with every page
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", _Static(directory=str(files("ringtrue.service.web").joinpath("static"))), name="static")
    app.add_lanes(
        Lane(method=method, path=f"{prefix}{path}", endpoint=endpoint, app=of)
        for of, prefix, straight in ((programs, api.PATH, api.STRAIGHT), (app, "", questions.STRAIGHT))
        for (method, path), endpoint in straight.items()
    )
    return app


async def _tidy(site: Site) -> None:
    """Close tasks whose lease has ended, also where nobody asks for the next one."""
    while True:
        with suppress(RingtrueError):
            await site.write(lambda connection: release_all_expired(connection, site.clock()))
        await asyncio.sleep(TIDY_SECONDS)


def checked_base_url(url: str | None) -> str | None:
    """An address without a path, such as https://judge.example.org, without its last slash.

    Examples:
        >>> checked_base_url("https://judge.example.org/")
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


class _Static(StaticFiles):
    """Style sheets and scripts, kept by browsers for as long as their address stays the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        if answer.status_code == 200:
            kept = "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"
            answer.headers["cache-control"] = kept
        return answer
