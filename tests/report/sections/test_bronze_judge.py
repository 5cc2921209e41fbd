"""What the report says of the bronze judge."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from report.page_words import Words, find_notes, note_codes
from report.small_inputs import compared, simulated
from ringtrue.evaluation.measures import parse_all
from ringtrue.gold.correction.diagnostics import permutation_p
from ringtrue.gold.sampling import sample
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import bronze_judge
from ringtrue.report.sections.confusion import GoldPairs, make_gold_problem, pair_gold_with_bronze
from ringtrue.report.sections.number_phrases import format_p_value
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import estimate_share
from ringtrue.tables import Judgments, Run
from strategies import examples

DOCS = [f"d{rank:02}" for rank in range(1, 13)]


def material(
    gold: dict[str, int], bronze: dict[str, int], prob: dict[str, float] | None = None, design: str = "pool_stratified",
    measure: str = "P@12", **more: object,
) -> ReportInputs:  # fmt: skip
    """One query, and one run that has d01 at rank 1 and so on to d12; documents without a label are 0 by bronze."""
    run = Run.of({"q": {doc: -float(rank) for rank, doc in enumerate(DOCS)}}, name="one")
    table = {
        "query": ["q"] * len(gold), "doc": list(gold), "label": list(gold.values()),
        "prob": [(prob or {}).get(doc, 0.5) for doc in gold], "design": [design] * len(gold),
    }  # fmt: skip
    labels = dict.fromkeys(DOCS, 0) | bronze
    return ReportInputs(runs=(run,), judgments=Judgments.of({"q": labels}), gold=Judgments.of(table),
                    measures=tuple(parse_all([measure])), **more)  # fmt: skip


def pairs(some: ReportInputs) -> GoldPairs:
    task = make_gold_problem(some)
    assert task is not None
    return pair_gold_with_bronze(task, some)


def figure(some: ReportInputs, name: str) -> rt.Figure:
    found = bronze_judge.section(some)
    assert found is not None
    return next(one for one in found.figures if one.name == name)


def test_colours_weigh_labels_by_what_they_stand_for_and_cells_count_what_was_seen(words: Words) -> None:
    # Of three documents that gold calls 0, bronze gets one wrong, which stands for 8 where the others do for 1.
    some = material({"d01": 0, "d02": 0, "d03": 0, "d04": 1}, {"d03": 1, "d04": 1}, {"d01": 1, "d02": 1, "d03": 0.125})
    (chart,) = figure(some, "confusion").charts
    assert chart.rows == chart.columns == ("0", "1")
    assert chart.values == (pytest.approx((0.2, 0.8)), (0.0, 1.0))
    assert chart.texts == (("20%\n2", "80%\n1"), ("0", "100%\n1"))
    assert re.findall(r"\d+%", figure(some, "confusion").sentence)[-2:] == ["80%", "0%"]
    words(figure(some, "confusion"))


def test_accuracy_by_rank_by_hand(words: Words) -> None:
    gold = {"d01": 1, "d02": 1, "d03": 0, "d05": 1, "d06": 0, "d07": 0, "d11": 1, "d12": 0}
    found = figure(material(gold, {"d01": 1, "d02": 0, "d05": 1, "d06": 1, "d12": 1}), "by-rank")
    assert [row[0] for row in found.table.rows] == ["all", "ranks 1–3", "ranks 4–10", "ranks 11–12"]
    (chart,) = found.charts
    relevant, others = ([one.value for one in series.values] for series in chart.series)
    assert relevant == [2 / 4, 1 / 2, 1.0, 0.0]
    assert others == [2 / 4, 1.0, 1 / 2, 0.0]
    assert chart.marks == ("8", "3", "3", "2")
    assert re.findall(r"\d+%", found.sentence)[:3] == ["50%", "100%", "0%"]
    words(found)


def test_a_band_without_a_label_of_a_kind_has_no_rate() -> None:
    found = figure(material({"d01": 1, "d02": 1, "d05": 0, "d06": 0}, {"d01": 1, "d05": 1}), "by-rank")
    (chart,) = found.charts
    assert [one and one.value for one in chart.series[0].values] == [0.5, 0.5, None]
    assert [row[2] for row in found.table.rows] == ["50% (9% to 91%)", "50% (9% to 91%)", "–"]


def test_rates_and_counts_are_those_of_the_correction() -> None:
    some = simulated("documents")
    judge = some.correction.judge
    mine = pairs(some)
    for one, name in zip(mine.rates(), ("relevant", "nonrelevant"), strict=True):
        assert one.as_dict() == judge[name]
    assert mine.count_confusion().as_dict() == judge["confusion"]


def test_for_whole_queries_too() -> None:
    some = simulated("whole queries")
    judge = some.correction.judge
    on_relevant, on_others = pairs(some).rates()
    assert (on_relevant.as_dict(), on_others.as_dict()) == (judge["relevant"], judge["nonrelevant"])
    found = bronze_judge.section(some)
    assert [one.name for one in found.figures] == ["confusion", "by-rank", "by-run"]


def whole() -> ReportInputs:
    """20 whole queries of 10 documents, half of them relevant; bronze is wrong of one query alone."""
    run, gold = lists(20)
    wrong = pl.col("query") == "q00"
    bronze = gold.frame.with_columns(label=pl.when(wrong).then(1 - pl.col("label")).otherwise(pl.col("label")))
    trusted = gold.frame.with_columns(prob=pl.lit(0.5), design=pl.lit("whole_queries"))
    return ReportInputs(runs=(run,), judgments=Judgments(bronze), gold=Judgments.of(trusted),
                    measures=tuple(parse_all(["P@10"])))  # fmt: skip


def test_documents_of_one_query_are_no_witnesses_of_their_own(words: Words) -> None:
    some = whole()
    expected = estimate_share(np.repeat(np.arange(20) > 0, 5), np.repeat(np.arange(20), 5))
    assert pairs(some).rates() == (expected, expected)
    assert expected.low < 0.75  # 20 labels apart would give 0.764, 100 of them 0.888
    told = figure(some, "confusion").table
    assert told.rows[0][1] == told.rows[1][2] == f"0.950 ({expected.low:.3f} to {expected.high:.3f})"
    assert f"95% ({expected.low:.0%} to >99%)" in bronze_judge.section(some).answer
    words(bronze_judge.section(some))


def test_rates_of_whole_queries_are_the_same_where_the_correction_goes_by_them() -> None:
    some = replace(whole(), correction_options={"method": "confusion"})
    judge = some.correction.judge
    assert [one.as_dict() for one in pairs(some).rates()] == [judge["relevant"], judge["nonrelevant"]]


def test_labels_of_a_single_query_have_no_interval() -> None:
    some = whole()
    gold = some.gold.frame.with_columns(label=pl.when(pl.col("query") == "q03").then(2).otherwise(pl.col("label")))
    row = figure(replace(some, gold=Judgments(gold)), "confusion").table.rows[2]
    assert row == ["2", "0.500", "0.500", "0.000", "10"]


def test_queries_that_are_easier_are_no_difference_by_rank(words: Words) -> None:
    """Bronze errs in the first queries alone, all of whose gold documents are below rank 3."""
    run, gold = lists(20)
    early = pl.col("query") < "q10"
    kept = gold.frame.filter((early & (pl.col("doc") > "d03")) | (~early & (pl.col("doc") <= "d03")))
    noise = pl.Series(np.random.default_rng(2).random(kept.height) < 0.5)
    bronze = kept.with_columns(label=pl.when(early & noise).then(1 - pl.col("label")).otherwise(pl.col("label")))
    trusted = Judgments.of(kept.with_columns(design=pl.lit("whole_queries")))
    some = ReportInputs(runs=(run,), judgments=Judgments(bronze), gold=trusted, measures=tuple(parse_all(["P@10"])))
    assert "p =" not in figure(some, "by-rank").sentence  # there is nothing in which the groups could differ
    words(figure(some, "by-rank"))


@pytest.mark.parametrize(("measure", "bands"), [
    ("P@3", ["ranks 1–3"]), ("P@5", ["ranks 1–3", "ranks 4–5"]), ("P@10", ["ranks 1–3", "ranks 4–10"]),
    ("P@11", ["ranks 1–3", "ranks 4–10", "rank 11"]), ("DCG", ["ranks 1–3", "ranks 4–10", "below rank 10"]),
])  # fmt: skip
def test_bands_end_where_the_measure_does(measure: str, bands: list[str]) -> None:
    some = material(dict.fromkeys(DOCS, 1), dict.fromkeys(DOCS[::2], 1), measure=measure)
    assert [row[0] for row in figure(some, "by-rank").table.rows[1:]] == bands


@pytest.mark.parametrize("measure", ["P@10", "P@5", "DCG"])
def test_p_is_of_the_bands_that_are_shown(measure: str) -> None:
    run, labels = lists(30)
    wrong = pl.Series(np.random.default_rng(0).random(300) < 0.2)
    bronze = labels.frame.with_columns(label=pl.when(wrong).then(1 - pl.col("label")).otherwise(pl.col("label")))
    gold = Judgments.of(labels.frame.with_columns(prob=pl.lit(1.0), design=pl.lit("pool_random")))
    some = ReportInputs(runs=(run,), judgments=Judgments(bronze), gold=gold, measures=tuple(parse_all([measure])))
    mine = pairs(some)
    groups = np.eye(2)[(mine.best_rank > 3).astype(int)]
    p = permutation_p(mine.right, mine.relevant, groups, np.random.default_rng(0))
    assert 0.02 < p < 0.98
    shown = re.search(r"p [<=] (\d\.\d+)", figure(some, "by-rank").sentence)
    assert float(shown[1]) == pytest.approx(p, abs=0.04)


def test_rates_that_are_all_the_same_name_no_run(words: Words) -> None:
    first, bronze = lists(6)
    turned = Run.of({query: {doc: float(place) for place, doc in enumerate(DOCS[:10])} for query in first.queries},
                    name="two")  # fmt: skip
    gold = Judgments.of(bronze.frame.with_columns(prob=pl.lit(1.0), design=pl.lit("pool_random")))
    some = ReportInputs(runs=(first, turned), judgments=bronze, gold=gold, measures=tuple(parse_all(["P@10"])))
    told = figure(some, "by-run").sentence
    assert "one" not in told.split()
    assert "two" not in told.split()
    words(figure(some, "by-run"))


def test_a_sample_drawn_to_compare_is_about_what_the_runs_do_not_share() -> None:
    some = compared()
    found = bronze_judge.section(some)
    assert found.answer.startswith(bronze_judge.UNSHARED)
    assert all(one.sentence.startswith(bronze_judge.UNSHARED) for one in found.figures)
    assert found.notes[0].code == "drawn-for-comparison"


def test_p_is_that_of_the_corrections_own_check() -> None:
    some = simulated("documents")
    check = next(one for one in some.correction.checks if one.name == "accuracy by run")
    told = figure(some, "by-run").sentence
    assert format_p_value(check.p_value) in told


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.01, 1))
def test_only_ratios_of_probabilities_matter(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    gold, bronze = (dict(zip(DOCS, rng.integers(0, 3, len(DOCS)).tolist(), strict=True)) for _ in range(2))
    prob = dict(zip(DOCS, rng.uniform(0.1, 1, len(DOCS)).tolist(), strict=True))
    one = pairs(material(gold, bronze, prob))
    other = pairs(material(gold, bronze, {doc: value * factor for doc, value in prob.items()}))
    np.testing.assert_allclose(one.weigh_confusion().matrix, other.weigh_confusion().matrix)
    np.testing.assert_allclose(one.weigh_confusion().interval(), other.weigh_confusion().interval())
    for mine, theirs in zip(one.rates(), other.rates(), strict=True):
        assert mine.n == theirs.n
        assert (mine.value is None) == (theirs.value is None)
        assert mine.value is None or mine.value == pytest.approx(theirs.value)


def lists(queries: int) -> tuple[Run, Judgments]:
    """A run of ten documents a query, and bronze labels that call the first five relevant."""
    names = [f"q{number:02}" for number in range(queries)]
    run = Run.of({query: {doc: -float(rank) for rank, doc in enumerate(DOCS[:10])} for query in names}, name="one")
    return run, Judgments.of({query: {doc: int(rank < 5) for rank, doc in enumerate(DOCS[:10])} for query in names})


def test_a_judge_who_errs_only_further_down_is_told_and_why_it_does_not_matter(words: Words) -> None:
    run, bronze = lists(20)
    gold = bronze.frame.with_columns(
        label=pl.when(pl.col("doc") < "d04").then(pl.col("label")).otherwise(1 - pl.col("label")), prob=pl.lit(1.0),
        design=pl.lit("pool_random"),
    )  # fmt: skip
    some = ReportInputs(runs=(run,), judgments=bronze, gold=Judgments.of(gold), measures=tuple(parse_all(["P@10"])))
    told = figure(some, "by-rank").sentence
    assert all(number in told for number in ("100%", "0%", "p = 0.001"))
    assert "unequal-rates" not in note_codes(bronze_judge.section(some))
    words(bronze_judge.section(some))


def test_a_correction_by_rates_is_to_be_doubted_where_they_differ(words: Words) -> None:
    run, bronze = lists(20)
    gold = bronze.frame.with_columns(
        label=pl.when(pl.col("doc") < "d04").then(pl.col("label")).otherwise(1 - pl.col("label")),
        design=pl.lit("external"),
    )  # fmt: skip
    some = ReportInputs(runs=(run,), judgments=bronze, gold=Judgments.of(gold), measures=tuple(parse_all(["P@10"])))
    assert "unequal-rates" in note_codes(bronze_judge.section(some))
    words(figure(some, "by-rank"))


def test_gold_from_elsewhere_has_a_matrix_and_a_word_on_what_it_cannot_tell(words: Words) -> None:
    run, bronze = lists(4)
    other = {"query": ["x"] * 6, "doc": list("abcdef"), "label": [1, 1, 0, 0, 1, 0]}
    labelled = Judgments.of(pl.concat([bronze.frame, Judgments.of(other).frame]))
    gold = Judgments.of(other | {"design": ["external"] * 6, "label": [1, 0, 0, 0, 1, 0]})
    some = ReportInputs(runs=(run,), judgments=labelled, gold=gold, measures=tuple(parse_all(["P@10"])))
    found = bronze_judge.section(some)
    assert [one.name for one in found.figures] == ["confusion"]
    assert found.figures[0].charts[0].texts == (("75%\n3", "25%\n1"), ("0", "100%\n2"))
    assert found.notes[0].code == "rates-unchecked"
    words(found)


def test_a_matrix_alone_is_shown_as_it_is(words: Words) -> None:
    run, bronze = lists(4)
    known = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
    some = ReportInputs(runs=(run,), judgments=bronze, gold=known, measures=tuple(parse_all(["P@10"])))
    found = bronze_judge.section(some)
    assert note_codes(found) == ["rates-unchecked"]
    words(found)
    assert found.figures[0].charts[0].texts == (("80%\n80", "20%\n20"), ("30%\n30", "70%\n70"))


def test_labels_on_another_scale_are_no_mistakes(words: Words) -> None:
    found = figure(material({"d01": 3, "d02": 0, "d03": 2}, {"d01": 1, "d03": 1}), "confusion")
    (note,) = find_notes(found, "different-scales")
    assert re.findall(r"\d+", note) == ["3", "1"]
    words(found)


def test_a_document_without_a_bronze_label_is_not_in_the_matrix() -> None:
    some = material({"d01": 1, "d02": 0, "d03": 1}, {"d01": 1})
    kept = some.judgments.frame.filter(pl.col("doc") != "d03")
    found = figure(replace(some, judgments=Judgments(kept)), "confusion")
    assert found.charts[0].texts == (("100%\n1", "0"), ("0", "100%\n1"))
    assert "gold-partly-without-bronze" in note_codes(found)


@pytest.mark.parametrize("without", ["gold", "judgments"])
def test_needs_gold_and_judgments(without: str) -> None:
    some = replace(simulated("documents"), **{without: None, **({"runs": ()} if without == "judgments" else {})})
    assert bronze_judge.section(some) is None


@pytest.mark.slow
@pytest.mark.real
def test_dl19_a_model_is_worse_on_what_good_runs_find(data: Path) -> None:
    runs = tuple(rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run")))
    bronze, human = (rt.read_judgments(data / f"dl19/{name}.qrels") for name in ("llm-umbrela_gpt4", "human"))
    draw = sample(runs, bronze, "P(rel=2)@10", budget=400, rng=np.random.default_rng(1))
    gold = draw.frame.join(human.frame.select("query", "doc", "label"), on=["query", "doc"], maintain_order="left")
    some = ReportInputs(
        runs=runs, judgments=bronze, gold=Judgments.of(gold), measures=tuple(parse_all(["P(rel=2)@10"]))
    )
    whole = human.frame.join(bronze.frame.select("query", "doc", said="label"), on=["query", "doc"])
    top = pl.concat([run.ranked(10).select("query", "doc") for run in runs]).unique()
    whole = whole.join(top, on=["query", "doc"], how="semi")
    for one, kind in zip(pairs(some).rates(), (pl.col("label") >= 2, pl.col("label") < 2), strict=True):
        truth = whole.filter(kind).select(((pl.col("said") >= 2) == (pl.col("label") >= 2)).mean()).item()
        assert one.low < truth < one.high
    found = figure(some, "by-run")
    assert len(found.charts[0].names) == 26
    assert len(found.table.rows) == 38
    shown = re.search(r"p [<=] (\d\.\d+)", found.sentence)
    assert shown is not None
    assert float(shown[1]) < 0.05
