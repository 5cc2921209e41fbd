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
    return f"{count:,} {noun if count == 1 else _plural(noun)}"


def format_range(counts: Collection[int], noun: str) -> str:
    """The smallest and the largest of some numbers, and their noun.

    Examples:
        >>> format_range([1, 1], "query"), format_range([3, 3], "query"), format_range([5, 3], "query")
        ('1 query', '3 queries', '3 to 5 queries')
    """
    low, high = min(counts), max(counts)
    return f"{low if low == high else f'{low} to {high}'} {noun if high == 1 else _plural(noun)}"


def format_amount(amount: float, digits: int) -> str:
    """An amount in so many digits, and never 0.000 for what is only close to it.

    Examples:
        >>> format_amount(0.0451, 3), format_amount(0.0004, 3), format_amount(0.0, 3)
        ('0.045', 'less than 0.001', '0.000')
    """
    text = f"{amount:.{digits}f}"
    return f"less than {10**-digits:.{digits}f}" if amount > 0 and float(text) == 0 else text


def format_lead(low: float, high: float, digits: int) -> str:
    """By how much one is better, from the ends of an interval on one side of 0.

    Examples:
        >>> format_lead(-0.267, -0.045, 3), format_lead(0.0001, 0.12, 3)
        ('by 0.045 to 0.267', 'by up to 0.120')
    """
    smallest, largest = (f"{end:.{digits}f}" for end in sorted((abs(low), abs(high))))
    return f"by {smallest} to {largest}" if float(smallest) else f"by up to {largest}"


def _plural(noun: str) -> str:
    return noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"


def join_first_few(names: Collection[str], limit: int = 3) -> str:
    """The first of some names, and how many more there are.

    Examples:
        >>> join_first_few(["a", "b", "c", "d", "e"]), join_first_few({"a": 1})
        ('a, b, c and 2 more', 'a')
    """
    listed = ", ".join(islice(names, limit))
    return f"{listed} and {len(names) - limit:,} more" if len(names) > limit else listed
