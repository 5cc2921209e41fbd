"""Many comparisons at once: on paper, against SciPy and statsmodels, and what always holds."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ringtrue.evaluation.significance.adjustment import benjamini_hochberg, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)
BOTH = (holm, benjamini_hochberg)


@pytest.mark.parametrize(
    ("p", "by_holm", "by_bh"),
    [
        ([0.02], [0.02], [0.02]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], [0.03, 0.04, 0.04]),
        ([0.01, 0.01], [0.02, 0.02], [0.01, 0.01]),
        ([0.5, 0.001, 0.6], [1.0, 0.003, 1.0], [0.6, 0.003, 0.6]),
        ([1.0, 1.0], [1.0, 1.0], [1.0, 1.0]),
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06], [0.04, 0.04, 0.04, 0.04]),
        ([], [], []),
    ],
)
def test_small_families_on_paper(p: list[float], by_holm: list[float], by_bh: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p)), by_holm, rtol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(np.array(p)), by_bh, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 190, 2664])
@pytest.mark.parametrize("digits", [2, 12])  # two leave many ties
def test_both_agree_with_statsmodels(size: int, digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # statsmodels collects garbage for each family, of all tests before
    p = np.random.default_rng(size).beta(0.4, 1, size).round(digits)
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], atol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], atol=1e-12)


@given(p_values)
def test_benjamini_hochberg_agrees_with_scipy(p: np.ndarray) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), atol=1e-12)


@given(p_values)
def test_adjusting_never_makes_p_smaller_nor_larger_than_1_and_keeps_the_order(p: np.ndarray) -> None:
    for adjust in BOTH:
        adjusted = adjust(p)
        assert (adjusted >= p * (1 - 1e-12)).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(p_values)
def test_guarding_the_share_of_false_findings_costs_no_more_than_guarding_against_any(p: np.ndarray) -> None:
    assert (benjamini_hochberg(p) <= holm(p) + 1e-12).all()


@given(p_values, st.randoms(use_true_random=False))
def test_the_order_in_which_comparisons_stand_does_not_matter(p: np.ndarray, random) -> None:
    order = random.sample(range(len(p)), len(p))
    for adjust in BOTH:
        np.testing.assert_allclose(adjust(p[order]), adjust(p)[order], rtol=1e-12)


@given(p_values, st.data())
def test_what_is_undefined_stays_so_and_is_not_counted(p: np.ndarray, data: st.DataObject) -> None:
    known = np.array(data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p))))
    holes = np.where(known, p, np.nan)
    for adjust in BOTH:
        adjusted = adjust(holes)
        assert np.isnan(adjusted[~known]).all()
        np.testing.assert_array_equal(adjusted[known], adjust(p[known]))
