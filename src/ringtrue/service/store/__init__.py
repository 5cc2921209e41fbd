"""Judgments in SQLite or PostgreSQL: projects, tasks with leases, answers that are only ever added."""

from ringtrue.service.store.records import PREFERENCE, Answer, Label, Scale, Settings
from ringtrue.service.store.store import Store

__all__ = ["PREFERENCE", "Answer", "Label", "Scale", "Settings", "Store"]
