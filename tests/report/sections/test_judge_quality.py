"""What the report says of each judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from report.page_words import Words, note_codes
from report.small_inputs import simulated
from ringtrue.errors import DuplicateError
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Forest, Points
from ringtrue.report.sections import judge_quality
from ringtrue.report.sections.judge_quality import trap_figure
from ringtrue.tables import Judgments
from strategies import examples

OTHERS_BY_GOLD = "others on the same, by gold"


def table(**judges: list[int]) -> Judgments:
    rows = [("q", f"d{place}", judge, label) for judge, said in judges.items() for place, label in enumerate(said)]
    query, doc, judge, label = zip(*rows, strict=True)
    return Judgments.of({"query": query, "doc": doc, "judge": judge, "label": label})


def figures(some: ReportInputs) -> dict[str, rt.Figure]:
    return {one.name: one for one in judge_quality.section(some).figures}


def test_accuracy_and_matrices_by_gold_by_hand(words: Words) -> None:
    labels = table(ann=[0, 0, 1, 1], bob=[0, 1, 1, 0])
    gold = Judgments.of({"q": {"d0": 0, "d1": 0, "d2": 1, "d3": 1}})
    found = figures(ReportInputs(labels=labels, gold=gold))
    (chart,) = found["judges"].charts
    accuracy = dict(zip(chart.names, (one.value for one in chart.series[0].values), strict=True))
    assert chart.series[0].name == "by gold"
    assert accuracy == {"ann": 1.0, "bob": 0.5}
    assert chart.at == 0.75
    assert all(part in found["judges"].sentence for part in ("50% (bob)", "100% (ann)"))
    words(*found.values())
    matrices = {one.across: one.texts for one in found["confusion-by-judge"].charts}
    assert matrices == {
        "ann says": (("100%\n2", "0"), ("0", "100%\n2")),
        "bob says": (("50%\n1", "50%\n1"), ("50%\n1", "50%\n1")),
    }


def test_flags_are_marks_and_their_reasons_sentences(words: Words) -> None:
    found = judge_quality.section(simulated("none"))
    quality = rt.judge_quality(simulated("none").labels, traps=simulated("none").traps, repeats="last")
    flagged = [one.judge for one in quality.flagged]
    assert flagged
    (chart,) = found.figures[0].charts
    assert list(chart.names[: len(flagged)]) == flagged
    assert all(chart.marks[: len(flagged)])
    assert not any(chart.marks[len(flagged) :])
    assert quality.flagged[0].flags[0].reason in found.figures[0].sentence
    assert flagged[0] in found.answer
    words(found)


def test_what_others_are_right_by_stands_above_their_share() -> None:
    """Ann met gold and bob did not: the others are right by gold on hers, and by each other on his."""
    labels = table(ann=[0, 0, 1, 1], cy=[0, 1, 1, 1])
    more = Judgments.of({"query": ["p"] * 4, "doc": [*"aabb"], "judge": ["bob", "cy"] * 2, "label": [1, 1, 0, 0]})
    both = Judgments.of(pl.concat([labels.frame, more.frame]))
    gold = Judgments.of({"q": {"d0": 0, "d1": 0, "d2": 1, "d3": 1}})
    found = figures(ReportInputs(labels=both, gold=gold))["judges"].table
    rows = {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert (rows["ann"][OTHERS_BY_GOLD], rows["ann"]["others on the same"]) == ("75%", "–")
    assert (rows["bob"][OTHERS_BY_GOLD], rows["bob"]["others on the same"]) == ("–", "100%")


def test_a_flag_that_goes_by_the_others_is_not_held_against_numbers_by_gold(words: Words) -> None:
    found = figures(simulated("documents"))["judges"].table
    assert OTHERS_BY_GOLD in found.columns
    words(found.caption)


def test_which_label_of_a_judge_counts_is_asked_as_by_the_command() -> None:
    again = {"doc": [*"aabb", "a"], "judge": ["ann", "bob"] * 2 + ["ann"], "label": [0, 0, 1, 1, 1]}
    given = Judgments.of(again, needs_query=False)
    with pytest.raises(DuplicateError) as refused:
        judge_quality.section(ReportInputs(labels=given))
    assert (refused.value.code, refused.value.parameter) == ("repeated-labels", "repeats")
    for kept in ("first", "last", "all"):
        quality = rt.judge_quality(given, repeats=kept)
        assert figures(ReportInputs(labels=given, repeats=kept))["judges"].charts[0].at == quality.accuracy.value


@pytest.mark.real
def test_rf10_one_page_counts_its_judges_alike(data: Path) -> None:
    frame = pl.read_csv(data / "rf10/labels.csv").rename({"topic": "query", "worker": "judge"})
    labels = Judgments.of(frame.select(pl.col("query").cast(pl.String), "doc", "judge", "label"))
    found = judge_quality.section(ReportInputs(labels=labels, repeats="last"))
    assert found.answer.startswith("762 ")
    shortened = [note for one in found.figures for note in one.notes if note.code == "chart-shortened"]
    assert ["762" in note for note in shortened] == [True] * len(found.figures)


@examples(40)
@given(seed=st.integers(0, 2**32 - 1))
def test_renaming_judges_changes_names_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    said = [rng.integers(0, 2, 12).tolist() for _ in range(3)]
    one, other = (
        figures(ReportInputs(labels=table(**dict(zip(names, said, strict=True)))))["judges"].charts[0]
        for names in (("a", "b", "c"), ("x", "y", "z"))
    )
    assert [{"a": "x", "b": "y", "c": "z"}[name] for name in one.names] == list(other.names)
    assert one.series == other.series


def test_gold_of_other_documents_is_told_and_the_judges_judge_each_other(words: Words) -> None:
    gold = Judgments.of({"elsewhere": {"x": 1}})
    found = judge_quality.section(ReportInputs(labels=table(ann=[0, 1, 1], bob=[0, 1, 1], cy=[0, 1, 0]), gold=gold))
    assert "gold-unlabelled" in note_codes(found)
    words(found)


def test_traps_that_are_most_of_the_labels_are_gold(words: Words) -> None:
    labels = table(ann=[0, 0, 1, 1], bob=[0, 1, 1, 0])
    traps = Judgments.of({"q": {"d0": 0, "d1": 0, "d2": 1, "d3": 1}})
    found = judge_quality.section(ReportInputs(labels=labels, traps=traps))
    assert "75%" in found.answer
    words(found)
    assert [one.name for one in found.figures] == ["judges", "traps", "confusion-by-judge"]


def test_judges_of_preferences_have_no_matrix_of_grades() -> None:
    some = replace(simulated("none"), labels=None, traps=None)
    found = figures(some)
    assert list(found) == ["judges"]
    assert len(found["judges"].charts[0].names) == 12


def test_a_single_judge_with_nothing_to_hold_against_is_no_section() -> None:
    votes = rt.Preferences.of({"left": ["a", "b"], "right": ["b", "c"], "winner": ["a", "b"]})
    assert judge_quality.section(ReportInputs(preferences=votes)) is None
    assert judge_quality.section(ReportInputs()) is None


def test_of_many_judges_25_are_drawn_and_all_are_in_the_table(words: Words) -> None:
    rng = np.random.default_rng(3)
    said = {f"j{number:02}": rng.integers(0, 2, 20).tolist() for number in range(30)}
    found = figures(ReportInputs(labels=table(**said)))
    assert len(found["judges"].charts[0].names) == 25
    assert len(found["judges"].table.rows) == 30
    assert len(found["confusion-by-judge"].charts) == 6
    assert "chart-shortened" in note_codes(found["judges"])
    words(*(note for figure in found.values() for note in figure.notes))


@pytest.mark.real
def test_web5_judges_by_the_truth(data: Path) -> None:
    labels = rt.read_judgments(data / "web5/label.csv", needs_query=False)
    truth = rt.read_judgments(data / "web5/truth.csv", columns={"label": "truth"}, needs_query=False)
    found = judge_quality.section(ReportInputs(labels=labels, gold=truth))
    both = labels.frame.join(truth.frame.select("query", "doc", known="label"), on=["query", "doc"])
    share = both.select((pl.col("label") == pl.col("known")).mean()).item()
    assert all(number in found.answer for number in ("177", f"{share:.0%} ("))


def labels(*, hasty: float = 1.0, seconds: bool = True) -> dict[str, list[object]]:
    """Ann looks and takes ten seconds, Bob always says 0; of ten documents the last five are traps with label 1."""
    rows = [(f"d{place}", judge, label, took) for place in range(10)
            for judge, label, took in (("ann", int(place >= 5), 10.0), ("bob", 0, hasty))]  # fmt: skip
    doc, judge, label, took = (list(column) for column in zip(*rows, strict=True))
    table = {"doc": doc, "judge": judge, "label": label}
    return table | {"seconds": took} if seconds else table


TRAPS = {"doc": [f"d{place}" for place in range(5, 10)], "label": [1] * 5}


def test_pass_rate_against_speed_by_hand(words: Words) -> None:
    found = trap_figure(rt.judge_quality(labels(), traps=TRAPS))
    (chart,) = found.charts
    assert isinstance(chart, Points)
    assert [(one.name, one.x, one.y) for one in chart.points] == [("ann", 10.0, 1.0), ("bob", 1.0, 0.0)]
    assert (chart.at, chart.y_range) == (0.4, (0.0, 1.0))
    assert all(part in found.sentence for part in ("10", "50%", "bob (0%)"))
    words(found)
    assert found.table.rows[0][:4] == ["bob", "too fast", "0/5", "0% (0% to 43%)"]


def test_without_times_there_is_a_row_for_each_judge(words: Words) -> None:
    found = trap_figure(rt.judge_quality(labels(seconds=False), traps=TRAPS))
    (chart,) = found.charts
    assert isinstance(chart, Forest)
    assert chart.names == ("bob", "ann")
    assert [one.value for one in chart.series[0].values] == [0.0, 1.0]
    assert "unknown-times" in note_codes(found)
    words(found)


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
