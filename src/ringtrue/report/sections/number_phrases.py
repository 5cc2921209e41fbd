"""Numbers in sentences: shares as percent, estimates with their ends, names in a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized

from ringtrue.messages import Note
from ringtrue.stats.results import Estimate


def format_percent(share: float | None) -> str:
    """A share as percent; never 0% or 100% for what is only close to it.

    Examples:
        >>> format_percent(0.816), format_percent(0.999), format_percent(0.001), format_percent(None)
        ('82%', '>99%', '<1%', '–')
    """
    if share is None:
        return "–"
    if 0 < share < 0.005 or 0.995 <= share < 1:
        return "<1%" if share < 0.5 else ">99%"
    return f"{share:.0%}"


def format_percent_estimate(estimate: Estimate) -> str:
    """A share with its interval.

    Examples:
        >>> format_percent_estimate(Estimate(value=0.9, low=0.596, high=0.982, n=10, method="wilson"))
        '90% (60% to 98%)'
    """
    value, low, high = map(format_percent, (estimate.value, estimate.low, estimate.high))
    return value if "–" in (low, high) else f"{value} ({low} to {high})"


def format_estimate(estimate: Estimate, digits: int = 2) -> str:
    """An estimate with its interval, in so many digits.

    Examples:
        >>> format_estimate(Estimate(value=-0.3, low=-0.4, high=0.1, n=10, method="t"))
        '−0.30 (−0.40 to 0.10)'
    """
    if estimate.value is None:
        return "–"
    value, low, high = (format_number(number, digits) for number in (estimate.value, estimate.low, estimate.high))
    return value if "–" in (low, high) or estimate.low == estimate.high else f"{value} ({low} to {high})"


def format_number(number: float | None, digits: int = 2) -> str:
    """A number with a proper sign, and never −0.

    Examples:
        >>> format_number(-0.5), format_number(-0.001), format_number(None)
        ('−0.50', '0.00', '–')
    """
    return "–" if number is None else f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−")


def format_p_value(p: float) -> str:
    """A p-value.

    Examples:
        >>> format_p_value(0.0004), format_p_value(0.004), format_p_value(0.2)
        ('p < 0.001', 'p = 0.004', 'p = 0.20')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def pick_form(names: Sized, singular: str, plural: str) -> str:
    """A verb, or another word, as the number of names asks for.

    Examples:
        >>> pick_form(["ann"], "is", "are"), pick_form(["ann", "bob"], "is", "are")
        ('is', 'are')
    """
    return singular if len(names) == 1 else plural


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Names in a row, and how many more there are.

    Examples:
        >>> join_names(["ann", "bob", "cy"]), join_names(["ann", "bob", "cy", "dee"], most=2)
        ('ann, bob and cy', 'ann, bob and 2 more')
    """
    parts = list(names[:most])
    if len(names) > most:
        parts.append(f"{len(names) - most:,} more")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def drop_if_unknown(estimate: Estimate | None) -> Estimate | None:
    """What a chart can draw: nothing where the value is not known.

    Examples:
        >>> drop_if_unknown(Estimate(value=None, n=0, method="wilson")) is None
        True
    """
    return None if estimate is None or estimate.value is None else estimate


def capitalize_first(words: str) -> str:
    """Words as the beginning of a sentence.

    Examples:
        >>> capitalize_first("where gold says 0")
        'Where gold says 0'
    """
    return words[:1].upper() + words[1:]


def join_reasons(notes: Iterable[Note]) -> str:
    """What notes say, as part of a sentence; what to do about it has its place elsewhere.

    Examples:
        >>> join_reasons([Note("single-query", "one query has no interval"), Note("few-gold", "only 2 gold labels")])
        'one query has no interval; only 2 gold labels'
    """
    return "; ".join(note.sentence for note in notes)
