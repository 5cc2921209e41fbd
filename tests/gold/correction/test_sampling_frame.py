"""The sampling frame: what could be drawn, and labels that do not fit it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses
from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.gold.correction.sampling_frame import SamplingFrame
from ringtrue.tables import Judgments

FRAME: dict[str, Any] = {
    "query": ["q"] * 4,
    "doc": list("abcd"),
    "prob": [0.5, 0.25, 0.25, 1.0],
    "drawn": ["true", "no", "1", "yes"],
}


@pytest.fixture
def here() -> World:
    return world(0, runs=4, queries=20, docs=15, length=6, whole=True)


def drawn(here: World, runs: dict[str, Any], measure: str = "P@6", budget: int = 60) -> tuple[pl.DataFrame, Any]:
    """Gold labels of a draw from some of the runs, and its frame."""
    draw = rt.sample(runs, here.bronze, measure, budget=budget, rng=np.random.default_rng(1))
    labels = [here.gold[query][doc] for query, doc in draw.frame.select("query", "doc").rows()]
    return draw.frame.with_columns(label=pl.Series(labels, dtype=pl.Int32)), draw.sampling_frame


def test_a_frame_is_read_whatever_yes_and_no_are_called() -> None:
    assert SamplingFrame.of(FRAME).docs.rows() == [
        ("q", "a", 0.5, True), ("q", "b", 0.25, False), ("q", "c", 0.25, True), ("q", "d", 1.0, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "code", "named"),
    [
        ({"drawn": None}, "no-sampling-frame", "drawn"),
        ({"drawn": [150] * 4}, "bad-drawn-mark", "'150'"),
        ({"prob": [0.5, 0.25, 0.25, 1.5]}, "bad-frame-probability", "prob"),
        ({"doc": list("abcc")}, "repeated-frame-row", "'c'"),
    ],
)
def test_a_file_that_is_no_frame_is_refused(changed: dict[str, Any], code: str, named: str) -> None:
    columns = {name: values for name, values in (FRAME | changed).items() if values is not None}
    with refuses(TableError, code, named):
        SamplingFrame.of(columns)


def test_a_probability_that_is_no_number_is_refused() -> None:
    with refuses(TableError, "bad-number"):
        SamplingFrame.of(FRAME | {"prob": [0.5, 0.25, 0.25, "x"]})


def test_lost_rows_come_back_without_a_label_and_probabilities_with_the_frame() -> None:
    frame = SamplingFrame.of(FRAME)
    complete = frame.complete(Judgments.of({"query": ["q", "q"], "doc": ["d", "a"], "label": [2, 0]}))
    assert complete.frame.select("doc", "label", "prob").rows() == [("d", 2, 1.0), ("a", 0, 0.5), ("c", -1, 0.25)]
    assert complete.frame["reason"].to_list() == [None, None, "missing"]


@pytest.mark.parametrize(
    ("gold", "code", "named"),
    [
        ({"doc": ["a", "b"], "label": [1, 1]}, "gold-not-drawn", ["'b'", "'q'", "1 of 2"]),
        ({"doc": ["x", "y"], "label": [1, 1]}, "frame-of-other-sample", ["'x'", "'a'"]),
        (
            {"doc": ["a", "c"], "label": [1, 1], "prob": [0.25, 0.125]},
            "probabilities-differ",
            ["'a'", "'q'", "0.25", "0.5"],
        ),
    ],
)
def test_labels_of_another_sample_are_refused(gold: dict[str, Any], code: str, named: list[str]) -> None:
    with refuses(InputError, code, *named):
        SamplingFrame.of(FRAME).complete(Judgments.of({"query": ["q"] * 2, **gold}))


def test_the_frame_makes_no_difference_where_nothing_is_new_and_nothing_lost(here: World) -> None:
    gold, frame = drawn(here, here.runs)
    plain, framed = (rt.correct(here.runs, here.bronze, gold, "P@6", **settings)
                     for settings in ({}, {"sampling_frame": frame}))  # fmt: skip
    assert plain.as_dict() == framed.as_dict()
    assert framed.bounds == {}


def test_query_document_and_label_are_enough_beside_the_frame(here: World) -> None:
    gold, frame = drawn(here, here.runs)
    bare = rt.correct(here.runs, here.bronze, gold.select("query", "doc", "label"), "P@6", sampling_frame=frame)
    assert bare.design == "pool_stratified"
    full = rt.correct(here.runs, here.bronze, gold, "P@6")
    assert bare.corrected == full.corrected


def test_a_run_with_much_that_could_not_be_drawn_has_no_value(here: World) -> None:
    old = {name: here.runs[name] for name in ("run0", "run1")}
    gold, frame = drawn(here, old)
    known = set(frame.select("query", "doc").rows())
    found = rt.correct(here.runs, here.bronze, gold, "P@6", sampling_frame=frame)
    for name, run in here.runs.items():
        shown = [(query, doc) for query, docs in run.items() for doc in docs]
        unseen = sum(pair not in known for pair in shown) / len(shown)
        estimate = found.corrected[name]["P@6"]
        assert (estimate.value is None) == (unseen > 0.1)
        if unseen > 0.1:
            assert codes(estimate.notes) == ["out-of-reach"]
            assert names(estimate.notes[0], f"{unseen:.0%}")
    assert {name for name, row in found.corrected.items() if row["P@6"].value is not None} >= set(old)
    pairs = rt.compare_corrected(here.runs, here.bronze, gold, "P@6", sampling_frame=frame)
    assert {(pair.a, pair.b) for pair in pairs if pair.difference.value is not None} == {("run0", "run1")}


def test_runs_that_are_all_out_of_reach_are_refused(here: World) -> None:
    gold, frame = drawn(here, {"run0": here.runs["run0"]}, budget=20)
    others = {name: here.runs[name] for name in ("run2", "run3")}
    with refuses(InputError, "out-of-reach"):
        rt.correct(others, here.bronze, gold, "P@6", sampling_frame=frame)
    strange = {"other": {query: {f"new-{doc}": score for doc, score in docs.items()}
                         for query, docs in here.runs["run0"].items()}}  # fmt: skip
    with refuses(MismatchError, "gold-outside-runs"):
        rt.correct(strange, here.bronze, gold, "P@6", sampling_frame=frame)


def test_a_deeper_cutoff_than_the_samples_is_told_without_a_frame_and_measured_with_it(here: World) -> None:
    gold, frame = drawn(here, here.runs, "P@5", budget=80)
    found = rt.correct(here.runs, here.bronze, gold, "P@6", sampling_frame=frame)
    for name, row in found.corrected.items():
        share = np.mean([rank == 6 and (query, doc) not in set(frame.select("query", "doc").rows())
                         for query, docs in here.runs[name].items()
                         for rank, doc in enumerate(sorted(docs, key=lambda doc: -docs[doc]), start=1)])  # fmt: skip
        assert (row["P@6"].value is None) == (share > 0.1)
    without = rt.correct(here.runs, here.bronze, gold, "P@6")
    assert "drawn-from-other-pool" in codes(without.notes)


def test_a_frame_goes_with_single_documents_alone(here: World) -> None:
    gold, frame = drawn(here, here.runs)
    with refuses(UsageError, "frame-without-use"):
        rt.correct(here.runs, here.bronze, gold.drop("design"), "P@6", design="external", sampling_frame=frame)
