"""Numbers in words."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

__all__ = ["counted", "first_few"]


def counted(count: int, what: str) -> str:
    """A number and its noun.

    Examples:
        >>> counted(1, "query"), counted(3, "query"), counted(1200, "run")
        ('1 query', '3 queries', '1,200 runs')
    """
    many = what.removesuffix("y") + "ies" if what.endswith("y") else what + "s"
    return f"{count:,} {what if count == 1 else many}"


def first_few(names: Collection[str], most: int = 3) -> str:
    """The first of some names, and how many more there are.

    Examples:
        >>> first_few(["a", "b", "c", "d", "e"]), first_few({"a": 1})
        ('a, b, c and 2 more', 'a')
    """
    shown = ", ".join(islice(names, most))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown
