"""What was last found about the database and its disk, and the warning that owners see."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ringtrue.messages import Note
from ringtrue.service.web.disk_space import DiskSpace

DatabaseState: TypeAlias = Literal["ok", "busy", "read-only", "away"]
STATUS: dict[DatabaseState, tuple[str, int]] = {
    "ok": ("ok", 200),
    "busy": ("degraded", 200),
    # Not 503: exports and backups work, and neither a restart nor another server makes room.
    "read-only": ("degraded", 200),
    "away": ("unavailable", 503),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What was found: `reason` says why the database cannot be written, or does not answer."""

    database: DatabaseState = "ok"
    reason: Note | None = None
    schema: int | None = None
    disk: DiskSpace | None = None
    checked: float = float("-inf")  # by the clock that never goes back

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        disk = self.disk and {"free_bytes": self.disk.free, "free_percent": self.disk.free_percent}
        return {"status": STATUS[self.database][0], "database": self.database, "disk": disk, "schema": self.schema}

    def warning(self) -> Note | None:
        """What an owner should do something about; None when all is well."""
        reason = "" if self.reason is None else f": {self.reason.sentence}"
        if self.database == "read-only":
            return Note(
                "answers-not-saved",
                f"no answer can be saved{reason}. Judges are asked to wait until it can be written again. Exports and "
                f"the backup work",
            )
        if self.database == "busy":
            return Note(
                "answers-not-saved",
                f"no answer can be saved{reason}. If this goes on, see which program holds the database",
            )
        if self.disk is not None and self.disk.is_low:
            return Note(
                "disk-low",
                f"the disk of the database has {self.disk.free / 1e6:,.0f} MB left ({self.disk.free_percent:g}%): make "
                f"room. When it is full, no answer can be saved",
            )
        return None


@dataclass(slots=True)
class HealthRecord:
    """The last finding of a server, when it last wrote something to see whether it can, and the look under way.

    `was_refused` says that something else could not be written since the last look.
    """

    value: Health = field(default_factory=Health)
    written: float = field(default_factory=time.monotonic)
    look: asyncio.Task[Health] | None = None
    was_refused: bool = False
