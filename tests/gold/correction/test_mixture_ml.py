from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from ringtrue.errors import UsageError
from ringtrue.gold.correction.mixture_ml import fit_grade_shares

Array = NDArray[np.float64]
MATRIX = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])


def random_case(seed: int, *, spread: float = 1.0) -> tuple[Array, Array]:
    """Counts and a matrix of two to five gold labels, with as many bronze labels or more."""
    rng = np.random.default_rng(seed)
    grades = int(rng.integers(2, 6))
    labels = grades + int(rng.integers(0, 3))
    matrix = rng.dirichlet(np.full(labels, spread), grades)
    return rng.multinomial(300, rng.dirichlet(np.full(grades, 0.5)) @ matrix).astype(float), matrix


def likelihood(shares: Array, counts: Array, matrix: Array) -> float:
    """The mean log likelihood."""
    seen = counts > 0
    return float(counts[seen] @ np.log((shares @ matrix)[seen]) / counts.sum())


def test_a_share_that_inverting_makes_negative_is_zero() -> None:
    # 5 of 100 is less than the 10 of 100 that the second grade alone gives rise to.
    assert fit_grade_shares([5, 95], [[0.8, 0.2], [0.1, 0.9]]).shares == pytest.approx([0, 1], abs=1e-9)


@given(st.lists(st.floats(0.001, 1), min_size=3, max_size=3))
def test_counts_that_are_exactly_a_mixture_give_its_shares_back(weights: list[float]) -> None:
    shares = np.array(weights) / sum(weights)
    found = fit_grade_shares(1000 * shares @ MATRIX, MATRIX)
    assert found.converged
    assert found.shares == pytest.approx(shares, abs=2e-5)


def test_more_bronze_labels_than_gold_ones_are_no_trouble() -> None:
    wide = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
    assert fit_grade_shares([0.3, 0.7] @ wide, wide).shares == pytest.approx([0.3, 0.7], abs=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_shares_are_shares_and_no_direction_makes_the_counts_likelier(seed: int) -> None:
    counts, matrix = random_case(seed)
    found = fit_grade_shares(counts, matrix)
    assert found.converged
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    mixed = found.shares @ matrix
    slopes = matrix @ np.divide(counts / counts.sum(), mixed, out=np.zeros_like(mixed), where=counts > 0)
    assert slopes.max() <= 1 + 1e-10


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1000))
def test_only_the_proportions_of_counts_matter(seed: int, factor: float) -> None:
    counts, matrix = random_case(seed)
    once, again = (fit_grade_shares(counts * scale, matrix).shares for scale in (1, factor))
    assert once @ matrix == pytest.approx(again @ matrix, abs=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_a_second_opinion_from_a_general_optimiser(seed: int) -> None:
    counts, matrix = random_case(seed)
    grades = len(matrix)
    other = minimize(
        lambda shares: -likelihood(np.maximum(shares, 1e-12), counts, matrix),
        np.full(grades, 1 / grades),
        method="SLSQP",
        bounds=[(0, 1)] * grades,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    found = fit_grade_shares(counts, matrix).shares
    assert likelihood(found, counts, matrix) >= -other.fun - 1e-9
    assert found @ matrix == pytest.approx(other.x @ matrix, abs=2e-4)


@pytest.mark.parametrize("seed", range(10))
def test_the_em_algorithm_climbs_to_the_same_place(seed: int) -> None:
    counts, matrix = random_case(seed)
    shares = np.full(len(matrix), 1 / len(matrix))
    for _ in range(20_000):
        shares = shares * (matrix @ (counts / counts.sum() / (shares @ matrix)))
    found = fit_grade_shares(counts, matrix).shares
    assert likelihood(found, counts, matrix) >= likelihood(shares, counts, matrix) - 1e-12
    assert likelihood(found, counts, matrix) == pytest.approx(likelihood(shares, counts, matrix), abs=1e-6)
    assert found @ matrix == pytest.approx(shares @ matrix, abs=2e-3)


def test_many_tables_at_once_are_each_as_if_alone() -> None:
    rng = np.random.default_rng(3)
    counts = rng.multinomial(50, [0.5, 0.3, 0.2], (4, 6)).astype(float)
    matrices = rng.dirichlet(np.ones(3), (4, 1, 3))
    together = fit_grade_shares(counts, matrices)
    assert together.shares.shape == (4, 6, 3)
    assert together.converged.all()
    for row, column in np.ndindex(4, 6):
        alone = fit_grade_shares(counts[row, column], matrices[row, 0]).shares
        assert together.shares[row, column] == pytest.approx(alone, abs=1e-9)


def test_where_nothing_was_counted_any_shares_will_do() -> None:
    found = fit_grade_shares(np.zeros(3), MATRIX)
    assert found.shares.sum() == pytest.approx(1)
    assert np.isfinite(found.shares).all()


def test_a_search_cut_short_says_so_and_gives_what_it_has() -> None:
    found = fit_grade_shares([[90, 5, 5], [50, 30, 20]], MATRIX, max_iterations=2)
    assert not found.converged.any()
    assert found.shares.sum(axis=1) == pytest.approx([1, 1])


def test_a_label_that_no_grade_gives_rise_to_is_refused() -> None:
    with pytest.raises(UsageError, match="its column of the matrix is 0"):
        fit_grade_shares([1, 1, 1], [[0.5, 0.5, 0], [0.2, 0.8, 0]])


def test_counts_and_matrix_must_have_the_same_labels() -> None:
    with pytest.raises(UsageError, match="counts of 2 bronze labels do not fit a matrix with 3 columns"):
        fit_grade_shares([1, 1], MATRIX)
