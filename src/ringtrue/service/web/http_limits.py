"""What a connection may send before anybody knows who it is, and how slowly it may read what is answered.

uvicorn's protocol on httptools takes headers of any size and waits for ever; this one answers 414, 431, 408 or 503,
and closes. A request that arrives in one piece, as nearly all do, pays for a few comparisons, and an answer that its
client takes as fast as it is made for none.
"""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ringtrue.messages import Note
from ringtrue.service.web.client_presence import SCOPE_KEY, ClientPresence
from ringtrue.service.web.field_spelling import as_sentence
from ringtrue.service.web.request_logs import draw_request_id, log_broken_off, log_refusal

try:
    import termios
    from fcntl import ioctl
except ImportError:  # Windows
    ioctl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from asyncio.events import TimerHandle

Stage: TypeAlias = Literal["between", "head", "body"]  # of the request that is being received
ERROR_KINDS = {400: "malformed", 408: "too_slow", 414: "too_large", 431: "too_large", 503: "unavailable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Sizes in bytes, times in seconds."""

    url_bytes: int = 8_192
    head_bytes: int = 32_768  # all headers together
    headers: int = 100
    head_seconds: float = 15.0
    body_seconds: float = 20.0  # in each of which `body_bytes` have to come
    body_bytes: int = 10_000
    connections: int = 800  # below the 1,024 files that a process may usually have open
    linger_seconds: float = 2.0  # for the other side to read why it was refused
    linger_bytes: int = 1_000_000
    # Of waiting for a slow reader, in each of which `write_bytes` have to arrive. Systems hand over much at a time:
    # with less time, somebody who reads at a modem's speed would seem to stand still.
    write_seconds: float = 120.0
    write_bytes: int = 500_000


class LimitedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits."""

    limits: ClassVar[HttpLimits] = HttpLimits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._stage: Stage = "head"
        self._stage_bytes: int | None = None  # since the stage began or was last looked at; None in its first piece
        self._timer: TimerHandle | None = None
        self._refusal: tuple[int, Note] | None = None
        self._discarded: int | None = None  # bytes that came after a refusal
        self._was_excused = False
        self._sent_bytes = self._body_bytes = 0  # of a body that comes in pieces: as sent, and what it holds
        self._presence = ClientPresence()
        self._write_timer: TimerHandle | None = None  # while the client is waited for
        self._wait_began = 0.0  # by the loop's clock; this and the next three of waiting for a client that reads
        self._untaken_bytes = 0  # when it began
        self._waited_seconds, self._taken_bytes = 0.0, 0  # since it was last found to read fast enough

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request, or refuse one connection too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(HIGH_WATER_LIMIT, 0)  # a slow reader is waited for until all is taken
        if len(self.connections) > self.limits.connections:
            self._refuse(
                503, Note("too-many-connections", "the server has too many connections: try again in a moment")
            )
        else:
            self._timer = self.loop.call_later(self.limits.head_seconds, self._on_slow_head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._stop_timer()
        self._stop_write_timer()
        super().connection_lost(exc)
        self._presence.leave()

    def data_received(self, data: bytes) -> None:
        """Take what came, and look at it closely only where a request is not complete."""
        if self._discarded is not None:
            self._discarded += len(data)
            if self._discarded > self.limits.linger_bytes:
                self.transport.abort()
            return
        super().data_received(data)
        if self._discarded is not None:
            return
        if self._stage != "between":
            self._watch_stage(len(data))
        elif self._timer is None and (self.cycle is None or self.cycle.response_complete):
            # Empty lines between requests, which the parser skips: uvicorn waits for the next request no longer.
            self._timer = self.loop.call_later(self.limits.head_seconds, self._on_slow_head)

    def _watch_stage(self, size: int) -> None:
        # The first piece may end the request before this one: what it adds to this one is not known.
        self._stage_bytes = 0 if self._stage_bytes is None else self._stage_bytes + size
        self._sent_bytes += size
        if self._stage == "head" and self._stage_bytes > self.limits.head_bytes:
            self._refuse(*self._describe_long_head())
        elif self._stage == "body" and self._sent_bytes > 2 * self.limits.head_bytes + 8 * self._body_bytes:
            self._refuse(
                431,
                Note("padded-body", "the body is nearly all trailers and extensions of chunks, and hardly any content"),
            )
        elif self._timer is None and self._stage == "head":
            self._timer = self.loop.call_later(self.limits.head_seconds, self._on_slow_head)
        elif self._timer is None:
            self._timer = self.loop.call_later(self.limits.body_seconds, self._check_body)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.scope[SCOPE_KEY] = self._presence  # type: ignore[literal-required]
        self._stage = "head"

    def on_headers_complete(self) -> None:
        """Refuse a head that is too long, or hand the request on."""
        self._begin_stage("body")
        limits = self.limits
        if (
            len(self.url) > limits.url_bytes
            or len(self.headers) > limits.headers
            or sum([len(name) + len(value) for name, value in self.headers]) > limits.head_bytes
        ):
            self._refusal = self._describe_long_head()
            raise ValueError("the head is too long")  # which ends the parser, and comes back to send_400_response
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._begin_stage("between")
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read as fast as it is answered: watch how slowly."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """The client has taken all."""
        self._stop_write_timer()
        self._count_waiting()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """An answer is complete, though its client may not have taken all of it."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reader()

    def timeout_keep_alive_handler(self) -> None:
        """No request came after the last answer."""
        if not self.transport.is_closing():
            self._close()

    def _close(self) -> None:
        """Close the connection once its client has taken what was written, for which it is not waited for ever."""
        self.transport.close()
        self._watch_reader()

    def _watch_reader(self) -> None:
        if self._write_timer is not None or self not in self.connections:  # watched already, or lost
            return
        self._wait_began, self._untaken_bytes = self.loop.time(), _count_untaken_bytes(self.transport)
        remaining = max(self.limits.write_seconds - self._waited_seconds, 0.0)
        self._write_timer = self.loop.call_later(remaining, self._check_reader)

    def _check_reader(self) -> None:
        """Break an answer off whose client reads too slowly; a program sees that it is not complete."""
        self._write_timer = None
        self._count_waiting()
        if self._taken_bytes < self.limits.write_bytes:
            log_broken_off(
                f"less than {self.limits.write_bytes:,} bytes of an answer were read in {self.limits.write_seconds:g} s"
            )
            self.transport.abort()
            return
        self._waited_seconds, self._taken_bytes = 0.0, 0
        self._write_timer = self.loop.call_later(self.limits.write_seconds, self._check_reader)

    def _count_waiting(self) -> None:
        now, untaken_bytes = self.loop.time(), _count_untaken_bytes(self.transport)
        self._waited_seconds += now - self._wait_began
        self._taken_bytes += self._untaken_bytes - untaken_bytes
        self._wait_began, self._untaken_bytes = now, untaken_bytes

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or what a callback refused."""
        self._refuse(*(self._refusal or (400, Note("http-error", msg))))

    def _begin_stage(self, stage: Stage) -> None:
        self._stage, self._stage_bytes = stage, None
        self._sent_bytes = self._body_bytes = 0
        if self._timer is not None:
            self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _describe_long_head(self) -> tuple[int, Note]:
        limits = self.limits
        if len(self.url) > limits.url_bytes:
            return 414, Note("long-address", f"the address is too long: at most {limits.url_bytes:,} bytes are taken")
        return 431, Note(
            "long-headers",
            f"the headers are too long: at most {limits.headers} headers and {limits.head_bytes:,} bytes in all",
        )

    def _on_slow_head(self) -> None:
        self._timer = None
        if self._stage_bytes is None:  # nothing came: browsers open connections that they may need
            self._close()
        else:
            self._refuse(408, Note("slow-headers", f"the headers took longer than {self.limits.head_seconds:g} s"))

    def _check_body(self) -> None:
        """Whether enough of a body came since it was last looked at; where we did not read, nobody could send."""
        self._timer = None
        received, self._stage_bytes = self._stage_bytes or 0, 0
        is_answered = self.cycle is not None and self.cycle.response_complete
        is_excused = self.flow.read_paused or (received >= self.limits.body_bytes and not is_answered)
        if is_excused or self._was_excused:
            self._was_excused = is_excused
            self._timer = self.loop.call_later(self.limits.body_seconds, self._check_body)
        elif is_answered:  # and what still comes is read by nobody
            self._close()
        else:
            self._refuse(
                408,
                Note(
                    "slow-body",
                    f"the body came too slowly: less than {self.limits.body_bytes:,} bytes in "
                    f"{self.limits.body_seconds:g} s",
                ),
            )

    def _refuse(self, status: int, note: Note) -> None:
        """Answer, tell the application that nobody is there any more, and close once the answer could be read."""
        self._stop_timer()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            is_started, cycle.disconnected = cycle.response_started, True
            cycle.message_event.set()
            self._presence.leave()
            if is_started:
                self._close()
                return
        if self.transport.is_closing():
            return
        self.transport.write(self._make_refusal(status, note))
        self._discarded = 0
        self.flow.resume_reading()
        self._timer = self.loop.call_later(self.limits.linger_seconds, self._close)
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _make_refusal(self, status: int, note: Note) -> bytes:
        sentence, request_id = as_sentence(note), draw_request_id()
        media_type, body = "text/plain", sentence
        if getattr(self, "url", b"").startswith(b"/api/"):
            media_type = "application/json"
            error = {"kind": ERROR_KINDS[status], "code": note.code, "message": sentence, "parameter": None}
            body = json.dumps({"error": error | {"request_id": request_id}})
        log_refusal(request_id, status, sentence)
        head = (
            f"content-type: {media_type}; charset=utf-8\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
            f"x-request-id: {request_id}\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n"
        )
        if status == 503:
            head += "retry-after: 2\r\n"
        return STATUS_LINE[status] + f"{head}\r\n{body}".encode()


def _count_untaken_bytes(transport: asyncio.Transport) -> int:
    """How much was written that the client's system has not taken: here and, where it can be asked, in our system.

    Our system takes another megabyte or so only when as much has left it, so that what is here alone would say that a
    slow reader stands still.
    """
    queued_bytes = 0
    if ioctl is not None:
        with suppress(OSError, ValueError):  # a system that does not tell, or a connection that is lost
            answer = ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
            (queued_bytes,) = struct.unpack("i", answer)
    return transport.get_write_buffer_size() + queued_bytes
