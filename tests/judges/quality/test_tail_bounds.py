"""Bounds on how rarely chance takes a sum so far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ringtrue.judges.quality.tail_bounds import bennett, binomial_tail, sums_of_hits, sums_within_strata


@given(st.integers(1, 400), st.floats(0.001, 0.999), st.data())
def test_the_binomial_tail_is_scipys(n: int, chance: float, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    assert binomial_tail(hits, n, chance) == pytest.approx(stats.binom.cdf(hits, n, chance), rel=1e-9, abs=1e-200)


def test_the_binomial_tail_at_its_ends() -> None:
    assert (binomial_tail(-1, 5, 0.5), binomial_tail(5, 5, 0.5), binomial_tail(2, 5, 1.0)) == (0, 1, 0)
    assert binomial_tail(2, 5, 0.0) == 1


@given(st.lists(st.floats(0.02, 0.98), min_size=1, max_size=12), st.data())
def test_the_bounds_are_never_below_the_true_chance(chances: list[float], data: st.DataObject) -> None:
    # The exact distribution of the number of hits, case by case.
    exact = np.array([1.0])
    for chance in chances:
        exact = np.convolve(exact, [1 - chance, chance])
    hits = data.draw(st.integers(0, len(chances)))
    hit = np.arange(len(chances)) < hits
    sums = sums_of_hits(np.zeros(len(chances), dtype=int), 1, hit, np.array(chances))
    assert sums.p_low()[0] >= exact[: hits + 1].sum() - 1e-9
    assert sums.p_high()[0] >= exact[hits:].sum() - 1e-9


def test_grades_dealt_out_among_judges_by_hand() -> None:
    # Two items with the labels 0, 0, 2 each; judge 0 holds both twos: by chance 1 in 9.
    judge, item = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    sums = sums_within_strata(judge, 3, np.array([2.0, 0, 0, 2, 0, 0]), item, share=False)
    assert sums.excess == pytest.approx([8 / 3, -4 / 3, -4 / 3])
    assert sums.variance == pytest.approx(2 * 8 / 9)
    assert 1 / 9 <= sums.p_high()[0] < 0.5
    assert (sums.p_two_sided() <= 1).all()


def test_what_cannot_differ_is_not_asked() -> None:
    sums = sums_within_strata(np.array([0, 1, 0]), 3, np.array([1.0, 1, 0]), np.array([0, 0, 1]), share=True)
    assert np.isnan(sums.p_low()).all()
    assert np.isnan(
        sums_within_strata(np.array([], int), 2, np.array([]), np.array([], int), share=True).p_two_sided()
    ).all()


def test_a_bound_says_nothing_about_what_lies_on_the_expected_side() -> None:
    assert bennett(np.array([-3.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])).tolist() == [1, 1]
