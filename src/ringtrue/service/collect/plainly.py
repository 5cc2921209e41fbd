"""Sentences for people who have a page before them, and no command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ringtrue.errors import RingtrueError


def without_options(text: str) -> str:
    """A sentence without what only the command line understands.

    Examples:
        >>> without_options("12 labels repeat; the last one counts (--repeats all counts each)")
        '12 labels repeat; the last one counts'
    """
    text = re.sub(r" ?\([^()]*--[^()]*\)", "", text)
    return re.sub(r"[;,:] [^;,:]*--[a-z][^;]*", "", text)


@contextmanager
def plainly() -> Iterator[None]:
    """Errors from inside are told without options of the command line."""
    try:
        yield
    except RingtrueError as error:
        error.args = (without_options(str(error)), *error.args[1:])
        raise
