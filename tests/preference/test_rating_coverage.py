"""Intervals of ratings hold the truth as often as they say, and those that do not are not given."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.preference.rating_methods import RatingSettings
from ringtrue.simulation.studies.rating_coverage import (
    INTERVALS,
    NEVER_FIT,
    SETTINGS,
    UNFIT,
    RatingCoverage,
    coverage_of_ratings,
)
from ringtrue.simulation.worlds.compared_topics import PreferenceWorld, simulate_topics


@cache
def held(setting: str, replications: int) -> dict[str, RatingCoverage]:
    found = coverage_of_ratings(np.random.default_rng(11), [setting], replications=replications)
    return {one.interval: one for one in found}


def within(one: RatingCoverage, low: float, high: float) -> bool:
    """Whether the coverage lies in this range, with room for three standard errors on both sides."""
    return low - 3 * one.se <= one.coverage <= high + 3 * one.se


@pytest.mark.simulation
def test_intervals_of_bradley_terry_hold_the_truth_as_often_as_they_say() -> None:
    many, few = held("many votes", 100), held("few votes", 100)
    assert within(many["laplace"], 0.95, 0.965)
    assert within(few["laplace"], 0.955, 0.975)


@pytest.mark.simulation
def test_the_bootstrap_nearly_holds_with_many_votes() -> None:
    assert within(held("many votes", 100)["bootstrap"], 0.92, 0.95)


@pytest.mark.simulation
def test_with_many_ties_davidsons_intervals_hold_and_half_wins_do_not() -> None:
    ties = held("ties", 100)
    assert within(ties["davidson"], 0.945, 0.965)
    assert ties["laplace"].coverage < 0.85


@pytest.mark.simulation
@pytest.mark.parametrize("setting", ["bad workers", "more bad workers"])
def test_among_bad_workers_intervals_hold_where_judges_are_rated_too(setting: str) -> None:
    found = held(setting, 30)
    assert within(found["sensitivity"], 0.94, 0.97)
    if "laplace" in found:
        assert found["laplace"].coverage < 0.75


@pytest.mark.simulation
def test_of_glicko_only_a_wide_one_comes_near_and_only_after_one_pass() -> None:
    for setting in ("many votes", "few votes"):
        found = held(setting, 100)
        assert within(found["glicko, 175²"], 0.915, 0.955)
        assert found["glicko, 10"].coverage < 0.1
        assert within(found["glicko, 175², 20 passes"], 0.28, 0.36)


@pytest.mark.simulation
def test_the_ridge_pulls_documents_that_stand_out_inwards_and_a_smaller_one_does_not() -> None:
    grades, far = held("grades", 40), held("far apart", 40)
    assert within(grades["laplace"], 0.905, 0.93)
    assert grades["laplace"].best < 0.8
    assert within(grades["laplace, ridge .05"], 0.94, 0.965)
    assert far["laplace"].coverage < 0.9
    assert within(far["laplace, ridge .05"], 0.93, 0.965)


def test_no_interval_is_given_that_does_not_hold_for_any_votes() -> None:
    rng = np.random.default_rng(0)
    from ringtrue.preference.pair_designs import choose_seed_pairs

    topics = simulate_topics(PreferenceWorld(topics=1, docs=10), rng)
    votes = topics.collect_votes(topics.unvoted, choose_seed_pairs(topics.unvoted, votes=4, budget=None, rng=rng), rng)
    for name in NEVER_FIT:
        rated = INTERVALS[name].rate_votes(votes)
        assert rated.low is None
        assert rated.notes


def test_every_setting_and_interval_has_a_name_that_is_known() -> None:
    assert {name for one in SETTINGS.values() for name in one.intervals} == set(INTERVALS)
    assert {(setting, name) for setting, one in SETTINGS.items() for name in one.intervals} >= UNFIT
    assert all(isinstance(one, RatingSettings) for one in INTERVALS.values())


def test_one_replication_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        coverage_of_ratings(np.random.default_rng(0), replications=1)
    assert refused.value.code == "study-too-small"
