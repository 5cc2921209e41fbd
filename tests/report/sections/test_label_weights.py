"""What the report says a label is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import ringtrue as rt
from report.page_words import Words, note_codes
from report.small_inputs import simulated
from ringtrue.errors import DuplicateError, TableError
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import label_weights
from ringtrue.tables import Judgments


def test_weights_by_hand(words: Words) -> None:
    # Of 2, 2, 1 and 1, 1, 0: another says 2 given 1 in 1/3 of cases, so at least one of two others does in 1 − (2/3)².
    table = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}
    found = label_weights.section(ReportInputs(labels=Judgments.of(table, needs_query=False)))
    (chart,) = found.figures[0].charts
    assert chart.names == ("2", "1", "0")
    p, worth = ([one.value for one in series.values] for series in chart.series)
    assert p == pytest.approx([1 / 2, 1 / 3, 0])
    assert worth == pytest.approx([1, 5 / 9, 0])
    assert "0.56" in found.answer
    words(found)
    assert [row[4:] for row in found.figures[0].table.rows] == [["1.00", "0.75"], ["0.33", "0.11"], ["0.00", "0.00"]]


def test_with_two_labels_there_is_nothing_between(words: Words) -> None:
    table = {"doc": ["a", "a", "b", "b"], "judge": ["x", "y"] * 2, "label": [1, 1, 1, 0]}
    found = label_weights.section(ReportInputs(labels=Judgments.of(table, needs_query=False)))
    assert "67%" in found.answer
    words(found)


@given(seed=st.integers(0, 2**32 - 1))
def test_values_are_shares_within_their_intervals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, 45)
    assume(len(set(label.tolist())) > 1)
    table = {"doc": np.repeat(np.arange(15), 3), "judge": list("xyz") * 15, "label": label}
    (chart,) = label_weights.section(ReportInputs(labels=Judgments.of(table, needs_query=False))).figures[0].charts
    for series in chart.series:
        for one in series.values:
            assert one is None or one.low - 1e-12 <= one.value <= one.high + 1e-12
            assert one is None or 0 <= one.value <= 1


def test_traps_are_left_out_and_misfits_told() -> None:
    found = label_weights.section(simulated("none"))
    assert "trap-labels-left-out" in note_codes(found)


def test_judges_who_share_no_document_are_an_error() -> None:
    table = Judgments.of({"doc": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]}, needs_query=False)
    with pytest.raises(TableError) as refused:
        label_weights.section(ReportInputs(labels=table))
    assert refused.value.code == "no-shared-items"
    assert label_weights.section(ReportInputs()) is None


@pytest.mark.real
def test_rf10_as_the_command_has_it(data: Path) -> None:
    frame = pl.read_csv(data / "rf10/labels.csv").rename({"topic": "query", "worker": "judge"})
    labels = Judgments.of(frame.select(pl.col("query").cast(pl.String), "doc", "judge", "label"))
    with pytest.raises(DuplicateError) as refused:
        label_weights.section(ReportInputs(labels=labels))
    assert refused.value.code == "repeated-labels"
    found = label_weights.section(ReportInputs(labels=labels, repeats="last"))
    expected = rt.disagree(labels, "1/3", repeats="last", resamples=0)
    assert [one.value for one in found.figures[0].charts[0].series[1].values] == pytest.approx(
        [expected.weights[name].value for name in ("2", "1", "0")]
    )
