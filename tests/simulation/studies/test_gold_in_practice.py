"""A new family of runs, and lost labels: the studies in a small world, and the promises on real judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from replications import short_and_long
from ringtrue.evaluation.measures import parse
from ringtrue.simulation.studies.gold_in_practice import (
    find_new_family,
    run_families,
    study_lost_labels,
    study_new_family,
)
from ringtrue.simulation.studies.real_judges import build_world
from simulation.studies.test_real_judges import DCG, GOOD, PRECISION, WEAK, judged, real, small, study

BY_OLD_LABELS = "by the old 60 labels"


def test_families_by_the_letters_that_names_begin_with() -> None:
    assert run_families(["a-1", "a-2", "b", "7x"]) == {"a": [0, 1], "b": [2], "7x": [3]}


def test_the_new_family_is_the_one_with_most_documents_of_its_own() -> None:
    collection, bronze = small()
    world = build_world(collection, bronze, parse("P@5"), budget=60, compare=False)
    family = find_new_family(world)
    assert family is not None
    shown = world.weights.toarray() > 0
    own = {name: sum(shown[run] & (shown.sum(axis=0) == 1)) for run, name in enumerate(world.pool.runs)}
    assert family.name == max(own, key=lambda name: own[name])
    assert family.unseen.sum() == own[family.name]


def test_a_line_with_and_without_the_extension() -> None:
    collection, bronze = small(wrong=0.1)
    extended, alone = study_new_family(
        study(collection, bronze, draws=20), "P@5", budget=60, extension=20, rng=np.random.default_rng(1)
    )
    assert extended.method.endswith("by 20 labels")
    assert alone.method.endswith(BY_OLD_LABELS)
    assert (extended.runs, alone.runs, extended.draws) == (3, 1, 20)
    assert extended.coverage > 0.8


def test_lost_labels_have_bounds_that_hold_more_than_the_interval() -> None:
    collection, bronze = small(wrong=0.1)
    bounds, interval = study_lost_labels(
        study(collection, bronze, draws=20), "P@5", budget=80, rng=np.random.default_rng(1)
    )
    assert (bounds.method, interval.method) == ("bounds, 4 of 80 labels lost", "interval, the same labels lost")
    assert bounds.coverage >= interval.coverage
    assert bounds.width is not None
    assert bounds.width > 1


@pytest.mark.real
@pytest.mark.simulation
@short_and_long("draws", 25, 60)
@pytest.mark.parametrize("measure", [PRECISION, DCG])
@pytest.mark.parametrize("judge", [GOOD, WEAK])
def test_promises_on_real_judges(data: Path, judge: str, measure: str, draws: int) -> None:
    """93 to 97% with the extension, 97% or more for bounds; within four standard errors of so many draws of all runs.

    Runs of a draw err alike, and count as two independent ones here.
    """
    folder = data / "dl19"
    one = study(real(folder), judged(folder, judge), judge=judge, draws=draws)
    extended, _ = study_new_family(one, measure, budget=200, extension=60, rng=np.random.default_rng(1))
    assert 0.95 - 4 * np.sqrt(0.05 * 0.95 / (2 * draws)) < extended.coverage
    bounds, interval = study_lost_labels(one, measure, budget=200, rng=np.random.default_rng(2))
    assert bounds.coverage > 0.97 - 4 * np.sqrt(0.03 * 0.97 / (2 * draws))
    assert interval.coverage < 0.9  # that is why there are bounds
