"""compare_corrected: is A better than B, when the judge errs?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses
from ringtrue.errors import InputError, UsageError
from ringtrue.evaluation.significance import compare
from ringtrue.gold.correction.compare_corrected import CHANGED_VERDICTS, compare_corrected
from ringtrue.gold.correction.difference import build_predictors, correct_means
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.designs import Population
from strategies import examples

HOLM_EACH = "Holm over the 3 pairs of each measure"
HOLM_6 = "Holm over the 6 comparisons"

SEEDS = st.integers(0, 2**32 - 1)
POPULATIONS: st.SearchStrategy[Population] = st.sampled_from(["these", "like-these"])


@pytest.fixture
def here() -> World:
    return world(0, runs=3, queries=20, docs=12, length=5, grades=2, whole=True)


@pytest.fixture
def gold(here: World) -> pl.DataFrame:
    return here.drawn(np.random.default_rng(1), prob=0.5, design="pool_stratified")


def filled(draw: rt.GoldDraw, here: World) -> pl.DataFrame:
    """A draw with what gold says of it."""
    labels = [here.gold[query][doc] for query, doc in draw.frame.select("query", "doc").rows()]
    return draw.frame.with_columns(label=pl.Series(labels))


def ends(one: rt.Comparison) -> tuple[float, float]:
    """Of its interval."""
    return one.difference.low, one.difference.high


def test_two_documents_by_hand() -> None:
    # Everything that the two do not share was judged: a is better in two of four queries, worse in none.
    runs = {name: {f"q{i}": {doc: 2.0, "b": 1.0} for i in range(4)} for name, doc in (("new", "a"), ("old", "c"))}
    bronze = {f"q{i}": {"a": 1, "b": i % 2, "c": 1} for i in range(4)}
    rows = [(f"q{i}", doc, label, 1.0) for i in range(4) for doc, label in (("a", 1), ("c", i % 2))]
    gold = pl.DataFrame(rows, schema=["query", "doc", "label", "prob"], orient="row")
    found = compare_corrected(runs, bronze, gold, "P@2", design="pool_stratified", population="these")[0]
    assert (found.a, found.b, found.difference.value, found.difference.se) == ("new", "old", pytest.approx(0.25), 0)
    assert (found.p_value, found.difference.n) == (None, 8)
    assert "certain-difference" in codes(found.notes)
    like = compare_corrected(runs, bronze, gold, "P@2", design="pool_stratified", population="like-these")[0]
    values = np.array([0.5, 0, 0.5, 0])
    assert like.difference.value == pytest.approx(0.25)
    assert like.difference.se == pytest.approx(values.std(ddof=1) / 2)
    assert (found.naive.difference.value, found.wins, found.ties, found.losses) == (0, 0, 4, 0)


@pytest.mark.slow
@examples(10)
@given(SEEDS, POPULATIONS, st.sampled_from([None, "gold", "confusion"]))
def test_swapping_the_runs_turns_the_sign_and_keeps_p(seed: int, population: Population, method: Any) -> None:
    made = world(seed, runs=2, queries=8, docs=8, grades=2, whole=True)
    gold = made.drawn(np.random.default_rng(seed), prob=0.6)
    turned = {"run1": made.runs["run1"], "run0": made.runs["run0"]}
    if method == "confusion" and gold["label"].n_unique() < 2:
        return  # refused
    asked: dict[str, Any] = {"design": "pool_random", "method": method, "population": population}
    one, other = (compare_corrected(runs, made.bronze, gold, "P@4", **asked)[0] for runs in (made.runs, turned))
    assert (one.a, one.b, other.a, other.b) == ("run0", "run1", "run1", "run0")
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    if one.difference.value is None:
        assert other.difference.value is None
        return
    assert other.difference.value == pytest.approx(-one.difference.value, abs=1e-9)
    assert ends(other) == pytest.approx(tuple(-end for end in reversed(ends(one))), abs=1e-7)
    assert other.p_value == pytest.approx(one.p_value, abs=1e-6)
    assert other.naive.difference.value == pytest.approx(-one.naive.difference.value)


@pytest.mark.slow
@examples(10)
@given(SEEDS, POPULATIONS)
def test_a_difference_is_that_of_the_corrected_values(seed: int, population: Population) -> None:
    made = world(seed, runs=3, queries=8, docs=8)
    gold = made.drawn(np.random.default_rng(seed), prob=0.6, design="pool_stratified")
    if gold.height < 2:
        return
    alone = rt.correct(made.runs, made.bronze, gold, "DCG@4", population=population).corrected
    for one in compare_corrected(made.runs, made.bronze, gold, "DCG@4", population=population):
        a, b = (alone[run]["DCG@4"].value for run in (one.a, one.b))
        if one.difference.value is not None and a is not None and b is not None:
            assert one.difference.value == pytest.approx(a - b, abs=1e-9)


def test_a_census_of_like_queries_is_a_paired_t_test(here: World) -> None:
    gold = here.drawn(np.random.default_rng(1), prob=1.0, design="pool_stratified")
    found = compare_corrected(here.runs, here.bronze, gold, "DCG@5", adjust="none")
    usual = compare(rt.evaluate(here.runs, here.gold, "DCG@5"), adjust="none")
    for one, other in zip(found, usual, strict=True):
        assert (one.a, one.b) == (other.a, other.b)
        assert one.difference.value == pytest.approx(other.difference.value)
        assert ends(one) == pytest.approx(ends(other))
        assert one.p_value == pytest.approx(other.p_value)


def test_the_naive_comparison_is_that_of_the_bronze_labels(here: World, gold: pl.DataFrame) -> None:
    found = compare_corrected(here.runs, here.bronze, gold, "P@5", baselines="run2")
    scores = rt.evaluate(here.runs, here.bronze, "P@5")
    usual = {(one.a, one.b): one for one in compare(scores, baselines=["run2"], adjust="none")}
    assert [(one.a, one.b) for one in found] == [("run0", "run2"), ("run1", "run2")]
    for one in found:
        other = usual[one.a, one.b]
        assert one.naive.difference.value == pytest.approx(other.difference.value)
        assert ends(one.naive) == pytest.approx(ends(other))
        assert (one.naive.p_value, one.wins, one.ties, one.losses) == (
            pytest.approx(other.p_value), other.wins, other.ties, other.losses
        )  # fmt: skip


def test_a_baseline_turns_the_naive_comparison_too(here: World, gold: pl.DataFrame) -> None:
    found = compare_corrected(here.runs, here.bronze, gold, "P@5", baselines=["run0"])
    assert [(one.a, one.b) for one in found] == [("run1", "run0"), ("run2", "run0")]
    usual = compare(rt.evaluate(here.runs, here.bronze, "P@5"), baselines=["run0"], adjust="none")
    for one, other in zip(found, usual, strict=True):
        assert one.naive.difference.value == pytest.approx(other.difference.value)
        assert ends(one.naive) == pytest.approx(ends(other))
        assert (one.wins, one.losses) == (other.wins, other.losses)
        assert one.naive.effect_size == pytest.approx(other.effect_size)


def test_families_are_adjusted_and_told(here: World, gold: pl.DataFrame) -> None:
    found = compare_corrected(here.runs, here.bronze, gold, "P@5,DCG@5")
    assert found.family == HOLM_EACH
    one = [comparison for comparison in found if comparison.measure == "P@5"]
    raw = sorted(comparison.p_value for comparison in one)
    holm = np.minimum(np.maximum.accumulate(np.array(raw) * [3, 2, 1]), 1)
    assert sorted(comparison.p_adjusted for comparison in one) == pytest.approx(holm.tolist())
    together = compare_corrected(here.runs, here.bronze, gold, "P@5,DCG@5", family="all")
    assert together.family == HOLM_6
    plain = compare_corrected(here.runs, here.bronze, gold, "P@5", adjust="none")
    assert [comparison.p_adjusted for comparison in plain] == [comparison.p_value for comparison in plain]


def test_the_answer_as_json_has_no_nan(here: World, gold: pl.DataFrame) -> None:
    apart = here.runs | {"far": {query: {"z1": 2.0, "z2": 1.0} for query in here.gold}}
    for method in (None, "gold"):
        found = compare_corrected(apart, here.bronze, gold, "P@5", method=method)
        plain = json.loads(json.dumps([one.as_dict() for one in found], allow_nan=False))
        keys = ["measure", "a", "b", "difference", "p_value", "p_adjusted", "test", "effect_size", "wins", "ties",
                "losses", "naive", "notes"]  # fmt: skip
        assert all(key in plain[0] for key in keys)
        assert list(plain[0]["naive"]) == ["difference", "p_value"]


def test_a_run_without_gold_labels_cannot_be_compared_by_gold_alone(here: World, gold: pl.DataFrame) -> None:
    apart = {"run0": here.runs["run0"], "far": {query: {"z1": 2.0, "z2": 1.0} for query in here.gold}}
    one = compare_corrected(apart, here.bronze, gold, "P@5", method="gold")[0]
    assert (one.difference.value, one.p_value, one.p_adjusted) == (None, None, None)
    assert codes(one.difference.notes) == ["too-few-gold"]
    assert names(one.difference.notes[0], "far")
    assert names(str(one), "undefined", one.difference.notes[0])


@pytest.mark.parametrize("method", [None, "gold"])
def test_a_sample_that_misses_one_of_two_runs_is_refused(here: World, gold: pl.DataFrame, method: Any) -> None:
    apart = {"run0": here.runs["run0"], "far": {query: {f"z{i}": 9.0 - i for i in range(5)} for query in here.gold}}
    with refuses(InputError, "sample-does-not-fit", "47%", "200"):
        compare_corrected(apart, here.bronze, gold, "P@5", method=method)


def test_a_sample_that_misses_one_of_many_runs_is_refused_for_it() -> None:
    made = world(6, runs=1, queries=60, docs=30, length=10, whole=True)
    other = {query: {doc: 9.0 - place for place, doc in enumerate([f"d{d}" for d in range(29, 19, -1)])}
             for query in made.gold}  # fmt: skip
    some = {query: {f"z{d}": 9.0 - d for d in range(10)} for query in list(made.gold)[:10]}
    kept = World(runs=made.runs | {"run1": other}, bronze=made.bronze, gold=made.gold)
    gold = kept.drawn(np.random.default_rng(1), prob=0.5, design="pool_stratified")
    part = {query: docs for query, docs in made.runs["run0"].items() if query not in some}
    runs = kept.runs | {"far": part | some}
    found = {(one.a, one.b): one for one in compare_corrected(runs, made.bronze, gold, "P@10")}
    assert found["run0", "run1"].difference.value is not None
    refused = found["run0", "far"]
    assert (refused.difference.value, refused.p_value, refused.ahead) == (None, None, None)
    assert refused.notes[0].code == "sample-does-not-fit"


@pytest.mark.parametrize("population", ["these", "like-these"])
@pytest.mark.parametrize("method", [None, "gold"])
def test_identical_runs_are_equal_with_the_reason(
    here: World, gold: pl.DataFrame, population: Any, method: Any
) -> None:
    same = {"x": here.runs["run0"], "y": here.runs["run0"]}
    one = compare_corrected(same, here.bronze, gold, "DCG@5", population=population, method=method)[0]
    assert (one.difference.value, one.difference.se, one.p_value, one.ahead) == (0, 0, 1, None)
    assert codes(one.notes) == ["same-documents"]


def test_the_same_documents_in_another_order_are_equal_by_precision_alone(here: World, gold: pl.DataFrame) -> None:
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in here.runs["run0"].items()}
    runs = {"x": here.runs["run0"], "y": other}
    by_precision, by_dcg = compare_corrected(runs, here.bronze, gold, "P@5,DCG@5")
    assert (by_precision.difference.value, by_precision.p_value) == (0, 1)
    assert by_dcg.difference.value != 0


def test_gold_drawn_for_a_comparison_is_not_doubted_for_what_it_leaves_out() -> None:
    made = world(6, runs=2, queries=40, docs=12, length=10, grades=2, whole=True)
    draw = rt.sample(made.runs, made.bronze, "P@10", budget=60, compare=True, rng=np.random.default_rng(1))
    gold = filled(draw, made)
    found = compare_corrected(made.runs, made.bronze, gold, "P@10", population="these")
    assert "sample-does-not-fit" not in codes(found.notes)
    truth = rt.evaluate(made.runs, made.gold, "P@10").means()
    apart = truth["run0"]["P@10"].value - truth["run1"]["P@10"].value
    assert found[0].difference.low <= apart <= found[0].difference.high
    assert found[0].difference.n == 60
    # The same labels say nothing about the runs themselves, most of which was never drawn from.
    with refuses(InputError, "drawn-for-comparison"):
        rt.correct(made.runs, made.bronze, gold, "P@10", population="these")
    # Nor about another measure, by which the runs differ elsewhere.
    for method in (None, "gold"):
        for other in ("DCG@10", "P@5", "P@10,DCG@10"):
            asked = other.split(",")[-1]
            with refuses(InputError, "drawn-for-other-measure", "10", asked):
                compare_corrected(made.runs, made.bronze, gold, other, method=method)


def test_gold_drawn_to_evaluate_runs_serves_to_compare_them() -> None:
    made = world(6, runs=2, queries=40, docs=12, length=10, grades=2, whole=True)
    draw = rt.sample(made.runs, made.bronze, "P@10", budget=200, rng=np.random.default_rng(1))
    found = compare_corrected(made.runs, made.bronze, filled(draw, made), "P@10,DCG@10", population="these")
    assert all(one.difference.value is not None for one in found)


def test_a_comparison_of_which_rows_are_lost_is_refused() -> None:
    made = world(6, runs=2, queries=100, docs=20, length=10, grades=2, whole=True)
    draw = rt.sample(made.runs, made.bronze, "P@10", budget=300, compare=True, rng=np.random.default_rng(1))
    gold = filled(draw, made)
    assert compare_corrected(made.runs, made.bronze, gold, "P@10")[0].difference.value is not None
    with refuses(InputError, "too-many-lost", "300", "150"):
        compare_corrected(made.runs, made.bronze, gold[::2], "P@10")
    with refuses(InputError, "sample-does-not-fit", "10"):
        compare_corrected(made.runs, made.bronze, gold[::2].drop("drawn"), "P@10")


def test_gold_on_shared_documents_alone_says_nothing_about_a_difference() -> None:
    runs = {name: {f"q{i}": {"s": 9.0, doc: 1.0} for i in range(9)} for name, doc in (("x", "a"), ("y", "b"))}
    bronze = {f"q{i}": {"s": 1, "a": 1, "b": 0} for i in range(9)}
    gold = {f"q{i}": {"s": i % 2} for i in range(9)}
    found = compare_corrected(runs, bronze, gold, "P@2", design="pool_random")
    assert found[0].difference.value is None
    assert codes(found[0].difference.notes) == ["too-few-gold"]
    assert "too-few-gold" in codes(found.notes)


def test_what_correction_changes_is_told() -> None:
    # Bronze favours new in every query; gold, on all that they do not share, sees no difference.
    rng = np.random.default_rng(3)
    runs = {"new": {f"q{i}": {"a": 1.0} for i in range(30)}, "old": {f"q{i}": {"b": 1.0} for i in range(30)}}
    bronze = {f"q{i}": {"a": int(i > 2), "b": int(i < 3)} for i in range(30)}
    gold = {f"q{i}": {doc: int(rng.random() < 0.5) for doc in "ab"} for i in range(30)}
    one = compare_corrected(runs, bronze, gold, "P@1", design="pool_random")[0]
    assert "verdict-lost" in codes(one.notes)
    assert "not-decided" in codes(one.notes)
    hidden = {f"q{i}": {"a": 1, "b": 1} for i in range(30)}
    better = {f"q{i}": {"a": 1, "b": int(i % 5 == 0)} for i in range(30)}
    one = compare_corrected(runs, hidden, better, "P@1", design="pool_random")[0]
    assert "verdict-gained" in codes(one.notes)
    assert one.better == "new"
    turned = {f"q{i}": {"a": int(i % 5 == 0), "b": 1} for i in range(30)}
    one = compare_corrected(runs, bronze, turned, "P@1", design="pool_random")[0]
    assert "verdict-reversed" in codes(one.notes)
    assert one.better == "old"
    assert str(one).endswith("bronze says 0.8")
    same = {f"q{i}": {"a": 1, "b": int(i % 5 == 0)} for i in range(30)}  # as bronze has it: nothing to tell
    assert compare_corrected(runs, bronze, same, "P@1", design="pool_random")[0].notes == ()
    quiet = {f"q{i}": {"a": i % 2, "b": i % 2} for i in range(30)}
    one = compare_corrected(runs, quiet, quiet, "P@1", design="pool_random")[0]
    assert not {*CHANGED_VERDICTS} & {*codes(one.notes)}


@examples(15)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["holm", "bh", "none"]))
def test_a_verdict_changes_where_the_adjusted_p_of_either_says_so(seed: int, adjust: Any) -> None:
    rng = np.random.default_rng(seed)
    runs = {name: {f"q{i}": {doc: 1.0} for i in range(30)} for name, doc in (("x", "a"), ("y", "b"), ("z", "c"))}
    chances = dict(zip("abc", rng.uniform(0.2, 0.8, (2, 3)).T.tolist(), strict=True))
    bronze, gold = (
        {f"q{i}": {doc: int(rng.random() < chances[doc][judge]) for doc in "abc"} for i in range(30)}
        for judge in (0, 1)
    )
    found = compare_corrected(runs, bronze, gold, "P@1", design="pool_random", adjust=adjust)
    plain = {(one.a, one.b): one for one in compare(rt.evaluate(runs, bronze, "P@1"), adjust=adjust)}
    for one in found:
        before, after = plain[one.a, one.b].better, one.better
        assert bool({*CHANGED_VERDICTS} & {*codes(one.notes)}) == (before != after)


def test_wrong_settings_are_refused(here: World, gold: pl.DataFrame) -> None:
    with refuses(UsageError, "tukey-with-gold"):
        compare_corrected(here.runs, here.bronze, gold, "P@5", adjust="tukey")
    with pytest.raises(UsageError):
        compare_corrected(here.runs, here.bronze, gold, "P@5", adjust="bonferroni")
    with pytest.raises(UsageError):
        compare_corrected(here.runs, here.bronze, gold, "P@5", family="each")
    with refuses(UsageError, "independent-without-rates"):
        compare_corrected(here.runs, here.bronze, gold, "P@5", independent=True)
    with pytest.raises(UsageError):
        compare_corrected(here.runs, here.bronze, gold, "P@5", baselines="run9")
    with pytest.raises(UsageError):
        compare_corrected({"run0": here.runs["run0"]}, here.bronze, gold, "P@5")
    with pytest.raises(UsageError):
        compare_corrected([], here.bronze, gold, "P@5")
    with refuses(InputError, "needs-whole-queries"):
        compare_corrected(here.runs, here.bronze, gold, "nDCG@5")


def test_a_single_query_has_a_difference_without_an_interval() -> None:
    runs = {"x": {"q": {"a": 2.0, "b": 1.0}}, "y": {"q": {"c": 2.0, "b": 1.0}}}
    bronze, gold = {"q": {"a": 1, "b": 0, "c": 0}}, {"q": {"a": 1, "c": 0}}
    one = compare_corrected(runs, bronze, gold, "P@2", design="pool_random")[0]
    assert one.difference.value is not None
    assert (one.difference.se, one.p_value) == (None, None)
    assert "single-query" in codes(one.notes)


@pytest.mark.simulation
def test_a_judge_who_favours_one_run_misleads_nobody() -> None:
    docs = {f"q{i}": {f"d{d}": d // 10 for d in range(20)} for i in range(30)}
    runs = {name: {query: {doc: 1.0 for doc, of in row.items() if of == place} for query, row in docs.items()}
            for place, name in enumerate(("x", "y"))}  # fmt: skip
    pool = World(runs=runs, bronze={query: {"d0": 0, "d1": 1} for query in docs}, gold=docs).asked("P@10").pool
    pool = replace(pool, levels=(0, 1))
    weights = pool.weights(np.ones(10))
    of_first = np.asarray(weights[[0]].toarray()[0] > 0)
    rng, wrong, misled, worlds = np.random.default_rng(12), 0, 0, 1000
    for _ in range(worlds):
        relevant = rng.random(len(pool)) < 0.4
        kind = relevant | (of_first & (rng.random(len(pool)) < 0.25))
        here = replace(pool, level=kind.astype(np.int64))
        places = np.flatnonzero(rng.random(len(pool)) < 0.3)
        sample = GoldSample(positions=places, labels=relevant[places].astype(np.int64), prob=np.full(len(places), 0.3))
        joint = correct_means(
            here,
            build_predictors(here),
            weights,
            sample,
            relevant[places] / 10,
            population="like-these",
            gain_range=0.1,
        )
        wrong += joint.p_value(joint.difference(0, 1, level=0.95, method="")) < 0.05
        by_query = np.bincount(pool.query, weights=np.where(of_first, 1, -1) * kind)
        misled += stats.ttest_1samp(by_query, 0).pvalue < 0.05
    assert misled / worlds > 0.9
    assert wrong / worlds == pytest.approx(0.05, abs=0.02)


@pytest.mark.real
def test_two_real_runs_are_compared_on_what_they_do_not_share(data: Path) -> None:
    folder = data / "dl19"
    runs = [rt.read_run(folder / "runs" / f"{name}.run").called(name) for name in ("bm25base_p", "idst_bert_p1")]
    bronze, human = rt.read_judgments(folder / "llm-umbrela_gpt4.qrels"), rt.read_judgments(folder / "human.qrels")
    measure = "P(rel=2)@10"
    draw = rt.sample(runs, bronze, measure, budget=150, compare=True, rng=np.random.default_rng(3))
    gold = draw.frame.join(human.frame.select("query", "doc", "label"), on=["query", "doc"], how="left")
    gold = gold.with_columns(pl.col("label").fill_null(0))
    found = compare_corrected(runs, bronze, gold, measure, population="these")
    truth = rt.evaluate(runs, human, measure).means()
    apart = truth["bm25base_p"][measure].value - truth["idst_bert_p1"][measure].value
    assert found[0].difference.low <= apart <= found[0].difference.high
    assert found[0].better == "idst_bert_p1"
    assert "sample-does-not-fit" not in codes(found.notes)
