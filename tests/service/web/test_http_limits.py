"""What a connection may send before anybody knows who it is, and how slowly it may read: real sockets, low limits."""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from sqlalchemy import insert
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.server import ServerState

from ringtrue.service.store import Store, schema
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.sessions import issue_token
from ringtrue.service.web import downloads
from ringtrue.service.web.api.schemas import ErrorDetail
from ringtrue.service.web.app import create_app
from ringtrue.service.web.http_limits import HttpLimits, LimitedHttpProtocol
from ringtrue.service.web.work_pools import HEAVY_THREADS
from service.small_projects import project as make_project

BACKUP_BYTES = 15_000_000  # more than the system takes for a connection, as it grows with what is sent
LOW = HttpLimits(
    url_bytes=200, head_bytes=2_000, headers=20, head_seconds=0.3, body_seconds=0.3, body_bytes=50, connections=5,
    linger_seconds=5.0, linger_bytes=100_000_000, write_seconds=0.5, write_bytes=100_000,
)  # fmt: skip


class LowProtocol(LimitedHttpProtocol):
    """The protocol of the server, with limits that a test reaches."""

    limits = LOW


@pytest.fixture(scope="module")
def port(fast_folder) -> Iterator[int]:
    """The port of a server that listens."""
    with Store.open(str(fast_folder / "limits.db")) as store, listening(create_app(store, secret=b"s")) as port:
        yield port


@contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """The port of a server with low limits."""
    config = uvicorn.Config(app, port=0, http=LowProtocol, log_config=None, server_header=False, lifespan="off")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)
    app.state.server.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something is so, for 20 seconds at most."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def read_to_end(line: socket.socket) -> bytes:
    """All that comes until the server closes."""
    pieces = []
    while piece := line.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces)


def refusal(port: int, sent: bytes) -> tuple[int, bytes]:
    """What the server says to these bytes before it closes: the status and the body."""
    with closing(connect(port)) as line:
        line.sendall(sent)
        said = read_to_end(line)
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"connection: close" in head.lower()
    return int(head.split()[1]), body


def ask(line: socket.socket, path: str = "/healthz") -> int:
    """The status of a request on a connection that stays open, whose answer is read to its end."""
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    received = b""
    while True:
        head, separator, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if separator and length is not None and len(body) == int(length[1]):
            return int(head.split()[1])
        piece = line.recv(65_536)
        assert piece, "the server closed the connection"
        received += piece


GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def test_a_header_that_never_ends_is_refused_while_it_comes(port: int) -> None:
    status, body = refusal(port, GET + b"X-Long: " + b"x" * 3_000_000)
    assert (status, b"at most 20 headers and 2,000 bytes in all" in body) == (431, True)


@pytest.mark.parametrize(
    "headers", [b"X-Long: " + b"x" * 2_500 + b"\r\n", b"".join(b"X-%d: y\r\n" % at for at in range(30))]
)
def test_headers_that_come_whole_are_counted_too(port: int, headers: bytes) -> None:
    assert refusal(port, GET + headers + b"\r\n")[0] == 431


def test_an_address_that_is_too_long_is_refused_whole_or_in_part(port: int) -> None:
    assert refusal(port, b"GET /" + b"x" * 300 + b" HTTP/1.1\r\nHost: a\r\n\r\n")[0] == 414
    assert refusal(port, b"GET /" + b"x" * 3_000_000)[0] == 414


def test_a_program_of_the_api_is_told_in_json(port: int) -> None:
    status, body = refusal(port, b"GET /api/v1/whoami HTTP/1.1\r\nX-Long: " + b"x" * 2_500 + b"\r\n\r\n")
    assert status == 431
    assert json.loads(body)["error"]["kind"] == "too_large"


def test_a_refusal_has_the_id_and_the_headers_of_every_answer(port: int) -> None:
    with closing(connect(port)) as line:
        line.sendall(b"GET /api/v1/whoami HTTP/1.1\r\nX-Slow: 1\r\n")
        head, _, body = read_to_end(line).partition(b"\r\n\r\n")
    error = ErrorDetail.model_validate(json.loads(body)["error"])
    assert error.kind == "too_slow"
    lines = head.decode().split("\r\n")
    assert f"x-request-id: {error.request_id}" in lines
    for header in ("x-content-type-options: nosniff", "cache-control: no-store"):
        assert header in lines


@pytest.mark.parametrize("sent", [b"G", GET, GET + b"X-Slow: 1\r\n"])
def test_a_head_that_does_not_come_to_an_end_is_given_up(port: int, sent: bytes) -> None:
    assert refusal(port, sent)[0] == 408


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(port: int) -> None:
    with closing(connect(port)) as line:
        assert read_to_end(line) == b""


def test_a_body_that_trickles_is_given_up(port: int) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    assert refusal(port, head + b"Content-Length: 1000\r\n\r\nhandle=")[0] == 408


def test_a_second_request_that_trickles_is_given_up_too(port: int) -> None:
    with closing(connect(port)) as line:
        assert ask(line) == 200
        line.sendall(b"GET /heal")
        assert b" 408 " in read_to_end(line)


def test_empty_lines_after_a_request_keep_no_connection_open(port: int) -> None:
    with closing(connect(port)) as line:
        line.settimeout(4)  # below the time that uvicorn keeps a connection without them
        assert ask(line) == 200
        line.sendall(b"\r\n")
        assert b"HTTP/1.1" not in read_to_end(line)


def test_trailers_without_end_are_refused(port: int) -> None:
    origin = b"Host: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n" % (port, port)
    head = b"POST /login HTTP/1.1\r\n" + origin + b"Transfer-Encoding: chunked\r\n\r\n"
    assert refusal(port, head + b"1\r\nx\r\n0\r\nX-Trailer: " + b"x" * 3_000_000)[0] == 431
    assert refusal(port, head + b"5;extension=" + b"x" * 3_000_000)[0] == 431


def test_what_is_no_http_is_answered_in_words(port: int) -> None:
    status, body = refusal(port, b"\x16\x03\x01 hello\r\n\r\n")
    assert (status, body) == (400, b"Invalid HTTP request received.")


def test_one_connection_too_many_is_told_to_come_back(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LowProtocol, "limits", replace(LOW, head_seconds=15.0))
    lines: list[socket.socket] = []
    try:
        for _ in range(LOW.connections):
            lines.append(connect(port))
            assert ask(lines[-1]) == 200
        with closing(connect(port)) as line:
            said = read_to_end(line)
        assert b" 503 " in said
        assert b"retry-after" in said
    finally:
        for line in lines:
            line.close()


def test_requests_within_the_limits_are_answered_one_after_the_other(port: int) -> None:
    with closing(connect(port)) as line:
        assert [ask(line, path) for path in ("/healthz", "/login", "/nothing", "/healthz")] == [200, 200, 404, 200]


@pytest.fixture
def large_backup(sqlite_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FastAPI, int, bytes]]:
    """A server whose backup is sent as it is made: the application, its port, and the request of an owner for it."""
    monkeypatch.setattr(downloads, "list_temp_folders", lambda _: [])
    with Store.open(str(sqlite_path)) as store:
        project = make_project(store)
        upload = {"project": project.id, "kind": "run", "name": "random", "content": random.randbytes(BACKUP_BYTES)}
        with store.transaction() as connection:
            connection.execute(insert(schema.upload).values(**upload, time=0.0))
            owner = create_account(connection, kind="named", name="Olga", owner=True, now=0.0)
            token = issue_token(connection, owner, name="backup", scopes=["manage", "read"], now=0.0, days=None)
        app = create_app(store, secret=b"s")
        head = f"GET /api/v1/backup HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        with listening(app) as port:
            yield app, port, f"{head}Connection: close\r\n\r\n".encode()


def test_who_reads_too_slowly_gets_no_more_and_holds_no_thread(large_backup: tuple[FastAPI, int, bytes]) -> None:
    app, port, request = large_backup
    heavy = app.state.server.pools.heavy
    with closing(connect(port)) as line:
        line.sendall(request)
        assert line.recv(1) == b"H"
        assert heavy.in_hand == 1
        wait_until(lambda: not heavy.in_hand)
        received = read_to_end(line)
    assert len(received) < BACKUP_BYTES
    assert not received.endswith(b"0\r\n\r\n")  # so that no program takes it for whole


def test_who_reads_all_along_gets_all_though_it_takes_longer_than_the_limit(
    large_backup: tuple[FastAPI, int, bytes],
) -> None:
    _, port, request = large_backup
    started, received = time.monotonic(), b""
    with closing(connect(port)) as line:
        line.sendall(request)
        while piece := line.recv(1_000_000, socket.MSG_WAITALL):
            received += piece
            time.sleep(0.1)
    assert time.monotonic() - started > 2 * LOW.write_seconds
    assert len(received) > BACKUP_BYTES
    assert received.endswith(b"0\r\n\r\n")


def test_a_slow_reader_is_judged_by_what_it_takes_and_not_by_what_the_system_buffers(
    large_backup: tuple[FastAPI, int, bytes],
) -> None:
    _, port, request = large_backup
    received, speed = 0, 2.5 * LOW.write_bytes / LOW.write_seconds
    with closing(socket.socket()) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 100_000)
        line.settimeout(10)
        line.connect(("127.0.0.1", port))
        line.sendall(request)
        started = time.monotonic()
        while (passed := time.monotonic() - started) < 6 * LOW.write_seconds:
            received += len(line.recv(max(1, int(speed * passed) - received)))
            time.sleep(0.02)
        rest = read_to_end(line)
    assert received < BACKUP_BYTES / 4
    assert rest.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("header", ["Connection: keep-alive", "Connection: close"])
def test_a_rest_that_nobody_takes_keeps_no_connection_open(header: str) -> None:
    """Also one that is too small for the transport to say that its client does not read."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(bytes(int(scope["query_string"])))(scope, receive, send)

    config = uvicorn.Config(application, log_config=None, timeout_keep_alive=1)
    config.load()
    state = ServerState()

    async def leave_rest(port: int, size: int) -> int:
        """Ask for so much and read nothing; how much of it the system does not take."""
        with closing(connect(port)) as line:
            line.sendall(f"GET /?{size} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}\r\n\r\n".encode())
            while not state.total_requests:
                await asyncio.sleep(0.01)
            (protocol,) = state.connections
            rest = protocol.transport.get_write_buffer_size()
            async with asyncio.timeout(10):
                while state.connections:
                    await asyncio.sleep(0.01)
        state.total_requests = 0
        return rest

    async def leave_two_rests() -> list[int]:
        loop = asyncio.get_running_loop()
        factory = partial(LowProtocol, config=config, server_state=state, app_state={})
        async with await loop.create_server(factory, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            rest = await leave_rest(port, BACKUP_BYTES)
            return [rest, await leave_rest(port, BACKUP_BYTES - rest + HIGH_WATER_LIMIT // 2)]

    large, small = asyncio.run(leave_two_rests())
    assert large > HIGH_WATER_LIMIT > small > 0


def test_what_waits_for_a_thread_is_not_begun_when_its_client_has_left(
    large_backup: tuple[FastAPI, int, bytes],
) -> None:
    app, port, request = large_backup
    heavy, release = app.state.server.pools.heavy, threading.Event()
    held = [heavy.submit(release.wait) for _ in range(HEAVY_THREADS)]
    with closing(connect(port)) as line:
        line.sendall(request.replace(b"/api/v1/backup", b"/api/v1/projects/small/quality"))
        wait_until(lambda: heavy.in_hand == HEAVY_THREADS + 1)
    wait_until(lambda: heavy.in_hand == HEAVY_THREADS)
    release.set()
    assert all(future.result(10) for future in held)


def test_the_server_listens_with_these_limits() -> None:
    limits = LimitedHttpProtocol.limits
    assert (limits.url_bytes, limits.head_bytes, limits.headers) == (8_192, 32_768, 100)
    assert limits.connections < 1_024
    assert (limits.write_seconds, limits.write_bytes) == (120, 500_000)
