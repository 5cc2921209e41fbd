"""Where a difference comes from, query by query."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from report.page_words import Words, find_notes, note_codes
from report.small_inputs import by_hand, noisy, simulated
from ringtrue.evaluation.measures import parse_all
from ringtrue.files import read_judgments, read_run
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Bars, Section
from ringtrue.report.sections import query_differences
from ringtrue.report.sections.query_differences import count_decisive_queries
from strategies import examples


def made(material: ReportInputs) -> Section:
    found = query_differences.section(material)
    assert found is not None
    return found


def bars(section: Section, place: int = 0) -> Bars:
    found = section.figures[0].charts[place]
    assert isinstance(found, Bars)
    return found


def test_the_queries_stand_by_their_difference_and_those_that_moved_most_are_named(words: Words) -> None:
    section = made(by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]}))
    assert bars(section).names == ("q2", "q1", "q4", "q3")
    assert bars(section).values == pytest.approx((2 / 3, 1 / 2, 0, -1 / 2))
    assert re.findall(r"\d+", section.answer) == ["2", "4", "1", "1"]
    sentence = section.figures[0].sentence
    assert all(part in sentence for part in ("+0.167", "q2 (+0.667)", "q1 (+0.500)", "q3 (−0.500)"))
    assert "Without q2," in sentence  # the other three add up to 0
    words(section)


def test_the_table_has_both_values_of_every_query() -> None:
    table = made(by_hand({"old": [2, 3, 1, 1], "new": [1, 1, 2, 1]})).figures[0].table
    assert table.columns == ["query", "new", "old", "new − old"]
    assert table.rows[0] == ["q2", "1.0000", "0.3333", "+0.6667"]
    assert len(table.rows) == 4


@pytest.mark.parametrize("names", [("query", "difference"), ("doc", "measure"), ("a − b", "a"), ("b", "value")])
def test_runs_may_have_any_name(names: tuple[str, str]) -> None:
    new, old = names
    table = made(by_hand({old: [2, 3, 1, 1], new: [1, 1, 2, 1]})).figures[0].table
    assert table.columns == ["query", new, old, f"{new} − {old}"]
    assert table.rows[0] == ["q2", "1.0000", "0.3333", "+0.6667"]


def test_notes_are_about_the_labels_as_they_were_read() -> None:
    material = replace(
        noisy(0), measures=tuple(parse_all(["P(rel=2)@3"])), correction_options={"design": "pool_random"}
    )
    assert "queries-without-relevant" in note_codes(made(material).figures[0])
    read = replace(material, correction_options={"design": "pool_random", "bronze_rel": 1})
    assert "queries-without-relevant" not in note_codes(made(read).figures[0])


def test_a_run_that_shares_the_first_place_by_the_labels_is_no_rival() -> None:
    section = made(by_hand({"copy": [1, 2, 3], "last": [9, 9, 9], "other": [1, 2, 3]}))
    assert [chart.title for chart in section.figures[0].charts] == ["copy against other"]


def test_runs_with_the_same_values_are_level_everywhere_and_rest_on_no_query(words: Words) -> None:
    section = made(by_hand({"one": [1, 2, 3], "other": [1, 2, 3]}))
    assert re.findall(r"\d+", section.answer)[-2:] == ["0", "3"]
    assert "Without" not in section.figures[0].sentence
    words(section)


def test_where_gold_turns_the_order_round_the_winner_is_also_shown_against_the_one_before(
    words: Words,
) -> None:
    material = simulated("documents")
    section = made(material)
    assert [chart.title for chart in section.figures[0].charts] == ["neural against hybrid", "neural against keyword"]
    one = next(one for one in material.comparisons or () if (one.a, one.b) == ("keyword", "neural"))
    assert one.difference.value is not None
    assert f"−0.085, corrected +{-one.difference.value:.3f}" in section.figures[0].sentence
    words(section)


def test_of_many_queries_only_the_outermost_have_a_name_and_of_very_many_only_those_are_drawn() -> None:
    rng = np.random.default_rng(1)
    ranks = {name: rng.integers(1, 11, 500).tolist() for name in ("new", "old")}
    few = made(by_hand({name: row[:100] for name, row in ranks.items()}))
    apart = len(bars(few).values)
    assert apart == 100 - sum(a == b for a, b in zip(ranks["new"][:100], ranks["old"][:100], strict=True))
    assert [bool(name) for name in bars(few).names] == [True] * 30 + [False] * (apart - 60) + [True] * 30
    many = made(by_hand(ranks))
    assert len(bars(many).values) == query_differences.MAX_BARS
    assert len(many.figures[0].table.rows) == 500
    assert "400" in find_notes(many.figures[0], "chart-shortened")[0]


def test_queries_where_both_are_level_are_not_drawn_where_they_are_many(words: Words) -> None:
    few, many = (made(by_hand({"new": [1, 1] + [1] * level, "old": [2, 3] + [1] * level})) for level in (5, 6))
    assert len(bars(few).names) == 7
    assert bars(many).names == ("q2", "q1")
    assert len(many.figures[0].table.rows) == 8
    assert "level-queries-not-drawn" in note_codes(many.figures[0])
    words(many)


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=30))
def test_without_the_decisive_ones_the_sum_is_not_above_0_and_with_one_of_them_it_is(values: list[int]) -> None:
    few = count_decisive_queries([value / 100 for value in values])
    ordered = sorted(values, reverse=True)
    if sum(values) <= 0:
        assert few is None
    else:
        assert few is not None
        assert sum(ordered[few:]) <= 0 < sum(ordered[few - 1 :])


@examples(40)
@given(st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), min_size=2, max_size=5))
def test_wins_ties_and_losses_are_the_bars_above_at_and_below_0(ranks: list[tuple[int, int]]) -> None:
    section = made(by_hand({"one": [a for a, _ in ranks], "other": [b for _, b in ranks]}))
    values = [value for value in bars(section).values if value is not None]
    assert values == sorted(values, reverse=True)
    wins, ties, losses = (sum(kept) for kept in zip(*((v > 0, v == 0, v < 0) for v in values), strict=True))
    assert re.findall(r"\d+", section.answer)[-4:] == [str(number) for number in (wins, len(ranks), losses, ties)]


@pytest.mark.real
def test_the_two_best_of_2019_differ_on_four_queries(data: Path) -> None:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/idst_bert_p?.run")))
    labels = read_judgments(data / "dl19/human.qrels")
    section = made(ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["nDCG@10"]))))
    assert re.findall(r"\d+", section.answer)[-4:] == ["2", "43", "2", "39"]
    assert "Without 443396," in section.figures[0].sentence
