"""A confusion matrix from labels of several judges."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import DuplicateError, MismatchError, UsageError
from ringtrue.judges.ceiling.inputs import confusion_documents

LABELS = {
    "doc": ["a", "a", "b", "b", "c", "c", "c", "d"],
    "judge": ["ann", "bob", "ann", "bob", "ann", "bob", "cat", "ann"],
    "label": [0, 0, 0, 1, 1, 1, 2, 2],
}


@st.composite
def votes(draw: st.DrawFn) -> dict[str, list[object]]:
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "y", "z"]), st.integers(0, 2)),
            min_size=1, max_size=25, unique_by=lambda row: row[:2],
        )
    )  # fmt: skip
    return {"doc": [row[0] for row in rows], "judge": [row[1] for row in rows], "label": [row[2] for row in rows]}


def slowly(table, testing: str | None, training: str | None) -> np.ndarray:
    """Every ordered pair of two judges' labels of each document; each document weighs 1."""
    labels = sorted(set(table["label"]))
    counts = np.zeros((len(labels), len(labels)))
    for doc in set(table["doc"]):
        mine = [(j, v) for d, j, v in zip(table["doc"], table["judge"], table["label"], strict=True) if d == doc]
        pairs = [
            (i, j)
            for (one, i), (other, j) in permutations(mine, 2)
            if one != other and testing in (None, one) and training in (None, other)
        ]
        for i, j in pairs:
            counts[labels.index(i), labels.index(j)] += 1 / len(pairs)
    return counts


def test_all_pairs_both_ways_by_hand() -> None:
    found = rt.estimate_confusion(LABELS)
    assert (found.rows, found.columns, found.labels) == ("testing judge", "training judge", (0, 1, 2))
    third = 1 / 3  # of document c there are six ordered pairs: 1 and 1 twice, 1 and 2 twice, 2 and 1 twice
    assert found.counts == pytest.approx(np.array([[1, 0.5, 0], [0.5, third, third], [0, third, 0]]))
    assert found.counts.sum() == pytest.approx(3)  # documents with two judges


def test_two_judges_by_name() -> None:
    found = rt.estimate_confusion(LABELS, testing="ann", training="bob")
    assert (found.rows, found.columns) == ("testing judge (ann)", "training judge (bob)")
    assert found.counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    turned = rt.estimate_confusion(LABELS, testing="bob", training="ann")
    assert turned.counts.tolist() == found.counts.T.tolist()


@given(votes(), st.sampled_from([None, "x", "y"]), st.sampled_from([None, "z"]))
def test_counting_pair_by_pair_gives_the_same(table, testing: str | None, training: str | None) -> None:
    expected = slowly(table, testing, training)
    if not expected.any() or any(name is not None and name not in table["judge"] for name in (testing, training)):
        with pytest.raises((MismatchError, UsageError)):
            rt.estimate_confusion(table, testing=testing, training=training)
        return
    found = rt.estimate_confusion(table, testing=testing, training=training)
    assert found.counts == pytest.approx(expected, abs=1e-8)
    # Each document weighs 1: the cases are the documents behind them.
    assert confusion_documents(table, testing=testing, training=training).height == round(float(found.counts.sum()))
    if testing is None and training is None:
        assert found.counts == pytest.approx(found.counts.T)


def test_gold_is_the_testing_judge() -> None:
    found = rt.estimate_confusion(LABELS, gold={"doc": ["a", "c", "x"], "label": [1, 3, 0]})
    assert (found.rows, found.columns, found.labels) == ("gold", "training judge", (0, 1, 2, 3))
    assert found.counts[1].tolist() == [1, 0, 0, 0]
    assert found.counts[3].tolist() == pytest.approx([0, 2 / 3, 1 / 3, 0])
    one = rt.estimate_confusion(LABELS, gold={"doc": ["a", "c"], "label": [1, 2]}, training="cat")
    assert one.columns == "training judge (cat)"
    assert one.counts.sum() == 1


def test_repeats_are_settled_and_never_held_against_each_other() -> None:
    again = {"doc": ["a", "a", "a"], "judge": ["ann", "ann", "bob"], "label": [0, 1, 1]}
    with pytest.raises(DuplicateError) as refused:
        rt.estimate_confusion(again)
    assert refused.value.code == "repeated-labels"
    assert rt.estimate_confusion(again, repeats="last").counts.tolist() == [[0, 0], [0, 1]]
    everything = rt.estimate_confusion(again, repeats="all")
    assert everything.counts == pytest.approx(np.array([[0, 0.25], [0.25, 0.5]]))
    alone = {"doc": ["a", "a"], "judge": ["ann", "ann"], "label": [0, 1]}
    with pytest.raises(MismatchError) as refused:
        rt.estimate_confusion(alone, repeats="all")
    assert refused.value.code == "one-judge"


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (
            {"testing": "anna"},
            UsageError,
            "no judge 'anna' to be the testing judge, only ann, bob, cat; did you mean 'ann'",
        ),
        ({"testing": "ann", "training": "ann"}, UsageError, "name two, or one"),
        ({"testing": "ann", "gold": {"doc": ["a"], "label": [0]}}, UsageError, "'ann' or gold, not both"),
        ({"gold": {"doc": ["zz"], "label": [0]}}, MismatchError, "no gold item was labelled"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        rt.estimate_confusion(LABELS, **given)


def test_judges_who_never_meet_and_preferences_are_refused() -> None:
    apart = {"doc": ["a", "b"], "judge": ["ann", "bob"], "label": [0, 1]}
    with pytest.raises(MismatchError) as refused:
        rt.estimate_confusion(apart)
    assert refused.value.code == "no-shared-items"
    with pytest.raises(MismatchError) as refused:
        rt.estimate_confusion(apart, testing="ann", training="bob")
    assert refused.value.code == "no-shared-items"
    assert "'ann' and by 'bob'" in refused.value.text
    with pytest.raises(MismatchError) as refused:
        rt.estimate_confusion(apart, testing="ann")
    assert refused.value.code == "no-shared-items"
    assert "'ann' and by another" in refused.value.text
    with pytest.raises(UsageError) as refused:
        rt.estimate_confusion({"query": ["q"], "left": ["a"], "right": ["b"], "winner": ["left"]})
    assert refused.value.code == "not-for-preferences"
