"""Judgments in SQLite or PostgreSQL: projects, tasks with leases, answers that are only ever added."""

from ringtrue.service.store.records import (
    PREFERENCE as PREFERENCE,
    Answer as Answer,
    Label as Label,
    Scale as Scale,
    Settings as Settings,
)
from ringtrue.service.store.store import Store as Store
