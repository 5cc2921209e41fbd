"""Tables for eyes: rows and columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows and columns of text, with a caption that says what the numbers mean."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    left: int = field(default=1)  # how many columns, from the first, hold words rather than numbers


def format_signed(number: float, digits: int) -> str:
    """A difference with its sign, + or −; never −0.

    Examples:
        >>> format_signed(-0.25, 2), format_signed(-0.001, 2)
        ('−0.25', '+0.00')
    """
    return f"{round(number, digits) + 0.0:+.{digits}f}".replace("-", "−")
