"""Which runs can be told apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.files import read_judgments, read_run
from ringtrue.measures import parse_all
from ringtrue.reporting.content import Forest, Section
from ringtrue.reporting.material import Material
from ringtrue.reporting.sections import ranking
from ringtrue.results import Estimate
from small_materials import by_hand, simulated

ALIKE = [1, 2, 1, 2, 1, 2, 1, 2]


def made(material: Material) -> Section:
    found = ranking.section(material)
    assert found is not None
    return found


def chart(section: Section) -> Forest:
    found = section.figures[0].charts[0]
    assert isinstance(found, Forest)
    return found


def behind(section: Section) -> dict[str, Estimate]:
    shown = chart(section)
    return {run: one for run, one in zip(shown.names, shown.series[0].values, strict=True) if one is not None}


def test_a_run_that_is_always_worse_is_told_apart_and_one_that_is_now_better_now_worse_is_not() -> None:
    # RR: 1 or 1/2 for first and second, in turn; 1/9 or 1/10 for last.
    section = made(by_hand({"last": [9, 10] * 4, "first": ALIKE, "second": [2, 1, 2, 1, 2, 1, 2, 2]}))
    assert chart(section).names == ("first", "second", "last")
    assert chart(section).marks == ("a", "a", "b")
    assert section.answer == (
        "first is first and better than 1 of the others; second cannot be told from it. Of 3 pairs of runs, 2 are told "
        "apart."
    )
    assert behind(section)["last"].value == pytest.approx((1 / 9 + 1 / 10) / 2 - 0.75)


def test_two_runs_are_answered_by_their_difference_and_p() -> None:
    section = made(by_hand({"new": [1, 1, 2, 1], "old": [2, 3, 1, 1]}))
    # Differences 1/2, 2/3, −1/2, 0: mean 1/6, and t = 0.63 with 3 degrees of freedom.
    assert section.answer == "new and old cannot be told apart: new − old is 0.17 (−0.67 to 1.01), p = 0.57."


def test_a_decided_difference_of_two_runs_names_the_better_one() -> None:
    section = made(by_hand({"old": [2, 3] * 5, "new": [1] * 10}))
    assert section.answer.startswith("new is better than old: new − old is 0.583 (0.520 to 0.646)")


def test_the_sentence_tells_what_is_decided_near_the_top_and_what_could_be_found() -> None:
    section = made(by_hand({"last": [9, 10] * 4, "first": ALIKE, "second": [2, 1, 2, 1, 2, 1, 2, 2]}))
    sentence = section.figures[0].sentence
    assert "Of the 3 pairs among the first 3 runs 2 are decided: first over last and second over last." in sentence
    assert "8 queries like these show a difference of 0.57 in 4 of 5 tests of one pair" in sentence


def test_the_table_has_every_run_though_the_chart_has_the_first_ones_only() -> None:
    ranks = {f"r{place:02d}": [1 + (place + query) % 7 for query in range(6)] for place in range(30)}
    section = made(by_hand(ranks))
    assert len(chart(section).names) == ranking.SHOWN
    assert len(section.figures[0].table.rows) == 30
    assert "The first 25 of 30 runs are drawn" in section.figures[0].sentence


@given(st.lists(st.lists(st.integers(1, 10), min_size=6, max_size=6), min_size=3, max_size=6))
def test_lines_miss_0_and_letters_differ_just_where_it_is_decided(ranks: list[list[int]]) -> None:
    material = by_hand({f"r{place}": row for place, row in enumerate(ranks)})
    section = made(material)
    letters = dict(zip(chart(section).names, chart(section).marks, strict=True))
    decided = {frozenset((one.a, one.b)): one for one in material.comparisons or ()}
    for a, b in combinations(letters, 2):
        assert decided[frozenset((a, b))].decided == (not set(letters[a]) & set(letters[b]))
    best, *others = chart(section).names
    for run in others:
        one, drawn = decided[frozenset((best, run))], behind(section)[run]
        assert drawn.low is not None
        assert drawn.high is not None
        if one.effect_size is not None and one.difference.se:  # all queries alike: p is not that of the interval
            assert one.decided == (drawn.high < 0 or drawn.low > 0)


@pytest.mark.parametrize("gold", ["documents", "whole queries"])
def test_with_gold_the_order_and_the_groups_are_the_corrected_ones(gold: str) -> None:
    material = simulated(gold)  # type: ignore[arg-type]
    assert material.scores is not None
    raw = material.scores.means()
    section = made(material)
    assert max(raw, key=lambda run: raw[run][material.measure].value or 0) == "keyword"
    assert chart(section).names == ("neural", "hybrid", "keyword")
    assert not set(chart(section).marks[0]) & set(chart(section).marks[2])


def test_gold_that_was_drawn_to_compare_gives_a_ranking_without_levels() -> None:
    material = simulated("documents")
    assert material.gold is not None
    assert not hasattr(material.gold, "counts")
    frame = material.gold.frame  # type: ignore[union-attr]
    drawn = frame.with_columns(drawn_for=frame["design"].replace({"pool_stratified": "differences of P(rel=2)@10"}))
    compared = replace(material, gold=type(material.gold)(drawn))  # type: ignore[call-arg]
    section = made(compared)
    assert chart(section).names == ("neural", "hybrid", "keyword")
    assert [row[3] for row in section.figures[0].table.rows] == ["–", "–", "–"]


def test_a_single_run_has_no_ranking() -> None:
    assert ranking.section(by_hand({"only": [1, 2]})) is None


@pytest.mark.real
def test_of_the_37_runs_of_2019_the_best_is_not_told_from_18_and_groups_say_the_same(data: Path) -> None:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))
    labels = read_judgments(data / "dl19/human.qrels")
    section = made(Material(runs=runs, judgments=labels, measures=tuple(parse_all(["nDCG@10"]))))
    letters = {row[1]: row[2] for row in section.figures[0].table.rows}
    alike = [run for run in letters if set(letters[run]) & set(letters["idst_bert_p1"])]
    assert len(alike) == 1 + 18
    assert section.answer.endswith("and 13 more cannot be told from it. Of 666 pairs of runs, 269 are told apart.")
