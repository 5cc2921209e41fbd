"""What the runs show, and what bronze says of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import world
from gold.refusals import codes, names, refuses
from ringtrue.errors import DuplicateError, MeasureError, MismatchError
from ringtrue.evaluation.inputs import pool as pool_table
from ringtrue.evaluation.measures import CATALOGUE, parse
from ringtrue.gold.correction.pool import LINEAR, Pool, build_pool, is_linear, linearise
from ringtrue.tables import Judgments, Run
from strategies import examples


def pool_of(runs: dict[str, dict[str, dict[str, float]]], bronze: object, depth: int) -> Pool:
    return build_pool([Run.of(run, name=name) for name, run in runs.items()], Judgments.of(bronze), depth=depth)


def shown(pool: Pool) -> set[tuple[str, str, str, int]]:
    """run, query, doc, rank."""
    rows = zip(pool.run.tolist(), pool.doc_index.tolist(), pool.rank.tolist(), strict=True)
    return {(pool.runs[run], *pool.docs.row(doc), rank) for run, doc, rank in rows}


def test_by_hand() -> None:
    runs = {"new": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"x": 1.0}}, "old": {"q": {"b": 9.0, "d": 8.0}}}
    pool = pool_of(runs, {"q": {"a": 2, "b": 0}, "r": {"x": 1}, "s": {"z": 1}}, depth=2)
    assert (pool.runs, pool.queries, pool.levels, pool.depth) == (("new", "old"), ("q", "r", "s"), (-1, 0, 1, 2), 2)
    assert pool.docs.rows() == [("q", "a"), ("q", "b"), ("r", "x"), ("q", "d")]
    assert [pool.queries[place] for place in pool.query] == ["q", "q", "r", "q"]
    assert [pool.levels[place] for place in pool.level] == [2, 0, 1, -1]
    assert shown(pool) == {("new", "q", "a", 1), ("new", "q", "b", 2), ("new", "r", "x", 1), ("old", "q", "b", 1),
                           ("old", "q", "d", 2)}  # fmt: skip
    assert pool.runs_per_doc.tolist() == [1, 2, 1, 1]
    assert np.argsort(pool.similarity_key).tolist() == [3, 1, 2, 0]  # no label, 0, 1, 2
    weights = pool.weights(np.array([1.0, 0.5])).toarray()
    assert weights.tolist() == [[1 / 3, 1 / 6, 1 / 3, 0], [0, 1 / 3, 0, 1 / 6]]
    assert codes(pool.notes) == ["no-bronze-label"]
    assert names(pool.notes[0], "4", "top 2", "1")


def test_documents_of_one_bronze_level_are_the_more_alike_the_more_runs_show_both() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    runs = {"x": run, "y": {"q": {"b": 2.0, "c": 1.0}}, "z": {"q": {"b": 1.0}}}
    pool = pool_of(runs, {"q": {"a": 1, "b": 1, "c": 0}}, depth=3)
    assert [pool.docs["doc"][place] for place in np.argsort(pool.similarity_key).tolist()] == ["c", "a", "b"]


def test_the_signature_of_a_pool_knows_documents_labels_and_runs_but_no_order() -> None:
    runs = {"x": {"q": {"a": 2.0, "b": 1.0}}, "y": {"q": {"b": 2.0, "c": 1.0}}}
    bronze = {"q": {"a": 1, "b": 0, "c": 1}}
    one = pool_of(runs, bronze, depth=2).signature
    assert one == pool_of({"y": runs["y"], "x": runs["x"]}, bronze, depth=2).signature
    assert one == pool_of(runs, {"q": dict(reversed(bronze["q"].items()))}, depth=2).signature
    assert one != pool_of(runs, {"q": bronze["q"] | {"a": 0}}, depth=2).signature
    assert one != pool_of(runs, bronze, depth=1).signature
    assert one != pool_of({"x": runs["x"], "y": {"q": {"a": 2.0, "c": 1.0}}}, bronze, depth=2).signature


def test_a_negative_bronze_label_is_none() -> None:
    pool = pool_of({"run": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}, {"q": {"a": 1, "b": -2}}, depth=3)
    assert [pool.levels[place] for place in pool.level] == [1, -1, -1]
    assert codes(pool.notes) == ["no-bronze-label"]
    assert names(pool.notes[0], "3", "2")


def test_places_of_documents_and_of_those_that_no_run_shows() -> None:
    pool = pool_of({"run": {"q": {"a": 3.0, "b": 2.0}}}, {"q": {"a": 1, "b": 1}, "r": {"a": 1}}, depth=5)
    gold = Judgments.of({"q": {"b": 1, "z": 1, "a": 0}, "r": {"a": 1}})
    assert pool.positions_of(gold.frame).tolist() == [1, -1, 0, -1]
    assert pool.notes == ()


def test_a_query_that_bronze_does_not_know_is_not_pooled() -> None:
    pool = pool_of({"run": {"q": {"a": 1.0}, "z": {"a": 1.0}}}, {"q": {"a": 1}}, depth=1)
    assert pool.docs.rows() == [("q", "a")]


def test_a_run_without_a_judged_query_is_refused() -> None:
    with pytest.raises(MismatchError):
        pool_of({"run": {"q": {"a": 1.0}}, "odd": {"z": {"a": 1.0}}}, {"q": {"a": 1}}, depth=1)


def test_two_bronze_labels_of_a_document_are_refused() -> None:
    twice = {"query": ["q", "q"], "doc": ["a", "a"], "judge": ["x", "y"], "label": [0, 1]}
    with refuses(DuplicateError, "several-judges"):
        pool_of({"run": {"q": {"a": 1.0}}}, twice, depth=1)


@examples(25)
@given(seed=st.integers(0, 2**32 - 1), depth=st.integers(1, 7))
def test_the_pool_is_the_union_of_the_tops(seed: int, depth: int) -> None:
    here = world(seed)
    pool = pool_of(here.runs, here.bronze, depth)
    tops = {
        (name, query, doc, rank)
        for name, run in here.runs.items()
        for query, docs in run.items()
        for rank, doc in enumerate(sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)[:depth], start=1)
    }
    assert shown(pool) == tops
    assert len(set(pool.docs.rows())) == len(pool)
    found = pool_table([Run.of(run, name=name) for name, run in here.runs.items()], depth=depth)
    assert set(found.select("query", "doc").rows()) == set(pool.docs.rows())


SEEDS = st.integers(0, 2**32 - 1)
MEASURES = [
    "P@1", "P@3", "P@10", "P(rel=2)@3", "CG", "CG@3", "CG(gains={1:1,2:5})@4", "DCG", "DCG@3", "DCG@20",
    "DCG(dcg='exp-log2')@3", "DCG(gains={0:-1,1:2,2:-3})@4", "SDCG(max_rel=2)@3", "SDCG(max_rel=4)@5",
    "SDCG(dcg='exp-log2',max_rel=3)@3",
    "RBP", "RBP(p=0.5)", "RBP(p=0.95)@3", "RBP(rel=2)@4", "RBP(gains={1:0.3,2:1})",
]  # fmt: skip


def test_discounts_and_gains_by_hand() -> None:
    found = linearise(parse("DCG(dcg='exp-log2')@2"), np.array([3, 0, 1, 1]), depth=4)
    assert found.discounts.tolist() == pytest.approx([1, 1 / np.log2(3), 0, 0])
    assert found.gains == {0: 0.0, 1: 1.0, 3: 7.0}
    assert found.gain(np.array([3, 1, 0, 3])).tolist() == [7, 1, 0, 7]
    assert (found.max_value, found.discounts.sum() * found.gain_limits[0], found.gain_range) == (
        pytest.approx(7 * (1 + 1 / np.log2(3))),
        0,
        7,
    )


def test_precision_counts_every_rank_down_to_k_alike() -> None:
    found = linearise(parse("P(rel=2)@4"), np.array([0, 1, 2, 3]), depth=6)
    assert found.discounts.tolist() == [1, 1, 1, 1, 0, 0]
    assert found.gains == {0: 0.0, 1: 0.0, 2: 0.25, 3: 0.25}
    assert found.max_value == 1


def test_rbp_by_hand() -> None:
    found = linearise(parse("RBP(p=0.5)"), np.array([0, 1]), depth=3)
    assert found.discounts.tolist() == pytest.approx([1, 0.5, 0.25])
    assert found.gains == {0: 0.0, 1: 0.5}


@pytest.mark.slow
@examples(12)
@given(seed=SEEDS)
def test_the_weights_add_up_to_what_evaluate_says_of_gold_labels(seed: int) -> None:
    here = world(seed)
    means = rt.evaluate(here.runs, here.gold, MEASURES).means()
    for measure in MEASURES:
        told = {run: means[run][str(parse(measure))].value for run in here.runs}
        assert here.asked(measure).truth.tolist() == pytest.approx(list(told.values()), abs=1e-12), measure


def test_the_top_grade_of_sdcg_is_the_largest_label() -> None:
    here = world(3, docs=5, whole=True)  # every document is in every list
    means = rt.evaluate(here.runs, here.gold, "SDCG@4").means()
    assert here.asked("SDCG@4", depth=5).truth.tolist() == pytest.approx(
        [row["SDCG@4"].value for row in means.values()]
    )


def test_a_grade_that_no_label_reaches_leaves_the_discounts_as_they_are() -> None:
    for measure, first in (("P(rel=3)@2", 0.5), ("DCG@2", 1.0), ("RBP(p=0.5)@2", 0.5), ("SDCG@2", 1 / 1.63093)):
        found = linearise(parse(measure), np.array([0, 0]), depth=2)
        same = linearise(parse(measure), np.array([0, 3]), depth=2)
        assert found.discounts.tolist() == pytest.approx(same.discounts.tolist())
        assert set(found.gains.values()) == {0.0}
        assert (found.max_value, found.discounts.sum() * found.gain_limits[0]) == (
            pytest.approx(found.discounts.sum() * first, abs=1e-5),
            0,
        )
        assert found.gain_range == pytest.approx(first, abs=1e-5)  # what could have been, and was not seen


def test_a_table_of_gains_in_which_the_seen_labels_are_worth_nothing() -> None:
    found = linearise(parse("CG(gains={1:5,2:0})@2"), np.array([0, 2]), depth=3)
    assert found.discounts.tolist() == [1, 1, 0]
    assert found.gains == {0: 0.0, 2: 0.0}
    assert found.gain_range == 5


def test_gains_below_0_bound_the_measure_from_below() -> None:
    found = linearise(parse("CG(gains={1:-2,2:1})@3"), np.array([1, 2]), depth=3)
    assert (found.discounts.sum() * found.gain_limits[0], found.max_value, found.gain_range) == (-6, 3, 3)
    only = linearise(parse("CG(gains={1:-2})@3"), np.array([1]), depth=3)
    assert (only.discounts.sum() * only.gain_limits[0], only.max_value, only.gain_range) == (-6, 0, 2)


def test_no_other_measure_is_taken_for_a_sum() -> None:
    at = {"required": "@5", "optional": "", "recall": "@0.5", "none": ""}
    named = {name: parse(name + at[definition.cutoff]) for name, definition in CATALOGUE.items()}
    assert {name for name, measure in named.items() if is_linear(measure)} == set(LINEAR)
    assert not is_linear(parse("P(judged_only=True)@5"))
    assert is_linear(parse("P(judged_only=False)@5"))


def test_a_measure_that_is_no_sum_is_refused_with_those_that_are() -> None:
    with refuses(MeasureError, "no-sum-over-documents", "10"):
        linearise(parse("nDCG@10"), np.array([0, 1]), depth=10)
