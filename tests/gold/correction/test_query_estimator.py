"""Correction from whole queries that gold judged anew."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses, with_code
from ringtrue.errors import InputError, MismatchError
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.gold.correction.query_means import correct_by_query
from ringtrue.gold.designs import Population
from strategies import examples

GOLD_ONLY = "gold only, whole queries"
AGAINST_POOL = "sample against pool"
QUERY_COUNT = "number of queries"
GOLD_T = "t test on the gold labels alone"
POWERED_T = "prediction-powered t test on whole queries"

POPULATIONS: st.SearchStrategy[Population] = st.sampled_from(["these", "like-these"])
SEEDS = st.integers(0, 2**32 - 1)
MEASURES = ["nDCG@4", "AP", "RR", "ERR@5", "P@3", "R@3"]


def some(here: World, queries: int) -> dict[str, dict[str, int]]:
    """Gold of the first queries only."""
    return {query: here.gold[query] for query in list(here.gold)[:queries]}


def correct(here: World, queries: int, measures: Any = "nDCG@4", **settings: Any) -> rt.Correction:
    return rt.correct(here.runs, here.bronze, some(here, queries), measures, design="whole_queries", **settings)


@pytest.mark.slow
@examples(10)
@given(SEEDS, st.integers(4, 14))
def test_where_gold_judged_every_query_the_corrected_value_is_that_of_gold(seed: int, queries: int) -> None:
    here = world(seed, queries=queries)
    found = correct(here, queries, MEASURES, population="these")
    means = rt.evaluate(here.runs, here.gold, MEASURES).means()
    for run in here.runs:
        for measure in MEASURES:
            told = found.corrected[run][measure]
            assert told.value == pytest.approx(means[run][measure].value)
            assert told.se == pytest.approx(0, abs=1e-7)


@pytest.mark.slow
@examples(10)
@given(SEEDS, st.integers(2, 20))
def test_values_are_the_query_by_query_correction_of_what_evaluate_says(seed: int, queries: int) -> None:
    here = world(seed, queries=25)
    found = correct(here, queries, population="like-these")
    bronze, gold = (rt.evaluate(here.runs, labels, "nDCG@4").cube().values[0] for labels in (here.bronze, here.gold))
    told = correct_by_query(bronze, gold[:, :queries], np.arange(queries), population="like-these")
    for row, run in enumerate(here.runs):
        assert found.corrected[run]["nDCG@4"].value == pytest.approx(told.values[row])
        assert found.corrected[run]["nDCG@4"].se == pytest.approx(told.variances[row] ** 0.5)
        assert found.gold_only[run]["nDCG@4"].value == pytest.approx(gold[row, :queries].mean())


def test_why_and_gold_alone_as_asked() -> None:
    here = world(3, queries=25)
    found = correct(here, 20)
    assert found.methods["nDCG@4"].code == "by-query"
    assert found.design == "whole_queries"
    alone = correct(here, 20, method="gold")
    assert alone.methods["nDCG@4"].code == "by-gold-alone"
    assert alone.corrected["run0"] == found.gold_only["run0"]
    assert alone.corrected["run0"]["nDCG@4"].method == GOLD_ONLY


def test_queries_that_the_judgments_do_not_know_are_refused_with_an_id_of_each_kind() -> None:
    here = world(3)
    foreign = {f"topic-{query}": labels for query, labels in some(here, 3).items()}
    with refuses(MismatchError, "no-common-query"):
        rt.correct(here.runs, here.bronze, foreign, "nDCG@4", design="whole_queries")


def test_one_query_is_refused_with_the_command_that_draws_more() -> None:
    with pytest.raises(InputError) as refused:
        correct(world(3), 1)
    assert refused.value.code == "too-few-queries"
    (more,) = refused.value.note.suggestions
    assert (more.function, more.arguments) == ("sample_queries", {"queries": 20, "measures": "nDCG@4"})


def test_queries_that_bronze_does_not_know_are_told() -> None:
    here = world(3, queries=6)
    for extra in (["zz"], ["zz", "yy"]):
        gold = some(here, 4) | {query: {"d0": 1} for query in extra}
        found = rt.correct(here.runs, here.bronze, gold, "nDCG@4", design="whole_queries")
        (note,) = with_code(found.notes, "queries-left-out")
        assert names(note, len(extra), *extra)
        assert found.corrected["run0"]["nDCG@4"].n == 4


def test_few_queries_are_told_and_enough_are_not() -> None:
    here = world(3, queries=25)
    few, enough = correct(here, 19).checks[0], correct(here, 20).checks[0]
    assert (few.passed, few.note.code) == (False, "few-queries")
    assert names(few.note, "19 of 25", "20")
    assert (enough.passed, enough.note) == (True, None)
    assert names(enough.finding, "20 of 25")


def test_gold_queries_are_held_against_the_others_by_welch() -> None:
    here = world(3, queries=25)
    values = rt.evaluate(here.runs, here.bronze, "nDCG@4").cube().values[0].mean(axis=0)
    check = correct(here, 12).checks[1]
    assert check.name == AGAINST_POOL
    assert check.p_value == pytest.approx(stats.ttest_ind(values[:12], values[12:], equal_var=False).pvalue)


def test_gold_queries_that_bronze_finds_easy_are_told() -> None:
    here = world(3, queries=40, runs=1)
    values = rt.evaluate(here.runs, here.bronze, "nDCG@4").cube().values[0][0]
    easy = {f"q{place}": here.gold[f"q{place}"] for place in np.argsort(-values)[:20]}
    check = rt.correct(here.runs, here.bronze, easy, "nDCG@4", design="whole_queries").checks[1]
    assert not check.passed
    assert check.note.code == "sample-does-not-fit"


def test_queries_that_are_all_alike_are_no_reason_for_a_warning() -> None:
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(8)}
    bronze = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    gold = {f"q{i}": {"a": i % 2, "b": 1} for i in range(4)}
    found = rt.correct(run, bronze, gold, "nDCG@2", design="whole_queries")
    assert [check.name for check in found.checks] == [QUERY_COUNT]
    assert found.corrected["run"]["nDCG@2"].value == pytest.approx((1 + 0.6309297536) / 2)


def test_the_judge_is_told_by_the_documents_that_both_judged() -> None:
    run, bronze = {"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1, "b": 2}, "r": {"a": 0, "c": -1}}
    gold = {"q": {"a": 2, "b": 0, "z": 1}, "r": {"a": 0, "c": 1}}
    judge = rt.correct(run, bronze, gold, "nDCG(dcg='exp-log2')@2", design="whole_queries").judge
    assert judge["confusion"]["labels"] == [0, 1, 2]
    assert judge["confusion"]["counts"] == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert (judge["relevant"]["value"], judge["nonrelevant"]["value"]) == (1, 0.5)


def test_a_judge_who_shares_no_document_with_gold_is_told_without_nan() -> None:
    run, bronze = {"q": {"b": 1.0}, "r": {"b": 1.0}}, {"q": {"a": 1}, "r": {"a": 0}}
    found = rt.correct(run, bronze, {"q": {"b": 1}, "r": {"b": 1}}, "nDCG@2", design="whole_queries")
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["judge"]["youden"] is None


@pytest.mark.parametrize("population", ["these", "like-these"])
@pytest.mark.parametrize("method", [None, "gold"])
def test_differences_are_those_of_single_queries(population: Population, method: Any) -> None:
    here = world(3, queries=25)
    bronze, gold = (rt.evaluate(here.runs, labels, "nDCG@4").cube().values[0] for labels in (here.bronze, here.gold))
    found = compare_corrected(here.runs, here.bronze, some(here, 15), "nDCG@4", design="whole_queries", method=method,
                              population=population, adjust="none")  # fmt: skip
    apart = correct_by_query(
        bronze[[0]] - bronze[[1]], (gold[[0]] - gold[[1]])[:, :15], np.arange(15), population=population
    )
    told = apart.estimate(0, level=0.95, gold_only=method == "gold")
    assert (found[0].a, found[0].b) == ("run0", "run1")
    assert (found[0].difference.value, found[0].difference.low, found[0].difference.high) == pytest.approx(
        (told.value, told.low, told.high)
    )
    assert found[0].p_value == pytest.approx(apart.p_value(0, gold_only=method == "gold"))
    assert found.test == (GOLD_T if method else POWERED_T)
    if method == "gold" and population == "like-these":
        paired = stats.ttest_rel(gold[0, :15], gold[1, :15])
        assert found[0].p_value == pytest.approx(paired.pvalue)
        assert (told.low, told.high) == pytest.approx(tuple(paired.confidence_interval(0.95)))


def test_identical_runs_are_equal() -> None:
    here = world(3, queries=25)
    same = {"x": here.runs["run0"], "y": here.runs["run0"]}
    found = compare_corrected(same, here.bronze, some(here, 20), "nDCG@4", design="whole_queries")[0]
    assert (found.difference.value, found.difference.se, found.p_value) == (0, 0, 1)


def long_run(queries: int = 8, docs: int = 10) -> tuple[Any, Any]:
    """A run and a judge of as many documents."""
    run = {f"q{i}": {f"d{d}": 99.0 - d for d in range(docs)} for i in range(queries)}
    return run, {query: {doc: (place + len(query)) % 2 for place, doc in enumerate(row)} for query, row in run.items()}


def judged(run: Any, queries: int, docs: int) -> dict[str, dict[str, int]]:
    """Gold of the highest documents of the first queries."""
    return {query: {doc: place % 2 for place, doc in enumerate(list(row)[:docs])}
            for query, row in list(run.items())[:queries]}  # fmt: skip


def test_a_run_whose_documents_gold_did_not_judge_is_withheld_and_the_others_stay() -> None:
    run, bronze = long_run()
    runs = {"near": run, "also": {query: dict(reversed(docs.items())) for query, docs in run.items()},
            "new": {query: {f"new{i}": 9.0 - i for i in range(9)} for query in run}}  # fmt: skip
    gold = judged(run, 4, 10)
    asked: dict[str, Any] = {"design": "whole_queries"}
    found = rt.correct(runs, bronze, gold, "nDCG@10", **asked)
    assert [found.corrected[name]["nDCG@10"].value is None for name in runs] == [False, False, True]
    assert found.gold_only["new"]["nDCG@10"].value is None
    withheld = found.corrected["new"]["nDCG@10"].notes
    assert codes(withheld) == ["top-not-judged"]
    assert names(withheld[0], "0", "36", "'new'")
    comparisons = rt.compare_corrected(runs, bronze, gold, "nDCG@10", **asked)
    assert [one.difference.value is None for one in comparisons] == [False, True, True]
    assert [one.p_value is None for one in comparisons][1:] == [True, True]
    assert codes(comparisons[1].notes) == ["top-not-judged"]
    with refuses(InputError, "no-whole-queries", "'new'", "0", "36"):
        rt.compare_corrected(runs, bronze, gold, "nDCG@10", baselines="new", **asked)


@pytest.mark.parametrize("method", [None, "gold"])
def test_queries_of_which_gold_judged_less_than_four_fifths_are_refused(method: Any) -> None:
    run, bronze = long_run()
    asked: dict[str, Any] = {"design": "whole_queries", "method": method}
    with pytest.raises(InputError) as refused:
        rt.correct({"long": run}, bronze, judged(run, 4, 7), "nDCG@10", **asked)
    assert refused.value.code == "no-whole-queries"
    assert names(refused.value.text, "28", "40", "'long'", "10")
    (listing,) = refused.value.note.suggestions
    assert (listing.function, listing.arguments) == (
        "sample_queries",
        {"already": ..., "queries": 0, "measures": "nDCG@10"},
    )
    assert rt.correct(run, bronze, judged(run, 4, 8), "nDCG@10", **asked).corrected["run"]["nDCG@10"].n == 4
    # A measure of the first five asks for no more than these; one of the whole list for the first ten.
    assert rt.correct(run, bronze, judged(run, 4, 4), "nDCG@5", **asked).corrected["run"]["nDCG@5"].n == 4
    with refuses(InputError, "no-whole-queries", "28", "40"):
        rt.correct(run, bronze, judged(run, 4, 7), "AP", **asked)
    longer, told = long_run(docs=30)
    assert rt.correct(longer, told, judged(longer, 4, 8), "AP", **asked).corrected["run"]["AP"].n == 4


def test_a_pair_with_a_run_of_which_gold_judged_too_little_is_refused() -> None:
    run, bronze = long_run()
    other = {query: {f"z{place}": score for place, score in enumerate(row.values())} for query, row in run.items()}
    with refuses(InputError, "no-whole-queries", "'other'", "0", "40", "10"):
        compare_corrected({"long": run, "other": other}, bronze, judged(run, 4, 10), "nDCG@10", design="whole_queries")


@pytest.mark.parametrize("lost", ["blank", "missing", "known to no judge"])
def test_documents_of_whole_queries_without_a_gold_label_are_counted_and_have_bounds(lost: str) -> None:
    run, bronze = long_run(docs=12)
    gold = judged(run, 4, 12)
    table = pl.DataFrame(
        [(query, doc, label) for query, row in gold.items() for doc, label in row.items()],
        schema=["query", "doc", "label"], orient="row",
    )  # fmt: skip
    is_lost = (pl.col("query") == "q1") & (pl.col("doc") == "d2")
    blank = table.with_columns(label=pl.when(~is_lost).then("label"))
    table = blank if lost == "blank" else table.filter(~is_lost)
    if lost == "known to no judge":
        bronze = {query: {doc: label for doc, label in row.items() if doc != "d2"} for query, row in bronze.items()}
    found = rt.correct(run, bronze, table, "nDCG@10", design="whole_queries")
    (note,) = with_code(found.notes, "unlabelled-documents")
    assert names(note, "1 document", "10: 1", "bounds")
    bounds, estimate = found.bounds["run"]["nDCG@10"], found.corrected["run"]["nDCG@10"]
    assert bounds.low <= estimate.low <= estimate.high < bounds.high
    alone = rt.correct(run, bronze, table, "nDCG@10", design="whole_queries", method="gold")
    (note,) = with_code(alone.notes, "unlabelled-documents")
    assert not names(note, "bounds")
    assert alone.bounds == {}


def test_documents_that_bronze_judged_and_gold_did_not_are_told() -> None:
    run, bronze = long_run(docs=20)
    for docs, told in ((19, False), (18, True)):
        found = rt.correct(run, bronze, judged(run, 4, docs), "nDCG@10", design="whole_queries")
        partly = with_code(found.notes, "queries-partly-judged")
        assert [names(note, 4 * docs, 80) for note in partly] == [True] * told, docs


def test_queries_with_different_probabilities_are_refused() -> None:
    run, bronze = long_run()
    rows = [(query, doc, label, 0.25 if query == "q0" else 0.5)
            for query, row in judged(run, 4, 10).items() for doc, label in row.items()]  # fmt: skip
    gold = pl.DataFrame(rows, schema=["query", "doc", "label", "prob"], orient="row")
    with refuses(InputError, "unequal-probabilities", "0.25", "0.5"):
        rt.correct(run, bronze, gold, "nDCG@10", design="whole_queries")
    equal = gold.with_columns(prob=pl.lit(0.5))
    assert rt.correct(run, bronze, equal, "nDCG@10", design="whole_queries").corrected["run"]["nDCG@10"].n == 4
