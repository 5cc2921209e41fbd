"""Files of a form that could not be used yet: kept for an hour, so that nobody has to choose them again.

A browser forgets chosen files when a page comes back with something to correct. They wait in a folder of the system's
temporary files that all workers of one server share, each set under a name that only the login that sent it can make.
What is too old, or too much, goes; nothing is kept where the disk has little room, or would have then, and the page
says so and asks for the files again.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from ringtrue.messages import Note
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.web.disk_space import measure_disk
from ringtrue.service.web.owner.forms import FormState, read_uploaded_files

if TYPE_CHECKING:
    from ringtrue.service.web.auth.dependencies import RequestContext
    from ringtrue.service.web.context import ServerContext

KEPT_SECONDS = 3_600.0
MAX_SETS = 20  # forms that wait at a time; the oldest goes first
MAX_TIMES_LIMIT = 3  # all sets together have at most so many times what one form may send
NOT_KEPT = Note("files-not-kept", "the files that you had chosen could not be kept: choose them again")
NO_ROOM = Note(
    "no-room-to-keep-files",
    "the disk for temporary files has little room left, and the files that you had chosen could not be kept: choose "
    "them again",
)
TOKEN_FIELD, INDEX = "kept", "index.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A file that waits: `number` tells it from the others of its form."""

    number: int
    field: str
    name: str
    size: int


async def read_form_files(
    context: RequestContext, form: FormState, *, many: Iterable[str] = ()
) -> dict[str, list[UploadedFile]]:
    """The files of a form by field: those that were chosen now, and those that were kept and are still wanted.

    Fields of `many` files get both, but for kept ones whose name is chosen again; in others the new file replaces the
    kept one.
    """
    files = {name: await read_uploaded_files(context.form, name) for name in form.file_fields}
    token = context.text(TOKEN_FIELD)
    if not token:
        return files
    wanted = {
        name: {number for number in context.form.getlist(f"{TOKEN_FIELD}_{name}") if isinstance(number, str)}
        for name, chosen in files.items()
        if not chosen or name in many
    }
    kept = await asyncio.to_thread(_load_kept, context, token, wanted)
    for name, numbers in wanted.items():
        if len(numbers) > len(kept.get(name, ())):
            form.problems[name] = Note(
                "file-not-kept-longer", "what you had chosen here is not kept any more: choose it again"
            )
        new_names = {file.name for file in files[name]}
        files[name] = [file for file in kept.get(name, ()) if file.name not in new_names] + files[name]
    return files


async def keep_form_files(
    context: RequestContext, form: FormState, files: Mapping[str, Sequence[UploadedFile]]
) -> None:
    """Keep the files of a form that is shown again, in place of those that were kept of it before."""
    form.values[TOKEN_FIELD], form.kept = await asyncio.to_thread(_store_kept, context, files)
    size = sum(len(file.content) for chosen in files.values() for file in chosen)
    if size and not form.kept:
        form.notices.append(NOT_KEPT if _has_room(size) else NO_ROOM)


async def forget_form_files(context: RequestContext) -> None:
    """Throw away what was kept of a form that has done its work."""
    token = context.text(TOKEN_FIELD)
    if token:
        await asyncio.to_thread(_remove_set, context, token)


def _has_room(size: int) -> bool:
    """Whether the disk for temporary files is not low with so many bytes more on it."""
    space = measure_disk(Path(tempfile.gettempdir()))
    return space is None or not replace(space, free=space.free - size).is_low


def _remove_set(context: RequestContext, token: str) -> None:
    with suppress(OSError):
        rmtree(_set_folder(context, token), ignore_errors=True)


def remove_old_sets(server: ServerContext) -> None:
    """Remove sets that are older than an hour."""
    for folder in _list_superseded_sets(server, size=0):
        rmtree(folder, ignore_errors=True)


def _list_superseded_sets(server: ServerContext, *, size: int) -> dict[Path, int]:
    """The sets that are older than an hour; then the oldest, until one more of this size may be kept. Bytes of each."""
    superseded: dict[Path, int] = {}
    with suppress(OSError):  # no form has kept anything yet, or another worker removes the same
        sets = sorted((entry.stat().st_mtime, entry) for entry in _shared_folder(server, create=False).iterdir())
        sizes = [sum(file.stat().st_size for file in folder.iterdir()) for _, folder in sets]
        for place, (modified, folder) in enumerate(sets):
            is_old = time.time() - modified > KEPT_SECONDS
            is_too_many = len(sets) - place >= MAX_SETS
            is_too_much = size + sum(sizes[place:]) > MAX_TIMES_LIMIT * server.upload_limit
            if is_old or (size and (is_too_many or is_too_much)):
                superseded[folder] = sizes[place]
    return superseded


def _shared_folder(server: ServerContext, *, create: bool = True) -> Path:
    """The folder of this server, which nobody else on the machine can read or has made."""
    name = hmac.digest(server.secret, b"kept files", "sha256").hex()[:32]
    folder = Path(tempfile.gettempdir()) / f"ringtrue-kept-{name}"
    if create:
        folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        raise PermissionError(f"{folder} is not ours")
    return folder


def _set_folder(context: RequestContext, token: str) -> Path:
    """Where a form's files wait: the name takes the login's secret, so that a token is worth nothing to others."""
    name = hmac.digest(context.server.secret, f"{context.secret} {token}".encode(), "sha256").hex()
    return _shared_folder(context.server) / name


def _load_kept(context: RequestContext, token: str, wanted: Mapping[str, set[str]]) -> dict[str, list[UploadedFile]]:
    files: dict[str, list[UploadedFile]] = {}
    with suppress(OSError, ValueError):  # gone meanwhile, or of a server that was not shut down well
        folder = _set_folder(context, token)
        if time.time() - folder.stat().st_mtime <= KEPT_SECONDS:
            for kept in (KeptFile(**row) for row in json.loads((folder / INDEX).read_text())):
                if str(kept.number) in wanted.get(kept.field, ()):
                    content = (folder / str(kept.number)).read_bytes()
                    files.setdefault(kept.field, []).append(UploadedFile(name=kept.name, content=content))
    return files


def _store_kept(
    context: RequestContext, files: Mapping[str, Sequence[UploadedFile]]
) -> tuple[str, dict[str, list[KeptFile]]]:
    """The token of the new set, and what is in it; no token and nothing where it cannot be kept."""
    before, token = context.text(TOKEN_FIELD), secrets.token_urlsafe(16)
    pairs = [(field, file) for field, chosen in files.items() for file in chosen if file.content]
    size = sum(len(file.content) for _, file in pairs)
    folder = None
    try:
        if before:
            rmtree(_set_folder(context, before), ignore_errors=True)
        if not pairs or size > context.server.upload_limit:
            return "", {}
        superseded = _list_superseded_sets(context.server, size=size)
        if not _has_room(size - sum(superseded.values())):  # those of others are not removed for nothing
            return "", {}
        for superseded_folder in superseded:
            rmtree(superseded_folder, ignore_errors=True)
        folder = _set_folder(context, token)
        folder.mkdir(mode=0o700)
        kept: dict[str, list[KeptFile]] = {}
        for number, (field, file) in enumerate(pairs):
            (folder / str(number)).write_bytes(file.content)
            kept.setdefault(field, []).append(
                KeptFile(number=number, field=field, name=file.name, size=len(file.content))
            )
        rows = [asdict(kept_file) for chosen in kept.values() for kept_file in chosen]
        (folder / INDEX).write_text(json.dumps(rows))
    except OSError:  # such as a full disk
        if folder is not None:
            rmtree(folder, ignore_errors=True)
        return "", {}
    return token, kept
