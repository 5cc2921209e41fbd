"""The token before anything else: nothing that a stranger sends to the API is read or checked.

FastAPI reads and checks the body of a request before it asks who sent it. This layer stands before it. A token that
was known a moment ago is not looked up again here, as every operation looks it up in its own transaction.
"""

from __future__ import annotations

import time
from hashlib import sha256
from typing import TYPE_CHECKING

from fastapi.security.utils import get_authorization_scheme_param

from ringtrue.service.store.sessions import authenticate_token
from ringtrue.service.web.auth.token_auth import make_unknown_token_error

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ringtrue.service.web.context import ServerContext

KNOWN_SECONDS = 60.0
MAX_KNOWN = 10_000  # tokens that are remembered


class TokenGate:
    """Lets a request through to an application if it shows a token that is known; `open_path` is for everybody."""

    def __init__(self, app: ASGIApp, open_path: str) -> None:
        self.app = app
        self.open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look for the token, then pass the request on."""
        if scope["type"] == "http" and scope["path"] != scope.get("root_path", "") + self.open_path:
            await _require_known_token(scope, scope["app"].state.server)
        await self.app(scope, receive, send)


async def _require_known_token(scope: Scope, server: ServerContext) -> None:
    header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    scheme, secret = get_authorization_scheme_param(header.decode("latin-1"))
    if scheme.lower() != "bearer" or not secret:
        raise make_unknown_token_error()
    digest, known, now = sha256(secret.encode()).digest(), server.known_tokens, time.monotonic()
    if known.get(digest, 0.0) > now:
        return
    if await server.read(lambda connection: authenticate_token(connection, secret, server.clock())) is None:
        known.pop(digest, None)
        raise make_unknown_token_error()
    if len(known) >= MAX_KNOWN:
        known.clear()
    known[digest] = now + KNOWN_SECONDS
