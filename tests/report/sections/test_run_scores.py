"""How good each run is."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from report.page_words import Words, find_notes, note_codes
from report.small_inputs import by_hand, noisy, simulated
from ringtrue.evaluation.measures import parse_all
from ringtrue.report.inputs import compare_run_pairs, estimate_run_means, order_runs
from ringtrue.report.model import Forest
from ringtrue.report.sections import run_scores
from ringtrue.tables import Judgments


def test_without_gold_the_means_stand_in_order_with_what_the_measure_reaches(words: Words) -> None:
    section = run_scores.section(by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]}))
    assert section is not None
    figure = section.figures[0]
    assert [row[0] for row in figure.table.rows] == ["new", "old"]
    assert all(part in figure.sentence for part in ("0.708 (old)", "0.875 (new)"))
    assert "0.5 to 1.3" in section.answer
    words(section)


def test_with_gold_raw_and_corrected_stand_side_by_side_and_the_winner_changes(words: Words) -> None:
    material = simulated("documents")
    section = run_scores.section(material)
    assert section is not None
    assert material.correction is not None
    chart = section.figures[0].charts[0]
    assert isinstance(chart, Forest)
    assert [one.name for one in chart.series] == ["raw", "corrected"]
    for run, raw, corrected in zip(chart.names, chart.series[0].values, chart.series[1].values, strict=True):
        assert raw == material.correction.raw[run][material.measure]
        assert corrected == material.correction.corrected[run][material.measure]
    assert [word.strip(",") for word in section.answer.split() if word.strip(",") in ("keyword", "neural")] == [
        "keyword", "neural",
    ]  # fmt: skip
    words(section)


def test_bounds_of_lost_labels_are_a_column_and_one_sentence_for_each_measure() -> None:
    whole = simulated("documents")
    assert whole.gold is not None
    lost = pl.when(pl.int_range(pl.len()) % 40 == 7).then(-1).otherwise("label").alias("label")
    material = replace(whole, gold=Judgments.of(whole.gold.frame.with_columns(lost)))
    assert material.correction is not None
    bounds = {run: row["P(rel=2)@10"] for run, row in material.correction.bounds.items()}
    assert len(bounds) == 3
    section = run_scores.section(material)
    assert section is not None
    figure = section.figures[0]
    assert figure.table.columns == ["run", "P(rel=2)@10 raw", "P(rel=2)@10 corrected", "P(rel=2)@10 bounds"]
    assert {row[0]: row[3] for row in figure.table.rows} == {run: str(row) for run, row in bounds.items()}
    first = figure.table.rows[0][0]
    (told,) = find_notes(figure, "bounded-value")
    assert all(part in told for part in ("P(rel=2)@10", first, str(bounds[first])))


def test_how_many_raw_values_lie_outside_is_counted() -> None:
    material = simulated("documents")
    section = run_scores.section(material)
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
    assert f" {outside} " in section.figures[0].sentence


def test_bronze_that_counts_as_relevant_from_another_label_on_is_shown_as_it_was_read() -> None:
    material = replace(simulated("documents"), correction_options={"bronze_rel": 1})
    section = run_scores.section(material)
    assert section is not None
    usual = run_scores.section(simulated("documents"))
    assert usual is not None
    raw, other = ([row[1] for row in one.figures[0].table.rows] for one in (section, usual))
    assert raw != other


def test_an_interval_about_these_queries_says_so(words: Words) -> None:
    section = run_scores.section(replace(simulated("documents"), correction_options={"population": "these"}))
    assert section is not None
    words(section)


@pytest.mark.parametrize("count", [25, 26])
def test_more_than_25_runs_are_drawn_in_part_and_told_in_full(count: int) -> None:
    section = run_scores.section(by_hand({f"r{place:02d}": [1, 1 + place % 9] for place in range(count)}))
    assert section is not None
    chart = section.figures[0].charts[0]
    assert isinstance(chart, Forest)
    assert len(chart.names) == 25
    assert len(section.figures[0].table.rows) == count
    assert ("25 of 26" in section.figures[0].sentence) == (count == 26)


@pytest.mark.parametrize("seed", [*range(11), 156, 190])
def test_one_run_is_the_best_of_the_whole_page_and_a_higher_value_is_owned_up_to(seed: int) -> None:
    material = noisy(seed)
    section, means = run_scores.section(material), estimate_run_means(material)
    assert section is not None
    assert means is not None
    best, found = order_runs(material)[0], {run: row["P@3"].value or 0.0 for run, row in means.items()}
    assert [row[0] for row in section.figures[0].table.rows] == list(order_runs(material))
    assert re.search(rf"\bis {best}\b", section.answer)
    told = re.search(r"(r\d) has a higher corrected value(?:, but compared with|;) (r\d)(, it lies)?", section.answer)
    assert (told is not None) == (max(found.values()) > found[best])
    if told is not None:
        assert told[2] == best
        assert found[told[1]] > found[best]
        behind = (compare_run_pairs(material)[told[1], best].difference.value or 0.0) < 0
        assert behind == (told[3] is not None)


def outside() -> run_scores.Section | None:
    """Rates from a judge that is far stricter elsewhere: they correct P@3 to more than 1."""
    elsewhere = {f"x{q}": {"a": 1, "b": 0} for q in range(60)}
    bronze = {f"x{q}": {"a": int(q < 20), "b": 0} for q in range(60)}
    material = noisy(0)
    assert material.judgments is not None
    ours = {
        query: {doc: int(doc != "d7") for doc in part["doc"]}
        for (query,), part in material.judgments.frame.group_by("query")
    }
    labels = Judgments.of(ours | bronze)  # type: ignore[operator]
    return run_scores.section(replace(material, judgments=labels, gold=Judgments.of(elsewhere),
                                  correction_options={"design": "external"}))  # fmt: skip


def test_a_value_that_no_list_can_have_is_no_headline_and_its_doubt_is_on_the_page(words: Words) -> None:
    section = outside()
    assert section is not None
    assert not re.search(r"corrected[^.]*\d\.\d", section.answer)
    assert "interval-outside-possible" in note_codes(section.figures[0])
    words(section)


def test_an_interval_that_is_not_around_its_value_is_shown_by_its_ends() -> None:
    section = outside()
    assert section is not None
    assert all("±" not in row[2] and " to " in row[2] for row in section.figures[0].table.rows)
    assert "in brackets" in section.figures[0].table.caption


def test_a_single_query_has_its_doubt_on_the_page(words: Words) -> None:
    section = run_scores.section(by_hand({"new": [1], "old": [2]}))
    assert section is not None
    (note,) = section.figures[0].notes
    assert note.code == "single-query"
    words(section)


def test_truth_about_other_queries_is_left_out_and_that_is_said() -> None:
    ranks = {"new": [1, 1, 2, 1], "old": [2, 3, 1, 1]}
    labels = {"hit": 1, "miss1": 0}
    for queries, told in (("q1 q2", "2 of the 4"), ("x1 x2", "none")):
        truth = Judgments.of(dict.fromkeys(queries.split(), labels))
        section = run_scores.section(by_hand(ranks, truth=truth))
        assert section is not None
        assert "0.5 to 1.3" in section.answer
        (note,) = find_notes(section.figures[0], "truth-left-out")
        assert told in note


def test_truth_about_more_queries_counts_for_those_that_were_measured(words: Words) -> None:
    truth = Judgments.of({f"q{q}": {"hit": 1} for q in range(1, 9)})
    section = run_scores.section(by_hand({"new": [1, 1], "old": [2, 3]}, truth=truth))
    assert section is not None
    assert [row[1:] for row in section.figures[0].table.rows] == [["1.000"] * 2, ["0.417 ±1.059"] * 2]
    assert "new (1.0000)" in section.answer
    words(section)


def test_where_all_are_equal_nobody_is_the_best(words: Words) -> None:
    section = run_scores.section(by_hand({"one": [1, 2, 3], "other": [1, 2, 3]}))
    assert section is not None
    three = run_scores.section(by_hand({"one": [1, 2, 3], "other": [1, 2, 3], "last": [9, 9, 9]}))
    assert three is not None
    words(section.answer, three.answer)


def test_where_nothing_is_relevant_there_is_no_interval(words: Words) -> None:
    labels = Judgments.of({f"q{q}": {"hit": 0} for q in (1, 2, 3)})
    section = run_scores.section(by_hand({"one": [1, 2, 3], "other": [2, 3, 1]}, judgments=labels))
    assert section is not None
    assert "(0.0000)" in section.answer
    words(section)
    assert [row[1] for row in section.figures[0].table.rows] == ["0.0000", "0.0000"]
    chart = section.figures[0].charts[0]
    assert isinstance(chart, Forest)
    assert all(one is not None and one.low is None for one in chart.series[0].values)


def test_a_single_run_is_told_without_rivals(words: Words) -> None:
    section = run_scores.section(replace(noisy(0), runs=noisy(0).runs[:1], measures=tuple(parse_all(["P@3"]))))
    assert section is not None
    assert len(re.findall(r"(?:raw|corrected) 0\.\d", section.answer)) == 2
    words(section)
