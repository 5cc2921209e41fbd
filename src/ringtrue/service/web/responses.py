"""What leaves: pages from templates, in which everything is escaped and no name is missing; redirects; headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ringtrue._version import __version__
from ringtrue.service.web.field_spelling import as_sentence


@cache
def static_path(name: str) -> str:
    """Where a style sheet or script lies; the address changes with its content, so that browsers may keep it."""
    content = files("ringtrue.service.web").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def _format_time(time: float | None) -> str:
    return "–" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def with_code(text: str) -> Markup:
    """A sentence in which words between backticks are code.

    Examples:
        >>> with_code("`ringtrue evaluate --gold` reads <it>.")
        Markup('<code>ringtrue evaluate --gold</code> reads &lt;it&gt;.')
    """
    parts = re.split("`([^`]+)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ringtrue.service.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"static": static_path, "version": __version__}
    environment.filters |= {"date": _format_time, "sentence": as_sentence, "with_code": with_code}
    return environment


TEMPLATES = _make_environment()


def render(
    request: Request, template: str, /, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> HTMLResponse:
    """A page from a template, which also gets `here` (None for nobody), `csrf`, `notice` and an owner's `warning`."""
    context = getattr(request.state, "context", None)
    csrf, warning = "", None
    if context is not None:
        csrf, warning = context.csrf, context.server.health.value.warning() if context.person.owner else None
    variables = {"here": context, "csrf": csrf, "notice": None, "warning": warning} | values
    return HTMLResponse(TEMPLATES.get_template(template).render(variables), status_code=status, headers=headers)


def see_other(path: str) -> RedirectResponse:
    """The answer to a form: go and look there. Only to paths of this site."""
    return RedirectResponse(local_path(path), status_code=303)


def local_path(text: str | None, default: str = "/") -> str:
    """A path of this site, whatever was asked for; nothing that a browser takes for another site.

    Examples:
        >>> local_path("/p/news/judge?queue=gold")
        '/p/news/judge?queue=gold'
        >>> local_path("//evil.example/"), local_path("https://evil.example/"), local_path("/\\\\evil.example")
        ('/', '/', '/')
    """
    if not text or not text.startswith("/") or text.startswith("//") or "\\" in text or not text.isprintable():
        return default
    try:
        parts = urlsplit(text)
    except ValueError:
        return default
    return default if parts.scheme or parts.netloc or " " in text else text


def describe_download(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes a file that is sent."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"description": "The file.", "content": dict.fromkeys(media_types, binary)}}


def attachment_headers(name: str) -> dict[str, str]:
    """The header that names a file: as it is, and in ASCII for programs that read nothing else.

    Examples:
        >>> attachment_headers("bm25.run")
        {'Content-Disposition': 'attachment; filename="bm25.run"; filename*=UTF-8\\'\\'bm25.run'}
        >>> attachment_headers("bjørn's.run")
        {'Content-Disposition': 'attachment; filename="bj_rn_s.run"; filename*=UTF-8\\'\\'bj%C3%B8rn%27s.run'}
    """
    ascii_name = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return {"Content-Disposition": f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"}
