"""The closed form: near the exact ceiling for long lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ringtrue.judges.ceiling.exact_dcg import exact_dcg
from ringtrue.judges.ceiling.label_counts import ideal_dcg
from ringtrue.judges.ceiling.normal_approximation import closed_form_dcg


def worst(n: int, seed: int, worlds: int) -> float:
    rng, found = np.random.default_rng(seed), [0.0]
    for _ in range(worlds):
        size = int(rng.integers(2, 6))
        blur = rng.random()
        matrix = blur * rng.dirichlet(np.full(size, rng.choice([0.2, 1, 3])), size) + (1 - blur) * np.eye(size)
        counts, gain = rng.multinomial(n, rng.dirichlet(np.ones(size)), 1), 2.0 ** np.arange(size) - 1
        if counts[0, 1:].sum() >= 5:
            apart = closed_form_dcg(counts, matrix, gain) - exact_dcg(counts, matrix, gain)
            found.append(abs(apart[0]) / ideal_dcg(counts, gain)[0])
    return max(found)


@settings(max_examples=15)
@given(st.integers(50, 150), st.integers(0, 2**32 - 1))
def test_with_fifty_documents_and_five_of_some_worth_it_is_right_to_two_hundredths(n: int, seed: int) -> None:
    assert worst(n, seed, worlds=8) < 0.02


def test_with_five_hundred_it_is_right_to_two_thousandths() -> None:
    assert worst(500, 0, worlds=15) < 0.002


def test_with_one_document_of_any_worth_it_may_be_a_little_further_off() -> None:
    counts, gain, matrix = np.array([[73, 1]]), np.array([0.0, 1.0]), np.array([[0.993, 0.007], [0.007, 0.993]])
    assert abs(closed_form_dcg(counts, matrix, gain) - exact_dcg(counts, matrix, gain))[0] == pytest.approx(
        0.022, abs=0.002
    )


@pytest.mark.parametrize("k", [None, 10])
def test_a_judge_who_says_the_same_is_no_bound_here_either(k: int | None) -> None:
    counts, gain = np.array([[40, 20, 3]]), np.array([0.0, 1, 3])
    assert closed_form_dcg(counts, np.eye(3), gain, k=k) == pytest.approx(ideal_dcg(counts, gain, k=k), rel=1e-9)


def test_a_judge_who_always_says_one_label_is_a_random_order_here_too() -> None:
    counts, gain = np.array([[40, 20, 3]]), np.array([0.0, 1, 3])
    matrix = np.tile([0.0, 1.0, 0.0], (3, 1))
    assert closed_form_dcg(counts, matrix, gain) == pytest.approx(exact_dcg(counts, matrix, gain), rel=1e-9)


def test_the_moments_are_those_of_the_numbers_above_and_beside_a_document() -> None:
    """μ and Σ of the paper against draws of the labels, for one i and j."""
    rng = np.random.default_rng(0)
    matrix = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    counts, i, j = np.array([30, 20, 10]), 1, 1
    others = np.repeat(np.arange(3), counts - (np.arange(3) == i))
    drawn = (rng.random((40_000, 59, 1)) > matrix.cumsum(axis=1)[others, :-1]).sum(axis=2)
    s, t = (drawn == j).sum(axis=1), (drawn >= j).sum(axis=1)
    a, c = matrix[:, j:].sum(axis=1), matrix[:, j]
    expected = [counts @ of - of[i] for of in (a, c, a * (1 - a), c * (1 - c), c * (1 - a))]
    found = [t.mean(), s.mean(), t.var(), s.var(), np.cov(t, s)[0, 1]]
    assert found == pytest.approx(expected, rel=0.03)
