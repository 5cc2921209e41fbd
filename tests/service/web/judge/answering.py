"""How a judge without any script answers: forms, and the pages that follow."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
from sqlalchemy import text

from ringtrue.service.store import Store


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def count(store: Store, table: str) -> int:
    """How many rows a table has."""
    ((number,),) = rows(store, f"SELECT COUNT(*) FROM {table}")
    return int(number)


def columns(store: Store, table: str, *names: str) -> list[tuple[Any, ...]]:
    """These columns of a table, the oldest row first."""
    return rows(store, f"SELECT {', '.join(names)} FROM {table} ORDER BY id")


def fields(visitor: Any, **changes: Any) -> dict[str, Any]:
    """What the form of the answers sends, with the button that was used."""
    hidden = visitor.hidden()
    for name in ("open", "kind", "reason"):
        hidden.pop(name, None)
    return hidden | changes


def say(visitor: Any, *, where: str = "news", **changes: Any) -> httpx.Response:
    """Answer the question on the screen, and look at the page that follows."""
    return follow(visitor, visitor.post(f"/p/{where}/answer", fields(visitor, **changes)))


def follow(visitor: Any, answer: httpx.Response) -> httpx.Response:
    assert answer.status_code == 303, answer.text
    return visitor.get(answer.headers["location"])


def heading(page: httpx.Response) -> str:
    found = re.search("<h1[^>]*>(.*?)</h1>", page.text)
    assert found is not None
    return unescape(found[1])
