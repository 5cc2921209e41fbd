from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from gold.refusals import codes, names, refuses, with_code
from ringtrue.errors import InputError, UsageError
from ringtrue.gold.correction.graded_gain import correct_gain, fit_grade_shares, remap_gains
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate

MAXIMUM_LIKELIHOOD = "confusion, maximum likelihood"

MATRIX = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])
Array = NDArray[np.float64]
HIGH, PARTLY, NOT = 0, 1, 2
FIGURE = [[NOT, HIGH], [PARTLY, NOT]]  # the two lists of the paper
WORTH = (1.0, 0.5, 0.0)
RATES = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
GOOD = (100 * RATES).round().astype(int)
POOR = np.array([[70, 20, 10], [40, 40, 20], [20, 40, 40]])  # condition number 11
DCG = 1 / np.log2(np.arange(2, 12))


def table(counts: ArrayLike, *, known: bool = False, labels: tuple[int, ...] | None = None) -> Confusion:
    counts = np.asarray(counts)
    return Confusion(
        rows="gold",
        columns="bronze",
        labels=labels or tuple(range(len(counts))),
        counts=counts,
        worth=np.full(len(counts), np.inf) if known else None,
    )


def corrected(labels: ArrayLike, discounts: ArrayLike, gold: Confusion, gains: ArrayLike, **more: Any) -> Estimate:
    settings = {"resamples": 200, "rng": np.random.default_rng(1)} | more
    return correct_gain(labels, discounts, gold, gains, **settings)


def lists(seed: int, *, queries: int = 60, ranks: int = 10, wide: int = 3) -> NDArray[np.int64]:
    """Lists whose queries differ in how many good documents they have."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.dirichlet(np.ones(wide), queries), axis=1)[:, None, :-1]
    return (rng.random((queries, ranks, 1)) > steps).sum(axis=2)


def raw(labels: NDArray[np.int64], discounts: Array, gains: Array) -> float:
    return float(np.where(labels >= 0, gains[labels] * discounts, 0).sum(axis=1).mean())


def test_the_remapped_gains_of_the_papers_example() -> None:
    assert remap_gains(table(RATES), WORTH) == pytest.approx([1.162770, 0.488309, -0.069245], abs=5e-7)


def test_the_papers_two_lists_with_a_perfect_judge_and_with_one_who_errs() -> None:
    perfect = corrected(FIGURE, DCG[:2], table(np.eye(3), known=True), WORTH)
    assert perfect.value == pytest.approx(0.25 + 0.5 / np.log2(3), abs=1e-12)
    erring = corrected(FIGURE, DCG[:2], table(RATES, known=True), WORTH)
    assert erring.value == pytest.approx(0.554501, abs=5e-7)
    assert erring.method == "confusion, inverted"


def test_a_remapped_gain_says_what_a_gold_label_is_worth_on_average() -> None:
    assert RATES @ remap_gains(table(GOOD), WORTH) == pytest.approx(WORTH)


def test_the_corrected_value_is_the_measure_with_remapped_gains() -> None:
    labels = lists(2)
    expected = raw(labels, DCG, remap_gains(table(GOOD), WORTH))
    assert corrected(labels, DCG, table(GOOD), WORTH).value == pytest.approx(expected, abs=1e-12)


def test_a_second_opinion_from_the_inverse_rank_by_rank() -> None:
    # Equation 18 of the paper: shares of labels at each rank, times the inverse, times the gains.
    labels = lists(3)
    by_rank = (labels[..., None] == np.arange(3)).mean(axis=0)
    expected = float(DCG @ (by_rank @ np.linalg.inv(RATES) @ np.array(WORTH)))
    assert corrected(labels, DCG, table(GOOD), WORTH).value == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_a_perfect_judge_changes_nothing(seed: int, gains: list[float]) -> None:
    labels = np.where(np.arange(10) < 7, lists(seed, queries=5), -1)  # shorter lists than there are discounts
    found = corrected(labels, DCG, table(np.eye(3), known=True), gains, resamples=2)
    assert found.value == pytest.approx(raw(labels, DCG, np.array(gains)), abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_gold_labels_on_all_documents_give_back_what_gold_says_of_them(seed: int) -> None:
    rng, gains = np.random.default_rng(seed), np.array([0.0, 1.0, 3.0])
    gold = lists(seed, queries=30)
    bronze = np.where(rng.random(gold.shape) < 0.3, rng.integers(0, 3, gold.shape), gold)
    counts = np.zeros((3, 3))
    np.add.at(counts, (gold, bronze), 1)
    found = corrected(bronze, np.ones(10), table(counts), gains, resamples=2)
    assert found.value == pytest.approx(gains[gold].sum(axis=1).mean(), abs=1e-4)


@pytest.mark.parametrize("counts", [GOOD, POOR])
@given(order=st.permutations(range(3)))
def test_the_order_of_labels_changes_nothing(counts: NDArray[np.int64], order: list[int]) -> None:
    labels, gains = lists(4), np.array([2.0, 1.0, 0.0])
    place = np.argsort(order)
    plain = corrected(labels, DCG, table(counts), gains, resamples=2)
    other = corrected(place[labels], DCG, table(counts[order][:, order]), gains[order], resamples=2)
    assert other.value == pytest.approx(plain.value, abs=1e-6)
    assert other.method == plain.method


@given(st.integers(0, 2**32 - 1), st.integers(27, 40), st.integers(27, 40), st.integers(1, 10))
def test_with_two_labels_it_is_the_published_correction_of_precision(
    seed: int, right: int, wrong: int, ranks: int
) -> None:
    labels = lists(seed, queries=20, ranks=ranks, wide=2)
    found = corrected(labels, np.full(ranks, 1 / ranks), table([[wrong, 40 - wrong], [40 - right, right]]), [0, 1])
    j, on_relevant, on_others = labels.mean(), right / 40, wrong / 40
    assert found.value == pytest.approx((j - 1 + on_others) / (on_relevant + on_others - 1), abs=1e-9)


def test_with_two_labels_the_standard_error_is_that_of_the_published_equation() -> None:
    labels = lists(5, queries=200, wide=2)
    found = corrected(labels, np.full(10, 0.1), table([[250, 50], [30, 270]]), [0, 1], resamples=10_000)
    j, scores, m_r, m_n = labels.mean(), labels.mean(axis=1), 0.9, 250 / 300
    youden = m_r + m_n - 1
    of_query = scores.var(ddof=1) / 200 / youden**2
    of_gold = (m_r * (1 - m_r) * (j - 1 + m_n) ** 2 + m_n * (1 - m_n) * (m_r - j) ** 2) / 300 / youden**4
    assert found.se == pytest.approx(np.sqrt(of_query + of_gold), rel=0.04)
    assert found.value is not None
    assert found.low == pytest.approx(found.value - 1.97 * found.se, abs=0.15 * found.se)
    assert found.high == pytest.approx(found.value + 1.97 * found.se, abs=0.15 * found.se)


def test_known_rates_leave_only_the_spread_of_queries() -> None:
    labels = lists(6, queries=100)
    found = corrected(labels, DCG, table(RATES, known=True), WORTH, resamples=10_000)
    each = (remap_gains(table(RATES), WORTH)[labels] * DCG).sum(axis=1)
    assert found.se == pytest.approx(each.std(ddof=1) / 10, rel=0.04)
    assert "rates-taken-as-known" in codes(found.notes)
    counted = corrected(labels, DCG, table(GOOD), WORTH, resamples=10_000)
    assert (counted.se or 0) > found.se


def test_a_badly_conditioned_matrix_gives_the_likeliest_shares_and_the_reason() -> None:
    found = corrected(lists(7), DCG, table(POOR), [0, 0.5, 1])
    assert found.method == MAXIMUM_LIKELIHOOD
    assert found.notes[1].code == "matrix-not-inverted"
    assert names(found.notes[1], "11.4", "10")


def test_too_few_gold_labels_of_a_grade_give_the_likeliest_shares_and_the_reason() -> None:
    found = corrected(lists(7), DCG, table([[80, 15, 5], [8, 64, 8], [0, 2, 23]]), [0, 0.5, 1])
    assert found.method == MAXIMUM_LIKELIHOOD
    assert found.notes[1].code == "matrix-not-inverted"
    assert names(found.notes[1], "2", "25", "30")


def test_the_likeliest_shares_agree_with_inverting_where_that_gives_no_negative_share() -> None:
    # Half of the weight of the lists on each of the middle shares: counts just below 30 send it the other way.
    labels = lists(8)
    few, many = (corrected(labels, DCG, table(RATES * n), WORTH) for n in (29, 31))
    assert (few.method, many.method) == (MAXIMUM_LIKELIHOOD, "confusion, inverted")
    assert few.value == pytest.approx(many.value, abs=1e-6)


def test_the_likeliest_shares_never_leave_what_is_possible_and_inverting_says_so_when_it_does() -> None:
    labels = np.full((40, 10), NOT)
    labels[:32, 9], labels[32:38, 9] = PARTLY, HIGH  # fewer than even documents without worth would give
    few, many = (corrected(labels, DCG, table(RATES * n), WORTH) for n in (20, 100))
    assert few.value == pytest.approx(0, abs=1e-9)
    assert many.value is not None
    assert many.value < 0 == many.low
    assert any(names(note, "0") for note in with_code(many.notes, "value-outside-possible"))


def test_an_interval_that_lies_where_no_list_can_be_stays_there() -> None:
    found = corrected(np.full((40, 10), NOT), DCG, table(RATES * 1000), WORTH)
    assert found.high is not None
    assert found.high < 0
    assert any(names(note, "0") for note in with_code(found.notes, "interval-outside-possible"))


def test_negative_shares_are_told_by_label_and_rank_and_not_cut_off() -> None:
    labels = np.column_stack([lists(9, ranks=1), np.full(60, HIGH)])
    found = corrected(labels, [1, 1], table(GOOD), WORTH)
    expected = raw(labels, np.ones(2), remap_gains(table(GOOD), WORTH))
    assert found.value == pytest.approx(expected)
    (note,) = with_code(found.notes, "negative-shares")
    shares = np.linalg.inv(RATES)[HIGH]  # at the second rank
    assert names(note, f"label 1 at 1 of 2 ranks (lowest {shares[1]:.2g} at rank 2)")
    assert names(note, f"label 2 at 1 of 2 ranks (lowest {shares[2]:.2g} at rank 2)")


def test_a_finer_bronze_scale_gives_the_shares_that_explain_it() -> None:
    wide = np.array([[50, 30, 15, 5], [5, 15, 30, 50]])
    counts = (np.array([0.25, 0.75]) @ wide * 8 / 100).round(6)  # documents of each label: 1.3, 1.5, 2.1, 3.1
    labels = np.repeat(np.arange(4), (counts * 10).round().astype(int))[:, None]
    found = corrected(labels, [1], table(wide), [0, 1], bronze_labels=(0, 1, 2, 3))
    assert found.value == pytest.approx(0.75, abs=1e-6)
    assert found.notes[1].code == "matrix-not-inverted"
    assert names(found.notes[1], "2", "4")


def test_a_coarser_bronze_scale_cannot_be_corrected() -> None:
    found = corrected([[0, 1], [1, 1]], [1, 1], table([[90, 10], [40, 60], [5, 95]]), [0, 1, 2])
    assert (found.value, found.low, found.high) == (None, 0, 4)
    assert found.notes[0].code == "grades-undetermined"
    assert names(found.notes[0], "2", "3")


def test_a_judge_no_better_than_chance_gives_no_value_but_all_that_is_possible() -> None:
    found = corrected(lists(1), DCG, table([[30, 10, 10], [29, 11, 10], [31, 9, 10]]), [0, 1, 3])
    assert found.value is None
    assert (found.low, found.high) == pytest.approx((0, 3 * DCG.sum()))
    assert found.notes[0].code == "judge-at-chance"


def test_two_grades_labelled_alike_give_no_value() -> None:
    found = corrected(lists(1), DCG, table([[80, 15, 5], [20, 40, 40], [20, 40, 40]]), [0, 1, 3])
    assert found.value is None
    assert found.notes[0].code == "grades-undetermined"
    assert names(found.notes[0], "1", "2")


def test_a_grade_missing_from_the_gold_sample_is_an_error() -> None:
    with refuses(InputError, "gold-label-never-occurs", "2"):
        corrected(lists(1), DCG, table([[80, 15, 5], [20, 40, 40], [0, 0, 0]]), [0, 1, 3])
    with refuses(InputError, "bronze-label-without-gold"):
        corrected(lists(1), DCG, table([[80, 15, 0], [20, 40, 0], [10, 50, 0]]), [0, 1, 3])


def test_one_query_has_a_value_and_no_interval() -> None:
    found = corrected([[2, 1, 0]], [1, 1, 1], table(GOOD), WORTH)
    assert found.value is not None
    assert (found.se, found.low, found.high) == (None, None, None)
    assert "single-query" in codes(found.notes)
    outside = corrected([[NOT, NOT]], [1, 1], table(GOOD), WORTH)
    assert outside.notes[-1].code == "value-outside-possible"
    assert names(outside.notes[-1], "-0.1385", "0")


def test_lists_without_a_document_have_no_value() -> None:
    found = corrected([[-1, -1], [-1, -1]], [1, 1], table(GOOD), WORTH)
    assert (found.value, codes(found.notes)) == (None, ["no-documents-shown"])


def test_resamples_without_a_document_are_worth_nothing() -> None:
    labels = np.full((4, 1), -1)
    labels[0] = 0
    for counts in (GOOD, POOR):
        found = corrected(labels, [1], table(counts), WORTH, resamples=500)
        assert found.low == pytest.approx(0, abs=1e-9)


def test_few_queries_and_queries_that_are_all_alike_are_told() -> None:
    few = corrected(lists(1, queries=12), DCG, table(GOOD), WORTH)
    assert any(names(note, "12") for note in with_code(few.notes, "few-queries"))
    same = corrected(np.ones((30, 10), dtype=int), DCG, table(GOOD), WORTH)
    assert any(names(note, "30") for note in with_code(same.notes, "all-queries-alike"))


def test_few_queries_have_a_wider_interval_than_percentiles_give() -> None:
    labels = lists(10, queries=5)
    found = corrected(labels, DCG, table(RATES, known=True), WORTH, resamples=20_000)
    each = (remap_gains(table(RATES), WORTH)[labels] * DCG).sum(axis=1)
    drawn = np.random.default_rng(2).choice(each, (20_000, 5)).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 1.2 * (high - low)


def test_many_queries_are_drawn_in_groups_that_spread_as_much() -> None:
    labels = lists(11, queries=5_000, ranks=3)
    found = corrected(labels, [1, 1, 1], table(RATES, known=True), WORTH, resamples=4_000)
    each = remap_gains(table(RATES), WORTH)[labels].sum(axis=1)
    assert found.n == 5_000
    assert found.se == pytest.approx(each.std(ddof=1) / np.sqrt(5_000), rel=0.07)


def test_the_same_seed_gives_the_same_answer_and_progress_counts_resamples() -> None:
    told: list[int] = []
    first = corrected(lists(1), DCG, table(POOR), WORTH[::-1], resamples=300, progress=told.append)
    again = corrected(lists(1), DCG, table(POOR), WORTH[::-1], resamples=300)
    assert first == again
    assert sum(told) == 300


def test_a_higher_level_is_a_wider_interval_around_the_same_value() -> None:
    narrow, wide = (corrected(lists(1), DCG, table(GOOD), WORTH, level=level, resamples=2_000) for level in (0.8, 0.99))
    assert narrow.value == wide.value
    assert None not in (narrow.low, narrow.high, wide.low, wide.high)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high  # type: ignore[operator]


def test_a_search_that_is_cut_short_is_told() -> None:
    found = corrected(lists(1), DCG, table(POOR), WORTH[::-1], max_iterations=3, resamples=100)
    assert found.notes[-1].code == "search-not-finished"
    assert names(found.notes[-1], "101")
    assert "search-not-finished" not in codes(corrected(lists(1), DCG, table(POOR), WORTH[::-1]).notes)


def test_the_inverse_of_what_has_none_is_refused() -> None:
    with refuses(UsageError, "matrix-not-square", "2", "3"):
        remap_gains(table([[5, 3, 2], [1, 3, 6]]), [0, 1])
    with refuses(InputError, "grades-undetermined", "0", "1"):
        remap_gains(table([[5, 5], [5, 5]]), [0, 1])


def test_settings_that_make_no_sense_are_refused() -> None:
    with refuses(UsageError, "bad-resamples"):
        corrected(lists(1), DCG, table(GOOD), WORTH, resamples=0)
    with refuses(UsageError, "bad-level"):
        corrected(lists(1), DCG, table(GOOD), WORTH, level=1)


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


@pytest.mark.slow
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
    with refuses(UsageError, "impossible-bronze-label", "0"):
        fit_grade_shares([1, 1, 1], [[0.5, 0.5, 0], [0.2, 0.8, 0]])


def test_counts_and_matrix_must_have_the_same_labels() -> None:
    with refuses(UsageError, "matrix-shape", "2", "3"):
        fit_grade_shares([1, 1], MATRIX)
