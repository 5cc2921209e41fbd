"""Plans carried out in worlds with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.simulation.studies.plan_accuracy import SETTINGS, PlanSetting, planned_against_achieved

WITHIN = 0.1


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.slow
def test_a_row_for_each_setting_and_method() -> None:
    rows = planned_against_achieved(rng(), settings=[SETTINGS[0], SETTINGS[5]], replications=20)
    assert [(row["setting"], row["method"]) for row in rows] == [
        *(("usual judge", name) for name in ("gold", "gold sample", "difference", "stratified", "confusion")),
        *(("a difference, usual judge", name)
          for name in ("gold", "gold sample", "difference", "stratified", "shared judge")),
    ]  # fmt: skip
    assert list(rows[0]) == ["setting", "method", "asked", "achieved", "ratio"]
    assert all(row["ratio"] == pytest.approx(row["achieved"] / row["asked"]) for row in rows)
    assert {row["asked"] for row in rows} == {0.05, 0.8}


def test_the_same_seed_gives_the_same_study() -> None:
    one, two = (planned_against_achieved(rng(), settings=SETTINGS[:1], replications=10) for _ in range(2))
    assert one == two


def test_a_method_that_cannot_reach_the_goal_has_no_row() -> None:
    few = PlanSetting(name="few", half_width=0.05, queries=120, icc=0.2)
    assert "confusion" not in [row["method"] for row in planned_against_achieved(rng(), settings=[few], replications=5)]


@pytest.mark.parametrize("goal", [{"half_width": 0.05}, {"difference": 0.1}])
@pytest.mark.parametrize("accuracy", [(0.6, 1.0), (1.0, 0.6)])
def test_a_judge_who_never_errs_one_way_leaves_nothing_undefined(
    goal: dict[str, float], accuracy: tuple[float, float]
) -> None:
    flawless = PlanSetting(name="flawless one way", accuracy=accuracy, prevalence=0.3, **goal)
    rows = planned_against_achieved(rng(), settings=[flawless], replications=50)
    assert {"difference", "stratified"} <= {row["method"] for row in rows}
    assert all(np.isfinite(row["achieved"]) for row in rows)
    assert all(0.5 < row["ratio"] < 1.5 for row in rows)


def test_a_study_needs_replications() -> None:
    with pytest.raises(UsageError) as refused:
        planned_against_achieved(rng(), replications=1)
    assert refused.value.code == "study-too-small"


@pytest.mark.simulation
def test_every_plan_achieves_what_was_asked_within_a_tenth() -> None:
    # 80% of 500 have a standard error of 1.8 points: a tenth is more than four of them, and 68% for 80% are seen.
    rows = planned_against_achieved(rng(), replications=500)
    assert len(rows) == 5 * len(SETTINGS)
    assert {
        (row["setting"], row["method"]): row["ratio"] for row in rows if abs(float(row["ratio"]) - 1) > WITHIN
    } == {}
