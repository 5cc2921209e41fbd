"""Do intervals of p hold the truth as often as they say? Seeded simulations.

With 300 experiments a coverage of 95% is measured to within a standard error of 1.3 points, with 150 to within 1.8; an
interval fails here when it falls short by more than three of them. A weight is a rising function of p, so that its
interval holds the truth exactly when that of p does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ringtrue.judges.disagreement import disagree, weight
from ringtrue.simulation.studies.agreement_coverage import judged_labels

pytestmark = pytest.mark.simulation

WORLDS: dict[str, dict[str, Any]] = {
    "6 queries of 20": {"queries": 6, "docs": 20},
    "10 queries of 10, high agreement": {"queries": 10, "docs": 10, "noise": 0.25},
    "50 queries of 10": {"queries": 50, "docs": 10},
    "40 documents, no queries": {"queries": None, "docs": 40},
    "25 queries of 40, two judges": {"queries": 25, "docs": 40, "judges": 2, "missing": 0},
}


@pytest.mark.parametrize("replications", [150, pytest.param(300, marks=pytest.mark.study)])
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_hold_the_truth_as_often_as_they_say(world: str, replications: int) -> None:
    rng = np.random.default_rng(1)
    settings = WORLDS[world]
    larger = {"queries": 3_000} if settings["queries"] else {"docs": 60_000}
    truth = disagree(judged_labels(rng, **(settings | larger)), "1/3", resamples=0).p
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(replications):
        found = disagree(judged_labels(rng, **settings), "1/3", resamples=200, keep_lowest=True, rng=rng)
        for name, one in found.p.items():
            value = truth[name].value
            assert value is not None
            if one.low is not None and one.high is not None:
                held[name].append(one.low <= value <= one.high)
                if name != "3":
                    worth = found.weights[name]
                    assert ((worth.low or 0) <= float(weight(value, 1, 3)) <= (worth.high or 0)) == held[name][-1]
    shares = {name: float(np.mean(some)) for name, some in held.items() if len(some) > replications / 2}
    least = 0.95 - 3 * np.sqrt(0.95 * 0.05 / replications)
    assert {name: share for name, share in shares.items() if share < least} == {}
    assert len(shares) >= 3
