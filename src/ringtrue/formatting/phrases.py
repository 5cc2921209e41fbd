"""Numbers in words."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def format_count(count: int, noun: str) -> str:
    """A number and its noun.

    Examples:
        >>> format_count(1, "query"), format_count(3, "query"), format_count(1200, "run")
        ('1 query', '3 queries', '1,200 runs')
    """
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"


def join_first_few(names: Collection[str], limit: int = 3) -> str:
    """The first of some names, and how many more there are.

    Examples:
        >>> join_first_few(["a", "b", "c", "d", "e"]), join_first_few({"a": 1})
        ('a, b, c and 2 more', 'a')
    """
    listed = ", ".join(islice(names, limit))
    return f"{listed} and {len(names) - limit:,} more" if len(names) > limit else listed
