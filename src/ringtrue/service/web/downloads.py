"""Files that are made to be downloaded, also where a disk is full: in a folder with room, in memory, or as they go out.

That something was downloaded is written down as soon as the database can be written; the download does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ringtrue.errors import UnavailableError
from ringtrue.service.store.backup import write_backup
from ringtrue.service.web.client_presence import CLIENT, ClientPresence
from ringtrue.service.web.disk_space import is_full, list_temp_folders
from ringtrue.service.web.responses import attachment_headers

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fastapi import Response

    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.auth.token_auth import Caller

T = TypeVar("T")
ZIP = "application/zip"
PIECE_BYTES = 1 << 16


class NoRoomError(UnavailableError):
    """No folder has room for a file."""


async def make_in_temp_folder(requester: RequestContext | Caller, make: Callable[[Path], T]) -> T:
    """What `make` answers, who is given a new folder for a file; in another place where the first was full.

    `send_temp_file` takes the folder away, or failing does.
    """
    for parent in list_temp_folders(requester.server.store):
        try:
            folder = Path(mkdtemp(prefix="ringtrue-", dir=parent))
        except OSError:  # no room for a folder even
            continue
        try:
            return await requester.compute(lambda folder=folder: make(folder))  # type: ignore[misc]
        except BaseException as error:
            is_refusal = isinstance(error, UnavailableError | HTTPException | ClientDisconnect)
            is_refusal |= not isinstance(error, Exception)
            has_no_room = not is_refusal and is_full(parent)
            rmtree(folder, ignore_errors=True)
            if not has_no_room:
                raise
    raise NoRoomError(
        "no-room-for-file",
        "there is no room for the file: free some space in the folder for temporary files, or start the server with "
        "TMPDIR set to a folder on another disk",
    )


def send_temp_file(path: Path, *, name: str, media_type: str) -> FileResponse:
    """A file to be saved; it and its folder, which is temporary, are deleted when it was sent."""
    cleanup = BackgroundTask(rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=media_type, headers=attachment_headers(name), background=cleanup)


async def send_backup(requester: RequestContext | Caller, *, name: str) -> Response:
    """The whole database as one file, of one moment.

    Where no folder has room it is sent as it is made: one that breaks off is no .zip, and cannot be taken for whole.
    """

    def work(folder: Path) -> Path:
        write_backup(requester.server.store, folder / name, now=requester.now)
        return folder / name

    try:
        path = await make_in_temp_folder(requester, work)
    except NoRoomError:
        return _stream_backup(requester, name)
    return send_temp_file(path, name=name, media_type=ZIP)


def _stream_backup(requester: RequestContext | Caller, name: str) -> StreamingResponse:
    """A backup that is written by the threads for long work as it is sent; raises where these have too much to do."""
    reading, writing = os.pipe()
    source, target = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")

    def write() -> None:
        with target:
            write_backup(requester.server.store, target, now=requester.now)

    try:
        written = requester.server.pools.heavy.submit(write, account=requester.person.id)
    except BaseException:
        source.close()
        target.close()
        raise
    written.add_done_callback(lambda _: target.close())  # also where the server stops before it began
    # Whoever stops reading stops the writing: a generator that is left in the middle would keep the pipe open.
    return StreamingResponse(
        _read_pieces(source, written, CLIENT.get() or ClientPresence()),
        media_type=ZIP,
        headers=attachment_headers(name),
        background=BackgroundTask(source.close),
    )


def _read_pieces(source: BinaryIO, written: Future[None], client: ClientPresence) -> Iterator[bytes]:
    """What is written, piece by piece; nothing where the client leaves before a thread has begun with it."""
    with client.watched(written.cancel):
        if client.is_gone:
            written.cancel()
        while piece := source.read(PIECE_BYTES):
            yield piece
    if not written.cancelled():
        written.result()
