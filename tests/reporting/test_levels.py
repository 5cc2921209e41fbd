"""How good each run is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringtrue.reporting.content import Forest
from ringtrue.reporting.sections import levels
from small_materials import by_hand, simulated


def test_without_gold_the_means_stand_in_order_with_what_the_measure_reaches() -> None:
    section = levels.section(by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]}))
    assert section is not None
    figure = section.figures[0]
    assert [row[0] for row in figure.table.rows] == ["new", "old"]
    assert "RR reaches from 0.708 (old) to 0.875 (new)" in figure.sentence
    assert section.answer == ("By RR the best of 2 runs is new (0.9, 95% interval 0.5 to 1.3).")


def test_with_gold_raw_and_corrected_stand_side_by_side_and_the_winner_changes() -> None:
    material = simulated("documents")
    section = levels.section(material)
    assert section is not None
    assert material.correction is not None
    chart = section.figures[0].charts[0]
    assert isinstance(chart, Forest)
    assert [one.name for one in chart.series] == ["raw", "corrected"]
    for run, raw, corrected in zip(chart.names, chart.series[0].values, chart.series[1].values, strict=True):
        assert raw == material.correction.raw[run][material.measure]
        assert corrected == material.correction.corrected[run][material.measure]
    assert "the raw labels call keyword" in section.answer
    assert "corrected, it is neural" in section.answer


def test_how_many_raw_values_lie_outside_is_counted() -> None:
    material = simulated("documents")
    section = levels.section(material)
    assert section is not None
    assert material.correction is not None
    outside = 0
    for run in material.runs:
        raw, corrected = (kind[run.name][material.measure] for kind in
                          (material.correction.raw, material.correction.corrected))  # fmt: skip
        assert raw.value is not None
        assert corrected.low is not None
        assert corrected.high is not None
        outside += not corrected.low <= raw.value <= corrected.high
    assert f"of {outside} run" in section.figures[0].sentence


def test_bronze_that_counts_as_relevant_from_another_label_on_is_shown_as_it_was_read() -> None:
    material = replace(simulated("documents"), correcting={"bronze_rel": 1})
    section = levels.section(material)
    assert section is not None
    usual = levels.section(simulated("documents"))
    assert usual is not None
    raw, other = ([row[1] for row in one.figures[0].table.rows] for one in (section, usual))
    assert raw != other


def test_an_interval_about_these_queries_says_so() -> None:
    section = levels.section(replace(simulated("documents"), correcting={"population": "these"}))
    assert section is not None
    assert "is about these queries and knows how the judge errs" in section.figures[0].sentence


@pytest.mark.parametrize("count", [25, 26])
def test_more_than_25_runs_are_drawn_in_part_and_told_in_full(count: int) -> None:
    section = levels.section(by_hand({f"r{place:02d}": [1, 1 + place % 9] for place in range(count)}))
    assert section is not None
    chart = section.figures[0].charts[0]
    assert isinstance(chart, Forest)
    assert len(chart.names) == 25
    assert len(section.figures[0].table.rows) == count
    assert ("The first 25 of 26 runs are drawn" in section.figures[0].sentence) == (count == 26)
