"""The simulated collection: known truth, and a judge who is wrong in a known way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.simulation import Collection, simulate_collection, simulate_texts


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
