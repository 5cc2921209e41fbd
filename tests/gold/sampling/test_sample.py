"""sample and sample_queries: which documents the gold judge should see."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses, with_code
from replications import room, short_and_long
from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.gold.sampling.allocation import MIN_RATE
from ringtrue.gold.sampling.continuation import continued_probability
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture
def here() -> World:
    return world(0, runs=3, queries=20, docs=15, length=6, whole=True)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def filled(frame: pl.DataFrame, here: World) -> pl.DataFrame:
    """A draw with what gold says of it."""
    labels = [here.gold[query][doc] for query, doc in frame.select("query", "doc").rows()]
    return frame.with_columns(label=pl.Series(labels, dtype=pl.Int32))


def shown(here: World, depth: int) -> set[tuple[str, str]]:
    return {(query, doc) for run in here.runs.values() for query, docs in run.items()
            for doc in sorted(docs, key=lambda doc: -docs[doc])[:depth]}  # fmt: skip


def test_a_document_that_was_sure_to_be_drawn_stays_so_however_numbers_are_rounded() -> None:
    shares = np.random.default_rng(0).random(2_000)
    assert any(1 / (share + 1 - share) > 1 for share in shares)  # which no sample may have
    assert all(continued_probability(np.array([1.0]), share)[0] <= 1 for share in shares)


def test_one_document_for_each_query_by_hand() -> None:
    # 20 documents of label 1 and 20 of label 0, the latter half as important: 8 and 4 of 12.
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}
    bronze = {f"q{i}": {"a": 1, "b": 0} for i in range(20)}
    draw = rt.sample(run, bronze, "P@2", budget=12, rng=rng())
    assert dict(draw.frame.group_by("doc").agg(pl.col("prob").first()).rows()) == pytest.approx({"a": 0.4, "b": 0.2})
    assert draw.frame.height == 12
    assert draw.notes == ()


def test_the_frame_is_what_correct_reads(here: World) -> None:
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=50, rng=rng())
    assert draw.frame.columns == ["query", "doc", "prob", "stratum", "design", "drawn", "drawn_from"]
    assert draw.design == "pool_stratified"
    assert draw.frame["drawn"].unique().to_list() == [50]
    assert draw.frame["design"].unique().to_list() == ["pool_stratified"]
    assert (draw.frame["stratum"] == draw.frame["query"]).all()
    order = [list(here.bronze).index(query) for query in draw.frame["query"]]
    assert order == sorted(order)
    found = rt.correct(here.runs, here.bronze, filled(draw.frame, here), "P@6", population="these")
    truth = rt.evaluate(here.runs, here.gold, "P@6").means()
    for run in here.runs:
        one = found.corrected[run]["P@6"]
        assert abs(one.value - truth[run]["P@6"].value) < 4 * one.se


@examples(15)
@given(SEEDS, st.integers(2, 40), st.sampled_from(["P@3", "DCG@5", "RBP", "P@2,DCG@5"]))
def test_a_draw_has_its_budget_from_what_the_runs_show_evenly_over_the_queries(
    seed: int, budget: int, measures: str
) -> None:
    made = world(seed, runs=3, queries=5, docs=9)
    depth = 3 if measures == "P@3" else 5
    draw = rt.sample(made.runs, made.bronze, measures, budget=budget, rng=rng(seed))
    pool = {(query, doc) for query, doc in shown(made, depth) if query in made.bronze}
    assert set(draw.frame.select("query", "doc").rows()) <= pool
    assert draw.frame.height == min(budget, len(pool))
    assert draw.frame["prob"].is_between(0, 1, closed="right").all()
    assert draw.frame["prob"].min() >= MIN_RATE * min(budget, len(pool)) / len(pool) * (1 - 1e-9)
    assert not draw.frame.select("query", "doc").is_duplicated().any()


def test_all_documents_are_drawn_where_the_budget_allows_and_that_is_told(here: World) -> None:
    pool = shown(here, 6)
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=1000, rng=rng())
    assert set(draw.frame.select("query", "doc").rows()) == pool
    assert set(draw.frame["prob"]) == {1.0}
    assert codes(draw.notes) == ["all-drawn"]
    assert names(draw.notes[0], "1,000", len(pool))
    assert draw.expected["run0"]["P@6"] > 0  # queries differ
    these = rt.sample(here.runs, here.bronze, "P@6", budget=1000, population="these", rng=rng())
    assert these.expected["run0"]["P@6"] == 0
    exact = rt.sample(here.runs, here.bronze, "P@6", budget=len(pool), rng=rng())
    assert (exact.frame.height, exact.notes) == (len(pool), ())


def test_a_comparison_draws_nothing_that_all_runs_have_at_the_same_rank() -> None:
    runs = {"x": {f"q{i}": {"s": 9.0, "t": 8.0, "a": 1.0} for i in range(10)},
            "y": {f"q{i}": {"s": 9.0, "b": 8.0, "t": 1.0} for i in range(10)}}  # fmt: skip
    bronze = {f"q{i}": dict.fromkeys("stab", 1) for i in range(10)}
    by_precision = rt.sample(runs, bronze, "P@3", budget=20, compare=True, rng=rng())
    assert set(by_precision.frame["doc"]) == {"a", "b"}
    by_dcg = rt.sample(runs, bronze, "DCG@3", budget=30, compare=True, rng=rng())
    assert set(by_dcg.frame["doc"]) == {"a", "b", "t"}
    assert list(by_precision.expected) == ["x − y"]


def test_the_same_seed_draws_the_same(here: World) -> None:
    one, two, three = (rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng(seed)).frame for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(three)
    assert rt.sample(here.runs, here.bronze, "P@6", budget=30).frame.equals(
        rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng(0)).frame
    )


def test_several_measures_share_a_draw_whatever_their_units(here: World) -> None:
    both = rt.sample(here.runs, here.bronze, "P@6,DCG@6", budget=30, rng=rng())
    scaled = rt.sample(here.runs, here.bronze, "P@6,DCG(gains={1:1000,2:2000})@6", budget=30, rng=rng())
    assert both.frame.drop("prob").equals(scaled.frame.drop("prob"))
    assert both.frame["prob"].to_list() == pytest.approx(scaled.frame["prob"].to_list())
    assert set(both.expected["run0"]) == {"P@6", "DCG@6"}


def test_a_larger_budget_promises_a_smaller_interval(here: World) -> None:
    widths = [rt.sample(here.runs, here.bronze, "DCG@6", budget=budget, rng=rng()).expected["run0"]["DCG@6"]
              for budget in (10, 20, 40, 80)]  # fmt: skip
    assert all(wide > narrow for wide, narrow in pairwise(widths))


def test_a_table_of_gains_whose_highest_label_is_worth_nothing() -> None:
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}
    bronze = {f"q{i}": {"a": 2, "b": 0} for i in range(20)}
    draw = rt.sample(run, bronze, "DCG(gains={1:5,2:0})@2", budget=12, rng=rng())
    assert draw.frame.height == 12


# Going on with an earlier draw.


def test_an_earlier_draw_stays_and_counts_with_the_new_one(here: World) -> None:
    first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng()).frame, here)
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=60, already=first, rng=rng(2))
    assert draw.frame.columns == ["query", "doc", "prob", "stratum", "design", "drawn", "drawn_from", "label"]
    assert draw.frame.height == 90
    assert draw.frame["drawn"].unique().to_list() == [90]  # of both draws together
    assert not draw.frame.select("query", "doc").is_duplicated().any()
    both = draw.frame.join(first, on=["query", "doc"], how="inner", suffix="_before")
    assert both.height == 30
    assert (both["label"] == both["label_before"]).all()
    # A third of 90 came first: a document of then counts ⅓/π + ⅔ times.
    assert both["prob"].to_list() == pytest.approx((1 / (1 / (3 * both["prob_before"]) + 2 / 3)).to_list())
    new = draw.frame.filter(pl.col("label").is_null())
    assert new["prob"].is_between(0, 1, closed="right").all()


@pytest.mark.parametrize("budget", [40, 60, 90, 120, 500])
def test_what_is_asked_for_is_drawn_as_long_as_it_lasts(here: World, budget: int) -> None:
    pool = len(shown(here, 6))
    first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=pool // 2, rng=rng()).frame, here)
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=budget, already=first, rng=rng(2))
    left = pool - pool // 2
    assert draw.frame["label"].null_count() == min(budget, left)
    assert draw.frame["prob"].max() <= 1 + 1e-12
    assert ("all-drawn" in codes(draw.notes)) == (budget > left)
    if budget >= left:
        assert draw.frame["prob"].to_list() == pytest.approx([1] * pool)


def test_nothing_is_left_to_draw(here: World) -> None:
    everything = filled(rt.sample(here.runs, here.bronze, "P@6", budget=1000, rng=rng()).frame, here)
    with refuses(InputError, "nothing-left-to-draw"):
        rt.sample(here.runs, here.bronze, "P@6", budget=10, already=everything)


@pytest.mark.simulation
@short_and_long("draws", 25, 60)
def test_two_draws_together_are_unbiased_and_their_interval_holds_the_truth(here: World, draws: int) -> None:
    truth = rt.evaluate(here.runs, here.gold, "P@6").means()["run0"]["P@6"].value
    values, held = [], 0
    for seed in range(draws):
        first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=25, rng=rng(seed)).frame, here)
        draw = rt.sample(here.runs, here.bronze, "P@6", budget=40, already=first, rng=rng(1000 + seed))
        one = rt.correct(here.runs, here.bronze, filled(draw.frame, here), "P@6", population="these").corrected["run0"][
            "P@6"
        ]
        values.append(one.value)
        held += one.low <= truth <= one.high
    assert abs(np.mean(values) - truth) < 4 * np.std(values) / np.sqrt(draws)
    assert held >= (0.83 - room(draws, 60)) * draws


def test_earlier_labels_teach_where_gold_is_uncertain() -> None:
    # Bronze 0 is always right, bronze 1 a guess: after a pilot, fewer documents of label 0 are drawn than before.
    chance = np.random.default_rng(5)
    run = {f"q{i}": {f"d{d}": 10.0 - d for d in range(10)} for i in range(40)}
    bronze = {query: {f"d{d}": d % 2 for d in range(10)} for query in run}
    gold = {
        query: {doc: int(label and chance.random() < 0.5) for doc, label in row.items()}
        for query, row in bronze.items()
    }
    made = World(runs={"run": run}, bronze=bronze, gold=gold)
    pilot = filled(rt.sample(run, bronze, "P@10", budget=80, rng=rng()).frame, made)
    after = rt.sample(run, bronze, "P@10", budget=80, already=pilot, rng=rng(2)).frame.filter(pl.col("label").is_null())

    def odds(frame: pl.DataFrame) -> float:
        """How much more probable a document of label 1 is than one of label 0."""
        of = {label: np.mean([prob for query, doc, prob in frame.select("query", "doc", "prob").rows()
                              if bronze[query][doc] == label]) for label in (0, 1)}  # fmt: skip
        return float(of[1] / of[0])

    assert odds(pilot) == pytest.approx(2)
    assert odds(after) > 3


@pytest.mark.parametrize("compare", [False, True])
def test_an_earlier_draw_from_something_else_is_refused(here: World, compare: bool) -> None:
    fewer = dict(list(here.runs.items())[: 2 if compare else 1])  # less than what three runs show, or do not share
    first = filled(rt.sample(fewer, here.bronze, "P@6", budget=60, compare=compare, rng=rng()).frame, here)
    with refuses(InputError, "drawn-from-other-pool"):
        rt.sample(here.runs, here.bronze, "P@6", budget=10, already=first, compare=compare)
    unsigned = first.drop("drawn_from")  # then its probabilities tell
    with refuses(InputError, "drawn-from-something-else"):
        rt.sample(here.runs, here.bronze, "P@6", budget=10, already=unsigned, compare=compare)


def test_an_earlier_draw_is_continued_only_for_the_same_purpose(here: World) -> None:
    def drawn(measures: str, compare: bool) -> pl.DataFrame:
        return filled(rt.sample(here.runs, here.bronze, measures, budget=30, compare=compare, rng=rng()).frame, here)

    def continued(first: pl.DataFrame, measures: str, compare: bool) -> pl.DataFrame:
        return rt.sample(here.runs, here.bronze, measures, budget=20, compare=compare, already=first, rng=rng(2)).frame

    with refuses(InputError, "other-purpose"):
        continued(drawn("P@6", False), "P@6", True)
    with refuses(InputError, "other-purpose"):
        continued(drawn("P@6", True), "P@6", False)
    for other in ("DCG@6", "P@6,DCG@6", "P@5"):
        with refuses(InputError, "other-purpose"):
            continued(drawn("P@6", True), other, True)
    again = continued(drawn("P@6,DCG@6", True), "DCG@6,P@6", True)  # in any order
    assert again["drawn_for"].unique().to_list() == ["differences of DCG@6, P@6"]
    assert continued(drawn("P@6", False), "DCG@6", False).height == 50  # every document had its chance


def test_a_draw_to_compare_says_what_it_is_for(here: World) -> None:
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=30, compare=True, rng=rng())
    assert draw.frame.columns == ["query", "doc", "prob", "stratum", "design", "drawn", "drawn_from", "drawn_for"]
    assert draw.frame["drawn_for"].unique().to_list() == ["differences of P@6"]
    assert draw.frame["drawn"].unique().to_list() == [30]
    two = rt.sample(here.runs, here.bronze, "P(rel=2)@6,DCG@6", budget=30, compare=True, rng=rng())
    assert two.frame["drawn_for"].unique().to_list() == ["differences of P(rel=2)@6, DCG@6"]
    assert "drawn_for" not in rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng()).frame.columns
    assert rt.sample(here.runs, here.bronze, "P@6", budget=9999, rng=rng()).frame["drawn"][0] == len(shown(here, 6))


@pytest.mark.parametrize("kept", [29, 28])
def test_an_earlier_draw_of_which_rows_are_lost_is_told_or_refused(here: World, kept: int) -> None:
    first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng()).frame, here)[:kept]
    if kept == 28:
        with refuses(InputError, "too-many-lost", "30", kept):
            rt.sample(here.runs, here.bronze, "P@6", budget=20, already=first)
        return
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=20, already=first)
    (note,) = with_code(draw.notes, "drawn-count-differs")
    assert names(note, "30", kept)
    assert draw.frame["drawn"].unique().to_list() == [49]


def test_draws_put_together_by_hand_are_refused(here: World) -> None:
    one, two = (filled(rt.sample(here.runs, here.bronze, "P@6", budget=size, rng=rng(size)).frame, here)
                for size in (20, 30))  # fmt: skip
    both = pl.concat([one, two]).unique(["query", "doc"], maintain_order=True)
    with refuses(InputError, "several-draws", "20", "30"):
        rt.correct(here.runs, here.bronze, both, "P@6")
    with refuses(InputError, "several-draws"):
        rt.sample(here.runs, here.bronze, "P@6", budget=20, already=both)


def test_an_earlier_draw_without_probabilities_is_refused(here: World) -> None:
    first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=30, rng=rng()).frame, here).drop("prob")
    with refuses(TableError, "no-probabilities"):
        rt.sample(here.runs, here.bronze, "P@6", budget=10, already=first)


def test_an_earlier_comparison_can_be_continued(here: World) -> None:
    first = filled(rt.sample(here.runs, here.bronze, "P@6", budget=30, compare=True, rng=rng()).frame, here)
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=30, compare=True, already=first, rng=rng(2))
    assert draw.frame.height == 60


# What is refused.


def test_what_cannot_be_drawn_is_refused(here: World) -> None:
    one = {"run0": here.runs["run0"]}
    with refuses(UsageError, "budget-too-small", "2", "1"):
        rt.sample(here.runs, here.bronze, "P@6", budget=1)
    with refuses(UsageError, "needs-whole-queries"):
        rt.sample(here.runs, here.bronze, "P@6,nDCG@6", budget=10)
    with refuses(UsageError, "no-measure"):
        rt.sample(here.runs, here.bronze, [], budget=10)
    with refuses(UsageError, "wrong-number-of-runs"):
        rt.sample(one, here.bronze, "P@6", budget=10, compare=True)
    with refuses(InputError, "same-documents"):
        rt.sample({"x": here.runs["run0"], "y": here.runs["run0"]}, here.bronze, "P@6", budget=10, compare=True)
    with pytest.raises(MismatchError):
        rt.sample(here.runs, {"other": {"d": 1}}, "P@6", budget=10)
    with refuses(UsageError, "bad-level"):
        rt.sample(here.runs, here.bronze, "P@6", budget=10, level=95)


# Whole queries.


def test_whole_queries_by_hand() -> None:
    run = {f"q{i}": {"a": 3.0, "b": 2.0, "c": 1.0} for i in range(20)}
    bronze = {f"q{i}": {"a": 1, "z": 0} for i in range(20)}
    draw = rt.sample_queries(run, bronze, "nDCG@2", queries=5, rng=rng())
    assert draw.design == "whole_queries"
    assert draw.frame.columns == ["query", "doc", "prob", "stratum", "design", "drawn"]
    assert draw.frame["drawn"].unique().to_list() == [15]  # documents
    assert draw.frame["query"].n_unique() == 5
    for _, part in draw.frame.group_by("query"):
        assert sorted(part["doc"]) == ["a", "b", "z"]  # what the run shows down to 2, and what bronze judged
    assert set(draw.frame["prob"]) == {0.25}
    assert codes(draw.notes) == ["few-queries", "no-forecast"]
    assert names(draw.notes[0], "5")
    assert names(draw.notes[1], "nDCG@2", "run")
    assert draw.expected == {}


@pytest.mark.simulation
def test_every_query_is_as_probable_as_any_other() -> None:
    run = {f"q{i}": {"a": 1.0} for i in range(8)}
    bronze = {f"q{i}": {"a": 1} for i in range(8)}
    counts = dict.fromkeys(bronze, 0)
    chance = rng()
    for _ in range(200):
        for query in rt.sample_queries(run, bronze, "AP", queries=2, rng=chance).frame["query"]:
            counts[query] += 1
    assert max(abs(count - 50) for count in counts.values()) < 4 * np.sqrt(200 * 0.25 * 0.75)


def test_whole_queries_can_be_continued(here: World) -> None:
    first = filled(rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=5, rng=rng()).frame, here)
    draw = rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=6, already=first, rng=rng(2))
    assert draw.frame["query"].n_unique() == 11
    assert set(draw.frame["prob"]) == {11 / 20}
    assert set(draw.frame.filter(pl.col("label").is_not_null())["query"]) == set(first["query"])
    assert draw.frame["drawn"].unique().to_list() == [draw.frame.height]
    assert draw.frame.height > first.height
    assert not draw.frame.select("query", "doc").is_duplicated().any()
    more = rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=50, already=first, rng=rng(2))
    assert more.frame["query"].n_unique() == 20
    assert codes(more.notes[:1]) == ["all-drawn"]
    assert names(more.notes[0], "50", "15")
    everything = filled(more.frame.drop("label"), here)
    with refuses(InputError, "nothing-left-to-draw"):
        rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=5, already=everything)


def test_whole_queries_are_extended_to_a_new_run() -> None:
    old = {f"q{i}": {"a": 3.0, "b": 2.0} for i in range(40)}
    new = {f"q{i}": {"c": 3.0, "a": 2.0} for i in range(40)}
    bronze = {f"q{i}": {"a": 1, "z": i % 2} for i in range(40)}
    first = rt.sample_queries(old, bronze, "nDCG@2", queries=20, rng=rng()).frame
    said = {"a": 1, "b": 0, "z": 1, "c": 2}
    first = first.with_columns(label=pl.col("doc").replace_strict(said, return_dtype=pl.Int32))
    runs = {"old": old, "new": new}
    draw = rt.sample_queries(runs, bronze, "nDCG@2", queries=0, already=first)
    assert codes(draw.notes[:1]) == ["new-documents"]
    assert names(draw.notes[0], "20 documents", "20 queries")
    to_judge = draw.frame.filter(pl.col("label").is_null())
    assert set(to_judge["query"]) == set(first["query"])
    assert set(to_judge["doc"]) == {"c"}
    assert set(draw.frame["prob"]) == {0.5}
    assert draw.frame["drawn"].unique().to_list() == [80]
    assert rt.correct(runs, bronze, first, "nDCG@2").corrected["new"]["nDCG@2"].value is None
    complete = draw.frame.with_columns(label=pl.col("doc").replace_strict(said, return_dtype=pl.Int32))
    assert rt.correct(runs, bronze, complete, "nDCG@2").corrected["new"]["nDCG@2"].n == 20
    more = rt.sample_queries(runs, bronze, "nDCG@2", queries=4, already=first, rng=rng(1)).frame
    assert set(more["prob"]) == {24 / 40}
    assert more.filter(pl.col("label").is_null()).group_by("query").len()["len"].sort().to_list() == [1] * 20 + [4] * 4
    with refuses(InputError, "nothing-left-to-draw"):
        rt.sample_queries(runs, bronze, "nDCG@2", queries=0, already=complete)


def test_what_was_lost_of_whole_queries_is_listed_again(here: World) -> None:
    first = filled(rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=6, rng=rng()).frame, here)
    lost = first.with_columns(label=pl.when(pl.int_range(pl.len()) != 3).then("label"))
    draw = rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=0, already=lost)
    assert draw.frame.filter(pl.col("label").is_null()).select("query", "doc").rows() == [first.row(3)[:2]]
    assert codes(draw.notes[:1]) == ["lost-labels"]
    assert names(draw.notes[0], "1 blank", first.height)


def test_an_earlier_sample_of_other_queries_is_not_continued() -> None:
    run = {f"q{i}": {"a": 3.0, "b": 2.0} for i in range(40)}
    bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(40)}
    some = {query: bronze[query] for query in list(bronze)[:20]}
    first = rt.sample_queries(run, some, "nDCG@2", queries=10, rng=rng()).frame.with_columns(label=1)
    with refuses(InputError, "drawn-from-fewer-queries", "20", "40"):
        rt.sample_queries(run, bronze, "nDCG@2", queries=5, already=first)
    foreign = first.with_columns(pl.col("query").str.replace("q", "topic"))
    with refuses(MismatchError, "no-common-query"):
        rt.sample_queries(run, some, "nDCG@2", queries=5, already=foreign)
    other_docs = first.with_columns(doc=pl.lit("document-") + pl.col("doc"))
    with refuses(MismatchError, "gold-outside-runs", "'document-a'"):
        rt.sample_queries(run, some, "nDCG@2", queries=5, already=other_docs)
    fewer = {query: some[query] for query in some if query != first["query"][0]}
    draw = rt.sample_queries(run, fewer, "nDCG@2", queries=5, already=first)
    assert codes(draw.notes[:1]) == ["queries-left-out"]
    assert names(draw.notes[0], "1 of 10", first["query"][0])
    assert set(draw.frame["prob"]) == {14 / 19}


def test_the_frame_of_whole_queries_is_what_correct_reads(here: World) -> None:
    draw = rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=15, rng=rng())
    found = rt.correct(here.runs, here.bronze, filled(draw.frame, here), "nDCG@6,AP", population="these")
    truth = rt.evaluate(here.runs, here.gold, "nDCG@6").means()
    one = found.corrected["run0"]["nDCG@6"]
    assert one.n == 15
    assert abs(one.value - truth["run0"]["nDCG@6"].value) < 4 * one.se


def test_what_queries_cannot_be_drawn_is_refused(here: World) -> None:
    with refuses(UsageError, "too-few-queries", "2", "1", "20"):
        rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=1)
    with refuses(UsageError, "too-few-queries", "2", "0", "20"):
        rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=0)
    with refuses(UsageError, "no-measure"):
        rt.sample_queries(here.runs, here.bronze, [], queries=5)
    with pytest.raises(MismatchError):
        rt.sample_queries({"z": {"a": 1.0}}, here.bronze, "nDCG@6", queries=5)


@pytest.mark.real
def test_the_tops_of_37_real_runs_have_2495_documents(data: Path) -> None:
    folder = data / "dl19"
    runs: list[Any] = [rt.read_run(file).called(file.stem) for file in sorted((folder / "runs").iterdir())]
    bronze = rt.read_judgments(folder / "llm-umbrela_gpt4.qrels")
    everything = rt.sample(runs, bronze, "P(rel=2)@10", budget=3000, rng=rng())
    assert (len(runs), everything.frame.height, everything.frame["query"].n_unique()) == (37, 2495, 43)
    draw = rt.sample(runs, bronze, "P(rel=2)@10", budget=300, rng=rng())
    assert draw.frame.height == 300
    assert (1 / draw.frame["prob"]).sum() == pytest.approx(2495, rel=0.15)
    per_query = draw.frame["query"].value_counts()["count"]
    assert per_query.max() <= 16
    assert 0.1 < draw.expected["bm25base_p"]["P(rel=2)@10"] < 0.15
    these = rt.sample(runs, bronze, "P(rel=2)@10", budget=300, population="these", rng=rng())
    assert 0.05 < these.expected["bm25base_p"]["P(rel=2)@10"] < 0.1
    assert these.frame.equals(draw.frame)
