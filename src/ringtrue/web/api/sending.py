"""Files on their way to a program."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringtrue.web.site import Site

__all__ = ["as_download", "attachment", "send_made"]


def as_download(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes a file that is sent."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"description": "The file.", "content": dict.fromkeys(kinds, binary)}}


def attachment(name: str) -> dict[str, str]:
    """The header that names a file.

    Examples:
        >>> attachment("bm25.run")
        {'Content-Disposition': "attachment; filename*=UTF-8''bm25.run"}
    """
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


async def send_made(site: Site, make: Callable[[Path], tuple[Path, str, str]]) -> FileResponse:
    """Make a file in a folder of its own, send it, and take the folder away; `make` answers path, name and kind."""
    folder = Path(tempfile.mkdtemp(prefix="ringtrue-"))
    try:
        path, name, kind = await site.compute(lambda: make(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, media_type=kind, headers=attachment(name), background=gone)
