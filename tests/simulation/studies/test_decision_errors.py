"""Tests between two systems keep their level, each in the world that it is made for."""

from __future__ import annotations

import numpy as np
import pytest

from replications import short_and_long
from ringtrue.errors import UsageError
from ringtrue.simulation.studies.decision_errors import (
    COMPARISON_SETTINGS,
    TESTS,
    ComparisonSetting,
    decision_error_rates,
    detection_rate,
)

WHOLE_QUERIES = "difference, whole queries"

BY_NAME = {(one.setting, one.test, one.measure): one for one in COMPARISON_SETTINGS}


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def highest_level(replications: int) -> float:
    """Three standard errors above 5%."""
    return float(0.05 + 3 * np.sqrt(0.05 * 0.95 / replications))


def lowest_level(replications: int) -> float:
    """Three standard errors below 5%."""
    return 0.1 - highest_level(replications)


def false_alarms(setting: str, test: str, measure: str = "P@10", *, replications: int, seed: int = 7) -> float:
    return detection_rate(rng(seed), BY_NAME[setting, test, measure], effect=0.0, replications=replications)


@pytest.mark.simulation
@short_and_long("replications", 150, 400)
def test_the_difference_estimator_keeps_its_level_also_if_the_judge_favours_one(replications: int) -> None:
    settings = (
        ("errs alike", "difference", "P@10"),
        ("favours one", "difference", "DCG@10"),
        ("favours one", "difference, random draw", "P@10"),
    )
    found = [false_alarms(*one, seed=seed, replications=replications) for seed, one in enumerate(settings)]
    assert all(share <= highest_level(replications) for share in found), found
    assert lowest_level(3 * replications) <= np.mean(found) <= highest_level(3 * replications)


@pytest.mark.simulation
@short_and_long("replications", 800, 2_000)
@pytest.mark.parametrize("setting", ["errs alike", "favours one"])
@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_whole_queries_keep_their_level_also_if_the_judge_favours_one(
    setting: str, measure: str, replications: int
) -> None:
    share = false_alarms(setting, WHOLE_QUERIES, measure, replications=replications)
    assert lowest_level(replications) <= share <= highest_level(replications)


@pytest.mark.simulation
@short_and_long("replications", 800, 2_000)
@pytest.mark.parametrize(
    ("setting", "test"),
    [
        ("errs alike", "shared judge"),
        ("a judge for each", "separate judges"),
        ("a judge for each", "separate judges, other queries"),
        ("errs alike", "naive"),
    ],
)
def test_each_test_by_the_judges_rates_keeps_its_level_in_its_own_setting(
    setting: str, test: str, replications: int
) -> None:
    share = false_alarms(setting, test, replications=replications)
    assert lowest_level(replications) <= share <= highest_level(replications)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("setting", "test"), [("favours one", "naive"), ("favours one", "shared judge"), ("a judge for each", "naive")]
)
def test_bronze_scores_alone_are_misled_by_a_judge_who_favours_one(setting: str, test: str) -> None:
    one = BY_NAME[setting, test, "P@10"]
    assert not one.promised
    assert detection_rate(rng(), one, effect=0.0, replications=500) > 0.4


@pytest.mark.simulation
def test_the_published_test_on_one_sample_finds_next_to_nothing_where_others_do() -> None:
    shared, published = (
        decision_error_rates(rng(), [BY_NAME["errs alike", test, "P@10"]], replications=500)[0]
        for test in ("shared judge", "independent")
    )
    assert shared.power > 0.6
    assert published.power < 0.1
    assert published.type_one < 0.005


@pytest.mark.simulation
@short_and_long("replications", 120, 300)
def test_gold_drawn_for_the_comparison_finds_more_than_a_random_draw(replications: int) -> None:
    drawn, at_random = (
        detection_rate(rng(), BY_NAME["favours one", test, "P@10"], effect=0.1, replications=replications)
        for test in ("difference", "difference, random draw")
    )
    assert drawn > 0.7
    assert drawn > at_random


def test_every_test_has_a_setting_that_it_is_made_for_but_the_published_one() -> None:
    assert {one.test for one in COMPARISON_SETTINGS} == set(TESTS)
    assert set(TESTS) - {one.test for one in COMPARISON_SETTINGS if one.promised} == {"independent"}


@pytest.mark.slow
def test_a_row_tells_setting_test_and_both_shares_and_progress_is_told() -> None:
    told: list[int] = []
    rows = decision_error_rates(rng(), COMPARISON_SETTINGS, replications=3, progress=told.append)
    assert len(rows) == len(COMPARISON_SETTINGS)
    assert sum(told) == 2 * 3 * 50 * len(COMPARISON_SETTINGS)
    assert list(rows[0].as_dict()) == [
        "setting", "test", "measure", "queries", "gold", "replications", "type_one", "power", "promised",
    ]  # fmt: skip
    assert decision_error_rates(rng(), COMPARISON_SETTINGS[-2:], replications=20) == decision_error_rates(
        rng(), COMPARISON_SETTINGS[-2:], replications=20
    )


def test_a_test_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError):
        decision_error_rates(rng(), [ComparisonSetting(setting="any", test="guess")], replications=3)
    with pytest.raises(UsageError) as refused:
        decision_error_rates(rng(), COMPARISON_SETTINGS[-1:], replications=0)
    assert refused.value.code == "study-too-small"
