"""Votes → sums for each query, and every meeting of two judges."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from ringtrue.judges.agreement.agreement_sums import choose_judge_pairs, match_pair_labels, sum_by_group, unpack_sums
from ringtrue.judges.agreement.coefficients import AgreementSums
from ringtrue.judges.votes import Votes, make_votes
from strategies import judged


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


@given(judged())
def test_every_meeting_of_two_judges_is_found_as_by_a_double_loop(votes: Votes) -> None:
    everything = list(zip(votes.item.tolist(), votes.judge.tolist(), votes.label.tolist(), strict=True))
    pairs = [(a, b) for a in range(len(votes.judges)) for b in range(len(votes.judges)) if a != b]
    for (a, b), found in zip(pairs, match_pair_labels(votes, pairs), strict=True):
        expected = Counter(
            (item, one, other)
            for item, judge, one in everything
            for again, second, other in everything
            if (judge, second) == (a, b) and item == again
        )
        assert Counter(zip(*(column.tolist() for column in found), strict=True)) == expected


def crowd() -> Votes:
    """Judge a shares a document with everybody, c, d and e share five with each other."""
    sizes = {"a": 1, "b": 1, "c": 5, "d": 5, "e": 5}
    rows = [(f"d{place}", judge) for judge, size in sizes.items() for place in range(size)]
    return make_votes(
        {"doc": [doc for doc, _ in rows], "judge": [judge for _, judge in rows], "label": [0] * len(rows)}
    )


def test_all_pairs_are_given_where_they_are_few() -> None:
    assert choose_judge_pairs(crowd(), 10) == [(a, b) for a in range(5) for b in range(a + 1, 5)]


@pytest.mark.parametrize("most", [1, 3, 4, 7, 9])
def test_of_many_pairs_those_with_the_most_items_in_common_are_given(most: int) -> None:
    found = choose_judge_pairs(crowd(), most)
    assert len(found) == most
    assert set(found[:3]) <= {(2, 3), (2, 4), (3, 4)}
    assert found[3:] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3)][: max(most - 3, 0)]


def test_no_pair_is_given_where_none_is_asked_for() -> None:
    assert choose_judge_pairs(crowd(), 0) == []


def test_a_judges_repeats_do_not_make_items_more_common() -> None:
    table = {"doc": ["a"] * 6 + ["b", "b", "c", "c"], "judge": list("xxxxxyyzyz"), "label": [0] * 10}
    assert choose_judge_pairs(make_votes(table), 1) == [(1, 2)]
