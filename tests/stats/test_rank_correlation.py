"""How alike two orders are: against SciPy, the published examples, and every way to break the ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations, product
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ringtrue.errors import UsageError
from ringtrue.stats.rank_correlation import kendall_tau, pair_signs, rbo, tau_ap, tau_from_signs

untied = st.integers(2, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))
few_ties = st.integers(2, 5).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)])
)
ties = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(2)])
)


def broken(scores: Sequence[float]) -> Iterator[list[int]]:
    """Every order, best first, that agrees with the scores."""
    for order in permutations(range(len(scores))):
        if all(scores[x] >= scores[y] for x, y in pairwise(order)):
            yield list(order)


def plain_tau_ap(reference: list[int], other: list[int]) -> float:
    """Two orders without ties, best first; the definition, word by word."""
    total = 0.0
    for i in range(2, len(other) + 1):
        here = other[i - 1]
        above = other[: i - 1]
        total += sum(reference.index(thing) < reference.index(here) for thing in above) / (i - 1)
    return 2 / (len(other) - 1) * total - 1


def plain_rbo(a: list[int], b: list[int], p: float) -> float:
    """Webber's extrapolated RBO at the depth of the whole lists, in the form of his equation 30."""
    k = len(a)
    overlap = [len(set(a[:d]) & set(b[:d])) for d in range(1, k + 1)]
    series = sum(x / d * p**d for d, x in enumerate(overlap, start=1))
    return overlap[-1] / k * p**k + (1 - p) / p * series


def best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda thing: -scores[thing])


@given(ties)
def test_tau_agrees_with_scipy(orders: tuple[list[int], list[int]]) -> None:
    ours = float(kendall_tau(*orders))
    if any(len(set(order)) == 1 for order in orders):
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(stats.kendalltau(*orders).statistic, abs=1e-12)


@given(ties)
def test_tau_does_not_care_which_order_comes_first(orders: tuple[list[int], list[int]]) -> None:
    a, b = orders
    assert np.array_equal(kendall_tau(a, b), kendall_tau(b, a), equal_nan=True)


@given(untied)
def test_the_same_order_has_1_and_the_reverse_minus_1(orders: tuple[list[int], list[int]]) -> None:
    order = np.array(orders[0])
    assert float(kendall_tau(order, order)) == 1
    assert float(kendall_tau(order, -order)) == -1
    assert float(tau_ap(order, order)) == pytest.approx(1, abs=1e-12)
    assert float(tau_ap(order, -order)) == pytest.approx(-1, abs=1e-12)
    assert float(rbo(order, order)) == pytest.approx(1, abs=1e-12)


@given(untied)
def test_the_reverse_order_has_the_lowest_overlap_there_is(orders: tuple[list[int], list[int]]) -> None:
    a, b = map(np.array, orders)
    assert float(rbo(a, -a)) - 1e-12 <= float(rbo(a, b)) <= 1 + 1e-12


@given(untied)
def test_tau_ap_and_rbo_are_what_their_definitions_say(orders: tuple[list[int], list[int]]) -> None:
    a, b = orders
    assert float(tau_ap(a, b)) == pytest.approx(plain_tau_ap(best_first(a), best_first(b)), abs=1e-12)
    assert float(rbo(a, b, p=0.8)) == pytest.approx(plain_rbo(best_first(a), best_first(b), 0.8), abs=1e-12)


@given(few_ties)
def test_with_ties_they_are_the_mean_over_all_ways_to_break_them(orders: tuple[list[int], list[int]]) -> None:
    a, b = orders
    ways = list(product(broken(a), broken(b)))
    assert float(tau_ap(a, b)) == pytest.approx(mean(plain_tau_ap(one, two) for one, two in ways), abs=1e-12)
    assert float(rbo(a, b, p=0.7)) == pytest.approx(mean(plain_rbo(one, two, 0.7) for one, two in ways), abs=1e-12)


@given(ties, st.randoms(use_true_random=False))
def test_the_names_of_things_do_not_matter(orders: tuple[list[int], list[int]], random) -> None:
    a, b = map(np.array, orders)
    places = random.sample(range(len(a)), len(a))
    for how_alike in (kendall_tau, tau_ap, rbo):
        assert np.allclose(how_alike(a[places], b[places]), how_alike(a, b), atol=1e-12, equal_nan=True)


@given(ties, st.floats(0.1, 10), st.floats(-5, 5))
def test_only_the_order_of_the_scores_matters(orders: tuple[list[int], list[int]], scale: float, shift: float) -> None:
    a, b = map(np.array, orders)
    for how_alike in (kendall_tau, tau_ap, rbo):
        assert np.array_equal(how_alike(a * scale + shift, b), how_alike(a, b), equal_nan=True)


def test_a_mistake_at_the_top_costs_more_than_one_at_the_bottom() -> None:
    truth = [5, 4, 3, 2, 1]
    top, bottom = [4, 5, 3, 2, 1], [5, 4, 3, 1, 2]
    assert float(kendall_tau(truth, top)) == float(kendall_tau(truth, bottom))
    assert float(tau_ap(truth, top)) < float(tau_ap(truth, bottom))
    assert float(rbo(truth, top)) < float(rbo(truth, bottom))


def test_tau_ap_by_hand() -> None:
    # In the order c a b against a b c: a has 0 of 1 above it rightly, b has 1 (a) of 2: 2/2 · (0 + ½) − 1.
    assert float(tau_ap([3, 2, 1], [2, 1, 3])) == pytest.approx(-0.5)


def test_tau_ap_looks_down_the_other_order_not_the_reference() -> None:
    assert float(tau_ap([3, 2, 1], [2, 1, 3])) != pytest.approx(float(tau_ap([2, 1, 3], [3, 2, 1])))


def test_tau_ap_has_the_values_that_the_r_package_ircor_prints() -> None:
    truth = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    estimate = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    assert float(tau_ap(truth, estimate)) == pytest.approx(0.3928571, abs=5e-8)  # tauAP
    assert float(tau_ap(truth, estimate.round(1))) == pytest.approx(0.39903, abs=5e-6)  # tauAP_a


def test_rbo_by_hand() -> None:
    # a b c against b a c: overlaps 0, 2, 3 of depths 1, 2, 3.
    p = 0.5
    assert float(rbo([3, 2, 1], [2, 3, 1], p=p)) == pytest.approx(p**3 + (1 - p) * (0 + p * 1 + p**2 * 1))


@given(ties, st.integers(1, 4))
def test_many_orders_at_once_are_what_each_is_alone(orders: tuple[list[int], list[int]], many: int) -> None:
    a, b = map(np.array, orders)
    rolled = np.stack([np.roll(b, shift) for shift in range(many)])
    for how_alike in (kendall_tau, tau_ap, rbo):
        each = [float(how_alike(a, row)) for row in rolled]
        assert np.allclose(how_alike(a, rolled), each, equal_nan=True)


def test_tau_can_be_had_from_the_signs_of_the_pairs() -> None:
    a, b = [0.3, 0.1, 0.2], [3, 1, 1]
    assert pair_signs(a).tolist() == [1, 1, -1]
    assert pair_signs(b).tolist() == [1, 1, 0]
    assert float(tau_from_signs(pair_signs(a), pair_signs(b))) == pytest.approx(2 / np.sqrt(6))


def test_one_thing_has_no_order_and_all_ties_are_none() -> None:
    assert np.isnan(kendall_tau([1], [1]))
    assert np.isnan(tau_ap([1], [1]))
    assert np.isnan(kendall_tau([1, 1, 1], [1, 2, 3]))
    assert float(tau_ap([1, 1, 1], [1, 2, 3])) == pytest.approx(0)


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [
        ([1, 2], [1, 2, 3], "mismatched-orders"),
        ([], [], "mismatched-orders"),
        (1, 2, "mismatched-orders"),
        ([1, float("nan")], [1, 2], "missing-score"),
        ([1, 2], [float("nan"), 2], "missing-score"),
    ],
)
def test_what_is_no_pair_of_orders_is_refused(a: object, b: object, code: str) -> None:
    for how_alike in (kendall_tau, tau_ap, rbo):
        with pytest.raises(UsageError) as refused:
            how_alike(a, b)
        assert refused.value.code == code


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan")])
def test_a_persistence_outside_0_and_1_is_refused(p: float) -> None:
    with pytest.raises(UsageError) as refused:
        rbo([1, 2], [1, 2], p=p)
    assert (refused.value.code, refused.value.parameter) == ("bad-persistence", "p")
