"""Pages from templates: everything is escaped, and a name that is not given is an error."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from ringtrue._version import __version__


@cache
def static_path(name: str) -> str:
    """Where a style sheet or script lies; the address changes with its content, so that browsers may keep it."""
    content = files("ringtrue.service.web").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def _format_time(time: float | None) -> str:
    return "–" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


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
    environment.filters |= {"date": _format_time}
    return environment


TEMPLATES = _make_environment()


def render(
    request: Request, template: str, /, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> HTMLResponse:
    """A page from a template, which also gets `here` (None for nobody), `csrf` and `notice`."""
    context = getattr(request.state, "context", None)
    variables = {"here": context, "csrf": "" if context is None else context.csrf, "notice": None} | values
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
