"""Room on disks: how much the database has left, and where a file can be made that somebody downloads."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringtrue.service.store import Store

# Owners are warned below this much, and below this share of the disk where that is no great amount.
LOW_BYTES, LOW_SHARE, AMPLE_BYTES = 500_000_000, 0.05, 10_000_000_000
FULL_BYTES = 1_000_000  # a disk with less has no room for a file, whatever the error says
MEMORY_FOLDER = Path("/dev/shm")  # a disk in memory, on Linux


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSpace:
    """Bytes of a disk, and how many of them are free."""

    total: int
    free: int

    @property
    def free_percent(self) -> float:
        """The share that is free, in percent."""
        return round(100 * self.free / self.total, 1) if self.total else 0.0

    @property
    def is_low(self) -> bool:
        """Whether the disk may soon be full.

        Examples:
            >>> gigabyte = 10**9
            >>> DiskSpace(total=20 * gigabyte, free=gigabyte // 2 - 1).is_low
            True
            >>> DiskSpace(total=20 * gigabyte, free=2 * gigabyte).is_low
            False
            >>> DiskSpace(total=100 * gigabyte, free=2 * gigabyte).is_low
            True
            >>> DiskSpace(total=4000 * gigabyte, free=40 * gigabyte).is_low
            False
        """
        return self.free < LOW_BYTES or (self.free < LOW_SHARE * self.total and self.free < AMPLE_BYTES)


def measure_disk(folder: Path) -> DiskSpace | None:
    """The disk that a folder is on; None where the system does not tell."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskSpace(total=usage.total, free=usage.free)


def measure_database_disk(store: Store) -> DiskSpace | None:
    """The disk of an SQLite file; None for PostgreSQL, which does not tell how much room it has."""
    return None if store.path is None else measure_disk(store.path.parent)


def is_full(folder: Path) -> bool:
    """Whether there is no room for a file."""
    space = measure_disk(folder)
    return space is not None and space.free < FULL_BYTES


def list_temp_parents() -> list[Path]:
    """Where files can be made for a while: the usual folder; where its disk is low, memory before it, else after."""
    try:
        usual = Path(gettempdir())
    except FileNotFoundError:  # no folder can be written
        return [MEMORY_FOLDER] if MEMORY_FOLDER.is_dir() else []
    if not MEMORY_FOLDER.is_dir():
        return [usual]
    space = measure_disk(usual)
    return [MEMORY_FOLDER, usual] if space is not None and space.is_low else [usual, MEMORY_FOLDER]


def list_temp_folders(store: Store) -> list[Path]:
    """The same for a file that somebody downloads, without memory where the database would fill it."""
    database_bytes = store.path.stat().st_size if store.path is not None and store.path.exists() else 0
    memory = measure_disk(MEMORY_FOLDER)
    fits = memory is not None and database_bytes < memory.free / 2
    return [folder for folder in list_temp_parents() if fits or folder != MEMORY_FOLDER]
