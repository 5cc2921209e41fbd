"""Estimates as cells of a table, with as many digits as they deserve, and their notes as footnotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ringtrue.stats.results import Estimate

__all__ = ["estimate_column", "footnotes", "intervals_told"]


def estimate_column(column: Sequence[Estimate]) -> list[str]:
    """Estimates as `value ±half`, with one digit more than their standard errors support.

    Where a value is not in the middle of its interval, ± would tell ends that it has not: then the whole column has
    both ends.

    Examples:
        >>> estimate_column([Estimate(value=0.5, se=0.1, low=0.3, high=0.7, n=9, method="t")])
        ['0.50 ±0.20']
        >>> estimate_column([Estimate(value=0.9, se=0.1, low=0.7, high=1.0, n=9, method="t")])
        ['0.90 (0.70 to 1.00)']
    """
    sure = [estimate.decimals for estimate in column if estimate.se]
    digits = max(sure, default=3) + 1
    halved = all(_in_the_middle(estimate, digits) for estimate in column)
    return [_cell(estimate, digits, halved=halved).replace("-", "−") for estimate in column]


def _in_the_middle(one: Estimate, digits: int) -> bool:
    """Whether `value ±half` tells both ends, to the last digit shown."""
    if one.value is None or one.low is None or one.high is None:
        return True
    return round(abs(one.value - (one.low + one.high) / 2), digits) == 0


def _cell(one: Estimate, digits: int, *, halved: bool) -> str:
    if one.value is None:
        return "–"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    if halved:
        return f"{one.value:.{digits}f} ±{(one.high - one.low) / 2:.{digits}f}"
    return f"{one.value:.{digits}f} ({one.low:.{digits}f} to {one.high:.{digits}f})"


def intervals_told(columns: Sequence[Sequence[str]], level: float | None = None) -> str:
    """What stands behind the values in columns of `estimate_column`, as the end of a caption.

    Examples:
        >>> intervals_told([["0.50 ±0.20"], ["0.90 (0.70 to 1.00)"]], 0.95)
        '; ± half of the 95% interval, or its ends in brackets'
    """
    every = "".join(cell for column in columns for cell in column)
    interval = "interval" if level is None else f"{level * 100:g}% interval"
    if "±" in every:
        return f"; ± half of the {interval}{', or its ends in brackets' if '(' in every else ''}"
    return f"; the ends of the {interval} in brackets" if "(" in every else ""


def footnotes(table: Mapping[str, Mapping[str, Estimate]], *, but: str = "") -> list[str]:
    """The notes of single estimates, run by run and measure by measure; what differs only by its numbers is told once.

    Notes that begin with `but` are left out: they are said of the whole.

    Examples:
        >>> doubt = Estimate(value=0.5, n=1, method="t", notes=("a single query: no interval can be given",))
        >>> footnotes({"new": {"AP": doubt}, "old": {"AP": doubt}})
        ['AP of new and 1 more: a single query: no interval can be given']
    """
    told: dict[str, list[tuple[str, str]]] = {}
    for run, row in table.items():
        for name, one in row.items():
            for note in one.notes:
                if not but or not note.startswith(but):
                    told.setdefault(re.sub(r"[−-]?[\d.]*\d", "#", note), []).append((f"{name} of {run}", note))
    return [_told_once(some) for some in told.values()]


def _told_once(some: Sequence[tuple[str, str]]) -> str:
    (first, note), more = some[0], len(some) - 1
    if not more:
        return f"{first}: {note}"
    same = all(other == note for _, other in some)
    return f"{first} and {more} more: {note}" if same else f"{first}: {note} (and {more} more alike)"
