"""Tests on differences: on paper, and against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from ringtrue.evaluation.significance.paired_statistics import (
    FloatArray,
    sign_test,
    signed_ranks,
    standard_error,
    t_test,
    welch_test,
    wilcoxon_test,
)
from strategies import wilcoxon_by_scipy

# Twentieths, so that ties and zeros are common and no two ways to compute one difference disagree.
twentieths = st.lists(st.integers(-20, 20).map(lambda i: i / 20), min_size=2, max_size=25)
TESTS = (t_test, sign_test, wilcoxon_test)


def rows(*differences: list[float]) -> FloatArray:
    return np.array(differences, dtype=float)


def test_the_standard_error_is_s_over_the_root_of_n() -> None:
    np.testing.assert_allclose(standard_error(rows([1, 2, 3], [0, 0, 6])), [1 / math.sqrt(3), 2], rtol=1e-15)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0, 2], 0.5),  # t = 1 with one degree of freedom: a quarter on each side
        ([1, 2, 3], 1 - math.sqrt(12 / 14)),  # t² = 12, and two degrees of freedom have a closed form
        ([-1, 1], 1.0),
    ],
)
def test_the_t_test_on_paper(differences: list[float], p: float) -> None:
    np.testing.assert_allclose(t_test(rows(differences)), [p], rtol=1e-12)


@pytest.mark.parametrize(
    ("differences", "p", "mid"),
    [
        ([1, 1, 1, 1, 1, -1, 0], 14 / 64, 8 / 64),  # 2 · (1 + 6)/64, and 2 · (1 + 6/2)/64
        ([1, 1, 1], 2 / 8, 1 / 8),
        ([-3, -2, 0, -1], 2 / 8, 1 / 8),
        ([1, 1, -1, -1], 1.0, 1.0),
        ([1, 0, 0], 1.0, 0.5),
    ],
)
def test_the_sign_test_counts_coins(differences: list[float], p: float, mid: float) -> None:
    np.testing.assert_allclose(sign_test(rows(differences)), [p], rtol=1e-12)
    np.testing.assert_allclose(sign_test(rows(differences), mid_p=True), [mid], rtol=1e-12)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 2, 3, 4, 5], 2 / 32),
        ([-1, 2, 3, 4, 5, 6], 4 / 64),  # rank 1 alone against: all, none, or only the smallest flipped
        ([1, 1, 1], 2 / 8),
        ([1, 1, -1], 1.0),  # three equal ranks: every flip lies as far from 0
        ([0, 1, 2, 3], 2 / 8),  # what ties says nothing
        ([0, 0, 0, -7], 1.0),
    ],
)
def test_wilcoxons_test_counts_flips_of_ranks(differences: list[float], p: float) -> None:
    np.testing.assert_allclose(wilcoxon_test(rows(differences)), [p], rtol=1e-12)


def test_welchs_test_on_paper() -> None:
    # (1, 3) against (0, 0, 0): the difference is 2, its standard error 1, with one degree of freedom
    p, se, df = welch_test(np.array([2.0, 0.0]), np.array([2.0, 0.0]), np.array([2.0, 3.0]))
    assert (float(se), float(df)) == (1.0, 1.0)
    assert float(p) == pytest.approx(2 / math.pi * math.atan(1 / 2), rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 43, 200, 1000])
def test_the_t_test_agrees_with_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.beta(2, 3, (8, n)), rng.beta(2, 3, (8, n)) * np.linspace(0.6, 1.2, 8)[:, None]
    np.testing.assert_allclose(t_test(a - b), stats.ttest_rel(a, b, axis=1).pvalue, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7, 43, 200, 1001])
def test_the_sign_test_agrees_with_scipy(n: int) -> None:
    d = np.round(np.random.default_rng(n).normal([[0.0], [0.3], [1.0], [-0.2]], 1, (4, n)))
    wins, losses = (d > 0).sum(axis=1), (d < 0).sum(axis=1)
    expected = [stats.binomtest(int(w), int(w + x)).pvalue if w + x else 1.0 for w, x in zip(wins, losses, strict=True)]
    np.testing.assert_allclose(sign_test(d), expected, rtol=1e-10)
    at = [stats.binom.pmf(w, w + x, 0.5) if w != x else 0.0 for w, x in zip(wins, losses, strict=True)]
    np.testing.assert_allclose(sign_test(d, mid_p=True), np.subtract(expected, at), rtol=1e-9)


def regimes(n: int) -> FloatArray:
    """Rows that SciPy treats in different ways, one beside the other."""
    rng = np.random.default_rng(n)
    smooth = rng.normal(0.2, 1, (3, n))
    smooth[2] = np.abs(smooth[2])
    steps = rng.integers(-3, 5, (3, n)).astype(float)
    one_zero, mostly_zeros, one_tie = (rng.normal(0.1, 1, n) for _ in range(3))
    one_zero[0] = 0
    mostly_zeros[: n // 2] = 0
    one_tie[-1] = -one_tie[0]
    found = np.vstack([smooth, steps, one_zero, mostly_zeros, one_tie])
    return found[(found != 0).any(axis=1)]


SLOW_SIZES = [pytest.param(n, marks=pytest.mark.slow) for n in (14, 15)]  # SciPy enumerates there


@pytest.mark.parametrize("n", [*range(2, 10), 13, *SLOW_SIZES, 25, 49, 50, 51, 60, 120])
def test_wilcoxons_test_agrees_with_scipy_on_each_row_alone(n: int) -> None:
    d = regimes(n)[[0, 3, 7]] if n == 13 else regimes(n)  # SciPy enumerates there, slowly
    expected = [wilcoxon_by_scipy(row) for row in d]
    np.testing.assert_allclose(wilcoxon_test(d), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [2, 13, 14, 50, 51])
def test_a_row_is_tested_as_if_it_stood_alone(n: int) -> None:
    d = regimes(n)
    for test in TESTS:
        np.testing.assert_allclose(test(d), [test(row[None])[0] for row in d], rtol=1e-12)


def test_a_row_of_zeros_has_p_1_beside_others_in_the_tests_that_leave_ties_out() -> None:
    d = rows([0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
    np.testing.assert_allclose(wilcoxon_test(d), [1, 1 / 16], rtol=1e-12)
    np.testing.assert_allclose(sign_test(d), [1, 1 / 16], rtol=1e-12)


@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_welchs_test_agrees_with_scipy(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.1, 1, n), rng.normal(0, 3, m)
    means, variances = (np.array([one(a), one(b)]) for one in (np.mean, lambda x: np.var(x, ddof=1)))
    p, se, df = welch_test(means, variances, np.array([n, m], dtype=float))
    theirs = stats.ttest_ind(a, b, equal_var=False)
    assert float(p) == pytest.approx(theirs.pvalue, rel=1e-10)
    assert float(df) == pytest.approx(theirs.df, rel=1e-10)
    assert float(se) == pytest.approx(abs((a.mean() - b.mean()) / theirs.statistic), rel=1e-9)


@given(twentieths)
def test_swapping_the_runs_leaves_p(differences: list[float]) -> None:
    assume(len(set(differences)) > 1)
    d = rows(differences)
    for test in TESTS:
        np.testing.assert_allclose(test(-d), test(d), rtol=1e-9)


@given(twentieths, st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter(differences: list[float], random) -> None:
    assume(len(set(differences)) > 1)
    shuffled = random.sample(differences, len(differences))
    for test in TESTS:
        np.testing.assert_allclose(test(rows(shuffled)), test(rows(differences)), rtol=1e-9)


@given(twentieths, st.integers(-30, 30))
def test_p_does_not_depend_on_the_unit(differences: list[float], power: int) -> None:
    assume(len(set(differences)) > 1)
    d = rows(differences)
    for test in TESTS:
        np.testing.assert_allclose(test(d * 2.0**power), test(d), rtol=1e-9)


@given(twentieths)
def test_p_lies_above_0_and_never_above_1(differences: list[float]) -> None:
    assume(len(set(differences)) > 1)
    for test in TESTS:
        p = test(rows(differences))[0]
        assert 0 < p <= 1


@given(twentieths)
def test_mid_p_is_smaller_than_p_unless_the_score_is_even(differences: list[float]) -> None:
    d = rows(differences)
    p, mid = sign_test(d)[0], sign_test(d, mid_p=True)[0]
    even = (d > 0).sum() == (d < 0).sum()
    assert (mid == p == 1) if even else mid < p


@given(st.lists(st.integers(-4, 4).map(lambda i: i / 4), min_size=2, max_size=30).filter(any))
def test_signed_ranks_add_up_to_scipys_statistic(row: list[float]) -> None:
    d = np.array(row)
    left = d[d != 0]
    above, below = (stats.rankdata(np.abs(left))[side].sum() for side in (left > 0, left < 0))
    assert signed_ranks(d[None]).sum() == pytest.approx(above - below)
    if len(left) > 1:
        assert min(above, below) == pytest.approx(stats.wilcoxon(left, method="asymptotic").statistic)


def test_ties_have_no_say_in_whom_wilcoxons_test_speaks_for() -> None:
    d = np.concatenate([np.arange(17, 31), -np.arange(1, 17), np.zeros(100)])[None]
    assert signed_ranks(d).sum() == 193
