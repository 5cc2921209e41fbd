"""How far a variance serves: half-widths and the power of the paired t test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from ringtrue.errors import UsageError
from ringtrue.gold.planning.goals import Goal, require_share


def test_a_half_width_by_hand() -> None:
    assert Goal(half_width=0.1).achieved(0.09 / 25, 25) == pytest.approx(2.063899 * 0.3 / 5, rel=1e-6)
    assert Goal(half_width=0.1).achieved(0.09 / 25, 25, normal=True) == pytest.approx(1.959964 * 0.06, rel=1e-6)


@pytest.mark.parametrize("queries", [5, 12, 50, 150])
@pytest.mark.parametrize("effect", [0.1, 0.3, 0.6])
def test_power_is_that_of_statsmodels_but_for_findings_in_the_wrong_direction(queries: int, effect: float) -> None:
    ours = float(Goal(difference=0.05, power=0.8).achieved((0.05 / effect) ** 2 / queries, queries))
    theirs = TTestPower().power(effect, queries, 0.05, alternative="two-sided")
    wrong = stats.nct.cdf(stats.t.ppf(0.025, queries - 1), queries - 1, effect * np.sqrt(queries))
    assert ours == pytest.approx(theirs - wrong, abs=1e-6)


@given(
    queries=st.integers(3, 100_000),
    power=st.floats(0.06, 0.999),
    difference=st.floats(0.001, 0.5),
    level=st.sampled_from([0.9, 0.95, 0.99]),
)
def test_what_is_allowed_achieves_what_was_asked(queries: int, power: float, difference: float, level: float) -> None:
    power = max(power, 1 - level + 0.01)
    goal = Goal(difference=difference, power=power, level=level)
    assert goal.achieved(goal.max_variance(queries), queries) == pytest.approx(power, abs=1e-6)
    wide = Goal(half_width=difference * 0.99, level=level)
    assert wide.achieved(wide.max_variance(queries), queries) == pytest.approx(difference * 0.99)


def test_no_variance_at_all_finds_every_difference() -> None:
    assert Goal(difference=0.05, power=0.8).achieved(0.0, 30) == pytest.approx(1)
    assert Goal(half_width=0.05).achieved(0.0, 30) == 0


def test_a_normal_quantile_is_what_many_queries_come_to() -> None:
    goal = Goal(difference=0.05, power=0.8)
    assert goal.max_variance(10, normal=True) == pytest.approx((0.05 / (1.959964 + 0.841621)) ** 2, rel=1e-5)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"half_width": 0.0}, "a half-width must lie between 0 and 1, found 0"),
        ({"half_width": -0.1}, "found -0.1"),
        ({"half_width": 5.0}, "is it 5%? Write it as 0.05"),
        ({"half_width": 0.5}, "holds all from 0 to 1 and needs no label"),
        ({"half_width": float("nan")}, "found nan"),
        ({"difference": 1.0}, "a difference must lie between 0 and 1, found 1"),
        (
            {"difference": 0.1, "power": 0.05},
            "power must lie between 0.05, which a test of that level reaches by chance",
        ),
        ({"difference": 0.1, "power": 1.0}, "0.8 is usual"),
        ({"difference": 0.1, "power": 80.0}, "found 80"),
        ({"half_width": 0.1, "level": 95.0}, "level must lie between"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(asked: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        Goal(**asked)
    assert says in str(refused.value)


def test_the_ends_count_where_they_may() -> None:
    require_share("an accuracy", 1.0, inclusive=True)
    with pytest.raises(UsageError, match=r"both included, found 1\.2; is it 1\.2%"):
        require_share("an accuracy", 1.2, inclusive=True)
