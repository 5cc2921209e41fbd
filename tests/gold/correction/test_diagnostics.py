"""Checks of the gold labels: what they find, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from gold.correction.worlds import Asked, large, world
from gold.refusals import names, refuses
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import parse, parse_all
from ringtrue.gold.correction.diagnostics import (
    Check,
    check_by_test,
    check_ranks,
    permutation_p,
    rank_bands,
    run_checks,
    sample_mean_p,
    sample_share_p,
)
from ringtrue.gold.correction.gold_sample import GoldSample, require_drawn_for
from ringtrue.messages import Note
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)


def checks(
    asked: Asked, sample: GoldSample, *, called: Any = None, among: Any = None, right: Any = None
) -> dict[str, Check]:
    """By name with hyphens; `right` says of each label of the sample whether bronze is."""
    said = np.array(asked.pool.levels)[asked.pool.level] >= 1 if called is None else called
    relevant = sample.labels >= 1 if right is None else np.where(right, said[sample.positions], ~said[sample.positions])
    every = np.ones(len(asked.pool), dtype=bool) if among is None else among
    found = run_checks(
        asked.pool, sample, relevant=relevant, bronze_relevant=said, eligible=every, rng=np.random.default_rng(5)
    )
    return {check.name.replace(" ", "-"): check for check in found}


def at_random(asked: Asked, size: int, seed: int = 1) -> GoldSample:
    places = np.random.default_rng(seed).permutation(len(asked.pool))[:size]
    return asked.sample(places, size / len(asked.pool))


def test_a_check_as_plain_data() -> None:
    check = Check(name="size", finding="300 labels")
    assert check.as_dict() == {"check": "size", "passed": True, "p_value": None, "text": "300 labels", "code": None}


@given(sample=st.floats(0, 1), pool=st.floats(0.01, 0.99), labels=st.floats(1, 500))
def test_a_mean_is_held_against_its_pool_by_a_z_test(sample: float, pool: float, labels: float) -> None:
    error = np.sqrt(pool * (1 - pool) / labels)
    expected = 2 * stats.norm.sf(abs(sample - pool) / error)
    assert sample_mean_p(sample, pool, error) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert sample_share_p(sample, pool, labels) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_a_sample_that_cannot_differ_from_its_pool_has_no_p() -> None:
    assert sample_mean_p(0.5, 0.5, 0.0) is None
    assert sample_share_p(0.3, 0.0, 40) is None
    assert sample_share_p(0.3, 1.0, 40) is None


@pytest.mark.parametrize(("p", "note"), [(None, None), (0.01, None), (0.0099, "found: look")])
def test_a_small_p_gives_reason_to_doubt(p: float | None, note: str | None) -> None:
    doubt = Note("sample-does-not-fit", "look")
    check = check_by_test("a", p, "found", doubt)
    assert check == Check(name="a", p_value=p, finding="found", warning=None if note is None else doubt)
    assert (check.passed, check.note) == (note is None, note)


def steady(asked: Asked, seed: int = 2) -> Any:
    """What a judge calls relevant who is right on 80% of relevant and on 70% of other documents, whatever they are."""
    right = np.random.default_rng(seed).random(len(asked.pool)) < np.where(asked.labels >= 1, 0.8, 0.7)
    return (asked.labels >= 1) == right


def test_every_check_is_made_and_a_random_sample_of_a_steady_judge_passes_all() -> None:
    asked = large()
    sample = at_random(asked, 200)
    found = checks(asked, sample, called=steady(asked))
    assert list(found) == ["sample-against-pool", "ranks-against-pool", "better-than-chance", "accuracy-by-rank",
                           "accuracy-by-run", "accuracy-by-query", "number-of-labels",
                           "spread-over-queries"]  # fmt: skip
    assert all(check.passed for check in found.values())
    assert all(check.note is None for check in found.values())
    assert names(found["number-of-labels"].finding, "200")


def test_the_sample_against_its_pool_is_a_z_test_of_shares() -> None:
    asked = large()
    called = np.arange(len(asked.pool)) % 5 < 2  # two of five
    inside, outside = np.flatnonzero(called), np.flatnonzero(~called)
    n = len(asked.pool)
    sample = asked.sample(np.concatenate([inside[:63], outside[:37]]), 100 / n)
    found = checks(asked, sample, called=called)["sample-against-pool"]
    pool = called.mean()
    # Under the pool's own share, with the factor for a finite pool; the residuals are taken about that share.
    error = np.sqrt((63 * (1 - pool) ** 2 + 37 * pool**2) * (1 - 100 / n)) / 100
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(0.63 - pool) / error))
    assert not found.passed
    assert names(found.finding, "63%", "40%")
    assert found.note.code == found.warning.code == "sample-does-not-fit"
    assert names(found.note, found.finding, found.warning)
    plain = {"check": found.name, "passed": False, "p_value": found.p_value, "text": found.note}
    assert found.as_dict() == plain | {"code": "sample-does-not-fit"}


def test_a_sample_of_which_bronze_calls_everything_relevant_does_not_pass_for_lack_of_spread() -> None:
    asked = large()
    called = np.arange(len(asked.pool)) % 5 < 2
    found = checks(asked, asked.sample(np.flatnonzero(called)[:40], 0.1), called=called)["sample-against-pool"]
    assert not found.passed
    assert found.p_value < 1e-6


def test_probabilities_weigh_the_sample_before_it_is_held_against_the_pool() -> None:
    asked = large()
    called = np.arange(len(asked.pool)) % 2 == 0
    prob = np.where(called, 0.4, 0.1)
    places = np.flatnonzero(np.random.default_rng(3).random(len(asked.pool)) < prob)
    assert checks(asked, asked.sample(places, prob), called=called)["sample-against-pool"].passed
    assert not checks(asked, asked.sample(places, 0.25), called=called)["sample-against-pool"].passed


def test_only_documents_that_count_are_held_against_the_sample() -> None:
    # Drawn from the even documents alone: no sample of all of them, but one of these.
    asked = large()
    even = np.arange(len(asked.pool)) % 2 == 0
    called = np.random.default_rng(4).random(len(asked.pool)) < np.where(even, 0.2, 0.8)
    sample = asked.sample(np.flatnonzero(even)[::3], 1 / 3)
    assert not checks(asked, sample, called=called)["sample-against-pool"].passed
    assert checks(asked, sample, called=called, among=even)["sample-against-pool"].passed
    nothing = checks(asked, sample, called=called, among=~even)["sample-against-pool"]
    assert (nothing.passed, nothing.p_value) == (False, None)
    assert checks(asked, sample, called=called, among=np.zeros_like(even))["sample-against-pool"].passed


def test_a_census_fits_its_pool() -> None:
    asked = large()
    found = checks(asked, asked.sample(np.arange(len(asked.pool)), 1.0))["sample-against-pool"]
    assert (found.passed, found.p_value) == (True, None)


@pytest.mark.simulation
def test_good_samples_are_doubted_one_time_in_a_hundred_by_each_check() -> None:
    asked = large(queries=10)
    found = [checks(asked, at_random(asked, 80, seed), called=steady(asked, seed)) for seed in range(200)]
    for name in ("sample-against-pool", "ranks-against-pool", "accuracy-by-rank", "accuracy-by-run",
                 "accuracy-by-query"):  # fmt: skip
        p = np.array([one[name].p_value for one in found])
        assert np.mean(p < 0.01) <= 0.03, name
        assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.1), name


def test_a_judge_who_errs_at_the_bottom_is_found_by_rank_alone() -> None:
    asked = large(runs=1)
    sample = at_random(asked, 240)
    rank = np.zeros(len(asked.pool))
    rank[asked.pool.doc_index] = asked.pool.rank
    found = checks(asked, sample, right=rank[sample.positions] <= 7)
    assert not found["accuracy-by-rank"].passed
    assert found["accuracy-by-rank"].p_value == 0.001
    assert found["accuracy-by-rank"].note.code == "accuracy-differs"
    assert found["accuracy-by-query"].passed
    assert found["accuracy-by-run"].p_value is None  # there is one run


def test_a_judge_who_errs_in_one_query_is_found_by_query() -> None:
    asked = large(runs=1)
    sample = at_random(asked, 240)
    found = checks(asked, sample, right=asked.pool.query[sample.positions] > 4)
    assert not found["accuracy-by-query"].passed
    assert found["accuracy-by-rank"].passed


def test_a_judge_who_favours_a_run_is_found_by_run() -> None:
    asked = large(runs=2)
    sample = at_random(asked, 240)
    member = np.zeros((len(asked.pool), 2), dtype=bool)
    member[asked.pool.doc_index, asked.pool.run] = True
    found = checks(asked, sample, right=~(member[:, 0] & ~member[:, 1])[sample.positions])
    assert not found["accuracy-by-run"].passed


def test_a_judge_who_is_always_right_differs_nowhere() -> None:
    asked = large()
    found = checks(asked, at_random(asked, 100), right=np.ones(100, dtype=bool))
    for what in ("rank", "run", "query"):
        check = found[f"accuracy-by-{what}"]
        assert (check.passed, check.p_value) == (True, None)
        assert check.note is None


@pytest.mark.parametrize(("depth", "bands"), [
    (1, {"rank 1": (1, 1)}), (3, {"ranks 1–3": (1, 3)}), (4, {"ranks 1–3": (1, 3), "rank 4": (4, 4)}),
    (5, {"ranks 1–3": (1, 3), "ranks 4–5": (4, 5)}), (10, {"ranks 1–3": (1, 3), "ranks 4–10": (4, 10)}),
    (1000, {"ranks 1–3": (1, 3), "ranks 4–10": (4, 10), "ranks 11–1000": (11, 1000)}),
])  # fmt: skip
def test_bands_of_ranks_end_where_the_measure_does(depth: int, bands: dict[str, tuple[int, int]]) -> None:
    assert rank_bands(depth) == bands


def test_queries_that_are_easier_are_no_difference_between_groups() -> None:
    # Bronze is always right in the first five queries, and never in the others, of which the first group has more.
    query = np.repeat(np.arange(10), 20)
    right, relevant = query < 5, np.ones(200, dtype=bool)
    rng = np.random.default_rng(3)
    first = rng.random(200) < np.where(query < 5, 0.3, 0.7)
    groups = np.column_stack([first, ~first]).astype(float)
    assert permutation_p(right, relevant, groups, np.random.default_rng(1)) < 0.01
    assert permutation_p(right, relevant, groups, np.random.default_rng(1), query) is None
    some = right ^ (rng.random(200) < 0.1)
    assert permutation_p(some, relevant, groups, np.random.default_rng(1), query) > 0.05


def test_a_difference_within_queries_is_found() -> None:
    query = np.repeat(np.arange(10), 20)
    rng = np.random.default_rng(3)
    first, relevant = rng.random(200) < 0.5, rng.random(200) < 0.5
    right = rng.random(200) < np.where(first, 0.9, 0.4)
    groups = np.column_stack([first, ~first]).astype(float)
    assert permutation_p(right, relevant, groups, np.random.default_rng(1), query) == 0.001


@pytest.mark.simulation
def test_permuting_within_queries_keeps_its_level_where_queries_differ() -> None:
    rng = np.random.default_rng(9)
    small = {"within": 0, "across": 0}
    for _ in range(300):
        sizes = rng.integers(5, 40, 12)
        query = np.repeat(np.arange(12), sizes)
        right = rng.random(len(query)) < rng.beta(2, 1, 12)[query]
        first = rng.random(len(query)) < rng.beta(1, 1, 12)[query]
        groups = np.column_stack([first, ~first]).astype(float)
        relevant = rng.random(len(query)) < 0.5
        small["within"] += (permutation_p(right, relevant, groups, rng, query) or 1) <= 0.05
        small["across"] += (permutation_p(right, relevant, groups, rng) or 1) <= 0.05
    assert small["within"] <= 0.085 * 300
    assert small["across"] > 0.2 * 300


def test_permuting_agrees_with_chi_square_tests_on_relevant_and_other_documents() -> None:
    asked = large(runs=1)
    sample = at_random(asked, 300)
    rank = np.zeros(len(asked.pool))
    rank[asked.pool.doc_index] = asked.pool.rank
    band, relevant = np.searchsorted([3, 10, 20], rank)[sample.positions], sample.labels >= 1
    right = np.random.default_rng(6).random(300) < np.array([0.75, 0.7, 0.65])[band]
    called = np.zeros(len(asked.pool), dtype=bool)
    called[sample.positions] = relevant == right
    found = checks(asked, sample, called=called)["accuracy-by-rank"]
    chi = [
        stats.chi2_contingency(
            [[(right[kind & (band == part)] == hit).sum() for hit in (True, False)] for part in range(3)]
        )
        for kind in (relevant, ~relevant)
    ]
    p = stats.chi2.sf(sum(one.statistic for one in chi), sum(one.dof for one in chi))
    assert 0.05 < p < 0.95
    assert found.p_value == pytest.approx(p, abs=0.05)


def test_few_labels_and_few_queries_are_told() -> None:
    asked = large()
    few = checks(asked, at_random(asked, 29))["number-of-labels"]
    assert (few.passed, few.note.code) == (False, "few-gold")
    assert names(few.note, "29")
    assert checks(asked, at_random(asked, 30))["number-of-labels"].passed
    one = np.flatnonzero(asked.pool.query < 3)
    narrow = checks(asked, asked.sample(one, 0.5))["spread-over-queries"]
    assert not narrow.passed
    assert narrow.note.code == "few-queries"
    assert names(narrow.note, "3 of 20")


def test_labels_that_crowd_in_one_query_are_told_though_others_have_one_each() -> None:
    asked = large()
    first = [int(np.flatnonzero(asked.pool.query == query)[0]) for query in range(20)]
    crowd = np.flatnonzero(asked.pool.query == 0)[:20]
    assert not checks(asked, asked.sample(np.union1d(first, crowd), 0.5))["spread-over-queries"].passed
    assert checks(asked, asked.sample(first, 0.5))["spread-over-queries"].passed


def test_a_small_collection_is_not_blamed_for_its_size() -> None:
    asked = large(queries=4)
    assert checks(asked, at_random(asked, 40))["spread-over-queries"].passed


def best_ranks(asked: Asked) -> Any:
    """Of each document, over the runs that show it."""
    best = {}
    for doc, rank in zip(asked.pool.doc_index.tolist(), asked.pool.rank.tolist(), strict=True):
        best[doc] = min(rank, best.get(doc, rank))
    return np.array([best[doc] for doc in range(len(asked.pool))], dtype=float)


@examples(30)
@given(SEEDS)
def test_ranks_are_held_against_the_pool_by_loops(seed: int) -> None:
    asked = world(seed, queries=6).asked("DCG@4")
    rng = np.random.default_rng(seed)
    sample, among = asked.some(rng, least=3), rng.random(len(asked.pool)) < 0.8
    found, best = check_ranks(asked.pool, sample, among), best_ranks(asked)
    inside = [(doc, prob) for doc, prob in zip(sample.positions, sample.prob, strict=True) if among[doc]]
    if not inside:
        assert (found.passed, found.p_value) == (True, None)
        return
    whole, mean = sum(1 / prob for _, prob in inside), best[among].mean()
    seen = sum(best[doc] / prob for doc, prob in inside) / whole
    squares = [
        sum((1 - prob) * square / prob**2 for square, prob in of_docs)
        for of_docs in ([((best[doc] - mean) ** 2, prob) for doc, prob in inside],
                        [(best[among].var(), prob) for _, prob in inside])
    ]  # fmt: skip
    error = np.sqrt(max(squares)) / whole
    if error:
        assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(seen - mean) / error), rel=1e-6, abs=1e-12)
    assert names(found.finding, f"{seen:.1f}", f"{mean:.1f}")


def test_a_sample_of_the_tops_is_doubted_by_its_ranks_and_by_nothing_else_in_the_pool() -> None:
    asked = large(runs=1)
    top = np.flatnonzero(best_ranks(asked) <= 10)
    called = np.random.default_rng(8).random(len(asked.pool)) < 0.4
    found = checks(asked, asked.sample(top[::2], 0.25), called=called)  # as many as of all, by its probabilities
    assert not found["ranks-against-pool"].passed
    assert found["ranks-against-pool"].p_value < 1e-6
    assert found["ranks-against-pool"].note.code == "ranks-do-not-fit"
    assert found["sample-against-pool"].passed
    among = np.isin(np.arange(len(asked.pool)), top)
    assert checks(asked, asked.sample(top[::2], 0.5), called=called, among=among)["ranks-against-pool"].passed


def test_ranks_say_nothing_where_there_is_nothing_to_compare() -> None:
    asked = large()
    every, none = np.arange(len(asked.pool)), np.zeros(len(asked.pool), dtype=bool)
    census, sure, half = asked.sample(every, 1.0), asked.sample(every[:50], 1.0), asked.sample(every[:50], 0.5)
    for sample, among in ((census, ~none), (sure, ~none), (half, none), (half, every >= 50)):
        found = check_ranks(asked.pool, sample, among)
        assert (found.passed, found.p_value) == (True, None)


def test_a_judge_no_better_than_chance_is_told_by_weighted_shares() -> None:
    asked = large()
    places = np.arange(100)
    relevant, said = asked.labels[places] >= 1, np.zeros(len(asked.pool), dtype=bool)
    prob = np.where(np.arange(len(asked.pool)) % 2, 0.2, 0.8)
    sample = asked.sample(places, prob)
    said[places] = ~relevant
    found = checks(asked, sample, called=said)["better-than-chance"]
    assert (found.passed, found.p_value) == (False, None)
    assert found.note.code == "judge-at-chance"
    assert names(found.finding, "0%", "100%")
    assert found.note.suggestions[0].arguments == {"bronze_rel": ...}
    said[places] = np.random.default_rng(9).random(100) < np.where(relevant, 0.7, 0.2)
    weight = 1 / prob[:100]
    yes, no = (np.average(said[places][kind], weights=weight[kind]) for kind in (relevant, ~relevant))
    found = checks(asked, sample, called=said)["better-than-chance"]
    assert found.passed
    assert names(found.finding, f"{yes:.0%}", f"{no:.0%}")


@pytest.mark.parametrize(("labels", "passed"), [(9, True), (10, False)])
def test_few_labels_of_a_kind_do_not_tell_that_a_judge_is_no_better_than_chance(labels: int, passed: bool) -> None:
    asked = large()
    relevant = np.arange(60) < labels
    sample = replace(asked.sample(np.arange(60), 0.5), labels=relevant.astype(np.int64))
    found = checks(asked, sample, called=np.zeros(len(asked.pool), dtype=bool))["better-than-chance"]
    assert found.passed is passed
    assert names(found.finding, "9 relevant") is passed


@pytest.mark.simulation
def test_small_honest_samples_are_seldom_doubted() -> None:
    """Ten labels, most of the usual kind, the unusual ones half as probable: at 1%, no more than a few in a hundred."""
    asked, rng = large(queries=10), np.random.default_rng(11)
    called = np.random.default_rng(12).random(len(asked.pool)) < 0.9
    size = np.where(called, 2.0, 1.0)
    prob = 10 * size / size.sum()
    alarms = {"sample-against-pool": 0, "ranks-against-pool": 0}
    for _ in range(300):
        places = np.flatnonzero(rng.random(len(asked.pool)) < prob)
        if len(places) < 2:
            continue
        found = checks(asked, asked.sample(places, prob), called=called)
        for name in alarms:
            alarms[name] += not found[name].passed
    assert max(alarms.values()) <= 12


@pytest.mark.parametrize("label", [0, 1])
def test_gold_of_one_kind_says_nothing_about_chance(label: int) -> None:
    asked = large()
    sample = replace(at_random(asked, 50), labels=np.full(50, label))
    found = checks(asked, sample)["better-than-chance"]
    assert (found.passed, found.p_value) == (True, None)


def test_a_sample_for_single_runs_serves_everything() -> None:
    for comparing in (True, False):
        require_drawn_for([], parse("DCG@10"), comparing=comparing)


@pytest.mark.parametrize(
    ("drawn", "serves", "refused"),
    [
        ("P@10", ["P@10", "CG@10", "P(rel=2)@10"], ["P@5", "DCG@10", "RBP"]),
        ("DCG@10", ["DCG@10", "P@10", "P@5", "DCG@3"], ["DCG@20", "RBP"]),
        ("RBP", ["RBP", "DCG@1000", "P@5"], []),
        ("P@10,DCG@5", ["P@10", "P@5", "DCG@5"], ["DCG@10", "P@20"]),
    ],
)
def test_a_sample_to_compare_by_one_measure_serves_those_that_need_no_other_document(
    drawn: str, serves: list[str], refused: list[str]
) -> None:
    by = parse_all(drawn.split(","))
    for measure in serves:
        require_drawn_for(by, parse(measure), comparing=True)
        with refuses(InputError, "drawn-for-comparison"):
            require_drawn_for(by, parse(measure), comparing=False)
    for measure in refused:
        with refuses(InputError, "drawn-for-other-measure"):
            require_drawn_for(by, parse(measure), comparing=True)
