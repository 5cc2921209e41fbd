"""Agreement over time."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import TableError
from ringtrue.judges.agreement.drift import estimate_drift
from ringtrue.judges.votes import make_votes


def labels(*, docs: int = 40, tires_after: int = 10**6, kinder_by: int = 0) -> dict[str, list[object]]:
    """Three judges who agree, in two queries; the third says the opposite, or more, after so many documents."""
    rows = [
        (f"q{doc % 2}", f"d{doc}", judge, _said(doc, judge, tires_after, kinder_by), 1_000 + doc)
        for doc in range(docs)
        for judge in "xyz"
    ]
    return dict(zip(("query", "doc", "judge", "label", "time"), map(list, zip(*rows, strict=True)), strict=True))


def _said(doc: int, judge: str, tires_after: int, kinder_by: int) -> int:
    true = doc // 2 % 2
    if judge != "z" or doc < tires_after:
        return true
    return true + kinder_by if kinder_by else 1 - true


def test_a_judge_who_tires_is_seen_where_he_does() -> None:
    found = estimate_drift(make_votes(labels(tires_after=30)), level=0.95)
    assert [one.labels for one in found] == [30, 30, 30, 30]
    assert [one.agreement.value for one in found] == pytest.approx([1, 1, 1, 1 / 3])  # x and y agree half of the time
    assert [(one.first, one.last) for one in found] == [
        ("1000", "1009"),
        ("1010", "1019"),
        ("1020", "1029"),
        ("1030", "1039"),
    ]


def test_leniency_is_how_much_higher_labels_are_than_those_of_others() -> None:
    # The third judge works last and is 2 too kind to the last ten documents: the last thirty labels are all his.
    table = labels(tires_after=30, kinder_by=2)
    table["time"] = [time + 100 * (judge == "z") for time, judge in zip(table["time"], table["judge"], strict=True)]
    higher = [one.leniency.value for one in estimate_drift(make_votes(table), level=0.95)]
    assert higher[-1] == pytest.approx(10 * 2 / 30)
    assert sum(one for one in higher if one is not None) == pytest.approx(
        0
    )  # what is higher for one is lower for others


def test_times_may_be_dates_and_rows_in_any_order() -> None:
    table = labels(tires_after=30)
    numbers = estimate_drift(make_votes(table), level=0.95)
    table["time"] = [f"2024-05-01 10:{int(time) - 1_000:02d}:00" for time in table["time"]]
    order = np.random.default_rng(1).permutation(len(table["time"]))
    dates = estimate_drift(
        make_votes({name: [column[row] for row in order] for name, column in table.items()}), level=0.95
    )
    assert [one.agreement.value for one in dates] == pytest.approx([one.agreement.value for one in numbers])
    assert (dates[0].first, dates[-1].last) == ("2024-05-01 10:00:00", "2024-05-01 10:39:00")


def test_without_time_or_with_few_labels_there_is_no_view() -> None:
    table = labels()
    assert (
        estimate_drift(make_votes({name: column for name, column in table.items() if name != "time"}), level=0.95) == ()
    )
    for docs, periods in ((19, 0), (20, 4)):  # ten labels for each of four stretches
        two = [row for row in zip(*labels(docs=docs).values(), strict=True) if row[2] != "z"]
        found = estimate_drift(make_votes(dict(zip(table, map(list, zip(*two, strict=True)), strict=True))), level=0.95)
        assert len(found) == periods


def test_labels_that_nobody_else_gave_do_not_count() -> None:
    table = labels()
    for name, value in {"query": "q0", "doc": "alone", "judge": "x", "label": 1, "time": 1_039}.items():
        table[name].append(value)
    assert sum(one.labels for one in estimate_drift(make_votes(table), level=0.95)) == 120


def test_a_time_that_is_no_time_is_refused_with_its_row() -> None:
    table = labels()
    table["time"] = ["2024-05-01 10:00:00"] * 119 + ["soon"]
    with pytest.raises(TableError, match=r"row 120: expected a time in column 'time'.* found 'soon'"):
        estimate_drift(make_votes(table), level=0.95)
