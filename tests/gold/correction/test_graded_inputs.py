from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import ArrayLike

from gold.refusals import names, refuses
from ringtrue.errors import InputError, UsageError
from ringtrue.gold.correction.graded_inputs import BronzeLists, Grades
from ringtrue.gold.correction.proportion import why_uncorrectable
from ringtrue.gold.correction.rate_inversion import Rates
from ringtrue.stats.confusion import Confusion

GOOD = [[80, 15, 5], [10, 80, 10], [2, 8, 90]]


def table(counts: ArrayLike, labels: tuple[int, ...] | None = None, worth: ArrayLike | None = None) -> Confusion:
    counts = np.asarray(counts)
    return Confusion(
        rows="gold",
        columns="bronze",
        labels=labels or tuple(range(len(counts))),
        counts=counts,
        worth=None if worth is None else np.asarray(worth, dtype=np.float64),
    )


def grades(counts: ArrayLike, gains: ArrayLike | None = None, worth: ArrayLike | None = None) -> Grades:
    return Grades.of(table(counts, worth=worth), np.arange(len(np.asarray(counts))) if gains is None else gains)


def test_a_matrix_is_inverted_where_it_is_well_known_and_well_conditioned() -> None:
    assert grades(GOOD).why_not_inverted is None


def test_thirty_gold_labels_of_each_grade_are_enough_and_29_are_not() -> None:
    assert grades([[27, 3], [3, 27]]).why_not_inverted is None
    assert names(grades([[27, 3], [3, 26]]).why_not_inverted, "1 has 29", "30")


def test_every_grade_with_too_few_gold_labels_is_named() -> None:
    assert names(grades([[10, 2], [3, 9]]).why_not_inverted, "0 has 12", "1 has 12", "30")


def test_a_condition_number_of_ten_is_too_much() -> None:
    # Rows (½ ± d, ½ ∓ d) have the condition number 1/2d.
    near, far = ([[500 + d, 500 - d], [500 - d, 500 + d]] for d in (49, 51))
    assert grades(far).why_not_inverted is None
    assert names(grades(near).why_not_inverted, "10.2", "less than 10")


def test_a_bronze_scale_of_another_size_is_not_inverted() -> None:
    assert names(grades([[50, 30, 20], [10, 30, 60]]).why_not_inverted, "2 gold", "3 bronze", "square")


def test_known_rows_are_worth_any_number_of_labels() -> None:
    assert grades([[0.9, 0.1], [0.2, 0.8]], worth=[np.inf, np.inf]).why_not_inverted is None


def test_gold_labels_that_are_worth_less_than_their_number_count_for_less() -> None:
    assert names(grades([[270, 30], [30, 270]], worth=[20, 40]).why_not_inverted, "0 has 20", "30")


def test_fewer_bronze_labels_than_gold_ones_cannot_tell_these_apart() -> None:
    found = grades([[90, 10], [40, 60], [20, 80], [5, 95]]).undetermined
    assert found is not None
    assert found.code == "grades-undetermined"
    assert names(found, "2 bronze", "4 gold")


def test_two_grades_that_the_judge_labels_alike_are_named() -> None:
    found = grades([[80, 20, 0], [10, 50, 40], [5, 25, 20]]).undetermined
    assert found is not None
    assert found.code == "grades-undetermined"
    assert names(found, "1 and 2")


def test_a_grade_that_looks_like_a_mixture_of_two_others_cannot_be_told() -> None:
    found = grades([[80, 20, 0], [40, 20, 40], [0, 20, 80]]).undetermined
    assert found is not None
    assert found.code == "grades-undetermined"
    assert names(found, "rank 2")
    assert grades(GOOD).undetermined is None


@given(st.integers(1, 60), st.integers(1, 60), st.data(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_with_two_labels_chance_is_ruled_out_just_as_fiellers_interval_does(
    relevant: int, others: int, data: st.DataObject, level: float
) -> None:
    right, wrong = data.draw(st.integers(0, relevant)), data.draw(st.integers(0, others))
    two = grades([[wrong, others - wrong], [relevant - right, right]], gains=[0, 1])
    rates = Rates(relevant=(right, relevant), nonrelevant=(wrong, others))
    assert (two.why_uncorrectable(level) is None) == (why_uncorrectable(rates, level=level) is None)


@given(st.floats(0.01, 100), st.floats(-10, 10), st.integers(0, 2**32 - 1))
def test_what_a_unit_of_gain_is_does_not_decide_about_chance(unit: float, base: float, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(1, 20, (3, 3))
    plain, changed = (
        grades(counts, gains=scale).why_uncorrectable(0.95)
        for scale in ([0, 1, 3], [base, base + unit, base + 3 * unit])
    )
    assert (plain is None) == (changed is None)


def test_a_judge_who_guesses_is_refused_in_words() -> None:
    found = grades([[20, 10, 10], [19, 11, 10], [20, 10, 10]]).why_uncorrectable(0.95)
    assert found is not None
    assert found.code == "judge-at-chance"


def test_a_judge_who_may_guess_is_refused_in_other_words() -> None:
    found = grades([[5, 3, 2], [3, 4, 3], [3, 3, 4]]).why_uncorrectable(0.95)
    assert found is not None
    assert found.code == "judge-maybe-at-chance"
    assert names(found, "30", "95%")
    assert grades([[500, 300, 200], [300, 400, 300], [300, 300, 400]]).why_uncorrectable(0.95) is None


def test_a_judge_who_turns_the_scale_round_is_refused_unless_it_is_another_scale() -> None:
    turned = table([[5, 15, 80], [10, 80, 10], [90, 8, 2]])
    assert Grades.of(turned, [0, 1, 2]).why_uncorrectable(0.95) is not None
    assert Grades.of(turned, [0, 1, 2], bronze_labels=(10, 20, 30)).why_uncorrectable(0.95) is None


def test_gains_that_are_all_the_same_need_no_judge() -> None:
    assert grades([[10, 10], [10, 10]], gains=[1, 1]).why_uncorrectable(0.95) is None


@pytest.mark.simulation
def test_a_judge_who_guesses_on_another_scale_passes_no_more_often_than_the_level_says() -> None:
    rng = np.random.default_rng(5)
    drawn = [rng.multinomial(60, [0.4, 0.3, 0.2, 0.1], 3) for _ in range(2000)]
    passed = [Grades.of(table(counts), [0, 1, 2], (0, 1, 2, 3)).why_uncorrectable(0.95) is None for counts in drawn]
    assert np.mean(passed) < 0.05


def test_rows_are_drawn_as_their_counts_allow_and_known_rows_stay() -> None:
    found = grades([[80, 15, 5], [0.1, 0.8, 0.1], [20, 80, 0]], worth=[100, np.inf, 100])
    drawn = found.resample(20_000, np.random.default_rng(1))
    assert drawn.sum(axis=2) == pytest.approx(np.ones((20_000, 3)))
    assert (drawn[:, 1] == found.matrix[1]).all()
    # One label without knowledge is shared out over the columns.
    assert drawn.mean(axis=0)[0] == pytest.approx(np.array([80 + 1 / 3, 15 + 1 / 3, 5 + 1 / 3]) / 101, abs=0.001)
    assert drawn[:, 0, 0].std() == pytest.approx(np.sqrt(0.8 * 0.2 / 101), rel=0.03)
    assert drawn[:, 2, 2].mean() == pytest.approx(1 / 303, rel=0.1)


def test_a_gold_label_that_never_occurs_is_an_error_that_says_which_and_what_to_do() -> None:
    with refuses(InputError, "gold-label-never-occurs", "3"):
        Grades.of(table([[8, 2], [0, 0]], labels=(0, 3)), [0, 1])


def test_a_bronze_label_that_no_gold_document_has_is_an_error_that_says_which_and_what_to_do() -> None:
    found = Grades.of(table([[8, 2, 0], [1, 9, 0], [1, 8, 0]], labels=(0, 1, 4)), [0, 1, 4])
    with refuses(InputError, "bronze-label-without-gold", "2", "4"):
        BronzeLists.of([[0, 2], [2, 1]], [1, 1], found)
    assert BronzeLists.of([[0, 1], [1, 1]], [1, 1], found).queries == 2


def test_attention_is_the_sum_of_discounts_by_label_and_shorter_lists_get_less() -> None:
    lists = BronzeLists.of([[2, 0, 2], [1, -1, -1]], [1, 0.5, 0.25], grades(GOOD))
    assert lists.attention.tolist() == [[0.5, 0, 1.25], [0, 1, 0]]
    assert lists.shares_by_rank.tolist() == [[0, 0.5, 0.5], [1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("counts", "gains", "worth", "code"),
    [
        (GOOD, [0, 1], None, "bad-label-gains"),
        (GOOD, [0, 1, np.nan], None, "bad-label-gains"),
        (GOOD, [0, 1, 2], [1, 2, 0], "bad-worth"),
        (GOOD, [0, 1, 2], [1, 2], "bad-worth"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(counts: ArrayLike, gains: ArrayLike, worth: ArrayLike, code: str) -> None:
    with refuses(UsageError, code):
        grades(counts, gains, worth)


def test_a_table_needs_a_name_for_each_row_and_column() -> None:
    with refuses(UsageError, "matrix-shape", "3", "2"):
        Grades.of(table(GOOD), [0, 1, 2], bronze_labels=(0, 1))


@pytest.mark.parametrize("count", [-1.0, np.nan])
def test_counts_that_are_none_are_refused(count: float) -> None:
    with refuses(InputError, "bad-counts", "0"):
        grades([[count, 2.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("labels", "discounts", "code"),
    [
        ([0, 1], [1, 1], "bad-label-lists"),
        ([[0.5, 1]], [1, 1], "bad-label-lists"),
        (np.zeros((0, 2), dtype=int), [1, 1], "bad-label-lists"),
        ([[0, 1]], [1], "bad-discounts"),
        ([[0, 1]], [1, -1], "bad-discounts"),
        ([[0, 3]], [1, 1], "bad-label-positions"),
        ([[0, -2]], [1, 1], "bad-label-positions"),
    ],
)
def test_lists_that_make_no_sense_are_refused(labels: ArrayLike, discounts: ArrayLike, code: str) -> None:
    with refuses(UsageError, code):
        BronzeLists.of(labels, discounts, grades(GOOD))
