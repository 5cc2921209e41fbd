"""Serving: the socket, one process or several, and the application that each of them makes for itself."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import json
import logging
import multiprocessing
import os
import signal
import socket
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.supervisors import Multiprocess

from ringtrue.errors import UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.sessions import get_or_create_signing_secret
from ringtrue.service.web.app import UPLOAD_LIMIT, create_app

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from types import FrameType

    from fastapi import FastAPI

SETTINGS_VARIABLE = "RINGTRUE_SERVE"  # how the processes that serve are told what to serve
BACKLOG = 2048
SHUTDOWN_SECONDS = 10  # seconds that requests in hand have when the server is told to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What is served, and where people reach it."""

    database: str
    base_url: str | None = None
    upload_limit: int = UPLOAD_LIMIT


def open_listener(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    try:
        family, socket_type, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise UsageError(f"'{host}' is no address of this machine; 127.0.0.1 is for this machine alone") from None
    listener = socket.socket(family, socket_type, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {port} is taken by another program; choose another one: --port {port + 1}"
            ) from None
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    return listener


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach a server that listens there.

    Examples:
        >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
        (True, True, False, True)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(settings: ServerSettings, listener: socket.socket, *, workers: int = 1) -> None:
    """Serve until told to stop by Ctrl-C or SIGTERM; what is in hand is finished first."""
    os.environ[SETTINGS_VARIABLE] = json.dumps(asdict(settings))
    config = uvicorn.Config(
        "ringtrue.service.web.server:app_from_environment",
        factory=True,
        workers=workers,
        lifespan="on",
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


def app_from_environment() -> FastAPI:
    """The application of one process."""
    settings = ServerSettings(**json.loads(os.environ[SETTINGS_VARIABLE]))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_stop_with_parent, args=(parent,), name="ringtrue-parent", daemon=True).start()
    logging.getLogger("uvicorn.error").addFilter(_is_not_cancellation)
    store = Store.open(settings.database)
    secret = store.write(get_or_create_signing_secret)
    app = create_app(
        store, secret=secret, base_url=settings.base_url, upload_limit=settings.upload_limit, owns_store=True
    )
    # What is here by now stays: looking through it for garbage again and again takes a tenth of the server's time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    return app
