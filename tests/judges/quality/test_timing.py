"""How long labels take."""

from __future__ import annotations

import pytest

import ringtrue as rt
from ringtrue.errors import TableError

LABELS = {"item": list("abcabc"), "judge": list("xxxyyy"), "label": [0, 1, 1, 0, 1, 0]}
STAMPS = [f"2024-01-01T10:00:{second:02d}" for second in (0, 4, 10, 0, 20, 50)]


def speeds(**columns: list[object]) -> list[tuple[float, int, str] | None]:
    found = rt.judge_quality(LABELS | columns)
    return [one.speed and (one.speed.median, one.speed.n, one.speed.source) for one in found]


def test_seconds_are_taken_as_they_are_and_empty_cells_left_out() -> None:
    assert speeds(seconds=[3, None, 5, 10, 20, 60]) == [(4.0, 2, "seconds"), (20.0, 3, "seconds")]


def test_gaps_between_stamps_serve_where_there_are_no_seconds() -> None:
    assert speeds(time=STAMPS) == [(5.0, 2, "time"), (25.0, 2, "time")]
    assert speeds(time=[0, 4, 10, 0, 20, 50]) == speeds(time=STAMPS)
    assert speeds(time=[10, 4, 0, 50, 20, 0]) == speeds(time=STAMPS)  # in whatever order the rows stand


def test_without_either_nothing_is_said() -> None:
    assert speeds() == [None, None]


@pytest.mark.parametrize(("value", "says"), [("fast", "'fast'"), (-1, "-1"), ("inf", "'inf'")])
def test_what_is_no_duration_is_refused_with_row_and_value(value: object, says: str) -> None:
    with pytest.raises(TableError, match=f"row 2: expected seconds, 0 or more, .* found .*{says}"):
        speeds(seconds=["1", str(value), "3", "1", "1", "1"])


def test_what_is_no_time_is_refused_with_row_and_value() -> None:
    with pytest.raises(TableError, match=r"row 3: expected a time .*'noon'"):
        speeds(time=[*STAMPS[:2], "noon", *STAMPS[3:]])
