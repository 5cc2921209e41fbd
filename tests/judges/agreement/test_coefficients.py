"""Coefficients of agreement: tables small enough to check on paper, and what must hold for every table."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ringtrue.judges.agreement import coefficients as formulas
from ringtrue.judges.agreement.coefficients import METRICS, AgreementSums, Metric, pair_sums, sum_by_group, unpack_sums
from ringtrue.judges.votes import Votes, make_votes
from strategies import judged

Array = NDArray[np.float64]

TWO = np.array([[20.0, 5], [10, 15]])
THREE = np.array([[1.0, 1, 0], [0, 0, 1], [0, 0, 1]])  # four items: (0, 0), (0, 1), (1, 2), (2, 2)
LINEAR = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
QUADRATIC = np.array([[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]])

tables = st.integers(2, 4).flatmap(
    lambda wide: arrays(np.float64, (wide, wide), elements=st.integers(0, 6).map(float)).filter(
        lambda table: table.sum() > 0
    )
)
counts = st.tuples(st.integers(1, 6), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 3))
)


def relevant(wide: int) -> NDArray[np.bool_]:
    return np.arange(wide) > 0


def of_counts(table: NDArray[np.int64]) -> AgreementSums:
    """The sums of items × labels."""
    group = np.zeros(len(table), dtype=np.int32)
    return unpack_sums(sum_by_group(table, relevant(table.shape[1]), group=group, n_groups=1)[0], table.shape[1])


def of_pair(table: Array) -> AgreementSums:
    return pair_sums(table, relevant(len(table)))


def same(one: Array, other: Array) -> None:
    """Equal, or both undefined."""
    np.testing.assert_allclose(one, other, atol=1e-12)


# By hand


def test_two_judges_and_two_labels_by_hand() -> None:
    sums = of_pair(TWO)
    assert formulas.agreement(sums) == pytest.approx(35 / 50)
    assert formulas.overlap(sums) == pytest.approx(15 / 30)
    assert formulas.cohen_kappa(TWO, np.eye(2)) == pytest.approx((0.7 - 0.5) / 0.5)
    assert formulas.scott_pi(sums) == pytest.approx((0.7 - 0.505) / 0.495)
    assert formulas.fleiss_kappa(sums) == pytest.approx((0.7 - 0.505) / 0.495)
    assert formulas.ac1(sums) == pytest.approx((0.7 - 0.495) / 0.505)
    assert formulas.brennan_prediger(sums) == pytest.approx((0.7 - 0.5) / 0.5)
    assert formulas.conger_kappa(sums, np.array([[25.0, 25], [30, 20]])) == pytest.approx(0.4)
    assert formulas.alpha(sums, np.array([0.0, 1]), "nominal") == pytest.approx(1 - 99 * 30 / (2 * 55 * 45))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("nominal", 1 - 7 * 4 / 42),
        ("ordinal", 1 - 7 * 25 / 600),  # middles of the labels given: 1.5, 4 and 6.5
        ("interval", 1 - 7 * 4 / 96),
        ("ratio", 1 - 7 * (2 + 2 / 9) / (2 * (6 + 9 + 6 / 9))),
    ],
)
def test_alpha_of_three_labels_by_hand(metric: Metric, expected: float) -> None:
    assert formulas.alpha(of_pair(THREE), np.array([0.0, 1, 2]), metric) == pytest.approx(expected)


def test_weighted_kappa_by_hand() -> None:
    # One judge gave 0, 0, 1, 2 and the other 0, 1, 2, 2.
    assert formulas.cohen_kappa(THREE, np.eye(3)) == pytest.approx((8 - 5) / (16 - 5))
    assert formulas.cohen_kappa(THREE, LINEAR) == pytest.approx((3 / 4 - 8 / 16) / (1 - 8 / 16))
    assert formulas.cohen_kappa(THREE, QUADRATIC) == pytest.approx((3.5 / 4 - 9.5 / 16) / (1 - 9.5 / 16))


def test_items_with_three_two_and_one_labels_by_hand() -> None:
    # x, y and z on the first item: 0, 0, 1; x alone on the second: 1; y and z on the third: 1, 1.
    sums = of_counts(np.array([[2, 1], [0, 1], [0, 2]]))
    by_judge = np.array([[1.0, 1], [1, 1], [0, 2]])
    raw = (1 / 3 + 1) / 2
    assert formulas.agreement(sums) == pytest.approx(raw)
    assert formulas.overlap(sums) == pytest.approx(1 / 2)
    assert formulas.fleiss_kappa(sums) == pytest.approx((raw - 53 / 81) / (28 / 81))  # shares 2/9 and 7/9, of all items
    assert formulas.scott_pi(sums) == pytest.approx((raw - 13 / 25) / (12 / 25))  # 2 and 3 of the pairable labels
    assert formulas.ac1(sums) == pytest.approx((raw - 28 / 81) / (53 / 81))
    assert formulas.brennan_prediger(sums) == pytest.approx((raw - 1 / 2) / (1 / 2))
    assert formulas.conger_kappa(sums, by_judge) == pytest.approx((raw - 1 / 2) / (1 / 2))
    assert formulas.alpha(sums, np.array([0.0, 1]), "nominal") == pytest.approx(1 - 4 * 2 / 12)


def test_a_judge_who_gave_no_label_has_no_habits() -> None:
    sums = of_pair(TWO)
    with_idler = np.array([[25.0, 25], [30, 20], [0, 0]])
    assert formulas.conger_kappa(sums, with_idler) == pytest.approx(0.4)


def test_the_overlap_of_three_judges_is_jaccards_of_all() -> None:
    # Relevant to them: {1, 2, 3, 4}, {2, 3, 4, 5} and {3, 4, 6}.
    sets = [{1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 6}]
    said = np.array([[item in some for some in sets] for item in range(1, 7)])
    yes = said.sum(axis=1)
    assert formulas.overlap(of_counts(np.stack([3 - yes, yes], axis=1))) == pytest.approx(1 / 3)
    for (a, b), expected in {(0, 1): 0.6, (0, 2): 0.4, (1, 2): 0.4}.items():
        table = np.zeros((2, 2))
        np.add.at(table, (said[:, a].astype(int), said[:, b].astype(int)), 1)
        assert formulas.overlap(of_pair(table)) == pytest.approx(expected)


def test_kappas_standard_errors_by_hand() -> None:
    # For two labels with even habits: variance of the share of agreement over (1 − 1/2)².
    even = np.array([[40.0, 10], [10, 40]])
    around, null = formulas.kappa_standard_errors(even, np.eye(2))
    assert around == pytest.approx(np.sqrt(0.8 * 0.2 / 100) / 0.5)
    assert null == pytest.approx(np.sqrt(0.5 * 0.5 / 100) / 0.5)


def test_the_common_label_pulls_kappa_down_and_not_ac1() -> None:
    rare, even = np.array([[90.0, 5], [5, 0]]), np.array([[45.0, 5], [5, 45]])
    assert formulas.agreement(of_pair(rare)) == formulas.agreement(of_pair(even)) == 0.9
    assert formulas.cohen_kappa(rare, np.eye(2)) < 0 < 0.8 == pytest.approx(formulas.cohen_kappa(even, np.eye(2)))
    assert formulas.ac1(of_pair(rare)) > 0.85


# Undefined


def test_where_everybody_says_the_same_all_but_raw_agreement_is_undefined() -> None:
    sums = of_counts(np.array([[0, 3], [0, 2]]))
    assert formulas.agreement(sums) == 1
    assert formulas.overlap(sums) == 1
    assert np.isnan(
        [formulas.fleiss_kappa(sums), formulas.scott_pi(sums), formulas.conger_kappa(sums, np.array([[0.0, 2]] * 2))]
    ).all()
    for metric in METRICS:
        assert np.isnan(formulas.alpha(sums, np.array([0.0, 1]), metric))
    assert np.isnan(formulas.cohen_kappa(np.array([[0.0, 0], [0, 5]]), np.eye(2)))
    assert np.isnan(formulas.kappa_standard_errors(np.array([[0.0, 0], [0, 5]]), np.eye(2))).all()


def test_a_label_that_could_have_been_given_makes_ac1_and_brennan_prediger_defined() -> None:
    sums = of_counts(np.array([[3, 0], [2, 0]]))
    assert (formulas.ac1(sums), formulas.brennan_prediger(sums)) == (1, 1)
    alone = of_counts(np.array([[3], [2]]))
    assert np.isnan([formulas.ac1(alone), formulas.brennan_prediger(alone)]).all()


def test_no_item_with_two_labels_leaves_everything_undefined() -> None:
    sums = of_counts(np.array([[1, 0], [0, 1], [0, 0]]))
    found = [formulas.agreement(sums), formulas.overlap(sums), formulas.fleiss_kappa(sums), formulas.scott_pi(sums),
             formulas.ac1(sums), formulas.alpha(sums, np.array([0.0, 1]), "ordinal")]  # fmt: skip
    assert np.isnan(found).all()


def test_labels_below_0_have_no_ratio() -> None:
    sums = of_pair(THREE)
    assert np.isnan(formulas.alpha(sums, np.array([-1.0, 0, 1]), "ratio"))
    assert not np.isnan(formulas.alpha(sums, np.array([-1.0, 0, 1]), "interval"))


# For every table


@given(tables)
def test_two_judges_give_the_same_sums_by_item_and_by_table(table: Array) -> None:
    wide = len(table)
    cells = [(c, k) for c in range(wide) for k in range(wide) for _ in range(int(table[c, k]))]
    items = np.array([np.bincount([c, k], minlength=wide) for c, k in cells])
    by_item, by_table = of_counts(items), of_pair(table)
    for field in AgreementSums.__slots__:
        same(getattr(by_item, field), getattr(by_table, field))
    labels = np.arange(wide) * 1.5
    for metric in METRICS:
        same(formulas.alpha(by_item, labels, metric), formulas.alpha(by_table, labels, metric))


@given(tables)
def test_complete_labels_of_two_judges_make_pairs_of_coefficients_equal(table: Array) -> None:
    sums = of_pair(table)
    same(formulas.scott_pi(sums), formulas.fleiss_kappa(sums))
    by_judge = np.stack([table.sum(axis=1), table.sum(axis=0)])
    same(formulas.conger_kappa(sums, by_judge), formulas.cohen_kappa(table, np.eye(len(table))))


@given(tables)
def test_swapping_two_judges_changes_nothing(table: Array) -> None:
    weights = 1 - np.abs(np.subtract.outer(np.arange(len(table)), np.arange(len(table)))) / (len(table) - 1)
    for weight in (np.eye(len(table)), weights):
        same(formulas.cohen_kappa(table, weight), formulas.cohen_kappa(table.T, weight))
        same(
            np.array(formulas.kappa_standard_errors(table, weight)),
            np.array(formulas.kappa_standard_errors(table.T, weight)),
        )
    labels = np.arange(float(len(table)))
    same(formulas.alpha(of_pair(table), labels, "ordinal"), formulas.alpha(of_pair(table.T), labels, "ordinal"))


@given(counts, st.sampled_from(sorted(METRICS)))
def test_alpha_is_what_a_plain_loop_over_pairs_of_labels_gives(table: NDArray[np.int64], metric: Metric) -> None:
    labels = np.array([0.0, 1, 3, 7])[: table.shape[1]]
    same(formulas.alpha(of_counts(table), labels, metric), np.array(plain_alpha(table, labels, metric)))


def plain_alpha(table: NDArray[np.int64], labels: Array, metric: Metric) -> float:
    """Krippendorff's own words: the mean distance within items over that between any two labels."""
    units = [[k for k, n in enumerate(row) for _ in range(n)] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    everything = [k for unit in units for k in unit]
    given_times = np.bincount(everything, minlength=len(labels)) if everything else np.zeros(len(labels))

    def distance(c: int, k: int) -> float:
        if metric == "nominal":
            return float(c != k)
        if metric == "interval":
            return float(labels[c] - labels[k]) ** 2
        if metric == "ratio":
            return 0.0 if c == k else float((labels[c] - labels[k]) / (labels[c] + labels[k])) ** 2
        low, high = min(c, k), max(c, k)
        return float(given_times[low : high + 1].sum() - (given_times[c] + given_times[k]) / 2) ** 2

    n = len(everything)
    observed = sum(distance(c, k) / (len(unit) - 1) for unit in units for c, k in permutations(unit, 2)) / max(n, 1)
    expected = sum(distance(c, k) for c, k in permutations(everything, 2)) / max(n * (n - 1), 1)
    return 1 - observed / expected if expected else np.nan


@given(counts, st.lists(st.integers(1, 9), min_size=4, max_size=4), st.integers(-50, 50))
def test_only_the_order_matters_to_ordinal_alpha_and_only_distances_to_interval_alpha(
    table: NDArray[np.int64], steps: list[int], shift: int
) -> None:
    sums, wide = of_counts(table), table.shape[1]
    even, uneven = np.arange(float(wide)), np.cumsum(steps[:wide]).astype(np.float64)
    same(formulas.alpha(sums, even, "ordinal"), formulas.alpha(sums, uneven, "ordinal"))
    same(formulas.alpha(sums, uneven, "interval"), formulas.alpha(sums, uneven + shift, "interval"))
    same(formulas.alpha(sums, uneven, "ratio"), formulas.alpha(sums, uneven * 3, "ratio"))


@given(tables)
def test_a_batch_gives_what_each_table_gives_alone(table: Array) -> None:
    batch = np.stack([table, table.T, table + 1])
    sums = pair_sums(batch, relevant(len(table)))
    labels = np.arange(float(len(table)))
    for place, one in enumerate(batch):
        alone = of_pair(one)
        same(formulas.ac1(sums)[place], formulas.ac1(alone))
        same(formulas.overlap(sums)[place], formulas.overlap(alone))
        same(formulas.alpha(sums, labels, "ordinal")[place], formulas.alpha(alone, labels, "ordinal"))
        same(formulas.cohen_kappa(batch, np.eye(len(table)))[place], formulas.cohen_kappa(one, np.eye(len(table))))


@given(counts)
def test_perfect_agreement_is_1_and_no_coefficient_is_above_it(table: NDArray[np.int64]) -> None:
    sums, labels = of_counts(table), np.arange(float(table.shape[1]))
    every = (formulas.agreement, formulas.fleiss_kappa, formulas.scott_pi, formulas.ac1, formulas.brennan_prediger)
    found = [one(sums) for one in every] + [formulas.alpha(sums, labels, metric) for metric in METRICS]
    unanimous = ((table > 0).sum(axis=1) <= 1).all()
    for one in found:
        assert np.isnan(one) or one <= 1 + 1e-12
        assert np.isnan(one) or (one == pytest.approx(1)) == unanimous


def sums(votes: Votes, group: np.ndarray, groups: int) -> AgreementSums:
    relevant = np.array(votes.labels) > 0
    return unpack_sums(sum_by_group(votes.counts(), relevant, group=group, n_groups=groups), len(votes.labels))


def test_sums_of_each_query_by_hand() -> None:
    votes = make_votes(
        {
            "query": ["q", "q", "q", "q", "r", "r"],
            "doc": list("aaabaa"),
            "judge": list("xyzxxy"),
            "label": [0, 0, 1, 1, 1, 1],
        }
    )
    found = sums(votes, *votes.clusters()[:2])
    assert found.coincidences.tolist() == [[[1, 1], [1, 0]], [[0, 0], [0, 2]]]
    assert found.pairable.tolist() == [1, 1]
    assert found.agreeing.tolist() == pytest.approx([1 / 3, 1])
    assert found.rated.tolist() == [2, 1]
    np.testing.assert_allclose(found.shares, [[2 / 3, 4 / 3], [0, 1]])
    assert (found.relevant.tolist(), found.unanimous.tolist()) == ([1, 1], [0, 1])


@given(judged())
def test_the_sums_of_queries_add_up_to_those_of_all(votes: Votes) -> None:
    by_query = sums(votes, *votes.clusters()[:2])
    whole = sums(votes, np.zeros(votes.items.height, dtype=np.int32), 1)
    for field in AgreementSums.__slots__:
        np.testing.assert_allclose(getattr(by_query, field).sum(axis=0), getattr(whole, field)[0])
    pairable = votes.counts().sum(axis=1)
    assert whole.coincidences.sum() == pytest.approx(pairable[pairable > 1].sum())
    assert whole.shares.sum() == pytest.approx(votes.items.height)
