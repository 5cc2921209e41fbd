"""The ceiling of judgments, and where runs stand below it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import MismatchError, UsageError
from ringtrue.judges.ceiling.ndcg_ceiling import POOLED_NOTE
from strategies import examples

KNOWN = rt.Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=np.array([[80, 20], [30, 70]]))
COUNTS = np.array([[70, 20, 10], [20, 60, 20], [5, 25, 70]])
GRADED = rt.Confusion(rows="testing judge", columns="training judge", labels=(0, 1, 2), counts=COUNTS)
TWO = 0.75 + 0.25 / math.log2(3)


@st.composite
def judgments(draw: st.DrawFn) -> dict[str, dict[str, int]]:
    labels = st.lists(st.integers(0, 2), min_size=1, max_size=12)
    queries = draw(st.lists(labels, min_size=1, max_size=6))
    return {f"q{q}": {f"d{d}": label for d, label in enumerate(some)} for q, some in enumerate(queries)}


def test_a_mean_by_hand() -> None:
    labels = {"a": {"x": 1, "y": 0}, "b": {"x": 1}, "c": {"x": 0, "y": 0}, "d": {"x": 0, "y": 1}}
    found = rt.ceiling(labels, KNOWN)
    assert found.per_query.rows() == [
        ("a", 2, pytest.approx(TWO)),
        ("b", 1, 1.0),
        ("c", 2, None),
        ("d", 2, pytest.approx(TWO)),
    ]
    assert found.estimate.value == pytest.approx((2 * TWO + 1) / 3)
    assert (found.queries, found.skipped) == (3, 1)
    (note,) = [note for note in found.notes if note.code == "worthless-queries"]
    assert note.startswith("1 query ")
    assert note.endswith(": c")
    assert found.orientation == "rows are the testing judge (gold), columns the training judge (crowd)"


def test_the_interval_is_that_of_a_mean_over_queries() -> None:
    labels = {"a": {"x": 1, "y": 0}, "b": {"x": 1}, "d": {"x": 0, "y": 1}}
    run = {query: {"x": 1.0} for query in labels}
    found = rt.ceiling(labels, KNOWN, runs=run, level=0.9)
    same = rt.evaluate(run, labels, "nDCG").means(level=0.9)["run"]["nDCG"]
    assert found.runs["run"].ndcg == same
    assert (found.estimate.level, found.estimate.method, found.estimate.n) == (0.9, "t", 3)


@examples(40)
@given(judgments(), st.randoms())
def test_the_order_of_documents_and_of_labels_in_the_matrix_changes_nothing(labels, random) -> None:
    shuffled = {}
    for query, docs in labels.items():
        some = list(docs.items())
        random.shuffle(some)
        shuffled[query] = dict(some)
    by_label = {query: dict(sorted(docs.items(), key=lambda pair: pair[1])) for query, docs in labels.items()}
    turned = rt.Confusion(rows="gold", columns="x", labels=(2, 1, 0), counts=GRADED.counts[::-1, ::-1])
    expected = rt.ceiling(labels, GRADED).per_query["ceiling"].to_list()
    for other in (shuffled, by_label):
        assert rt.ceiling(other, GRADED).per_query["ceiling"].to_list() == expected
    assert rt.ceiling(labels, turned).per_query["ceiling"].to_list() == pytest.approx(expected, nan_ok=True)


@examples(40)
@given(judgments(), st.lists(st.integers(1, 50), min_size=3, max_size=3, unique=True))
def test_calling_the_grades_otherwise_in_the_same_order_changes_nothing(labels, names: list[int]) -> None:
    called = sorted(names)
    other = {query: {doc: called[label] for doc, label in docs.items()} for query, docs in labels.items()}
    table = rt.Confusion(rows="gold", columns="x", labels=tuple(called), counts=GRADED.counts)
    gains = {1: 0.3, 2: 0.9}
    expected = rt.ceiling(labels, GRADED, gain=gains).per_query["ceiling"].to_list()
    found = rt.ceiling(other, table, gain={called[label]: gains.get(label, 0.0) for label in range(3)})
    assert found.per_query["ceiling"].to_list() == expected


@examples(40)
@given(judgments(), st.sampled_from(["exp", "linear"]), st.none() | st.integers(1, 5))
def test_it_is_one_where_the_judges_agree_and_never_more(labels, gain: str, k: int | None) -> None:
    agreed = rt.Confusion(rows="gold", columns="x", labels=(0, 1, 2), counts=np.eye(3))
    values = rt.ceiling(labels, agreed, gain=gain, k=k).per_query["ceiling"].drop_nulls().to_list()
    assert values == [1.0] * len(values)  # without a trace of rounding
    below = rt.ceiling(labels, GRADED, gain=gain, k=k).per_query["ceiling"].drop_nulls().to_list()
    assert all(0 < value <= 1 + 1e-12 for value in below)


@pytest.mark.parametrize("gain", ["exp", "linear", {1: 2.0, 2: 3.0}])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_a_run_that_ranks_by_the_ideal_stands_at_one_and_above_the_ceiling(gain, k: int | None) -> None:
    labels = {f"q{q}": {f"d{d}": (d + q) % 3 for d in range(9)} for q in range(4)}
    runs = [
        rt.Run.of(
            {query: {doc: float(label) for doc, label in docs.items()} for query, docs in labels.items()}, name="best"
        )
    ]
    found = rt.ceiling(labels, GRADED, gain=gain, k=k, runs=runs)
    best = found.runs["best"]
    assert best.ndcg.value == pytest.approx(1)
    assert best.ceiling == pytest.approx(found.estimate.value)
    assert best.share == pytest.approx(1 / found.estimate.value)
    assert best.above
    assert best.surely_above
    assert set(best.per_query) == set(labels)


def test_a_run_is_held_against_the_ceiling_of_its_own_queries() -> None:
    labels = {"a": {"x": 1, "y": 0}, "b": {"x": 1}, "c": {"x": 0}}
    run = {"a": {"y": 1.0, "x": 0.5}, "c": {"x": 1.0}}
    zero = rt.ceiling(labels, KNOWN, runs=run).runs["run"]
    assert zero.ndcg.value == pytest.approx((1 / math.log2(3) + 0) / 2)
    assert zero.ceiling == pytest.approx((TWO + 1) / 2)
    skip = rt.ceiling(labels, KNOWN, runs=run, missing="skip").runs["run"]
    assert (skip.ndcg.value, skip.ceiling) == (pytest.approx(1 / math.log2(3)), pytest.approx(TWO))
    assert skip.share == pytest.approx(1 / math.log2(3) / TWO)
    assert skip.room.value == pytest.approx(TWO - 1 / math.log2(3))
    assert not skip.above
    note = "run: 1 of 3 judged queries not in the run, counted as having found nothing: b"
    assert note in rt.ceiling(labels, KNOWN, runs=run).notes


def test_no_query_with_any_gain_is_undefined_in_words() -> None:
    found = rt.ceiling({"a": {"x": 0}}, KNOWN, runs={"a": {"x": 1.0}})
    assert (found.estimate.value, found.queries, found.skipped) == (None, 0, 1)
    assert [note.code for note in found.estimate.notes] == ["no-queries"]
    assert (found.runs["run"].share, found.runs["run"].ceiling) == (None, None)
    assert [note.code for note in found.runs["run"].ndcg.notes] == ["no-queries"]
    assert not found.runs["run"].above
    json.dumps(found.as_dict(per_query=True), allow_nan=False)


def test_the_three_methods_agree() -> None:
    labels = {f"q{q}": {f"d{d}": (d * d + q) % 7 % 3 for d in range(80)} for q in range(3)}
    exact = rt.ceiling(labels, GRADED)
    drawn = rt.ceiling(labels, GRADED, method="simulation", draws=3000, rng=np.random.default_rng(0))
    assert exact.simulated_se is None
    assert drawn.simulated_se
    assert abs(drawn.estimate.value - exact.estimate.value) < 4 * drawn.simulated_se
    closed = rt.ceiling(labels, GRADED, method="closed-form")
    assert closed.estimate.value == pytest.approx(exact.estimate.value, abs=0.005)
    assert closed.notes == exact.notes


def test_the_closed_form_is_doubted_for_short_lists_and_cutoffs() -> None:
    found = rt.ceiling({"a": {"x": 1, "y": 0}}, KNOWN, method="closed-form", k=3)
    doubts = {note.code: note for note in found.notes if note.parameter == "method"}
    assert list(doubts) == ["closed-form-short-lists", "closed-form-cutoff"]
    assert "1 query " in doubts["closed-form-short-lists"]
    assert all(note.suggestions[0].arguments == {"method": "exact"} for note in doubts.values())


def test_a_row_that_rests_on_few_cases_is_told() -> None:
    few = rt.Confusion(rows="gold", columns="x", labels=(0, 1), counts=np.array([[80, 20], [3, 7]]))
    note, _ = rt.ceiling({"a": {"x": 1, "y": 0}}, few).notes
    assert note.code == "few-matrix-cases"
    assert "label 1 (10)" in note
    known = rt.Confusion(rows="gold", columns="x", labels=(0, 1), counts=few.matrix, worth=np.full(2, np.inf))
    assert rt.ceiling({"a": {"x": 1, "y": 0}}, known).notes == (POOLED_NOTE,)


def test_a_matrix_of_few_documents_that_is_applied_to_many_is_told() -> None:
    labels = {f"q{q}": {f"d{d}": int(d == 0) for d in range(100)} for q in range(5)}
    known = rt.Confusion(rows="gold", columns="x", labels=(0, 1), counts=KNOWN.counts)
    found = rt.ceiling(labels, known)
    assert (found.documents, found.covered, found.is_stretched) == (500, 200, True)
    _, note = found.notes
    assert note.code == "stretched-matrix"
    assert "200 cases" in note
    assert "500 judged" in note
    assert "label 0: 50%" in note
    assert "99% of all" in note
    _, note = rt.ceiling(labels, known, covered=120).notes
    assert note.code == "stretched-matrix"
    assert "120 of 500" in note
    enough = rt.ceiling(labels, known, covered=250)
    assert (enough.is_stretched, enough.notes) == (False, (POOLED_NOTE,))
    exact = rt.Confusion(rows="gold", columns="x", labels=(0, 1), counts=known.matrix, worth=np.full(2, np.inf))
    assert (rt.ceiling(labels, exact).covered, rt.ceiling(labels, exact).notes) == (None, (POOLED_NOTE,))
    assert found.as_dict()["covered"] == 200


@pytest.mark.parametrize(("k", "where"), [(2, "(Judged@2)"), (None, "(Judged)")])
def test_documents_that_nobody_judged_are_not_taken_for_room(k: int | None, where: str) -> None:
    labels = {"a": {"x": 1, "y": 0}, "b": {"x": 1, "y": 0}, "c": {"x": 1, "y": 0}}
    thin = rt.Run.of({query: {"new": 2.0, "x": 1.0} for query in ("a", "b")}, name="thin")
    full = rt.Run.of({query: {"y": 2.0, "x": 1.0} for query in labels}, name="full")
    found = rt.ceiling(labels, KNOWN, runs=[thin, full], k=k)
    same = rt.evaluate([thin, full], labels, f"Judged@{k}" if k else "Judged", missing="skip").means()
    for name in ("thin", "full"):
        assert found.runs[name].judged == next(iter(same[name].values())).value
    assert (found.runs["thin"].judged, found.runs["thin"].is_thinly_judged) == (0.5, True)
    assert (found.runs["full"].judged, found.runs["full"].is_thinly_judged) == (1.0, False)
    (note,) = [note for note in found.notes if note.code == "thinly-judged-runs"]
    assert where in note
    assert ": thin 50%;" in note
    assert found.as_dict()["runs"]["thin"]["judged"] == 0.5


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"method": "magic"}, "unknown-choice"),
        ({"level": 2}, "bad-level"),
        ({"k": 0}, "out-of-range"),
        ({"draws": 1}, "out-of-range"),
        ({"gain": "log"}, "unknown-choice"),
    ],
)
def test_what_cannot_be_asked_is_refused(given: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.ceiling({"a": {"x": 1}}, KNOWN, **given)  # type: ignore[arg-type]
    assert (refused.value.code, {refused.value.parameter}) == (code, set(given))


def test_a_matrix_that_is_none_and_levels_that_differ_are_refused() -> None:
    with pytest.raises(UsageError) as refused:
        rt.ceiling({"a": {"x": 1}}, [[1, 0], [0, 1]])  # type: ignore[arg-type]
    assert refused.value.code == "no-confusion"
    with pytest.raises(MismatchError) as refused:
        rt.ceiling({"a": {"x": 2}}, KNOWN)
    assert refused.value.code == "labels-outside-matrix"


def test_plain_data_has_the_keys_of_the_contract() -> None:
    labels = {"a": {"x": 1, "y": 0}, "b": {"x": 0}}
    plain = json.loads(
        json.dumps(rt.ceiling(labels, KNOWN, runs={"a": {"x": 1.0}}).as_dict(per_query=True), allow_nan=False)
    )
    assert list(plain)[:4] == ["ceiling", "queries", "skipped", "runs"]
    assert list(plain["ceiling"]) == ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
    assert (plain["runs"]["run"]["ndcg"], plain["runs"]["run"]["share"]) == (1, pytest.approx(1 / TWO))
    assert plain["per_query"]["a"] == {"documents": 2, "ceiling": pytest.approx(TWO), "runs": {"run": 1.0}}
    assert plain["per_query"]["b"]["ceiling"] is None
