"""The interval of a mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ringtrue.errors import UsageError
from ringtrue.intervals import mean_estimate
from ringtrue.student import t_quantile


def test_a_mean_by_hand() -> None:
    estimate = mean_estimate(np.array([0.2, 0.4, 0.6, 0.8]))
    se = np.sqrt(np.var([0.2, 0.4, 0.6, 0.8], ddof=1) / 4)
    assert estimate.value == pytest.approx(0.5)
    assert estimate.se == pytest.approx(se)
    assert estimate.high == pytest.approx(0.5 + 3.182446 * se, abs=1e-6)
    assert (estimate.n, estimate.method, estimate.level, estimate.notes) == (4, "t", 0.95, ())


def test_scipy_gives_the_same_interval() -> None:
    values = np.random.default_rng(1).beta(2, 3, 43)
    low, high = stats.t.interval(0.9, 42, values.mean(), stats.sem(values))
    estimate = mean_estimate(values, level=0.9)
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_one_query_has_no_interval_and_says_so() -> None:
    estimate = mean_estimate(np.array([0.5]))
    assert (estimate.value, estimate.se, estimate.low, estimate.high) == (0.5, None, None, None)
    assert "single query" in estimate.notes[0]


def test_equal_values_have_an_interval_without_width_and_a_doubt() -> None:
    estimate = mean_estimate(np.full(30, 0.1))
    assert (estimate.value, estimate.low, estimate.high, estimate.se) == (0.1, 0.1, 0.1, 0.0)
    assert "all 30 queries have the same value" in estimate.notes[0]


def test_no_query_is_undefined_in_words() -> None:
    estimate = mean_estimate(np.array([]))
    assert estimate.value is None
    assert str(estimate) == "undefined: there is no query to average"


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, 1 - 1e-16, float("nan")])
def test_a_level_outside_0_and_1_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=r"between 0 and 0\.999999"):
        mean_estimate(np.array([0.1, 0.2]), level=level)


@pytest.mark.simulation
@pytest.mark.parametrize("n", [20, 50, 200])
def test_intervals_cover_the_truth_as_often_as_they_say(n: int) -> None:
    # Per-query values like nDCG's: between 0 and 1, skewed, some exactly 0.
    rng = np.random.default_rng(20 + n)
    draws = 4000
    values = rng.beta(1.2, 1.8, (draws, n)) * (rng.random((draws, n)) > 0.1)
    truth = 0.9 * 1.2 / 3.0
    mean, half = values.mean(axis=1), t_quantile(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    covered = np.mean(np.abs(mean - truth) <= half)
    assert 0.935 <= covered <= 0.965
    one = mean_estimate(values[0])
    assert (one.low, one.high) == (pytest.approx(mean[0] - half[0]), pytest.approx(mean[0] + half[0]))
