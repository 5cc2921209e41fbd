"""The published simulation of a score by a judge who errs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.simulation.studies.goldberg import SHARES, noisy_scores


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_the_shares_are_the_published_ones() -> None:
    assert list(SHARES) == pytest.approx([0.49, 0.47, 0.45, 0.43, 0.41, 0.39, 0.37, 0.35, 0.33, 0.31])


def test_the_naive_intervals_hold_the_truth_in_5_of_100_and_the_corrected_in_95() -> None:
    found = noisy_scores(rng(), replications=10_000)
    assert found.truth == pytest.approx(0.4)
    assert found.coverage["naive"] == pytest.approx(0.05, abs=0.015)
    assert found.coverage["wald"] == pytest.approx(0.95, abs=0.015)
    assert found.coverage["fieller"] == pytest.approx(0.95, abs=0.015)
    assert found.refused == 0


def test_the_naive_scores_are_nearly_all_too_high_and_the_corrected_are_right_on_average() -> None:
    found = noisy_scores(rng(), replications=5_000)
    assert (found.naive > 0.4).mean() > 0.99
    # What the judge calls relevant: 0.4 · 0.9 + 0.6 · 0.2.
    assert found.naive.mean() == pytest.approx(0.48, abs=0.002)
    assert found.corrected.mean() == pytest.approx(0.4, abs=0.003)


def test_a_perfect_judge_needs_no_correction() -> None:
    found = noisy_scores(rng(), replications=2_000, relevant=1.0, nonrelevant=1.0)
    np.testing.assert_allclose(found.naive, found.corrected)
    assert found.coverage["naive"] == pytest.approx(0.95, abs=0.015)


def test_the_histogram_holds_every_score_once_and_rounding_moves_none() -> None:
    found = noisy_scores(rng(), replications=2_000)
    edges, naive, corrected = found.histogram()
    assert (sum(naive), sum(corrected), len(edges)) == (2_000, 2_000, len(naive) + 1)
    assert np.diff(edges) == pytest.approx(0.01)
    place = edges.index(0.48)
    assert naive[place] == ((found.naive > 0.4799999) & (found.naive < 0.4899999)).sum()


def test_a_judge_who_guesses_leaves_scores_anywhere_and_mostly_no_answer() -> None:
    found = noisy_scores(rng(), replications=2_000, relevant=0.5, nonrelevant=0.5)
    assert found.refused > 0.9
    edges, _, corrected = found.histogram()
    assert edges[0] >= -0.21
    assert sum(corrected) == np.isfinite(found.corrected).sum()
    json.dumps(found.as_dict(), allow_nan=False)


def test_the_same_seed_makes_the_same_study_and_progress_is_told() -> None:
    done: list[int] = []
    one, two = (noisy_scores(rng(), replications=3_000, progress=done.append) for _ in range(2))
    assert one.as_dict() == two.as_dict()
    assert sum(done) == 2 * 3_000 * 50 * 10


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"queries": 1}, "2 queries"),
        ({"replications": 0}, "a replication"),
        ({"relevant": 1.2}, "found 1.2"),
        ({"shares": ()}, "a rank"),
    ],
)
def test_a_world_that_cannot_be_is_refused(settings, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        noisy_scores(rng(), **settings)
