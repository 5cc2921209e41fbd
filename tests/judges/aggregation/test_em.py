"""The EM algorithm: never down, the same as a plain second implementation, and Dawid and Skene's own example."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from judges.aggregation.oracle import expectation_maximisation
from ringtrue.judges.aggregation import Aggregation, Prior, aggregate
from ringtrue.judges.votes import Votes, make_votes
from strategies import examples, judged

MODELS = ["dawid-skene", "one-coin", "mace"]
methods = st.sampled_from(MODELS)
priors = st.sampled_from([None, Prior(), Prior(diagonal=0, cell=0.01), Prior(diagonal=3, cell=0)])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Votes, Votes | None]:
    """Votes with repeats and gaps, and gold labels for some of the items, also such as nobody gave."""
    votes = draw(judged())
    gold = draw(st.lists(st.integers(-1, 3), min_size=votes.items.height, max_size=votes.items.height))
    known = [place for place, label in enumerate(gold) if label >= 0]
    if not known:
        return votes, None
    frame = votes.items[known].with_columns(label=np.array(gold)[known])
    return votes, make_votes(frame)


def pinned(answer: rt.Aggregation, gold: Votes | None) -> list[int]:
    labels = {}
    if gold is not None:
        labels = {gold.items.row(i): gold.labels[k] for i, k in zip(gold.item, gold.label, strict=True)}
    rows = answer.items.select(answer.items.columns[:2]).rows()
    return [answer.labels.index(labels[row]) if row in labels else -1 for row in rows]


@examples(40)
@given(worlds(), methods, priors)
def test_the_log_posterior_never_falls(world: tuple[Votes, Votes | None], method: Any, prior: Prior | None) -> None:
    votes, gold = world
    answer = aggregate(votes, method=method, gold=gold, prior=prior, repeats="all", max_iterations=60)
    assert np.isfinite(answer.objective).all()
    assert (np.diff(answer.objective) >= -1e-9).all()
    assert np.isfinite(answer.probabilities).all()
    assert answer.probabilities.sum(axis=1) == pytest.approx(1)
    if prior is None and answer.iterations:
        assert answer.log_likelihood == pytest.approx(answer.objective[-1])


@examples(60)
@given(worlds(), methods, priors, st.integers(1, 8))
def test_a_plain_second_implementation_finds_the_same(
    world: tuple[Votes, Votes | None], method: Any, prior: Prior | None, iterations: int
) -> None:
    votes, gold = world
    answer = aggregate(
        votes, method=method, gold=gold, prior=prior, repeats="all", max_iterations=iterations, tolerance=0
    )
    wider = votes if gold is None else votes.widen_scale(gold.labels)
    if len(wider.labels) == 1 or not answer.iterations:
        return  # one label, or a single judge: nothing to find out
    truth, posterior, likelihood = expectation_maximisation(
        wider, method, prior=prior or Prior(diagonal=0, cell=0), gold=pinned(answer, gold), iterations=answer.iterations
    )
    assert answer.probabilities == pytest.approx(truth, abs=1e-9)
    assert answer.objective == pytest.approx(posterior, abs=1e-8)
    assert answer.log_likelihood == pytest.approx(likelihood[-1], abs=1e-8)


def test_by_hand() -> None:
    # From the vote shares (1, 0) and (½, ½): labels are 0 with share ¾. Where 0 is true, x says 0 in ⅔ of the cases,
    # and y always says 0. So the first item is 0 with ¾ · ⅔, the second 0 with ¾ · ⅓ and 1 with ¼: all is as before.
    votes = {"item": ["a", "a", "b", "b"], "worker": ["x", "y", "x", "y"], "label": [0, 0, 1, 0]}
    answer = aggregate(votes, prior=None)
    assert answer.iterations == 1
    assert answer.probabilities == pytest.approx(np.array([[1, 0], [0.5, 0.5]]))
    assert answer.log_likelihood == pytest.approx(2 * math.log(0.5))
    assert answer.class_shares == {0: 0.75, 1: 0.25}
    assert answer.judges[0].confusion.matrix == pytest.approx(np.array([[2 / 3, 1 / 3], [0, 1]]))
    assert answer.judges[1].confusion.matrix == pytest.approx(np.array([[1, 0], [1, 0]]))


def test_the_prior_by_hand() -> None:
    # The same after one iteration, with 1 label more in each cell and 2 more on the diagonal: x says 0 where 0 is true
    # with (1 + 3) / (1.5 + 4), and where 1 is true with 1 / (0.5 + 4); y with 4.5 / 5.5 and 1.5 / 4.5.
    votes = {"item": ["a", "a", "b", "b"], "worker": ["x", "y", "x", "y"], "label": [0, 0, 1, 0]}
    answer = aggregate(votes, max_iterations=1)
    zero, one = 0.75 * (4 / 5.5) * (4.5 / 5.5), 0.25 * (1 / 4.5) * (1.5 / 4.5)
    assert answer.probabilities[0, 0] == pytest.approx(zero / (zero + one))
    assert answer.judges[0].rates == pytest.approx(np.array([[4 / 5.5, 1.5 / 5.5], [1 / 4.5, 3.5 / 4.5]]))


def test_a_judge_who_contradicts_all_others_is_turned_round() -> None:
    items = range(40)
    rows = [(i, w, (i % 2) if w != "d" else 1 - i % 2) for i in items for w in "abcd"]
    answer = aggregate({"item": [r[0] for r in rows], "worker": [r[1] for r in rows], "label": [r[2] for r in rows]})
    assert answer.judges[3].accuracy.value == pytest.approx(0, abs=1e-4)
    assert answer.judges[3].confusion.matrix == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-4)


def test_a_spammer_weighs_less_than_those_who_look() -> None:
    # Two spammers always say 2; two others know. Of four votes, two are for 2 in every item.
    truth = [0, 1] * 20
    rows = [(i, w, label if w in "ab" else 2) for i, label in enumerate(truth) for w in "abcd"]
    table = {"item": [r[0] for r in rows], "worker": [r[1] for r in rows], "label": [r[2] for r in rows]}
    gold = {"item": [0, 1, 2], "label": truth[:3]}
    for method in MODELS:
        answer = aggregate(table, method=method, gold=gold)
        assert answer.items["label"].to_list() == truth, method


def rows_of_the_anaesthetists(data: Path) -> tuple[dict[str, Any], dict[str, Any], list[list[int]]]:
    anchors = {one["name"]: one for one in json.loads((data.parent / "anchors-agreement.json").read_text())}
    paper, variant = anchors["dawid_skene_1979_anaesthetists"], anchors["dawid_skene_1979_variant_R_rater"]
    return paper, variant, paper["data"]["rows"]


def table_of(rows: list[list[int]]) -> dict[str, list[int]]:
    item, judge, label = zip(*rows, strict=True)
    return {"item": list(item), "worker": list(judge), "label": list(label)}


def require_anchor(answer: rt.Aggregation, anchor: dict[str, Any]) -> None:
    expected, near = anchor["expected"], anchor["tolerance"]
    assert list(answer.class_shares.values()) == pytest.approx(expected["class_marginals"], abs=near)
    assert answer.log_likelihood == pytest.approx(expected["log_likelihood"], abs=near)
    for judge, rates in zip(answer.judges, expected["error_rates"], strict=True):
        assert judge.confusion.matrix == pytest.approx(np.array(rates), abs=near)
        assert judge.rates == pytest.approx(np.array(rates), abs=near)


@pytest.mark.real
def test_the_anaesthetists_of_1979(data: Path) -> None:
    paper, variant, rows = rows_of_the_anaesthetists(data)
    answer = aggregate(table_of(rows), repeats="all", prior=None)
    require_anchor(answer, paper)
    assert answer.probabilities == pytest.approx(np.array(paper["expected"]["posterior"]), abs=paper["tolerance"])
    assert answer.items["label"].to_list() == paper["expected"]["map_class"]
    second = [place for place, (patient, judge, _) in enumerate(rows) if (patient, judge) == (7, 1)][1]
    changed = [[*row[:2], 1] if place == second else row for place, row in enumerate(rows)]
    require_anchor(aggregate(table_of(changed), repeats="all", prior=None), variant)


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
    assert "few-labels-per-item" in [note.code for note in aggregate(votes).notes]
