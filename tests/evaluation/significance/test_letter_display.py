"""Letters for things that are not told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from ringtrue.evaluation.significance.adjustment import assign_letters, find_homogeneous_groups

Matrix = NDArray[np.bool_]


def matrix(things: int, pairs: list[tuple[int, int]]) -> Matrix:
    differ = np.zeros((things, things), dtype=bool)
    for a, b in pairs:
        differ[a, b] = differ[b, a] = True
    return differ


@st.composite
def matrices(draw: st.DrawFn, most: int = 12) -> Matrix:
    things = draw(st.integers(1, most))
    every = list(combinations(range(things), 2))
    return matrix(things, [pair for pair in every if draw(st.booleans())])


def fewest_groups(differ: Matrix) -> int:
    """By trying: the smallest number of sets without a pair that differs which together have every other pair."""
    things = len(differ)
    fine = [set(some) for size in range(1, things + 1) for some in combinations(range(things), size)
            if not any(differ[a, b] for a, b in combinations(some, 2))]  # fmt: skip
    whole = [one for one in fine if not any(one < other for other in fine)]
    needed = [{a, b} for a, b in combinations(range(things), 2) if not differ[a, b]] + [{a} for a in range(things)]
    for size in range(1, len(whole) + 1):
        for chosen in combinations(whole, size):
            if all(any(pair <= group for group in chosen) for pair in needed):
                return size
    raise AssertionError


def share_a_letter(letters: list[str], a: int, b: int) -> bool:
    return bool(set(letters[a]) & set(letters[b]))


def test_three_things_in_a_row_of_which_only_the_ends_differ_have_two_letters_the_middle_both() -> None:
    assert assign_letters(find_homogeneous_groups(matrix(3, [(0, 2)])), 3) == ["a", "ab", "b"]


@pytest.mark.parametrize(("pairs", "letters"), [([], ["a", "a", "a"]), ([(0, 1), (0, 2), (1, 2)], ["a", "b", "c"])])
def test_nothing_told_apart_has_one_letter_and_everything_told_apart_one_each(
    pairs: list[tuple[int, int]], letters: list[str]
) -> None:
    assert assign_letters(find_homogeneous_groups(matrix(3, pairs)), 3) == letters


def test_the_third_example_of_the_paper_gets_as_few_letters_as_there_can_be() -> None:
    # Piepho (2004), example 3: eight treatments; these five pairs differ.
    differ = matrix(8, [(0, 6), (0, 7), (1, 3), (1, 4), (2, 4)])
    assert len(find_homogeneous_groups(differ)) == fewest_groups(differ) == 5


@given(matrices())
def test_two_share_a_letter_just_where_they_do_not_differ(differ: Matrix) -> None:
    letters = assign_letters(find_homogeneous_groups(differ), len(differ))
    assert all(letters)
    for a, b in combinations(range(len(differ)), 2):
        assert share_a_letter(letters, a, b) != differ[a, b]


@given(matrices(most=5))
def test_for_few_things_there_are_hardly_more_letters_than_the_fewest_that_do(differ: Matrix) -> None:
    assert fewest_groups(differ) <= len(find_homogeneous_groups(differ)) <= fewest_groups(differ) + 1


@given(matrices(most=6))
def test_no_letter_could_be_left_out_of_any_place(differ: Matrix) -> None:
    groups = [set(group) for group in find_homogeneous_groups(differ)]
    for group in groups:
        for member in group:
            rest = [other for other in groups if other is not group and member in other]
            met = set().union(*rest) if rest else set()
            assert not group <= met


@given(differ=matrices())
def test_where_there_would_be_too_many_groups_those_that_are_grown_do_as_well(differ: Matrix) -> None:
    letters = assign_letters(find_homogeneous_groups(differ, max_groups=0), len(differ))
    for a, b in combinations(range(len(differ)), 2):
        assert share_a_letter(letters, a, b) != differ[a, b]


def test_a_hundred_things_with_much_noise_are_lettered_at_all() -> None:
    # Without a limit there are so many groups on the way that this takes minutes.
    rng = np.random.default_rng(1)
    value, noise = np.sort(rng.normal(size=100)), rng.uniform(0.5, 1.5, (100, 100))
    differ = np.abs(value[:, None] - value) > (noise + noise.T) / 2
    groups = find_homogeneous_groups(differ)
    letters = [{place for place, group in enumerate(groups) if thing in group} for thing in range(100)]
    assert all(bool(letters[a] & letters[b]) != differ[a, b] for a, b in combinations(range(100), 2))


def test_after_the_alphabet_in_small_and_capital_letters_come_primes() -> None:
    alone = [[thing] for thing in range(54)]
    assert assign_letters(alone, 54)[25:27] + assign_letters(alone, 54)[51:] == ["z", "A", "Z", "a′", "b′"]
