"""Numbers in sentences: shares as percent, estimates with their ends, names in a row."""

from __future__ import annotations

from collections.abc import Sequence

from ringtrue.stats.results import Estimate

__all__ = ["capital", "ends", "listed", "minus", "or_none", "p_told", "percent", "percent_told"]


def percent(share: float | None) -> str:
    """A share as percent; never 0% or 100% for what is only close to it.

    Examples:
        >>> percent(0.816), percent(0.999), percent(0.001), percent(None)
        ('82%', '>99%', '<1%', '–')
    """
    if share is None:
        return "–"
    if 0 < share < 0.005 or 0.995 <= share < 1:
        return "<1%" if share < 0.5 else ">99%"
    return f"{share:.0%}"


def percent_told(one: Estimate) -> str:
    """A share with its interval.

    Examples:
        >>> percent_told(Estimate(value=0.9, low=0.596, high=0.982, n=10, method="wilson"))
        '90% (60% to 98%)'
    """
    if one.low is None or one.high is None:
        return percent(one.value)
    return f"{percent(one.value)} ({percent(one.low)} to {percent(one.high)})"


def ends(one: Estimate, digits: int = 2) -> str:
    """An estimate with its interval, in so many digits.

    Examples:
        >>> ends(Estimate(value=-0.3, low=-0.4, high=0.1, n=10, method="t"))
        '−0.30 (−0.40 to 0.10)'
    """
    if one.value is None:
        return "–"
    if one.low is None or one.high is None or one.low == one.high:
        return minus(one.value, digits)
    return f"{minus(one.value, digits)} ({minus(one.low, digits)} to {minus(one.high, digits)})"


def minus(value: float | None, digits: int = 2) -> str:
    """A number with a proper sign, and never −0.

    Examples:
        >>> minus(-0.5), minus(-0.001), minus(None)
        ('−0.50', '0.00', '–')
    """
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def p_told(p: float) -> str:
    """A p-value.

    Examples:
        >>> p_told(0.0004), p_told(0.004), p_told(0.2)
        ('p < 0.001', 'p = 0.004', 'p = 0.20')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in a row, and how many more there are.

    Examples:
        >>> listed(["ann", "bob", "cy"]), listed(["ann", "bob", "cy", "dee"], most=2)
        ('ann, bob and cy', 'ann, bob and 2 more')
    """
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def or_none(one: Estimate | None) -> Estimate | None:
    """What a chart can draw: nothing where the value is not known.

    Examples:
        >>> or_none(Estimate(value=None, n=0, method="wilson")) is None
        True
    """
    return None if one is None or one.value is None else one


def capital(words: str) -> str:
    """Words as the beginning of a sentence.

    Examples:
        >>> capital("where gold says 0")
        'Where gold says 0'
    """
    return words[:1].upper() + words[1:]
