"""Gold drawn again and again: the study itself in small worlds, and the promises of correction on real judges."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from replications import room, short_and_long
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.correct import build_problem, make_estimator
from ringtrue.simulation.studies.real_judges import JudgedCollection, MethodCoverage, RealJudgeStudy
from ringtrue.tables import Judgments, Run

PRECISION, DCG, NDCG = "P(rel=2)@10", "DCG@10", "nDCG@10"
GOOD, WEAK = "umbrela_gpt4", "binary_llama3.2"
WIDEST = {(GOOD, PRECISION): 0.73, (GOOD, DCG): 0.60, (WEAK, PRECISION): 0.83, (WEAK, DCG): 0.72}


def small(
    seed: int = 1, *, queries: int = 30, docs: int = 40, wrong: float = 0.2
) -> tuple[JudgedCollection, Judgments]:
    """Three runs, gold labels of 0 and 1, and a judge who errs alike everywhere."""
    rng = np.random.default_rng(seed)
    truth = rng.random((queries, docs)) < 0.4
    said = truth ^ (rng.random((queries, docs)) < wrong)
    gold, bronze = (
        {f"q{q}": {f"d{d}": int(label) for d, label in enumerate(row)} for q, row in enumerate(labels)}
        for labels in (truth, said)
    )
    runs = []
    for name in ("a", "b", "c"):
        scores = truth + rng.normal(0, 1, truth.shape)
        runs.append(Run.of({f"q{q}": {f"d{d}": float(x) for d, x in enumerate(row)} for q, row in enumerate(scores)},
                           name=name))  # fmt: skip
    return JudgedCollection(runs=runs, gold=Judgments.of(gold)), Judgments.of(bronze)


def study(
    collection: JudgedCollection,
    bronze: Judgments,
    *,
    draws: int,
    judge: str = "j",
    level: float = 0.95,
    **settings: Any,
) -> RealJudgeStudy:
    return RealJudgeStudy(collection=collection, judge=judge, bronze=bronze, draws=draws, level=level, **settings)


def test_where_gold_judges_everything_every_draw_is_the_truth() -> None:
    collection, bronze = small(queries=5, docs=12)
    with np.errstate(invalid="ignore"):  # no width, relative to none
        ours, alone = study(collection, bronze, draws=3).means("P@5", budget=500, rng=np.random.default_rng(1))
    for one in (ours, alone):
        assert (one.coverage, one.lowest, one.runs, one.draws) == (1, 1, 3, 3)
        assert one.bias == pytest.approx(0, abs=1e-12)
    assert (ours.judge, ours.measure, ours.against, alone.width) == ("j", "P@5", "gold alone", None)


def test_the_truth_is_the_mean_by_gold_and_what_gold_did_not_judge_counts_nothing() -> None:
    """A judge who is gold has rates of 1, and the published method gives what `evaluate` finds."""
    collection, _ = small(queries=12, docs=20)
    some = Judgments(collection.gold.frame.filter(pl.col("doc") != "d3"))
    (found,) = study(JudgedCollection(runs=collection.runs, gold=some), some, judge="gold", draws=3).published(
        "P@5", budget=60, rng=np.random.default_rng(1)
    )
    assert found.bias == pytest.approx(0, abs=1e-12)
    assert (found.coverage, found.width) == (1, None)


def test_a_study_counts_every_draw_and_tells_how_far_it_is() -> None:
    collection, bronze = small()
    told: list[int] = []
    found = study(collection, bronze, draws=7, level=0.9, progress=told.append).means(
        "DCG@5", budget=60, rng=np.random.default_rng(1)
    )
    assert sum(told) == 7
    assert [one.method for one in found] == ["difference, 60 labels by sample", "gold alone, 60 random labels"]
    shares = {round(one.lowest * 7, 9) for one in found}
    assert all(share == int(share) for share in shares)


def test_the_same_draws_come_from_the_same_seed() -> None:
    collection, bronze = small()

    def coverages(seed: int) -> list[MethodCoverage]:
        return study(collection, bronze, draws=4).means("P@5", budget=60, rng=np.random.default_rng(seed))

    assert coverages(1) == coverages(1)
    assert coverages(1) != coverages(2)


def test_pairs_that_share_nearly_all_are_not_compared() -> None:
    collection, bronze = small(queries=10)  # of the two tops at most 100 documents are not shared
    assert study(collection, bronze, draws=2).differences("P@5", budget=40, rng=np.random.default_rng(1)) == []


def test_more_queries_than_there_are_cannot_be_drawn() -> None:
    collection, bronze = small(queries=10)
    with pytest.raises(InputError) as refused:
        study(collection, bronze, draws=1).whole_queries("nDCG@5", queries=30, rng=np.random.default_rng(1))
    assert refused.value.code == "too-few-queries"


@pytest.mark.simulation
def test_the_published_method_holds_where_the_judge_errs_alike_everywhere() -> None:
    """So that its failure on real judges is theirs, not ours."""
    collection, bronze = small(queries=60)
    (found,) = study(collection, bronze, draws=400).published("P@10", budget=300, rng=np.random.default_rng(1))
    assert found.coverage > 0.9
    assert abs(found.bias) < 0.05


@pytest.mark.simulation
def test_the_difference_estimator_and_whole_queries_hold_in_a_small_world() -> None:
    collection, bronze = small(queries=60)
    rng, repeated = np.random.default_rng(1), study(collection, bronze, draws=300)
    for found in (
        repeated.means("P@10", budget=300, rng=rng)[0],
        repeated.whole_queries("nDCG@10", queries=25, rng=rng)[0],
    ):
        assert 0.90 < found.lowest <= found.coverage < 0.98
        assert found.width is not None
        assert found.width < 1


# Real judges: a fast version of what `ringtrue simulate real` does. Seeded, so that it finds the same every time.


@cache
def real(folder: Path) -> JudgedCollection:
    runs = [rt.read_run(path) for path in sorted((folder / "runs").glob("*.run"))]
    return JudgedCollection(runs=runs, gold=rt.read_judgments(folder / "human.qrels"))


@cache
def judged(folder: Path, judge: str) -> Judgments:
    return rt.read_judgments(folder / f"llm-{judge}.qrels")


@pytest.mark.real
@pytest.mark.simulation
@pytest.mark.parametrize("part", [6, pytest.param(1, marks=pytest.mark.study)])
@pytest.mark.parametrize("measure", [PRECISION, DCG])
@pytest.mark.parametrize("judge", [GOOD, WEAK])
@pytest.mark.parametrize("name", ["dl19", "dl21"])
def test_300_gold_labels_hold_the_truth_and_more_sharply_than_alone(
    data: Path, name: str, judge: str, measure: str, part: int
) -> None:
    folder, long = data / name, 120 if name == "dl19" else 600
    draws = long // part
    ours, alone = study(real(folder), judged(folder, judge), judge=judge, draws=draws).means(
        measure, budget=300, rng=np.random.default_rng([5, len(judge), len(measure)])
    )
    assert ours.runs == (37 if name == "dl19" else 3)
    wider = room(draws, long)  # runs share draws, so many are as one
    assert 0.90 - wider <= ours.coverage <= 0.99
    assert ours.lowest >= 0.86 - wider
    assert 0.90 - wider <= alone.coverage <= 0.99
    assert ours.width is not None
    assert ours.width <= WIDEST[judge, measure]


@pytest.mark.real
@pytest.mark.simulation
@short_and_long("draws", 6, 40)
@pytest.mark.parametrize("measure", [PRECISION, DCG])
@pytest.mark.parametrize("judge", [GOOD, WEAK])
def test_150_labels_of_what_two_runs_do_not_share_tell_them_apart(
    data: Path, judge: str, measure: str, draws: int
) -> None:
    # Each pair of runs has draws of its own: the mean coverage is that of 20 times as many.
    folder = data / "dl19"
    found = study(real(folder), judged(folder, judge), judge=judge, draws=draws).differences(
        measure, budget=150, rng=np.random.default_rng(3)
    )
    assert [one.runs for one in found] == [20] * 5
    wider = room(20 * draws, 20 * 40)
    for one in found:
        assert 0.90 - wider <= one.coverage <= 0.99 + wider
    ours, both, anywhere, alone = (one.width or np.nan for one in found[:4])
    assert found[4].width is None
    assert ours < both < anywhere < 1
    assert ours < alone < 1
    assert ours <= 0.35  # of gold alone, from what all runs show
    assert ours <= 0.45 * anywhere  # of the same estimator, from labels of what all runs show
    assert ours <= (0.65 if judge == GOOD else 0.72) * alone  # of gold alone, from what the two show


@pytest.mark.real
@pytest.mark.simulation
@pytest.mark.parametrize("judge", [GOOD, WEAK])
@pytest.mark.parametrize("name", ["dl19", "dl21"])
def test_ndcg_from_20_whole_queries_holds_the_truth(data: Path, name: str, judge: str) -> None:
    folder = data / name
    ours, alone = study(real(folder), judged(folder, judge), judge=judge, draws=500).whole_queries(
        NDCG, queries=20, rng=np.random.default_rng(4)
    )
    assert 0.92 <= ours.coverage <= 0.98
    assert ours.lowest >= 0.86
    assert abs(ours.bias) < 0.01
    assert 0.92 <= alone.coverage <= 0.98
    assert ours.width is not None
    assert ours.width < (0.9 if judge == GOOD else 1.15)


@pytest.mark.real
@pytest.mark.simulation
@pytest.mark.parametrize("judge", [GOOD, "binary_gpt4", "binary_gpt4o", WEAK])
def test_the_published_method_with_a_sample_of_the_judged_pool_misses_the_truth(data: Path, judge: str) -> None:
    """The judges err more on what runs rank high, and rates from elsewhere do not hold there."""
    folder = data / "dl19"
    (found,) = study(real(folder), judged(folder, judge), judge=judge, draws=100).published(
        PRECISION, budget=300, rng=np.random.default_rng(6)
    )
    assert found.coverage < 0.10
    assert found.bias > 0.2


@pytest.mark.real
@pytest.mark.simulation
@short_and_long("draws", 25, 100)
def test_a_sample_continued_by_another_holds_the_truth_as_one_does(data: Path, draws: int) -> None:
    """100 labels by `sample`, then 200 more with what these taught; estimates as `correct` makes them."""
    folder, measure, rng = data / "dl19", PRECISION, np.random.default_rng(8)
    bronze, gold = judged(folder, GOOD), real(folder).gold
    runs = [Run.of(run.ranked(10).select("query", "doc", score=-pl.col("rank").cast(pl.Float64)), name=run.name)
            for run in real(folder).runs[::4]]  # fmt: skip
    truth = {name: row[measure].value for name, row in rt.evaluate(runs, gold, measure).means().items()}
    held, refused, off = dict.fromkeys(truth, 0), 0, []
    for _ in range(draws):
        first = rt.sample(runs, bronze, measure, budget=100, rng=rng)
        both = rt.sample(runs, bronze, measure, budget=200, already=_filled(first.frame, gold), rng=rng)
        assert both.frame.height == 300
        task, _ = build_problem(runs, bronze, _filled(both.frame, gold), design=None, method=None, population="these",
                          bronze_rel=None, level=0.95, rng=None)  # fmt: skip
        for (name, right), one in zip(truth.items(), make_estimator(task).estimates(parse(measure)), strict=True):
            if one.value is None:
                refused += 1
                continue
            held[name] += one.low <= right <= one.high
            off.append(one.value - right)
    shares = np.array(list(held.values())) / draws
    wider = room(draws, 100, errors=2)  # two errors were allowed of 100 draws, which all runs share
    assert 0.91 - wider <= shares.mean() <= 0.985 + wider
    assert shares.min() >= 0.85 - room(draws, 100)
    assert abs(np.mean(off)) < 0.006 * np.sqrt(100 / draws)
    assert refused <= 0.005 * draws * len(truth)  # the check that a sample fits its pool cries at hardly any that does


def _filled(frame: pl.DataFrame, gold: Judgments) -> Judgments:
    """What was drawn, with the labels that gold has for it; 0 where gold has none."""
    known = frame.select("query", "doc").join(
        gold.frame.select("query", "doc", "label"), on=["query", "doc"], how="left", maintain_order="left"
    )
    return Judgments.of(frame.with_columns(label=known["label"].fill_null(0)))
