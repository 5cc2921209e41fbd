"""Files on their way to a browser or a program."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringtrue.service.web.context import Site

__all__ = ["as_download", "attachment", "made_in_folder", "sent_file"]

T = TypeVar("T")


def as_download(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes a file that is sent."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"description": "The file.", "content": dict.fromkeys(kinds, binary)}}


def attachment(name: str) -> dict[str, str]:
    """The header that names a file: as it is, and in ASCII for programs that read nothing else.

    Examples:
        >>> attachment("bm25.run")
        {'Content-Disposition': 'attachment; filename="bm25.run"; filename*=UTF-8\\'\\'bm25.run'}
        >>> attachment("bjørn's.run")
        {'Content-Disposition': 'attachment; filename="bj_rn_s.run"; filename*=UTF-8\\'\\'bj%C3%B8rn%27s.run'}
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}


async def made_in_folder(site: Site, make: Callable[[Path], T]) -> T:
    """What `make` answers, who is given a new folder for a file; `sent_file` takes the folder away, or failing does."""
    folder = Path(mkdtemp(prefix="ringtrue-"))
    try:
        return await site.compute(lambda: make(folder))
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def sent_file(path: Path, *, name: str, media_type: str) -> FileResponse:
    """A file to be saved; it and its folder, which is temporary, are deleted when it was sent."""
    gone = BackgroundTask(rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=media_type, headers=attachment(name), background=gone)
