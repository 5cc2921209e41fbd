"""Tables for eyes: rows and columns of text, and numbers with as many digits as they deserve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ringtrue.results import Estimate

__all__ = ["Grid", "estimate_column", "signed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows and columns of text, with a caption that says what the numbers mean."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    left: int = field(default=1)  # how many columns, from the first, hold words rather than numbers


def estimate_column(column: Sequence[Estimate]) -> list[str]:
    """Estimates as `value ±half`, with one digit more than their standard errors support."""
    sure = [estimate.decimals for estimate in column if estimate.se]
    digits = max(sure, default=3) + 1
    cells = []
    for estimate in column:
        if estimate.value is None:
            cells.append("–")
        elif estimate.low is None or estimate.high is None:
            cells.append(f"{estimate.value:.{digits}f}")
        else:
            cells.append(f"{estimate.value:.{digits}f} ±{(estimate.high - estimate.low) / 2:.{digits}f}")
    return [cell.replace("-", "−") for cell in cells]


def signed(value: float, digits: int) -> str:
    """A difference with its sign, + or −."""
    return f"{value:+.{digits}f}".replace("-", "−")
