"""The power of a t test, against SciPy's noncentral t where that has a number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

from ringtrue.gold.planning.noncentral_t import needed_ratio, power

LEVELS = [0.5, 0.9, 0.95, 0.99, 0.9999]


def at(ratio: float, df: float, level: float) -> float:
    t = special.stdtrit(df, (1 + level) / 2)
    return float(power(np.array([ratio]), np.array([df]), np.array([t]))[0])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("df", [1, 2, 3, 5, 9, 29, 99, 1e4, 1e7])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 1, 2, 3, 5])
def test_power_is_scipys(ratio: float, df: float, level: float) -> None:
    theirs = stats.nct.sf(stats.t.ppf((1 + level) / 2, df), df, ratio)
    assert at(ratio, df, level) == pytest.approx(theirs, abs=1e-8)


def test_with_no_difference_half_of_the_false_findings_point_in_this_direction() -> None:
    assert at(0.0, 12, 0.95) == pytest.approx(0.025)


def test_with_no_end_of_queries_it_is_the_normal_distribution() -> None:
    assert at(2.8015852, 1e9, 0.95) == pytest.approx(0.8, abs=1e-7)


def test_a_difference_of_very_many_standard_errors_is_always_found() -> None:
    assert at(1e9, 10, 0.95) == pytest.approx(1)
    assert at(1e9, 1, 0.95) == pytest.approx(1)


@given(wanted=st.floats(0.06, 0.9999), df=st.floats(1, 1e9), level=st.sampled_from([0.95, 0.99, 0.9999, 0.999999]))
def test_the_ratio_that_is_needed_gives_the_power_that_is_wanted(wanted: float, df: float, level: float) -> None:
    t = np.array([special.stdtrit(df, (1 + level) / 2)])
    ratio = needed_ratio(wanted, np.array([df]), t)
    assert float(power(ratio, np.array([df]), t)[0]) == pytest.approx(wanted, abs=1e-8)


@given(ratio=st.floats(0, 20), more=st.floats(0.001, 5), df=st.floats(1, 1e6))
def test_a_larger_difference_is_found_no_less_often(ratio: float, more: float, df: float) -> None:
    assert at(ratio + more, df, 0.95) >= at(ratio, df, 0.95) - 1e-10
