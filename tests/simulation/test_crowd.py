"""The simulated crowd: most judges try, and those who do not are odd in a known way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import UsageError
from ringtrue.simulation import Crowd, simulate_collection, simulate_crowd


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
