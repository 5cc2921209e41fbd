"""Each query's own confusion matrix, shrunk towards the pooled one, and the ceiling from these."""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import ringtrue as rt
from judges.ceiling.oracle import dcg_of_all, discounts
from ringtrue.errors import MismatchError, UsageError
from ringtrue.judges.ceiling.inputs import order_query_counts, shrink_to_pooled
from ringtrue.judges.ceiling.ndcg_ceiling import POOLED_NOTE

POOLED = rt.Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=np.array([[80, 20], [50, 50]]))
LENIENT = rt.QueryConfusions(pooled=POOLED, queries=("a",), counts=np.array([[[3.0, 2.0], [0.0, 0.0]]]))

own_counts = arrays(np.int64, (2, 3, 3), elements=st.integers(0, 6)).map(lambda counts: counts.astype(float))
pooled_counts = arrays(np.int64, (3, 3), elements=st.integers(1, 9)).map(lambda counts: counts.astype(float))


@st.composite
def double_labels(draw: st.DrawFn) -> pl.DataFrame:
    """Labels from 0 to 2 of up to three judges, two queries with up to four documents each; every label by x and y."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("pq"), st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 2)),
            min_size=1, max_size=20, unique_by=lambda row: row[:3],
        )
    )  # fmt: skip
    rows += [
        ("r", f"d{i}{j}", judge, label) for i in range(3) for j in range(3) for judge, label in (("x", i), ("y", j))
    ]
    return pl.DataFrame(rows, ["query", "doc", "judge", "label"], orient="row")


def counted_slowly(labels: pl.DataFrame) -> dict[str, list[list[float]]]:
    """Every ordered pair of two judges' labels of each document of each query; each document weighs 1."""
    counts: dict[str, list[list[float]]] = {}
    for query in labels["query"].unique():
        counts[query] = [[0.0] * 3 for _ in range(3)]
        of_query = labels.filter(pl.col("query") == query)
        for doc in of_query["doc"].unique():
            given = of_query.filter(pl.col("doc") == doc).select("judge", "label").rows()
            pairs = [(i, j) for (one, i), (other, j) in permutations(given, 2) if one != other]
            for i, j in pairs:
                counts[query][i][j] += 1 / len(pairs)
    return counts


def ceiling_slowly(testing: list[int], own: list[list[float]], pooled: list[list[float]], weight: float) -> float:
    """The ceiling of one query: shrunk row by row, then every training labelling and every order of ties."""
    matrix = []
    for own_row, pooled_row in zip(own, pooled, strict=True):
        shares = [count / sum(pooled_row) for count in pooled_row]
        row = [count + weight * share for count, share in zip(own_row, shares, strict=True)]
        matrix.append([cell / sum(row) for cell in row])
    gain = [0.0, 1.0, 3.0]
    reached = dcg_of_all([testing.count(label) for label in range(3)], np.array(matrix), gain)
    best = sorted((gain[label] for label in testing), reverse=True)
    return reached / sum(g * d for g, d in zip(best, discounts(len(best), None), strict=True))


def test_a_ceiling_by_hand() -> None:
    # Query a: row 0 is (3 + 5 · 0.8, 2 + 5 · 0.2) / 10 = (0.7, 0.3), row 1 has no case and is the pooled (0.5, 0.5).
    # The good document is first with 0.5 · 0.7 + (0.5 · 0.3 + 0.5 · 0.7) / 2 = 0.6; in b, by the pooled matrix, 0.65.
    found = rt.ceiling({query: {"good": 1, "bad": 0} for query in "ab"}, LENIENT)
    second = 1 / math.log2(3)
    assert found.per_query["ceiling"].to_list() == pytest.approx([0.6 + 0.4 * second, 0.65 + 0.35 * second])
    assert (found.pooled, found.own_matrices, found.shrinkage) == (False, 1, 5.0)
    assert found.confusion is POOLED
    (note,) = [note for note in found.notes if note.code == "partly-pooled-matrix"]
    assert note.startswith("1 of 2 queries")


@given(own_counts, pooled_counts, st.floats(0, 50))
def test_rows_add_up_and_lie_between_the_own_and_the_pooled_shares(own, pooled, weight: float) -> None:
    shares = pooled / pooled.sum(axis=1, keepdims=True)
    found = shrink_to_pooled(own, shares, weight)
    assert found.sum(axis=2) == pytest.approx(np.ones((2, 3)))
    totals = own.sum(axis=2, keepdims=True)
    own_shares = np.where(totals > 0, own / np.maximum(totals, 1), shares)
    assert (found >= np.minimum(own_shares, shares) - 1e-12).all()
    assert (found <= np.maximum(own_shares, shares) + 1e-12).all()


@given(own_counts, pooled_counts)
def test_much_shrinkage_gives_the_pooled_matrix_and_many_cases_the_querys_own(own, pooled) -> None:
    shares = pooled / pooled.sum(axis=1, keepdims=True)
    assert shrink_to_pooled(own, shares, 1e12) == pytest.approx(np.broadcast_to(shares, own.shape), abs=1e-9)
    totals = own.sum(axis=2, keepdims=True)
    expected = np.where(totals > 0, own / np.maximum(totals, 1), shares)
    assert shrink_to_pooled(own * 1e12, shares, 5.0) == pytest.approx(expected, abs=1e-9)
    assert shrink_to_pooled(own, shares, 0.0) == pytest.approx(expected)


@given(double_labels())
def test_counts_of_queries_are_those_of_plain_loops_and_add_up_to_the_pooled_ones(labels: pl.DataFrame) -> None:
    found = rt.estimate_query_confusions(labels)
    expected = counted_slowly(labels)
    assert set(found.queries) == set(expected)
    for query, counts in zip(found.queries, found.counts, strict=True):
        assert counts == pytest.approx(np.array(expected[query]), abs=1e-9)
    assert found.counts.sum(axis=0) == pytest.approx(found.pooled.counts, abs=1e-9)
    assert found.pooled.counts == pytest.approx(rt.estimate_confusion(labels).counts)


@given(double_labels(), st.sampled_from([0.5, 5.0, 20.0]))
def test_the_ceiling_is_that_of_plain_loops(labels: pl.DataFrame, weight: float) -> None:
    judgments = {"p": {"a": 2, "b": 0, "c": 1}, "q": {"a": 1, "b": 0, "c": 0, "d": 2}, "new": {"a": 0, "b": 1}}
    found = rt.ceiling(judgments, rt.estimate_query_confusions(labels), shrinkage=weight).per_query
    own = counted_slowly(labels)
    pooled = [[sum(own[query][i][j] for query in own) for j in range(3)] for i in range(3)]
    empty = [[0.0] * 3 for _ in range(3)]
    expected = [
        ceiling_slowly(list(docs.values()), own.get(query, empty), pooled, weight) for query, docs in judgments.items()
    ]
    assert found["ceiling"].to_list() == pytest.approx(expected, abs=1e-9)


@given(double_labels())
def test_much_shrinkage_gives_the_pooled_ceiling(labels: pl.DataFrame) -> None:
    judgments = {"p": {"a": 2, "b": 0, "c": 1}, "r": {"a": 1, "b": 0, "c": 0, "d": 2}}
    confusions = rt.estimate_query_confusions(labels)
    pooled = rt.ceiling(judgments, confusions.pooled)
    assert (pooled.pooled, pooled.shrinkage, pooled.own_matrices) == (True, None, 0)
    found = rt.ceiling(judgments, confusions, shrinkage=1e12)
    assert found.per_query["ceiling"].to_list() == pytest.approx(pooled.per_query["ceiling"].to_list(), abs=1e-9)


def test_one_matrix_for_all_says_that_runs_can_exceed_it_and_own_matrices_do_not() -> None:
    judgments = {"a": {"x": 1, "y": 0}}
    assert POOLED_NOTE in rt.ceiling(judgments, POOLED).notes
    assert POOLED_NOTE.suggestions[0].function == "estimate_query_confusions"
    found = rt.ceiling(judgments, LENIENT)
    assert not any("exceed" in note for note in found.notes)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (plain["pooled"], plain["own_matrices"], plain["shrinkage"]) == (False, 1, 5.0)
    assert rt.ceiling(judgments, POOLED).as_dict()["pooled"] is True


def test_labels_of_other_queries_give_the_pooled_ceiling() -> None:
    judgments = {"other": {"x": 1, "y": 0}}
    found = rt.ceiling(judgments, LENIENT)
    assert (found.pooled, found.own_matrices) == (True, 0)
    assert POOLED_NOTE in found.notes
    assert found.estimate.value == rt.ceiling(judgments, POOLED).estimate.value


@pytest.mark.parametrize("method", ["simulation", "closed-form"])
def test_the_papers_methods_take_own_matrices_too(method: str) -> None:
    judgments = {query: {f"d{d}": int(d % 3 == 0) for d in range(60)} for query in "abc"}
    counts = np.array([[[9.0, 1.0], [1.0, 9.0]], [[4.0, 6.0], [5.0, 5.0]]])
    confusions = rt.QueryConfusions(pooled=POOLED, queries=("a", "b"), counts=counts)
    exact = rt.ceiling(judgments, confusions)
    other = rt.ceiling(judgments, confusions, method=method, draws=2_000)  # type: ignore[arg-type]
    assert exact.per_query["ceiling"].n_unique() == 3
    assert other.per_query["ceiling"].to_list() == pytest.approx(exact.per_query["ceiling"].to_list(), abs=0.02)
    assert (other.simulated_se is not None) == (method == "simulation")


def test_labels_in_any_order_and_queries_without_cases() -> None:
    turned = rt.Confusion(rows="gold", columns="crowd", labels=(1, 0), counts=POOLED.counts[::-1, ::-1])
    confusions = rt.QueryConfusions(pooled=turned, queries=("a",), counts=LENIENT.counts[:, ::-1, ::-1])
    judgments = {query: {"good": 1, "bad": 0} for query in "ab"}
    assert order_query_counts(confusions, ["b", "a"]).tolist() == [[[0, 0], [0, 0]], [[3, 2], [0, 0]]]
    same = rt.ceiling(judgments, LENIENT).per_query["ceiling"].to_list()
    assert rt.ceiling(judgments, confusions).per_query["ceiling"].to_list() == pytest.approx(same)


@pytest.mark.simulation
def test_a_judge_who_is_lenient_on_some_queries_is_foretold_by_own_matrices_and_not_by_one() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for query in range(60):
        testing = (rng.random(80) < 0.25).astype(int)
        cutoff = rng.choice([-0.6, 0.5, 1.6])  # lenient, middling, strict
        training = (2 * testing + rng.normal(0, 0.7, 80) > cutoff).astype(int)
        for doc in range(80):
            rows += [(f"q{query}", f"d{doc}", "test", testing[doc]), (f"q{query}", f"d{doc}", "train", training[doc])]
    labels = pl.DataFrame(
        rows, {"query": pl.String, "doc": pl.String, "judge": pl.String, "label": pl.Int64}, orient="row"
    )
    points = rt.ceiling_scatter(labels, k=10).points.filter(pl.col("testing") == "test")
    real = points["real"].mean()
    confusions = rt.estimate_query_confusions(labels, testing="test", training="train")
    judgments = labels.filter(pl.col("judge") == "test")
    own, pooled = (rt.ceiling(judgments, matrices, k=10).estimate.value for matrices in (confusions, confusions.pooled))
    assert real - pooled > 0.1
    assert abs(own - real) < (real - pooled) / 3  # a few cases of the pooled matrix are in each row


def test_the_matrix_of_one_query_is_by_its_own_counts() -> None:
    assert LENIENT.of("a").counts.tolist() == [[3, 2], [0, 0]]
    assert (LENIENT.of("a").rows, LENIENT.of("a").labels) == ("gold", (0, 1))
    with pytest.raises(UsageError) as refused:
        LENIENT.of("b")
    assert refused.value.code == "unknown-query"


def test_what_cannot_be_asked_is_refused() -> None:
    for shrinkage in (-1, math.inf, math.nan, "much"):
        with pytest.raises(UsageError) as refused:
            rt.ceiling({"a": {"x": 1}}, LENIENT, shrinkage=shrinkage)  # type: ignore[arg-type]
        assert (refused.value.code, refused.value.parameter) == ("out-of-range", "shrinkage")
    apart = {"query": ["p", "q"], "doc": ["a", "a"], "judge": ["ann", "bob"], "label": [0, 1]}
    with pytest.raises(MismatchError) as refused:
        rt.estimate_query_confusions(apart)
    assert refused.value.code == "no-shared-items"
