"""Precision by recall, and recall by fallout."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from report.page_words import Words, note_codes
from report.small_inputs import by_hand, simulated
from ringtrue.evaluation.curves import curve
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import parse_all
from ringtrue.files import read_judgments, read_run
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Lines
from ringtrue.report.sections import curves
from ringtrue.report.sections.curves import crossings
from ringtrue.tables import Judgments, Run


def figures(material: ReportInputs) -> dict[str, Figure]:
    section = curves.section(material)
    assert section is not None
    return {figure.name: figure for figure in section.figures}


def lines(figure: Figure) -> Lines:
    chart = figure.charts[0]
    assert isinstance(chart, Lines)
    return chart


def crossing() -> ReportInputs:
    """Two relevant documents: `early` has them at 1 and 5, `late` at 2 and 3."""
    found = {"early": "rabcr", "late": "arrbc"}
    runs = tuple(
        Run.of({"q": {f"{doc}{text[:place].count(doc)}": -float(place) for place, doc in enumerate(text)}}, name=name)
        for name, text in found.items()
    )
    labels = Judgments.of({"q": {"r0": 1, "r1": 1, "a0": 0, "b0": 0, "c0": 0}})
    return ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["AP"])))


def test_a_run_that_begins_better_and_ends_worse_crosses_the_other_and_leads_at_low_recall(
    words: Words,
) -> None:
    # early: precision 1 up to recall 1/2, then 2/5, AP 0.7; late: 1/2, then 2/3, AP 0.583.
    pr = figures(crossing())["pr"]
    assert [row[:2] for row in pr.table.rows] == [["early", "0.7000"], ["late", "0.5833"]]
    assert all(number in pr.sentence for number in ("1.00", "0.67", "0.51"))
    words(pr)


def test_interpolated_precision_is_the_best_from_there_on() -> None:
    eleven = figures(crossing())["11pt"]
    assert lines(eleven).lines[0].y == pytest.approx((1.0,) * 6 + (0.4,) * 5)
    assert lines(eleven).lines[1].y == pytest.approx((2 / 3,) * 11)


def test_roc_has_the_diagonal_of_chance_and_the_share_of_pairs_in_the_right_order() -> None:
    roc = figures(crossing())["roc"]
    assert lines(roc).diagonal
    # early: of six pairs of a relevant and another document three are in order, late four.
    assert {row[0]: row[1] for row in roc.table.rows} == {"early": "0.5000", "late": "0.6667"}


def test_a_single_run_is_told_without_a_rival(words: Words) -> None:
    pr = figures(by_hand({"only": [1, 2]}))["pr"]
    assert "0.750" in pr.sentence
    words(pr)


def test_of_more_than_eight_runs_those_with_the_largest_areas_are_drawn(words: Words) -> None:
    pr = figures(by_hand({f"r{rank}": [rank, rank] for rank in range(1, 11)}))["pr"]
    assert [line.name for line in lines(pr).lines] == [f"r{rank}" for rank in range(1, 9)]
    assert len(pr.table.rows) == 10
    words(pr)


def test_a_run_has_the_same_place_and_so_the_same_colour_in_every_figure() -> None:
    # By AP early is ahead, by AUC late.
    found = figures(crossing())
    assert [row[0] for row in found["roc"].table.rows] == ["late", "early"]
    assert {tuple(line.name for line in lines(figure).lines) for figure in found.values()} == {("early", "late")}


def test_where_not_all_runs_are_drawn_the_largest_area_is_told_of_those_that_are(words: Words) -> None:
    found = figures(by_hand({f"r{rank}": [rank, rank] for rank in range(1, 11)}))
    assert all("r1" in figure.sentence for figure in found.values())
    words(*found.values())


def test_runs_that_are_equal_are_not_told_apart(words: Words) -> None:
    section = curves.section(by_hand({"one": [1, 2], "other": [1, 2]}))
    assert section is not None
    third = curves.section(by_hand({"one": [1, 2], "other": [1, 2], "last": [9, 9]}))
    assert third is not None
    assert section.answer.count("75%") == third.answer.count("75%") == 2
    words(section, third)


def test_where_no_list_is_deep_enough_the_answer_says_so(words: Words) -> None:
    half = by_hand({"one": [1, 2]})
    labels = {f"q{q}": {"hit": 1, "elsewhere": 1, "miss1": 0} for q in (1, 2)}
    section = curves.section(ReportInputs(runs=half.runs, judgments=Judgments.of(labels), measures=half.measures))
    assert section is not None
    two = by_hand({"one": [1, 2], "other": [3, 3]})
    both = curves.section(ReportInputs(runs=two.runs, judgments=Judgments.of(labels), measures=two.measures))
    assert both is not None
    words(section.answer, both.answer)


def test_documents_are_relevant_from_the_label_of_the_measure_on() -> None:
    material = simulated("documents")  # P(rel=2)@10
    areas = {row[0]: float(row[1]) for row in figures(material)["pr"].table.rows}
    means = evaluate(material.runs, material.judgments, "AP(rel=2)").means()
    assert areas == pytest.approx({run: row["AP(rel=2)"].value for run, row in means.items()}, abs=5e-5)


def test_with_gold_it_is_said_that_the_curves_are_not_corrected(words: Words) -> None:
    section = curves.section(simulated("documents"))
    assert section is not None
    assert "curves-uncorrected" in note_codes(section)
    words(section.answer)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_crossings_are_the_same_whichever_curve_comes_first(points: list[tuple[float, float]]) -> None:
    x = [float(place) for place in range(len(points))]
    one, other = [a for a, _ in points], [b for _, b in points]
    assert crossings(x, one, other) == crossings(x, other, one)
    assert crossings(x, one, one) == []


@pytest.mark.slow
@pytest.mark.real
def test_the_areas_of_2019_are_those_that_curve_gives(data: Path) -> None:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))[:10]
    labels = read_judgments(data / "dl19/human.qrels")
    found = figures(ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["nDCG@10"]))))
    for kind, figure in found.items():
        areas = {row[0]: float(row[1]) for row in figure.table.rows}
        expected = curve(runs, labels, kind=kind).runs  # type: ignore[arg-type]
        assert areas == pytest.approx({name: one.area for name, one in expected.items()}, abs=5e-5)
        assert list(areas.values()) == sorted(areas.values(), reverse=True)
