"""What leaves: pages from templates, in which everything is escaped and no name is missing; redirects; and files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from fastapi import Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.background import BackgroundTask

from ringtrue._version import __version__

if TYPE_CHECKING:
    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.auth.token_auth import Caller

T = TypeVar("T")


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


async def make_in_temp_folder(requester: RequestContext | Caller, make: Callable[[Path], T]) -> T:
    """What `make` answers, who is given a new folder for a file.

    `send_temp_file` takes the folder away, or failing does.
    """
    folder = Path(mkdtemp(prefix="ringtrue-"))
    try:
        return await requester.compute(lambda: make(folder))
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def send_temp_file(path: Path, *, name: str, media_type: str) -> FileResponse:
    """A file to be saved; it and its folder, which is temporary, are deleted when it was sent."""
    cleanup = BackgroundTask(rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=media_type, headers=attachment_headers(name), background=cleanup)
