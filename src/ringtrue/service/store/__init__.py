"""Judgments in SQLite or PostgreSQL: projects, tasks with leases, answers that are only ever added."""

from ringtrue.errors import StoreError
from ringtrue.service.store.records import (
    PREFERENCE as PREFERENCE,
    Answer as Answer,
    Label as Label,
    Scale as Scale,
    Settings as Settings,
)

try:
    from ringtrue.service.store.store import Store as Store
except ModuleNotFoundError as missing:
    if missing.name != "sqlalchemy":
        raise
    raise StoreError(
        "missing-package", "collecting judgments needs more packages: pip install 'ringtrue[web]'"
    ) from None
