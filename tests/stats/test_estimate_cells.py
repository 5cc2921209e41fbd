"""Estimates in the cells of a table, and their notes below it."""

from __future__ import annotations

from hypothesis import given, strategies as st

from ringtrue.formatting.grid import format_signed
from ringtrue.messages import Note
from ringtrue.stats.results import Estimate, collect_footnotes, describe_intervals, format_estimates


def estimated(value: float, low: float, high: float, *notes: str) -> Estimate:
    return Estimate(value=value, se=0.1, low=low, high=high, n=9, method="t", notes=notes)


def test_a_value_in_the_middle_of_its_interval_is_told_with_half_of_it() -> None:
    assert format_estimates([estimated(-0.25, -0.45, -0.05)]) == ["−0.25 ±0.20"]


def test_a_value_that_is_not_in_the_middle_is_told_with_both_ends_and_so_is_its_whole_column() -> None:
    cells = format_estimates([estimated(1.37, 1.0, 1.0), estimated(0.5, 0.3, 0.7)])
    assert cells == ["1.37 (1.00 to 1.00)", "0.50 (0.30 to 0.70)"]


@given(st.floats(-2, 2), st.floats(0, 1), st.floats(0, 1))
def test_what_a_cell_says_are_the_ends_of_the_interval(value: float, below: float, above: float) -> None:
    one = estimated(value, value - below, value + above)
    cell = format_estimates([one])[0].replace("−", "-")
    if "±" in cell:
        middle, half = map(float, cell.split(" ±"))
        ends = (middle - half, middle + half)
    else:
        low, high = cell.split("(")[1].removesuffix(")").split(" to ")
        ends = (float(low), float(high))
    assert abs(ends[0] - (value - below)) <= 0.0151
    assert abs(ends[1] - (value + above)) <= 0.0151


def test_a_caption_says_what_stands_in_the_cells() -> None:
    assert describe_intervals([["0.50 ±0.20"]], 0.9) == "; ± half of the 90% interval"
    assert describe_intervals([["0.90 (0.70 to 1.00)"]]) == "; the ends of the interval in brackets"
    assert describe_intervals([["0.5000", "–"]], 0.95) == ""


def test_a_note_that_differs_only_by_its_numbers_is_told_once() -> None:
    same = Note("said-of-all", "yes")
    table = {
        "new": {"P": estimated(1.2, 1.1, 1.3, Note("above-1", "1.2 lies above 1"), same)},
        "old": {"P": estimated(1.4, 1.1, 1.6, Note("above-1", "1.4 lies above 1"), same)},
    }
    (above,) = collect_footnotes(table, skip={"said-of-all"})
    assert (above.code, above.subject, above.text) == ("above-1", "P of new", "1.2 lies above 1 (and 1 more alike)")
    shared = collect_footnotes(table)[1]
    assert (shared.code, shared.subject, shared.text) == ("said-of-all", "P of new and 1 more", "yes")


def test_a_difference_that_rounds_to_nothing_is_not_minus_nothing() -> None:
    assert format_signed(-1e-17, 3) == "+0.000"


def test_negative_numbers_have_a_minus_and_no_hyphen() -> None:
    estimates = [
        Estimate(value=value, se=0.05, low=value - 0.1, high=value + 0.1, n=9, method="t") for value in (-0.25, 0.5)
    ]
    assert format_estimates(estimates) == ["−0.250 ±0.100", "0.500 ±0.100"]
    assert format_estimates([Estimate(value=-0.25, n=9, method="t")]) == ["−0.2500"]
