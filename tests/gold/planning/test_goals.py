"""How far a variance serves: half-widths and the power of the paired t test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats
from scipy.integrate import simpson
from statsmodels.stats.power import TTestPower

from gold.refusals import refuses
from ringtrue.errors import UsageError
from ringtrue.gold.planning.goals import Goal, needed_ratio, power, require_share
from ringtrue.messages import Suggestion


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
    ("asked", "code", "parameter"),
    [
        ({"half_width": 0.0}, "not-a-share", "half_width"),
        ({"half_width": -0.1}, "not-a-share", "half_width"),
        ({"half_width": 5.0}, "not-a-share", "half_width"),
        ({"half_width": 0.5}, "half-width-too-wide", "half_width"),
        ({"half_width": float("nan")}, "not-a-share", "half_width"),
        ({"difference": 1.0}, "not-a-share", "difference"),
        ({"difference": 0.1, "power": 0.05}, "bad-power", "power"),
        ({"difference": 0.1, "power": 1.0}, "bad-power", "power"),
        ({"difference": 0.1, "power": 80.0}, "bad-power", "power"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, float], code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        Goal(**asked)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)
    assert f"{next(reversed(asked.values())):g}" in refused.value.text


def test_a_level_of_95_is_refused() -> None:
    with refuses(UsageError, "bad-level"):
        Goal(half_width=0.1, level=95.0)


def test_a_percentage_is_understood_and_its_share_suggested() -> None:
    require_share("a score", 0.626, parameter="score")
    with pytest.raises(UsageError) as refused:
        require_share("a score", 62.6, parameter="score")
    assert refused.value.note.suggestions == (Suggestion("is 62.6%", score=0.626),)
    with pytest.raises(UsageError) as refused:
        require_share("a score", 626, parameter="score")
    assert refused.value.note.suggestions == ()


LEVELS = [0.5, 0.9, 0.95, 0.99, 0.9999]


def at(ratio: float, df: float, level: float) -> float:
    t = special.stdtrit(df, (1 + level) / 2)
    return float(power(np.array([ratio]), np.array([df]), np.array([t]))[0])


def integrate(ratio: float, df: float, t: float) -> float:
    """∫ P(t S < δ + z) φ(z) dz with S² = χ²_df / df, by Simpson's rule."""
    z = np.linspace(max(-ratio, -12), 12, 20_001)
    exceedance = special.gammainc(df / 2, df * ((ratio + z) / t) ** 2 / 2)
    return float(simpson(exceedance * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), x=z))


@pytest.mark.parametrize("level", [0.6, *LEVELS[1:]])
@pytest.mark.parametrize(
    "df", [1, 4, 29, 300, *(pytest.param(df, marks=pytest.mark.slow) for df in (2, 3, 7, 12, 59, 99, 1000))]
)
def test_power_is_the_integral_over_the_mean(df: float, level: float) -> None:
    t = float(special.stdtrit(df, (1 + level) / 2))
    ratios = [*np.linspace(0, 12, 25), t, t + 1, t + 3, 20, 34, 37, 38, 45, 60, 300]
    expected = [integrate(ratio, df, t) for ratio in ratios]
    assert power(np.array(ratios), np.array([df]), np.array([t])) == pytest.approx(expected, abs=3e-8)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("df", [1, 2, 3, 5, 9, 29, 99, 1e4, 1e7])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 1, 2, 3, 5])
def test_power_is_scipys(ratio: float, df: float, level: float) -> None:
    theirs = stats.nct.sf(stats.t.ppf((1 + level) / 2, df), df, ratio)
    assert at(ratio, df, level) == pytest.approx(theirs, abs=1e-8)


# By Gauss–Legendre quadrature with 96 nodes, as this was computed before.
BY_QUADRATURE = {
    (1, 0.5, 0.95): 0.043694440429, (1, 0.5, 0.99): 0.008745314813, (1, 2.0, 0.95): 0.125223497498,
    (1, 2.0, 0.99): 0.025167550953, (1, 3.5, 0.95): 0.216385356515, (1, 3.5, 0.99): 0.043842838671,
    (1, 6.0, 0.95): 0.362183992955, (1, 6.0, 0.99): 0.075084590297, (4, 0.5, 0.95): 0.058763575036,
    (4, 0.5, 0.99): 0.012741863281, (4, 2.0, 0.95): 0.335810930364, (4, 2.0, 0.99): 0.100945144493,
    (4, 3.5, 0.95): 0.744869598446, (4, 3.5, 0.99): 0.341829555163, (4, 6.0, 0.95): 0.990958428070,
    (4, 6.0, 0.99): 0.816563996465, (29, 0.5, 0.95): 0.069932929827, (29, 0.5, 0.99): 0.017710689962,
    (29, 2.0, 0.95): 0.489487828846, (29, 2.0, 0.99): 0.245448402887, (29, 3.5, 0.95): 0.922481821522,
    (29, 3.5, 0.99): 0.764929860501, (29, 6.0, 0.95): 0.999936515317, (29, 6.0, 0.99): 0.998917132061,
    (59, 0.5, 0.95): 0.071045585694, (59, 0.5, 0.99): 0.018323916622, (59, 2.0, 0.95): 0.502965586182,
    (59, 2.0, 0.99): 0.263770266972, (59, 3.5, 0.95): 0.930898552505, (59, 3.5, 0.99): 0.795385913582,
    (59, 6.0, 0.95): 0.999959276814, (59, 6.0, 0.99): 0.999426334682, (999, 0.5, 0.95): 0.072083980473,
    (999, 0.5, 0.99): 0.018916533968, (999, 2.0, 0.95): 0.515201273417, (999, 2.0, 0.99): 0.281244267077,
    (999, 3.5, 0.95): 0.937812853702, (999, 3.5, 0.99): 0.820784059289, (999, 6.0, 0.95): 0.999972612671,
    (999, 6.0, 0.99): 0.999680145024,
}  # fmt: skip


@pytest.mark.parametrize(("df", "ratio", "level"), BY_QUADRATURE)
def test_power_is_what_it_was_by_quadrature(df: float, ratio: float, level: float) -> None:
    assert at(ratio, df, level) == pytest.approx(BY_QUADRATURE[df, ratio, level], abs=1e-10)


@pytest.mark.parametrize(("df", "ratio"), [(5, 50.31926191221873), (29, 40.59619375484743), (1e9, 37.947379943784455)])
def test_power_is_1_where_scipy_has_no_number(df: float, ratio: float) -> None:
    assert np.isnan(special.nctdtr(df, ratio, special.stdtrit(df, 0.975)))
    assert at(ratio, df, 0.95) == 1


@pytest.mark.parametrize("ratio", [9_999.0, 10_001.0, 6_366.2, 30_000.0])
def test_large_ratios_join_without_a_step(ratio: float) -> None:
    t = 6366.197671316637  # df = 1 at a level of 0.9999
    share = 2 * special.ndtr(ratio / t) - 1
    assert at(ratio, 1, 0.9999) == pytest.approx(share, abs=2e-8)


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
    assert float(power(ratio, np.array([df]), t)[0]) == pytest.approx(wanted, abs=1e-7)  # SciPy has about eight digits


@given(ratio=st.floats(0, 20), more=st.floats(0.001, 5), df=st.floats(1, 1e6))
def test_a_larger_difference_is_found_no_less_often(ratio: float, more: float, df: float) -> None:
    assert at(ratio + more, df, 0.95) >= at(ratio, df, 0.95) - 1e-10
