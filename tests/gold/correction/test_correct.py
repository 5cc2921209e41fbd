"""correct: one answer from runs, bronze and gold, whatever way it takes; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses
from ringtrue.errors import DuplicateError, InputError, MeasureError, MismatchError, UsageError
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)
KNOWN = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=np.array([[80, 20], [5, 95]]))


@pytest.fixture
def here() -> World:
    return world(0, runs=2, queries=20, docs=10, length=5, grades=2, whole=True)


@pytest.fixture
def gold(here: World) -> pl.DataFrame:
    return here.drawn(np.random.default_rng(1), prob=0.5)


def test_the_answer_has_what_the_command_line_promises(here: World, gold: pl.DataFrame) -> None:
    found = rt.correct(here.runs, here.bronze, gold, "P@5,DCG@5", design="pool_random")
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    keys = ["runs", "corrected", "gold_only", "methods", "design", "population", "judge", "checks", "bounds",
            "bronze_worth", "notes", "note_codes"]  # fmt: skip
    assert list(plain) == keys
    for part in ("runs", "corrected", "gold_only"):
        assert list(plain[part]) == ["run0", "run1"]
        assert list(plain[part]["run0"]) == ["P@5", "DCG@5"]
        assert list(plain[part]["run0"]["P@5"]) == [
            "value",
            "se",
            "low",
            "high",
            "level",
            "n",
            "method",
            "notes",
            "note_codes",
        ]
    assert (plain["design"], plain["population"]) == ("pool_random", "like-these")
    assert list(plain["judge"]) == ["relevant", "nonrelevant", "youden", "confusion"]
    assert list(plain["checks"][0]) == ["check", "passed", "p_value", "text", "code"]
    raw = rt.evaluate(here.runs, here.bronze, "P@5").means()
    assert plain["runs"]["run0"]["P@5"]["value"] == raw["run0"]["P@5"].value


def test_the_answer_in_words(here: World, gold: pl.DataFrame) -> None:
    found = rt.correct(here.runs, here.bronze, gold, "DCG@5", design="pool_stratified")
    lines = str(found).splitlines()
    one, raw = found.corrected["run0"]["DCG@5"], found.raw["run0"]["DCG@5"]
    assert lines[0] == f"run0 DCG@5: {one} (bronze says {raw.value:.3f})"
    assert lines[2] == found.methods["DCG@5"]
    assert names(found.methods["DCG@5"], "DCG@5", "pool_stratified")
    assert lines[3] == f"DCG@5: {found.bronze_worth['DCG@5']}"
    assert lines[4:] == [check.note for check in found.checks if not check.passed]


def test_the_design_decides_the_way(here: World, gold: pl.DataFrame) -> None:
    def way(told: Any, measure: str = "P@5", **settings: Any) -> str:
        return rt.correct(here.runs, here.bronze, told, measure, **settings).methods[measure].code

    assert way(gold, design="pool_random") == "by-difference"
    assert way(gold.with_columns(design=pl.lit("pool_stratified"))) == "by-difference"
    assert way(here.gold, "nDCG@5", design="whole_queries") == "by-query"
    assert way(gold, design="external") == "by-confusion"
    assert way(KNOWN) == "by-confusion"
    assert way(gold, design="pool_random", method="confusion") == "by-confusion"
    assert way(gold, design="pool_random", method="gold") == "by-gold-alone"


@pytest.mark.slow
@examples(10)
@given(SEEDS, st.sampled_from(["pool_random", "pool_stratified", "whole_queries"]))
def test_the_order_of_what_is_given_changes_nothing(seed: int, design: Any) -> None:
    made = world(seed, runs=3, queries=6)
    rng = np.random.default_rng(seed)
    gold = made.drawn(rng, prob=0.6) if design != "whole_queries" else pl.DataFrame(
        [(query, doc, label) for query in ("q1", "q4", "q0") for doc, label in made.gold[query].items()],
        schema=["query", "doc", "label"], orient="row",
    )  # fmt: skip
    if gold.height < 2:
        return
    names, queries = rng.permutation(list(made.runs)), rng.permutation(list(made.bronze))
    runs = {name: {query: made.runs[name][query] for query in queries if query in made.runs[name]} for name in names}
    bronze = {query: dict(sorted(made.bronze[query].items(), reverse=True)) for query in queries}
    for population in ("these", "like-these"):
        one = rt.correct(made.runs, made.bronze, gold, "DCG@4,P@4", design=design, population=population)
        two = rt.correct(runs, bronze, gold.sample(fraction=1, shuffle=True, seed=1), "P@4,DCG@4", design=design,
                         population=population)  # fmt: skip
        for run in made.runs:
            for measure in ("DCG@4", "P@4"):
                first, second = one.corrected[run][measure], two.corrected[run][measure]
                assert second.value == pytest.approx(first.value, abs=1e-9)
                assert second.se == pytest.approx(first.se, abs=1e-7)


def test_the_same_seed_gives_the_same_answer_and_none_is_0(here: World, gold: pl.DataFrame) -> None:
    first, second, third = (
        rt.correct(here.runs, here.bronze, gold, "P@5", design="pool_random", rng=rng).as_dict()
        for rng in (None, np.random.default_rng(0), np.random.default_rng(1))
    )
    assert first == second
    assert first["corrected"] == third["corrected"]


def test_a_level_of_its_own_widens_or_narrows_the_interval(here: World, gold: pl.DataFrame) -> None:
    widths = []
    for level in (0.5, 0.9, 0.99):
        found = rt.correct(here.runs, here.bronze, gold, "P@5", design="pool_stratified", level=level)
        one = found.corrected["run0"]["P@5"]
        assert one.level == level
        widths.append(one.high - one.low)
    assert widths == sorted(widths)


def test_runs_come_in_every_shape_that_evaluate_takes(here: World, gold: pl.DataFrame) -> None:
    by_name = rt.correct(here.runs, here.bronze, gold, "P@5", design="pool_random").corrected
    listed = [rt.Run.of(run, name=name) for name, run in here.runs.items()]
    tables = Judgments.of(here.bronze), Judgments.of(gold)
    assert rt.correct(listed, *tables, ["P@5"], design="pool_random").corrected == by_name
    assert rt.correct(iter(listed), here.bronze, gold, rt.parse("P@5"), design="pool_random").corrected == by_name
    alone = rt.correct(here.runs["run0"], here.bronze, gold, "P@5", design="pool_random").corrected
    assert list(alone) == ["run"]


# What is refused, and what it says to do.


def test_gold_without_a_design_is_refused_with_those_that_there_are(here: World, gold: pl.DataFrame) -> None:
    with pytest.raises(InputError) as refused:
        rt.correct(here.runs, here.bronze, gold, "P@5")
    assert refused.value.code == "undeclared-design"
    offered = [suggestion.arguments.get("design") for suggestion in refused.value.note.suggestions]
    assert offered == [None, "pool_random", "pool_stratified", "whole_queries", "external"]


def test_mixed_designs_are_refused(here: World, gold: pl.DataFrame) -> None:
    mixed = gold.with_columns(design=pl.Series(["external"] * 5 + ["pool_random"] * (gold.height - 5)))
    with refuses(InputError, "several-designs"):
        rt.correct(here.runs, here.bronze, mixed, "P@5")


def test_labels_are_no_matrix_and_a_matrix_has_no_draw(here: World, gold: pl.DataFrame) -> None:
    with refuses(UsageError, "design-does-not-fit", "'known'"):
        rt.correct(here.runs, here.bronze, gold, "P@5", design="known")
    with refuses(UsageError, "design-does-not-fit", "'known'"):
        rt.correct(here.runs, here.bronze, KNOWN, "P@5", design="pool_random")


@pytest.mark.parametrize("method", ["difference", "gold"])
def test_gold_from_elsewhere_serves_the_confusion_matrix_only(here: World, gold: pl.DataFrame, method: Any) -> None:
    for told, design in ((gold, "external"), (KNOWN, "known")):
        with refuses(InputError, "not-a-draw", design):
            rt.correct(here.runs, here.bronze, told, "P@5", design=design, method=method)


def test_two_gold_labels_of_a_document_are_refused(here: World) -> None:
    twice = {"query": ["q0", "q0"], "doc": ["d0", "d0"], "judge": ["x", "y"], "label": [1, 0]}
    with refuses(DuplicateError, "several-judges"):
        rt.correct(here.runs, here.bronze, twice, "P@5", design="pool_random")
    with refuses(DuplicateError, "several-judges"):
        rt.correct(here.runs, twice, here.gold, "P@5", design="pool_random")


def test_labels_that_are_all_empty_are_refused(here: World, gold: pl.DataFrame) -> None:
    empty = gold.with_columns(label=pl.lit(None, dtype=pl.Int64))
    with refuses(InputError, "no-gold-labels"):
        rt.correct(here.runs, here.bronze, empty, "P@5", design="pool_random")


def test_wrong_settings_are_refused(here: World, gold: pl.DataFrame) -> None:
    asked: dict[str, Any] = {"design": "pool_random"}
    with refuses(UsageError, "no-measure"):
        rt.correct(here.runs, here.bronze, gold, [], **asked)
    with pytest.raises(MeasureError):
        rt.correct(here.runs, here.bronze, gold, "DGC@5", **asked)
    with pytest.raises(UsageError):
        rt.correct([], here.bronze, gold, "P@5", **asked)
    with refuses(UsageError, "bad-level"):
        rt.correct(here.runs, here.bronze, gold, "P@5", level=95, **asked)
    with pytest.raises(UsageError):
        rt.correct(here.runs, here.bronze, gold, "P@5", population="all", **asked)
    with pytest.raises(UsageError):
        rt.correct(here.runs, here.bronze, gold, "P@5", method="ppi", **asked)
    with pytest.raises(MeasureError):
        rt.correct(here.runs, here.bronze, gold, "P@5", bronze_rel=0, **asked)
    with refuses(UsageError, "repeated-run-name", "'x'"):
        rt.correct([rt.Run.of(run, name="x") for run in here.runs.values()], here.bronze, gold, "P@5", **asked)


def test_another_collection_is_refused(here: World, gold: pl.DataFrame) -> None:
    with pytest.raises(MismatchError):
        rt.correct(here.runs, {"other": {"d0": 1}}, gold, "P@5", design="pool_random")


def test_negative_gold_labels_are_left_out_and_told(here: World, gold: pl.DataFrame) -> None:
    unsure = gold.with_columns(label=pl.when(pl.col("query") == "q0").then(-1).otherwise(pl.col("label")))
    found = rt.correct(here.runs, here.bronze, unsure, "P@5", design="pool_random")
    count = (gold["query"] == "q0").sum()
    assert found.notes[0].code == "lost-labels"
    assert names(found.notes[0], count, gold.height)


# Real judges.


@pytest.fixture(scope="module")
def dl19(data: Path) -> tuple[list[rt.Run], Judgments, Judgments]:
    """37 runs, a model's labels and people's."""
    files = sorted((data / "dl19" / "runs").iterdir())
    runs = [rt.read_run(file).called(file.name.split(".")[0]) for file in files]
    return runs, rt.read_judgments(data / "dl19/llm-umbrela_gpt4.qrels"), rt.read_judgments(data / "dl19/human.qrels")


@pytest.mark.slow
@pytest.mark.real
def test_the_raw_score_of_bm25_is_far_from_gold_and_the_corrected_one_is_not(
    dl19: tuple[list[rt.Run], Judgments, Judgments],
) -> None:
    runs, bronze, human = dl19
    measures = ["P(rel=2)@10", "DCG@10"]
    draw = rt.sample(runs, bronze, measures, budget=300, rng=np.random.default_rng(7))
    assert draw.frame.height == 300
    gold = draw.frame.join(human.frame.select("query", "doc", "label"), on=["query", "doc"], how="left")
    gold = gold.with_columns(pl.col("label").fill_null(0))
    found = rt.correct(runs, bronze, gold, measures, population="these")
    truth = rt.evaluate(runs, human, measures).means()
    raw, one = found.raw["bm25base_p"]["P(rel=2)@10"], found.corrected["bm25base_p"]["P(rel=2)@10"]
    assert raw.value == pytest.approx(0.572, abs=0.0005)
    assert truth["bm25base_p"]["P(rel=2)@10"].value == pytest.approx(0.412, abs=0.0005)
    assert one.low <= 0.412 <= one.high < raw.value
    assert one.high - one.low < 0.2
    for measure in measures:
        held = [found.corrected[run.name][measure].low <= truth[run.name][measure].value
                <= found.corrected[run.name][measure].high for run in runs]  # fmt: skip
        assert np.mean(held) >= 0.8  # one draw: the runs share its luck
        alone = [found.gold_only[run.name][measure] for run in runs]
        ours = [found.corrected[run.name][measure] for run in runs]
        widths = [(one.high - one.low) / (other.high - other.low) for one, other in zip(ours, alone, strict=True)]
        assert np.mean(widths) < 0.9
    assert codes(found.notes) == ["no-bronze-label"]
    assert names(found.notes[0], "2,495", "10", "1")
    assert {check.note.code for check in found.checks if not check.passed} <= {"accuracy-differs"}


@pytest.mark.slow
@pytest.mark.real
def test_whole_queries_correct_ndcg_on_real_judges(dl19: tuple[list[rt.Run], Judgments, Judgments]) -> None:
    runs, bronze, human = dl19
    draw = rt.sample_queries(runs, bronze, "nDCG@10", queries=20, rng=np.random.default_rng(7))
    gold = draw.frame.join(human.frame.select("query", "doc", "label"), on=["query", "doc"])
    found = rt.correct(runs, bronze, gold, "nDCG@10", population="these")
    truth = rt.evaluate(runs, human, "nDCG@10").means()
    held = [found.corrected[run.name]["nDCG@10"].low <= truth[run.name]["nDCG@10"].value
            <= found.corrected[run.name]["nDCG@10"].high for run in runs]  # fmt: skip
    assert np.mean(held) >= 0.8
    assert found.corrected["bm25base_p"]["nDCG@10"].n == 20


@pytest.mark.parametrize(
    ("design", "measure"),
    [("external", "P@4"), ("external", "DCG@4"), ("pool_random", "P@4"), ("whole_queries", "nDCG@4")],
)
def test_a_column_of_gold_that_is_called_bronze_is_not_taken_for_what_bronze_said(design: str, measure: str) -> None:
    here = world(4, runs=2, queries=30, docs=12, length=5, grades=2, whole=True)
    rows = [(query, doc, label) for query, row in here.gold.items() for doc, label in row.items()]
    gold = pl.DataFrame(rows, schema=["query", "doc", "label"], orient="row")
    asked = {"measures": measure, "design": design, "rng": np.random.default_rng(1)}
    one = rt.correct(here.runs, here.bronze, gold, **asked)
    other = rt.correct(here.runs, here.bronze, gold.with_columns(bronze=1), **asked | {"rng": np.random.default_rng(1)})
    assert other.as_dict() == one.as_dict()
