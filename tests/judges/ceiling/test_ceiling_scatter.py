"""Real against predicted, for pairs of judges."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import ringtrue as rt
from judges.ceiling.oracle import dcg_of_all, discounts
from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.measures.graded import tied_dcg


def judged(seed: int = 0, queries: int = 30, docs: int = 20, judges: int = 3) -> pl.DataFrame:
    """Judges who say the truth in three of four cases, else anything."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (queries, docs)) * (rng.random((queries, docs)) < 0.5)
    rows = [(q, d, j) for q in range(queries) for d in range(docs) for j in range(judges)]
    said = [int(truth[q, d] if rng.random() < 0.75 else rng.integers(0, 3)) for q, d, _ in rows]
    names = ((f"q{q}", f"d{d}", f"j{j}") for q, d, j in rows)
    return pl.DataFrame(list(names), ["query", "doc", "judge"], orient="row").with_columns(label=pl.Series(said))


@given(arrays(np.int64, (2, 3, 3), elements=st.integers(0, 2)), st.none() | st.integers(1, 4))
def test_ties_are_averaged_over_all_their_orders(joint, k: int | None) -> None:
    gain = np.array([0.0, 1.0, 3.0])
    expected = []
    for table in joint:
        # Labels given as they are, not drawn: rank by the training label, the mean of the discounts in each tie.
        reached, total = 0, 0.0
        discount = discounts(int(table.sum()), k)
        for j in (2, 1, 0):
            tied = int(table[:, j].sum())
            total += sum(table[:, j] * gain) * np.mean(discount[reached : reached + tied]) if tied else 0.0
            reached += tied
        expected.append(total)
    assert tied_dcg(joint, gain, k=k) == pytest.approx(expected, abs=1e-12)


def test_a_tie_of_all_is_what_a_judge_who_says_one_label_reaches() -> None:
    joint = np.array([[[3, 0], [2, 0]]])
    matrix = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert tied_dcg(joint, np.array([0.0, 1.0]))[0] == pytest.approx(dcg_of_all([3, 2], matrix, [0, 1]))


def test_points_are_those_of_every_pair_both_ways_and_every_query() -> None:
    found = rt.ceiling_scatter(judged())
    assert found.pairs == 6
    assert found.points.columns == ["training", "testing", "query", "documents", "real", "predicted"]
    assert found.points.height == 6 * 30
    assert set(found.points.select("training", "testing").unique().rows()) == {
        (a, b) for a in ("j0", "j1", "j2") for b in ("j0", "j1", "j2") if a != b
    }
    assert found.points["real"].is_between(0, 1).all()


@pytest.mark.simulation
def test_judges_who_err_as_the_matrix_says_lie_along_the_diagonal() -> None:
    found = rt.ceiling_scatter(judged(queries=100))
    assert abs(found.difference.value) < 0.01
    assert found.correlation > 0.3
    mean = found.points.group_by("training", "testing").agg(pl.col("real", "predicted").mean())
    assert (mean["real"] - mean["predicted"]).abs().max() < 0.02


def test_one_matrix_may_serve_all_pairs() -> None:
    labels = judged()
    agreed = rt.Confusion(rows="gold", columns="x", labels=(0, 1, 2), counts=np.eye(3))
    found = rt.ceiling_scatter(labels, confusion=agreed)
    assert found.points["predicted"].to_list() == pytest.approx([1.0] * found.points.height)
    assert found.correlation is None  # the prediction never changes
    assert found.difference.value < -0.05
    assert "correlation undefined" in str(found)
    json.dumps(found.as_dict(), allow_nan=False)


def test_the_prediction_is_the_ceiling_of_the_pairs_own_matrix() -> None:
    labels = judged(judges=2)
    found = rt.ceiling_scatter(labels, k=5, gain="linear").points.filter(pl.col("testing") == "j1")
    table = rt.estimate_confusion(labels, testing="j1", training="j0")
    alone = rt.ceiling(labels.filter(pl.col("judge") == "j1"), table, k=5, gain="linear").per_query
    expected = alone.drop_nulls()
    assert found["query"].to_list() == expected["query"].to_list()
    assert found["predicted"].to_list() == pytest.approx(expected["ceiling"].to_list())


def test_only_the_pairs_with_the_most_in_common_are_taken() -> None:
    found = rt.ceiling_scatter(judged().filter((pl.col("judge") != "j2") | (pl.col("query") < "q2")), pairs=1)
    assert found.points["training"].unique().sort().to_list() == ["j0", "j1"]
    (note,) = found.notes
    assert note.code == "pairs-left-out"
    assert note.startswith("2 more")


def test_lists_of_one_document_are_left_out_and_counted() -> None:
    labels = judged(queries=4, judges=2)
    one = labels.filter((pl.col("query") != "q3") | (pl.col("doc") == "d0")).with_columns(
        label=pl.when(query="q3").then(1).otherwise("label")
    )
    found = rt.ceiling_scatter(one)
    assert found.single == 2  # both ways
    assert "q3" not in found.points["query"]
    assert found.documents == 20
    (note,) = found.notes
    assert note.code == "single-document-lists"
    assert note.startswith("2 lists")
    assert (found.as_dict()["single"], found.as_dict()["documents"]) == (2, 20)


def test_nothing_but_lists_of_one_document_is_undefined_in_words() -> None:
    found = rt.ceiling_scatter({"query": ["a", "a"], "doc": ["x", "x"], "judge": ["u", "v"], "label": [1, 2]})
    assert (found.points.height, found.documents, found.difference.value, found.correlation) == (0, None, None, None)
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.ceiling_scatter(judged(judges=1))
    assert refused.value.code == "one-judge"
    with pytest.raises(MismatchError) as refused:
        rt.ceiling_scatter({"doc": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]})
    assert refused.value.code == "no-shared-items"
    narrow = rt.Confusion(rows="gold", columns="x", labels=(0, 1), counts=np.eye(2))
    with pytest.raises(MismatchError) as refused:
        rt.ceiling_scatter(judged(), confusion=narrow)
    assert refused.value.code == "labels-outside-matrix"
    assert "not 2;" in refused.value.text
    with pytest.raises(UsageError) as refused:
        rt.ceiling_scatter(judged(), pairs=0)
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "pairs")
