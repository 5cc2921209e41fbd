"""How little would explain a difference."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from ringtrue.gold.correction import BronzeScore, Rates
from ringtrue.gold.correction.sensitivity import TippingPoint, tipping_points

FIRST = BronzeScore(mean=0.6260, sd=0.414, queries=10278)
SECOND = BronzeScore(mean=0.6385, sd=0.402, queries=20604)
RATES = Rates(relevant=(43, 59), nonrelevant=(67, 84))
Q = 1.959964


def t(lower: BronzeScore, higher: BronzeScore, rates: Rates, *, relevant: float = 0, nonrelevant: float = 0) -> float:
    """The corrected difference over its standard error, with rates that lie so far apart between the systems."""
    (right, _), (wrong, _) = rates.on_relevant, rates.on_nonrelevant
    parts = []
    for score, side in ((lower, -1), (higher, 1)):
        m_r, m_n = right + side * relevant / 2, wrong - side * nonrelevant / 2
        youden = m_r + m_n - 1
        parts.append(((score.mean - 1 + m_n) / youden, score.variance / youden**2))
    return (parts[1][0] - parts[0][0]) / math.sqrt(parts[0][1] + parts[1][1])


def test_the_published_example() -> None:
    found = tipping_points(FIRST, SECOND, RATES, critical=Q)
    assert found["relevant"].significance == pytest.approx(0.0035, abs=1.5e-4)
    assert found["relevant"].difference == pytest.approx(0.015, abs=5e-4)
    assert found == tipping_points(SECOND, FIRST, RATES, critical=Q)
    assert (
        "0.34 points apart between the systems take the significance away, 1.5 points" in found["relevant"].description
    )


def test_rates_that_far_apart_make_the_difference_just_not_significant_or_nothing() -> None:
    found = tipping_points(FIRST, SECOND, RATES, critical=Q)
    for name, point in found.items():
        assert t(FIRST, SECOND, RATES, **{name: point.significance}) == pytest.approx(Q, abs=1e-9)  # type: ignore[arg-type]
        assert t(FIRST, SECOND, RATES, **{name: point.difference}) == pytest.approx(0, abs=1e-9)  # type: ignore[arg-type]


@given(st.floats(0.3, 0.45), st.floats(0.02, 0.2), st.integers(200, 5000), st.floats(0.8, 0.95), st.floats(0.8, 0.95))
def test_the_same_in_other_worlds(mean: float, apart: float, queries: int, right: float, wrong: float) -> None:
    lower, higher = (BronzeScore(mean=one, sd=0.3, queries=queries) for one in (mean, mean + apart))
    rates = Rates(relevant=right, nonrelevant=wrong)
    for name, point in tipping_points(lower, higher, rates, critical=Q).items():
        if point.significance:
            assert t(lower, higher, rates, **{name: point.significance}) == pytest.approx(Q, abs=1e-6)
            assert point.difference is None or point.difference >= point.significance
        elif point.significance == 0:
            assert t(lower, higher, rates) <= Q + 1e-9
        if point.difference:
            assert t(lower, higher, rates, **{name: point.difference}) == pytest.approx(0, abs=1e-6)


def test_what_is_not_significant_has_nothing_to_lose() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.4, queries=30) for mean in (0.5, 0.52))
    found = tipping_points(first, second, RATES, critical=Q)
    assert found["relevant"].significance == 0
    assert "explain all of the difference" in found["relevant"].description
    same = tipping_points(first, first, RATES, critical=Q)
    assert same["relevant"] == TippingPoint(significance=0.0, difference=0.0)


def test_what_no_rate_can_do_is_none() -> None:
    # The lower score is below what even a system without a relevant document would get.
    first, second = (BronzeScore(mean=mean, sd=0.1, queries=5000) for mean in (0.05, 0.6))
    found = tipping_points(first, second, Rates(relevant=0.9, nonrelevant=0.9), critical=Q)
    assert found["relevant"].difference is None
    assert TippingPoint(significance=None, difference=None).description == "no rates explain the difference"


def test_systems_that_share_queries_have_more_to_lose() -> None:
    first, second = (BronzeScore(mean=mean, sd=0.3, queries=100) for mean in (0.4, 0.5))
    alone, paired = (tipping_points(first, second, RATES, covariance=c, critical=Q) for c in (0.0, 0.0008))
    assert paired["relevant"].significance > alone["relevant"].significance  # type: ignore[operator]
    assert paired["relevant"].difference == alone["relevant"].difference
