"""Judgments in SQLite or PostgreSQL: projects, tasks with leases, answers that are only ever added."""

from ringtrue.store.opening import Store
from ringtrue.store.values import PREFERENCE, Answer, Label, Scale, Settings

__all__ = ["PREFERENCE", "Answer", "Label", "Scale", "Settings", "Store"]
