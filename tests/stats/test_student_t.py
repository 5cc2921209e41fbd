"""Student's t distribution, against SciPy and the printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

from ringtrue.errors import UsageError
from ringtrue.stats.intervals import t_quantile, t_tail


@given(st.floats(1e-3, 300), st.floats(1.01, 1e5))
def test_the_tail_agrees_with_scipy_in_its_leading_digits_however_small_it_is(t: float, df: float) -> None:
    theirs = special.stdtr(df, -t)
    assert float(t_tail(t, df)) == pytest.approx(theirs, rel=1e-10, abs=1e-290)


@given(st.floats(0, 1e6))
def test_one_degree_of_freedom_is_the_cauchy_distribution(t: float) -> None:
    assert float(t_tail(t, 1)) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-12)


def test_each_t_may_have_its_own_degrees_of_freedom() -> None:
    t, df = np.array([[0.5, 1.0], [2.0, 30.0]]), np.array([3.0, 7.5])
    np.testing.assert_allclose(t_tail(t, df), special.stdtr(df, -t), rtol=1e-11)


@given(st.floats(0.001, 0.999), st.integers(1, 20_000))
def test_the_t_quantile_agrees_with_scipy(p: float, df: int) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("df", "value"), [(1, 12.7062), (2, 4.3027), (10, 2.2281), (42, 2.0181), (1000, 1.9623)])
def test_the_t_quantile_has_the_values_of_the_printed_tables(df: int, value: float) -> None:
    assert round(t_quantile(0.975, df), 4) == value


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (0.5, 0), (float("nan"), 5)])
def test_a_quantile_outside_its_range_is_refused(p: float, df: float) -> None:
    with pytest.raises(UsageError) as refused:
        t_quantile(p, df)
    assert refused.value.code == "bad-quantile"
