"""Bounds: intervals whatever lost labels and documents out of reach may be, and what bronze was worth."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, with_code
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.bronze_worth import BronzeWorth, compare_widths
from ringtrue.gold.correction.possible_values import UNIT_MEASURES, cut_to_possible, possible_values
from ringtrue.stats.results import Estimate
from strategies import examples

THESE: Any = {"unit": "gold labels", "population": "these"}
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture
def here() -> World:
    return world(0, runs=3, queries=20, docs=15, length=6, whole=True)


def draw(here: World, measure: str, budget: int, seed: int = 1) -> tuple[pl.DataFrame, Any]:
    drawn = rt.sample(here.runs, here.bronze, measure, budget=budget, rng=np.random.default_rng(seed))
    labels = [here.gold[query][doc] for query, doc in drawn.frame.select("query", "doc").rows()]
    return drawn.frame.with_columns(label=pl.Series(labels, dtype=pl.Int64)), drawn.sampling_frame


def lose(gold: pl.DataFrame, *rows: int) -> pl.DataFrame:
    return gold.with_columns(label=pl.when(~pl.int_range(pl.len()).is_in(rows)).then("label"))


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["P@6", "DCG@6"])
@examples(12)
@given(seed=SEEDS)
def test_bounds_hold_the_interval_for_whatever_the_lost_labels_are(measure: str, seed: int) -> None:
    here = world(seed % 50, runs=3, queries=20, docs=15, length=6, whole=True)
    gold, frame = draw(here, measure, 60, seed)
    places = np.random.default_rng(seed).permutation(gold.height)[:2].tolist()
    settings: dict[str, Any] = {"sampling_frame": frame, "population": "these"}
    found = rt.correct(here.runs, here.bronze, lose(gold, *places), measure, **settings)
    best = max(gold["label"])
    pairs = rt.compare_corrected(here.runs, here.bronze, lose(gold, *places), measure, **settings)
    for labels in product((0, best), repeat=2):
        filled = gold.with_columns(label=pl.Series(gold["label"]).scatter(places, list(labels)))
        known = rt.correct(here.runs, here.bronze, filled, measure, **settings)
        for name, row in known.corrected.items():
            if "by bronze label" in row[measure].method:  # its error is that of few labels
                continue
            bounds = found.bounds.get(name, {}).get(measure) or found.corrected[name][measure]
            value, slack = row[measure].value or 0.0, 1e-9
            assert bounds.low - slack <= value <= bounds.high + slack
        for pair, full in zip(pairs, rt.compare_corrected(here.runs, here.bronze, filled, measure, **settings),
                              strict=True):  # fmt: skip
            low, high = pair.bounds or (pair.difference.low, pair.difference.high)
            assert low - 1e-9 <= (full.difference.value or 0.0) <= high + 1e-9


def test_bounds_are_the_ends_of_the_intervals_with_every_lost_label_at_its_worst_and_best(here: World) -> None:
    gold, frame = draw(here, "CG@6", 60)
    settings: dict[str, Any] = {"sampling_frame": frame, "population": "these"}
    rows, best = (4, 17, 30), max(gold["label"])
    found = rt.correct(here.runs, here.bronze, lose(gold, *rows), "CG@6", **settings)
    ways = [rt.correct(here.runs, here.bronze,
                       gold.with_columns(label=pl.Series(gold["label"]).scatter(list(rows), list(labels))), "CG@6",
                       **settings).corrected for labels in product((0, best), repeat=3)]  # fmt: skip
    for name, row in found.bounds.items():
        lowest = min((way[name]["CG@6"] for way in ways), key=lambda estimate: estimate.value or 0.0)
        highest = max((way[name]["CG@6"] for way in ways), key=lambda estimate: estimate.value or 0.0)
        interval = found.corrected[name]["CG@6"]
        # The error is that of the worse of two fits for all runs.
        assert row["CG@6"].low == pytest.approx(min(lowest.low or 0.0, interval.low or 0.0), rel=0.1)
        assert row["CG@6"].high == pytest.approx(max(highest.high or 0.0, interval.high or 0.0), rel=0.1)
    assert found.notes[0].code == "lost-labels"
    assert names(found.notes[0], "3", "60")
    assert found.notes[1].code == "lost-left-out"
    alone = rt.correct(here.runs, here.bronze, lose(gold, 1, 2, 3), "CG@6", sampling_frame=frame, method="gold")
    assert "lost-left-out" in codes(alone.notes)


def test_bounds_know_labels_that_the_measure_states_and_gold_did_not_give(here: World) -> None:
    best = max(label for row in here.gold.values() for label in row.values())
    measure = f"DCG(gains={{1:1,2:2,{best + 1}:30}})@6"
    gold, frame = draw(here, "CG@6", 60)
    found = rt.correct(here.runs, here.bronze, lose(gold, 1, 2), measure, sampling_frame=frame)
    filled = gold.with_columns(label=pl.Series(gold["label"]).scatter([1, 2], [best + 1] * 2))
    for name, row in rt.correct(here.runs, here.bronze, filled, measure, sampling_frame=frame).corrected.items():
        bounds = found.bounds.get(name, {}).get(measure) or found.corrected[name][measure]
        assert row[measure].value <= bounds.high


def test_missing_rows_count_as_blank_ones_do(here: World) -> None:
    gold, frame = draw(here, "CG@6", 60)
    blank = rt.correct(here.runs, here.bronze, lose(gold, 3, 9), "CG@6", sampling_frame=frame)
    kept = gold.filter(~pl.int_range(pl.len()).is_in([3, 9])).drop("drawn", "drawn_from", "design", "stratum")
    missing = rt.correct(here.runs, here.bronze, kept, "CG@6", sampling_frame=frame)
    assert blank.bounds.keys() == missing.bounds.keys()
    for name, row in blank.bounds.items():
        assert (missing.bounds[name]["CG@6"].low, missing.bounds[name]["CG@6"].high) == pytest.approx(
            (row["CG@6"].low, row["CG@6"].high)
        )
    assert missing.notes[0].code == "lost-labels"
    assert names(missing.notes[0], "2", "60")


def test_documents_out_of_reach_count_from_least_to_most(here: World) -> None:
    gold, frame = draw(here, "CG@6", 80)
    hidden = frame.filter(~pl.col("drawn")).head(3)  # as if a new run had brought them
    smaller = frame.join(hidden, on=["query", "doc"], how="anti")
    settings: dict[str, Any] = {"population": "these"}
    asked = here.asked("CG@6")
    unseen = np.array([pair in set(hidden.select("query", "doc").rows()) for pair in asked.pool.docs.rows()])
    weight = asked.weights.toarray()
    shares = weight[:, unseen].sum(axis=1) / weight.sum(axis=1)
    found = rt.correct(here.runs, here.bronze, gold, "CG@6", sampling_frame=smaller, **settings)
    for index, (name, row) in enumerate(found.corrected.items()):
        if shares[index] > 0.1:
            assert row["CG@6"].value is None
            continue
        assert ("partly-out-of-reach" in codes(row["CG@6"].notes)) == (shares[index] >= 0.02)
        assert (name in found.bounds) == (shares[index] >= 0.02)
        if shares[index] >= 0.02:
            spread = found.bounds[name]["CG@6"].high - found.bounds[name]["CG@6"].low
            assert spread > weight[index, unseen].sum() * max(gold["label"])


def whole(here: World) -> pl.DataFrame:
    gold = rt.sample_queries(here.runs, here.bronze, "nDCG@6", queries=15).frame
    labels = [here.gold[query].get(doc, 0) for query, doc in gold.select("query", "doc").rows()]
    return gold.with_columns(label=pl.Series(labels, dtype=pl.Int64))


@pytest.mark.slow
@examples(6)
@given(seed=SEEDS)
def test_bounds_of_whole_queries_hold_whatever_the_lost_labels_are(seed: int) -> None:
    here = world(seed % 30, runs=2, queries=20, docs=15, length=6, whole=True)
    gold = whole(here)
    places, best = np.random.default_rng(seed).permutation(gold.height)[:3].tolist(), max(gold["label"])
    assert rt.correct(here.runs, here.bronze, gold, "nDCG@6").bounds == {}
    found = rt.correct(here.runs, here.bronze, lose(gold, *places), "nDCG@6")
    (pair,) = rt.compare_corrected(here.runs, here.bronze, lose(gold, *places), "nDCG@6")
    assert found.notes[0].code == "lost-labels"
    assert names(found.notes[0], "3", gold.height)
    missing = gold.filter(~pl.int_range(pl.len()).is_in(places))  # by what bronze judged of these queries
    assert rt.correct(here.runs, here.bronze, missing, "nDCG@6").bounds == found.bounds
    for labels in product((0, best), repeat=3):
        filled = gold.with_columns(label=pl.Series(gold["label"]).scatter(places, list(labels)))
        for name, row in rt.correct(here.runs, here.bronze, filled, "nDCG@6").corrected.items():
            bounds = found.bounds.get(name, {}).get("nDCG@6") or found.corrected[name]["nDCG@6"]
            assert bounds.low - 0.01 <= row["nDCG@6"].value <= bounds.high + 0.01
        (full,) = rt.compare_corrected(here.runs, here.bronze, filled, "nDCG@6")
        low, high = pair.bounds or (pair.difference.low, pair.difference.high)
        assert low - 0.01 <= full.difference.value <= high + 0.01


def test_a_verdict_that_lost_labels_could_undo_is_not_safe(here: World) -> None:
    gold, frame = draw(here, "CG@6", 60)
    found = [rt.compare_corrected(here.runs, here.bronze, lose(gold, *rows), "CG@6", sampling_frame=frame)
             for rows in ((0, 20, 40), (5, 25, 45), (10, 30, 50))]  # fmt: skip
    for pair in (pair for pairs in found for pair in pairs):
        undone = pair.better is not None and pair.bounds is not None and pair.bounds[0] <= 0 <= pair.bounds[1]
        assert ("verdict-not-safe" in codes(pair.notes)) == undone
        if pair.bounds is not None:
            (note,) = with_code(pair.notes, "bounds")
            assert names(note, pair.a, pair.b)
            assert pair.turned().bounds == (-pair.bounds[1], -pair.bounds[0])


# What bronze was worth.


def test_worth_by_hand() -> None:
    # Intervals .8 as wide; 1/.64 − 1 = .5625 times as many labels more.
    corrected, alone, without = np.array([0.64, 0.64]), np.array([1.0, 1.0]), np.array([1.28, 1.28])
    worth = compare_widths(corrected, alone, without, (corrected, alone), 200, 10**9, **THESE)
    assert worth is not None
    assert (worth.width, worth.bronze_width, worth.labels) == pytest.approx((0.8, 0.5**0.5, 112.5))
    # Of 400 documents: 1/n' = 1/400 + .64 (1/200 − 1/400).
    few = compare_widths(corrected, alone, without, (corrected, alone), 200, 400, **THESE)
    assert few is not None
    assert few.labels == pytest.approx(1 / (1 / 400 + 0.64 / 400) - 200)
    assert worth.note.code == "bronze-worth"
    assert names(worth.note, "20%", "112 more gold labels")
    nothing = np.array([np.nan])
    assert compare_widths(nothing, alone, without, (nothing, alone), 200, 400, **THESE) is None


def test_labels_are_never_worth_more_than_are_left(here: World) -> None:
    pool = len(here.asked("CG@6").pool)
    for budget in (60, pool - 2):
        gold, _ = draw(here, "CG@6", budget)
        worth = rt.correct(here.runs, here.bronze, gold, "CG@6", population="these").bronze_worth["CG@6"]
        assert 0 <= worth.labels <= pool - budget


def test_bronze_labels_that_are_all_the_same_are_worth_nothing(here: World) -> None:
    constant = {query: dict.fromkeys(labels, 1) for query, labels in here.bronze.items()}
    gold, _ = draw(here, "CG@6", 60)
    for population in ("these", "like-these"):
        worth = rt.correct(here.runs, constant, gold, "CG@6", population=population).bronze_worth["CG@6"]
        assert worth.bronze_width == pytest.approx(1, abs=0.03)
        assert worth.note.code in ("bronze-adds-nothing", "ranks-do-as-well") or worth.width < 1


@pytest.mark.parametrize(
    ("width", "bronze_width", "labels", "population", "code", "named"),
    [
        (0.99, 0.9, 4, "these", "bronze-adds-nothing", ["these queries"]),
        (1.2, 1, 0, "like-these", "bronze-adds-nothing", ["queries like these"]),
        (0.9, 0.95, 60, "like-these", "bronze-worth", ["10%", "queries like these", "60 more gold labels"]),
        (0.9, 0.95, 1, "these", "bronze-worth", ["10%", "1 more gold label ", "these queries"]),
        (0.9, 0.99, 60, "these", "ranks-do-as-well", ["10%", "60 more gold labels", "these queries"]),
        (0.9, 0.9, 0, "like-these", "bronze-worth", ["10%", "queries like these"]),
    ],
)
def test_worth_in_one_sentence(
    width: float, bronze_width: float, labels: float, population: Any, code: str, named: list[str]
) -> None:
    worth = BronzeWorth(
        width=width, bronze_width=bronze_width, labels=labels, unit="gold labels", population=population
    )
    assert worth.note.code == worth.as_dict()["code"] == code
    assert names(worth.note, *named)
    assert str(worth) == worth.note


def test_every_corrected_answer_says_what_bronze_was_worth(here: World) -> None:
    gold, _ = draw(here, "CG@6", 60)
    found = rt.correct(here.runs, here.bronze, gold, "CG@6,P@6", population="these")
    assert set(found.bronze_worth) <= {"CG@6", "P@6"}  # P@6 of few labels of a kind is by bronze label
    ratio = [np.log((row["CG@6"].se or 0) / (found.gold_only[name]["CG@6"].se or 1))
             for name, row in found.corrected.items()]  # fmt: skip
    assert found.bronze_worth["CG@6"].width == pytest.approx(np.exp(np.mean(ratio)))
    pairs = rt.compare_corrected(here.runs, here.bronze, gold, "CG@6")
    assert pairs.notes[0].code in ("bronze-worth", "bronze-adds-nothing", "ranks-do-as-well")
    alone = rt.correct(here.runs, here.bronze, gold, "CG@6", method="gold")
    assert alone.bronze_worth == {}


# What is possible.


def test_every_measure_from_0_to_1_is_known() -> None:
    from ringtrue.evaluation.measures import CATALOGUE

    assert set(CATALOGUE) >= UNIT_MEASURES
    others = set(CATALOGUE) - UNIT_MEASURES
    assert {"DCG", "CG", "NumRet", "TP", "FP", "FN", "TN"} <= others


def test_intervals_are_cut_to_what_is_possible_and_that_is_said() -> None:
    wide = Estimate(value=0.13, se=1.5, low=-2.89, high=3.16, n=3, method="difference")
    precise = cut_to_possible(wide, parse("P@10"))
    assert (precise.value, precise.low, precise.high) == (0.13, 0.0, 1.0)
    assert codes(precise.notes) == ["interval-cut"]
    assert names(precise.notes[0], "10", "-2.890", "3.160")
    gain = cut_to_possible(wide, parse("DCG@10"))
    assert (gain.low, gain.high) == (0.0, 3.16)
    difference = cut_to_possible(wide, parse("P@10"), difference=True)
    assert (difference.low, difference.high) == (-1.0, 1.0)
    outside = cut_to_possible(Estimate(value=1.02, se=0.1, low=0.9, high=1.2, n=3, method="t"), parse("RR"))
    assert (outside.value, outside.low, outside.high) == (1.0, 0.9, 1.0)
    assert outside.notes[0].code == "estimate-outside-possible"
    assert names(outside.notes[0], "1.020")
    elsewhere = Estimate(value=1.5, se=0.1, low=1.3, high=1.7, n=3, method="t")
    assert cut_to_possible(elsewhere, parse("RR")).low == 1.3
    inside = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, n=3, method="t")
    assert cut_to_possible(inside, parse("RR")) == inside
    assert possible_values(parse("DCG(gains={0:-1,1:1})@10")) == (-np.inf, np.inf)


def test_few_labels_give_no_impossible_interval() -> None:
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
    bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
    gold = {"query": ["q0", "q3", "q5"], "doc": ["a", "b", "a"], "label": [1, 0, 0], "prob": [0.05, 0.05, 0.05]}
    found = rt.correct(run, bronze, gold, "P@2", design="pool_stratified").corrected["run"]["P@2"]
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.high <= 1
    assert any(names(note, "2") for note in with_code(found.notes, "interval-cut"))
