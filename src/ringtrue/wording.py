"""Numbers in words."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, what: str) -> str:
    """A number and its noun.

    Examples:
        >>> counted(1, "query"), counted(3, "query"), counted(1200, "run")
        ('1 query', '3 queries', '1,200 runs')
    """
    many = what.removesuffix("y") + "ies" if what.endswith("y") else what + "s"
    return f"{count:,} {what if count == 1 else many}"
