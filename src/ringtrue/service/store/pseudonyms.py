"""Handles: the names by which judges stand in every export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from ringtrue.errors import UsageError
from ringtrue.service.store.slugs import slugify

HANDLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
RESERVED = re.compile(r"(worker|erased)-\d+")


def normalise_handle(handle: str) -> str:
    """A handle that somebody chose, as it is kept."""
    handle = handle.strip().lower()
    if not HANDLE.fullmatch(handle):
        raise UsageError(
            f"a log-in name has small letters, digits, '.', '_' and '-', 63 at most, and begins with a letter or a "
            f"digit; found '{handle}'"
        )
    if RESERVED.fullmatch(handle):
        raise UsageError(f"log-in names such as '{handle}' are made by the server; choose another one")
    return handle


def slugify_handle(name: str) -> str:
    """A name as a handle.

    Examples:
        >>> slugify_handle("Zoë van der Berg")
        'zoe-van-der-berg'
        >>> slugify_handle("李")
        'judge'
    """
    slug = slugify(name, 50)
    return "judge" if not slug or RESERVED.fullmatch(slug) else slug


def candidate_handles(handle: str) -> Iterator[str]:
    """A handle, and those to be tried in turn where it is taken."""
    yield handle
    yield from (f"{handle}-{number}" for number in count(2))
