"""The whole server as one application, and serving it: the socket, and one process or several."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from uvicorn.supervisors import Multiprocess

from ringtrue._version import __version__
from ringtrue.errors import RingtrueError, UsageError
from ringtrue.messages import PYTHON_CALLS, CallSpelling, Suggestion
from ringtrue.service.store import Store
from ringtrue.service.store.sessions import get_or_create_signing_secret
from ringtrue.service.store.tasks import release_all_expired
from ringtrue.service.web import health, metrics_page, owner
from ringtrue.service.web.api import application as api
from ringtrue.service.web.auth import invitations, login
from ringtrue.service.web.background import repeat_work
from ringtrue.service.web.context import ServerContext, draw_memory_secret
from ringtrue.service.web.database_probe import CHECK_SECONDS, check_health
from ringtrue.service.web.errors import add_page_error_handlers, handle_unexpected_error
from ringtrue.service.web.http_limits import LimitedHttpProtocol
from ringtrue.service.web.judge import crowd_links, handing_in, questions, start_page
from ringtrue.service.web.metrics import SHARE_SECONDS
from ringtrue.service.web.metrics_page import share_metrics_between_processes
from ringtrue.service.web.origins import normalise_base_url
from ringtrue.service.web.owner.kept_files import remove_old_sets
from ringtrue.service.web.request_logs import LogFormat, RequestLogMiddleware, configure_logging
from ringtrue.service.web.security import SecurityMiddleware

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from types import FrameType

    from starlette.responses import Response
    from starlette.types import Scope

RELEASE_INTERVAL_SECONDS = 30.0
UPLOAD_LIMIT = 1_000_000_000  # bytes of all files of one form
BACKLOG = 2048
SHUTDOWN_SECONDS = 10  # seconds that requests in hand have when the server is told to stop
ROUTERS = (
    login.router,
    invitations.router,
    crowd_links.router,
    start_page.router,
    questions.router,
    handing_in.router,
    owner.router,
    api.router,
    health.router,
    metrics_page.router,
)


def create_app(
    store: Store,
    *,
    secret: bytes,
    base_url: str | None = None,
    upload_limit: int = UPLOAD_LIMIT,
    clock: Callable[[], float] = time.time,
    memory_secret: bytes | None = None,
    spelling: CallSpelling = PYTHON_CALLS,
    owns_store: bool = False,
) -> FastAPI:
    """The server on a store, which it closes at its end where it owns it.

    `base_url` is where people reach it; with https there, cookies travel by https only. `memory_secret` is what the
    processes of one server share and no database holds; without it, this one draws its own. `spelling` writes the calls
    that read exported files.
    """
    public_url = normalise_base_url(base_url)
    secure = (public_url or "").startswith("https://")
    server = ServerContext(
        store=store,
        secret=secret,
        memory_secret=memory_secret or draw_memory_secret(),
        base_url=public_url,
        secure=secure,
        upload_limit=upload_limit,
        spelling=spelling,
        clock=clock,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loops = [asyncio.create_task(repeat_work(partial(work, server), seconds=pause)) for work, pause in REGULAR_WORK]
        yield
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await store.deferred.flush()
        server.close()
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
    app.add_middleware(RequestLogMiddleware)
    add_page_error_handlers(app)
    app.mount(api.PATH, api.make_api(server))  # first, so that no request of it is compared with every page
    for router in ROUTERS:
        app.include_router(router)
    app.mount(
        "/static", _CachedStaticFiles(directory=str(files("ringtrue.service.web").joinpath("static"))), name="static"
    )
    return app


async def _release_expired_tasks(server: ServerContext) -> None:
    """Close tasks whose lease has ended, also where nobody asks for the next one; remove files that forms kept."""
    with suppress(RingtrueError):
        await server.write(lambda connection: release_all_expired(connection, server.clock()))
    await asyncio.to_thread(remove_old_sets, server)


REGULAR_WORK = (  # what a server does by itself, and the seconds between
    (_release_expired_tasks, RELEASE_INTERVAL_SECONDS),
    (check_health, CHECK_SECONDS),
    (metrics_page.share_own_numbers, SHARE_SECONDS),
)


class _CachedStaticFiles(StaticFiles):
    """Style sheets and scripts, kept by browsers for as long as their address stays the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            cache_control = "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"
            response.headers["cache-control"] = cache_control
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What is served, where people reach it, and how calls are written that read what they export."""

    database: str
    base_url: str | None = None
    upload_limit: int = UPLOAD_LIMIT
    log_format: LogFormat | None = None
    spelling: CallSpelling = PYTHON_CALLS


def require_one_process_on_sqlite(database: str, workers: int) -> None:
    """Refuse several processes on an SQLite file."""
    if workers > 1 and not database.startswith("postgresql"):
        raise UsageError(
            "sqlite-one-process",
            "SQLite has one writer, and several processes would only wait for each other",
            parameter="workers",
            suggestions=[
                Suggestion(workers=1),
                Suggestion("avoids it", database="postgresql://user@host/name"),
            ],
        )


def open_listener(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    try:
        family, socket_type, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise UsageError(
            "unknown-host",
            f"'{host}' is no address of this machine; 127.0.0.1 is for this machine alone",
            parameter="host",
        ) from None
    listener = socket.socket(family, socket_type, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                "port-taken",
                f"port {port} is taken by another program",
                parameter="port",
                suggestions=[Suggestion("takes another one", port=port + 1)],
            ) from None
        raise UsageError("cannot-listen", f"cannot listen on {host}, port {port}: {error.strerror}") from None
    return listener


def serve(settings: ServerSettings, listener: socket.socket, *, workers: int = 1) -> None:
    """Serve until told to stop by Ctrl-C or SIGTERM; what is in hand is finished first."""
    config = uvicorn.Config(
        partial(make_process_app, settings, draw_memory_secret()),  # sent to each process through a pipe
        factory=True,
        workers=workers,
        lifespan="on",
        http=LimitedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,  # links hold secrets, and an access log would keep them
        proxy_headers=settings.base_url is not None,  # nobody but a proxy may say where a request came from
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    signal.signal(signal.SIGTERM, _raise_keyboard_interrupt)  # uvicorn hands signals on once it has ended
    with suppress(KeyboardInterrupt):
        if workers > 1:
            with share_metrics_between_processes():
                Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])


def _raise_keyboard_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop_with_parent(parent: BaseProcess) -> None:
    """End this process when the one that started it is gone, even by force: else it would go on and keep the port."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _is_not_cancellation(entry: logging.LogRecord) -> bool:
    """Whether an entry of the log is more than what was called off when somebody pressed Ctrl-C twice."""
    error = entry.exc_info[1] if entry.exc_info else None
    return not isinstance(error, asyncio.CancelledError) and "CancelledError" not in entry.getMessage()


def make_process_app(settings: ServerSettings, memory_secret: bytes) -> FastAPI:
    """The application of one process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_stop_with_parent, args=(parent,), name="ringtrue-parent", daemon=True).start()
    logging.getLogger("uvicorn.error").addFilter(_is_not_cancellation)
    configure_logging(settings.log_format)
    store = Store.open(settings.database)
    secret = store.write(get_or_create_signing_secret)
    app = create_app(
        store,
        secret=secret,
        memory_secret=memory_secret,
        base_url=settings.base_url,
        upload_limit=settings.upload_limit,
        spelling=settings.spelling,
        owns_store=True,
    )
    # What is here by now stays: looking through it for garbage again and again takes a tenth of the server's time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    return app
