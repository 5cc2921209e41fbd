"""The ceiling by draws."""

from __future__ import annotations

import numpy as np
import pytest

from judges.ceiling.oracle import discounts
from ringtrue.judges.ceiling.exact_dcg import exact_dcg
from ringtrue.judges.ceiling.label_counts import ideal_dcg
from ringtrue.judges.ceiling.monte_carlo import simulated_dcg

GAIN = np.array([0.0, 1, 3, 7])
MATRIX = np.array([[0.7, 0.2, 0.1, 0], [0.3, 0.4, 0.2, 0.1], [0.1, 0.2, 0.5, 0.2], [0, 0.1, 0.3, 0.6]])


@pytest.mark.simulation
def test_draws_are_within_four_standard_errors_of_the_exact_ceiling() -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(60, [0.6, 0.2, 0.15, 0.05], 40)
    for k in (None, 5):
        mean, error = simulated_dcg(counts, MATRIX, GAIN, k=k, draws=4_000, rng=rng)
        off = (mean - exact_dcg(counts, MATRIX, GAIN, k=k)) / error
        assert np.abs(off).max() < 4
        assert np.sqrt((off**2).mean()) == pytest.approx(1, abs=0.3)  # and the errors are what they say


def test_no_draw_is_of_a_label_that_cannot_be() -> None:
    thirds = np.full((3, 3), 1 / 3)  # in floats they add up to less than 1
    thirds[:, 2] = 0
    thirds /= thirds.sum(axis=1, keepdims=True)
    identity = np.eye(3)
    counts = np.array([[3, 2, 1]])
    mean, error = simulated_dcg(counts, identity, GAIN[:3], draws=50, rng=np.random.default_rng(0))
    assert mean == pytest.approx(ideal_dcg(counts, GAIN[:3]))
    assert error == pytest.approx([0], abs=1e-12)
    mean, _ = simulated_dcg(counts, thirds, GAIN[:3], draws=20_000, rng=np.random.default_rng(0))
    assert mean == pytest.approx(np.mean(discounts(6, None)) * (counts @ GAIN[:3]), rel=0.02)


def test_the_same_seed_gives_the_same_draws() -> None:
    counts = np.array([[5, 4, 3, 2]])
    one, other = (simulated_dcg(counts, MATRIX, GAIN, draws=10, rng=np.random.default_rng(3))[0] for _ in "ab")
    assert one.tolist() == other.tolist()


@pytest.mark.simulation
def test_a_sort_that_keeps_the_order_of_ties_is_wrong_by_several_hundredths() -> None:
    """What must not be done: on input sorted by the testing label, it inflates or deflates, as the input is sorted."""
    counts, rng = np.array([60, 30, 20, 10]), np.random.default_rng(0)
    labels = np.repeat(np.arange(4), counts)
    discount, ideal = np.array(discounts(120, None)), ideal_dcg(counts[None], GAIN)[0]
    true = exact_dcg(counts[None], MATRIX, GAIN)[0] / ideal

    def kept_in_order(testing: np.ndarray) -> float:
        found = []
        for _ in range(300):
            training = np.array([rng.choice(4, p=MATRIX[label]) for label in testing])
            found.append(GAIN[testing[np.argsort(-training, kind="stable")]] @ discount / ideal)
        return float(np.mean(found))

    assert kept_in_order(labels[::-1]) > true + 0.03
    assert kept_in_order(labels) < true - 0.03
