from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import ringtrue as rt
from ringtrue.errors import DuplicateError, TableError
from ringtrue.files import read_judgments
from ringtrue.preference.implied_preferences import count_implied_pairs, implied_preferences, keep_usable_labels
from ringtrue.tables import Judgments

ROWS = st.dictionaries(
    st.tuples(st.sampled_from("qr"), st.sampled_from("xy"), st.sampled_from("abcdef")),  # query, judge, doc
    st.integers(-2, 3),
    min_size=2,
)


def judgments_of(labels: dict[tuple[str, str, str], int]) -> Judgments:
    query, judge, doc = zip(*labels, strict=True)
    return Judgments.of({"query": query, "judge": judge, "doc": doc, "label": list(labels.values())})


def by_hand(labels: dict[tuple[str, str, str], int], *, ties: bool) -> list[tuple[str, ...]]:
    """Every two labels, one pair after the other."""
    found = []
    for ((query, judge, one), high), ((other_query, other_judge, other), low) in combinations(labels.items(), 2):
        if (query, judge) != (other_query, other_judge) or min(high, low) < 0 or (high == low and not ties):
            continue
        found.append((query, one, other, judge, "tie" if high == low else "left" if high > low else "right"))
    return found


def test_the_document_with_the_higher_label_is_preferred() -> None:
    judgments = Judgments.of({"bread": {"d1": 1, "d2": 3, "d3": 0, "d4": 1}, "soup": {"d1": 0, "d5": 1}})
    assert implied_preferences(judgments).frame.rows() == [
        ("bread", "d1", "d2", "0", "right"),
        ("bread", "d1", "d3", "0", "left"),
        ("bread", "d2", "d3", "0", "left"),
        ("bread", "d2", "d4", "0", "left"),
        ("bread", "d3", "d4", "0", "right"),
        ("soup", "d1", "d5", "0", "right"),
    ]


def test_equal_labels_are_ties_where_asked() -> None:
    judgments = Judgments.of({"bread": {"d1": 1, "d2": 1}})
    assert implied_preferences(judgments, ties=True).frame.rows() == [("bread", "d1", "d2", "0", "tie")]


@given(labels=ROWS, ties=st.booleans())
def test_every_pair_is_found_as_by_hand(labels: dict[tuple[str, str, str], int], ties: bool) -> None:
    expected = by_hand(labels, ties=ties)
    assume(expected)
    found = implied_preferences(judgments_of(labels), ties=ties)
    assert found.frame.rows() == expected


@given(labels=ROWS)
def test_preferences_agree_with_the_labels_and_are_as_many_as_labels_differ(
    labels: dict[tuple[str, str, str], int],
) -> None:
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for (query, judge, _), label in labels.items():
        if label >= 0:
            counts[query, judge][label] += 1
    expected = sum(n * m for found in counts.values() for n, m in combinations(found.values(), 2))
    assume(expected)
    judgments = judgments_of(labels)
    found = implied_preferences(judgments)
    assert found.frame.height == expected == count_implied_pairs(keep_usable_labels(judgments))
    for query, left, right, judge, winner in found.frame.rows():
        better, worse = (left, right) if winner == "left" else (right, left)
        assert labels[query, judge, better] > labels[query, judge, worse] >= 0


def test_the_order_of_labels_by_different_judges_says_nothing() -> None:
    judgments = Judgments.of({"query": ["q", "q"], "doc": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]})
    with pytest.raises(TableError) as refused:
        implied_preferences(judgments)
    assert refused.value.code == "no-two-labels"


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ({"a": 1, "b": 1}, "only-equal-labels"),
        ({"a": 1, "b": -1}, "no-two-labels"),
        ({"a": -1, "b": -2}, "nothing-judged"),
    ],
)
def test_labels_that_imply_nothing_are_refused(labels: dict[str, int], code: str) -> None:
    with pytest.raises(TableError) as refused:
        implied_preferences({"q": labels})
    assert refused.value.code == code
    assert [choice.arguments for choice in refused.value.note.suggestions] == (
        [{"ties": True}] if code == "only-equal-labels" else []
    )


def test_a_document_that_a_judge_labelled_again_is_refused() -> None:
    again = Judgments.of(
        {"query": ["q"] * 3, "doc": ["a", "b", "a"], "judge": ["x"] * 3, "label": [0, 1, 2]},
    )
    with pytest.raises(DuplicateError) as caught:
        implied_preferences(again)
    assert caught.value.code == "repeated-labels"
    assert "2 times (0, 2)" in caught.value.text
    assert (caught.value.query, caught.value.doc, caught.value.judge) == ("q", "a", "x")
    assert implied_preferences(again.without_repeats("last")).frame["winner"].to_list() == ["right"]


def test_too_many_pairs_are_counted_and_refused_before_they_are_made() -> None:
    docs = [f"d{number}" for number in range(20_000)]
    judgments = Judgments.of({"query": ["q"] * 20_000, "doc": docs, "label": [0, 1] * 10_000})
    assert count_implied_pairs(judgments) == 100_000_000
    with pytest.raises(TableError) as refused:
        implied_preferences(judgments)
    assert refused.value.code == "too-many-pairs"
    assert refused.value.text.startswith("100,000,000 pairs")
    assert "50,000,000" in refused.value.text


def test_further_columns_of_judgments_do_not_come_along() -> None:
    judgments = Judgments.of({"query": ["q", "q"], "doc": ["a", "b"], "label": [0, 1], "prob": [0.5, 0.5]})
    assert rt.implied_preferences(judgments).frame.columns == ["query", "left", "right", "judge", "winner"]


@pytest.mark.real
def test_a_real_topic_has_the_pairs_that_itertools_finds(data: Path) -> None:
    judgments = read_judgments(data / "dl21/human.qrels")
    topic = judgments.frame["query"][0]
    labels = judgments.frame.filter(pl.col("query") == topic)
    expected = by_hand({(topic, "0", doc): label for doc, label in labels.select("doc", "label").rows()}, ties=False)
    assert implied_preferences(Judgments(labels)).frame.rows() == expected
    assert len(expected) > 1000


@pytest.mark.real
def test_trec_eval_counts_as_many_possible_preferences_in_its_qrels(data: Path) -> None:
    lines = (data / "trec_eval/out.test.qrels_prefs").read_text().splitlines()
    told = {query: int(value) for name, query, value in map(str.split, lines) if name == "prefs_num_prefs_poss"}
    found = implied_preferences(read_judgments(data / "trec_eval/qrels.test")).frame
    assert dict(found["query"].value_counts().rows()) | {"all": found.height} == told
