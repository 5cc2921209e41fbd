"""curve: from tables to curves averaged over queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import DuplicateError, MeasureError, MismatchError, UsageError
from ringtrue.evaluation.curves import CurveKind
from strategies import examples, nested

KINDS = get_args(CurveKind)
AREAS = {"pr": "AP", "11pt": "IAP", "roc": "AUC"}
RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 1.0}}
LABELS = {"q1": {"d1": 0, "d2": 2, "d3": 1}, "q2": {"d4": 1}, "q3": {"d5": 1}}


def found(ranks: list[int], length: int) -> tuple[dict[str, float], dict[str, int]]:
    """A list of so many documents and the labels of all, those at these ranks relevant."""
    docs = [f"d{rank:02}" for rank in range(1, length + 1)]
    return (
        {doc: -float(rank) for rank, doc in enumerate(docs)},
        {doc: int(rank in ranks) for rank, doc in enumerate(docs, start=1)},
    )


# ── by hand ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def lecture() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """The lecture's two queries."""
    queries = {"1": found([1, 3, 6, 10, 20], 20), "2": found([1, 3, 15], 20)}
    return {q: run for q, (run, _) in queries.items()}, {q: labels for q, (_, labels) in queries.items()}


def test_the_lectures_two_queries_are_averaged_at_each_recall(lecture) -> None:
    curve = rt.curve(*lecture, kind="11pt").runs["run"]
    first = [1, 1, 1, 2 / 3, 2 / 3, 0.5, 0.5, 0.4, 0.4, 0.25, 0.25]
    second = [1, 1, 1, 1, 2 / 3, 2 / 3, 2 / 3, 0.2, 0.2, 0.2, 0.2]
    assert curve.x == tuple(i / 10 for i in range(11))
    assert curve.y == pytest.approx(np.mean([first, second], axis=0))
    assert curve.area == pytest.approx((0.603030 + 0.618182) / 2, abs=1e-6)
    assert curve.area == pytest.approx(np.mean(curve.y))
    assert curve.n == 2


def test_the_lectures_mean_average_precision_is_the_area_under_precision_against_recall(lecture) -> None:
    curve = rt.curve(*lecture).runs["run"]
    assert curve.area == pytest.approx(0.592778, abs=1e-6)
    assert (curve.y[0], curve.y[20], curve.y[100]) == pytest.approx((1, 1, (0.25 + 0.2) / 2))


def test_the_lectures_two_systems_are_two_curves() -> None:
    lists = {"S1": found([1, 3, 6, 9, 10], 10), "S2": found([2, 5, 6, 7, 8], 10)}
    expected = {"S1": [1, 0.67, 0.5, 0.44, 0.5], "S2": [0.5, 0.4, 0.5, 0.57, 0.625]}
    for name, (run, labels) in lists.items():
        curve = rt.curve({name: {"q": run}}, {"q": labels}).runs[name]
        assert [curve.y[curve.x.index(recall)] for recall in (0.2, 0.4, 0.6, 0.8, 1.0)] == pytest.approx(
            expected[name], abs=0.005
        )


def test_roc_leaves_out_what_has_no_such_curve_and_says_so() -> None:
    labels = {"q1": {"d1": 0, "d2": 1}, "q2": {"d4": 1}, "q3": {"d5": 0}}
    curves = rt.curve({**RUN, "q3": {"d5": 1.0}}, labels, kind="roc")
    # q1 alone: d2 stands below d1 and above d3.
    assert (curves.runs["run"].area, curves.runs["run"].n) == (0.5, 1)
    assert [(note.code, note.subject) for note in curves.notes] == [
        ("queries-without-relevant", None),
        ("queries-without-nonrelevant", "run"),
        ("collection-size-guessed", None),
    ]
    assert [note.text[-2:] for note in curves.notes[:2]] == ["q3", "q2"]
    assert [hint.arguments for hint in curves.notes[2].suggestions] == [{"collection_size": ...}]


def test_where_no_query_has_a_roc_curve_there_is_none_and_no_nan() -> None:
    curves = rt.curve({"q1": {"d1": 1.0}}, {"q1": {"d1": 1}}, kind="roc")
    assert curves.runs["run"] == rt.Curve(x=(), y=(), area=None, n=0)
    assert str(curves.runs["run"]).startswith("undefined")


def test_as_a_measure_auc_is_0_there_as_other_measures_are() -> None:
    scores = rt.evaluate({"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, {"q1": {"d1": 1}, "q2": {"d1": 0}}, "AUC")
    assert scores.frame["value"].to_list() == [0.0, 0.0]
    assert {note.code: note.text[-2:] for note in scores.notes} | {"collection-size-guessed": ""} == {
        "queries-without-relevant": "q2",
        "queries-without-nonrelevant": "q1",
        "collection-size-guessed": "",
    }


def test_a_collection_that_was_given_its_size_needs_no_note_and_moves_the_curve() -> None:
    small, large = (rt.curve(RUN, LABELS, kind="roc", collection_size=size) for size in (4, 4000))
    assert "collection-size-guessed" not in [note.code for note in [*small.notes, *large.notes]]
    assert small.runs["run"].area < large.runs["run"].area


# ── the same questions as evaluate ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_query_counts_as_having_found_nothing_or_is_left_out(kind: CurveKind) -> None:
    settings = {"collection_size": 9} if kind == "roc" else {}
    whole = rt.curve(RUN, LABELS, kind=kind, **settings)
    assert whole.runs["run"].n == 3
    assert ("queries-not-in-run", "run") in [(note.code, note.subject) for note in whole.notes]
    skipped = rt.curve(RUN, LABELS, kind=kind, missing="skip", **settings)
    assert skipped.runs["run"].n == 2
    assert skipped.runs["run"].area > whole.runs["run"].area


def test_a_query_without_relevant_documents_is_0_and_counted() -> None:
    curves = rt.curve(RUN, {"q1": {"d1": 1}, "q2": {"d4": 0}})
    assert curves.runs["run"].area == 0.5
    assert [(note.code, note.text[-2:]) for note in curves.notes] == [("queries-without-relevant", "q2")]


@pytest.mark.parametrize("kind", ["pr", "11pt"])
def test_rel_and_depth_reach_the_curve(kind: CurveKind) -> None:
    assert rt.curve(RUN, LABELS, kind=kind, rel=2, missing="skip").runs["run"].y[-1] == 0.25
    assert rt.curve(RUN, LABELS, kind=kind, depth=1, missing="skip").runs["run"].y[0] == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_several_judges_are_averaged_for_each_query(kind: CurveKind) -> None:
    frame = {
        "query": ["q1", "q1", "q1", "q1", "q2", "q2"],
        "doc": ["d1", "d2", "d1", "d2", "d4", "d9"],
        "judge": ["ann", "ann", "bob", "bob", "ann", "ann"],
        "label": [1, 0, 0, 1, 1, 0],
    }
    curve = rt.curve(RUN, frame, kind=kind, judges="average").runs["run"]
    scores = rt.evaluate(RUN, frame, AREAS[kind], judges="average")
    assert curve.area == pytest.approx(scores.means()["run"][AREAS[kind]].value)
    assert curve.n == 2


def test_a_judge_who_found_nothing_relevant_has_no_say_in_a_roc_curve() -> None:
    frame = {
        "query": ["q1", "q1", "q1", "q1"], "doc": ["d1", "d2", "d1", "d2"], "judge": ["ann", "ann", "bob", "bob"],
        "label": [1, 0, 0, 0],
    }  # fmt: skip
    curves = rt.curve(RUN, frame, kind="roc", judges="average")
    assert (curves.runs["run"].area, curves.runs["run"].n) == (1.0, 1)
    (note,) = (note for note in curves.notes if note.code == "queries-without-relevant")
    assert "some judges" in note


def test_trec_eval_9_rounds_the_eleven_points_in_its_own_way() -> None:
    run, labels = found([1, 3, 15], 20)
    curve = rt.curve({"q": run}, {"q": labels}, kind="11pt", compat="trec_eval-9").runs["run"]
    assert curve.area == pytest.approx(0.6606, abs=5e-5)


def test_runs_come_one_at_a_time_and_keep_their_names() -> None:
    runs = (rt.Run.of(RUN, name=name) for name in ("b", "a"))
    assert list(rt.curve(runs, LABELS).runs) == ["b", "a"]


@pytest.mark.parametrize(
    ("runs", "labels", "settings", "error", "code", "parameter"),
    [
        (RUN, LABELS, {"kind": "prc"}, UsageError, "unknown-choice", "kind"),
        (RUN, LABELS, {"rel": 0}, UsageError, "out-of-range", "rel"),
        (RUN, LABELS, {"rel": 1.5}, UsageError, "out-of-range", "rel"),
        (RUN, LABELS, {"depth": 0}, UsageError, "bad-depth", "depth"),
        (RUN, LABELS, {"missing": "ignore"}, UsageError, "unknown-choice", "missing"),
        (RUN, LABELS, {"compat": "trec_eval"}, UsageError, "unknown-choice", "compat"),
        (RUN, LABELS, {"collection_size": 0}, UsageError, "out-of-range", "collection_size"),
        (RUN, LABELS, {"kind": "roc", "collection_size": 2}, MeasureError, "small-collection", "collection_size"),
        ([], LABELS, {}, UsageError, "needs-runs", "runs"),
        ([rt.Run.of(RUN), rt.Run.of(RUN)], LABELS, {}, UsageError, "repeated-run-name", None),
        (RUN, {"x": {"d": 1}}, {}, MismatchError, "no-common-query", None),
        (RUN, {"query": ["q1"] * 2, "doc": ["d1"] * 2, "label": [0, 1]}, {}, DuplicateError, "repeated-label", None),
    ],
)
def test_a_question_put_wrongly_is_refused(
    runs: object, labels: object, settings: dict, error: type, code: str, parameter: str | None
) -> None:
    with pytest.raises(error) as refused:
        rt.curve(runs, labels, **settings)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


@examples(40)
@given(
    nested(st.floats(-5, 5), st.sampled_from("abcdef")),
    nested(st.integers(-1, 2), st.sampled_from("abcdef")),
    st.sampled_from(KINDS),
    st.sampled_from(["zero", "skip"]),
)
def test_every_curve_is_finite_within_bounds_and_its_area_is_what_evaluate_says(run, labels, kind, missing) -> None:
    if set(run).isdisjoint(labels):
        return
    curve = rt.curve(run, labels, kind=kind, missing=missing).runs["run"]
    json.dumps([curve.x, curve.y, curve.area], allow_nan=False)
    assert len(curve.x) == len(curve.y)
    assert all(0 <= y <= 1 + 1e-12 for y in curve.y)
    scores = rt.evaluate(run, labels, AREAS[kind], missing=missing).means()["run"][AREAS[kind]]
    if curve.n == scores.n:
        assert curve.area == pytest.approx(scores.value, abs=1e-12)
    else:  # only ROC leaves queries out, where the measure is 0
        assert kind == "roc"
        assert (curve.area or 0.0) * curve.n == pytest.approx(scores.value * scores.n, abs=1e-12)


# ── real data ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("compat", [None, "trec_eval-9", "trec_eval-10"])
def test_on_real_runs_every_curve_is_what_evaluate_says(data: Path, compat) -> None:
    folder = data / "dl19"
    runs = [rt.read_run(path) for path in sorted((folder / "runs").glob("*.run"))]
    judgments = rt.read_judgments(folder / "human.qrels")
    points = {
        "pr": {i / 100: f"PAtRecall(rel=2)@{i / 100}" for i in (0, 1, 29, 50, 100)},
        "11pt": {i / 10: f"IPrec(rel=2)@{i / 10}" for i in range(11)},
        "roc": {},
    }
    for kind, named in points.items():
        area = f"{AREAS[kind]}(rel=2)"
        curves = rt.curve(runs, judgments, kind=kind, rel=2, compat=compat).runs
        means = rt.evaluate(runs, judgments, [area, *named.values()], compat=compat).means()
        assert len(curves) == len(means) == 37
        for name, curve in curves.items():
            assert curve.n == 43
            assert curve.area == pytest.approx(means[name][area].value, abs=1e-14)
            for level, measure in named.items():
                at = curve.y[curve.x.index(level)]
                assert at == pytest.approx(means[name][measure].value, abs=1e-14), (name, level)


@pytest.mark.slow
@pytest.mark.real
def test_on_real_runs_the_curves_have_the_shape_they_must_have(data: Path) -> None:
    folder = data / "dl19"
    runs = [rt.read_run(path) for path in sorted((folder / "runs").glob("*.run"))]
    judgments = rt.read_judgments(folder / "human.qrels")
    pr, points, roc = (rt.curve(runs, judgments, kind=kind).runs for kind in ("pr", "11pt", "roc"))
    for name in pr:
        assert (np.diff(points[name].y) <= 0).all()
        assert (np.diff(roc[name].y) >= -1e-12).all()
        assert roc[name].y[-1] == 1.0
        # The grid is coarse beside the steps of a query with hundreds of relevant documents.
        assert np.trapezoid(pr[name].y, pr[name].x) == pytest.approx(pr[name].area, abs=0.01)
        assert np.trapezoid(roc[name].y, roc[name].x) == pytest.approx(roc[name].area, abs=0.01)
