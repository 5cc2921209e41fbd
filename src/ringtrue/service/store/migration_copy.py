"""A copy of an SQLite database before it is migrated: who is unhappy with the new version can go back to the old one.

A migration is one transaction, so that one that fails leaves the database as it was. The copy is for what only shows
later. PostgreSQL has `pg_dump` for that, which its owner runs before an upgrade.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.errors import StoreError
from ringtrue.service.store.schema import STEPS, migrate, read_schema_version

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOGGER = logging.getLogger("ringtrue")
SPARE_BYTES = 10_000_000  # that must be left on the disk for the migration itself


def migrate_with_copy(
    connection: Connection, path: Path | None, steps: Sequence[tuple[str, str]] = STEPS
) -> Path | None:
    """Bring a database up to date inside the caller's transaction; answers where its file was copied to, if it was.

    The transaction has to hold SQLite's lock for writing already: of servers that start together one copies and
    migrates, and the others find it done.
    """
    version = read_schema_version(connection) if path is not None else 0
    copy = copy_database(path, version) if path is not None and 0 < version < len(steps) else None
    migrate(connection, steps)
    if copy is not None:
        LOGGER.warning("the database is migrated from step %d to %d; a copy from before: %s", version, len(steps), copy)
    return copy


def copy_database(path: Path, version: int) -> Path:
    """Copy an SQLite file with what is in its write-ahead log, beside it; a copy of the same version is replaced."""
    copy = path.with_name(f"{path.name}.before-step-{version + 1}")
    needed, free = path.stat().st_size + SPARE_BYTES, shutil.disk_usage(path.parent).free
    if free < needed:
        raise StoreError(
            f"the database has to be migrated, and there is no room for a copy of it first: {path.parent} needs "
            f"{needed / 1e6:,.0f} MB and has {free / 1e6:,.0f}; make room, then start again. Nothing was changed"
        )
    partial = copy.with_name(f"{copy.name}.part")
    try:
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
        partial.replace(copy)
    except (OSError, sqlite3.Error) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"the database has to be migrated, and could not be copied to {copy} first ({error}); nothing was changed"
        ) from error
    return copy
