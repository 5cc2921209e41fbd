"""Expected measures of orders with ties: every order written out, and by hand."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.evaluation.measures.graded import tied_dcg, tied_gap
from strategies import examples

LABELS = 3
pairs = st.lists(st.tuples(st.integers(0, LABELS - 1), st.integers(0, LABELS - 1)), min_size=1, max_size=6)
shares = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]), min_size=LABELS, max_size=LABELS)


def counted(documents: list[tuple[int, int]]) -> np.ndarray:
    joint = np.zeros((1, LABELS, LABELS), dtype=np.int64)
    for scored, ranked in documents:
        joint[0, scored, ranked] += 1
    return joint


def orders(documents: list[tuple[int, int]]) -> list[list[int]]:
    """The scoring labels in every order that the ranking labels allow."""
    return [
        [scored for scored, _ in order]
        for order in permutations(documents)
        if all(above[1] >= below[1] for above, below in pairwise(order))
    ]


@examples(60)
@given(pairs, shares, st.one_of(st.none(), st.integers(1, 4)))
def test_dcg_is_the_mean_over_every_order_of_what_is_tied(
    documents: list[tuple[int, int]], worth: list[float], k: int | None
) -> None:
    found = [sum(worth[label] / log2(i + 2) for i, label in enumerate(order[:k])) for order in orders(documents)]
    assert tied_dcg(counted(documents), np.array(worth), k=k)[0] == pytest.approx(np.mean(found), abs=1e-12)
    found = [sum(worth[label] / (i + 1) for i, label in enumerate(order[:k])) for order in orders(documents)]
    zipf = tied_dcg(counted(documents), np.array(worth), k=k, discount="zipf")
    assert zipf[0] == pytest.approx(np.mean(found), abs=1e-12)


@examples(60)
@given(pairs, shares)
def test_gap_is_the_mean_over_every_order_of_what_is_tied(documents: list[tuple[int, int]], worth: list[float]) -> None:
    found = [
        sum(min(worth[order[m]], worth[order[i]]) / (i + 1) for i in range(len(order)) for m in range(i + 1))
        for order in orders(documents)
    ]
    assert tied_gap(counted(documents), np.array(worth))[0] == pytest.approx(np.mean(found), abs=1e-12)


def test_lists_of_different_lengths_and_gains_of_their_own_stand_beside_each_other() -> None:
    one, two = [(2, 1), (0, 1)], [(1, 0), (2, 2), (2, 0), (0, 1)]
    worth = np.array([[0.0, 0.5, 1.0], [0.1, 0.2, 0.9]])
    both = np.concatenate([counted(one), counted(two)])
    for formula in (tied_dcg, tied_gap):
        apart = [formula(counted(some), row)[0] for some, row in zip((one, two), worth, strict=True)]
        assert formula(both, worth).tolist() == pytest.approx(apart)


def test_two_tied_documents_by_hand() -> None:
    joint = counted([(2, 0), (0, 0)])
    assert tied_gap(joint, np.array([0.0, 0.0, 1.0])).tolist() == [0.75]  # first or second: (1 + 1/2) / 2
    assert tied_dcg(joint, np.array([0.0, 0.0, 1.0])).tolist() == pytest.approx([(1 + 1 / log2(3)) / 2])
    assert tied_dcg(np.zeros((0, 3, 3), dtype=np.int64), np.zeros(3)).tolist() == []
