from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.simulation import Collection, simulate_collection, simulate_texts


@pytest.fixture(scope="module")
def world() -> Collection:
    return simulate_collection(rng=np.random.default_rng(1), queries=5)


def test_every_document_and_query_has_a_text_of_its_own_label(world: Collection) -> None:
    topics, documents = simulate_texts(world, rng=np.random.default_rng(1))
    assert set(topics["query"]) == set(world.gold.frame["query"])
    assert set(documents["doc"]) == set(world.gold.frame["doc"])
    wanted = {query: title.split(" for ") for query, title in topics.select("query", "title").iter_rows()}
    said = {doc: f"{title} {text}".lower() for doc, title, text in documents.iter_rows()}
    for query, doc, label in world.gold.frame.select("query", "doc", "label").iter_rows():
        (trait, thing), use = wanted[query][0].split(), wanted[query][1]
        right = [f"a {trait} {thing}" in said[doc], f" for {use}" in said[doc]]
        has_thing = f" {thing} for " in said[doc] or f" {thing}, made" in said[doc]
        assert has_thing == (label > 0)
        assert label <= 0 or sum(right) == max(label - 1, 0)


def test_the_same_seed_gives_the_same_texts(world: Collection) -> None:
    one, other = (simulate_texts(world, rng=np.random.default_rng(2)) for _ in range(2))
    assert all(a.equals(b) for a, b in zip(one, other, strict=True))


def test_documents_are_named_once(world: Collection) -> None:
    _, documents = simulate_texts(world, rng=np.random.default_rng(1))
    assert not documents["doc"].is_duplicated().any()
    assert documents.schema == {"doc": pl.String, "title": pl.String, "text": pl.String}
