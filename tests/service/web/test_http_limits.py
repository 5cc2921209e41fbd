"""What a connection may send before anybody knows who it is: real sockets, and a real server with low limits."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
import uvicorn

from ringtrue.service.store import Store
from ringtrue.service.web.api.schemas import ErrorDetail
from ringtrue.service.web.app import create_app
from ringtrue.service.web.http_limits import HttpLimits, LimitedHttpProtocol

LOW = HttpLimits(
    url_bytes=200, head_bytes=2_000, headers=20, head_seconds=0.3, body_seconds=0.3, body_bytes=50, connections=5,
    linger_seconds=5.0, linger_bytes=100_000_000,
)  # fmt: skip


class LowProtocol(LimitedHttpProtocol):
    """The protocol of the server, with limits that a test reaches."""

    limits = LOW


@pytest.fixture(scope="module")
def port(fast_folder) -> Iterator[int]:
    """The port of a server that listens."""
    with Store.open(str(fast_folder / "limits.db")) as store:
        app = create_app(store, secret=b"s")
        config = uvicorn.Config(app, port=0, http=LowProtocol, log_config=None, server_header=False, lifespan="off")
        server = uvicorn.Server(config)
        listener = config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(10)
        app.state.server.close()


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
    """The status of a request on a connection that stays open."""
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        piece = line.recv(65_536)
        assert piece, "the server closed the connection"
        head += piece
    return int(head.split()[1])


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
    assert {"x-content-type-options: nosniff", "cache-control: no-store"} <= set(lines)


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
        time.sleep(0.1)  # the body of the answer, which came, is complete
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


def test_the_server_listens_with_these_limits() -> None:
    limits = LimitedHttpProtocol.limits
    assert (limits.url_bytes, limits.head_bytes, limits.headers) == (8_192, 32_768, 100)
    assert limits.connections < 1_024
