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

    from ringtrue.service.web.context import ServerContext

T = TypeVar("T")


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


async def make_in_temp_folder(server: ServerContext, make: Callable[[Path], T]) -> T:
    """What `make` answers, who is given a new folder for a file.

    `send_temp_file` takes the folder away, or failing does.
    """
    folder = Path(mkdtemp(prefix="ringtrue-"))
    try:
        return await server.compute(lambda: make(folder))
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def send_temp_file(path: Path, *, name: str, media_type: str) -> FileResponse:
    """A file to be saved; it and its folder, which is temporary, are deleted when it was sent."""
    cleanup = BackgroundTask(rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=media_type, headers=attachment_headers(name), background=cleanup)
