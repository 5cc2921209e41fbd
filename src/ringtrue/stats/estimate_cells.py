"""Estimates as cells of a table, with as many digits as they deserve, and their notes as footnotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ringtrue.formatting.grid import exact_cells
from ringtrue.stats.results import Estimate

EXACT_FIELDS = ("value", "se", "low", "high", "level", "n", "method")
NUMBER_FIELDS = ("value", "se", "low", "high", "n")


def format_estimates(estimates: Sequence[Estimate]) -> list[str]:
    """Estimates as `value ±half`, with one digit more than their standard errors support.

    Where a value is not in the middle of its interval, ± would tell ends that it has not: then the whole column has
    both ends.

    Examples:
        >>> format_estimates([Estimate(value=0.5, se=0.1, low=0.3, high=0.7, n=9, method="t")])
        ['0.50 ±0.20']
        >>> format_estimates([Estimate(value=0.9, se=0.1, low=0.7, high=1.0, n=9, method="t")])
        ['0.90 (0.70 to 1.00)']
    """
    supported = [estimate.decimals for estimate in estimates if estimate.se]
    digits = max(supported, default=3) + 1
    symmetric = all(_is_centred(estimate, digits) for estimate in estimates)
    return [_format_estimate(estimate, digits, symmetric=symmetric).replace("-", "−") for estimate in estimates]


def _is_centred(estimate: Estimate, digits: int) -> bool:
    """Whether `value ±half` tells both ends, to the last digit shown."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return True
    return round(abs(estimate.value - (estimate.low + estimate.high) / 2), digits) == 0


def _format_estimate(estimate: Estimate, digits: int, *, symmetric: bool) -> str:
    if estimate.value is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}"
    if symmetric:
        return f"{estimate.value:.{digits}f} ±{(estimate.high - estimate.low) / 2:.{digits}f}"
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def exact_estimate(estimate: Estimate, fields: Sequence[str] = EXACT_FIELDS) -> list[str]:
    """Fields of an estimate with every digit, for CSV.

    Examples:
        >>> exact_estimate(Estimate(value=0.5, n=9, method="t"))
        ['0.5', '', '', '', '0.95', '9', 't']
    """
    return exact_cells(getattr(estimate, field) for field in fields)


def describe_intervals(columns: Sequence[Sequence[str]], level: float | None = None) -> str:
    """What stands behind the values in columns of `format_estimates`, as the end of a caption.

    Examples:
        >>> describe_intervals([["0.50 ±0.20"], ["0.90 (0.70 to 1.00)"]], 0.95)
        '; ± half of the 95% interval, or its ends in brackets'
    """
    all_cells = "".join(cell for column in columns for cell in column)
    interval = "interval" if level is None else f"{level * 100:g}% interval"
    if "±" in all_cells:
        return f"; ± half of the {interval}{', or its ends in brackets' if '(' in all_cells else ''}"
    return f"; the ends of the {interval} in brackets" if "(" in all_cells else ""


def collect_footnotes(table: Mapping[str, Mapping[str, Estimate]], *, skip_prefix: str = "") -> list[str]:
    """The notes of single estimates, run by run and measure by measure; what differs only by its numbers is told once.

    Notes that begin with `skip_prefix` are left out: they are said of the whole.

    Examples:
        >>> doubt = Estimate(value=0.5, n=1, method="t", notes=("a single query: no interval can be given",))
        >>> collect_footnotes({"new": {"AP": doubt}, "old": {"AP": doubt}})
        ['AP of new and 1 more: a single query: no interval can be given']
    """
    places_by_wording: dict[str, list[tuple[str, str]]] = {}
    for run, estimates in table.items():
        for measure, estimate in estimates.items():
            for note in estimate.notes:
                if not skip_prefix or not note.startswith(skip_prefix):
                    places_by_wording.setdefault(re.sub(r"[−-]?[\d.]*\d", "#", note), []).append(
                        (f"{measure} of {run}", note)
                    )
    return [_merge_footnotes(places) for places in places_by_wording.values()]


def _merge_footnotes(places: Sequence[tuple[str, str]]) -> str:
    (first, note), n_more = places[0], len(places) - 1
    if not n_more:
        return f"{first}: {note}"
    all_equal = all(other_note == note for _, other_note in places)
    return f"{first} and {n_more} more: {note}" if all_equal else f"{first}: {note} (and {n_more} more alike)"
