"""What the report says of how far judges agree."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from report.page_words import Words, find_notes, note_codes
from report.small_inputs import simulated
from ringtrue.errors import DuplicateError, TableError
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import agreement
from ringtrue.tables import Judgments
from strategies import examples


def labels(**judges: list[int]) -> Judgments:
    rows = [(f"d{place}", judge, label) for judge, said in judges.items() for place, label in enumerate(said)]
    doc, judge, label = zip(*rows, strict=True)
    return Judgments.of({"doc": doc, "judge": judge, "label": label}, needs_query=False)


def test_alpha_of_two_judges_by_hand(words: Words) -> None:
    # Krippendorff: 1 − (n − 1) Σ o_01 / (n_0 n_1) with 20 labels, 2 mismatched pairs, 10 zeros and 10 ones.
    found = agreement.section(ReportInputs(labels=labels(ann=[0, 1] * 5, bob=[0, 1] * 4 + [1, 0])))
    (chart,) = found.figures[0].charts
    alpha = 1 - 19 * 2 / (10 * 10)
    assert chart.values == ((None, pytest.approx(alpha)), (pytest.approx(alpha), None))
    assert chart.texts[0][1] == "0.62"
    assert "80%" in found.answer
    words(found)


def test_the_odd_one_out_comes_last_and_is_named(words: Words) -> None:
    usual = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    found = agreement.section(ReportInputs(labels=labels(odd=usual[::-1], ann=usual, bob=usual, cy=[*usual[:-1], 1])))
    (chart,) = found.figures[0].charts
    assert chart.rows[-1] == "odd"
    assert found.figures[0].sentence.endswith(" odd.")
    assert chart.kind == "diverging"
    words(found)


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), judges=st.integers(2, 5))
def test_the_matrix_is_symmetric_and_never_holds_a_judge_against_himself(seed: int, judges: int) -> None:
    rng = np.random.default_rng(seed)
    said = {f"j{number}": rng.integers(0, 3, 15).tolist() for number in range(judges)}
    (chart,) = agreement.section(ReportInputs(labels=labels(**said))).figures[0].charts
    for row in range(judges):
        assert chart.values[row][row] is None
        for column in range(judges):
            assert chart.values[row][column] == chart.values[column][row]
            assert chart.values[row][column] is None or -1 <= chart.values[row][column] <= 1


@pytest.mark.slow
def test_traps_are_left_out() -> None:
    some = simulated("none")
    with_traps, without = agreement.section(replace(some, traps=None)), agreement.section(some)
    assert "trap-labels-left-out" in note_codes(without)
    kept = some.labels.frame.join(some.traps.frame.select("query", "doc"), on=["query", "doc"], how="anti")
    expected = rt.agree(kept, resamples=0).overall["alpha_ordinal"].value
    assert f"is {expected:.2f} (" in without.answer
    assert with_traps.answer != without.answer


def test_of_many_judges_the_25_with_the_most_labels_are_shown() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    said = {f"j{number:02}": np.where(rng.random(60 - number) < 0.8, truth[: 60 - number], 0).tolist()
            for number in range(30)}  # fmt: skip
    figure = agreement.section(ReportInputs(labels=labels(**said))).figures[0]
    assert set(figure.charts[0].rows) == {f"j{number:02}" for number in range(25)}
    assert len(figure.table.rows) == 25 * 24 // 2
    (note,) = find_notes(figure, "chart-shortened")
    assert re.findall(r"\d+", note) == ["25", "30", "25"]


def test_pairs_with_little_in_common_are_in_the_table_alone(words: Words) -> None:
    found = agreement.section(ReportInputs(labels=labels(ann=[0, 1] * 10, bob=[0, 1] * 9 + [1, 1], cy=[0, 1, 1])))
    assert found.figures[0].charts[0].rows == ("ann", "bob")
    assert len(found.figures[0].table.rows) == 3
    assert "few-shared-documents" in note_codes(found.figures[0])
    words(found)


def test_judges_on_another_scale_are_told(words: Words) -> None:
    found = agreement.section(ReportInputs(labels=labels(ann=[0, 3] * 20, bob=[0, 1] * 20)))
    assert found.notes[0].code == "label-never-given"
    words(found)


def test_slips_are_left_out(words: Words) -> None:
    found = agreement.section(ReportInputs(labels=labels(ann=[0, 1, 2] * 40, bob=[0, 1, 2] * 39 + [0, 1, 10])))
    assert "stray-labels-left-out" in note_codes(found)
    assert "1.00" in found.answer
    words(found)


def test_one_judge_alone_is_an_error_that_the_report_tells() -> None:
    with pytest.raises(TableError) as alone:
        agreement.section(ReportInputs(labels=labels(ann=[0, 1, 0, 1])))
    with pytest.raises(TableError) as reported:
        rt.report(labels=labels(ann=[0, 1, 0, 1]))
    assert (alone.value.code, reported.value.code) == ("one-judge", "one-judge")
    report = rt.report({"new": {"q": {"a": 1.0}}}, {"q": {"a": 1}}, "RR", labels=labels(ann=[0, 1, 0, 1]))
    assert any(title == "Agreement" and reason.code == "one-judge" for title, reason in report.absent)


def test_a_judge_who_judged_nothing_is_none(words: Words) -> None:
    found = agreement.section(ReportInputs(labels=labels(ann=[0, 1, 0, 1], bob=[0, 1, 1, 1], idle=[-1, -1, -1, -1])))
    assert "unjudged-labels" in note_codes(found)
    words(found)
    with pytest.raises(TableError) as refused:
        agreement.section(ReportInputs(labels=labels(ann=[-1, -1], bob=[-1, -2])))
    assert refused.value.code == "nothing-judged"


def test_which_label_of_a_judge_counts_is_asked_as_by_the_command() -> None:
    again = {"doc": [*"aabb", "a"], "judge": ["ann", "bob"] * 2 + ["ann"], "label": [0, 0, 1, 1, 1]}
    table = Judgments.of(again, needs_query=False)
    with pytest.raises(DuplicateError) as refused:
        agreement.section(ReportInputs(labels=table))
    assert (refused.value.code, refused.value.parameter) == ("repeated-labels", "repeats")
    for kept in ("first", "last", "all"):
        found = agreement.section(ReportInputs(labels=table, repeats=kept))
        expected = rt.agree(table, repeats=kept, resamples=0).overall["agreement"].value
        assert f"{expected:.0%}" in found.answer


def test_needs_labels() -> None:
    assert agreement.section(ReportInputs()) is None


@pytest.mark.real
def test_rf10_a_crowd_that_hardly_agrees(data: Path) -> None:
    frame = pl.read_csv(data / "rf10/labels.csv").rename({"topic": "query", "worker": "judge"})
    some = Judgments.of(frame.select(pl.col("query").cast(pl.String), "doc", "judge", "label"))
    found = agreement.section(ReportInputs(labels=some, repeats="last"))
    assert all(number in found.answer for number in ("762", "20,026", "0.10 (0.08 to 0.12)"))
    assert len(found.figures[0].charts[0].rows) == 25
    assert "chart-shortened" in note_codes(found.figures[0])
    assert "6,670" in find_notes(found, "unjudged-labels")[0]
