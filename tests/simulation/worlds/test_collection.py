"""The simulated collection: known truth, and a judge who is wrong in a known way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from replications import short_and_long
from ringtrue.errors import UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.inputs import pool
from ringtrue.files import read_judgments
from ringtrue.gold.correction import compare_corrected, correct
from ringtrue.gold.correction.bronze_worth import MAX_USEFUL_WIDTH
from ringtrue.gold.sampling import sample
from ringtrue.simulation import (
    Collection,
    Crowd,
    Voters,
    simulate_collection,
    simulate_crowd,
    simulate_texts,
    simulate_voters,
)
from ringtrue.simulation.worlds.collection import BRONZE_RATES, draw_bronze_labels
from ringtrue.stats.results import Estimate


def world(seed: int, **settings: int):
    return simulate_collection(rng=np.random.default_rng(seed), **settings)


def test_the_same_seed_makes_the_same_world() -> None:
    one, two = world(3, queries=4), world(3, queries=4)
    assert one.gold.frame.equals(two.gold.frame)
    assert one.bronze.frame.equals(two.bronze.frame)
    assert all(a.frame.equals(b.frame) for a, b in zip(one.runs, two.runs, strict=True))


def test_both_judges_label_every_candidate_and_every_retrieved_document_is_one() -> None:
    made = world(1, queries=5, candidates=60)
    assert made.gold.frame.height == made.bronze.frame.height == 5 * 60
    judged = set(made.gold.frame.select("query", "doc").rows())
    assert all(set(run.frame.select("query", "doc").rows()) <= judged for run in made.runs)


def test_the_bronze_judge_errs_more_on_what_the_keyword_system_ranks_high() -> None:
    made = world(5, queries=200)
    keyword = next(run for run in made.runs if run.name == "keyword")
    both = made.gold.frame.join(made.bronze.frame, on=["query", "doc"], suffix="_bronze")
    wrong = both.filter(both["label"] == 0)
    in_top = wrong.join(keyword.ranked(10), on=["query", "doc"])
    assert (in_top["label_bronze"] >= 2).mean() > 2 * (wrong["label_bronze"] >= 2).mean()


def count_labels(gold: pl.DataFrame, bronze: pl.DataFrame) -> np.ndarray:
    """How many documents have each label of bronze (columns), for each of gold (rows)."""
    both = gold.join(bronze, on=["query", "doc"], suffix="_bronze")
    counts = np.zeros((4, 4), dtype=int)
    np.add.at(counts, (both["label"].to_numpy(), both["label_bronze"].to_numpy()), 1)
    return counts


def test_the_rates_of_the_bronze_judge_are_shares_of_each_grade() -> None:
    rates = np.array(BRONZE_RATES)
    assert rates.shape == (4, 4)
    assert (rates > 0).all()
    assert rates.sum(axis=1) == pytest.approx(1)


def test_the_rates_of_the_bronze_judge_by_hand() -> None:
    """Of 5,158 documents with grade 0, UMBRELA gave 3,344, 1,289, 460 and 65 the labels 0 to 3."""
    assert BRONZE_RATES[0] == tuple(round(count / 5158, 2) for count in (3344, 1289, 460, 65))
    assert BRONZE_RATES[1] == tuple(round(count / 1601, 2) for count in (262, 727, 490, 122))


@pytest.mark.real
def test_the_rates_of_the_bronze_judge_are_those_of_a_real_model(data: Path) -> None:
    folder = data / "dl19"
    gold, bronze = (read_judgments(folder / f"{name}.qrels").frame for name in ("human", "llm-umbrela_gpt4"))
    counts = count_labels(gold, bronze)
    assert counts.sum() == 9260
    measured = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(np.array(BRONZE_RATES) - measured).max() < 0.01  # rounded up or down, to add up to 1


@pytest.mark.parametrize("grade", range(4))
def test_labels_of_the_bronze_judge_have_its_rates(grade: int) -> None:
    rng, draws = np.random.default_rng(grade), 40_000
    labels = draw_bronze_labels(np.full(draws, grade), rng.normal(size=draws), rng=rng)
    shares, rates = np.bincount(labels, minlength=4) / draws, np.array(BRONZE_RATES[grade])
    assert (np.abs(shares - rates) < 4 * np.sqrt(rates * (1 - rates) / draws)).all()


def test_bronze_labels_of_a_whole_world_have_the_rates() -> None:
    made = world(1, queries=200)
    counts = count_labels(made.gold.frame, made.bronze.frame)
    total, rates = counts.sum(axis=1, keepdims=True), np.array(BRONZE_RATES)
    assert (np.abs(counts / total - rates) < 4 * np.sqrt(rates * (1 - rates) / total)).all()


@given(grade=st.integers(0, 3), overlap=st.floats(-3, 3), more=st.floats(0, 3), seed=st.integers(0, 2**32 - 1))
def test_more_word_overlap_never_lowers_a_bronze_label(grade: int, overlap: float, more: float, seed: int) -> None:
    low, high = (
        draw_bronze_labels(np.array([grade]), np.array([value]), rng=np.random.default_rng(seed))[0]
        for value in (overlap, overlap + more)
    )
    assert low <= high


def test_what_the_systems_show_first_has_about_the_grades_of_a_real_pool() -> None:
    made = world(1, queries=200)
    shown = pool(made.runs, depth=10).join(made.gold.frame, on=["query", "doc"])
    shares = np.bincount(shown["label"], minlength=4) / shown.height
    assert shares == pytest.approx([0.53, 0.17, 0.18, 0.12], abs=0.1)  # TREC DL 2019, first ten of 37 runs


def best_run(runs: Mapping[str, Mapping[str, Estimate]], measure: str) -> str:
    return max(runs, key=lambda run: runs[run][measure].value or 0)


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


@pytest.mark.simulation
@short_and_long("worlds", 12, 20)
def test_bronze_names_the_wrong_winner_and_a_gold_sample_corrects_it_with_narrower_intervals_than_gold_alone(
    worlds: int,
) -> None:
    """What the demo shows, with its numbers, in other worlds."""
    measures, ratios, bronze_widths = ("P(rel=2)@10", "DCG@10"), [], []
    for seed in range(100, 100 + worlds):
        made = world(seed, queries=100)
        drawn = sample(made.runs, made.bronze, measures[0], budget=200, rng=np.random.default_rng(seed)).frame
        gold = drawn.join(made.gold.frame.select("query", "doc", "label"), on=["query", "doc"])
        for name in ("nDCG@10", measures[0]):
            assert best_run(evaluate(made.runs, made.bronze, name).means(), name) == "keyword"
            assert best_run(evaluate(made.runs, made.gold, name).means(), name) == "neural"
        verdict = compare_corrected(made.runs, made.bronze, gold, measures[0])[0]
        assert (verdict.a, verdict.b) == ("keyword", "neural")
        assert verdict.difference.value is not None
        assert verdict.difference.value < 0
        by_population = [
            correct(made.runs, made.bronze, gold, measures, population=population)
            for population in ("these", "like-these")
        ]
        ratios.append(
            [
                [width(done.corrected[run][name]) / width(done.gold_only[run][name]) for run in done.corrected]
                for done in by_population
                for name in measures
            ]
        )
        bronze_widths.append(by_population[1].bronze_worth[measures[0]].bronze_width)
    assert np.mean(ratios, axis=0).max() < 0.93
    assert (np.array(ratios) < 1).mean() > 0.85
    assert (np.array(bronze_widths) <= MAX_USEFUL_WIDTH).mean() >= 0.9  # not owed to ranks and runs alone


def test_a_world_too_small_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        world(1, queries=0)
    assert refused.value.code == "world-too-small"


@pytest.fixture(scope="module")
def shop() -> Collection:
    return simulate_collection(rng=np.random.default_rng(1), queries=5)


def test_every_document_and_query_has_a_text_of_its_own_label(shop: Collection) -> None:
    topics, documents = simulate_texts(shop, rng=np.random.default_rng(1))
    assert set(topics["query"]) == set(shop.gold.frame["query"])
    assert set(documents["doc"]) == set(shop.gold.frame["doc"])
    wanted = {query: title.split(" for ") for query, title in topics.select("query", "title").iter_rows()}
    said = {doc: f"{title} {text}".lower() for doc, title, text in documents.iter_rows()}
    for query, doc, label in shop.gold.frame.select("query", "doc", "label").iter_rows():
        (trait, thing), use = wanted[query][0].split(), wanted[query][1]
        right = [f"a {trait} {thing}" in said[doc], f" for {use}" in said[doc]]
        has_thing = f" {thing} for " in said[doc] or f" {thing}, made" in said[doc]
        assert has_thing == (label > 0)
        assert label <= 0 or sum(right) == max(label - 1, 0)


def test_the_same_seed_gives_the_same_texts(shop: Collection) -> None:
    one, other = (simulate_texts(shop, rng=np.random.default_rng(2)) for _ in range(2))
    assert all(a.equals(b) for a, b in zip(one, other, strict=True))


def test_documents_are_named_once(shop: Collection) -> None:
    _, documents = simulate_texts(shop, rng=np.random.default_rng(1))
    assert not documents["doc"].is_duplicated().any()
    assert documents.schema == {"doc": pl.String, "title": pl.String, "text": pl.String}


def crowd(seed: int, *, queries: int = 20, **settings: int) -> tuple[Crowd, pl.DataFrame]:
    """The crowd, and its labels beside the truth."""
    rng = np.random.default_rng(seed)
    world = simulate_collection(rng=rng, queries=queries)
    made = simulate_crowd(world, rng=rng, **settings)
    truth = world.gold.frame.select("query", "doc", truth="label")
    return made, made.labels.frame.join(truth, on=["query", "doc"], maintain_order="left")


def test_the_same_seed_makes_the_same_crowd() -> None:
    (one, _), (two, _) = crowd(3), crowd(3)
    assert one.labels.frame.equals(two.labels.frame)
    assert one.traps.frame.equals(two.traps.frame)


def test_every_document_has_so_many_labels_of_different_judges() -> None:
    made, _ = crowd(1, each=4)
    labels = made.labels.frame.group_by("query", "doc").agg(pl.len(), pl.col("judge").n_unique().alias("judges"))
    assert labels["len"].unique().to_list() == labels["judges"].unique().to_list() == [4]


def test_traps_are_among_the_documents_and_have_the_true_label_of_either_end() -> None:
    made, beside = crowd(2)
    known = {(query, doc): truth for query, doc, truth in beside.select("query", "doc", "truth").rows()}
    for query, doc, _, label in made.traps.frame.rows():
        assert known[query, doc] == label
        assert label in (0, 3)


def test_the_odd_judges_are_odd_as_they_are_said_to_be() -> None:
    made, beside = crowd(4, queries=50)
    by_kind = {word: beside.filter(pl.col("judge") == judge) for judge, word in made.odd.items()}
    right = {kind: (some["label"] == some["truth"]).mean() for kind, some in by_kind.items()}
    others = beside.filter(~pl.col("judge").is_in(list(made.odd)))
    usual = (others["label"] == others["truth"]).mean()
    assert right["guesses"] < 0.35 < usual
    assert by_kind["always 1"]["label"].unique().to_list() == [1]
    assert (by_kind["lenient"]["label"] - by_kind["lenient"]["truth"]).mean() > 0.3
    tired = by_kind["tires"]
    early, late = tired[: tired.height // 3], tired[-tired.height // 3 :]
    assert (early["label"] == early["truth"]).mean() > (late["label"] == late["truth"]).mean() + 0.15
    assert by_kind["guesses"]["seconds"].median() < others["seconds"].median() / 3  # type: ignore[operator]


def test_time_rises_with_the_rows() -> None:
    made, _ = crowd(5)
    assert made.labels.frame["time"].is_sorted()


def test_a_crowd_needs_more_judges_than_labels_and_odd_ones() -> None:
    with pytest.raises(UsageError) as refused:
        crowd(1, judges=8)
    assert refused.value.code == "too-few-judges"


def voters(seed: int, **settings: int) -> Voters:
    rng = np.random.default_rng(seed)
    return simulate_voters(simulate_collection(rng=rng, queries=6), rng=rng, **settings)


def test_the_same_seed_makes_the_same_votes() -> None:
    assert voters(3).preferences.frame.equals(voters(3).preferences.frame)
    assert voters(3).traps.frame.equals(voters(3).traps.frame)


def test_every_pair_has_so_many_votes_of_different_voters_on_either_side() -> None:
    votes = voters(1, docs=5, each=4).preferences.frame.filter(~pl.col("trap"))
    pair = pl.concat_list("left", "right").list.sort()
    counted = votes.group_by("query", pair.alias("pair")).agg(pl.len(), pl.col("judge").n_unique().alias("judges"))
    assert counted.height == 6 * 10
    assert counted["len"].unique().to_list() == counted["judges"].unique().to_list() == [4]
    assert 0.3 < (votes["left"] < votes["right"]).mean() < 0.7  # type: ignore[operator]


def test_everybody_meets_every_trap_and_those_who_look_pass_most() -> None:
    made = voters(2)
    known = {(query, *sorted((one, other))): one for query, one, other, *_ in made.traps.frame.rows()}
    met = made.preferences.frame.filter(pl.col("trap"))
    assert met["judge"].value_counts()["count"].unique().to_list() == [len(known)]
    right = dict.fromkeys(met["judge"].unique(), 0)
    for query, left, right_doc, judge, winner, _ in met.rows():
        won = {"left": left, "right": right_doc}.get(winner)
        right[judge] += won == known[(query, *sorted((left, right_doc)))]
    careful = [count for judge, count in right.items() if judge not in made.odd]
    contrary = next(judge for judge, word in made.odd.items() if word == "contrary")
    assert np.mean(careful) > 0.9 * len(known)
    assert right[contrary] <= 1


def test_a_world_with_few_relevant_documents_has_traps_too() -> None:
    rng = np.random.default_rng(1)
    small = simulate_collection(rng=rng, queries=2, candidates=50)
    assert simulate_voters(small, rng=rng).traps.frame.height == 5


def test_one_voter_always_takes_the_left() -> None:
    made = voters(4)
    left = next(judge for judge, word in made.odd.items() if word == "always left")
    assert made.preferences.frame.filter(pl.col("judge") == left)["winner"].unique().to_list() == ["left"]


def test_voters_must_suffice_for_a_pair() -> None:
    with pytest.raises(UsageError) as refused:
        voters(1, judges=5)
    assert refused.value.code == "too-few-judges"
