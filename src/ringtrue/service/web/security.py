"""What every answer carries to keep browsers safe, and how much may be sent to us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from python_multipart.multipart import parse_options_header
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["FORM_LIMIT", "Protection", "TooLargeError", "allow", "form_of"]

FORM_LIMIT = 2_000_000  # bytes of a form without files
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    )
)  # fmt: skip
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # links to join hold a secret
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
ALLOWED, FORM = "ringtrue.allowed", "ringtrue.form"


class TooLargeError(MultiPartException, HTTPException):
    """More was sent than may be; a MultiPartException, so that whoever reads a form throws away what came so far."""

    def __init__(self, limit: int) -> None:
        HTTPException.__init__(self, 413, f"This is too much: at most {limit / 1e6:,.0f} MB can be sent at once.")
        self.message = self.detail


class Protection:
    """Headers for every answer, and a limit on what is sent, counted as it comes in rather than as it is announced.

    A fault of ours is answered here, by `on_fault`: further out, its page would have no headers.
    """

    def __init__(self, app: ASGIApp, on_fault: Callable[[Request, Exception], Awaitable[Response]]) -> None:
        self.app = app
        self.on_fault = on_fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a counting ear and a mouth that adds headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope[ALLOWED] = FORM_LIMIT
        came, started = 0, False
        private = not scope["path"].startswith("/static/")

        async def counting() -> Message:
            nonlocal came
            message = await receive()
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                if came > scope[ALLOWED]:
                    raise TooLargeError(scope[ALLOWED])
            return message

        async def adding(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = [*message.get("headers", ()), *RAW]
                if private and not any(name.lower() == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message["headers"] = headers
            await send(message)

        try:
            await self.app(scope, counting, adding)
        except Exception as error:
            if started:
                raise
            answer = await self.on_fault(Request(scope), error)
            await answer(scope, receive, adding)
        finally:
            form: FormData | None = scope.get(FORM)
            if form is not None:
                await form.close()


def allow(request: Request, limit: int) -> None:
    """Let a request send more than a form without files has: call it once it is known who sends."""
    request.scope[ALLOWED] = limit


async def form_of(request: Request) -> FormData:
    """The form that was sent; the files in it are thrown away once the request is answered."""
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise HTTPException(400, "A form is sent as UTF-8; leave the charset out, or say charset=utf-8.")
    form = await request.form(max_files=50)
    request.scope[FORM] = form
    return form
