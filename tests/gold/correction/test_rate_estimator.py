"""Correction from how often the judge errs, measured elsewhere: P@k."""

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
from gold.refusals import codes, refuses
from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.gold.correction import BronzeScore, Rates, correct_share, shared_judge_test
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.stats.confusion import Confusion
from strategies import examples

SHARED_JUDGE_T = "paired t test on the bronze scores, for a judge that errs alike on both"
INDEPENDENT_Z = "z test as if each run had gold labels of its own"

SEEDS = st.integers(0, 2**32 - 1)


def here(seed: int = 0, **settings: Any) -> World:
    return world(seed, **({"runs": 2, "queries": 30, "docs": 12, "length": 5, "grades": 2, "whole": True} | settings))


def matrix(*rows: list[float], known: bool = False, labels: tuple[int, ...] = (0, 1)) -> Confusion:
    """Gold in rows; `known` rates are shares."""
    counts = np.array(rows, dtype=np.float64)
    return Confusion(rows="gold", columns="bronze", labels=labels, counts=counts,
                     worth=np.full(len(rows), np.inf) if known else None)  # fmt: skip


def labelled(relevant: tuple[int, int], nonrelevant: tuple[int, int]) -> tuple[dict[str, Any], dict[str, int]]:
    """Gold labels of documents of a query of their own, and what bronze says of these."""
    truth = {f"x{i}": int(i < relevant[1]) for i in range(relevant[1] + nonrelevant[1])}
    right = {f"x{i}": i < relevant[0] if label else i - relevant[1] < nonrelevant[0]
             for i, (_, label) in enumerate(truth.items())}  # fmt: skip
    return {"elsewhere": truth}, {doc: label if right[doc] else 1 - label for doc, label in truth.items()}


def test_labels_from_elsewhere_give_the_published_correction() -> None:
    made = here()
    gold, said = labelled((43, 59), (67, 84))
    bronze = made.bronze | {"elsewhere": said}
    found = rt.correct(made.runs, bronze, gold, "P@5", design="external")
    values = rt.evaluate(made.runs, made.bronze, "P@5").cube().values[0]
    for row, run in enumerate(made.runs):
        score = BronzeScore(mean=values[row].mean(), sd=values[row].std(ddof=1), queries=30, k=5)
        told = correct_share(score, Rates(relevant=(43, 59), nonrelevant=(67, 84)))
        assert found.corrected[run]["P@5"].value == pytest.approx(told.value)
        one = found.corrected[run]["P@5"]
        assert (one.low, one.high) == pytest.approx((told.low, told.high))
    assert found.methods["P@5"].code == "by-confusion"
    assert found.gold_only == {}
    assert found.judge["relevant"]["value"] == pytest.approx(43 / 59)
    assert found.judge["confusion"]["counts"] == [[67, 17], [16, 43]]
    assert found.notes[-1].code == "same-error-rates"


def test_a_matrix_with_counts_is_as_good_as_the_labels_and_one_of_shares_is_known() -> None:
    made = here()
    counted = rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    shares = rt.correct(made.runs, made.bronze, matrix([0.8, 0.2], [0.1, 0.9], known=True), "P@5")
    assert counted.design == shares.design == "known"
    values = rt.evaluate(made.runs, made.bronze, "P@5").cube().values[0]
    score = BronzeScore(mean=values[0].mean(), sd=values[0].std(ddof=1), queries=30, k=5)
    for found, rates in ((counted, Rates(relevant=(43, 59), nonrelevant=(67, 84))),
                         (shares, Rates(relevant=0.9, nonrelevant=0.8))):  # fmt: skip
        told, one = correct_share(score, rates), found.corrected["run0"]["P@5"]
        assert (one.value, one.low, one.high) == pytest.approx((told.value, told.low, told.high))
        assert found.checks == ()
        assert found.judge["confusion"]["rows"] == "gold"


@pytest.mark.parametrize(
    ("counts", "code", "named"),
    [
        (([8, 2, 1], [1, 9, 1]), "matrix-shape", "2 × 3"),
        (([8, 2], [1, 9], [1, 1]), "matrix-shape", "3 × 2"),
        (([8, -2], [1, 9]), "bad-counts", "negative"),
        (([8, np.nan], [1, 9]), "bad-counts", "missing"),
    ],
)
def test_a_matrix_that_is_none_is_told(counts: tuple[list[float], ...], code: str, named: str) -> None:
    made = here()
    with refuses(rt.RingtrueError, code, named):
        rt.correct(made.runs, made.bronze, matrix(*counts), "P@5")


def test_grades_are_split_where_they_count_as_relevant() -> None:
    made = here(grades=3)
    # Gold 0, 1, 2: relevant from 2 on; bronze calls relevant from 1 on.
    table = matrix([30, 10, 0], [5, 20, 5], [1, 4, 15], labels=(0, 1, 2))
    found = rt.correct(made.runs, made.bronze, table, "P(rel=2)@5", bronze_rel=1).corrected["run0"]["P(rel=2)@5"]
    values = rt.evaluate(made.runs, made.bronze, "P@5").cube().values[0]
    score = BronzeScore(mean=values[0].mean(), sd=values[0].std(ddof=1), queries=30, k=5)
    told = correct_share(score, Rates(relevant=(19, 20), nonrelevant=(35, 70)))
    assert (found.value, found.low, found.high) == pytest.approx((told.value, told.low, told.high))


def test_shares_of_several_grades_cannot_be_split_without_counts() -> None:
    made = here(grades=3)
    table = matrix([0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], known=True, labels=(0, 1, 2))
    with refuses(InputError, "shares-without-counts"):
        rt.correct(made.runs, made.bronze, table, "P@5")


def test_a_matrix_without_a_relevant_label_is_refused() -> None:
    made = here()
    with refuses(InputError, "one-sided-matrix", "0", "1", "2"):
        rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P(rel=2)@5")
    with refuses(InputError, "one-sided-matrix"):
        rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43], labels=(1, 2)), "P@5")


def test_a_row_without_counts_is_refused() -> None:
    made = here()
    with refuses(UsageError, "no-gold-of-a-kind"):
        rt.correct(made.runs, made.bronze, matrix([67, 17], [0, 0]), "P@5")


@pytest.mark.parametrize(("label", "word"), [(0, "relevant"), (1, "non-relevant")])
def test_gold_of_one_kind_is_refused(label: int, word: str) -> None:
    made = here()
    gold = {query: dict.fromkeys(row, label) for query, row in made.bronze.items()}
    with refuses(InputError, "no-gold-of-a-kind", word):
        rt.correct(made.runs, made.bronze, gold, "P@5", design="external")


def test_gold_that_bronze_did_not_label_is_refused() -> None:
    made = here()
    with refuses(MismatchError, "gold-without-bronze"):
        rt.correct(made.runs, made.bronze, {"elsewhere": {"x": 1, "y": 0}}, "P@5", design="external")
    bronze = made.bronze | {"elsewhere": {"x": -1, "y": -1}}
    with refuses(MismatchError, "gold-without-bronze"):
        rt.correct(made.runs, bronze, {"elsewhere": {"x": 1, "y": 0}}, "P@5", design="external")


def test_a_judge_no_better_than_chance_is_refused_in_words() -> None:
    made = here()
    one = rt.correct(made.runs, made.bronze, matrix([50, 50], [50, 50]), "P@5").corrected["run0"]["P@5"]
    assert (one.value, one.low, one.high) == (None, 0, 1)
    assert one.notes[0].code == "judge-at-chance"


def test_a_measure_that_is_no_sum_is_refused() -> None:
    made = here()
    with refuses(InputError, "rates-do-not-serve"):
        rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "nDCG@5")


def test_probabilities_weigh_labels_that_were_drawn() -> None:
    # Asked for the confusion matrix though the labels were drawn: each counts for 1/π documents.
    made = here()
    gold = made.drawn(np.random.default_rng(0), prob=0.5, design="pool_stratified")
    twice = gold.with_columns(prob=pl.when(pl.col("label") == 1).then(0.25).otherwise(0.5))
    plain, weighted = (rt.correct(made.runs, made.bronze, told, "P@5", method="confusion") for told in (gold, twice))
    assert plain.judge["relevant"]["value"] == pytest.approx(weighted.judge["relevant"]["value"])
    assert plain.notes[-1].code == "same-error-rates"
    assert plain.notes[-1].suggestions[0].arguments == {"method": "difference"}
    assert plain.methods["P@5"].code == "by-confusion"
    bronze = {(query, doc): label for query, row in made.bronze.items() for doc, label in row.items()}
    said = np.array([bronze[query, doc] for query, doc in gold.select("query", "doc").rows()])
    truth, weight = gold["label"].to_numpy(), 1 / twice["prob"].to_numpy()
    on_others = (weight * (said == 0))[truth == 0].sum() / weight[truth == 0].sum()
    assert weighted.judge["nonrelevant"]["value"] == pytest.approx(on_others)


def test_documents_of_another_kind_are_told() -> None:
    made = here()
    gold, said = labelled((390, 400), (30, 40))
    check = rt.correct(made.runs, made.bronze | {"elsewhere": said}, gold, "P@5", design="external").checks[0]
    pool = np.mean(list(rt.evaluate(made.runs, made.bronze, "P@5").cube().values[0].mean(axis=1)))
    share = 400 / 440
    assert check.p_value == pytest.approx(2 * stats.norm.sf(abs(share - pool) / np.sqrt(pool * (1 - pool) / 440)))
    assert not check.passed
    assert check.note.code == "sample-does-not-fit"


def test_two_runs_are_compared_by_the_bronze_scores_of_single_queries() -> None:
    made = here()
    values = rt.evaluate(made.runs, made.bronze, "P@5").cube().values[0]
    found = compare_corrected(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    one = found[0]
    scores = [BronzeScore(mean=row.mean(), sd=row.std(ddof=1), queries=30, k=5) for row in values]
    told = shared_judge_test(
        *scores,
        Rates(relevant=(43, 59), nonrelevant=(67, 84)),
        difference_sd=float((values[0] - values[1]).std(ddof=1)),
    )
    assert (one.difference.value, one.difference.low, one.difference.high) == pytest.approx(
        (told.difference.value, told.difference.low, told.difference.high)
    )
    assert one.p_value == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue)
    assert found.test == SHARED_JUDGE_T
    assert "equal-errors-on-both-runs" in codes(one.notes)
    assert "tipping-point" in codes(one.notes)


def test_the_published_test_is_there_on_request_and_warned_of() -> None:
    made = here()
    found = compare_corrected(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5", independent=True)
    plain = compare_corrected(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    assert found.test == INDEPENDENT_Z
    assert found[0].difference.value == pytest.approx(plain[0].difference.value)
    assert found[0].p_value > plain[0].p_value
    assert "shared-gold" in codes(found[0].notes)


def test_other_measures_of_two_runs_are_refused() -> None:
    made = here()
    with refuses(InputError, "rates-do-not-serve"):
        compare_corrected(made.runs, made.bronze, matrix([67, 17], [16, 43]), "DCG@5")


def test_identical_runs_are_equal_by_any_rates() -> None:
    made = here()
    same = {"x": made.runs["run0"], "y": made.runs["run0"]}
    one = compare_corrected(same, made.bronze, matrix([67, 17], [16, 43]), "P@5")[0]
    assert (one.difference.value, one.p_value) == (0, 1)


def test_a_single_query_can_be_corrected_and_compared() -> None:
    made = here(queries=1)
    found = rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    assert found.corrected["run0"]["P@5"].value is not None
    json.dumps(found.as_dict(), allow_nan=False)
    compared = compare_corrected(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    json.dumps([one.as_dict() for one in compared], allow_nan=False)


@examples(15)
@given(SEEDS)
def test_exact_rates_give_back_the_gold_value(seed: int) -> None:
    # Bronze errs exactly as the rates say, on what the run shows.
    rng = np.random.default_rng(seed)
    run = {f"q{i}": {f"d{d}": 10.0 - d for d in range(10)} for i in range(20)}
    gold = {query: {doc: int(rng.random() < 0.4) for doc in docs} for query, docs in run.items()}
    bronze = {query: {doc: label if rng.random() < 0.8 else 1 - label for doc, label in row.items()}
              for query, row in gold.items()}  # fmt: skip
    pairs = [(gold[query][doc], bronze[query][doc]) for query, docs in run.items() for doc in docs]
    counts = [[sum(pair == (truth, said) for pair in pairs) for said in (0, 1)] for truth in (0, 1)]
    one = rt.correct(run, bronze, matrix(*counts), "P@10").corrected["run"]["P@10"]
    assert one.value == pytest.approx(rt.evaluate(run, gold, "P@10").means()["run"]["P@10"].value)


def test_places_that_a_short_list_leaves_empty_need_no_correction() -> None:
    # One document for each query, half of them relevant: P@2 is a quarter, of which no judge can be wrong about half.
    run = {f"q{i}": {"a": 1.0} for i in range(40)}
    bronze = {f"q{i}": {"a": int(i % 4 != 3)} for i in range(40)}  # 20 rightly, 10 of the other 20 wrongly
    one = rt.correct(run, bronze, matrix([10, 10], [0, 20]), "P@2").corrected["run"]["P@2"]
    assert one.value == pytest.approx(0.25)


def test_queries_that_only_gold_from_elsewhere_has_do_not_count_as_missed() -> None:
    made = here()
    gold, said = labelled((43, 59), (67, 84))
    found = rt.correct(made.runs, made.bronze | {"elsewhere": said}, gold, "P@5", design="external")
    by_counts = rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "P@5")
    assert found.raw["run0"]["P@5"].value == pytest.approx(by_counts.raw["run0"]["P@5"].value)
    assert found.corrected["run0"]["P@5"].value == pytest.approx(by_counts.corrected["run0"]["P@5"].value)


def test_a_known_matrix_that_lacks_a_bronze_label_is_refused() -> None:
    made = here(grades=3)
    with refuses(InputError, "matrix-lacks-label", "0", "1", "2"):
        rt.correct(made.runs, made.bronze, matrix([67, 17], [16, 43]), "DCG@5")
    table = matrix([60, 5, 5], [5, 60, 5], [5, 5, 60], labels=(0, 1, 2))
    assert rt.correct(made.runs, made.bronze, table, "DCG@5").corrected["run0"]["DCG@5"].value is not None
    # What bronze did not label needs no column: it counts as the lowest.
    less = {query: {doc: label for doc, label in row.items() if doc != "d3"} for query, row in made.bronze.items()}
    assert rt.correct(made.runs, less, table, "DCG@5").corrected["run0"]["DCG@5"].value is not None


def test_of_runs_that_are_alike_no_rates_have_to_explain_a_difference() -> None:
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
    bronze = {f"q{i}": {"a": i % 2, "b": i % 3 % 2} for i in range(30)}
    gold = {query: {doc: said ^ (place % 7 == 0) for doc, said in row.items()}
            for place, (query, row) in enumerate(bronze.items())}  # fmt: skip
    alike = rt.compare_corrected({"new": run, "old": run}, bronze, gold, "P@2", design="external")[0]
    assert alike.difference.value == 0
    assert "tipping-point" not in codes(alike.notes)
    other = {query: {"c": 2.0, "b": 1.0} for query in run}
    differ = rt.compare_corrected({"new": run, "old": other}, bronze, gold, "P@2", design="external")[0]
    assert "tipping-point" in codes(differ.notes)
