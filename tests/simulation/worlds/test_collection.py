"""The simulated collection: known truth, and a judge who is wrong in a known way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.simulation import (
    Collection,
    Crowd,
    Voters,
    simulate_collection,
    simulate_crowd,
    simulate_texts,
    simulate_voters,
)


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
    assert (in_top["label_bronze"] > 0).mean() > 2 * (wrong["label_bronze"] > 0).mean()


@pytest.mark.simulation
def test_the_winner_by_bronze_labels_is_nearly_always_the_wrong_one() -> None:
    wrong = 0
    for seed in range(40):
        made = world(seed)
        best = {}
        for judge, labels in (("bronze", made.bronze), ("gold", made.gold)):
            means = evaluate(made.runs, labels, "nDCG@10").means()
            best[judge] = max(means, key=lambda run: means[run]["nDCG@10"].value)
        wrong += best["bronze"] != best["gold"]
    assert wrong >= 38


def test_a_world_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a query and 50 candidates"):
        world(1, queries=0)


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
    with pytest.raises(UsageError, match="need more than 8 judges"):
        crowd(1, judges=8)


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


def test_one_voter_always_takes_the_left() -> None:
    made = voters(4)
    left = next(judge for judge, word in made.odd.items() if word == "always left")
    assert made.preferences.frame.filter(pl.col("judge") == left)["winner"].unique().to_list() == ["left"]


def test_voters_must_suffice_for_a_pair() -> None:
    with pytest.raises(UsageError, match="need more than 5 judges"):
        voters(1, judges=5)
