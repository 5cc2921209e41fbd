"""What the report says of the ceiling, and of which matrix it takes."""

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
from ringtrue.errors import DuplicateError, InputError, MismatchError
from ringtrue.evaluation.measures import parse_all
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.sections import ceiling
from ringtrue.report.sections.ceiling import find_judge_difference
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments, Run
from strategies import examples

OF_JUDGMENTS = "the judge of the judgments"
BRONZE_JUDGE = "the bronze judge"
OF_LABELS = "one of the judges in the labels"

KNOWN = Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
QUERIES = [f"q{number}" for number in range(4)]


def small(**more: object) -> ReportInputs:
    """Four queries with a good and a bad document, and a run that has the good one first in all but one."""
    run = Run.of({query: {"good": 1.0, "bad": 2.0 * (query == "q0")} for query in QUERIES}, name="one")
    judgments = Judgments.of({query: {"good": 1, "bad": 0} for query in QUERIES})
    return ReportInputs(runs=(run,), judgments=judgments, measures=tuple(parse_all(["nDCG@10"])), **more)


def test_a_matrix_that_was_given_by_hand(words: Words) -> None:
    # The good document comes first with 0.7 · 0.8 + (0.7 · 0.2 + 0.3 · 0.8) / 2 = 0.75.
    found = ceiling.section(small(confusion=KNOWN))
    (chart,) = found.figures[0].charts
    second = 1 / np.log2(3)
    highest, reached = 0.75 + 0.25 * second, (3 + second) / 4
    assert chart.at == pytest.approx(highest)
    assert chart.series[0].values[0].value == pytest.approx(reached)
    assert chart.across == "nDCG@10"
    assert reached == pytest.approx(highest)  # three of four first is what such a ranker expects
    assert chart.marks == ("100%",)
    assert "30%" in found.figures[0].sentence
    assert "matrix-source" in note_codes(found.figures[0])
    assert "pooled-matrix" in note_codes(found)
    words(found)


def test_the_matrix_of_labels_has_the_judgments_in_its_rows(words: Words) -> None:
    rows = [(query, doc, judge, int(doc == "good") if query != "q0" or judge == "ann" else 1)
            for query in QUERIES for doc in ("good", "bad") for judge in ("ann", "bob")]  # fmt: skip
    query, doc, judge, label = zip(*rows, strict=True)
    labels = Judgments.of({"query": query, "doc": doc, "judge": judge, "label": label})
    between = find_judge_difference(small(labels=labels))
    # Ann says what the judgments say, but too seldom to be taken for their judge; Bob takes one bad document for good.
    np.testing.assert_allclose(between.confusion.pooled.matrix, [[7 / 8, 1 / 8], [0, 1]])
    assert between.testing_judge == OF_JUDGMENTS
    found = ceiling.section(small(labels=labels))
    (note,) = find_notes(found.figures[0], "query-matrices")
    assert re.findall(r"\d+", note) == ["4", "4", "5"]
    assert "pooled-matrix" not in note_codes(found)
    words(found)


def test_a_judge_with_the_same_labels_is_the_testing_judge_himself() -> None:
    some = simulated("none")
    same = some.judgments.frame.select("query", "doc", "label").join(some.labels.frame.select("query", "doc").unique(),
                                                                     on=["query", "doc"], how="semi")  # fmt: skip
    both = (some.labels.frame, same.with_columns(judge=pl.lit("twin")))
    rows = pl.concat([one.select("query", "doc", "judge", "label") for one in both])
    between = find_judge_difference(replace(some, labels=Judgments.of(rows)))
    assert [note.split()[0] for note in between.notes if note.code == "judge-left-out"] == ["twin"]
    np.testing.assert_allclose(between.confusion.counts, find_judge_difference(some).confusion.counts)


def test_labels_of_few_documents_restrict_the_judgments_to_these() -> None:
    some = simulated("none")
    between = find_judge_difference(some)
    seen = some.labels.frame.join(some.traps.frame.select("query", "doc"), on=["query", "doc"], how="anti")
    assert between.covered == between.judgments.frame.height == seen.select("query", "doc").unique().height
    assert between.covered < some.judgments.frame.height / 2
    assert "matrix-of-few-documents" in [note.code for note in between.notes]


def test_a_gold_sample_tells_what_gold_makes_of_bronze_where_the_runs_look(words: Words) -> None:
    some = replace(simulated("documents"), labels=None, traps=None)
    between = find_judge_difference(some)
    assert (between.training_judge, between.testing_judge, between.raw) == ("gold", BRONZE_JUDGE, True)
    assert between.confusion.counts.sum() == pytest.approx(some.gold.frame.height)
    tops = {pair for run in some.runs for pair in run.ranked(10).select("query", "doc").iter_rows()}
    assert {tuple(pair) for pair in between.judgments.frame.select("query", "doc").iter_rows()} <= tops
    words(ceiling.section(some))


def test_whole_queries_are_tested_by_gold() -> None:
    some = replace(simulated("whole queries"), labels=None, traps=None)
    between = find_judge_difference(some)
    assert (between.training_judge, between.testing_judge, between.raw) == (BRONZE_JUDGE, "gold", False)
    assert set(between.judgments.frame["query"]) == set(some.gold.frame["query"])
    bronze = some.judgments.frame.select("query", "doc", "label", judge=pl.lit("bronze"))
    same = rt.estimate_query_confusions(bronze, gold=some.gold)
    np.testing.assert_allclose(between.confusion.pooled.counts, same.pooled.counts)
    by_query = dict(zip(same.queries, same.counts, strict=True))
    for query, counts in zip(between.confusion.queries, between.confusion.counts, strict=True):
        np.testing.assert_allclose(counts, by_query[query])
    with_labels = find_judge_difference(simulated("whole queries"))
    assert (with_labels.training_judge, with_labels.testing_judge) == (OF_LABELS, "gold")


def test_gold_from_elsewhere_tells_no_ceiling() -> None:
    known = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
    with pytest.raises(InputError) as refused:
        ceiling.section(replace(small(gold=known), measures=tuple(parse_all(["P@10"]))))
    assert refused.value.code == "gold-from-elsewhere"


def test_gold_drawn_to_compare_tells_no_ceiling() -> None:
    with pytest.raises(InputError) as refused:
        ceiling.section(compared())
    assert refused.value.code == "drawn-for-comparison"


@pytest.mark.parametrize("repeats", ["first", "last"])
def test_labels_given_again_count_as_asked(repeats: str) -> None:
    rows = {"query": [*QUERIES, *QUERIES] * 2, "doc": (["good"] * 4 + ["bad"] * 4) * 2, "judge": ["ann"] * 16,
            "label": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]}  # fmt: skip
    labels = Judgments.of(rows)
    with pytest.raises(DuplicateError) as refused:
        find_judge_difference(small(labels=labels))
    assert (refused.value.code, refused.value.parameter) == ("repeated-labels", "repeats")
    found = find_judge_difference(small(labels=labels, repeats=repeats)).confusion.pooled.counts.tolist()
    assert found == ([[4, 0], [1, 3]] if repeats == "first" else [[2, 2], [2, 2]])


def test_labels_of_other_documents_are_an_error_without_gold() -> None:
    rows = {"query": ["x"] * 4, "doc": ["a", "a", "b", "b"], "judge": ["ann", "bob"] * 2, "label": [0, 1, 1, 1]}
    with pytest.raises(MismatchError) as refused:
        ceiling.section(small(labels=Judgments.of(rows)))
    assert refused.value.code == "gold-unlabelled"


def test_runs_above_are_told_and_nothing_is_concluded(words: Words) -> None:
    perfect = Run.of({query: {"good": 2.0, "bad": 1.0} for query in QUERIES}, name="perfect")
    found = ceiling.section(replace(small(confusion=KNOWN), runs=(perfect,)))
    assert "(perfect)" in found.figures[0].sentence
    assert "above-ceiling" in note_codes(found.figures[0])
    words(found)


@pytest.mark.slow
@examples(40)
@given(right=st.floats(0.5, 1))
def test_the_better_the_judges_agree_the_higher_the_ceiling(right: float) -> None:
    def at(share: float) -> float:
        counts = np.array([[share, 1 - share], [1 - share, share]]) * 100
        table = Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=counts)
        return ceiling.section(small(confusion=table)).figures[0].charts[0].at

    assert at(0.5) - 1e-9 <= at(right) <= at(1.0) + 1e-9
    assert at(1.0) == pytest.approx(1)


def test_needs_runs_and_something_that_tells_how_judges_differ() -> None:
    assert ceiling.section(small()) is None
    assert ceiling.section(ReportInputs(labels=simulated("none").labels)) is None


def test_the_cutoff_and_the_gains_are_those_of_the_page() -> None:
    exponential = replace(small(confusion=KNOWN), measures=tuple(parse_all(["nDCG(dcg='exp-log2')@5"])))
    assert ceiling.section(exponential).figures[0].charts[0].across == "nDCG(dcg='exp-log2')@5"
    precision = replace(small(confusion=KNOWN), measures=tuple(parse_all(["P@7"])))
    assert ceiling.section(precision).figures[0].charts[0].across == "nDCG@7"


@pytest.mark.real
def test_dl19_runs_know_more_than_grades(data: Path) -> None:
    runs = tuple(rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run")))
    human, model = (rt.read_judgments(data / f"dl19/{name}.qrels") for name in ("human", "llm-umbrela_gpt4"))
    some = ReportInputs(
        runs=runs, judgments=human, labels=model, measures=tuple(parse_all(["nDCG(dcg='exp-log2')@10"]))
    )
    found = ceiling.section(some)
    assert found.figures[0].charts[0].at == pytest.approx(0.616, abs=5e-4)  # as docs/ideas/ceiling.md has it
    assert len(found.figures[0].charts[0].names) == 25
    assert len(found.figures[0].table.rows) == 38
