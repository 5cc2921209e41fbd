"""`/metrics`: for whoever has an owner's token that may read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response
from sqlalchemy import func, select

from ringtrue.errors import RingtrueError
from ringtrue.service.store import schema
from ringtrue.service.web.auth.dependencies import make_role_error
from ringtrue.service.web.auth.token_auth import Reader
from ringtrue.service.web.disk_space import MEMORY_FOLDER
from ringtrue.service.web.metrics import (
    FOLDER_VARIABLE,
    ProcessNumbers,
    add_shared_numbers,
    render_metrics,
    share_numbers,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.web.context import ServerContext

router = APIRouter(include_in_schema=False)
FOLDER_PREFIX = "ringtrue-metrics-"
TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics")
async def metrics(caller: Reader) -> Response:
    """All numbers, of every process of this server."""
    if not caller.person.owner:
        raise make_role_error("owner", "")
    server, folder = caller.server, _shared_folder()
    numbers = add_shared_numbers(collect_numbers(server), folder)
    health = server.health.value
    try:
        counts = await caller.read(_count_rows)
    except RingtrueError:  # the numbers of the process itself are shown all the same
        counts = {}
    disk = health.disk
    database: dict[str, float | None] = {
        **counts,
        "ringtrue_database_writable": float(health.database == "ok"),
        "ringtrue_schema_version": health.schema,
        "ringtrue_disk_free_bytes": None if disk is None else disk.free,
        "ringtrue_disk_size_bytes": None if disk is None else disk.total,
    }
    return Response(render_metrics(numbers, database), media_type=TEXT_FORMAT)


def collect_numbers(server: ServerContext) -> ProcessNumbers:
    """The numbers of this process."""
    gauges = {
        "ringtrue_writer_queue_length": server.store.waiting_writes,
        "ringtrue_deferred_writes": len(server.store.deferred),
    }
    gauges["ringtrue_pool_queue_length/readers"] = server.readers.waiting
    for name, pool in server.pools.by_name().items():
        gauges[f"ringtrue_pool_queue_length/{name}"] = pool.waiting
    counters = {"ringtrue_database_unavailable_total": server.store.unavailable}
    return ProcessNumbers(requests=server.metrics, counters=counters, gauges=gauges)


@contextmanager
def share_metrics_between_processes() -> Iterator[None]:
    """A folder in which the processes that are started meanwhile leave their numbers; in memory where that can be."""
    parent = MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else Path(gettempdir())
    _remove_folders_of_killed_servers(parent)
    with TemporaryDirectory(prefix=f"{FOLDER_PREFIX}{os.getpid()}-", dir=parent) as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER_VARIABLE]


def _remove_folders_of_killed_servers(parent: Path) -> None:
    for folder in parent.glob(f"{FOLDER_PREFIX}*-*"):
        process_id = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if process_id.isdigit() and not Path(f"/proc/{process_id}").exists() and Path("/proc/self").exists():
            rmtree(folder, ignore_errors=True)


async def share_own_numbers(server: ServerContext) -> None:
    """Leave this process's numbers for the others, where there are others."""
    folder = _shared_folder()
    if folder is not None:
        numbers = collect_numbers(server).to_json()  # here, as the event loop adds to what is counted
        await asyncio.to_thread(share_numbers, numbers, folder)


def _count_rows(connection: Connection) -> dict[str, float | None]:
    """Answers by the number of the newest, as counting a million rows takes too long."""
    last = connection.execute(select(func.max(schema.judgment.c.id))).scalar()
    tasks = select(func.count()).select_from(schema.task).where(schema.task.c.closed.is_(None))
    return {"ringtrue_newest_answer_number": last or 0, "ringtrue_open_tasks": connection.execute(tasks).scalar_one()}


def _shared_folder() -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) if folder else None
