"""The exact ceiling: by hand, against everything tried, and what must not change it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from judges.ceiling.oracle import dcg_of_all, discounts
from ringtrue.judges.ceiling.expected_dcg import closed_form_dcg, exact_dcg, ideal_dcg, simulated_dcg
from strategies import examples

shares = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(1e-6, 1 - 1e-6)  # SciPy's binomials fail nearer to 0
cutoffs = st.none() | st.integers(1, 7)


@st.composite
def matrices(draw: st.DrawFn, size: int) -> NDArray[np.float64]:
    """Rows that add up to 1, with many zeros among them."""
    cells = st.lists(st.sampled_from([0.0, 0.0, 1.0, 0.5]) | st.floats(0, 1), min_size=size, max_size=size)
    rows = np.array(draw(st.lists(cells.filter(lambda row: sum(row) > 1e-3), min_size=size, max_size=size)))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


@st.composite
def worlds(draw: st.DrawFn, most: int = 6) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    size = draw(st.integers(2, 3))
    counts = draw(
        st.lists(st.integers(0, most), min_size=size, max_size=size).filter(lambda some: 1 <= sum(some) <= most)
    )
    gain = draw(st.lists(st.floats(0, 10), min_size=size, max_size=size))
    return np.array([counts]), draw(matrices(size)), np.array(gain)


def test_one_good_and_one_bad_document_by_hand() -> None:
    # The good one is first if it alone is called good, .7·.8; second if the other alone is, .3·.2; else they tie.
    found = exact_dcg(np.array([[1, 1]]), np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.0, 1.0]))
    assert found[0] == pytest.approx(0.75 + 0.25 / math.log2(3), abs=1e-15)
    assert found[0] == pytest.approx(0.907732438, abs=1e-9)


@examples(60)
@given(worlds(), cutoffs)
def test_trying_every_labelling_and_every_order_of_ties_gives_the_same(world, k: int | None) -> None:
    counts, matrix, gain = world
    expected = dcg_of_all(counts[0].tolist(), matrix, gain.tolist(), k)
    assert exact_dcg(counts, matrix, gain, k=k)[0] == pytest.approx(
        expected, abs=1e-12 * max(1, ideal_dcg(counts, gain)[0])
    )


@given(st.integers(1, 400), st.integers(1, 400), shares, shares, st.none() | st.integers(1, 50))
@examples(30)
def test_two_labels_and_scipys_binomials_give_the_same(
    n0: int, n1: int, wrong: float, right: float, k: int | None
) -> None:
    matrix = np.array([[1 - wrong, wrong], [1 - right, right]])
    discount = np.array([*discounts(n0 + n1, k), 0.0])
    reached = np.concatenate([[0.0], np.cumsum(discount)])
    called = np.convolve(binom.pmf(np.arange(n0 + 1), n0, wrong), binom.pmf(np.arange(n1), n1 - 1, right))
    size = np.arange(len(called))
    in_front = (reached[size + 1] / (size + 1)) @ called
    behind = ((reached[n0 + n1] - reached[size]) / (n0 + n1 - size)) @ called
    found = exact_dcg(np.array([[n0, n1]]), matrix, np.array([0.0, 1.0]), k=k)[0] / n1
    assert found == pytest.approx(right * in_front + (1 - right) * behind, abs=1e-12)


@pytest.mark.parametrize("n", [2, 30, 121, 700])
@pytest.mark.parametrize("k", [None, 10])
def test_a_judge_who_says_the_same_is_no_bound(n: int, k: int | None) -> None:
    gain = np.array([0.0, 1, 3, 7])
    counts = np.array([[n, n // 2, n // 3, 1]])
    assert exact_dcg(counts, np.eye(4), gain, k=k) == pytest.approx(ideal_dcg(counts, gain, k=k), rel=1e-12)


@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_judge_who_always_says_one_label_leaves_a_random_order(label: int) -> None:
    matrix = np.zeros((3, 3))
    matrix[:, label] = 1
    counts, gain = np.array([[50, 20, 9]]), np.array([0.0, 1, 3])
    everybody = np.mean(discounts(79, None))
    assert exact_dcg(counts, matrix, gain) == pytest.approx(everybody * (counts @ gain), rel=1e-12)


def test_a_judge_who_does_not_look_leaves_a_random_order_too() -> None:
    matrix = np.tile([0.2, 0.3, 0.5], (3, 1))
    counts, gain = np.array([[50, 20, 9]]), np.array([0.0, 1, 3])
    assert exact_dcg(counts, matrix, gain) == pytest.approx(np.mean(discounts(79, None)) * (counts @ gain), rel=1e-12)


def test_a_judge_who_turns_everything_around_finds_the_worst_order() -> None:
    counts, gain = np.array([[5, 3]]), np.array([0.0, 1.0])
    found = exact_dcg(counts, np.array([[0.0, 1], [1, 0]]), gain)
    assert found == pytest.approx([sum(discounts(8, None)[5:])], rel=1e-12)


@examples(40)
@given(worlds(most=40), st.integers(0, 2**32 - 1))
def test_every_list_is_what_it_is_alone(world, seed: int) -> None:
    _, matrix, gain = world
    counts = np.random.default_rng(seed).integers(0, 30, (12, len(gain)))
    counts[0] = 0
    counts[0, 0] = 1
    together = exact_dcg(counts, matrix, gain)
    alone = [exact_dcg(row[None], matrix, gain)[0] for row in counts]
    assert together == pytest.approx(alone, rel=1e-12, abs=1e-12)


@given(worlds(most=30), cutoffs)
def test_a_label_that_nobody_gives_and_nothing_has_changes_nothing(world, k: int | None) -> None:
    counts, matrix, gain = world
    wider = np.insert(np.insert(matrix, 1, 0, axis=1), 1, 0, axis=0)
    wider[1, 1] = 1
    found = exact_dcg(np.insert(counts, 1, 0, axis=1), wider, np.insert(gain, 1, 5.0), k=k)
    assert found == pytest.approx(exact_dcg(counts, matrix, gain, k=k), rel=1e-12, abs=1e-12)


@pytest.mark.slow
def test_fewer_nodes_than_the_degree_asks_for_are_enough() -> None:
    """Nodes for half of the degree make no error at all; 5√n + 8 of them none that can be seen."""
    import ringtrue.judges.ceiling.expected_dcg as module

    rng = np.random.default_rng(1)
    few = module._gauss_legendre
    for n, blur in ((150, 0.02), (150, 0.5), (600, 0.02), (600, 0.5)):
        matrix = blur * rng.dirichlet(np.ones(5), 5) + (1 - blur) * np.eye(5)
        counts, gain = rng.multinomial(n, [0.5, 0.3, 0.15, 0.03, 0.02], 1), 2.0 ** np.arange(5) - 1
        for k in (None, 1, 10):
            found = exact_dcg(counts, matrix, gain, k=k)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "_gauss_legendre", lambda _, n=n: few(math.ceil(1.1 * n / 2)))
                assert exact_dcg(counts, matrix, gain, k=k) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_lists_are_right(n: int) -> None:
    matrix = np.array([[0.5, 0.5], [0.5, 0.5]])
    expected = dcg_of_all([n - 1, 1], matrix, [0, 1])
    assert exact_dcg(np.array([[n - 1, 1]]), matrix, np.array([0.0, 1.0])) == pytest.approx([expected], abs=1e-14)


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


@pytest.mark.slow
@examples(15)
@given(st.integers(50, 150), st.integers(0, 2**32 - 1))
def test_with_fifty_documents_and_five_of_some_worth_it_is_right_to_two_hundredths(n: int, seed: int) -> None:
    assert worst(n, seed, worlds=8) < 0.02


@pytest.mark.slow
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
