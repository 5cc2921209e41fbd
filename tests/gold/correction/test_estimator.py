"""Estimates for several runs at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ringtrue.gold.correction.results import JointEstimate
from ringtrue.stats.results import Estimate


def joint(values: object, covariance: object, freedom: float = np.inf) -> JointEstimate:
    told = np.asarray(values, dtype=np.float64)
    return JointEstimate(
        values=told,
        covariance=np.asarray(covariance, dtype=np.float64),
        df=freedom,
        labels=np.arange(10, 10 + len(told)),
    )


def test_by_hand() -> None:
    found = joint([0.5, 0.3], [[0.04, 0.01], [0.01, 0.09]])
    one = found.estimate(0, level=0.95, method="difference", notes=("a doubt",))
    assert (one.value, one.se) == (0.5, 0.2)
    assert (one.low, one.high) == pytest.approx((0.5 - 1.959964 * 0.2, 0.5 + 1.959964 * 0.2))
    assert (one.n, one.method, one.level, one.notes) == (10, "difference", 0.95, ("a doubt",))
    apart = found.difference(1, 0, level=0.95, method="difference")
    assert (apart.value, apart.se, apart.n) == (pytest.approx(-0.2), pytest.approx(np.sqrt(0.11)), 10)


def test_degrees_of_freedom_make_it_students() -> None:
    found = joint([0.5, 0.3], [[0.04, 0.01], [0.01, 0.09]], freedom=4)
    one = found.estimate(1, level=0.9, method="difference")
    assert (one.low, one.high) == pytest.approx(stats.t.interval(0.9, 4, 0.3, 0.3))
    apart = found.difference(0, 1, level=0.9, method="difference")
    assert found.p_value(apart) == pytest.approx(2 * stats.t.sf(0.2 / np.sqrt(0.11), 4))


def test_p_is_scipys_and_never_0() -> None:
    found = joint([0.5, 0.3], [[0.04, 0.01], [0.01, 0.09]])
    assert found.p_value(found.difference(0, 1, level=0.9, method="")) == pytest.approx(
        2 * stats.norm.sf(0.2 / np.sqrt(0.11))
    )
    sure = joint([1.0, 0.0], np.eye(2) * 1e-12)
    assert 0 < sure.p_value(sure.difference(0, 1, level=0.95, method="")) < 1e-300


def test_equal_without_error_is_equal_and_a_difference_without_error_has_no_p() -> None:
    found = joint([0.5, 0.5, 0.3], np.zeros((3, 3)))
    assert found.p_value(found.difference(0, 1, level=0.95, method="")) == 1
    assert found.p_value(found.difference(0, 2, level=0.95, method="")) is None
    assert found.p_value(Estimate(value=None, n=0, method="")) is None
    assert found.p_value(Estimate(value=0.1, n=0, method="")) is None


def test_a_single_query_has_a_value_and_no_interval() -> None:
    found = joint([0.5, 0.3], np.zeros((2, 2)), freedom=0)
    one = found.estimate(0, level=0.95, method="difference")
    assert (one.value, one.se, one.low, one.high) == (0.5, None, None, None)
    assert one.notes[0].code == "single-query"
    apart = found.difference(0, 1, level=0.95, method="difference")
    assert apart.se is None
    assert found.p_value(apart) is None


def test_what_rounding_leaves_below_0_is_no_error() -> None:
    assert joint([0.5], [[-1e-18]]).estimate(0, level=0.95, method="").se == 0


@given(
    st.lists(st.floats(-5, 5), min_size=4, max_size=4),
    st.lists(st.floats(-2, 2), min_size=2, max_size=2),
    st.sampled_from([1.0, 7.0, np.inf]),
)
def test_swapping_two_runs_turns_the_sign_and_keeps_p(parts: list[float], values: list[float], freedom: float) -> None:
    root = np.array(parts).reshape(2, 2)
    found = joint(values, root @ root.T, freedom)
    one, other = found.difference(0, 1, level=0.95, method=""), found.difference(1, 0, level=0.95, method="")
    assert (other.value, other.se) == (-one.value, one.se)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert found.p_value(other) == found.p_value(one)
