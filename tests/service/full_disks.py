"""Databases that can be read and not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import event

from ringtrue.service.store import Store


def make_read_only(store: Store) -> Callable[[], None]:
    """Let every connection refuse to write, until the function that is answered is called."""
    is_read_only = True

    @event.listens_for(store.engine, "checkout")
    def refuse(connection: Any, *_: object) -> None:
        connection.execute(f"PRAGMA query_only={'ON' if is_read_only else 'OFF'}")

    def end() -> None:
        nonlocal is_read_only
        is_read_only = False

    return end
