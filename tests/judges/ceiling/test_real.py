"""Ceilings of real judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ringtrue as rt

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def nyt17(data: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """NIST and the experts' last word of 120 documents of 10 topics, and the crowd's labels on three grades."""
    docs = pl.read_csv(data / "nyt17/pilot_docs.csv").rename({"topic": "query"})
    crowd = pl.read_csv(data / "nyt17/pilot_labels.csv").rename({"topic": "query", "worker": "judge"})
    return docs, crowd.filter(pl.col("experiment").str.starts_with("3P"))


def of(docs: pl.DataFrame, column: str) -> pl.DataFrame:
    return docs.select("query", "doc", label=column).drop_nulls()


def test_nyt17_by_its_own_matrices(nyt17) -> None:
    docs, crowd = nyt17
    nist, experts = of(docs, "nist_rel"), of(docs, "reviewers_revised").with_columns(judge=pl.lit("experts"))
    found = {}
    for name, labels in (("crowd", crowd), ("experts", experts)):
        table = rt.estimate_confusion(labels, gold=nist, repeats="last")
        assert (table.rows, table.labels) == ("gold", (0, 1, 2))
        assert table.counts.sum() == pytest.approx(120)  # every document once
        answer = rt.ceiling(nist, table)
        assert (answer.queries, answer.skipped) == (10, 0)
        found[name] = answer.estimate.value
        drawn = rt.ceiling(nist, table, method="simulation", draws=2_000)
        assert abs(drawn.estimate.value - found[name]) < 4 * drawn.simulated_se
    assert found == pytest.approx({"crowd": 0.7251, "experts": 0.8621}, abs=1e-4)
    agreed = rt.estimate_confusion(of(docs, "nist_rel").with_columns(judge=pl.lit("x")), gold=nist)
    assert rt.ceiling(nist, agreed).estimate.value == pytest.approx(1)


def test_nyt17_real_against_predicted(nyt17) -> None:
    docs, crowd = nyt17
    most = crowd.group_by("query", "doc").agg(label=pl.col("label").mean().round().cast(pl.Int64))
    judges = {"nist": of(docs, "nist_rel"), "experts": of(docs, "reviewers_revised"), "crowd": most}
    labels = pl.concat(
        [frame.select("query", "doc", pl.lit(name).alias("judge"), "label") for name, frame in judges.items()]
    )
    found = rt.ceiling_scatter(labels)
    assert (found.pairs, found.points["query"].n_unique()) == (6, 10)
    assert abs(found.difference.value) < 0.01
    assert found.correlation == pytest.approx(0.802, abs=0.001)


def test_web5_has_no_queries_and_is_one_list(data: Path) -> None:
    notes: list[str] = []
    truth = rt.read_judgments(data / "web5/truth.csv", columns={"label": "truth"}, needs_query=False, note=notes.append)
    crowd = rt.read_judgments(data / "web5/label.csv", needs_query=False)
    assert any("query" in note for note in notes)
    table = rt.estimate_confusion(crowd, gold=truth)
    found = rt.ceiling(truth, table)
    assert (found.queries, found.per_query["documents"].to_list()) == (1, [2653])
    assert [note.code for note in found.estimate.notes] == ["single-query"]
    assert found.estimate.value == pytest.approx(0.9354, abs=1e-4)
    drawn = rt.ceiling(truth, table, method="simulation")
    assert abs(drawn.estimate.value - found.estimate.value) < 4 * drawn.simulated_se


@pytest.mark.parametrize(("k", "real", "predicted"), [(None, 0.836, 0.788), (10, 0.626, 0.545)])
def test_dl19_where_a_model_is_lenient_on_whole_queries_does_better_than_predicted(
    data: Path, k: int | None, real: float, predicted: float
) -> None:
    judges = {"human": "human.qrels", "model": "llm-umbrela_gpt4.qrels"}
    labels = pl.concat(
        rt.read_judgments(data / "dl19" / name).frame.select("query", "doc", "label").with_columns(judge=pl.lit(judge))
        for judge, name in judges.items()
    )
    points = rt.ceiling_scatter(labels, k=k).points.filter(pl.col("training") == "model")
    assert points.height == 43
    assert points.select(pl.col("real", "predicted").mean()).row(0) == pytest.approx((real, predicted), abs=0.0006)


@pytest.mark.parametrize(
    ("collection", "tested_by", "pooled", "own", "real"),
    [
        ("dl19", "human", 0.545, 0.616, 0.626),
        ("dl19", "model", 0.482, 0.660, 0.679),
        ("dl21", "human", 0.527, 0.612, 0.612),
        ("dl21", "model", 0.729, 0.746, 0.752),
    ],
)
def test_own_matrices_are_nearer_to_what_happens(
    data: Path, collection: str, tested_by: str, pooled: float, own: float, real: float
) -> None:
    judges = {"human": "human.qrels", "model": "llm-umbrela_gpt4.qrels"}
    labels = pl.concat(
        rt.read_judgments(data / collection / name).frame.select("query", "doc", "label", judge=pl.lit(judge))
        for judge, name in judges.items()
    )
    both = labels.filter(pl.len().over("query", "doc") == 2)
    (trained_on,) = set(judges) - {tested_by}
    confusions = rt.estimate_query_confusions(both, testing=tested_by, training=trained_on)
    points = rt.ceiling_scatter(both, k=10).points.filter(pl.col("testing") == tested_by)
    found = [
        rt.ceiling(both.filter(pl.col("judge") == tested_by), matrices, k=10).estimate.value
        for matrices in (confusions.pooled, confusions)
    ]
    assert [*found, points["real"].mean()] == pytest.approx([pooled, own, real], abs=6e-4)
    assert abs(found[1] - real) < abs(found[0] - real)


def test_runs_exceed_the_pooled_ceiling_and_some_that_of_own_matrices(data: Path) -> None:
    runs = [rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run"))]
    human, model = (rt.read_judgments(data / f"dl19/{name}.qrels") for name in ("human", "llm-umbrela_gpt4"))
    confusions = rt.estimate_query_confusions(model, gold=human)
    above = [
        sum(run.above for run in rt.ceiling(human, matrices, k=10, runs=runs).runs.values())
        for matrices in (confusions.pooled, confusions)
    ]
    assert (above, len(runs)) == ([22, 13], 37)


@pytest.mark.slow
def test_rf10_with_hundreds_of_workers(data: Path) -> None:
    labels = pl.read_csv(data / "rf10/labels.csv").filter(pl.col("label") >= 0)
    table = rt.estimate_confusion(labels, repeats="last")
    assert table.counts == pytest.approx(table.counts.T)
    assert table.matrix.sum(axis=1) == pytest.approx(np.ones(3))
    found = rt.ceiling_scatter(labels, repeats="last", pairs=20)
    assert found.pairs == 40
