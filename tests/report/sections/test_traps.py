"""What the report says of traps and speed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from report.small_inputs import simulated
from ringtrue.report.model import Forest, Points
from ringtrue.report.sections.traps import trap_figure


def labels(*, hasty: float = 1.0, seconds: bool = True) -> dict[str, list[object]]:
    """Ann looks and takes ten seconds, Bob always says 0; of ten documents the last five are traps with label 1."""
    rows = [(f"d{place}", judge, label, took) for place in range(10)
            for judge, label, took in (("ann", int(place >= 5), 10.0), ("bob", 0, hasty))]  # fmt: skip
    doc, judge, label, took = (list(column) for column in zip(*rows, strict=True))
    table = {"doc": doc, "judge": judge, "label": label}
    return table | {"seconds": took} if seconds else table


TRAPS = {"doc": [f"d{place}" for place in range(5, 10)], "label": [1] * 5}


def test_pass_rate_against_speed_by_hand() -> None:
    found = trap_figure(rt.judge_quality(labels(), traps=TRAPS))
    (chart,) = found.charts
    assert isinstance(chart, Points)
    assert [(one.name, one.x, one.y) for one in chart.points] == [("ann", 10.0, 1.0), ("bob", 1.0, 0.0)]
    assert (chart.at, chart.y_range) == (0.4, (0.0, 1.0))
    assert "Of 10 traps that judges met, 50% were passed. Below the 40% that a batch needs: bob (0%)." in found.sentence
    assert found.table.rows[0][:4] == ["bob", "too fast", "0/5", "0% (0% to 43%)"]


def test_without_times_there_is_a_row_for_each_judge() -> None:
    found = trap_figure(rt.judge_quality(labels(seconds=False), traps=TRAPS))
    (chart,) = found.charts
    assert isinstance(chart, Forest)
    assert chart.names == ("bob", "ann")
    assert [one.value for one in chart.series[0].values] == [0.0, 1.0]
    assert any("no column `seconds`" in note for note in found.notes)


def test_without_traps_there_is_no_figure() -> None:
    assert trap_figure(rt.judge_quality(labels())) is None


def test_who_is_flagged_is_drawn_apart() -> None:
    some = simulated("none")
    quality = rt.judge_quality(some.labels, traps=some.traps)
    (chart,) = trap_figure(quality).charts
    flagged = {one.judge for one in quality if {flag.kind for flag in one.flags} & {"traps", "too fast", "guessing"}}
    assert flagged
    assert {one.name for one in chart.points if one.noted} == flagged


@given(passed=st.lists(st.integers(0, 5), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_every_judge_passes_between_none_and_all_and_lies_in_its_interval(passed: list[int], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(5)
    rows = [(f"d{place}", f"j{judge}", int(order[place] < n)) for judge, n in enumerate(passed) for place in range(5)]
    doc, judge, label = (list(column) for column in zip(*rows, strict=True))
    known = {"doc": [f"d{place}" for place in range(5)], "label": [1] * 5}
    table = {"doc": doc, "judge": judge, "label": label, "seconds": [2.0] * len(doc)}
    (chart,) = trap_figure(rt.judge_quality(table, traps=known)).charts
    assert [one.y for one in chart.points] == [pytest.approx(n / 5) for n in passed]
    assert all(one.low <= one.y <= one.high for one in chart.points)
