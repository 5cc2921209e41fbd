"""What every answer carries to keep browsers safe, and how much may be sent to us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from python_multipart.multipart import parse_options_header
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from ringtrue.messages import Note
from ringtrue.service.web.client_presence import CLIENT, SCOPE_KEY
from ringtrue.service.web.origins import SAFE_METHODS, require_own_origin

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ringtrue.service.web.context import ServerContext

FORM_LIMIT = 2_000_000  # bytes of a form without files
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # links to join hold a secret
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")
BODY_LIMIT_KEY, FORM_KEY = "ringtrue.allowed", "ringtrue.form"


class TooLargeError(MultiPartException, HTTPException):
    """More was sent than may be; a MultiPartException, so that whoever reads a form throws away what came so far."""

    def __init__(self, limit: int) -> None:
        note = Note("request-too-large", f"this is too much: at most {limit / 1e6:,.0f} MB can be sent at once")
        HTTPException.__init__(self, 413, note)
        self.message = self.detail


class SecurityMiddleware:
    """Headers for every answer, and a limit on what is sent, counted as it comes in rather than as it is announced.

    A fault of ours is answered here, by `on_error`: further out, its page would have no headers.
    """

    def __init__(self, app: ASGIApp, on_error: Callable[[Request, Exception], Awaitable[Response]]) -> None:
        self.app = app
        self.on_error = on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting what is received and adding headers to what is sent."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_look_up = scope["method"] in SAFE_METHODS  # what was sent whole is done, though its sender leaves
        CLIENT.set(scope.get(SCOPE_KEY) if is_look_up else None)
        scope[BODY_LIMIT_KEY] = FORM_LIMIT
        server: ServerContext = scope["app"].state.server
        received_bytes, response_started = 0, False
        is_private = not scope["path"].startswith("/static/")

        async def receive_counted() -> Message:
            nonlocal received_bytes
            message = await receive()
            if message["type"] == "http.request":
                received_bytes += len(message.get("body", b""))
                if received_bytes > scope[BODY_LIMIT_KEY]:
                    raise TooLargeError(scope[BODY_LIMIT_KEY])
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal response_started
            if message["type"] == "http.response.start":
                response_started = True
                headers = [*message.get("headers", ()), *RAW_HEADERS]
                if server.secure:
                    headers.append(HTTPS_ONLY)
                if message["status"] == 307:
                    location = MutableHeaders(raw=headers)
                    location["location"] = _keep_path(location["location"])
                if is_private and not any(name.lower() == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message["headers"] = headers
            await send(message)

        try:
            require_own_origin(scope, server.base_url)
            await self.app(scope, receive_counted, send_with_headers)
        except ClientDisconnect:  # nobody is there to be answered
            return
        except Exception as error:
            if response_started:
                raise
            response = await self.on_error(Request(scope), error)
            await response(scope, receive, send_with_headers)
        finally:
            form: FormData | None = scope.get(FORM_KEY)
            if form is not None:
                await form.close()


def _keep_path(address: str) -> str:
    """An address without scheme and host: Starlette makes those of its redirects of the Host that was sent, as it is.

    Examples:
        >>> _keep_path("http://evil.example/p/news?page=2"), _keep_path("/p/news"), _keep_path("http://evil.example")
        ('/p/news?page=2', '/p/news', '/')
        >>> _keep_path("http://[/p/news"), _keep_path("http://here//evil.example/")
        ('/p/news', '/evil.example/')
    """
    scheme, separator, rest = address.partition("://")
    path = rest.partition("/")[2] if separator else scheme
    return "/" + path.lstrip("/")  # two slashes would be another host


def allow_large_body(request: Request, limit: int) -> None:
    """Let a request send more than a form without files has: call it once it is known who sends."""
    request.scope[BODY_LIMIT_KEY] = limit


async def read_form(request: Request) -> FormData:
    """The form that was sent; the files in it are thrown away once the request is answered."""
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise HTTPException(
            400, Note("form-not-utf8", "a form is sent as UTF-8; leave the charset out, or send charset=utf-8")
        )
    form = await request.form(max_files=50)
    request.scope[FORM_KEY] = form
    return form
