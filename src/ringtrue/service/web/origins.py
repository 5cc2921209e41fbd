"""Under which name the server was asked, and from which site: a foreign Host or Origin is refused.

With a base URL, that address is the only one; without it, links carry the address that the request came to.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from ringtrue.errors import UsageError
from ringtrue.messages import Note

if TYPE_CHECKING:
    from starlette.types import Scope

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OWN_SITES = (b"same-origin", b"none")  # of Sec-Fetch-Site: our own pages, or the address line
ANY_HOST_PATHS = ("/healthz", "/metrics")  # a proxy or a monitor asks for them by an address of its own
HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
DEFAULT_PORTS = {"http": 80, "https": 443}


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


def normalise_base_url(url: str | None) -> str | None:
    """An address where people reach the server, without its last slash; refused where it is more than scheme and host.

    Examples:
        >>> normalise_base_url("https://judge.example.org/")
        'https://judge.example.org'
    """
    if url is None:
        return None
    problem = _find_url_problem(url)
    if problem is not None:
        raise UsageError(
            "bad-base-url",
            f"expected an address such as https://judge.example.org, found '{url}': {problem}",
            parameter="base_url",
        )
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _find_url_problem(url: str) -> str | None:
    """What an address has that it should not have, or lacks."""
    if any(not character.isprintable() or character.isspace() for character in url):
        return "it has a space or a character that cannot be seen"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "its host or port cannot be read"
    if parts.scheme not in DEFAULT_PORTS:
        return "it begins with neither https:// nor http://"
    if "@" in parts.netloc:
        return "it has a name or a password, which nobody needs to come here"
    if "?" in url or "#" in url:
        return "it has a query or a fragment (what follows ? or #)"
    if parts.path not in ("", "/"):
        return "it has a path, and the server has to have a host or a port of its own"
    if port == 0 or parts.netloc.endswith(":"):
        return "its port is missing"
    return None if _is_host(parts.hostname or "") else "its host is no name and no address (write others as xn--…)"


def _is_host(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return HOST_NAME.fullmatch(text) is not None


@lru_cache(maxsize=64)
def parse_origin(text: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address, so that two can be compared; all empty where it is none.

    Examples:
        >>> parse_origin("https://Judge.example.org")
        ('https', 'judge.example.org', 443)
        >>> parse_origin("null")
        ('', '', None)
    """
    try:
        parts = urlsplit(text)
        return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None


def require_own_origin(scope: Scope, base_url: str | None) -> None:
    """Refuse a request for another server (400), and what the pages of another site make a browser send (403)."""
    hosts, origin, site = [], None, None
    for name, value in scope["headers"]:
        if name == b"host":
            hosts.append(value)
        elif name == b"origin":
            origin = value
        elif name == b"sec-fetch-site":
            site = value
    if base_url is not None and scope["path"] not in ANY_HOST_PATHS:
        for host in hosts:
            _require_own_host(host.decode("latin-1"), base_url)
    if scope["method"] in SAFE_METHODS or (origin is None and site is None):
        return
    is_own_site = site is None or site in OWN_SITES
    if origin is not None and (base_url is not None or site is None):
        sent_from = parse_origin(origin.decode("latin-1"))
        own = parse_origin(base_url or f"{sent_from[0]}://{hosts[0].decode('latin-1') if hosts else ''}")
        is_own_site &= sent_from == own and own[1] != ""
    if not is_own_site:
        raise HTTPException(
            403,
            Note(
                "foreign-site",
                "this was sent by a page of another site, and nothing was done: open the page here, and send it again",
            ),
        )


def _require_own_host(host: str, base_url: str) -> None:
    _, name, _ = parse_origin(f"//{host}")
    if name != parse_origin(base_url)[1] and not is_loopback(name):
        raise HTTPException(
            400, Note("foreign-host", f"this server answers only at {base_url}; the request named another host")
        )


def find_own_url(scope: Scope) -> str:
    """The address of the server, for links where no base URL is given.

    The header Host is believed where it names this machine itself, or the very address that the request came to.
    """
    address = scope.get("server") or ("127.0.0.1", None)
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    _, name, port = parse_origin(f"//{host}")
    if name != address[0] and not is_loopback(name):
        name, port = address
    bracketed = f"[{name}]" if ":" in name else name
    return f"{scope['scheme']}://{bracketed}{'' if port is None else f':{port}'}"
