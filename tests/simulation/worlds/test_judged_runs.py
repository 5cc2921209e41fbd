"""Runs drawn in a world with a gold and a bronze judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.pool import build_pool
from ringtrue.simulation.worlds.judged_runs import (
    BronzeJudge,
    JudgedRuns,
    JudgedWorld,
    simulate_judged_runs,
    true_means,
)
from strategies import examples

SURE = BronzeJudge(relevant=1.0, nonrelevant=1.0)
COMMON, FIRST, SECOND = slice(0, 5), slice(5, 10), slice(10, 15)  # of the documents, where ten have five in common


def drawn(replications: int = 200, **world: Any) -> JudgedRuns:
    return simulate_judged_runs(np.random.default_rng(7), JudgedWorld(**world), replications=replications)


def called(one: JudgedRuns, *, relevant: bool, docs: slice = slice(None)) -> float:
    """How often bronze calls documents relevant that are, or are not."""
    kind = (one.gold[..., docs] > 0) == relevant
    return float((one.bronze[..., docs] > 0)[kind].mean())


@examples(30)
@given(
    k=st.integers(1, 8),
    systems=st.integers(1, 4),
    common=st.floats(0, 1),
    grades=st.integers(1, 4),
    unseen=st.integers(0, 3),
    seed=st.integers(0, 1000),
)
def test_every_system_shows_k_different_documents_and_those_in_common(
    k: int, systems: int, common: float, grades: int, unseen: int, seed: int
) -> None:
    world = JudgedWorld(queries=3, k=k, shares=(0.4,) * systems, common=common, grades=grades, unseen=unseen)
    one = simulate_judged_runs(np.random.default_rng(seed), world, replications=4)
    assert one.gold.shape == one.bronze.shape == (4, 3, world.shared + systems * (k - world.shared) + unseen)
    assert one.ranking.shape == (4, 3, systems, k)
    for labels in (one.gold, one.bronze):
        assert labels.min() >= 0
        assert labels.max() <= grades
    for lists in one.ranking.reshape(12, systems, k).tolist():
        tops = [set(top) for top in lists]
        assert all(len(top) == k for top in tops)
        assert set.intersection(*tops) >= set(range(world.shared))
        assert set.union(*tops) == set(range(one.pooled_docs))
        assert sum(map(len, tops)) - len(set.union(*tops)) == world.shared * (systems - 1)


@pytest.mark.slow
def test_each_system_shows_the_share_of_relevant_documents_that_was_asked_for() -> None:
    one = drawn(shares=(0.5, 0.3, 0.4), queries=100)
    means = one.values(parse("P@10"), "gold").mean(axis=(1, 2))
    np.testing.assert_allclose(means, [0.5, 0.3, 0.4], atol=0.01)
    large = true_means(np.random.default_rng(1), one.world, [parse("P@10"), parse("DCG@10")])
    np.testing.assert_allclose(large[0], [0.5, 0.3, 0.4], atol=0.01)
    assert large[1].shape == (3,)


@pytest.mark.parametrize("alike", [0.0, 0.1, 0.4])
def test_queries_differ_as_far_as_their_documents_are_alike(alike: float) -> None:
    scores = drawn(query_icc=alike, system_icc=0.0, queries=200).values(parse("P@10"), "gold")[0]
    expected = 0.4 * 0.6 / 10 * (1 + 9 * alike)  # of a beta-binomial share of ten
    assert scores.var() == pytest.approx(expected, rel=0.05)


def test_a_system_may_be_better_at_some_queries_though_not_on_the_whole() -> None:
    apart = [
        np.ptp(drawn(system_icc=apart, common=0.0).values(parse("P@10"), "gold"), axis=0).mean() for apart in (0, 0.3)
    ]
    assert apart[1] > 1.5 * apart[0]


def test_relevant_documents_come_first_as_far_as_the_order_goes() -> None:
    chance, good = (drawn(order=order).values(parse("RR"), "gold").mean() for order in (0.0, 3.0))
    assert good > chance + 0.2


def test_a_judge_without_errors_says_what_gold_says() -> None:
    one = drawn(judge=SURE)
    np.testing.assert_array_equal(one.gold, one.bronze)


def test_the_judge_is_right_as_often_as_it_is_said_to_be() -> None:
    one = drawn(judge=BronzeJudge(relevant=0.9, nonrelevant=0.7), grades=3)
    assert called(one, relevant=True) == pytest.approx(0.9, abs=0.01)
    assert called(one, relevant=False) == pytest.approx(0.3, abs=0.01)


def test_a_judge_may_favour_what_only_the_first_system_shows() -> None:
    one = drawn(judge=BronzeJudge(relevant=0.8, nonrelevant=0.8, favours=0.15))
    for docs, more in ((COMMON, 0.0), (FIRST, 0.15), (SECOND, 0.0)):
        assert called(one, relevant=True, docs=docs) == pytest.approx(0.8 + more, abs=0.015)
        assert called(one, relevant=False, docs=docs) == pytest.approx(0.2 + more, abs=0.015)
    gold, bronze = (one.values(parse("P@10"), by).mean(axis=(1, 2)) for by in ("gold", "bronze"))
    assert abs(gold[0] - gold[1]) < 0.01
    assert bronze[0] - bronze[1] == pytest.approx(0.075, abs=0.01)


def test_a_judge_may_be_kinder_to_the_top_of_the_lists() -> None:
    one = drawn(judge=BronzeJudge(relevant=0.7, nonrelevant=0.8, by_rank=0.2), shares=(0.4,), common=0.0)
    said, true = (np.take_along_axis(labels, one.ranking[:, :, 0], axis=2) for labels in (one.bronze, one.gold))
    kind = true == 0
    first, last = (said[..., rank][kind[..., rank]].mean() for rank in (0, -1))
    assert first == pytest.approx(0.4, abs=0.02)
    assert last == pytest.approx(0.2, abs=0.02)


def test_moods_make_the_errors_of_a_query_alike_and_not_more_frequent() -> None:
    calm, moody = (
        drawn(judge=BronzeJudge(moods=moods), shares=(0.0,), query_icc=0.0, system_icc=0.0) for moods in (0.0, 0.4)
    )
    assert called(moody, relevant=False) == pytest.approx(called(calm, relevant=False), abs=0.01)
    assert moody.bronze.mean(axis=2).var() > 2 * calm.bronze.mean(axis=2).var()


def test_a_second_judge_labels_what_only_the_second_system_shows() -> None:
    one = drawn(judge=SURE, second_judge=BronzeJudge(relevant=0.6, nonrelevant=0.9))
    np.testing.assert_array_equal(one.gold[..., :10], one.bronze[..., :10])
    assert called(one, relevant=True, docs=SECOND) == pytest.approx(0.6, abs=0.02)
    assert called(one, relevant=False, docs=SECOND) == pytest.approx(0.1, abs=0.02)


def test_grades_are_seen_with_an_error_of_their_own() -> None:
    one = drawn(grades=3, judge=SURE)
    relevant = one.gold > 0
    off = one.bronze[relevant].astype(int) - one.gold[relevant]
    assert set(np.unique(off)) == {-1, 0, 1}
    np.testing.assert_array_equal(one.bronze == 0, one.gold == 0)


def test_documents_that_no_system_shows_are_judged_but_not_in_the_pool() -> None:
    one = drawn(unseen=5, queries=4, replications=1)
    assert len(one.pool(0)) == 4 * 15 == len(one.pool_gold(0))
    assert one.gold.shape[2] == 20
    assert one.ranking.max() < 15


@pytest.mark.parametrize("by", ["gold", "bronze"])
def test_values_are_those_that_evaluate_finds_in_the_tables(by: Any) -> None:
    one = drawn(replications=2, queries=6, grades=3, unseen=4)
    for experiment in range(2):
        runs, bronze, gold = one.tables(experiment)
        for name in ("P@10", "DCG@10", "nDCG@10", "AP"):
            values = rt.evaluate(runs, gold if by == "gold" else bronze, name).cube().values[0]
            np.testing.assert_allclose(one.values(parse(name), by)[:, experiment], values, atol=1e-12)


def test_the_pool_is_the_one_that_correct_makes_of_the_tables() -> None:
    one = drawn(replications=1, queries=6, grades=3, unseen=4, shares=(0.4, 0.4, 0.5))
    ready, (runs, bronze, gold) = one.pool(0), one.tables(0)
    made = build_pool(runs, bronze, depth=10)
    assert (ready.runs, ready.levels, ready.depth) == (made.runs, made.levels, made.depth)
    assert len(ready) == len(made)
    place = np.array([int(query) * one.pooled_docs + int(doc) for query, doc in made.docs.rows()])
    np.testing.assert_array_equal(ready.query[place], [int(made.queries[query]) for query in made.query])
    np.testing.assert_array_equal(ready.level[place], made.level)
    shown = {pool: sorted(zip(pool.run, where, pool.rank, strict=True))
             for pool, where in ((ready, ready.doc_index), (made, place[made.doc_index]))}  # fmt: skip
    assert shown[ready] == shown[made]
    labels = {(query, doc): label for query, doc, label in gold.frame.select("query", "doc", "label").rows()}
    assert [labels[pair] for pair in made.docs.rows()] == one.pool_gold(0)[place].tolist()


def test_the_same_seed_makes_the_same_world() -> None:
    one, two = drawn(), drawn()
    for part in ("gold", "bronze", "ranking"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


def test_a_study_needs_a_replication() -> None:
    with pytest.raises(UsageError) as refused:
        drawn(replications=0)
    assert refused.value.code == "study-too-small"


def test_what_a_better_system_has_beyond_the_others_lies_in_its_own_documents() -> None:
    world = JudgedWorld(shares=(0.5, 0.4), common=0.5)
    assert world.shared == 5
    assert world.own_lift.tolist() == pytest.approx([1 / 3, 0])  # 5 × 0.4 in common, and 5 × (0.4 + 0.6 / 3) of its own


@given(shares=st.lists(st.floats(0, 0.5), min_size=1, max_size=4), common=st.floats(0, 0.4))
def test_documents_in_common_and_of_its_own_make_up_the_share_of_each_system(
    shares: list[float], common: float
) -> None:
    world = JudgedWorld(shares=tuple(shares), common=common)
    base, own = min(shares), 1 - world.shared / world.k
    assert ((1 - own) * base + own * (base + (1 - base) * world.own_lift)).tolist() == pytest.approx(shares)


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"queries": 1}, "world-too-small"),
        ({"k": 0}, "world-too-small"),
        ({"shares": ()}, "world-too-small"),
        ({"grades": 0}, "world-too-small"),
        ({"unseen": -1}, "world-too-small"),
        ({"shares": (1.4, 0.2)}, "not-a-share"),
        ({"common": -0.1}, "not-a-share"),
        ({"query_icc": 1.0}, "not-a-share"),
        ({"judge": BronzeJudge(relevant=1.2)}, "not-a-share"),
        ({"second_judge": BronzeJudge(moods=1.0)}, "not-a-share"),
        ({"common": 1.0, "shares": (0.4, 0.5)}, "impossible-world"),
        ({"common": 0.8, "shares": (0.4, 0.6)}, "impossible-world"),
    ],
)
def test_a_world_that_cannot_be_is_refused(odd: dict[str, Any], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        JudgedWorld(**odd)
    assert refused.value.code == code
