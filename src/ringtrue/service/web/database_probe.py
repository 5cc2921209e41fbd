"""Whether the database can be read and written, and how much room its disk has: looked at, and remembered.

A full disk is noticed by writing, so a row is written every few seconds: a large one where the disk has little room, or
may have; what was put off while that failed is written down as soon as it works again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ringtrue.errors import ReadOnlyError, RingtrueError, UnavailableError
from ringtrue.messages import Note
from ringtrue.service.store import schema
from ringtrue.service.store.connections import dialect_insert
from ringtrue.service.store.migration import read_schema_version
from ringtrue.service.web.client_presence import CLIENT
from ringtrue.service.web.disk_space import measure_database_disk
from ringtrue.service.web.health_record import DatabaseState, Health, HealthRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.web.context import ServerContext

CHECK_SECONDS = 10.0  # between two looks where nobody asks
FRESH_SECONDS = 1.0  # what is told is not older: however often it is asked, no more is written
PROBE_SECONDS = 1.0  # whoever asks does not wait longer for something long that is being written
BUSY_SECONDS = 30.0  # without a write, after which the database counts as one that cannot be written
PROBE = "last written"  # the setting that is written to see whether it can be
PROBE_BYTES = 32_768  # more than a log-in or an answer needs: where these find no room, the look finds none


async def get_fresh_health(server: ServerContext) -> Health:
    """What was found a moment ago, or is found now."""
    health = server.health.value
    return health if time.monotonic() - health.checked <= FRESH_SECONDS else await check_health(server)


async def check_health(server: ServerContext, *, was_refused: bool = False) -> Health:
    """Look at the database and its disk; those who ask while somebody looks get the same answer.

    `was_refused` says that something could not be written just now, however much room the disk seems to have.
    """
    record = server.health
    record.was_refused |= was_refused
    if record.look is None or record.look.done():
        record.look = asyncio.create_task(_look_at_database(server))
    return await asyncio.shield(record.look)


async def _look_at_database(server: ServerContext) -> Health:
    """Look at the database and its disk, and write down what waits if it can be written."""
    CLIENT.set(None)  # it is for others too, if whoever asked leaves
    database: DatabaseState = "ok"
    reason: Note | None
    reason, version, disk = None, server.health.value.schema, measure_database_disk(server.store)
    was_well = server.health.value.database == "ok" and not server.health.was_refused
    server.health.was_refused = False
    has_ample_room = was_well and disk is not None and not disk.is_low
    probe = _write_probe(server.clock(), size=0 if has_ample_room else PROBE_BYTES)
    try:
        version = await server.read(read_schema_version)
    except RingtrueError as error:
        database, reason = "away", error.note
    else:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await server.store.write_async(probe, patience=0)
            server.health.written = time.monotonic()
            await server.store.deferred.flush()
        except ReadOnlyError as error:
            database, reason = "read-only", error.note
        except (UnavailableError, TimeoutError):
            database, reason = _assess_delay(server.health)
    server.health.value = Health(database=database, reason=reason, schema=version, disk=disk, checked=time.monotonic())
    return server.health.value


def _assess_delay(record: HealthRecord) -> tuple[DatabaseState, Note | None]:
    """What to say while something else is being written: for a while what was found before, then that it takes long."""
    before, silent = record.value, time.monotonic() - record.written
    if before.database == "read-only" or (before.database == "ok" and silent <= BUSY_SECONDS):
        return before.database, before.reason
    return "busy", Note("long-locked", f"nothing could be written for {silent:.0f} seconds, as the database is locked")


def _write_probe(now: float, *, size: int) -> Callable[[Connection], object]:
    filling = secrets.token_urlsafe(size)[:size]  # PostgreSQL would make 400 bytes of 32 KB of spaces
    value = f"{now} {filling}"

    def work(connection: Connection) -> None:
        insert = dialect_insert(connection, schema.setting).values(name=PROBE, value=value)
        connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_={"value": value}))

    return work
