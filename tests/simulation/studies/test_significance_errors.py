"""Worlds of runs whose true difference is known."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.simulation import error_rates, miss_rates, paired_scores, system_scores
from ringtrue.simulation.studies.significance_errors import SCORE_SHAPES, MeasureKind

EVERY_KIND = pytest.mark.parametrize("kind", SCORE_SHAPES)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@EVERY_KIND
@pytest.mark.parametrize("lopsided", [False, True])
def test_the_true_difference_is_the_effect(kind: MeasureKind, lopsided: bool) -> None:
    first, second = paired_scores(rng(), queries=100, replications=2_000, effect=0.05, kind=kind, lopsided=lopsided)
    apart = first - second
    assert abs(apart.mean() - 0.05) < 4 * apart.std() / np.sqrt(apart.size)
    assert abs(second.mean() - SCORE_SHAPES[kind].mean) < 0.005


@EVERY_KIND
def test_values_are_those_that_the_measure_can_have(kind: MeasureKind) -> None:
    values = system_scores(rng(), queries=50, replications=20, effects=(0, 0.1), kind=kind)
    assert np.isin(values, SCORE_SHAPES[kind].grid).all()


@EVERY_KIND
def test_queries_are_hard_or_easy_for_both_runs(kind: MeasureKind) -> None:
    first, second = paired_scores(rng(), queries=100, replications=500, kind=kind)
    shape = SCORE_SHAPES[kind]
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] == pytest.approx(shape.correlation, abs=0.08)
    assert first.std() == pytest.approx(shape.sd, abs=0.04)


@pytest.mark.parametrize(("kind", "share"), [("P@10", 0.2), ("RR", 0.4)])
def test_runs_tie_often_on_a_coarse_measure(kind: MeasureKind, share: float) -> None:
    first, second = paired_scores(rng(), queries=100, replications=500, kind=kind)
    assert share < (first == second).mean() < 0.6


@EVERY_KIND
def test_without_effect_runs_could_be_swapped_and_lopsided_ones_could_not(kind: MeasureKind) -> None:
    first, second = paired_scores(rng(), queries=100, replications=1_000, kind=kind)
    odds = (first > second).sum() / (first < second).sum()
    assert odds == pytest.approx(1, abs=0.03)
    first, second = paired_scores(rng(), queries=100, replications=1_000, kind=kind, lopsided=True)
    largest = np.sort(np.abs(first - second).ravel())[-1_000]
    helped, hurt = (first - second >= largest).sum(), (second - first >= largest).sum()
    assert helped > hurt


def test_the_same_seed_makes_the_same_world() -> None:
    one, two = (system_scores(rng(), queries=10, replications=3, effects=(0, 0.1, 0.2)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    one, two = (error_rates(rng(), queries=10, replications=50, resamples=200) for _ in range(2))
    assert one == two


def test_an_interval_that_promises_more_misses_less_often() -> None:
    usual, sure = (miss_rates(rng(), queries=30, replications=200, resamples=500, level=level) for level in (0.8, 0.99))
    assert all(sum(sure[method]) < sum(usual[method]) for method in usual)


@pytest.mark.parametrize("effect", [-0.1, 0.4, 0.9])
def test_an_effect_that_leaves_the_scale_is_refused(effect: float) -> None:
    with pytest.raises(UsageError) as refused:
        paired_scores(rng(), queries=10, replications=1, effect=effect)
    assert refused.value.code == "effect-out-of-range"


def test_a_world_too_small_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        paired_scores(rng(), queries=1, replications=5)
    assert refused.value.code == "study-too-small"


def test_a_kind_or_a_test_that_nobody_knows_is_refused_with_the_near_miss() -> None:
    with pytest.raises(UsageError) as refused:
        paired_scores(rng(), queries=10, replications=1, kind="nDGC")  # type: ignore[arg-type]
    assert refused.value.code == "unknown-choice"
    with pytest.raises(UsageError) as refused:
        error_rates(rng(), queries=10, replications=1, tests=["wilcoxson"])
    assert refused.value.code == "unknown-choice"
