"""How small a difference could be found."""

from __future__ import annotations

import re
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import nct, norm, t
from statsmodels.stats.power import TTestPower

from report.page_words import Words
from report.small_inputs import by_hand, simulated
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import parse_all
from ringtrue.files import read_judgments, read_run
from ringtrue.report.inputs import ReportInputs, order_runs
from ringtrue.report.model import Lines, Section
from ringtrue.report.sections import power
from ringtrue.report.sections.power import DifferenceSpread, detectable_difference, queries_needed
from ringtrue.stats.confusion import Confusion


def made(material: ReportInputs) -> Section:
    found = power.section(material)
    assert found is not None
    return found


def chart(section: Section) -> Lines:
    found = section.figures[0].charts[0]
    assert isinstance(found, Lines)
    return found


@pytest.mark.parametrize(("sd", "queries", "level"), [(0.2, 43, 0.95), (0.05, 10, 0.95), (0.3, 200, 0.99)])
def test_what_is_detectable_is_what_statsmodels_has(sd: float, queries: int, level: float) -> None:
    ratio = TTestPower().solve_power(nobs=queries, alpha=1 - level, power=0.8, alternative="two-sided")
    assert detectable_difference(DifferenceSpread(sd=sd), [queries], level)[0] == pytest.approx(ratio * sd, rel=1e-4)


def test_about_these_queries_alone_the_test_is_a_normal_one() -> None:
    expected = (norm.ppf(0.975) + norm.ppf(0.8)) * 0.2 / sqrt(50)
    assert detectable_difference(DifferenceSpread(sd=0.2, normal=True), [50], 0.95)[0] == pytest.approx(
        expected, rel=1e-6
    )


@pytest.mark.parametrize("queries", [30, 50, 200])
def test_where_gold_judges_whole_queries_only_these_count_for_the_degrees_of_freedom(queries: int) -> None:
    found = detectable_difference(DifferenceSpread(sd=0.2, share=0.4), [queries], 0.95)[0]
    df = 0.4 * queries - 1
    ratio = found / 0.2 * sqrt(queries)
    assert nct.sf(t.ppf(0.975, df), df, ratio) == pytest.approx(0.8, abs=1e-6)


def test_too_few_queries_for_a_test_find_nothing() -> None:
    assert detectable_difference(DifferenceSpread(sd=0.2, share=0.2), [5], 0.95)[0] == np.inf
    assert queries_needed(100.0, DifferenceSpread(sd=0.2, share=0.4), 0.95) == 5


@given(sd=st.floats(0.001, 1), queries=st.integers(2, 5000), more=st.integers(1, 5000))
def test_more_queries_show_smaller_differences_and_differences_scale_with_the_spread(
    sd: float, queries: int, more: int
) -> None:
    few, many = detectable_difference(DifferenceSpread(sd=sd), [queries, queries + more], 0.95)
    assert many < few
    assert detectable_difference(DifferenceSpread(sd=2 * sd), [queries], 0.95)[0] == pytest.approx(2 * few)


@given(sd=st.floats(0.01, 1), difference=st.floats(0.005, 0.5))
def test_so_many_queries_are_enough_and_one_fewer_is_not(sd: float, difference: float) -> None:
    needed = queries_needed(difference, DifferenceSpread(sd=sd), 0.95)
    assert needed is not None
    assert detectable_difference(DifferenceSpread(sd=sd), [needed], 0.95)[0] <= difference
    if needed > 2:
        assert detectable_difference(DifferenceSpread(sd=sd), [needed - 1], 0.95)[0] > difference


def test_where_no_number_of_queries_is_enough_there_is_none() -> None:
    assert queries_needed(1e-6, DifferenceSpread(sd=1.0), 0.95) is None


def test_the_page_tells_what_these_queries_show_and_how_many_the_seen_difference_takes(
    words: Words,
) -> None:
    # Differences of RR 1/2, 2/3, −1/2, 0: mean 1/6, sd 0.527.
    section = made(by_hand({"new": [1, 1, 2, 1], "old": [2, 3, 1, 1]}))
    sd = float(np.std([1 / 2, 2 / 3, -1 / 2, 0], ddof=1))
    now = TTestPower().solve_power(nobs=4, alpha=0.05, power=0.8) * sd
    needed = int(np.ceil(TTestPower().solve_power(effect_size=1 / 6 / sd, alpha=0.05, power=0.8)))
    numbers = ["4", f"{now:.2f}", "4", "5", "0.17", f"{needed}"]
    assert re.findall(r"[\d.]*\d", section.answer) == numbers
    words(section)
    mark = chart(section).mark
    assert mark is not None
    assert (mark.x, mark.y) == (4, pytest.approx(now, rel=1e-3))


def test_a_difference_that_is_large_enough_says_how_few_would_have_done(words: Words) -> None:
    section = made(by_hand({"new": [1] * 20, "old": [2, 3] * 10}))
    words(section)


def test_the_lines_fall_and_the_table_says_the_same() -> None:
    section = made(simulated("none"))
    for line in chart(section).lines:
        assert list(line.y) == sorted(line.y, reverse=True)
    now = next(row for row in section.figures[0].table.rows if row[0] == "40")
    mark = chart(section).mark
    assert mark is not None
    assert float(now[1]) == pytest.approx(mark.y, abs=5e-3)


def test_with_gold_the_spread_is_that_of_the_corrected_difference(words: Words) -> None:
    material = simulated("documents")
    section = made(material)
    one = next(one for one in material.comparisons or () if {one.a, one.b} == {"neural", "hybrid"})
    assert one.detectable is not None
    mark = chart(section).mark
    assert mark is not None
    assert mark.y == pytest.approx(one.detectable, rel=5e-3)  # which adds two quantiles of Student's t
    assert one.difference.se is not None
    ratio = TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
    assert mark.y == pytest.approx(ratio * one.difference.se * sqrt(40), rel=1e-4)
    words(section.figures[0].sentence)


def test_with_gold_on_whole_queries_the_test_has_their_degrees_of_freedom(words: Words) -> None:
    material = simulated("whole queries")
    section = made(material)
    mark = chart(section).mark
    assert mark is not None
    one = next(one for one in material.comparisons or () if {one.a, one.b} == set(order_runs(material)[:2]))
    assert one.difference.se is not None
    assert one.difference.n == 20
    assert nct.sf(t.ppf(0.975, 19), 19, mark.y / one.difference.se) == pytest.approx(0.8, abs=1e-6)
    assert one.detectable == pytest.approx((t.ppf(0.975, 19) + t.ppf(0.8, 19)) * one.difference.se)
    assert "(20 of 40)" in section.figures[0].sentence
    words(section.figures[0].sentence)


def test_gold_from_elsewhere_leaves_the_test_to_the_bronze_scores_and_needs_no_more_labels(
    words: Words,
) -> None:
    counts = np.full((4, 4), 5) + np.diag([80, 60, 60, 60])
    matrix = Confusion(rows="gold", columns="bronze", labels=(0, 1, 2, 3), counts=counts)
    material = replace(simulated("none"), gold=matrix)
    section = made(material)
    one = next(one for one in material.comparisons or () if {one.a, one.b} == set(order_runs(material)[:2]))
    assert one.naive is not None
    assert one.naive.difference.se is not None
    youden = (65 + 5 + 5 + 65) / 160 + (85 + 5 + 5 + 65) / 180 - 1  # labels 2 and 3 are relevant
    now = TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8) * one.naive.difference.se * sqrt(40) / youden
    mark = chart(section).mark
    assert mark is not None
    assert mark.y == pytest.approx(now, rel=1e-3)
    assert one.naive.detectable is not None
    assert one.detectable == pytest.approx(one.naive.detectable / youden)
    words(section.figures[0].sentence)


def test_where_the_first_two_are_equal_a_usual_pair_is_told_of(words: Words) -> None:
    ranks = {"one": [1, 2, 1, 1], "same": [1, 2, 1, 1], "other": [2, 3, 1, 4], "last": [3, 5, 9, 4]}
    section = made(by_hand(ranks))
    words(section)


def test_runs_that_do_not_differ_tell_nothing_about_other_queries() -> None:
    with pytest.raises(InputError) as refused:
        power.section(by_hand({"one": [1, 2, 3], "other": [1, 2, 3]}))
    assert refused.value.code == "no-differences"


@pytest.mark.real
def test_the_43_queries_of_2019_show_less_between_like_runs_than_between_usual_ones(data: Path) -> None:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))
    labels = read_judgments(data / "dl19/human.qrels")
    material = ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["nDCG@10"])))
    section = made(material)
    one = next(one for one in material.comparisons or () if {one.a, one.b} == {"idst_bert_p1", "idst_bert_p2"})
    assert one.difference.se is not None
    now = TTestPower().solve_power(nobs=43, alpha=0.05, power=0.8) * one.difference.se * sqrt(43)
    assert all(part in section.answer for part in (f"{now:.4f}", "idst_bert_p1", "idst_bert_p2"))
    assert "0.089" in section.figures[0].sentence
