"""Preferences: a pair has no first document, so what the documents are called changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from judges.aggregation.oracle import expectation_maximisation
from ringtrue.judges.aggregation import METHODS, Prior, aggregate
from ringtrue.judges.votes import Votes, make_votes
from strategies import examples

MODELS = ["dawid-skene", "one-coin", "mace"]
DOCS = [f"d{place:02d}" for place in range(10)]
REVERSED = dict(zip(DOCS, DOCS[::-1], strict=True))
Row = tuple[str, str, str, str]
priors = st.sampled_from([None, Prior(), Prior(diagonal=0, cell=0.01), Prior(diagonal=3, cell=0)])


def named(rows: list[Row], names: dict[str, str]) -> dict[str, list[str]]:
    left, right, judge, winner = zip(*rows, strict=True)
    return {
        "left": [names[doc] for doc in left],
        "right": [names[doc] for doc in right],
        "judge": list(judge),
        "winner": list(winner),
    }


def seeded(seed: int) -> tuple[list[Row], list[Row]]:
    """Votes of four judges, one of them careless, on documents that get worse with their ids; and some gold."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    gold: list[Row] = []
    for i, better in enumerate(DOCS):
        for k, worse in enumerate(DOCS[i + 1 :], i + 1):
            if rng.random() < 0.2:
                gold.append((better, worse, "gold", str(rng.choice(["left", "left", "right", "tie"]))))
            for judge in "abcd":
                right = judge != "d" and rng.random() < 1 / (1 + np.exp(-0.5 * (k - i)))
                side = "left" if right or rng.random() < 0.3 else str(rng.choice(["right", "tie"]))
                if rng.random() < 0.5:
                    rows.append((better, worse, judge, side))
                else:
                    rows.append((worse, better, judge, {"left": "right", "right": "left", "tie": "tie"}[side]))
    return rows, gold


def outcomes(answer: rt.Aggregation, names: dict[str, str]) -> dict[tuple[str, str], tuple[str, dict[str, float]]]:
    """Who won each pair, and how probable each outcome is, by the names that the documents had at first."""
    back = {new: old for old, new in names.items()}
    found = {}
    rows = answer.items.select("first", "second", "label").rows()
    for (first, second, label), shares in zip(rows, answer.probabilities.tolist(), strict=True):
        one, other = back[first], back[second]
        words = {1: one, -1: other, 0: "tie"}
        found[min(one, other), max(one, other)] = (words[label], dict(zip([other, "tie", one], shares, strict=True)))
    return found


def require_the_same(one: rt.Aggregation, other: rt.Aggregation, names: dict[str, str], *, winners: bool) -> None:
    same = {doc: doc for doc in names}
    before, after = outcomes(one, same), outcomes(other, names)
    assert before.keys() == after.keys()
    for pair, (winner, shares) in before.items():
        assert after[pair][1] == pytest.approx(shares, abs=1e-6)
        if winners:
            assert after[pair][0] == winner
    for first, second in zip(one.judges, other.judges, strict=True):
        assert first.accuracy.value == pytest.approx(second.accuracy.value, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("prior", [None, Prior(), Prior(diagonal=3, cell=0)])
@pytest.mark.parametrize("with_gold", [False, True])
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3))])
def test_new_names_change_no_winner(method: Any, prior: Prior | None, with_gold: bool, seed: int) -> None:
    rows, gold = seeded(seed)
    shuffled = dict(zip(DOCS, np.random.default_rng(seed).permutation(DOCS).tolist(), strict=True))
    found = []
    for names in ({doc: doc for doc in DOCS}, REVERSED, shuffled):
        known = named(gold, names) if with_gold else None
        answer = aggregate(named(rows, names), method=method, gold=known, prior=prior)
        require_the_same(found[0] if found else answer, answer, names, winners=True)
        found.append(answer)
        if method in MODELS:
            assert answer.class_shares[1] == answer.class_shares[-1]
            assert answer.objective == pytest.approx(found[0].objective, abs=1e-6)
            assert answer.notes == found[0].notes
            for judge in answer.judges:
                assert judge.rates == pytest.approx(judge.rates[::-1, ::-1], abs=1e-12)
                assert judge.confusion.counts.sum() == pytest.approx(judge.labels)


@pytest.mark.parametrize("method", MODELS)
def test_new_names_change_nothing_after_a_start(method: Any) -> None:
    rows, _ = seeded(1)
    some, same = [row for row in rows if row[0] < "d05"], {doc: doc for doc in DOCS}
    one, other = (
        aggregate(named(rows, names), method=method, start=aggregate(named(some, names), method=method))
        for names in (same, REVERSED)
    )
    assert one.iterations == other.iterations
    require_the_same(one, other, REVERSED, winners=True)


def test_a_start_that_knows_a_first_document_is_taken_both_ways_round() -> None:
    rows, _ = seeded(2)
    graded = {"item": [*"uvw"] * 2, "worker": [*"aaabbb"], "label": [-1, 0, 1, 1, 1, 1]}
    start = aggregate(graded, scale=[-1, 0, 1], method="mace")
    one, other = (
        aggregate(named(rows, names), method="mace", start=start, max_iterations=3)
        for names in ({doc: doc for doc in DOCS}, REVERSED)
    )
    require_the_same(one, other, REVERSED, winners=True)


@st.composite
def few_rows(draw: st.DrawFn) -> list[Row]:
    pair = st.permutations("stu").map(lambda docs: docs[:2])
    row = st.tuples(pair, st.sampled_from("xyz"), st.sampled_from(["left", "right", "tie"]))
    return [(*docs, judge, said) for docs, judge, said in draw(st.lists(row, min_size=1, max_size=12))]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Votes with repeats and gaps, and gold for one of the pairs, or for none."""
    rows = draw(few_rows())
    gold = draw(st.sampled_from(["none", "left", "right", "tie"]))
    return rows, [] if gold == "none" else [(*rows[0][:2], "gold", gold)]


@examples(40)
@given(worlds(), st.sampled_from(METHODS), priors, st.permutations("stu"))
def test_new_names_change_no_probability(
    world: tuple[list[Row], list[Row]], method: Any, prior: Prior | None, order: list[str]
) -> None:
    rows, gold = world
    names, same = dict(zip("stu", order, strict=True)), {doc: doc for doc in "stu"}
    one, other = (
        aggregate(
            named(rows, some), method=method, gold=named(gold, some) if gold else None, prior=prior, repeats="all",
            max_iterations=20,
        )
        for some in (same, names)
    )  # fmt: skip
    require_the_same(one, other, names, winners=method not in MODELS)


@examples(40)
@given(worlds(), st.sampled_from(MODELS), priors)
def test_the_log_posterior_never_falls(world: tuple[list[Row], list[Row]], method: Any, prior: Prior | None) -> None:
    rows, gold = world
    same = {doc: doc for doc in "stu"}
    known = named(gold, same) if gold else None
    answer = aggregate(named(rows, same), method=method, gold=known, prior=prior, repeats="all", max_iterations=60)
    assert np.isfinite(answer.objective).all()
    assert (np.diff(answer.objective) >= -1e-9).all()
    if answer.iterations:
        assert answer.class_shares[1] == answer.class_shares[-1]


def stacked(votes: Votes) -> Votes:
    """Every item a second time, with its documents swapped."""
    return Votes(
        items=votes.items.vstack(votes.items), judges=votes.judges, labels=votes.labels, others=votes.others,
        item=np.concatenate([votes.item, votes.item + np.int32(votes.items.height)]),
        judge=np.tile(votes.judge, 2), label=np.concatenate([votes.label, 2 - votes.label]),
    )  # fmt: skip


@examples(40)
@given(worlds(), st.sampled_from(MODELS), priors, st.integers(1, 6))
def test_it_is_as_if_each_pair_stood_there_both_ways_round(
    world: tuple[list[Row], list[Row]], method: Any, prior: Prior | None, iterations: int
) -> None:
    rows, gold = world
    same = {doc: doc for doc in "stu"}
    votes, prior_or_none = make_votes(named(rows, same)), prior or Prior(diagonal=0, cell=0)
    known = make_votes(named(gold, same)) if gold else None
    answer = aggregate(
        votes, method=method, gold=known, prior=prior, repeats="all", max_iterations=iterations, tolerance=0
    )
    if not answer.iterations:
        return
    labels = {known.items.row(0): int(known.label[0])} if known else {}
    pinned = [labels.get(row, -1) for row in votes.items.rows()]
    truth, posterior, likelihood = expectation_maximisation(
        stacked(votes), method, iterations=answer.iterations,
        prior=Prior(diagonal=2 * prior_or_none.diagonal, cell=2 * prior_or_none.cell),
        gold=pinned + [2 - label if label >= 0 else -1 for label in pinned],
    )  # fmt: skip
    assert answer.probabilities == pytest.approx(truth[: len(pinned)], abs=1e-9)
    assert answer.objective == pytest.approx(np.array(posterior) / 2, abs=1e-8)
    assert answer.log_likelihood == pytest.approx(likelihood[-1] / 2, abs=1e-8)


@pytest.mark.parametrize("ties", ["low", "high", "random"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("said", [["left", "right", "tie"], ["left", "right"]])
def test_where_labels_are_equally_good_it_is_a_tie(method: Any, ties: Any, said: list[str]) -> None:
    table = named([("s", "t", judge, winner) for judge, winner in zip("xyz", said, strict=False)], {"s": "s", "t": "t"})
    answer = aggregate(table, method=method, ties=ties)
    assert answer.items["label"].to_list() == [0]


@pytest.mark.parametrize("ties", ["low", "high", "random"])
@pytest.mark.parametrize(
    ("method", "what"),
    [("majority", "most votes"), ("mean", "a mean "), ("median", "a median ")],
)  # fmt: skip
def test_a_win_and_a_tie_are_a_tie_and_the_note_says_so(method: Any, what: str, ties: Any) -> None:
    same = {doc: doc for doc in "stuv"}
    rows = [("s", "t", "x", "left"), ("s", "t", "y", "tie"), ("u", "v", "x", "right"), ("u", "v", "y", "tie")]
    answer = aggregate(named(rows, same), method=method, ties=ties)
    assert answer.items["label"].to_list() == [0, 0]
    assert answer.ties == 2
    (note,) = [note for note in answer.notes if note.code == "tied-items"]
    assert "2 items" in note
    assert what in note
    assert note.suggestions == ()


def test_names_in_favour_of_one_side_are_no_reason_for_a_doubt() -> None:
    rows = [(one, other, judge, "left") for i, one in enumerate(DOCS) for other in DOCS[i + 1 :] for judge in "abc"]
    for method in MODELS:
        answer = aggregate(named(rows, {doc: doc for doc in DOCS}), method=method)
        assert set(answer.items["label"]) == {1}
        assert answer.notes == ()
