"""How good each judge is: by the others, by probable truth, and whether the intervals keep their promise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.judges.aggregation import Aggregation, aggregate
from ringtrue.judges.votes import Votes


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
    assert str(answer.judges[2].accuracy) == "undefined: there is no item that another judge labelled"
    assert "1 judge whose items nobody else labelled: what is said of them is guesswork" in answer.notes


def test_where_the_truth_is_known_the_interval_is_wilsons() -> None:
    table = {"item": [*range(10)] * 2, "worker": ["a"] * 10 + ["b"] * 10, "label": [0, 1] * 4 + [0, 0] + [0, 1] * 5}
    gold = {"item": [*range(10)], "label": [0, 1] * 5}
    a, _ = aggregate(table, gold=gold).judges
    assert a.accuracy.value == 0.9
    assert (a.accuracy.low, a.accuracy.high) == pytest.approx((0.5958, 0.9821), abs=1e-4)
    assert a.confusion.worth == pytest.approx(np.array([5, 5]))


def test_a_judge_alone_against_another_is_worth_little() -> None:
    # Two judges who always disagree: nothing tells who is right, and the interval says so.
    table = {"item": [*range(20)] * 2, "worker": ["a"] * 20 + ["b"] * 20, "label": [0, 1] * 10 + [1, 0] * 10}
    for judge in aggregate(table, method="one-coin").judges:
        assert judge.accuracy.value == pytest.approx(0.5, abs=1e-3)
        assert judge.accuracy.low == pytest.approx(0, abs=0.02)
        assert judge.accuracy.high == pytest.approx(1, abs=0.02)


def crowd(
    rng: np.random.Generator,
    *,
    judges: int = 60,
    items: int = 600,
    each: int = 5,
    wide: int = 4,
    accuracy: float = 0.75,
) -> tuple[Votes, np.ndarray]:
    """Votes of a crowd with matrices of its own [judge, true, said], errors more often near the truth."""
    right = np.clip(rng.beta(15 * accuracy, 15 * (1 - accuracy), (judges, wide)), 0.02, 0.995)
    apart = np.abs(np.subtract.outer(np.arange(wide), np.arange(wide)))
    wrong = np.where(apart > 0, np.exp(1.0 - apart), 0)
    wrong /= wrong.sum(axis=1, keepdims=True)
    rates = right[:, :, None] * np.eye(wide) + (1 - right)[:, :, None] * wrong
    truth = rng.integers(wide, size=items)
    item = np.repeat(np.arange(items), each)
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :each].ravel()
    label = (rng.random(len(item))[:, None] > np.cumsum(rates[judge, truth[item]], axis=1)).sum(axis=1)
    names = pl.DataFrame({"query": ["0"] * items, "doc": [str(place) for place in range(items)]})
    votes = Votes(
        items=names, judges=tuple(map(str, range(judges))), labels=tuple(range(wide)), item=item.astype(np.int32),
        judge=judge.astype(np.int32), label=label.astype(np.int32), others=pl.DataFrame(),
    )  # fmt: skip
    return votes, rates


def held(answer: Aggregation, rates: np.ndarray) -> tuple[float, float]:
    """How often the intervals of cells, and of accuracies, hold the truth."""
    inside = [np.abs(one.confusion.interval()[0] <= true) & (true <= one.confusion.interval()[1])
              for one, true in zip(answer.judges, rates, strict=True)]  # fmt: skip
    right = [one.accuracy.low <= np.trace(true) / len(true) <= one.accuracy.high
             for one, true in zip(answer.judges, rates, strict=True)]  # fmt: skip
    return float(np.mean(inside)), float(np.mean(right))


def coverage(replications: int, **world: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(replications):
        votes, rates = crowd(rng, **world)  # type: ignore[arg-type]
        found.append(held(aggregate(votes), rates))
    return np.mean(found, axis=0)


@pytest.mark.simulation
@pytest.mark.parametrize(
    "world",
    [
        {},
        {"items": 2400},
        {"items": 1000, "each": 3},
        {"accuracy": 0.6},
        {"accuracy": 0.9},
        {"wide": 2, "accuracy": 0.8},
        {"judges": 5, "items": 300},
    ],
    ids=str,
)
def test_intervals_of_cells_and_accuracies_hold_about_as_often_as_they_say(world: dict[str, float]) -> None:
    cells, accuracies = coverage(20, **world)
    assert 0.93 < cells < 0.98
    assert 0.93 < accuracies < 0.985


@pytest.mark.simulation
def test_with_two_judges_for_an_item_they_do_not_and_a_note_says_so() -> None:
    cells, accuracies = coverage(20, judges=2, each=2, items=1000, wide=2, accuracy=0.8)
    assert cells < 0.7
    assert accuracies < 0.8
    votes, _ = crowd(np.random.default_rng(0), judges=2, each=2)
    assert any("their intervals are too narrow" in note for note in aggregate(votes).notes)
