"""Votes: majority, mean and median, and what happens in a tie."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes import Votes
from strategies import examples, judged

VOTES = ["majority", "mean", "median"]


def table(*items: list[int]) -> dict[str, list[object]]:
    """Each list is the labels of an item, by the judges 0, 1, …"""
    rows = [(item, judge, label) for item, labels in enumerate(items) for judge, label in enumerate(labels)]
    return {"item": [r[0] for r in rows], "worker": [r[1] for r in rows], "label": [r[2] for r in rows]}


def labels_of(data: object, **settings: Any) -> list[int]:
    return aggregate(data, **settings).items["label"].to_list()


def test_the_majority_wins_and_a_tie_goes_where_the_rule_says() -> None:
    votes = table([0, 2, 2], [0, 0, 1, 2, 2])
    low = aggregate(votes, method="majority")
    assert low.items["label"].to_list() == [2, 0]
    assert low.ties == 1
    (note,) = [note for note in low.notes if note.code == "tied-items"]
    assert (note.parameter, [rule.arguments["ties"] for rule in note.suggestions]) == ("ties", ["high", "random"])
    assert "1 item " in note
    assert "the lowest" in note
    assert labels_of(votes, method="majority", ties="high") == [2, 2]
    assert low.probabilities == pytest.approx(np.array([[1 / 3, 0, 2 / 3], [0.4, 0.2, 0.4]]))


def test_random_ties_are_fair_and_the_same_for_a_seed() -> None:
    votes = table(*[[0, 1, 2, 2, 0]] * 400)
    labels = labels_of(votes, method="majority", ties="random", rng=np.random.default_rng(1))
    assert set(labels) == {0, 2}
    assert 150 < labels.count(0) < 250
    assert labels == labels_of(votes, method="majority", ties="random", rng=np.random.default_rng(1))
    halves = labels_of(table(*[[0, 1]] * 400), method="mean", ties="random")
    assert 150 < halves.count(0) < 250


def test_mean_and_median_keep_their_value_and_give_the_nearest_label() -> None:
    votes = table([0, 3, 3], [0, 1], [0, 0, 3])
    mean = aggregate(votes, method="mean", scale=[0, 1, 2, 3])
    assert mean.items["value"].to_list() == [2.0, 0.5, 1.0]
    assert mean.items["label"].to_list() == [2, 0, 1]
    assert mean.items["probability"].to_list() == [0, 0.5, 0]
    (note,) = [note for note in mean.notes if note.code == "tied-items"]
    assert "a mean halfway" in note
    middle = aggregate(votes, method="median", ties="high")
    assert middle.items["value"].to_list() == [3.0, 0.5, 0.0]
    assert middle.items["label"].to_list() == [3, 1, 0]


@examples(40)
@given(judged(), st.sampled_from(["low", "high"]))
def test_a_plain_second_implementation_finds_the_same(votes: Votes, ties: Any) -> None:
    found = {method: aggregate(votes, method=method, ties=ties, repeats="all") for method in VOTES}
    best = min if ties == "low" else max
    for item in range(votes.items.height):
        said = [votes.labels[label] for label in votes.label[votes.item == item]]
        most = max(map(said.count, said))
        assert found["majority"].items["label"][item] == best(label for label in said if said.count(label) == most)
        for method, value in (
            ("mean", Fraction(sum(said), len(said))),
            ("median", Fraction(median(map(Fraction, said)))),
        ):
            nearest = min(abs(value - label) for label in votes.labels)
            near = [label for label in votes.labels if abs(value - label) == nearest]
            assert found[method].items["value"][item] == pytest.approx(float(value))
            assert found[method].items["label"][item] == best(near)


def test_gold_labels_stay_whatever_the_judges_said() -> None:
    votes = table([0, 0, 0], [1, 1, 1], [0, 1, 1])
    for method in VOTES:
        answer = aggregate(votes, method=method, gold={"item": [0], "label": [2]})
        assert answer.items["label"].to_list() == [2, 1, 1], method
        assert answer.items["probability"][0] == 1
        assert answer.gold == 1
        assert answer.labels == (0, 1, 2)
    assert aggregate(votes, method="mean", gold={"item": [0], "label": [2]}).items["value"][0] == 2


def test_a_tie_that_gold_decides_is_none() -> None:
    assert aggregate(table([0, 1]), method="majority", gold={"item": [0], "label": [1]}).ties == 0


@pytest.mark.parametrize("method", VOTES)
def test_a_vote_has_no_objective(method: Any) -> None:
    answer = aggregate(table([0, 1, 1]), method=method)
    assert (answer.objective, answer.log_likelihood, answer.iterations, answer.prior) == ((), None, 0, None)
    assert answer.converged


def test_a_judge_is_held_against_the_majority_of_the_others() -> None:
    # On the first item the others of a and b tie, on the second those of b and c; nobody else labelled the third.
    table = {"item": [1, 1, 1, 2, 2, 2, 3], "worker": [*"abcabcc"], "label": [1, 1, 0, 0, 1, 1, 1]}
    answer = aggregate(table, method="majority")
    a, b, c = answer.judges
    assert (a.accuracy.value, a.accuracy.n, a.labels) == (0.25, 2, 2)
    assert (b.accuracy.value, b.accuracy.n) == (0.5, 2)
    assert (c.accuracy.value, c.accuracy.n, c.labels) == (0.25, 2, 3)
    assert c.confusion.counts.tolist() == [[0, 0], [1, 0]]
    assert c.rates is None


def test_labels_that_a_judge_repeated_are_not_the_others() -> None:
    table = {"item": [1, 1, 1, 1], "worker": [*"aaab"], "label": [0, 0, 0, 1]}
    a, b = aggregate(table, method="majority", repeats="all").judges
    assert (a.accuracy.value, a.accuracy.n) == (0.0, 3)
    assert (b.accuracy.value, b.confusion.counts.tolist()) == (0.0, [[0, 1], [0, 0]])


def test_gold_counts_more_than_the_others() -> None:
    table = {"item": [1, 1, 1], "worker": [*"abc"], "label": [0, 0, 1]}
    judges = aggregate(table, method="majority", gold={"item": [1], "label": [1]}).judges
    assert [one.accuracy.value for one in judges] == [0, 0, 1]


def test_a_judge_whom_nobody_can_check_has_no_accuracy_by_a_vote() -> None:
    table = {"item": [1, 1, 2], "worker": [*"abc"], "label": [0, 0, 1]}
    answer = aggregate(table, method="majority")
    assert [note.code for note in answer.judges[2].accuracy.notes] == ["no-cases"]
    assert "isolated-judges" in [note.code for note in answer.notes]
