"""Mutual evaluation: by hand, by listing every order, and on real judges."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import MismatchError, UsageError
from ringtrue.judges.disagreement import mutual_evaluation
from strategies import examples

TOP = 2
queries = st.lists(
    st.lists(st.tuples(st.integers(0, TOP), st.integers(0, TOP)), min_size=1, max_size=5), min_size=2, max_size=4
)


def table(labels: list[list[tuple[int, int]]]) -> pl.DataFrame:
    """Two judges' labels of the documents of each query."""
    rows = [
        (f"q{q}", f"d{d}", judge, label)
        for q, documents in enumerate(labels)
        for d, both in enumerate(documents)
        for judge, label in zip(("ann", "bob"), both, strict=True)
    ]
    return pl.DataFrame(rows, schema=["query", "doc", "judge", "label"], orient="row")


def slowly(labels: list[list[tuple[int, int]]], q: int, measure: str) -> float | None:
    """One query, both ways, every order of the ties written out; p counted label by label elsewhere."""
    worth = [0.0, 0.0, 1.0] if measure == "AP" else [0.0, 1.0, 3.0]
    if "/" in measure:
        users = int(measure[-2])
        elsewhere = [way for i, docs in enumerate(labels) if i != q for a, b in docs for way in ((a, b), (b, a))]
        worth = [0.0]
        for level in range(1, TOP):
            others = [b for a, b in elsewhere if a == level]
            if not others and any(level in both for both in labels[q]):
                return None  # never seen elsewhere
            p = np.mean([b == TOP for b in others]) if others else 0.0
            worth.append(1 - (1 - p) ** (users - 1))
        worth.append(1.0)
    values = []
    for scored, ranked in ((0, 1), (1, 0)):
        whole = sum(worth[both[scored]] for both in labels[q])
        ideal = sorted((worth[both[scored]] for both in labels[q]), reverse=True)
        if whole == 0:
            return None
        found = []
        for order in permutations(labels[q]):
            if any(a[ranked] < b[ranked] for a, b in pairwise(order)):
                continue
            g = [worth[both[scored]] for both in order]
            if measure.startswith("nDCG"):
                discount = [1 / (i + 1) if "zipf" in measure else 1 / log2(i + 2) for i in range(len(g))]
                found.append(np.dot(g, discount) / np.dot(ideal, discount))
            else:
                found.append(sum(min(g[m], g[i]) / (i + 1) for i in range(len(g)) for m in range(i + 1)) / whole)
        values.append(np.mean(found))
    return float(np.mean(values))


@examples(60)
@given(queries)
def test_every_measure_is_the_mean_over_every_order_of_what_is_tied(labels: list[list[tuple[int, int]]]) -> None:
    found = mutual_evaluation(table(labels), scale=[0, 1, 2], at_least=["1/2", "1/4"])
    values = {(query, measure): value for query, measure, value in found.values.rows()}
    for q in range(len(labels)):
        for measure in found.table["measure"]:
            assert values[f"q{q}", measure] == pytest.approx(slowly(labels, q, measure), abs=1e-12), (q, measure)


def test_judges_who_agree_score_1_by_every_measure() -> None:
    found = mutual_evaluation(table([[(2, 2), (1, 1), (0, 0)], [(2, 2), (0, 0)], [(1, 1), (2, 2)]]))
    assert found.table["mean"].to_list() == pytest.approx([1.0] * 9)
    assert found.table["sd"].to_list() == pytest.approx([0.0] * 9)


@examples(20)
@given(queries, st.randoms())
def test_neither_the_order_of_rows_nor_who_comes_first_matters(labels, random) -> None:  # type: ignore[no-untyped-def]
    one = mutual_evaluation(table(labels), scale=[0, 1, 2]).table
    turned = [[both[::-1] for both in documents] for documents in labels]
    rows = table(turned).rows()
    random.shuffle(rows)
    shuffled = pl.DataFrame(rows, schema=["query", "doc", "judge", "label"], orient="row")
    two = mutual_evaluation(shuffled, scale=[0, 1, 2]).table
    for column in ("mean", "sd"):
        assert [x or 0 for x in two[column]] == pytest.approx([x or 0 for x in one[column]], abs=1e-12)


def test_without_names_the_two_judges_with_the_most_in_common_are_taken() -> None:
    more = pl.DataFrame([("q0", "d0", "eve", 0)], schema=["query", "doc", "judge", "label"], orient="row")
    labels = pl.concat([table([[(2, 2), (1, 0)], [(2, 1), (0, 0)]]), more])
    assert set(mutual_evaluation(labels).judges.values()) == {("ann", "bob")}
    assert mutual_evaluation(labels, judges=["bob", "ann"]).judges == {"q0": ("ann", "bob"), "q1": ("ann", "bob")}


@pytest.mark.parametrize(
    ("judges", "code", "found"),
    [(["ann"], "not-two-judges", "found 1"), (["ann", "bobb"], "unknown-judge", "'bob'?")],
)
def test_two_judges_who_are_there_are_needed(judges: list[str], code: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        mutual_evaluation(table([[(2, 2)], [(1, 0)]]), judges=judges)
    assert (refused.value.code, refused.value.parameter) == (code, "judges")
    assert found in refused.value.text


def test_one_query_has_no_others_to_learn_from() -> None:
    with pytest.raises(MismatchError) as refused:
        mutual_evaluation(table([[(2, 2), (1, 0)]]))
    assert refused.value.code == "too-few-queries"


@pytest.mark.real
def test_weights_make_people_and_a_model_more_alike_than_the_top_label_alone(data: Path) -> None:
    # The same order of measures as in the source: AP least, then GAP, then nDCG by weights, rising with N.
    frames = [
        rt.read_judgments(data / "dl19" / name).frame.select("query", "doc", "label", judge=pl.lit(name))
        for name in ("human.qrels", "llm-umbrela_gpt4.qrels")
    ]
    found = dict(mutual_evaluation(pl.concat(frames)).table.select("measure", "mean").rows())
    assert found["AP"] < found["GAP(1/2)"] < found["GAP(1/3)"] < found["GAP(1/4)"] < found["nDCG(1/2)"]
    assert found["nDCG(1/2)"] < found["nDCG(1/3)"] < found["nDCG(1/4)"]
    assert found["nDCG(exp, zipf)"] < found["nDCG(exp)"]
    assert found["AP"] == pytest.approx(0.425, abs=0.001)
