"""Correction from gold labels of single documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses, with_code
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.pool import linearise
from ringtrue.gold.correction.post_stratified import post_stratified_share
from ringtrue.gold.designs import Population
from ringtrue.stats.intervals import t_quantile
from ringtrue.stats.results import Estimate
from strategies import examples

BY_BRONZE_LABEL = "difference, by bronze label"

SEEDS = st.integers(0, 2**32 - 1)
POPULATIONS: st.SearchStrategy[Population] = st.sampled_from(["these", "like-these"])


def one(found: rt.Correction, run: str = "run0") -> Estimate:
    (estimate,) = found.corrected[run].values()
    return estimate


def census(here: World, **columns: Any) -> pl.DataFrame:
    return here.drawn(np.random.default_rng(0), prob=1.0, **columns)


@pytest.mark.slow
@examples(15)
@given(SEEDS, POPULATIONS, st.sampled_from(["pool_random", "pool_stratified"]))
def test_where_gold_saw_everything_the_corrected_value_is_that_of_gold(
    seed: int, population: Population, design: str
) -> None:
    here = world(seed)
    measures = ["P@3", "DCG@4", "RBP"]
    found = rt.correct(here.runs, here.bronze, census(here), measures, design=design, population=population)
    means = rt.evaluate(here.runs, here.gold, measures).means()
    for run in here.runs:
        for measure in measures:
            told = found.corrected[run][measure]
            assert told.value == pytest.approx(means[run][measure].value, abs=1e-9)
            if population == "these":
                assert told.se == pytest.approx(0, abs=1e-12)
            alone = found.gold_only[run][measure]
            assert alone.value is None or alone.value == pytest.approx(means[run][measure].value)


def test_few_labels_of_a_run_are_taken_by_bronze_label() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.25)
    shown = {(query, doc) for query, docs in here.runs["run0"].items() for doc in docs}
    for population in ("these", "like-these"):
        found = one(rt.correct(here.runs, here.bronze, gold.drop("prob"), "P@5", design="pool_random",
                               population=population))  # fmt: skip
        called = {pair for pair in shown if here.bronze[pair[0]][pair[1]] >= 1}
        seen = {(query, doc): label for query, doc, label in gold.select("query", "doc", "label").rows()}
        sides = [(sum(seen[pair] for pair in seen if (pair in called) == side),
                  sum(1 for pair in seen if (pair in called) == side)) for side in (True, False)]  # fmt: skip
        per_query = np.array([sum((q, doc) in called for doc in here.runs["run0"][q]) / 5 for q in here.runs["run0"]])
        value, variance = post_stratified_share(
            len(called) / 60,
            0.0 if population == "these" else per_query.var(ddof=1) / 12,
            *sides,
            missed=(1 - len(seen) / 60,) * 2 if population == "these" else (1.0, 1.0),
            judged=(sides[0][1] / len(called), sides[1][1] / (60 - len(called))),
        )
        assert found.method == BY_BRONZE_LABEL
        plain = one(rt.correct(here.runs, here.bronze, gold.drop("prob"), "CG@5", design="pool_random",
                               population=population))  # fmt: skip
        assert found.value == pytest.approx(plain.value / 5)  # which half a label more would shift
        assert abs(found.value - float(value)) > 1e-4
        assert found.se >= float(variance) ** 0.5 - 1e-12
        assert found.high - found.value == pytest.approx(t_quantile(0.975, 11) * found.se)


@pytest.mark.parametrize("design", ["pool_random", "pool_stratified"])
def test_many_labels_and_other_measures_are_taken_by_the_plain_estimator(design: str) -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    many = here.drawn(np.random.default_rng(3), prob=0.9)
    few = here.drawn(np.random.default_rng(3), prob=0.25)
    assert one(rt.correct(here.runs, here.bronze, many, "P@5", design=design)).method == "difference"
    assert one(rt.correct(here.runs, here.bronze, few, "DCG@5", design=design)).method == "difference"


def test_a_run_that_lacks_queries_is_corrected_for_what_it_shows() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    less = World(runs={"run0": {query: docs for query, docs in here.runs["run0"].items() if query > "q3"}},
                 bronze=here.bronze, gold=here.gold)  # fmt: skip
    for population in ("these", "like-these"):
        gold = census(less, design="pool_random")
        found = one(rt.correct(less.runs, less.bronze, gold, "P@5", population=population))
        truth = rt.evaluate(less.runs, less.gold, "P@5").means()["run0"]["P@5"].value
        assert found.value == pytest.approx(truth)
        assert truth < len(less.runs["run0"]) / 12


def test_labels_that_all_say_no_leave_an_interval_above_0() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    none = here.drawn(np.random.default_rng(3), prob=0.25).with_columns(label=pl.lit(0))
    for design, measure in (("pool_stratified", "P@5"), ("pool_stratified", "DCG@5"), ("pool_random", "P@5")):
        found = one(rt.correct(here.runs, here.bronze, none, measure, design=design, population="these"))
        assert found.high > 0.01, (design, measure)
        assert any(names(note, measure) for note in with_code(found.notes, "no-label-counts"))


def test_a_threshold_that_no_gold_label_reaches_is_told_and_not_certain() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.25, design="pool_stratified")
    found = rt.correct(here.runs, here.bronze, gold, "P(rel=2)@5", bronze_rel=1, population="these")
    assert one(found).low < 0.01 < one(found).high
    assert any(names(note, "P(rel=2)@5") for note in with_code(one(found).notes, "no-label-counts"))
    assert found.judge["relevant"]["value"] is None
    alone = found.gold_only["run0"]["P(rel=2)@5"]
    assert (alone.value, alone.se) == (0, 0)
    assert codes(alone.notes) == ["gold-all-alike"]


def kept_of(gold: pl.DataFrame, run: dict[str, dict[str, float]]) -> pl.DataFrame:
    """The gold labels of what one run shows."""
    rows = [(query, doc) for query, docs in run.items() for doc in docs]
    return gold.join(pl.DataFrame(rows, schema=["query", "doc"], orient="row"), on=["query", "doc"], how="semi")


@pytest.mark.parametrize("method", [None, "gold"])
def test_a_sample_of_half_the_pool_is_refused_for_all_runs_and_by_gold_alone(method: Any) -> None:
    here = world(2, runs=2, queries=30, docs=20, length=5, whole=True)
    gold = kept_of(here.drawn(np.random.default_rng(1), prob=0.5, design="pool_stratified"), here.runs["run0"])
    with refuses(InputError, "sample-does-not-fit", "61%", "246"):
        rt.correct(here.runs, here.bronze, gold, "P@5", method=method)
    alone = {"run0": here.runs["run0"]}  # the run that it was drawn from
    assert rt.correct(alone, here.bronze, gold, "P@5", method=method).corrected["run0"]["P@5"].value is not None


def test_a_run_whose_documents_were_not_drawn_from_has_no_value() -> None:
    # Half of what the odd run shows is no part of the draw, but that is a small part of what all show.
    here = world(2, runs=1, queries=200, docs=15, length=10, whole=True)
    first = list(here.runs["run0"])
    odd = {query: here.runs["run0"][query] for query in first[:20]}
    odd |= {query: {f"z{d}": 9.0 - d for d in range(10)} for query in first[20:40]}
    gold = here.drawn(np.random.default_rng(1), prob=0.5, design="pool_stratified")
    found = rt.correct(here.runs | {"odd": odd}, here.bronze, gold, "P@10", population="these")
    share = (gold["query"].is_in(first[:20])).sum() * 2 / 400
    for told in (found.corrected, found.gold_only):
        assert told["run0"]["P@10"].value is not None
        refused = told["odd"]["P@10"]
        assert (refused.value, refused.se, refused.low, refused.high) == (None, None, None, None)
        assert codes(refused.notes) == ["sample-does-not-fit"]
        assert names(refused.notes[0], f"{share:.0%}")
        assert refused.notes[0].suggestions[0].function == "sample"


def test_a_run_without_a_gold_label_has_no_corrected_value() -> None:
    here = world(2, runs=1, queries=60, docs=40, length=10, whole=True)
    odd = {query: {"z": 1.0} for query in list(here.gold)[:3]}
    gold = here.drawn(np.random.default_rng(1), prob=0.5, design="pool_stratified")
    found = rt.correct(here.runs | {"odd": odd}, here.bronze, gold, "P@10")
    refused = found.corrected["odd"]["P@10"]
    assert (refused.value, refused.se, refused.low, refused.high, refused.n) == (None, None, None, None, 0)
    assert codes(refused.notes) == ["too-few-gold"]
    assert found.corrected["run0"]["P@10"].value is not None


@pytest.mark.parametrize("population", ["these", "like-these"])
def test_documents_that_were_sure_to_be_drawn_and_are_missing_are_refused(population: Population) -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    every = census(here, design="pool_stratified")
    found = rt.correct(here.runs, here.bronze, every[:-1], "P@5", population=population)  # a single one
    for told in (found.corrected, found.gold_only):
        assert told["run0"]["P@5"].value is None
        assert told["run0"]["P@5"].notes[-1].code == "sample-does-not-fit"
        assert names(told["run0"]["P@5"].notes[-1], "98%")
    with refuses(InputError, "sample-does-not-fit", "83%", "60"):
        rt.correct(here.runs, here.bronze, every[:50], "P@5", population=population)


@pytest.mark.parametrize("method", [None, "gold"])
def test_a_sample_of_the_tops_is_refused_for_what_stands_below(method: Any) -> None:
    here = world(5, runs=1, queries=60, docs=25, length=20, whole=True)
    tops = World(runs={"run0": {query: dict(list(docs.items())[:10]) for query, docs in here.runs["run0"].items()}},
                 bronze=here.bronze, gold=here.gold)  # fmt: skip
    gold = tops.drawn(np.random.default_rng(1), prob=0.5, design="pool_random")
    assert rt.correct(tops.runs, here.bronze, gold, "P@10", method=method).corrected["run0"]["P@10"].value is not None
    for told in (gold.drop("prob"), gold.with_columns(prob=pl.lit(0.25))):  # which hides that it is half of them
        with refuses(InputError, "ranks-do-not-fit", "10.5"):
            rt.correct(here.runs, here.bronze, told, "P@20", method=method)


@pytest.mark.simulation
def test_honest_samples_are_never_refused() -> None:
    here = world(3, runs=3, queries=20, docs=15, length=6, whole=True)
    for seed in range(60):
        gold = here.drawn(np.random.default_rng(seed), prob=0.1, design="pool_stratified")
        found = rt.correct(here.runs, here.bronze, gold, "P@6,DCG@6", population="these").corrected
        assert all(one.value is not None for row in found.values() for one in row.values())


def test_a_run_of_which_gold_was_drawn_to_compare_is_refused() -> None:
    here = world(6, runs=2, queries=40, docs=12, length=10, grades=2, whole=True)
    draw = rt.sample(here.runs, here.bronze, "P@10,DCG@10", budget=60, compare=True, rng=np.random.default_rng(1))
    labels = [here.gold[query][doc] for query, doc in draw.frame.select("query", "doc").rows()]
    gold = draw.frame.with_columns(label=pl.Series(labels))
    for method in (None, "gold"):
        with refuses(InputError, "drawn-for-comparison", "10"):
            rt.correct(here.runs, here.bronze, gold, "P@10", method=method)


def test_different_probabilities_are_taken_by_bronze_label_and_never_surer_than_the_plain_form() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.25, design="pool_stratified")
    gold = gold.with_columns(prob=pl.Series(np.where(np.arange(gold.height) % 2, 0.2, 0.3)))
    for population in ("these", "like-these"):
        found = one(rt.correct(here.runs, here.bronze, gold, "P@5", population=population))
        assert found.method == BY_BRONZE_LABEL
        assert "few-gold-of-a-kind" in codes(found.notes)
        same = one(rt.correct(here.runs, here.bronze, gold, "CG@5", population=population))  # 5 · P@5
        assert same.method == "difference"
        assert found.se >= same.se / 5 - 1e-12


def test_a_threshold_that_no_bronze_label_reaches_is_told() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=3, whole=True)
    binary = {query: {doc: min(label, 1) for doc, label in row.items()} for query, row in here.bronze.items()}
    gold = here.drawn(np.random.default_rng(3), prob=0.8, design="pool_stratified")
    notes = rt.correct(here.runs, binary, gold, "P(rel=2)@5").notes
    (note,) = with_code(notes, "threshold-unreached")
    assert names(note, "1", "2")
    assert [suggestion.arguments for suggestion in note.suggestions] == [{"bronze_rel": 1}]
    nothing = {query: dict.fromkeys(row, 0) for query, row in here.bronze.items()}  # no threshold would help
    for correction in (
        rt.correct(here.runs, binary, gold, "P(rel=2)@5", bronze_rel=1),
        rt.correct(here.runs, here.bronze, gold, "P(rel=2)@5"),
        rt.correct(here.runs, binary, gold, "DCG@5"),
        rt.correct(here.runs, nothing, gold, "P(rel=2)@5"),
    ):
        assert "threshold-unreached" not in codes(correction.notes)


def test_a_run_without_a_gold_label_has_no_value_by_gold_alone() -> None:
    runs = {"seen": {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}, "unseen": {"q": {"c": 2.0, "d": 1.0}},
            "once": {"q": {"a": 9.0, "d": 1.0}}}  # fmt: skip
    bronze = {"q": dict.fromkeys("abcd", 1), "r": {"a": 1}}
    gold = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    alone = rt.correct(runs, bronze, gold, "CG@2", design="pool_random", population="these").gold_only
    assert alone["seen"]["CG@2"].value == pytest.approx(1.5 * 2 / 3)
    assert alone["unseen"]["CG@2"].value is alone["once"]["CG@2"].value is None
    assert codes(alone["unseen"]["CG@2"].notes) == ["too-few-gold"]
    assert codes(alone["once"]["CG@2"].notes) == ["too-few-gold"]


def test_gold_alone_in_one_query_says_nothing_about_others() -> None:
    here = world(2, runs=1, queries=6, whole=True)
    gold = census(here, design="pool_random").filter(pl.col("query") == "q0").drop("prob")
    alone = rt.correct(here.runs, here.bronze, gold, "DCG@5").gold_only["run0"]["DCG@5"]
    assert (alone.value, codes(alone.notes)) == (None, ["too-few-gold"])
    assert names(alone.notes[0], "5")


def test_a_single_query_has_a_value_and_an_interval_about_itself_only() -> None:
    run, bronze = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": 0, "c": 1}}
    gold = {"q": {"a": 1, "b": 0}}
    for measure in ("P@3", "DCG@3"):
        like = one(rt.correct(run, bronze, gold, measure, design="pool_random"), "run")
        assert like.value is not None
        assert (like.se, like.low) == (None, None)
        assert "single-query" in codes(like.notes)
        these = one(rt.correct(run, bronze, gold, measure, design="pool_random", population="these"), "run")
        assert these.low < these.value < these.high


def test_few_gold_labels_of_a_run_are_told() -> None:
    runs, bronze = {"q": {"a": 3.0, "b": 2.0}, "r": {"a": 1.0}}, {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    found = one(rt.correct(runs, bronze, {"q": {"a": 1, "b": 0}}, "DCG@2", design="pool_random"), "run")
    assert any(names(note, "2") for note in with_code(found.notes, "few-gold"))


def test_a_value_that_no_measure_can_have_is_told_and_not_cut() -> None:
    # A relevant document, drawn with a twentieth against the odds, stands for twenty where there are eight.
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(4)}
    bronze = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    gold = {"query": ["q0", "q1"], "doc": ["a", "a"], "label": [1, 0], "prob": [0.05, 1.0]}
    found = one(rt.correct(run, bronze, gold, "CG@2", design="pool_stratified", population="these"), "run")
    assert found.value > 2
    assert "estimate-outside-possible" in codes(found.notes)


def test_gold_labels_that_are_all_0_leave_the_measure_what_it_can_be() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.5).with_columns(label=pl.lit(0)).drop("prob")
    found = one(rt.correct(here.runs, here.bronze, gold, "P@5", design="pool_random"))
    assert found.high > 0
    assert "estimate-outside-possible" not in codes(found.notes)
    assert linearise(parse("P@5"), np.array([0]), depth=5).max_value == pytest.approx(1)


def test_gains_below_0_are_no_reason_for_doubt() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.8, design="pool_stratified")
    found = one(rt.correct(here.runs, here.bronze, gold, "CG(gains={0:-1,1:0})@5"))
    assert found.value < -1
    assert found.notes == ()


def test_the_top_grade_of_sdcg_is_guessed_from_gold_and_told() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=3, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.8, design="pool_stratified")
    found = rt.correct(here.runs, here.bronze, gold, "SDCG@5")
    (note,) = with_code(found.notes, "top-grade-assumed")
    assert names(note, "SDCG@5", "2", "SDCG(max_rel=3)@5")
    assert "top-grade-assumed" not in codes(rt.correct(here.runs, here.bronze, gold, "SDCG(max_rel=3)@5").notes)


def test_documents_without_a_bronze_label_and_gold_outside_the_runs_are_told() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=2, whole=True)
    bronze = {query: {doc: label for doc, label in row.items() if doc != "d1"} for query, row in here.bronze.items()}
    gold = [*here.drawn(np.random.default_rng(3), prob=0.5).select("query", "doc", "label").rows(), ("q0", "zz", 1)]
    table = pl.DataFrame(gold, schema=["query", "doc", "label"], orient="row")
    found = rt.correct(here.runs, bronze, table, "P@5", design="pool_random")
    assert "no-bronze-label" in codes(found.notes)
    assert any(names(note, "1", len(gold), "5") for note in with_code(found.notes, "gold-partly-outside-runs"))


@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "RR", "ERR@5", "R@5", "P(judged_only=True)@5"])
def test_a_measure_that_is_no_sum_is_refused_with_the_command_that_would_serve(measure: str) -> None:
    here = world(1)
    gold = here.drawn(np.random.default_rng(3), prob=0.8, design="pool_stratified")
    with pytest.raises(InputError) as refused:
        rt.correct(here.runs, here.bronze, gold, measure)
    assert refused.value.code == "needs-whole-queries"
    (draw,) = refused.value.note.suggestions
    assert (draw.function, draw.arguments) == ("sample_queries", {"queries": 20, "measures": str(parse(measure))})
    assert names(refused.value.text, "P@k", "CG@k", "DCG@k", "SDCG@k", "RBP@k")


def test_the_judge_stands_for_the_pool() -> None:
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(4)}
    bronze = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    gold = {"query": ["q0", "q1", "q2"], "doc": ["a", "a", "b"], "label": [1, 0, 0], "prob": [1.0, 0.5, 0.5],
            "design": ["pool_stratified"] * 3}  # fmt: skip
    judge = rt.correct(run, bronze, gold, "P@2").judge
    assert judge["relevant"]["value"] == 1
    assert judge["nonrelevant"]["value"] == 0.5
    assert judge["youden"] == 0.5
    assert judge["confusion"]["counts"] == [[1, 1], [0, 1]]


def test_bronze_may_count_as_relevant_from_another_label_on() -> None:
    here = world(1, runs=1, queries=12, docs=6, length=5, grades=3, whole=True)
    gold = here.drawn(np.random.default_rng(3), prob=0.9, design="pool_stratified")
    found = rt.correct(here.runs, here.bronze, gold, "P(rel=2)@5", bronze_rel=1)
    raw = rt.evaluate(here.runs, here.bronze, "P@5").means()["run0"]["P@5"].value
    assert found.raw["run0"]["P(rel=2)@5"].value == pytest.approx(raw)


def test_the_answer_holds_for_a_judge_who_is_always_wrong() -> None:
    here = world(5, runs=1, queries=60, docs=12, length=10, grades=2, whole=True)
    wrong = {query: {doc: 1 - label for doc, label in row.items()} for query, row in here.gold.items()}
    truth = rt.evaluate(here.runs, here.gold, "P@10").means()["run0"]["P@10"].value
    gold = here.drawn(np.random.default_rng(3), prob=0.3, design="pool_stratified")
    found = one(rt.correct(here.runs, wrong, gold, "P@10", population="these"))
    assert found.low <= truth <= found.high
    assert found.se < 0.02
