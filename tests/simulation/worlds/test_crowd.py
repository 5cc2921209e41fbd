"""The simulated crowd: most judges try, and those who do not are odd in a known way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import UsageError
from ringtrue.simulation import Crowd, Voters, simulate_collection, simulate_crowd, simulate_voters


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
