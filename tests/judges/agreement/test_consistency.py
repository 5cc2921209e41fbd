"""The same judge twice, beside different judges on the same items."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given

from ringtrue.judges.agreement.consistency import estimate_consistency
from ringtrue.judges.votes import Votes, make_votes
from ringtrue.stats.results import Estimate
from strategies import judged


def found(votes: Votes) -> tuple[Estimate, Estimate]:
    both = estimate_consistency(votes, has_repeats=bool(votes.find_repeats().any()), level=0.95)
    return both["self_consistency"], both["cross_consistency"]


def test_a_judge_who_wavers_and_judges_who_differ_by_hand() -> None:
    # x says 0, 0 of a and 0, 1 of b; y says 1 of a and 1 of b. Nobody labelled c twice.
    table = {"doc": list("aabbabcc"), "judge": list("xxxxyyxy"), "label": [0, 0, 0, 1, 1, 1, 1, 1]}
    own, cross = found(make_votes(table))
    assert (own.value, own.n) == (1 / 2, 2)
    assert (cross.value, cross.n) == ((0 / 2 + 1 / 2) / 2, 2)


def test_three_labels_of_one_judge_make_three_pairs() -> None:
    own, _ = found(make_votes({"doc": ["a"] * 4, "judge": list("xxxy"), "label": [0, 0, 1, 1]}))
    assert (own.value, own.n) == (pytest.approx(1 / 3), 1)


def test_a_careful_judge_in_bad_company_agrees_with_himself_alone() -> None:
    docs = [f"d{place}" for place in range(20) for _ in range(3)]
    labels = [label for place in range(20) for label in (place % 2, place % 2, 1 - place % 2)]
    own, cross = found(make_votes({"doc": docs, "judge": list("xxy") * 20, "label": labels}))
    assert (own.value, cross.value) == (1, 0)
    assert (own.low or 0) > (cross.high or 1)


def test_without_repeats_both_are_undefined_in_words() -> None:
    for one in found(make_votes({"doc": list("aa"), "judge": list("xy"), "label": [0, 1]})):
        assert (one.value, one.n, one.notes) == (None, 0, ("no judge labelled an item twice",))


def test_a_judge_alone_with_his_repeats_has_no_company() -> None:
    own, cross = found(make_votes({"doc": list("aab"), "judge": list("xxy"), "label": [0, 1, 1]}))
    assert own.value == 0
    assert (cross.value, cross.notes) == (None, ("there is no such item that two judges labelled",))


@given(judged())
def test_both_are_what_a_plain_loop_gives(votes: Votes) -> None:
    said: dict[int, list[tuple[int, int]]] = {}
    for item, judge, label in zip(votes.item.tolist(), votes.judge.tolist(), votes.label.tolist(), strict=True):
        said.setdefault(item, []).append((judge, label))
    own, cross = [], []
    for labels in said.values():
        pairs = list(combinations(labels, 2))
        per_judge: dict[int, list[bool]] = {}
        for (one, first), (other, second) in pairs:
            if one == other:
                per_judge.setdefault(one, []).append(first == second)
        own += [sum(equal) / len(equal) for equal in per_judge.values()]
        others = [first == second for (one, first), (other, second) in pairs if one != other]
        if per_judge and others:
            cross.append(sum(others) / len(others))
    for one, expected in zip(found(votes), (own, cross), strict=True):
        assert one.n == len(expected)
        assert one.value == (pytest.approx(sum(expected) / len(expected)) if expected else None)
