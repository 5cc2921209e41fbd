"""What runs, bronze labels and some gold ones tell a plan."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.gold.planning.pilot import PilotObservations, observe_pilot
from ringtrue.tables import Judgments, Run

QUERIES = 40


def world(seed: int = 1) -> tuple[Run, Run, Judgments, Judgments]:
    """Two runs with five documents of a query each, three of them shared, and labels of both judges for all."""
    rng = np.random.default_rng(seed)
    docs = {f"q{q}": [f"d{q}-{d}" for d in range(7)] for q in range(QUERIES)}
    first = Run.of({q: {doc: 10.0 - i for i, doc in enumerate(some[:5])} for q, some in docs.items()}, name="first")
    second = Run.of({q: {doc: 10.0 + i for i, doc in enumerate(some[2:])} for q, some in docs.items()}, name="second")
    easy = {q: rng.beta(2, 3) for q in docs}
    truth = {q: {doc: int(rng.random() < easy[q]) for doc in some} for q, some in docs.items()}
    said = {
        q: {doc: label if rng.random() < 0.85 else 1 - label for doc, label in some.items()}
        for q, some in truth.items()
    }
    return first, second, Judgments.of(truth), Judgments.of(said)


def seen(runs: list[Run], bronze: Judgments, gold: Judgments | None, **settings) -> PilotObservations:
    return observe_pilot(runs, bronze, **({"gold": gold, "measure": "P@5", "bronze_rel": None} | settings))


def labels(judgments: Judgments, run: Run) -> np.ndarray:
    top = run.ranked(5).join(judgments.frame, on=["query", "doc"], maintain_order="left")
    return top["label"].to_numpy().reshape(QUERIES, 5)


def test_one_run_tells_score_sd_accuracy_and_prevalence() -> None:
    first, _, gold, bronze = world()
    found = seen([first], bronze, gold)
    truth, said = labels(gold, first), labels(bronze, first)
    known = found.quantities
    assert known.k == 5
    assert known.score == pytest.approx(said.mean())
    assert known.sd == pytest.approx(said.mean(axis=1).std(ddof=1))
    assert known.gold_sd == pytest.approx(truth.mean(axis=1).std(ddof=1))  # gold on every document
    assert known.prevalence == pytest.approx(truth.mean(), abs=0.005)
    assert known.accuracy == pytest.approx((said[truth == 1].mean(), 1 - said[truth == 0].mean()), abs=0.01)
    assert found.queries == QUERIES
    assert found.confusion is not None
    assert found.confusion.counts.tolist() == [
        [int(((truth == g) & (said == b)).sum()) for b in (0, 1)] for g in (0, 1)
    ]  # fmt: skip
    assert set(known.sources.values()) == {"files"}


def test_two_runs_tell_of_the_documents_that_only_one_of_them_has() -> None:
    first, second, gold, bronze = world()
    found = seen([first, second], bronze, gold)
    said, other = labels(bronze, first), labels(bronze, second)
    assert found.quantities.unshared == 4
    assert found.quantities.difference_sd == pytest.approx((said.mean(axis=1) - other.mean(axis=1)).std(ddof=1))
    truth, rest = labels(gold, first), labels(gold, second)
    assert found.quantities.gold_sd == pytest.approx((truth.mean(axis=1) - rest.mean(axis=1)).std(ddof=1))
    alone = np.concatenate([said[:, :2].ravel(), other[:, :2].ravel()])
    assert found.quantities.score == pytest.approx(alone.mean())
    assert found.quantities.sd is None


def test_gold_drawn_with_known_probabilities_counts_by_their_inverse() -> None:
    first, _, gold, bronze = world()
    table = first.ranked(5).join(gold.frame, on=["query", "doc"])
    said = table.join(bronze.frame.select("query", "doc", b="label"), on=["query", "doc"])["b"].to_numpy()
    label = table["label"].to_numpy()
    # all relevant documents, and each fourth of the others
    keep = (label == 1) | (np.arange(len(label)) % 4 == 0)
    prob = np.where(label == 1, 1.0, 0.25)
    drawn = table.select("query", "doc", "judge", "label").with_columns(prob=prob).filter(pl.Series(keep))
    found = seen([first], bronze, Judgments.of(drawn)).quantities
    whole = seen([first], bronze, gold).quantities
    assert found.prevalence == pytest.approx(whole.prevalence, abs=0.06)
    assert found.gold_sd is None  # no telling from a sample
    unweighted = seen([first], bronze, Judgments.of(drawn.drop("prob"))).quantities
    assert (unweighted.prevalence or 0) > (whole.prevalence or 0) + 0.1
    assert said.mean() == pytest.approx(found.score)


def test_without_gold_nothing_is_known_of_the_judge() -> None:
    first, _, _, bronze = world()
    found = seen([first], bronze, None)
    assert (found.quantities.accuracy, found.quantities.prevalence, found.confusion) == (None, None, None)


def test_labels_have_their_own_lowest_relevant_one() -> None:
    first, _, gold, bronze = world()
    graded = Judgments.of(gold.frame.with_columns(label=pl.col("label") * 2))
    doubled = seen([first], bronze, graded, measure="P(rel=2)@5", bronze_rel=1).quantities
    assert doubled == seen([first], bronze, gold).quantities


def test_a_document_without_a_bronze_label_counts_as_not_relevant() -> None:
    first, _, gold, bronze = world()
    fewer = Judgments.of(bronze.frame.filter(pl.col("doc") != "d0-0"))
    truth = gold.frame.filter(pl.col("doc") == "d0-0")["label"][0]
    counts, before = (seen([first], labels_, gold).confusion for labels_ in (fewer, bronze))
    assert counts is not None
    assert before is not None
    assert counts.counts.sum() == before.counts.sum()
    assert counts.counts[truth, 0] >= before.counts[truth, 0]


def test_few_gold_labels_are_told() -> None:
    first, _, gold, bronze = world()
    few = Judgments.of(gold.frame.filter(pl.col("query") == "q0"))
    (note,) = [note for note in seen([first], bronze, few).notes if getattr(note, "code", "") == "few-gold"]
    assert "5" in note


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG@10", "AP"])
def test_other_measures_are_refused(measure: str) -> None:
    first, _, gold, bronze = world()
    with pytest.raises(UsageError) as refused:
        seen([first], bronze, gold, measure=measure)
    assert (refused.value.code, refused.value.parameter) == ("plan-needs-precision", "measure")


def test_gold_that_no_run_retrieved_is_refused() -> None:
    first, second, gold, bronze = world()
    elsewhere = Judgments.of({"q0": {"x1": 1, "x2": 0}})
    with pytest.raises(MismatchError) as refused:
        seen([first], bronze, elsewhere)
    assert refused.value.code == "gold-outside-runs"
    assert "'x1'" in refused.value.text
    assert "'q0'" in refused.value.text
    shared = Judgments.of(gold.frame.filter(pl.col("doc").str.ends_with("-3")))
    with pytest.raises(MismatchError) as refused:
        seen([first, second], bronze, shared)
    assert refused.value.code == "gold-outside-runs"


def test_data_that_tell_nothing_are_refused() -> None:
    first, _, _, bronze = world()
    nothing = Judgments.of(bronze.frame.with_columns(label=pl.lit(0).cast(pl.Int32)))
    single = Judgments.of(bronze.frame.filter(pl.col("query") == "q0"))
    for runs, labels, code in (
        ([first, first.called("again")], bronze, "same-documents"),
        ([first], nothing, "all-queries-alike"),
        ([first], single, "single-query"),
    ):
        with pytest.raises(InputError) as refused:
            seen(runs, labels, None)
        assert refused.value.code == code
