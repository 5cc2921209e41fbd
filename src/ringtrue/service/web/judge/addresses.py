"""Addresses of a judge's pages, and the numbers in them and in forms."""

from __future__ import annotations

from typing import get_args

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store.records import MAX_ID, Queue
from ringtrue.service.web.auth.dependencies import RequestContext


def task_path(project: str, task: int, message_key: str | None = None) -> str:
    """Where a task is judged, with a message that stands on the page."""
    return f"/p/{project}/judge?task={task}{'' if message_key is None else f'&said={message_key}'}"


def parse_number(text: object, *, least: int = 1) -> int:
    """A whole number of a form or an address."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20:
        number = int(text)
        if least <= number <= MAX_ID:
            return number
    raise UsageError(
        "incomplete-address", "this address or form is not complete; go back to your projects, and judge on from there"
    )


def parse_optional_number(text: object, *, least: int = 1) -> int | None:
    """The same; None where there is none."""
    return None if text is None else parse_number(text, least=least)


def resolve_queue(context: RequestContext, requested: str | None) -> str:
    """The queue that was asked for, or that of the judge's part in the project."""
    if requested is None:
        return "main" if context.may("judge") else "gold"
    if requested not in get_args(Queue):
        raise NotFoundError(
            "unknown-queue", f"there is no queue '{requested}'; there is {' and '.join(get_args(Queue))}"
        )
    context.require("gold" if requested == "gold" else "judge")
    return requested
